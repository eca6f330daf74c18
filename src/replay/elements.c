/* Elements of a noted launch: what its slice accessed joined with what probes counted. */
#include "replay/elements.h"

#include "base/parallel.h"
#include "observe/uses.h"
#include "replay/pieces.h"

#include <stdlib.h>
#include <string.h>

typedef struct state {
    const replay_elements_part *part;
    const rewrite_kernel *kernel; /* NULL: nothing was recorded */
    rewrite_copy copy;            /* with all tables, where they are needed */
    void *whole;                  /* memory of it */
    wl_arena *arena;
    obs_summary *s;
    unsigned counted; /* on the device, of any instruction */
    obs_known objects, arrays;
    unsigned seen;         /* the slice's blocks were seen whole: all accesses to these */
    replay_piece **pieces; /* of each object that was counted on the device */
    uint32_t *npieces;
    obs_use *uses; /* the new ones */
    uint32_t nuses;
    uint64_t room;
} state;

/* ---- what is asked for ---- */

static bool probes_have(uint32_t probes, rewrite_probe probe)
{
    return probes >> probe & 1;
}

obs_known replay_elements_of_objects(uint32_t probes)
{
    return probes_have(probes, REWRITE_FREQUENCY) ? OBS_KNOWN_COUNTED
           : probes_have(probes, REWRITE_TOUCH)   ? OBS_KNOWN_TOUCHED
                                                  : OBS_KNOWN_NOTHING;
}

obs_known replay_elements_of_arrays(uint32_t probes)
{
    return probes_have(probes, REWRITE_SHARED) ? OBS_KNOWN_COUNTED : OBS_KNOWN_NOTHING;
}

static obs_known lesser_known(obs_known a, obs_known b)
{
    return a < b ? a : b;
}

/* ---- what instructions access ---- */

static unsigned spaces_of(const ir_insn *insn)
{
    switch (ir_insn_effect(insn)) {
    case IR_EFFECT_COPY: return REPLAY_ELEMENTS_OBJECTS | REPLAY_ELEMENTS_ARRAYS;
    case IR_EFFECT_TEXTURE:
    case IR_EFFECT_SURFACE: return REPLAY_ELEMENTS_OBJECTS;
    case IR_EFFECT_BARRIER: return REPLAY_ELEMENTS_ARRAYS;
    default: break;
    }
    switch (insn->space) {
    case IR_SPACE_GENERIC: return REPLAY_ELEMENTS_OBJECTS | REPLAY_ELEMENTS_ARRAYS;
    case IR_SPACE_GLOBAL: return REPLAY_ELEMENTS_OBJECTS;
    case IR_SPACE_SHARED:
    case IR_SPACE_SHARED_CLUSTER: return REPLAY_ELEMENTS_ARRAYS;
    default: return 0;
    }
}

unsigned replay_elements_of_site(const rewrite_kernel *k, const rewrite_probe_site *site)
{
    unsigned objects = replay_elements_of_objects(k->probes) ? REPLAY_ELEMENTS_OBJECTS : 0,
             arrays = replay_elements_of_arrays(k->probes) ? REPLAY_ELEMENTS_ARRAYS : 0;
    switch (site->space) {
    case IR_SPACE_GENERIC: return objects | arrays;
    case IR_SPACE_GLOBAL: return objects;
    case IR_SPACE_SHARED: return arrays;
    default: return 0;
    }
}

/* Whether it is known that the instruction did not run. */
static bool is_insn_idle(const state *st, uint32_t pc)
{
    const obs_summary *s = st->s;
    if (st->part->device && replay_recorded_idle(st->part->device, pc))
        return true;
    if (st->part->lifted)
        pc = st->part->lifted->insn_of[pc];
    for (uint32_t i = 0; st->part->share >= 1 && i < s->nblocks; i++)
        if (pc - s->blocks[i].first_pc < s->blocks[i].ninsns)
            return s->blocks[i].executions == 0;
    return false;
}

/* What the instruction may have accessed without being counted on the device. */
static unsigned uncounted(const state *st, uint32_t pc)
{
    unsigned counted = st->part->device ? st->part->device->elements[pc] : 0;
    return spaces_of(emu_kernel_code(st->part->slice, pc).insn) & ~counted;
}

