/* What probes recorded, read from a capture, and the kernels as they were rewritten for it. */
#include "replay/recorded_impl.h"

#include <stdlib.h>
#include <string.h>

typedef struct planned { /* what rewrite_module() said of a module */
    const ir_module *module;
    uint32_t probes, everything;
    wl_arena *arena;
    rewrite_result result;
    struct planned *next;
} planned;

typedef struct named { /* a kernel that recorded */
    const char *name;
    UT_hash_handle hh;
} named;

typedef struct patched { /* a PATCHED record */
    uint32_t note;
    cap_patched counted; /* its array in the arena */
    XXH128_hash_t hash;  /* of that */
    UT_hash_handle hh;
} patched;

struct replay_recorded {
    wl_arena *arena;
    replay_taken *notes;
    patched *patches;
    named *kernels;
    planned *plans;
    uint32_t probes;          /* of all records */
    cap_reader *reader;       /* of TABLES, in no order */
    uint64_t most;            /* bytes of memory; 0: no limit */
    cap_tables part;          /* that was read last */
    const replay_taken *held; /* whose tables these are, all of them, or NULL */
    const char *tables;
    uint64_t tables_length;
    char *joined;  /* those of a launch that has several */
    uint64_t room; /* there */
};

/* ---- reading the capture ---- */

static bool keep_probe(replay_recorded *r, const cap_probe *p)
{
    replay_taken *t = wl_new(r->arena, replay_taken);
    if (!t)
        return false;
    t->note = p->note;
    t->probe = *p;
    t->probe.data = wl_arena_copy(r->arena, p->data, p->length);
    t->probe.blocks = wl_arena_copy(r->arena, p->blocks, p->nblocks * sizeof *p->blocks);
    t->probe.objects = wl_arena_copy(r->arena, p->objects, p->count * sizeof *p->objects);
    if (!t->probe.data || !t->probe.blocks || !t->probe.objects)
        return false;
    r->probes |= p->probes;
    HASH_ADD(hh, r->notes, note, sizeof t->note, t);
    return true;
}

static replay_taken *taken_of(const replay_recorded *r, uint32_t note)
{
    replay_taken *found = NULL;
    HASH_FIND(hh, r->notes, &note, sizeof note, found);
    return found;
}

const replay_taken *replay_recorded_find(const replay_recorded *r, uint32_t note)
{
    return r ? taken_of(r, note) : NULL;
}

bool replay_recorded_kernel(const replay_recorded *r, const char *kernel)
{
    named *found = NULL;
    if (r)
        HASH_FIND_STR(r->kernels, kernel, found);
    return found != NULL;
}

static bool keep_kernel(replay_recorded *r, const cap_note *note)
{
    if (!(note->flags & CAP_NOTE_PROBED) || replay_recorded_kernel(r, note->kernel))
        return true;
    named *k = wl_new(r->arena, named);
    if (!k || !(k->name = wl_arena_strdup(r->arena, note->kernel)))
        return false;
    HASH_ADD_KEYPTR(hh, r->kernels, k->name, strlen(k->name), k);
    return true;
}

static patched *patched_of(const replay_recorded *r, uint32_t note)
{
    patched *found = NULL;
    if (r)
        HASH_FIND(hh, r->patches, &note, sizeof note, found);
    return found;
}

const cap_patched *replay_recorded_patched(const replay_recorded *r, uint32_t note)
{
    const patched *found = patched_of(r, note);
    return found ? &found->counted : NULL;
}

static bool keep_patched(replay_recorded *r, const cap_patched *record)
{
    patched *p = wl_new(r->arena, patched);
    size_t bytes = record->count * sizeof *record->insns;
    if (!p)
        return false;
    p->note = record->note;
    p->counted = *record;
    p->counted.insns = wl_arena_copy(r->arena, record->insns, bytes);
    if (!p->counted.insns)
        return false;
    p->hash = XXH3_128bits(p->counted.insns, bytes);
    HASH_ADD(hh, r->patches, note, sizeof p->note, p);
    return true;
}

static bool fits_memory(const replay_recorded *r, uint64_t length)
{
    return !r->most || wl_arena_used(r->arena) + length <= r->most;
}

/* The record that was read last, from `at` on, is one of TABLES. */
static bool note_tables(replay_recorded *r, cap_reader *reader, uint64_t at)
{
    replay_taken *t = taken_of(r, cap_subject(reader));
    return !t || wl_push(&t->tables, at);
}

static void note_same_tables(replay_recorded *r, const cap_same_tables *same)
{
    replay_taken *t = taken_of(r, same->note), *from = taken_of(r, same->same_as);
    if (t && from && t != from && !from->same)
        t->same = from;
}

