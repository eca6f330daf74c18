/* Functions, lines and calls in the application's binaries. */
#include "profile/symbols.h"

#include "base/hash.h"
#include "base/vec.h"
#include "profile/demangle.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that was mapped, opened when an address in it is first asked for. */
typedef struct binary {
    const char *path, *build_id;
    bool tried;
    Dwfl *dwfl;
    Dwfl_Module *module;
    GElf_Addr bias;
    wl_vec(GElf_Phdr) loads;
    UT_hash_handle hh;
} binary;

typedef struct mapping {
    uint64_t start, end, offset;
    binary *file;
} mapping;

typedef struct resolved {
    uint64_t address;
    sym_frames frames;
    UT_hash_handle hh;
} resolved;

struct symbols {
    wl_arena *arena;
    binary *binaries; /* by path and build id, over all processes */
    wl_vec(mapping) maps;
    resolved *cache;  /* of the current maps */
    resolved *places; /* of the process */
    const char *executable;
};

static void binary_close(binary *b)
{
    if (b->dwfl)
        dwfl_end(b->dwfl);
    wl_vec_free(&b->loads);
}

symbols *symbols_new(void)
{
    symbols *s = calloc(1, sizeof *s);
    if (!s || !(s->arena = wl_arena_new())) {
        free(s);
        return NULL;
    }
    s->executable = "";
    return s;
}

void symbols_free(symbols *s)
{
    if (!s)
        return;
    for (binary *b = s->binaries; b; b = b->hh.next)
        binary_close(b);
    HASH_CLEAR(hh, s->binaries);
    HASH_CLEAR(hh, s->cache);
    HASH_CLEAR(hh, s->places);
    wl_vec_free(&s->maps);
    wl_arena_free(s->arena);
    free(s);
}

void symbols_reset(symbols *s, const char *executable)
{
    HASH_CLEAR(hh, s->cache);
    HASH_CLEAR(hh, s->places);
    s->maps.count = 0;
    const char *copy = wl_arena_strdup(s->arena, executable);
    s->executable = copy ? copy : "";
}

static binary *binary_of(symbols *s, const cap_map *map)
{
    char *key = wl_arena_printf(s->arena, "%s\n%s", map->path, map->build_id);
    binary *b = NULL;
    if (!key)
        return NULL;
    HASH_FIND_STR(s->binaries, key, b);
    if (b || !(b = wl_new(s->arena, binary)))
        return b;
    b->path = wl_arena_strdup(s->arena, map->path);
    b->build_id = wl_arena_strdup(s->arena, map->build_id);
    if (!b->path || !b->build_id)
        return NULL;
    HASH_ADD_KEYPTR(hh, s->binaries, key, strlen(key), b);
    return b;
}

static int by_mapping_start(const void *a, const void *b)
{
    const mapping *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

wl_status symbols_maps(symbols *s, const cap_maps *maps)
{
    HASH_CLEAR(hh, s->cache);
    s->maps.count = 0;
    for (uint32_t i = 0; i < maps->count; i++) {
        const cap_map *map = &maps->maps[i];
        binary *file = binary_of(s, map);
        if (!file || !wl_push(&s->maps, (mapping){map->start, map->end, map->offset, file}))
            return WL_NOMEM;
    }
    if (s->maps.count)
        qsort(s->maps.data, s->maps.count, sizeof *s->maps.data, by_mapping_start);
    return WL_OK;
}

static const mapping *mapping_of(const symbols *s, uint64_t address)
{
    size_t low = 0, high = s->maps.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->maps.data[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    bool inside = low < s->maps.count && s->maps.data[low].start <= address;
    return inside ? &s->maps.data[low] : NULL;
}

/* ---- opening binaries ---- */

/* A distribution's library. Its lines are nobody's to change, and its debug information is large:
 * libc's takes longer to unpack than many an import. */
static bool of_the_system(const char *path)
{
    return strncmp(path, "/lib", 4) == 0 || strncmp(path, "/usr/lib", 8) == 0;
}

/* Separate debug information, by build id; never from a server. */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
                          const char *file, const char *link, GElf_Word crc, char **out)
{
    if (of_the_system(name))
        return -1;
    return dwfl_build_id_find_debuginfo(module, data, name, base, file, link, crc, out);
}

static bool build_id_fits(Dwfl_Module *module, const char *expected)
{
    const unsigned char *bits;
    GElf_Addr where;
    int n = dwfl_module_build_id(module, &bits, &where);
    if (!expected[0] || n <= 0)
        return true;
    char text[2 * 64 + 1];
    for (int i = 0; i < n && i < 64; i++)
        snprintf(text + 2 * i, 3, "%02x", bits[i]);
    return strcasecmp(text, expected) == 0;
}

static bool load_segments(binary *b)
{
    Elf *elf = dwfl_module_getelf(b->module, &b->bias);
    size_t n = 0;
    if (!elf || elf_getphdrnum(elf, &n) != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr phdr;
        if (gelf_getphdr(elf, (int)i, &phdr) && phdr.p_type == PT_LOAD && !wl_push(&b->loads, phdr))
            return false;
    }
    return true;
}

static bool regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static void binary_open(binary *b)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    b->tried = true;
    if (b->path[0] != '/' || !regular(b->path) || !(b->dwfl = dwfl_begin(&callbacks)))
        return;
    dwfl_report_begin(b->dwfl);
    b->module = dwfl_report_offline(b->dwfl, b->path, b->path, -1);
    dwfl_report_end(b->dwfl, NULL, NULL);
    if (b->module && !(load_segments(b) && build_id_fits(b->module, b->build_id)))
        b->module = NULL; /* another version of the file than the one that ran */
}