/* Did the state have tables of elements that the capture does not have? */
static bool lacks_tables(const state *st)
{
    const replay_recorded_launch *d = st->part->device;
    rewrite_state head = {0};
    if (!(st->counted & REPLAY_ELEMENTS_OBJECTS) || d->tables)
        return false;
    rewrite_unpack(d->probe->data, d->probe->length, 0, &head, sizeof head);
    return st->copy.layout->tables_at && head.pool_at > st->copy.layout->tables_at;
}

/* What nobody saw all accesses of, in the blocks that the slice ran. */
static unsigned find_unseen(const state *st)
{
    const replay_elements_part *p = st->part;
    uint32_t npcs = emu_kernel_get(p->slice)->ncode;
    unsigned unknown = lacks_tables(st) ? REPLAY_ELEMENTS_OBJECTS : 0;
    for (uint32_t i = 0; i < p->ngaps; i++)
        if (p->gaps[i].pc < npcs && !is_insn_idle(st, p->gaps[i].pc))
            unknown |= uncounted(st, p->gaps[i].pc);
    return unknown;
}

/* What other blocks may have accessed. */
static unsigned find_elsewhere(const state *st)
{
    const replay_elements_part *p = st->part;
    uint32_t npcs = emu_kernel_get(p->slice)->ncode;
    unsigned unknown = 0;
    for (uint32_t pc = 0; p->share < 1 && pc < npcs; pc++)
        if (emu_slice_shows(p->slice, pc))
            unknown |= uncounted(st, pc);
    return unknown;
}

/* ---- uses ---- */

static const obs_use *find_use(const state *st, uint8_t space, uint32_t object)
{
    for (uint32_t i = 0; i < st->s->nuses; i++)
        if (st->s->uses[i].space == space && st->s->uses[i].object == object)
            return &st->s->uses[i];
    return NULL;
}

static bool is_seen(const state *st, uint8_t space)
{
    return st->seen & (space == ACC_SHARED ? REPLAY_ELEMENTS_ARRAYS : REPLAY_ELEMENTS_OBJECTS);
}

/* What blocks did each by itself, which the slice saw of some or all of them. */
static void take_reuse(obs_use *use, const obs_use *from)
{
    const obs_use own = *use;
    *use = *from;
    use->known = own.known;
    use->spans = own.spans;
    use->length = own.length;
}

/* Of an array that the device counted accesses to as well, what follows about its ranges; of others
 * all that the slice saw. */
static void take_array_reuse(const state *st, uint32_t number, const wl_spans *device, obs_use *use)
{
    const replay_elements_part *p = st->part;
    const obs_use *slice = find_use(st, ACC_SHARED, number);
    const replay_array *array = replay_ranges_of(p->ranges, st->s->shared[number].name);
    if (!array || use->known != OBS_KNOWN_COUNTED)
        return;
    if (array->apart.any && p->share >= 1 &&
        !replay_ranges_read(&st->copy, st->s->shared[number].name, use))
        replay_ranges_follow(array, slice, device, p->launch, number, use);
    else if (!array->apart.any && slice)
        take_reuse(use, slice);
}

/* NULL: none. They stay the slice's. */
static wl_spans spans_of_slice(const obs_use *slice)
{
    if (!slice || !slice->length)
        return (wl_spans){.counted = true};
    return (wl_spans){.data = (uint8_t *)(uintptr_t)slice->spans,
                      .size = slice->length,
                      .counted = slice->known == OBS_KNOWN_COUNTED};
}

/* What the slice and the device saw of an object. `device`: NULL, or what was counted there. */
static wl_status add_joined_use(state *st, uint8_t space, uint32_t object, obs_known known,
                                const wl_spans *device)
{
    const obs_use *slice = find_use(st, space, object);
    obs_use *use = &st->uses[st->nuses++];
    *use = (obs_use){.object = object, .space = space, .spans = ""};
    if (slice)
        known = lesser_known(known, (obs_known)slice->known);
    if (slice && !device && is_seen(st, space))
        take_reuse(use, slice);
    if (!known)
        return WL_OK;
    const wl_spans of_slice = spans_of_slice(slice), none = {0};
    device = device ? device : &none;
    if (!of_slice.size || !device->size)
        return obs_use_make(device->size ? device : &of_slice, known, &st->room, st->arena, use);
    wl_spans sum = {.counted = known == OBS_KNOWN_COUNTED};
    wl_span_reader a = wl_spans_read(of_slice.data, of_slice.size, of_slice.counted);
    wl_span_reader b = wl_spans_read(device->data, device->size, device->counted);
    wl_status status = wl_spans_sum(&a, &b, &sum)
                           ? obs_use_make(&sum, known, &st->room, st->arena, use)
                           : WL_NOMEM;
    wl_spans_free(&sum);
    return status;
}

