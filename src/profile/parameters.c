/* Kernels' parameters, and the objects that they lead to: how a kernel reached what it accessed. */
#include "profile/builder.h"
#include "profile/declared.h"
#include "profile/demangle.h"

#include <stdlib.h>
#include <string.h>

/* ---- types, as the name tells ---- */

/* Where the list of parameters of a demangled function begins, after its bracket; NULL without one.
 */
static const char *list_of(const char *demangled)
{
    const char *end = strrchr(demangled, ')');
    int depth = 0;
    for (const char *p = end; p && p >= demangled; p--) {
        depth += *p == ')';
        depth -= *p == '(';
        if (depth == 0)
            return p + 1;
    }
    return NULL;
}

/* The length of the type that begins there: up to a comma or bracket that is not its own. */
static size_t type_length(const char *text)
{
    size_t n = 0;
    for (int depth = 0; text[n]; n++) {
        if (depth == 0 && (text[n] == ',' || text[n] == ')'))
            break;
        depth += strchr("(<[{", text[n]) != NULL;
        depth -= strchr(")>]}", text[n]) != NULL;
    }
    return n;
}

static uint32_t count_types(const char *list)
{
    uint32_t count = 0;
    for (const char *p = list; p && *p && *p != ')'; count++) {
        p += type_length(p);
        p += strspn(p, ", ");
    }
    return count;
}

/* The type of parameter `position` of `count`; "" where the name does not tell, as of a C function.
 */
static const char *type_of(wl_arena *arena, const char *demangled, uint32_t position,
                           uint32_t count)
{
    const char *p = list_of(demangled);
    if (!p || count_types(p) != count)
        return "";
    for (uint32_t i = 0; i < position; i++) {
        p += type_length(p);
        p += strspn(p, ", ");
    }
    return wl_arena_strndup(arena, p, type_length(p));
}

/* ---- names, as debug information and the source tell ---- */

/* From the line on that declares the kernel; false where it cannot be had as it was compiled. */
static bool names_in_source(prof_builder *b, const sym_declaration *d, const char *demangled,
                            const char **names)
{
    uint32_t file = d->path ? sources_id(b->sources, d->path, b->process.directory) : 0;
    size_t rest, length;
    const char *why, *line = file ? sources_line(b->sources, file, d->line, &rest) : NULL;
    const char *text = line ? sources_text(b->sources, file, &length, &why) : NULL;
    const char *function = prof_plain_name(b->process.arena, demangled);
    return text && function && !sources_changed(b->sources, file) &&
           declared_names(line, length - (size_t)(line - text), function, d->count,
                          b->process.arena, names);
}

/* `count` names, "" where nothing tells; NULL when memory is exhausted. */
static const char **parameter_names(prof_builder *b, const char *mangled, const char *demangled,
                                    uint32_t count)
{
    sym_declaration d;
    const char **names = wl_new_array(b->process.arena, const char *, count + 1);
    if (!names || symbols_declaration(b->symbols, mangled, &d) != WL_OK)
        return NULL;
    bool told = d.count == count && count > 0 && *d.names[0];
    bool read = !told && d.count == count && names_in_source(b, &d, demangled, names);
    for (uint32_t i = 0; i < count && !read; i++)
        names[i] = told ? d.names[i] : "";
    return names;
}

/* ---- rows ---- */

typedef struct parameters { /* of a kernel */
    const char *demangled, **names;
    uint32_t count;
} parameters;

static wl_status begin_parameters(prof_builder *b, const char *mangled, uint32_t count,
                                  parameters *p, wl_error *err)
{
    p->count = count;
    p->demangled = prof_demangle(b->process.arena, mangled);
    p->names = p->demangled ? parameter_names(b, mangled, p->demangled, count) : NULL;
    return p->names ? WL_OK : NOMEM(err);
}

/* The row with the parameter's type and name, as far as they are known. */
static wl_status write_parameter(prof_builder *b, prof_parameter *row, const parameters *p,
                                 wl_error *err)
{
    row->type = type_of(b->process.arena, p->demangled, row->position, p->count);
    row->name = p->names[row->position];
    return row->type ? table_insert_parameters(b->insert[TABLE_parameters], row, err) : NOMEM(err);
}

wl_status builder_parameters(prof_builder *b, uint32_t kernel_id, const ir_func *func,
                             wl_error *err)
{
    parameters p;
    uint64_t offset = 0;
    wl_status status = begin_parameters(b, func->name, func->nparams, &p, err);
    for (uint32_t i = 0; i < func->nparams && status == WL_OK; i++) {
        uint32_t align = ir_var_align(func->params[i]);
        offset = (offset + align - 1) / align * align;
        prof_parameter row = {.kernel = kernel_id,
                              .position = i,
                              .offset = offset,
                              .bytes = ir_var_size(func->params[i])};
        status = write_parameter(b, &row, &p, err);
        offset += row.bytes;
    }
    return status;
}

wl_status builder_layout(prof_builder *b, uint32_t kernel_id, const cuda_layout *layout,
                         wl_error *err)
{
    parameters p;
    wl_status status = begin_parameters(b, layout->kernel, layout->count, &p, err);
    for (uint32_t i = 0; i < layout->count && status == WL_OK; i++) {
        prof_parameter row = {.kernel = kernel_id,
                              .position = i,
                              .offset = layout->params[i].offset,
                              .bytes = layout->params[i].bytes};
        status = write_parameter(b, &row, &p, err);
    }
    return status;
}

/* ---- live memory by address ---- */