/* The binary's own address of a byte of the file; UINT64_MAX where it is not loaded. */
static uint64_t file_address(const binary *b, uint64_t offset)
{
    for (size_t i = 0; i < b->loads.count; i++) {
        const GElf_Phdr *p = &b->loads.data[i];
        if (offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
            return offset - p->p_offset + p->p_vaddr;
    }
    return UINT64_MAX;
}

/* ---- DWARF ---- */

static Dwarf_Die *compile_unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
    Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);
    if (unit)
        return unit;
    /* No .debug_aranges for it: clang writes none. */
    for (unit = dwfl_module_nextcu(module, NULL, bias); unit;
         unit = dwfl_module_nextcu(module, unit, bias)) {
        if (dwarf_haspc(unit, address - *bias) > 0)
            return unit;
    }
    return NULL;
}

static const char *function_name(wl_arena *arena, Dwarf_Die *die)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute *linkage = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
    const char *name = linkage ? dwarf_formstring(linkage) : NULL;
    name = name ? name : dwarf_diename(die);
    return name ? prof_demangle(arena, name) : "";
}

/* DWARF may name files relative to the folder that the compiler ran in. */
static const char *source_path(wl_arena *arena, Dwarf_Die *unit, const char *path)
{
    Dwarf_Attribute memory;
    Dwarf_Attribute *attribute = unit && *path != '/' ? dwarf_attr(unit, DW_AT_comp_dir, &memory)
                                                      : NULL;
    const char *folder = attribute ? dwarf_formstring(attribute) : NULL;
    return folder ? wl_arena_printf(arena, "%s/%s", folder, path) : wl_arena_strdup(arena, path);
}

typedef struct walk {
    symbols *s;
    wl_vec(sym_frame) frames;
    sym_frame next; /* place of the frame that the walk has not named yet */
    bool nomem;
} walk;

static void emit_frame(walk *w, const char *function, bool inlined)
{
    w->next.function = function;
    w->next.inlined = inlined;
    w->nomem |= !function || !wl_push(&w->frames, w->next);
}

/* The place of the call that was inlined here becomes the next frame's. */
static void enter_caller(walk *w, Dwarf_Die *unit, Dwarf_Die *die)
{
    Dwarf_Files *files;
    Dwarf_Attribute memory;
    Dwarf_Word file = 0, line = 0, column = 0;
    dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &memory), &file);
    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &memory), &line);
    dwarf_formudata(dwarf_attr(die, DW_AT_call_column, &memory), &column);
    const char *path = dwarf_getsrcfiles(unit, &files, NULL) == 0
                           ? dwarf_filesrc(files, (size_t)file, NULL, NULL)
                           : NULL;
    w->next.path = path ? source_path(w->s->arena, unit, path) : NULL;
    w->next.line = (uint32_t)line;
    w->next.column = (uint32_t)column;
}

