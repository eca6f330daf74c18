/* Names and places of the data objects of a process: from the call stacks of their allocations, and
 * from what the source text says there. Done when the process has ended, for only then are all
 * sources known. */
#include "profile/builder.h"

#include "profile/demangle.h"
#include "profile/naming.h"
#include "profile/statement.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_CALLS = 256, MAX_SYMBOLS = 2000, MAX_TEXTS = 256 };

typedef struct site {
    object_info *object;
    const call_info *call;
    uint32_t file, line;
    const char *function, *variable;
    uint32_t kernel;           /* that allocated it; 0: the host did */
    uint32_t frame;            /* of the stack, where it is kept */
    const stack_frame *caller; /* that tells it from others of its place; NULL: none does */
    bool script;               /* the place is in what an interpreter runs */
} site;

typedef struct sites {
    prof_builder *b;
    wl_arena *arena; /* the process's */
    size_t count;
    site *rows;
    naming *naming;
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
    row->variable = naming_at(s->naming, row->file, row->line, code.rows[0].column, "malloc");
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

static bool has_site(const site *row)
{
    return row->call->stack && row->call->stack->site < row->call->stack->count;
}

static bool begin_sites(sites *s, process *p)
{
    bool good = true;
    s->count = p->objects.count;
    s->rows = wl_new_array(s->arena, site, s->count);
    s->naming = naming_new(s->b, s->arena);
    for (size_t i = 0; s->rows && s->naming && good && i < s->count; i++) {
        object_info *o = &p->objects.data[i];
        site *row = &s->rows[i];
        *row = (site){.object = o, .call = call_of(p, o), .function = "", .variable = ""};
        good = !has_site(row) || naming_note(s->naming, row->call->stack, row->call->api);
    }
    return s->rows && s->naming && good;
}

/* The variables that keep what was allocated, and where they do. */
static bool name_sites(sites *s)
{
    for (size_t i = 0; i < s->count; i++) {
        site *row = &s->rows[i];
        kept_name name;
        if (!has_site(row))
            continue;
        if (!naming_find(s->naming, row->call->stack, &name))
            return false;
        const stack_frame *f = &row->call->stack->frames[name.frame];
        row->variable = name.variable;
        row->file = f->file;
        row->line = f->line;
        row->function = f->function;
        row->script = f->script;
        row->frame = name.frame;
    }
    return true;
}

static bool is_called(const site *row)
{
    return has_site(row) && row->line && !row->object->tag[0];
}

/* The innermost callers by which objects of one place differ. */
static bool find_callers(sites *s)
{
    called_place *rows = wl_new_array(s->arena, called_place, s->count);
    size_t n = 0, next = 0;
    for (size_t i = 0; rows && i < s->count; i++) {
        const site *row = &s->rows[i];
        if (is_called(row))
            rows[n++] = (called_place){row->call->stack, row->frame, row->variable, NULL};
    }
    if (!rows || !builder_find_callers(s->arena, rows, n))
        return false;
    for (size_t i = 0; i < s->count; i++)
        if (is_called(&s->rows[i]))
            s->rows[i].caller = rows[next++].caller;
    return true;
}

/* What the program itself calls an object, nobody knows better. */
static void name_by_tags(sites *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->rows[i].object->tag[0])
            s->rows[i].variable = s->rows[i].object->tag;
}

/* ---- without line information ---- */

/* A call whose function is known from the symbol table, but not its line. */
typedef struct guess {
    site *row;
    const stack_frame *frame;
    const char *function; /* unqualified */
} guess;

