/* Names and places of the data objects of a process: from the call stacks of their allocations, and
 * from what the source text says there. Done when the process has ended, for only then are all
 * sources known. */
#include "profile/builder.h"

#include "profile/demangle.h"
#include "profile/statement.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_STATEMENT = 1024, MAX_CALLS = 256, MAX_CLIMB = 4, MAX_SYMBOLS = 2000, MAX_TEXTS = 256 };

typedef struct site {
    object_info *object;
    const call_info *call;
    uint32_t frame; /* in the stack; its count: the place is not in the stack */
    uint32_t file, line;
    const char *function, *variable;
    uint32_t kernel; /* that allocated it; 0: the host did */
} site;

typedef struct sites {
    prof_builder *b;
    wl_arena *arena; /* the process's */
    size_t count;
    site *rows;
    sources
        *texts; /* the known sources and what they include, to search in; made when it is needed */
} sites;

static const call_info *call_of(const process *p, const object_info *o)
{
    static const call_info none, by_kernel = {.api = "malloc"};
    uint32_t id = o->alloc_call;
    if (o->record.kind == CAP_OBJECT_HEAP)
        return &by_kernel;
    size_t index = id - p->first_call;
    return id && index < p->calls.count ? &p->calls.data[index] : &none;
}

/* The statement that begins in a line: to the end of the first line that holds a semicolon. */
static char *statement_at(sites *s, uint32_t file, uint32_t line)
{
    size_t length;
    const char *text = sources_line(s->b->sources, file, line, &length);
    if (!text)
        return wl_arena_strdup(s->arena, "");
    size_t n = strnlen(text, MAX_STATEMENT);
    const char *semicolon = memchr(text, ';', n);
    const char *end = semicolon ? memchr(semicolon, '\n', n - (size_t)(semicolon - text)) : NULL;
    return wl_arena_strndup(s->arena, text, end ? (size_t)(end - text) : n);
}

static bool set_variable(sites *s, site *row, uint32_t column)
{
    const char *text = statement_at(s, row->file, row->line);
    row->variable = text ? statement_variable(s->arena, text, row->call->api, column) : NULL;
    return row->variable != NULL;
}

static bool set_frame(sites *s, site *row, uint32_t frame)
{
    const stack_frame *f = &row->call->stack->frames[frame];
    row->frame = frame;
    row->file = f->file;
    row->line = f->line;
    row->function = f->function;
    return set_variable(s, row, f->column);
}

/* ---- what kernels allocated ---- */

/* The place of the call of malloc(); the variable that the statement there assigns it to. */
static wl_status place_in_kernel(sites *s, site *row, wl_error *err)
{
    const cap_object *o = &row->object->record;
    const kernel *k = builder_launched_kernel(s->b, o->module, o->kernel);
    prof_code_rows code = {0};
    if (!k)
        return WL_OK;
    row->kernel = k->id;
    wl_status status = table_load(s->b->sql, TABLE_code, "code WHERE kernel = ? AND pc = ?",
                                  DB_VALUES(db_int(k->id), db_int(o->pc)), 2, s->arena, &code.count,
                                  &code.rows, err);
    if (status != WL_OK || !code.count)
        return status;
    row->file = code.rows[0].file;
    row->line = code.rows[0].line;
    row->function = code.rows[0].function;
    const char *text = row->line ? statement_at(s, row->file, row->line) : "";
    row->variable = text ? statement_variable(s->arena, text, "", code.rows[0].column) : NULL;
    return row->variable ? WL_OK : NOMEM(err);
}

static wl_status place_heap(sites *s, wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < s->count && status == WL_OK; i++)
        if (s->rows[i].object->record.kind == CAP_OBJECT_HEAP)
            status = place_in_kernel(s, &s->rows[i], err);
    return status;
}

/* ---- what the host allocated ---- */

static bool begin_sites(sites *s, process *p)
{
    s->count = p->objects.count;
    s->rows = wl_new_array(s->arena, site, s->count);
    for (size_t i = 0; s->rows && i < s->count; i++) {
        site *row = &s->rows[i];
        object_info *o = &p->objects.data[i];
        *row = (site){.object = o, .call = call_of(p, o), .function = "", .variable = ""};
        const stack *made_at = row->call->stack;
        row->frame = made_at ? made_at->count : 0;
        if (made_at && made_at->site < made_at->count && !set_frame(s, row, made_at->site))
            return false;
    }
    return s->rows != NULL;
}

/* ---- allocation helpers: the place is where they are called ---- */

/* The next frame outwards that is the application's and has a line; the count where there is
 * none. */
static uint32_t caller_of(const stack *s, uint32_t frame)
{
    uint32_t i = frame + 1;
    while (i < s->count && (!s->frames[i].file || s->frames[i].system))
        i++;
    return i < s->count ? i : s->count;
}