/* Emits a frame for each inlined function around the address, then the one for the function
 * itself. */
static bool walk_scopes(walk *w, Dwarf_Die *unit, Dwarf_Addr address)
{
    Dwarf_Die *inner = NULL, *scopes = NULL;
    int n = dwarf_getscopes(unit, address, &inner);
    if (n > 0)
        n = dwarf_getscopes_die(&inner[0], &scopes);
    bool named = false;
    for (int i = 0; i < n && !named; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag == DW_TAG_inlined_subroutine) {
            emit_frame(w, function_name(w->s->arena, &scopes[i]), true);
            enter_caller(w, unit, &scopes[i]);
        } else if (tag == DW_TAG_subprogram) {
            emit_frame(w, function_name(w->s->arena, &scopes[i]), false);
            named = true;
        }
    }
    free(inner);
    free(scopes);
    return named;
}

static void resolve_line(walk *w, Dwfl_Module *module, Dwarf_Addr address)
{
    int line = 0, column = 0;
    Dwfl_Line *row = dwfl_module_getsrc(module, address);
    const char *path = row ? dwfl_lineinfo(row, NULL, &line, &column, NULL, NULL) : NULL;
    if (path && line > 0) {
        w->next.path = source_path(w->s->arena, dwfl_linecu(row), path);
        w->next.line = (uint32_t)line;
        w->next.column = (uint32_t)column;
    }
}

static void walk_binary(walk *w, binary *b, uint64_t offset)
{
    uint64_t own = file_address(b, offset);
    if (own == UINT64_MAX)
        return;
    w->next.offset = own;
    Dwarf_Addr address = own + b->bias, bias = 0;
    resolve_line(w, b->module, address);
    Dwarf_Die *unit = w->next.path ? compile_unit_of(b->module, address, &bias) : NULL;
    if (unit && walk_scopes(w, unit, address - bias))
        return;
    const char *name = dwfl_module_addrname(b->module, address);
    emit_frame(w, name ? prof_demangle(w->s->arena, name) : "", false);
}

static wl_status resolve_address(symbols *s, uint64_t address, sym_frames *out)
{
    walk w = {.s = s, .next = {.function = "", .binary = ""}};
    uint64_t pc = address ? address - 1 : 0; /* the call, not what follows it */
    const mapping *map = mapping_of(s, pc);
    w.next.offset = pc;
    if (map) {
        w.next.binary = map->file->path;
        w.next.main = strcmp(map->file->path, s->executable) == 0;
        w.next.offset = pc - map->start + map->offset;
        if (!map->file->tried)
            binary_open(map->file);
        if (map->file->module)
            walk_binary(&w, map->file, w.next.offset);
    }
    if (w.frames.count == 0)
        emit_frame(&w, "", false);
    size_t size = w.frames.count * sizeof *w.frames.data;
    *out = (sym_frames){(uint32_t)w.frames.count, wl_arena_copy(s->arena, w.frames.data, size)};
    wl_vec_free(&w.frames);
    return w.nomem || !out->rows ? WL_NOMEM : WL_OK;
}

static bool is_known_place(const symbols *s, uint64_t address)
{
    resolved *found = NULL;
    HASH_FIND(hh, s->places, &address, sizeof address, found);
    return found != NULL;
}

/* What was said first counts. */
wl_status symbols_place(symbols *s, const cap_place *place)
{
    if (is_known_place(s, CAP_FIRST_PLACE + place->number))
        return WL_OK;
    resolved *made = wl_new(s->arena, resolved);
    sym_frame *frame = wl_new(s->arena, sym_frame);
    const char *function = wl_arena_strdup(s->arena, place->function);
    const char *path = wl_arena_strdup(s->arena, place->file);
    if (!made || !frame || !function || !path)
        return WL_NOMEM;
    *frame = (sym_frame){.function = function,
                         .path = *path && place->line ? path : NULL,
                         .line = place->line,
                         .binary = "",
                         .script = true};
    *made = (resolved){.address = CAP_FIRST_PLACE + place->number, .frames = {1, frame}};
    HASH_ADD(hh, s->places, address, sizeof made->address, made);
    return WL_OK;
}