static wl_status read_records(replay_recorded *r, cap_reader *reader, uint64_t size)
{
    cap_record record;
    wl_error damage;
    bool end = false;
    for (;;) {
        uint64_t at = cap_position(reader);
        wl_status status = cap_read(reader, &record, &end, &damage);
        if (end || cap_position(reader) > size)
            return WL_OK;
        if (status == WL_NOMEM ||
            (status == WL_OK && record.type == CAP_NOTE && !keep_kernel(r, &record.note)))
            return WL_NOMEM;
        if (status == WL_OK && record.type == CAP_TABLES && !note_tables(r, reader, at))
            return WL_NOMEM;
        if (status == WL_OK && record.type == CAP_SAME_TABLES)
            note_same_tables(r, &record.same_tables);
        if (status == WL_OK && record.type == CAP_PATCHED && !patched_of(r, record.patched.note) &&
            fits_memory(r, record.patched.count * sizeof *record.patched.insns) &&
            !keep_patched(r, &record.patched))
            return WL_NOMEM;
        if (status == WL_OK && record.type == CAP_PROBE && !taken_of(r, record.probe.note) &&
            fits_memory(r, record.probe.length) && !keep_probe(r, &record.probe))
            return WL_NOMEM;
    }
}

wl_status replay_recorded_read(const char *path, uint64_t size, uint64_t most,
                               replay_recorded **out, wl_error *err)
{
    cap_reader *reader = NULL;
    replay_recorded *r = calloc(1, sizeof *r);
    if (!r || !(r->arena = wl_arena_new())) {
        free(r);
        return wl_fail(err, WL_NOMEM, "out of memory while computing accesses");
    }
    r->most = most;
    wl_status status = cap_open(path, &reader, err);
    if (status == WL_OK) {
        cap_skip(reader, ~(CAP_BIT(CAP_NOTE) | CAP_BIT(CAP_PROBE) | CAP_BIT(CAP_SAME_TABLES) |
                           CAP_BIT(CAP_PATCHED)));
        status = read_records(r, reader, size);
    }
    if (status == WL_OK)
        status = cap_open(path, &r->reader, err);
    cap_reader_free(reader);
    if (status != WL_OK) {
        replay_recorded_free(r);
        return wl_fail(err, status, "what probes recorded cannot be read");
    }
    *out = r;
    return WL_OK;
}

void replay_recorded_free(replay_recorded *r)
{
    if (!r)
        return;
    for (planned *p = r->plans, *next; p; p = next) {
        next = p->next;
        free(p->result.text);
        wl_arena_free(p->arena);
        free(p);
    }
    for (replay_taken *t = r->notes; t; t = t->hh.next)
        wl_vec_free(&t->tables);
    cap_reader_free(r->reader);
    free(r->joined);
    HASH_CLEAR(hh, r->patches);
    HASH_CLEAR(hh, r->notes);
    HASH_CLEAR(hh, r->kernels);
    wl_arena_free(r->arena);
    free(r);
}

uint32_t replay_recorded_probes(const replay_recorded *r)
{
    return r ? r->probes : 0;
}

bool replay_recorded_has(const replay_recorded *r, uint32_t note)
{
    return replay_recorded_find(r, note) != NULL;
}

/* ---- tables ---- */

/* NULL: nothing is there, or it is damaged. */
static wl_status read_tables_part(replay_recorded *r, uint64_t at, const cap_tables **out)
{
    static const cap_tables none;
    cap_record record;
    wl_error damage;
    bool end = false;
    cap_seek(r->reader, at);
    wl_status status = cap_read(r->reader, &record, &end, &damage);
    r->part = status == WL_OK && !end && record.type == CAP_TABLES ? record.tables : none;
    *out = r->part.data ? &r->part : NULL;
    return status == WL_NOMEM ? status : WL_OK;
}

static bool join_part(replay_recorded *r, const cap_tables *part, uint64_t at)
{
    if (at + part->length > r->room) {
        char *grown = realloc(r->joined, at + part->length);
        if (!grown)
            return false;
        r->joined = grown;
        r->room = at + part->length;
    }
    memcpy(r->joined + at, part->data, part->length);
    return true;
}

/* Several records of one launch are parts, one after the other. */
static wl_status read_parts(replay_recorded *r, const replay_taken *t, const char **tables,
                            uint64_t *length)
{
    wl_status status = WL_OK;
    const cap_tables *part;
    for (size_t i = 0; i < t->tables.count && status == WL_OK; i++) {
        status = read_tables_part(r, t->tables.data[i], &part);
        bool whole = status == WL_OK && part && fits_memory(r, *length + part->length);
        if (!whole) {
            *length = 0;
            return status;
        }
        if (t->tables.count > 1 && !join_part(r, part, *length))
            return WL_NOMEM;
        *tables = t->tables.count > 1 ? r->joined : part->data;
        *length += part->length;
    }
    return status;
}

