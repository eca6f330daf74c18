/* Runs the programs of a line table (DWARF 2, section 6.2). */
#include "sass/lines.h"

#include "sass/decode.h"

#include <string.h>

enum {
    STANDARD_COPY = 1,
    STANDARD_ADVANCE_PC,
    STANDARD_ADVANCE_LINE,
    STANDARD_SET_FILE,
    STANDARD_CONST_ADD_PC = 8,
    STANDARD_FIXED_ADVANCE_PC,
    EXTENDED_END_SEQUENCE = 1,
    EXTENDED_SET_ADDRESS,
    MAX_STANDARD = 32,
    ADDRESS_BYTES = 8
};

typedef struct line_cursor {
    const unsigned char *begin, *at, *end;
    bool bad; /* something reached beyond the end */
} line_cursor;

typedef struct line_unit {
    uint8_t least_bytes, opcode_base, range;
    int8_t base;
    uint8_t operands[MAX_STANDARD]; /* of standard opcodes */
    line_cursor tables;             /* of folders and files */
    uint64_t found; /* the file that was looked up last, 0: none, and what was found */
    const char *folder, *file;
} line_unit;

typedef struct line_machine {
    const sass_line_reader *reader;
    line_unit *unit;
    bool ours; /* the sequence is of the kernel's section */
    uint64_t address, line, file;
    uint64_t row_address, row_line, row_file; /* of the row before; line 0: none */
} line_machine;