static int compare_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static const stack_frame *frame_of(const site *row)
{
    return &row->call->stack->frames[row->frame];
}

static int by_function(const void *a, const void *b)
{
    const site *x = *(site *const *)a, *y = *(site *const *)b;
    int order = compare_text(x->function, y->function);
    return order ? order : x->file < y->file ? -1 : x->file > y->file;
}

/* All that one function allocates, it allocates at one place, and for at least two callers. */
static bool is_helper(site *const *rows, size_t n)
{
    const stack_frame *here = frame_of(rows[0]), *first = NULL;
    bool several = false;
    for (size_t i = 0; i < n; i++) {
        const stack *s = rows[i]->call->stack;
        const stack_frame *f = frame_of(rows[i]);
        uint32_t up = caller_of(s, rows[i]->frame);
        if (up == s->count || f->line != here->line || f->column != here->column)
            return false;
        const stack_frame *caller = &s->frames[up];
        first = first ? first : caller;
        several |= caller->file != first->file || caller->line != first->line ||
                   caller->column != first->column;
    }
    return several;
}

/* Up to the caller, where its text names a variable. */
static bool climb(sites *s, site *row, bool *moved)
{
    site up = *row;
    if (!set_frame(s, &up, caller_of(row->call->stack, row->frame)))
        return false;
    if (up.variable[0]) {
        *row = up;
        *moved = true;
    }
    return true;
}

static bool climb_once(sites *s, site **order, size_t n, bool *moved)
{
    bool good = true;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_function(&order[i], &order[end]) == 0; end++) {}
        bool helper = is_helper(order + i, end - i);
        for (size_t k = i; helper && good && k < end; k++)
            good = climb(s, order[k], moved);
    }
    return good;
}

static bool climb_helpers(sites *s)
{
    site **order = wl_new_array(s->arena, site *, s->count);
    size_t n = 0;
    for (size_t i = 0; order && i < s->count; i++) {
        const stack *made_at = s->rows[i].call->stack;
        if (made_at && s->rows[i].frame < made_at->count)
            order[n++] = &s->rows[i];
    }
    bool good = order != NULL, moved = n > 0;
    for (int round = 0; good && moved && round < MAX_CLIMB; round++) {
        moved = false;
        qsort(order, n, sizeof *order, by_function);
        good = climb_once(s, order, n, &moved);
    }
    return good;
}

/* ---- without line information ---- */

/* A call whose function is known from the symbol table, but not its line. */
typedef struct guess {
    site *row;
    const stack_frame *frame;
    const char *function; /* unqualified */
} guess;

static int by_call_place(const void *a, const void *b)
{
    const guess *x = a, *y = b;
    int order = compare_text(x->frame->binary, y->frame->binary);
    order = order ? order : compare_text(x->function, y->function);
    order = order ? order : compare_text(x->row->call->api, y->row->call->api);
    return order                                 ? order
           : x->frame->offset < y->frame->offset ? -1
                                                 : x->frame->offset > y->frame->offset;
}

static bool same_function(const guess *a, const guess *b)
{
    return strcmp(a->frame->binary, b->frame->binary) == 0 &&
           strcmp(a->function, b->function) == 0 &&
           strcmp(a->row->call->api, b->row->call->api) == 0;
}

/* The innermost frame that has a name, wrappers of the toolkit's headers left out. */
static const stack_frame *named_frame(const stack *s)
{
    for (uint32_t i = 0; s && i < s->count; i++)
        if (s->frames[i].function[0] && !s->frames[i].system)
            return &s->frames[i];
    return NULL;
}

/* Puts an address into an ascending list that has room. */
static void insert_place(uint64_t *places, uint32_t *n, uint64_t place)
{
    uint32_t at = *n;
    while (at > 0 && places[at - 1] > place)
        at--;
    if (*n == MAX_CALLS || (at > 0 && places[at - 1] == place))
        return;
    memmove(&places[at + 1], &places[at], (*n - at) * sizeof *places);
    places[at] = place;
    ++*n;
}

/* The places in the function's machine code that call as these calls did, executed or not. */
static uint32_t find_call_places(sites *s, const guess *rows, size_t n, uint64_t *places)
{
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const stack_frame *f = rows[i].frame;
        if (i && f->offset == rows[i - 1].frame->offset)
            continue;
        uint64_t alike[MAX_CALLS];
        uint32_t m = symbols_equal_calls(s->b->symbols, f->binary, f->offset, alike, MAX_CALLS);
        insert_place(places, &count, f->offset);
        for (uint32_t k = 0; k < m; k++)
            insert_place(places, &count, alike[k]);
    }
    return count;
}