wl_status symbols_resolve(symbols *s, uint64_t address, sym_frames *out)
{
    resolved *found = NULL;
    HASH_FIND(hh, s->places, &address, sizeof address, found);
    if (found) {
        *out = found->frames;
        return WL_OK;
    }
    HASH_FIND(hh, s->cache, &address, sizeof address, found);
    if (!found) {
        found = wl_new(s->arena, resolved);
        if (!found || resolve_address(s, address, &found->frames) != WL_OK)
            return WL_NOMEM;
        found->address = address;
        HASH_ADD(hh, s->cache, address, sizeof address, found);
    }
    *out = found->frames;
    return WL_OK;
}

/* ---- declarations ---- */

static bool has_kernels(const binary *b)
{
    GElf_Addr bias;
    GElf_Shdr header;
    size_t names;
    Elf *elf = dwfl_module_getelf(b->module, &bias);
    if (!elf || elf_getshdrstrndx(elf, &names) != 0)
        return false;
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name)
                                                          : NULL;
        if (name && strcmp(name, ".nv_fatbin") == 0)
            return true;
    }
    return false;
}

typedef struct sought { /* a function; "" for names that are not known */
    wl_arena *arena;
    const char *mangled, *demangled, *plain;
    uint32_t alike; /* found: of the demangled name */
    Dwarf_Addr address;
} sought;

/* The host mangles static functions and those of anonymous namespaces in another way than the
 * device. */
static bool demangles_alike(const sought *f, const char *symbol)
{
    const char *name = *f->plain && strstr(symbol, f->plain) ? prof_demangle(f->arena, symbol)
                                                             : NULL;
    return name && strcmp(name, f->demangled) == 0;
}

/* Of functions that demangle alike only a single one is told. */
static bool function_address(Dwfl_Module *module, sought *f)
{
    int n = dwfl_module_getsymtab(module);
    f->alike = 0;
    for (int i = 1; i < n; i++) {
        GElf_Sym sym;
        Dwarf_Addr address;
        const char *name = dwfl_module_getsym_info(module, i, &sym, &address, NULL, NULL, NULL);
        if (!name || GELF_ST_TYPE(sym.st_info) != STT_FUNC || sym.st_shndx == SHN_UNDEF)
            continue;
        bool exact = strcmp(name, f->mangled) == 0;
        if (exact || demangles_alike(f, name)) {
            f->address = address;
            f->alike++;
        }
        if (exact)
            return true;
    }
    return f->alike == 1;
}

static bool function_die(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die *out)
{
    Dwarf_Die *inner = NULL, *scopes = NULL;
    int n = dwarf_getscopes(unit, address, &inner);
    if (n > 0)
        n = dwarf_getscopes_die(&inner[0], &scopes);
    bool found = false;
    for (int i = 0; i < n && !found; i++) {
        found = dwarf_tag(&scopes[i]) == DW_TAG_subprogram;
        *out = scopes[i];
    }
    free(inner);
    free(scopes);
    return found;
}

/* nvcc puts names of its own in place of those of a kernel that is no template. */
static const char *parameter_name(wl_arena *arena, Dwarf_Die *parameter)
{
    const char *name = dwarf_diename(parameter);
    bool own = !name || strncmp(name, "__cuda_", 7) == 0 || strncmp(name, "__par", 5) == 0;
    return own ? "" : wl_arena_strdup(arena, name);
}

/* Counts the parameters; their names go to `names`, where it is not NULL. */
static uint32_t each_parameter(wl_arena *arena, Dwarf_Die *function, const char **names)
{
    Dwarf_Die child;
    uint32_t count = 0;
    for (int end = dwarf_child(function, &child); end == 0; end = dwarf_siblingof(&child, &child)) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter)
            continue;
        if (names)
            names[count] = parameter_name(arena, &child);
        count++;
    }
    return count;
}