static int compare_text(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

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
        row->variable = naming_at(s->naming, file, place->line, place->column, row->call->api);
        if (!row->variable)
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

/* What an object is called, and where: "x" and " (a.cu:5)". Its number stands between them. */
typedef struct base_name {
    const char *what, *place; /* NULL: memory is exhausted */
} base_name;

static const char *file_name_of(const sites *s, const site *row)
{
    return sources_name(sources_path(s->b->sources, row->file));
}

/* "x" and " (helper.h:12, called at main.cu:40)" */
static base_name name_by_caller(sites *s, const site *row)
{
    const char *what = row->variable[0] ? row->variable : row->call->api;
    return (base_name){what,
                       wl_arena_printf(s->arena, " (%s:%u, called at %s:%u)", file_name_of(s, row),
                                       row->line,
                                       sources_name(sources_path(s->b->sources, row->caller->file)),
                                       row->caller->line)};
}

static base_name name_at_place(sites *s, const site *row)
{
    bool named = row->variable[0];
    if (row->caller)
        return name_by_caller(s, row);
    return (base_name){named ? row->variable : row->call->api,
                       wl_arena_printf(s->arena, named ? " (%s:%u)" : " at %s:%u",
                                       file_name_of(s, row), row->line)};
}

static const site *row_of_object(const sites *s, uint32_t id)
{
    size_t low = 0, high = s->count; /* ids ascend */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (s->rows[middle].object->id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->rows[low].object->id == id ? &s->rows[low] : NULL;
}

/* Lines of scripts say little without their function: "tensor" and " (model.py:31 in forward)". */
static base_name name_in_script(sites *s, const site *row)
{
    return (base_name){row->variable[0] ? row->variable : row->call->api,
                       wl_arena_printf(s->arena, " (%s:%u in %s)", file_name_of(s, row), row->line,
                                       row->function)};
}

/* Of a part: "x" and " (a.cu:5, in block of b.cu:9)". */
static base_name name_in_parent(sites *s, const site *row, const site *parent)
{
    const char *what = parent->variable[0] ? parent->variable : parent->call->api;
    const char *of = parent->variable[0] ? "of" : "at";
    const char *where = wl_arena_printf(s->arena, "%s %s %s:%u", what, of, file_name_of(s, parent),
                                        parent->line);
    const char *name = row->variable[0] ? row->variable : row->call->api;
    if (!where || !row->line)
        return (base_name){name, where ? wl_arena_printf(s->arena, " (in %s)", where) : NULL};
    return (base_name){
        name, wl_arena_printf(s->arena, " (%s:%u, in %s)", file_name_of(s, row), row->line, where)};
}

static base_name name_without_place(sites *s, const site *row, uint32_t *nameless)
{
    const object_info *o = row->object;
    const char *api = row->call->api ? row->call->api : prof_object_kind_text(o->record.kind);
    if (row->object->tag[0])
        return (base_name){row->object->tag, ""};
    const char *in = row->function[0] ? prof_short_name(s->arena, row->function) : "";
    if (o->record.name[0])
        return (base_name){o->record.name, ""};
    const char *what = wl_arena_printf(s->arena, "%s #%u", api, ++*nameless);
    return (base_name){what,
                       in ? wl_arena_printf(s->arena, "%s%s", in[0] ? " in " : "", in) : NULL};
}

/* The row of what it is a part of, where that has a name by itself. */
static const site *named_parent(const sites *s, const site *row)
{
    const site *parent = row->object->parent ? row_of_object(s, row->object->parent) : NULL;
    return parent && parent->line && (row->line || row->variable[0]) ? parent : NULL;
}

/* Is it freed by the function that allocates it? Then it is that function's own. */
static bool stays_in_function(const sites *s, const site *row)
{
    const process *p = &s->b->process;
    uint32_t id = row->object->free_call;
    size_t index = id - p->first_call;
    const stack *freed = id && index < p->calls.count ? p->calls.data[index].stack : NULL;
    for (uint32_t i = 0; freed && i < freed->count; i++)
        if (strcmp(freed->frames[i].function, row->function) == 0)
            return true;
    return false;
}

/* Does a helper hand it to the caller that its name tells? */
static bool is_told_by_caller(const sites *s, const site *row)
{
    return row->caller && !row->script && !is_module_variable(row->object) &&
           !named_parent(s, row) && !stays_in_function(s, row);
}

static base_name base_name_of(sites *s, const site *row, uint32_t *nameless)
{
    if (is_module_variable(row->object))
        return (base_name){prof_demangle(s->arena, row->object->record.name), ""};
    if (row->script && row->line)
        return name_in_script(s, row);
    const site *parent = named_parent(s, row);
    if (parent)
        return name_in_parent(s, row, parent);
    return row->line ? name_at_place(s, row) : name_without_place(s, row, nameless);
}

/* Objects of one name are numbered by the time of their allocation. One that comes when another of
 * the same size is free again takes its number. */
typedef struct name_use {
    const char *key;
    wl_vec(const object_info *) last; /* by number - 1 */
    UT_hash_handle hh;
} name_use;

typedef struct object_name {
    base_name base;
    const name_use *use;
    size_t number;
} object_name;

static name_use *use_of_name(sites *s, name_use **all, const base_name *base)
{
    name_use *use = NULL;
    const char *key = wl_arena_printf(s->arena, "%s%s", base->what, base->place);
    if (!key)
        return NULL;
    HASH_FIND_STR(*all, key, use);
    if (use || !(use = wl_new(s->arena, name_use)))
        return use;
    use->key = key;
    HASH_ADD_KEYPTR(hh, *all, use->key, strlen(use->key), use);
    return use->hh.tbl ? use : NULL; /* an entry that finds no memory stays out */
}

static bool number_object(name_use *use, const object_info *o, size_t *number)
{
    size_t k = 0;
    for (; k < use->last.count; k++) {
        const object_info *other = use->last.data[k];
        if (other->freed && other->free_order < o->alloc_order &&
            other->record.bytes == o->record.bytes)
            break;
    }
    *number = k + 1;
    if (k == use->last.count)
        return wl_push(&use->last, o);
    use->last.data[k] = o;
    return true;
}

/* "x (a.cu:5)"; of several "x #2, 64 KiB (a.cu:5)". */
static const char *whole_name(sites *s, const object_name *n, const object_info *o)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
    uint64_t bytes = o->record.bytes;
    size_t unit = 0;
    if (n->use->last.count == 1)
        return n->use->key;
    double size = (double)bytes;
    for (; size >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++)
        size /= 1024;
    return wl_arena_printf(s->arena, "%s #%zu, %.*f %s%s", n->base.what, n->number,
                           size == (double)(uint64_t)size ? 0 : 1, size, units[unit],
                           n->base.place);
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
    const stack_frame *caller = is_told_by_caller(s, row) ? row->caller : NULL;
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
                                 .caller_file = caller ? caller->file : 0,
                                 .caller_line = caller ? caller->line : 0,
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

/* The names of all objects, which are told apart when all are known. */
static bool number_objects(sites *s, object_name *names, name_use **uses)
{
    uint32_t nameless = 0;
    for (size_t i = 0; i < s->count; i++) {
        object_name *n = &names[i];
        n->base = base_name_of(s, &s->rows[i], &nameless);
        name_use *use = n->base.what && n->base.place ? use_of_name(s, uses, &n->base) : NULL;
        if (!use || !number_object(use, s->rows[i].object, &n->number))
            return false;
        n->use = use;
    }
    return true;
}

static wl_status write_objects(sites *s, wl_error *err)
{
    name_use *uses = NULL;
    object_name *names = wl_new_array(s->arena, object_name, s->count);
    wl_status status = names && number_objects(s, names, &uses) ? WL_OK : NOMEM(err);
    for (size_t i = 0; i < s->count && status == WL_OK; i++) {
        const char *name = whole_name(s, &names[i], s->rows[i].object);
        status = name ? write_object_row(s, &s->rows[i], name, err) : NOMEM(err);
        status = status == WL_OK ? write_place(s, &s->rows[i], err) : status;
    }
    for (name_use *use = uses; use; use = use->hh.next)
        wl_vec_free(&use->last);
    HASH_CLEAR(hh, uses);
    return status;
}

wl_status builder_objects(prof_builder *b, wl_error *err)
{
    sites s = {.b = b, .arena = b->process.arena};
    if (b->process.objects.count == 0)
        return WL_OK;
    bool good = begin_sites(&s, &b->process) && name_sites(&s) && find_callers(&s) &&
                guess_places(&s) && set_symbols(&s);
    wl_status status = good ? place_heap(&s, err) : NOMEM(err);
    if (status == WL_OK)
        name_by_tags(&s);
    status = status == WL_OK ? write_objects(&s, err) : status;
    sources_free(s.texts);
    if (s.naming)
        naming_end(s.naming);
    return status;
}