static uint32_t index_of(const uint64_t *places, uint64_t place)
{
    uint32_t i = 0;
    while (places[i] != place)
        i++;
    return i;
}

static bool make_texts(sites *s)
{
    const sources *known = s->b->sources;
    s->texts = s->texts ? s->texts : sources_new(&s->b->options);
    if (!s->texts || sources_count(s->texts))
        return s->texts != NULL;
    for (uint32_t file = 1; file <= sources_count(known); file++)
        if (!sources_system(known, file))
            sources_id(s->texts, sources_path(known, file), NULL);
    sources_add_includes(s->texts, MAX_TEXTS);
    return true;
}

/* The one file whose text has exactly as many calls of the API in that function as its machine
 * code. Compilers keep the order of calls, so that the k-th address is the k-th call. `inlined`:
 * not in that function, but all in one other, which the compiler has put into it. 0 where there is
 * no such file or several. */
static uint32_t find_text(sites *s, const guess *g, bool inlined, uint32_t places,
                          statement_place *lines)
{
    uint32_t found = 0;
    statement_place other[MAX_CALLS];
    for (uint32_t file = 1; file <= sources_count(s->texts); file++) {
        size_t length;
        const char *why, *text = sources_text(s->texts, file, &length, &why),
                         *api = g->row->call->api;
        if (!text)
            continue;
        uint32_t n = statement_calls(text, g->function, api, other, MAX_CALLS);
        if (inlined)
            n = n ? 0 : statement_only_calls(text, api, other, MAX_CALLS);
        if (n != places)
            continue;
        if (found)
            return 0;
        found = file;
        memcpy(lines, other, n * sizeof *lines);
    }
    return found ? sources_id(s->b->sources, sources_path(s->texts, found), NULL) : 0;
}

static bool guess_group(sites *s, guess *rows, size_t n)
{
    statement_place lines[MAX_CALLS];
    uint64_t places[MAX_CALLS];
    uint32_t count = find_call_places(s, rows, n, places);
    uint32_t file = count < MAX_CALLS ? find_text(s, rows, false, count, lines) : 0;
    if (!file && count < MAX_CALLS)
        file = find_text(s, rows, true, count, lines);
    for (size_t i = 0; file && i < n; i++) {
        site *row = rows[i].row;
        row->file = file;
        const statement_place *place = &lines[index_of(places, rows[i].frame->offset)];
        row->line = place->line;
        row->function = rows[i].frame->function;
        if (!set_variable(s, row, place->column))
            return false;
    }
    return true;
}

static bool guess_places(sites *s)
{
    guess *rows = wl_new_array(s->arena, guess, s->count);
    size_t n = 0;
    for (size_t i = 0; rows && i < s->count; i++) {
        site *row = &s->rows[i];
        const stack_frame *f = row->file ? NULL : named_frame(row->call->stack);
        if (f) {
            const char *name = prof_plain_name(s->arena, f->function);
            if (!name)
                return false;
            row->function = f->function;
            rows[n++] = (guess){row, f, name};
        }
    }
    if (!rows || (n && !make_texts(s)))
        return false;
    qsort(rows, n, sizeof *rows, by_call_place);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_function(&rows[i], &rows[end]); end++) {}
        if (!guess_group(s, rows + i, end - i))
            return false;
    }
    return true;
}

/* ---- symbols ---- */

static bool is_module_variable(const object_info *o)
{
    return o->record.kind == CAP_OBJECT_SYMBOL || o->record.kind == CAP_OBJECT_CONST;
}

static void place_symbol(sites *s, site *row)
{
    static const char *const marks[] = {"__device__", "__constant__", "__managed__", NULL};
    for (uint32_t file = 1; file <= sources_count(s->b->sources) && !row->line; file++) {
        uint32_t line = sources_system(s->b->sources, file)
                            ? 0
                            : sources_search(s->b->sources, file, 0, row->variable, marks);
        row->line = line;
        row->file = line ? file : 0;
    }
}

static bool set_symbols(sites *s)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++) {
        site *row = &s->rows[i];
        if (!is_module_variable(row->object))
            continue;
        const char *name = prof_demangle(s->arena, row->object->record.name);
        if (!name)
            return false;
        row->variable = prof_last_name(name);
        if (n++ < MAX_SYMBOLS)
            place_symbol(s, row);
    }
    return true;
}

/* ---- names ---- */

