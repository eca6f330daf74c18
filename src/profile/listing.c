/* Listings: the form of a kernel's code that was not measured, beside the one that was. */
#include "profile/builder.h"

#include "profile/machine.h"
#include "ptx/ptx.h"
#include "sass/operands.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_INSNS = 100000,   /* of a kernel */
    MOST_BYTES = 32 << 20, /* of all kernels of a profile, compressed */
    MAX_LISTED_TEXT = 512, /* of an instruction */
    COLUMNS = 3,           /* of numbers, before the texts */
    WORD = sizeof(uint32_t),
};

/* ---- packing ---- */

static void put_column(FILE *out, const prof_listed *insns, uint32_t n, size_t member)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value;
        memcpy(&value, (const char *)&insns[i] + member, WORD);
        value = htole32(value);
        fwrite(&value, WORD, 1, out);
    }
}

static const size_t members[COLUMNS] = {offsetof(prof_listed, ptx_line),
                                        offsetof(prof_listed, file), offsetof(prof_listed, line)};

/* malloc'ed; NULL without memory. */
static char *pack_listing(const prof_listing *l, size_t *size)
{
    char *data = NULL;
    FILE *out = open_memstream(&data, size);
    if (!out)
        return NULL;
    for (int c = 0; c < COLUMNS; c++)
        put_column(out, l->insns, l->ninsns, members[c]);
    for (uint32_t i = 0; i < l->ninsns; i++)
        fwrite(l->insns[i].text, strlen(l->insns[i].text) + 1, 1, out);
    bool bad = ferror(out);
    if (fclose(out) != 0 || bad) {
        free(data);
        return NULL;
    }
    return data;
}

static wl_status insert_listing(prof_builder *b, const row_listing *row, wl_error *err)
{
    return table_insert_listings(b->insert[TABLE_listings], row, err);
}

/* Without the instructions, and why. NULL as `why`: there was no memory for the words. */
static wl_status write_missing(prof_builder *b, const prof_listing *l, const char *why,
                               wl_error *err)
{
    row_listing row = {.head = *l};
    row.head.missing = why;
    row.head.apart = "";
    return why ? insert_listing(b, &row, err) : NOMEM(err);
}

static wl_status write_packed(prof_builder *b, const prof_listing *l, const char *data, size_t size,
                              wl_error *err)
{
    if (blob_compress(data, size, &b->compressed) != WL_OK)
        return NOMEM(err);
    if (b->compressed.size > MOST_BYTES - b->listed_bytes)
        return write_missing(
            b, l,
            wl_arena_printf(b->arena,
                            "the listings of the kernels before it take the %d MiB "
                            "that a profile has for them",
                            MOST_BYTES >> 20),
            err);
    b->listed_bytes += b->compressed.size;
    const row_listing row = {*l, size, {b->compressed.data, b->compressed.size}};
    return insert_listing(b, &row, err);
}

static wl_status write_listing(prof_builder *b, const prof_listing *l, wl_error *err)
{
    size_t size;
    if (l->ninsns > MOST_INSNS)
        return write_missing(b, l,
                             wl_arena_printf(b->arena,
                                             "it has %u instructions, and a profile lists no more "
                                             "than %d of a kernel",
                                             l->ninsns, MOST_INSNS),
                             err);
    char *data = pack_listing(l, &size);
    wl_status status = data ? write_packed(b, l, data, size, err) : NOMEM(err);
    free(data);
    return status;
}

/* ---- machine code ---- */

static const char *machine_insn_text(const sass_code *code, uint32_t i, wl_arena *arena)
{
    char text[MAX_LISTED_TEXT];
    sass_details insn;
    if (!sass_read(code->bytes + (size_t)i * SASS_BYTES, i, code->sm, &insn))
        return wl_arena_printf(arena, "UNKNOWN (opcode 0x%x)", code->insns[i].opcode);
    sass_print(&insn, code->sm, text, sizeof text);
    return wl_arena_strdup(arena, text);
}

/* By line of the PTX, where the first of its instructions that stands there counts. */
typedef struct places_by_line {
    uint32_t count;
    const code_place **of; /* NULL: none stands there */
} places_by_line;

static bool find_places(const kernel *k, wl_arena *arena, places_by_line *out)
{
    uint32_t n = k->places ? k->ncode : 0;
    *out = (places_by_line){0};
    for (uint32_t i = 0; i < n; i++)
        if (k->places[i].ptx_line >= out->count)
            out->count = k->places[i].ptx_line + 1;
    out->of = wl_new_array(arena, const code_place *, (size_t)out->count + 1);
    for (uint32_t i = n; out->of && i-- > 0;)
        out->of[k->places[i].ptx_line] = &k->places[i];
    return out->of != NULL;
}