static uint64_t take_number(line_cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static uint64_t take_leb(line_cursor *c, bool with_sign)
{
    uint64_t value = 0, byte = 0x80;
    unsigned shift = 0;
    for (; byte & 0x80 && !c->bad; shift += 7) {
        byte = take_number(c, 1);
        if (shift < 64)
            value |= (byte & 0x7f) << shift;
    }
    return with_sign && byte & 0x40 && shift < 64 ? value | UINT64_MAX << shift : value;
}

/* ---- files ---- */

/* "" at the end of a list, and of the table. */
static const char *take_string(line_cursor *c)
{
    const unsigned char *end = c->bad ? NULL : memchr(c->at, 0, (size_t)(c->end - c->at));
    const char *text = (const char *)c->at;
    if (!end) {
        c->bad = true;
        return "";
    }
    c->at = end + 1;
    return text;
}

/* The first folder has the number 1; 0 is where the compiler ran. */
static const char *find_folder(line_cursor c, uint64_t number)
{
    const char *folder = "";
    for (uint64_t i = 0; i < number; i++)
        if (!*(folder = take_string(&c)))
            break;
    return folder;
}

static void find_file(line_unit *u, uint64_t number)
{
    line_cursor c = u->tables;
    uint64_t folder = 0;
    if (number == u->found)
        return;
    u->found = number;
    u->folder = u->file = "";
    while (*take_string(&c)) {}
    for (uint64_t i = 0; i < number && !c.bad; i++) {
        u->file = take_string(&c);
        folder = *u->file ? take_leb(&c, false) : 0;
        for (int left = *u->file ? 2 : 0; left; left--) /* time, size */
            (void)take_leb(&c, false);
        c.bad |= !*u->file;
    }
    u->folder = find_folder(u->tables, folder);
}

/* ---- rows ---- */

/* What lies between two rows has the line of the first. */
static void close_row(line_machine *m)
{
    uint64_t first = m->row_address / SASS_BYTES, end = m->address / SASS_BYTES;
    if (!m->ours || !m->row_line || m->row_line >= UINT32_MAX || end <= first || end > UINT32_MAX)
        return;
    find_file(m->unit, m->row_file);
    const sass_row row = {(uint32_t)first, (uint32_t)end, (uint32_t)m->row_line, m->unit->folder,
                          m->unit->file};
    m->reader->take(m->reader->ctx, &row);
}

static void begin_row(line_machine *m)
{
    close_row(m);
    m->row_address = m->address;
    m->row_line = m->line;
    m->row_file = m->file;
}

static void begin_sequence(line_machine *m)
{
    m->ours = false;
    m->address = m->row_line = 0;
    m->line = m->file = 1;
}

static void run_extended(line_machine *m, line_cursor *c)
{
    uint64_t bytes = take_leb(c, false);
    const unsigned char *after = c->at + bytes;
    if (c->bad || bytes == 0 || bytes > (uint64_t)(c->end - c->at)) {
        c->bad = true;
        return;
    }
    uint64_t opcode = take_number(c, 1);
    if (opcode == EXTENDED_END_SEQUENCE) {
        close_row(m);
        begin_sequence(m);
    } else if (opcode == EXTENDED_SET_ADDRESS && bytes == 1 + ADDRESS_BYTES) {
        uint64_t added = 0;
        m->ours = m->reader->own(m->reader->ctx, (size_t)(c->at - c->begin), &added);
        m->address = take_number(c, ADDRESS_BYTES) + added;
    }
    c->at = after;
}

static void run_standard(line_machine *m, const line_unit *u, line_cursor *c, unsigned opcode)
{
    switch (opcode) {
    case STANDARD_COPY: begin_row(m); return;
    case STANDARD_ADVANCE_PC: m->address += take_leb(c, false) * u->least_bytes; return;
    case STANDARD_ADVANCE_LINE: m->line += take_leb(c, true); return;
    case STANDARD_SET_FILE: m->file = take_leb(c, false); return;
    case STANDARD_CONST_ADD_PC:
        m->address += (uint64_t)((255 - u->opcode_base) / u->range) * u->least_bytes;
        return;
    case STANDARD_FIXED_ADVANCE_PC: m->address += take_number(c, 2); return;
    default:
        for (unsigned i = 0; i < u->operands[opcode]; i++)
            (void)take_leb(c, false);
    }
}

static void run_special(line_machine *m, const line_unit *u, unsigned opcode)
{
    unsigned step = opcode - u->opcode_base;
    m->address += (uint64_t)(step / u->range) * u->least_bytes;
    m->line += (uint64_t)(int64_t)(u->base + (int)(step % u->range));
    begin_row(m);
}

static void run_program(line_machine *m, const line_unit *u, line_cursor *c)
{
    begin_sequence(m);
    while (c->at < c->end && !c->bad) {
        unsigned opcode = (unsigned)take_number(c, 1);
        if (opcode == 0)
            run_extended(m, c);
        else if (opcode < u->opcode_base)
            run_standard(m, u, c, opcode);
        else
            run_special(m, u, opcode);
    }
}

/* ---- units ---- */

/* Up to its program; false where the header is none that we know. */
static bool take_header(line_cursor *c, line_unit *u)
{
    uint64_t version = take_number(c, 2), header = take_number(c, 4);
    const unsigned char *fields = c->at;
    if (version < 2 || version > 3 || header > (uint64_t)(c->end - fields))
        return false;
    u->least_bytes = (uint8_t)take_number(c, 1);
    (void)take_number(c, 1); /* whether rows begin statements */
    u->base = (int8_t)take_number(c, 1);
    u->range = (uint8_t)take_number(c, 1);
    u->opcode_base = (uint8_t)take_number(c, 1);
    if (u->range == 0 || u->opcode_base == 0 || u->opcode_base > MAX_STANDARD)
        return false;
    for (unsigned i = 1; i < u->opcode_base; i++)
        u->operands[i] = (uint8_t)take_number(c, 1);
    u->tables = (line_cursor){c->begin, c->at, fields + header, c->bad};
    c->at = fields + header;
    return !c->bad && u->tables.at <= u->tables.end;
}

void sass_read_lines(const unsigned char *table, size_t bytes, const sass_line_reader *reader)
{
    line_cursor all = {table, table, table + bytes, false};
    while (all.at < all.end) {
        uint64_t length = take_number(&all, 4);
        line_cursor c = {table, all.at, all.at + length, false};
        line_unit unit = {.folder = "", .file = ""};
        line_machine m = {.reader = reader, .unit = &unit};
        if (all.bad || length > (uint64_t)(all.end - all.at))
            break;
        if (take_header(&c, &unit))
            run_program(&m, &unit, &c);
        all.at += length;
    }
}