/* What only the slice accessed; nothing of it is known where the device may have, too. */
static wl_status add_others(state *st, uint8_t space, obs_known known)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < st->s->nuses && status == WL_OK; i++) {
        const obs_use *use = &st->s->uses[i];
        bool there = false;
        for (uint32_t k = 0; k < st->nuses; k++)
            there |= st->uses[k].space == use->space && st->uses[k].object == use->object;
        if (use->space == space && !there)
            status = add_joined_use(st, space, use->object, known, NULL);
    }
    return status;
}

/* ---- objects ---- */

/* What of the state may hold anything: all before its tables, and of these what was packed. Where
 * that is in no order nothing is told. */
static bool list_runs(state *st, uint64_t before_tables)
{
    const replay_recorded_launch *d = st->part->device;
    uint64_t count = rewrite_packed_runs(d->tables, d->tables_length, NULL);
    rewrite_run *runs = wl_new_array(st->arena, rewrite_run, count + 1);
    if (!runs)
        return false;
    runs[0] = (rewrite_run){0, before_tables};
    rewrite_packed_runs(d->tables, d->tables_length, runs + 1);
    bool ascend = true;
    for (uint64_t i = 1; i <= count; i++)
        ascend &= runs[i].at >= runs[i - 1].at + runs[i - 1].bytes;
    st->copy.runs = ascend ? runs : NULL;
    st->copy.nruns = count + 1;
    return true;
}

/* The state with its tables; what is zero in it takes no memory. */
static bool unpack_copy(state *st)
{
    const replay_recorded_launch *d = st->part->device;
    uint64_t size = rewrite_packed_size(d->tables, d->tables_length),
             most = st->copy.layout->tables_at;
    if (!(st->whole = calloc(1, size + 1)) || !list_runs(st, most))
        return false;
    rewrite_unpack(d->probe->data, d->probe->length, 0, st->whole, size < most ? size : most);
    if (size > most)
        rewrite_unpack(d->tables, d->tables_length, most, (char *)st->whole + most, size - most);
    st->copy.state = st->whole;
    st->copy.size = size;
    return true;
}

typedef struct device_part { /* lines [from, to) of an object */
    const rewrite_copy *copy;
    uint32_t object;
    uint64_t from, to;
    wl_spans spans;
    wl_status status;
} device_part;

static void read_device_part(void *ctx, uint64_t i)
{
    device_part *p = (device_part *)ctx + i;
    p->status = rewrite_read_lines(p->copy, p->object, p->from, p->to, &p->spans);
}

enum { PART_LINES = 1 << 14 };

/* Parts of a large object on several threads, one after the other. */
static wl_status read_device_elements(const state *st, uint32_t object, wl_spans *out)
{
    uint64_t lines = rewrite_lines(&st->copy, object),
             count = (lines + PART_LINES - 1) / PART_LINES;
    wl_status status = WL_OK;
    if (count <= 1)
        return rewrite_read_elements(&st->copy, object, out);
    device_part *parts = calloc(count, sizeof *parts);
    if (!parts)
        return WL_NOMEM;
    for (uint64_t i = 0; i < count; i++)
        parts[i] = (device_part){.copy = &st->copy,
                                 .object = object,
                                 .from = i * PART_LINES,
                                 .to = (i + 1) * PART_LINES,
                                 .spans = {.counted = out->counted}};
    wl_parallel(st->part->threads, count, read_device_part, parts);
    for (uint64_t i = 0; i < count; i++) {
        status = status == WL_OK ? parts[i].status : status;
        wl_spans_append(out, &parts[i].spans);
        wl_spans_free(&parts[i].spans);
    }
    free(parts);
    return status == WL_OK && wl_spans_finish(out) ? WL_OK : WL_NOMEM;
}

typedef struct device_object { /* what was counted of one of the ranges */
    uint64_t base;
    wl_spans spans;
    uint32_t pieces; /* that it is divided into */
    bool exact, missed;
} device_object;