static void place_by_cubin(prof_builder *b, const sass_code *code, const sass_insn *insn,
                           prof_listed *out)
{
    const char *path = code->files[insn->source_file - 1];
    out->file = sources_id(b->sources, path, b->process.directory);
    out->line = out->file ? insn->source_line : 0;
}

/* The source line of the PTX that it was made from, which says where the instruction counts; else that
 * of the cubin's own table. */
static void place_machine_insn(prof_builder *b, const sass_code *code, uint32_t i, bool same,
                               const places_by_line *places, prof_listed *out)
{
    const sass_insn *insn = &code->insns[i];
    out->ptx_line = same ? insn->line : 0;
    const code_place *place = out->ptx_line && out->ptx_line < places->count
                                  ? places->of[out->ptx_line]
                                  : NULL;
    if (place && place->line) {
        out->file = place->file;
        out->line = place->line;
    } else if (insn->source_file) {
        place_by_cubin(b, code, insn, out);
    }
}

/* The kernel without what fills the section up behind it. */
static uint32_t length_without_padding(const sass_code *code)
{
    uint32_t n = code->count;
    while (n && code->insns[n - 1].cost == SASS_PADDING)
        n--;
    return n;
}

static prof_listed *list_machine(prof_builder *b, const kernel *k, const sass_code *code,
                                 uint32_t count, bool same, wl_arena *arena)
{
    places_by_line places;
    prof_listed *insns = wl_new_array(arena, prof_listed, (size_t)count + 1);
    bool room = insns && find_places(k, arena, &places);
    for (uint32_t i = 0; room && i < count; i++) {
        place_machine_insn(b, code, i, same, &places, &insns[i]);
        insns[i].text = machine_insn_text(code, i, arena);
        room = insns[i].text != NULL;
    }
    return room && !b->nomem ? insns : NULL;
}

wl_status builder_machine_listing(prof_builder *b, const kernel *k, const listed_code *from,
                                  wl_arena *arena, wl_error *err)
{
    const sass_code *code = from->code;
    prof_listing l = {.kernel = k->id,
                      .kind = CAP_MODULE_CUBIN,
                      .device_sm = from->device_sm,
                      .missing = "",
                      .apart = ""};
    if (!code)
        return write_missing(b, &l, from->missing, err);
    l.sm = code->sm;
    l.ninsns = length_without_padding(code);
    if (l.ninsns > MOST_INSNS)
        return write_listing(b, &l, err);
    l.apart = machine_apart(code, from->ptx);
    l.insns = list_machine(b, k, code, l.ninsns, !*l.apart, arena);
    return l.insns ? write_listing(b, &l, err) : NOMEM(err);
}

/* ---- PTX that machine code keeps ---- */

/* The text, which the cubin has line by line, as PTX is written. */
static char *kept_ptx(const sass_code *code, wl_arena *arena)
{
    char *text = wl_new_array(arena, char, code->ptx_bytes + 1);
    if (!text)
        return NULL;
    memcpy(text, code->ptx, code->ptx_bytes);
    for (size_t i = 0; i < code->ptx_bytes; i++)
        if (!text[i])
            text[i] = '\n';
    text[code->ptx_bytes] = '\0';
    return text;
}

/* The first machine instruction that was made from its line says which source line an instruction is of:
 * the text is kept without its own. */
static bool place_kept(prof_builder *b, const sass_code *code, prof_listed *insns, uint32_t n,
                       wl_arena *arena)
{
    uint32_t last = n ? insns[n - 1].ptx_line : 0;
    for (uint32_t i = 0; i < n; i++)
        last = insns[i].ptx_line > last ? insns[i].ptx_line : last;
    const sass_insn **of = wl_new_array(arena, const sass_insn *, (size_t)last + 1);
    for (uint32_t i = code->count; of && i-- > 0;)
        if (code->insns[i].line <= last && code->insns[i].source_file)
            of[code->insns[i].line] = &code->insns[i];
    for (uint32_t i = 0; of && i < n; i++)
        if (insns[i].ptx_line && of[insns[i].ptx_line])
            place_by_cubin(b, code, of[insns[i].ptx_line], &insns[i]);
    return of && !b->nomem;
}

static wl_status list_kept(const ir_module *ptx, const ir_kernel *body, wl_arena *arena,
                           prof_listed **out)
{
    char text[MAX_LISTED_TEXT];
    prof_listed *insn = *out = wl_new_array(arena, prof_listed, (size_t)body->npcs + 1);
    for (uint32_t f = 0; *out && f < body->count; f++)
        for (uint32_t i = 0; i < body->funcs[f]->ninsns; i++, insn++) {
            ir_insn_text(ptx, body->funcs[f], &body->funcs[f]->insns[i], text, sizeof text);
            *insn = (prof_listed){.text = wl_arena_strdup(arena, text),
                                  .ptx_line = body->funcs[f]->insns[i].pos.line};
            if (!insn->text)
                return WL_NOMEM;
        }
    return *out ? WL_OK : WL_NOMEM;
}