static const char *base_name(sites *s, const site *row, uint32_t *nameless)
{
    const object_info *o = row->object;
    const char *file = sources_name(sources_path(s->b->sources, row->file));
    if (is_module_variable(o))
        return prof_demangle(s->arena, o->record.name);
    if (row->line) {
        const char *what = row->variable[0] ? row->variable : row->call->api;
        return wl_arena_printf(s->arena, "%s (%s:%u)", what, file, row->line);
    }
    if (o->record.name[0])
        return o->record.name;
    const char *api = row->call->api ? row->call->api : prof_object_kind_text(o->record.kind);
    const char *in = row->function[0] ? prof_short_name(s->arena, row->function) : "";
    return in ? wl_arena_printf(s->arena, "%s #%u%s%s", api, ++*nameless, in[0] ? " in " : "", in)
              : NULL;
}

/* Objects alive at one time get different names: "x (a.cu:5)", "x (a.cu:5) #2". */
typedef struct name_use {
    const char *name;
    wl_vec(const object_info *) alive; /* by number - 1; NULL: free again */
    UT_hash_handle hh;
} name_use;

static const char *numbered_name(sites *s, name_use **names, const char *base, const object_info *o)
{
    name_use *use = NULL;
    HASH_FIND_STR(*names, base, use);
    if (!use) {
        use = wl_new(s->arena, name_use);
        if (!use)
            return NULL;
        use->name = base;
        HASH_ADD_KEYPTR(hh, *names, use->name, strlen(use->name), use);
    }
    size_t k = 0;
    for (; k < use->alive.count; k++) {
        const object_info *other = use->alive.data[k];
        if (other->freed && other->free_order < o->alloc_order)
            break;
    }
    if (k < use->alive.count)
        use->alive.data[k] = o;
    else if (!wl_push(&use->alive, o))
        return NULL;
    return k ? wl_arena_printf(s->arena, "%s #%zu", base, k + 1) : base;
}

static uint32_t object_space_of(const object_info *o)
{
    return o->record.kind == CAP_OBJECT_CONST ? ACC_CONST : ACC_GLOBAL;
}

/* What is alive when the process ends in order goes with it. */
static uint32_t freed_how_of(const sites *s, const object_info *o)
{
    return !o->freed && s->b->process.ended ? CAP_FREED_EXIT : o->freed_how;
}

static wl_status write_object_row(sites *s, const site *row, const char *name, wl_error *err)
{
    const object_info *o = row->object;
    const prof_object written = {.id = o->id,
                                 .process = s->b->process.id,
                                 .kind = o->record.kind,
                                 .space = object_space_of(o),
                                 .device = o->record.device,
                                 .name = name,
                                 .variable = row->variable,
                                 .base = o->record.base,
                                 .bytes = o->record.bytes,
                                 .alloc_call = o->alloc_call,
                                 .free_call = o->free_call,
                                 .alloc_order = o->alloc_order,
                                 .free_order = o->free_order,
                                 .freed_how = freed_how_of(s, o),
                                 .parent = o->parent,
                                 .pool = o->record.pool,
                                 .tag = o->tag,
                                 .element_bytes = o->element_bytes,
                                 .made_by_kernel = row->kernel,
                                 .made_by_pc = o->record.pc,
                                 .file = row->file,
                                 .line = row->line,
                                 .function = row->function};
    return table_insert_objects(s->b->insert[TABLE_objects], &written, err);
}

/* A call whose line the stack does not tell. */
static wl_status write_place(sites *s, const site *row, wl_error *err)
{
    if (!row->line || !row->object->alloc_call || row->kernel)
        return WL_OK;
    return db_run(s->b->stmt[ST_CALL_PLACE], err, db_int(row->object->alloc_call), db_id(row->file),
                  db_id(row->line), db_text(row->function));
}

static wl_status write_objects(sites *s, wl_error *err)
{
    name_use *names = NULL;
    uint32_t nameless = 0;
    wl_status status = WL_OK;
    for (size_t i = 0; i < s->count && status == WL_OK; i++) {
        const char *base = base_name(s, &s->rows[i], &nameless);
        const char *name = base ? numbered_name(s, &names, base, s->rows[i].object) : NULL;
        status = name ? write_object_row(s, &s->rows[i], name, err) : NOMEM(err);
        status = status == WL_OK ? write_place(s, &s->rows[i], err) : status;
    }
    for (name_use *use = names; use; use = use->hh.next)
        wl_vec_free(&use->alive);
    HASH_CLEAR(hh, names);
    return status;
}

wl_status builder_objects(prof_builder *b, wl_error *err)
{
    sites s = {.b = b, .arena = b->process.arena};
    if (b->process.objects.count == 0)
        return WL_OK;
    bool good = begin_sites(&s, &b->process) && guess_places(&s) && climb_helpers(&s) &&
                set_symbols(&s);
    sources_free(s.texts);
    wl_status status = good ? place_heap(&s, err) : NOMEM(err);
    return status == WL_OK ? write_objects(&s, err) : status;
}