/* `count` pieces of one object. */
static wl_status add_device_pieces(state *st, const device_object *o, const replay_piece *pieces,
                                   uint32_t count)
{
    uint32_t object = pieces->object;
    wl_spans own = {.counted = o->spans.counted};
    bool whole = count == 1 && o->pieces == 1 && pieces->begin == o->base;
    const wl_spans *spans = whole ? &o->spans : &own;
    if (!whole && !replay_pieces_take(&o->spans, o->base, pieces, count, &own)) {
        wl_spans_free(&own);
        return WL_NOMEM;
    }
    bool told = o->missed || spans->size || find_use(st, ACC_GLOBAL, object);
    wl_status status = told ? add_joined_use(st, ACC_GLOBAL, object,
                                             o->exact ? st->objects : OBS_KNOWN_NOTHING, spans)
                            : WL_OK;
    wl_spans_free(&own);
    return status;
}

static wl_status add_device_object(state *st, uint32_t number, bool missed)
{
    device_object o = {
        .base = st->part->device->probe->objects[number].base,
        .spans = {.counted = replay_elements_of_objects(st->kernel->probes) == OBS_KNOWN_COUNTED},
        .pieces = st->npieces[number],
        .exact = rewrite_knows_elements(&st->copy, number),
        .missed = missed};
    const replay_piece *pieces = st->pieces[number];
    wl_status status = o.exact ? read_device_elements(st, number, &o.spans) : WL_OK;
    for (uint32_t i = 0, n; i < st->npieces[number] && status == WL_OK; i += n) {
        n = replay_pieces_alike(pieces + i, st->npieces[number] - i);
        status = add_device_pieces(st, &o, pieces + i, n);
    }
    wl_spans_free(&o.spans);
    return status;
}

static wl_status add_objects(state *st)
{
    const cap_probe *probe = st->part->device->probe;
    bool missed = rewrite_missed(&st->copy) > 0;
    wl_status status = WL_OK;
    if (st->part->device->tables)
        status = unpack_copy(st) ? WL_OK : WL_NOMEM;
    for (uint32_t i = 0; i < probe->count && status == WL_OK; i++)
        status = add_device_object(st, i, missed);
    if (missed)
        st->objects = OBS_KNOWN_NOTHING;
    return status == WL_OK ? add_others(st, ACC_GLOBAL, st->objects) : status;
}

/* ---- arrays ---- */

static bool device_address(const state *st, const obs_shared *array, uint64_t *address)
{
    for (uint32_t i = 0; i < st->kernel->nvars; i++) {
        const ir_var *var = st->kernel->vars[i].var;
        if (var->space != IR_SPACE_CONST && strcmp(var->name, array->name) == 0) {
            *address = rewrite_var_address(&st->copy, i);
            return true;
        }
    }
    return false;
}

/* Takes the array's counts: of words that several arrays have, the first gets them. */
static void take_counts(uint64_t *counts, uint64_t words, uint64_t address, uint32_t bytes,
                        wl_spans *spans)
{
    uint64_t first = address / 4, end = (address + bytes + 3) / 4;
    for (uint64_t w = first; w < end && w < words; w++) {
        wl_span span = {.first = w - first, .count = 1};
        for (int c = 0; c < WL_CLASSES; c++) {
            span.times[c] = counts[(uint64_t)c * words + w];
            counts[(uint64_t)c * words + w] = 0;
        }
        wl_spans_add(spans, &span);
    }
}

static wl_status add_array(state *st, uint32_t number, uint64_t *counts, uint64_t words)
{
    const obs_shared *array = &st->s->shared[number];
    wl_spans spans = {.counted = true};
    uint64_t address = 0;
    bool there = device_address(st, array, &address), alike = (address ^ array->offset) % 4 == 0;
    if (there)
        take_counts(counts, words, address, array->bytes, &spans);
    wl_status status = wl_spans_finish(&spans) ? WL_OK : WL_NOMEM;
    bool used = spans.size || find_use(st, ACC_SHARED, number);
    if (status == WL_OK && used)
        status = add_joined_use(st, ACC_SHARED, number, alike ? st->arrays : OBS_KNOWN_NOTHING,
                                &spans);
    if (status == WL_OK && used)
        take_array_reuse(st, number, &spans, &st->uses[st->nuses - 1]);
    wl_spans_free(&spans);
    return status;
}