static wl_status write_kept(prof_builder *b, const kernel *k, const sass_code *code,
                            const ir_module *ptx, const ir_func *func, wl_arena *arena,
                            wl_error *err)
{
    ir_kernel body;
    prof_listed *insns;
    prof_listing l = {
        .kernel = k->id, .kind = CAP_MODULE_PTX, .sm = code->sm, .missing = "", .apart = ""};
    if (ir_kernel_of(ptx, func, arena, &body) != WL_OK || list_kept(ptx, &body, arena, &insns) ||
        !place_kept(b, code, insns, body.npcs, arena))
        return NOMEM(err);
    l.ninsns = body.npcs;
    l.insns = insns;
    return write_listing(b, &l, err);
}

wl_status builder_kept_ptx(prof_builder *b, const kernel *k, const char *mangled,
                           const sass_code *code, wl_arena *arena, wl_error *err)
{
    ir_module *ptx = NULL;
    char *text = code->ptx ? kept_ptx(code, arena) : NULL;
    if (!text)
        return code->ptx ? NOMEM(err) : WL_OK;
    wl_status status = ir_read(&ptx_front, text, code->ptx_bytes, "", &ptx, NULL);
    const ir_func *func = status == WL_OK ? ir_module_kernel(ptx, mangled) : NULL;
    if (func)
        status = write_kept(b, k, code, ptx, func, arena, err);
    else /* what cannot be read is left out */
        status = status == WL_NOMEM ? NOMEM(err) : WL_OK;
    ir_module_free(ptx);
    return status;
}

/* ---- reading ---- */

typedef struct listing_blobs {
    uint32_t count;
    row_listing *rows;
} listing_blobs;

static uint32_t listed_number(const unsigned char *data, uint32_t n, int column, uint32_t i)
{
    uint32_t value;
    memcpy(&value, data + ((size_t)column * n + i) * WORD, WORD);
    return le32toh(value);
}

/* Every instruction has its text, and nothing follows the last one. */
static bool unpack_texts(const unsigned char *data, const unsigned char *end, uint32_t n,
                         prof_listed *insns)
{
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *nul = data < end ? memchr(data, '\0', (size_t)(end - data)) : NULL;
        if (!nul)
            return false;
        insns[i].text = (const char *)data;
        data = nul + 1;
    }
    return data == end;
}

static wl_status unpack_listing(prof_db *db, const row_listing *row, wl_arena *arena,
                                prof_listing *out, wl_error *err)
{
    unsigned char *data;
    uint32_t n = row->head.ninsns;
    size_t columns = (size_t)n * COLUMNS * WORD;
    *out = row->head;
    if (!row->data.data)
        return WL_OK;
    wl_status status = n > MOST_INSNS || row->bytes < columns
                           ? WL_CORRUPT
                           : blob_decompress(&db->unpacker, row->data.data, row->data.size,
                                             row->bytes, arena, &data);
    prof_listed *insns = status == WL_OK ? wl_new_array(arena, prof_listed, (size_t)n + 1) : NULL;
    if (status == WL_NOMEM || (status == WL_OK && !insns))
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status != WL_OK || !unpack_texts(data + columns, data + row->bytes, n, insns))
        return wl_fail(err, WL_CORRUPT, "The listing of kernel %u cannot be read.", out->kernel);
    for (uint32_t i = 0; i < n; i++) {
        insns[i].ptx_line = listed_number(data, n, 0, i);
        insns[i].file = listed_number(data, n, 1, i);
        insns[i].line = listed_number(data, n, 2, i);
    }
    out->insns = insns;
    return WL_OK;
}

wl_status prof_load_listings(prof_db *db, wl_arena *arena, prof_listing_rows *out, wl_error *err)
{
    listing_blobs blobs = {0};
    wl_status status = table_load(db->sql, TABLE_listings, "listings ORDER BY kernel, kind", NULL,
                                  0, arena, &blobs.count, &blobs.rows, err);
    *out = (prof_listing_rows){.count = status == WL_OK ? blobs.count : 0,
                               .rows = wl_new_array(arena, prof_listing, (size_t)blobs.count + 1)};
    if (status == WL_OK && !out->rows)
        status = wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (uint32_t i = 0; i < out->count && status == WL_OK; i++)
        status = unpack_listing(db, &blobs.rows[i], arena, &out->rows[i], err);
    return status;
}