/* The launch that has the tables itself. */
static const replay_taken *owner_of_tables(const replay_taken *t)
{
    return t->same ? t->same : t;
}

wl_status replay_recorded_tables(replay_recorded *r, const replay_taken *t, const char **tables,
                                 uint64_t *length)
{
    wl_status status = WL_OK;
    t = owner_of_tables(t);
    if (r->held != t) {
        r->held = NULL;
        r->tables = NULL;
        r->tables_length = 0;
        status = read_parts(r, t, &r->tables, &r->tables_length);
        r->held = status == WL_OK ? t : NULL;
    }
    bool whole = r->tables_length && rewrite_is_packed(r->tables, r->tables_length);
    *tables = whole ? r->tables : NULL; /* those of which a part is missing tell nothing */
    *length = whole ? r->tables_length : 0;
    return status;
}

/* ---- what is the same ---- */

/* WL_NOENT where there are some, and they cannot be read. */
static wl_status hash_tables(replay_recorded *r, replay_taken *t, bool may_read)
{
    const char *tables;
    uint64_t length;
    if (t->hashed)
        return WL_OK;
    if (t->tables.count && !may_read)
        return WL_NOENT;
    wl_status status = replay_recorded_tables(r, t, &tables, &length);
    if (status != WL_OK)
        return status;
    if (t->tables.count && !length)
        return WL_NOENT;
    t->hash = XXH3_128bits(tables, length);
    t->hashed = true;
    return WL_OK;
}

/* Without the number of the launch. */
static XXH128_hash_t hash_of_probe(const cap_probe *p)
{
    const uint64_t numbers[] = {p->probes,       p->everything, p->nblocks, p->rows,
                                p->shared_bytes, p->count,      p->length};
    XXH128_hash_t parts[4] = {XXH3_128bits(numbers, sizeof numbers),
                              XXH3_128bits(p->blocks, p->nblocks * sizeof *p->blocks),
                              XXH3_128bits(p->data, p->length),
                              {0}};
    for (uint32_t i = 0; i < p->count; i++) {
        const uint64_t object[] = {p->objects[i].object, p->objects[i].base, p->objects[i].bytes};
        XXH128_hash_t both[] = {parts[3], XXH3_128bits(object, sizeof object)};
        parts[3] = XXH3_128bits(both, sizeof both);
    }
    return XXH3_128bits(parts, sizeof parts);
}

wl_status replay_recorded_hash(replay_recorded *r, uint32_t note, bool may_read, uint64_t hash[2])
{
    const patched *counted = patched_of(r, note);
    if (counted) {
        hash[0] = counted->hash.low64;
        hash[1] = counted->hash.high64;
        return WL_OK;
    }
    replay_taken *t = r ? taken_of(r, note) : NULL;
    replay_taken *owner = t && t->same ? t->same : t;
    wl_status status = t ? hash_tables(r, owner, may_read) : WL_NOENT;
    if (status != WL_OK)
        return status;
    const XXH128_hash_t parts[] = {hash_of_probe(&t->probe), owner->hash};
    XXH128_hash_t all = XXH3_128bits(parts, sizeof parts);
    hash[0] = all.low64;
    hash[1] = all.high64;
    return WL_OK;
}

/* ---- the kernel as it was rewritten ---- */

static const planned *plan_of(replay_recorded *r, const ir_module *module, const cap_probe *probe)
{
    for (planned *p = r->plans; p; p = p->next)
        if (p->module == module && p->probes == probe->probes && p->everything == probe->everything)
            return p;
    planned *p = calloc(1, sizeof *p);
    rewrite_options options = {.probes = probe->probes, .everything = probe->everything};
    wl_error err;
    if (!p || !(p->arena = wl_arena_new())) {
        free(p);
        return NULL;
    }
    p->module = module;
    p->probes = probe->probes;
    p->everything = probe->everything;
    if (rewrite_module(module, &options, p->arena, &p->result, &err) != WL_OK)
        p->result = (rewrite_result){0};
    p->next = r->plans;
    r->plans = p;
    return p;
}

static const rewrite_kernel *kernel_of(const planned *p, const char *name)
{
    for (uint32_t i = 0; i < p->result.nkernels; i++)
        if (strcmp(p->result.kernels[i].func->name, name) == 0)
            return p->result.kernels[i].probes ? &p->result.kernels[i] : NULL;
    return NULL;
}

wl_status replay_recorded_rewritten(replay_recorded *r, const ir_module *module,
                                    const cap_probe *probe, const char *name,
                                    const rewrite_kernel **out)
{
    const planned *plan = plan_of(r, module, probe);
    if (!plan)
        return WL_NOMEM;
    *out = kernel_of(plan, name);
    return *out ? WL_OK : WL_NOENT;
}