static wl_status read_declaration(symbols *s, Dwarf_Die *unit, Dwarf_Die *function,
                                  sym_declaration *out)
{
    const char *path = dwarf_decl_file(function);
    int line = 0;
    out->count = each_parameter(s->arena, function, NULL);
    out->names = wl_new_array(s->arena, const char *, out->count + 1);
    if (!out->names)
        return WL_NOMEM;
    each_parameter(s->arena, function, out->names);
    for (uint32_t i = 0; i < out->count; i++)
        if (!out->names[i])
            return WL_NOMEM;
    if (path && dwarf_decl_line(function, &line) == 0 && line > 0) {
        out->path = source_path(s->arena, unit, path);
        out->line = (uint32_t)line;
    }
    return WL_OK;
}

wl_status symbols_declaration(symbols *s, const char *mangled, sym_declaration *out)
{
    sought f = {s->arena, mangled, prof_demangle(s->arena, mangled), "", 0, 0};
    *out = (sym_declaration){0};
    if (!f.demangled || !(f.plain = prof_plain_name(s->arena, f.demangled)))
        return WL_NOMEM;
    for (size_t i = 0; i < s->maps.count; i++) {
        binary *b = s->maps.data[i].file;
        Dwarf_Addr bias;
        Dwarf_Die die;
        if (!b->tried && !of_the_system(b->path))
            binary_open(b);
        if (!b->module || !has_kernels(b) || !function_address(b->module, &f))
            continue;
        Dwarf_Die *unit = compile_unit_of(b->module, f.address, &bias);
        if (unit && function_die(unit, f.address - bias, &die))
            return read_declaration(s, unit, &die, out);
    }
    return WL_OK;
}

/* ---- machine code ---- */

typedef struct code_range {
    const unsigned char *bytes;
    uint64_t start, end; /* addresses of the binary's own */
} code_range;

/* The function around an address. */
static bool function_range(const binary *b, uint64_t own, uint64_t *start, uint64_t *end)
{
    GElf_Off offset;
    GElf_Sym sym;
    const char *name = dwfl_module_addrinfo(b->module, own + b->bias, &offset, &sym, NULL, NULL,
                                            NULL);
    if (!name || sym.st_size == 0 || offset > own)
        return false;
    *start = own - offset;
    *end = *start + sym.st_size;
    return own < *end;
}

static bool section_code(Elf_Scn *section, code_range *code)
{
    GElf_Shdr header;
    Elf_Data *data = gelf_getshdr(section, &header) ? elf_rawdata(section, NULL) : NULL;
    bool fits = data && data->d_buf && (header.sh_flags & SHF_EXECINSTR) &&
                header.sh_addr <= code->start && code->end - header.sh_addr <= data->d_size;
    if (fits)
        code->bytes = (const unsigned char *)data->d_buf + (code->start - header.sh_addr);
    return fits;
}

static bool find_code(const binary *b, uint64_t own, code_range *code)
{
    GElf_Addr bias;
    GElf_Ehdr header;
    Elf *elf = dwfl_module_getelf(b->module, &bias);
    if (!elf || !gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
        !function_range(b, own, &code->start, &code->end)) {
        return false;
    }
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)))
        if (section_code(section, code))
            return true;
    return false;
}

enum { CALL_OPCODE = 0xe8, CALL_BYTES = 5 };

/* Where the near call that begins at `at` goes; UINT64_MAX where none does. */
static uint64_t call_target(const code_range *code, uint64_t at)
{
    if (at < code->start || at + CALL_BYTES > code->end ||
        code->bytes[at - code->start] != CALL_OPCODE) {
        return UINT64_MAX;
    }
    int32_t distance;
    memcpy(&distance, code->bytes + (at - code->start) + 1, sizeof distance);
    return at + CALL_BYTES + (uint64_t)(int64_t)distance;
}

uint32_t symbols_equal_calls(symbols *s, const char *name, uint64_t offset, uint64_t *calls,
                             uint32_t most)
{
    const binary *b = s->binaries;
    while (b && !(b->module && strcmp(b->path, name) == 0))
        b = b->hh.next;
    code_range code;
    if (!b || offset + 1 < CALL_BYTES || !find_code(b, offset, &code))
        return 0;
    uint64_t target = call_target(&code, offset + 1 - CALL_BYTES);
    uint32_t n = 0;
    for (uint64_t at = code.start; target != UINT64_MAX && at < code.end && n < most; at++)
        if (call_target(&code, at) == target)
            calls[n++] = at + CALL_BYTES - 1;
    return n;
}