/* The first place that begins after the address. */
static size_t place_after(const process *p, uint64_t address)
{
    size_t low = 0, high = p->places.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->places.data[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool builder_place(process *p, const object_info *o)
{
    const uint64_t base = o->record.base, bytes = o->record.bytes;
    const live_place fresh = {base, bytes, o->id, o->parent != 0};
    if (!base || !bytes)
        return true; /* a CUDA array has no address */
    size_t at = place_after(p, base);
    if (!wl_push(&p->places, fresh))
        return false;
    memmove(&p->places.data[at + 1], &p->places.data[at],
            (p->places.count - 1 - at) * sizeof fresh);
    p->places.data[at] = fresh;
    return true;
}

void builder_displace(process *p, uint32_t object, uint64_t base)
{
    for (size_t after = place_after(p, base); after > 0; after--) {
        size_t i = after - 1;
        if (p->places.data[i].base != base)
            return;
        if (p->places.data[i].object != object)
            continue;
        p->places.count--;
        memmove(&p->places.data[i], &p->places.data[i + 1],
                (p->places.count - i) * sizeof *p->places.data);
        return;
    }
}

/* The innermost object's: what a part lies in begins before it. */
static const live_place *place_at(const process *p, uint64_t address)
{
    size_t i = place_after(p, address);
    const live_place *place = i ? &p->places.data[i - 1] : NULL;
    while (place && address - place->base >= place->bytes)
        place = place->part && place > p->places.data ? place - 1 : NULL;
    return place;
}

/* Of memory that was freed, the last that lay there. */
static uint32_t freed_object_at(const process *p, uint64_t address)
{
    for (size_t i = p->objects.count; i-- > 0;) {
        const cap_object *o = &p->objects.data[i].record;
        if (o->base && address - o->base < o->bytes)
            return p->objects.data[i].id;
    }
    return 0;
}

/* The last that ends before the address; a part may end before what it lies in. */
static const live_place *place_before(const process *p, size_t next)
{
    const live_place *last = next ? &p->places.data[next - 1] : NULL;
    for (const live_place *at = last; at && at->part && at > p->places.data;) {
        at--;
        last = at->base + at->bytes >= last->base + last->bytes ? at : last;
    }
    return last;
}

uint32_t builder_nearest_object(const prof_builder *b, uint64_t address)
{
    const process *p = &b->process;
    size_t next = place_after(p, address);
    const live_place *after = next < p->places.count ? &p->places.data[next] : NULL;
    const live_place *before = place_before(p, next);
    const live_place *around = place_at(p, address);
    if (around)
        return around->object;
    uint32_t freed = freed_object_at(p, address);
    if (freed)
        return freed;
    if (!before || !after)
        return before ? before->object : after ? after->object : 0;
    uint64_t below = address - before->base - before->bytes;
    return after->base - address < below ? after->object : before->object;
}

/* ---- what a launch was given ---- */

/* Equal lists are kept once. NULL without memory. */
static const launch_reaches *intern_reaches(process *p, const prof_reach *rows, uint32_t count)
{
    launch_reaches *found = NULL;
    size_t bytes = count * sizeof *rows;
    HASH_FIND(hh, p->reaches, rows, bytes, found);
    if (found)
        return found;
    found = wl_new(p->arena, launch_reaches);
    if (!found || !(found->rows = wl_arena_copy(p->arena, rows, bytes)))
        return NULL;
    found->count = count;
    HASH_ADD_KEYPTR(hh, p->reaches, found->rows, bytes, found);
    return found;
}

/* Any aligned word of the parameters may be a pointer, also within a structure. */
wl_status builder_reaches(prof_builder *b, launch_facts *facts, const char *params, uint64_t length,
                          wl_error *err)
{
    size_t most = length / sizeof(uint64_t);
    if (!most || facts->reaches)
        return WL_OK;
    prof_reach *rows = calloc(most, sizeof *rows);
    uint32_t count = 0;
    for (size_t i = 0; rows && i < most; i++) {
        uint64_t address;
        memcpy(&address, params + i * sizeof address, sizeof address);
        const live_place *place = place_at(&b->process, address);
        if (place) {
            rows[count++] = (prof_reach){.offset = i * sizeof address,
                                         .object = place->object,
                                         .object_offset = address - place->base};
        }
    }
    bool kept = rows && (!count || (facts->reaches = intern_reaches(&b->process, rows, count)));
    free(rows);
    return kept ? WL_OK : NOMEM(err);
}

wl_status builder_write_reaches(prof_builder *b, const launch_facts *facts, wl_error *err)
{
    wl_status status = WL_OK;
    uint32_t count = facts->reaches ? facts->reaches->count : 0;
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        prof_reach row = facts->reaches->rows[i];
        row.launch = facts->row.id;
        status = table_insert_reaches(b->insert[TABLE_reaches], &row, err);
    }
    return status;
}

wl_status builder_indirect(prof_builder *b, const cap_indirect *record, wl_error *err)
{
    const launch_entry *e = builder_find_launch(b, record->launch);
    wl_status status = WL_OK;
    if (!e || !e->kind->facts.done) {
        return wl_fail(err, WL_CORRUPT,
                       "The capture tells of objects of launch %u, which is not there.",
                       record->launch);
    }
    for (uint32_t i = 0; i < record->count && status == WL_OK; i++) {
        const cap_reached *r = &record->objects[i];
        const object_info *object = builder_object(b, r->object);
        if (object) {
            status = db_run(b->stmt[ST_INDIRECT], err, db_int(e->id), db_int(object->id),
                            db_int((r->accesses & CAP_REACHED_LOADED) != 0),
                            db_int((r->accesses & CAP_REACHED_STORED) != 0),
                            db_int((r->accesses & CAP_REACHED_ATOMIC) != 0));
        }
    }
    return status;
}