static wl_status add_arrays(state *st)
{
    uint64_t words = st->copy.layout->shared_bytes / 4;
    uint64_t *counts = calloc(WL_CLASSES * words + 1, sizeof *counts);
    wl_status status = counts ? rewrite_read_shared(&st->copy, counts) : WL_NOMEM;
    for (uint32_t i = 1; i < st->s->nshared && status == WL_OK; i++)
        status = add_array(st, i, counts, words);
    free(counts);
    return status;
}

/* ---- together ---- */

static int by_space_and_object(const void *a, const void *b)
{
    const obs_use *x = a, *y = b;
    uint64_t k = (uint64_t)x->space << 32 | x->object, l = (uint64_t)y->space << 32 | y->object;
    return (k > l) - (k < l);
}

static bool list_pieces(state *st, const cap_probe *probe, uint32_t *total)
{
    st->pieces = wl_new_array(st->arena, replay_piece *, probe->count + 1);
    st->npieces = wl_new_array(st->arena, uint32_t, probe->count + 1);
    bool good = st->pieces && st->npieces;
    for (uint32_t i = 0; i < probe->count && good; i++) {
        st->pieces[i] = replay_pieces_of(st->part->machine, &probe->objects[i], st->arena,
                                         &st->npieces[i]);
        good = st->pieces[i] != NULL;
        *total += st->npieces[i];
    }
    return good;
}

static bool begin_state(state *st)
{
    const replay_recorded_launch *device = st->part->device;
    uint32_t most = st->s->nuses + st->s->nshared;
    st->room = OBS_USE_ROOM;
    if (device) {
        st->copy = *replay_recorded_copy(device);
        st->kernel = st->copy.kernel;
        if (!list_pieces(st, device->probe, &most))
            return false;
    }
    for (uint32_t i = 0; st->kernel && i < st->kernel->nsites; i++)
        st->counted |= replay_elements_of_site(st->kernel, &st->kernel->sites[i]);
    if (st->kernel && st->counted & REPLAY_ELEMENTS_OBJECTS)
        st->objects = lesser_known(st->objects, replay_elements_of_objects(st->kernel->probes));
    st->uses = wl_new_array(st->arena, obs_use, most + 1);
    return st->uses != NULL;
}

static wl_status join_counts(state *st)
{
    bool missed = st->counted && rewrite_missed(&st->copy) > 0;
    wl_status status = WL_OK;
    if (st->counted & REPLAY_ELEMENTS_ARRAYS && missed)
        st->arrays = OBS_KNOWN_NOTHING;
    st->seen &= ~st->counted;
    if (!(st->counted & REPLAY_ELEMENTS_ARRAYS) && (st->arrays || is_seen(st, ACC_SHARED)))
        status = add_others(st, ACC_SHARED, st->arrays);
    else if (st->arrays)
        status = add_arrays(st);
    if (status != WL_OK)
        return status;
    if (!(st->counted & REPLAY_ELEMENTS_OBJECTS) && (st->objects || is_seen(st, ACC_GLOBAL)))
        status = add_others(st, ACC_GLOBAL, st->objects);
    else if (st->objects)
        status = add_objects(st);
    return status;
}

wl_status replay_elements_finish(const replay_elements_part *part, wl_arena *arena, obs_summary *s)
{
    state st = {.part = part,
                .arena = arena,
                .s = s,
                .objects = (obs_known)s->objects_known,
                .arrays = (obs_known)s->arrays_known};
    if (!s->objects_known && !s->arrays_known)
        return WL_OK;
    if (!begin_state(&st))
        return WL_NOMEM;
    unsigned unseen = find_unseen(&st), unknown = unseen | find_elsewhere(&st);
    st.seen = ~unseen;
    if (unknown & REPLAY_ELEMENTS_OBJECTS)
        st.objects = OBS_KNOWN_NOTHING;
    if (unknown & REPLAY_ELEMENTS_ARRAYS)
        st.arrays = OBS_KNOWN_NOTHING;
    wl_status status = join_counts(&st);
    free(st.whole);
    qsort(st.uses, st.nuses, sizeof *st.uses, by_space_and_object);
    s->uses = st.uses;
    s->nuses = st.nuses;
    s->objects_known = (uint8_t)st.objects;
    s->arrays_known = (uint8_t)st.arrays;
    return status;
}
