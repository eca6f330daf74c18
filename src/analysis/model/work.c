/* What a launch asks of a device: sums over the profile's rows of one launch. */
#include "analysis/model/work.h"

#include <math.h>
#include <string.h>

/* Neighbouring words lie in one slice of L2 in pieces of about this size. */
enum { SLICE_PIECE = 512 };

/* ---- rows of one launch ---- */

typedef struct row_key { /* what rows of launches begin with */
    uint32_t launch, kernel;
} row_key;

typedef struct cursor { /* rows by kernel and launch */
    const void *rows;
    size_t size;
    uint32_t count, at; /* at: the first that no launch has taken */
} cursor;

typedef struct shares { /* of a kernel's last launch that has heat maps */
    uint32_t kernel;
    double missed;    /* of the sectors that are loaded, the part that L1 lacks */
    double footprint; /* bytes that are touched, of all that is asked for */
    double again;     /* sectors that device memory moves again, of the same */
} shares;

struct model_rows {
    shares last;
    prof_object_rows objects;
    prof_code_rows code;
    cursor instructions, touched, reuses, work, waits;
};

static bool comes_before(const row_key *row, const prof_launch *l)
{
    return row->kernel != l->kernel ? row->kernel < l->kernel : row->launch < l->id;
}

static const row_key *row_at(const cursor *c)
{
    return c->at < c->count ? (const void *)((const char *)c->rows + c->at * c->size) : NULL;
}

/* The rows of the launch; *count of them. */
static const void *take_rows(cursor *c, const prof_launch *l, uint32_t *count)
{
    while (row_at(c) && comes_before(row_at(c), l))
        c->at++;
    const void *first = row_at(c);
    uint32_t before = c->at;
    while (row_at(c) && row_at(c)->kernel == l->kernel && row_at(c)->launch == l->id)
        c->at++;
    *count = c->at - before;
    return first;
}

#define CURSOR(table) (cursor){(table).rows, sizeof *(table).rows, (table).count, 0}

wl_status model_rows_load(prof_db *profile, wl_arena *arena, model_rows **out, wl_error *err)
{
    prof_instruction_rows instructions;
    prof_touched_rows touched;
    prof_reuse_rows reuses;
    prof_work_rows work;
    prof_wait_rows waits;
    model_rows *rows = *out = wl_new(arena, model_rows);
    if (!rows)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    wl_status status = prof_load_objects(profile, arena, &rows->objects, err);
    if (status == WL_OK)
        status = prof_load_code(profile, PROF_ALL, arena, &rows->code, err);
    if (status == WL_OK)
        status = prof_load_kind_instructions(profile, arena, &instructions, err);
    if (status == WL_OK)
        status = prof_load_touched(profile, arena, &touched, err);
    if (status == WL_OK)
        status = prof_load_reuses(profile, arena, &reuses, err);
    if (status == WL_OK)
        status = prof_load_work(profile, arena, &work, err);
    if (status == WL_OK)
        status = prof_load_waits(profile, arena, &waits, err);
    if (status != WL_OK)
        return status;
    rows->instructions = CURSOR(instructions);
    rows->touched = CURSOR(touched);
    rows->reuses = CURSOR(reuses);
    rows->work = CURSOR(work);
    rows->waits = CURSOR(waits);
    return WL_OK;
}

/* ---- the requests of one instruction ---- */

static bool is_atomic(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* Do most of its requests go to a single word? */
static bool is_of_one_word(const obs_insn *c)
{
    return c->uniform * 2 > c->requests;
}

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

/* Lines that its requests touch: where lanes are far apart, each sector has its own. */
static double lines_of(const obs_insn *c)
{
    double dense = (double)(c->uniform + c->contiguous + c->misaligned);
    double part = c->requests ? dense / (double)c->requests : 1;
    double apart = fabs((double)c->stride), of_line = 1;
    if (c->strided && apart < MODEL_LINE)
        of_line = MODEL_LINE / at_least(apart, MODEL_SECTOR);
    double a_line = (double)MODEL_LINE / MODEL_SECTOR;
    return at_least((double)c->sectors * (part / a_line + (1 - part) / of_line),
                    (double)c->requests);
}

/* Those of one slice of L2, over which the words are spread. */
static double turns_of_slice(const obs_insn *c, const prof_object *object)
{
    bool spread = object && !is_of_one_word(c);
    double pieces = spread ? (double)object->bytes / SLICE_PIECE : 1;
    return (double)c->turns / at_least(pieces, 1);
}

/* ".f32" and the like: L2 takes longer for them. */
static bool is_of_floats(const model_rows *rows, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&rows->code, i->kernel, i->c.pc);
    return code && (strstr(code->op, ".f") || strstr(code->op, ".bf"));
}

static void add_atomics(const model_rows *rows, const prof_instruction *i,
                        const prof_object *object, model_traffic *t)
{
    double turns = turns_of_slice(&i->c, object);
    t->atomic_lanes += (double)i->c.active_lanes;
    t->atomic_turns += (double)i->c.turns;
    *(is_of_floats(rows, i) ? &t->float_turns : &t->integer_turns) += turns;
}

static void add_global(model_traffic *t, const obs_insn *c)
{
    double lines = lines_of(c);
    t->requests += (double)c->requests;
    t->lines += lines;
    t->sectors += (double)c->sectors;
    if (c->op == ACC_STORE) {
        t->stored += (double)c->sectors;
        t->stored_lines += lines;
    } else if (c->space == ACC_GLOBAL) {
        t->loads += (double)c->requests;
        t->loaded += (double)c->sectors;
        t->loaded_lines += lines;
    }
}

/* ---- what caches keep ---- */

typedef struct object_traffic { /* sectors and lines, by all blocks */
    double loaded, loaded_lines;
    double stored; /* those that are written in part count twice: the rest must be read */
} object_traffic;

static bool is_written_in_part(const obs_insn *c)
{
    return (double)c->active_lanes * c->bytes < (double)c->sectors * MODEL_SECTOR;
}

static object_traffic traffic_of_object(const prof_instruction *rows, uint32_t count,
                                        uint32_t object)
{
    object_traffic sum = {0};
    for (uint32_t i = 0; i < count; i++) {
        const obs_insn *c = &rows[i].c;
        if (c->space != ACC_GLOBAL || c->object != object)
            continue;
        if (c->op == ACC_LOAD) {
            sum.loaded += (double)c->sectors;
            sum.loaded_lines += lines_of(c);
        } else if (c->op == ACC_STORE) {
            sum.stored += (double)c->sectors * (is_written_in_part(c) ? 2 : 1);
        }
    }
    return sum;
}

typedef struct object_reuse {        /* parts of its loads, or its stores, that blocks do */
    double first;                    /* for the first time */
    double gone_from_l1;             /* again, after more than L1 holds */
    double loaded_anew, stored_anew; /* again, after more than L2 holds */
} object_reuse;

/* Whether a cache that so many blocks share, all at the same pace, holds a line that each comes back
 * to after so many others. */
static bool cache_holds(double bytes, double blocks, double distance)
{
    return (distance + 1) * blocks * MODEL_LINE <= bytes;
}

static void add_uses(const model_device *d, const prof_reuse *r, object_reuse *sum)
{
    if (r->distance == OBS_FIRST_USE) {
        sum->first += r->loads;
        return;
    }
    if (!cache_holds(d->l1_bytes, d->of_sm, r->distance))
        sum->gone_from_l1 += r->loads;
    if (!cache_holds(d->l2_bytes, d->resident, r->distance)) {
        sum->loaded_anew += r->loads;
        sum->stored_anew += r->stores;
    }
}

static double part_of(double some, double all)
{
    return all > 0 ? some / all : 0;
}

/* False where the order of accesses to it is not known. */
static bool reuse_of_object(const model_device *d, const prof_reuse *rows, uint32_t count,
                            uint32_t object, object_reuse *out)
{
    double loads = 0, stores = 0;
    *out = (object_reuse){0};
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].object == object) {
            loads += rows[i].loads;
            stores += rows[i].stores;
            add_uses(d, &rows[i], out);
        }
    out->first = part_of(out->first, loads);
    out->gone_from_l1 = part_of(out->gone_from_l1, loads);
    out->loaded_anew = part_of(out->loaded_anew, loads);
    out->stored_anew = part_of(out->stored_anew, stores);
    return loads + stores > 0;
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* The part of its loads that L1 lacks. Each block loads each of its sectors for the first time, but
 * a small object stays in L1, from block to block. */
static double missed_part(const model_device *d, const object_traffic *t, const object_reuse *r,
                          const prof_object *object)
{
    double first = r->first * t->loaded;
    if (object && (double)object->bytes <= d->l1_bytes)
        first = at_most(first, d->sms * ceil((double)object->bytes / MODEL_SECTOR));
    return at_most(1, part_of(first, t->loaded) + r->gone_from_l1);
}

static void add_object(const model_device *d, model_traffic *t, const object_traffic *of,
                       const object_reuse *reuse, const prof_object *object, double touched)
{
    double size = object ? (double)object->bytes : INFINITY;
    double part = missed_part(d, of, reuse, object);
    t->missed += part * of->loaded;
    t->missed_lines += part * of->loaded_lines;
    t->moved_again += reuse->loaded_anew * of->loaded + reuse->stored_anew * of->stored;
    t->footprint += at_most(touched * MODEL_SECTOR, size);
}

/* What the maps do not tell of: each launch's are not kept where many are alike. It is taken from
 * the kernel's last launch that has some; else L1 has nothing twice. */
static void add_unmapped(shares *last, uint32_t kernel, const object_traffic *mapped,
                         model_traffic *t)
{
    double asked = t->sectors * MODEL_SECTOR;
    bool any = t->footprint > 0 && asked > 0;
    if (any)
        *last = (shares){kernel, mapped->loaded > 0 ? t->missed / mapped->loaded : 1,
                         t->footprint / asked, t->moved_again / t->sectors};
    else if (last->kernel != kernel)
        *last = (shares){kernel, 1, 1, 0};
    t->missed += last->missed * (t->loaded - mapped->loaded);
    t->missed_lines += last->missed * (t->loaded_lines - mapped->loaded_lines);
    if (!any) {
        t->footprint = last->footprint * asked;
        t->moved_again = last->again * t->sectors;
    }
}

/* Lanes that change one word of shared memory wait for each other. */
static double turns_of_shared(const obs_insn *c)
{
    return (double)(is_atomic(c) && is_of_one_word(c) ? c->active_lanes : c->wavefronts);
}

static void add_requests(model_rows *rows, const prof_instruction *insns, uint32_t ninsns,
                         model_work *w)
{
    for (uint32_t i = 0; i < ninsns; i++) {
        const obs_insn *c = &insns[i].c;
        if (c->space == ACC_SHARED) {
            w->shared_turns += turns_of_shared(c);
            w->shared_extra += turns_of_shared(c) - (double)c->wavefronts_min;
        } else if (c->space == ACC_GLOBAL && is_atomic(c))
            add_atomics(rows, &insns[i], prof_find_object(&rows->objects, c->object), &w->traffic);
        else if (c->space == ACC_GLOBAL || c->space == ACC_LOCAL)
            add_global(&w->traffic, c);
    }
}

static void add_touched_objects(model_rows *rows, const model_device *d, const prof_launch *launch,
                                const prof_instruction *insns, uint32_t ninsns, model_work *w)
{
    uint32_t ntouched, nreuses;
    const prof_touched *touched = take_rows(&rows->touched, launch, &ntouched);
    const prof_reuse *reuses = take_rows(&rows->reuses, launch, &nreuses);
    object_traffic mapped = {0};
    for (uint32_t i = 0; i < ntouched; i++) {
        object_traffic of = traffic_of_object(insns, ninsns, touched[i].object);
        double sectors = touched[i].sectors * w->blocks;
        object_reuse reuse;
        if (!reuse_of_object(d, reuses, nreuses, touched[i].object, &reuse)) /* L1 has it all */
            reuse = (object_reuse){.first = at_most(1, part_of(sectors, of.loaded))};
        mapped.loaded += of.loaded;
        mapped.loaded_lines += of.loaded_lines;
        add_object(d, &w->traffic, &of, &reuse, prof_find_object(&rows->objects, touched[i].object),
                   sectors);
    }
    if (ninsns)
        add_unmapped(&rows->last, insns->kernel, &mapped, &w->traffic);
}

/* ---- all together ---- */

static double blocks_of_grid(const prof_launch *l)
{
    return (double)l->grid[0] * l->grid[1] * l->grid[2];
}

static double warps_of_block(const prof_launch *l)
{
    return ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
}

static void add_work(const prof_work *rows, uint32_t count, model_work *w)
{
    for (uint32_t i = 0; i < count; i++) {
        w->machine[rows[i].cost] += rows[i].machine;
        w->chain[rows[i].cost] += rows[i].chain / (w->blocks * w->warps);
    }
}

bool model_work_of(model_rows *rows, const model_device *device, const prof_launch *launch,
                   model_work *out)
{
    uint32_t ninsns, nwork, nwaits;
    const prof_instruction *insns = take_rows(&rows->instructions, launch, &ninsns);
    const prof_work *work = take_rows(&rows->work, launch, &nwork);
    const prof_wait *waits = take_rows(&rows->waits, launch, &nwaits);
    *out = (model_work){.blocks = blocks_of_grid(launch), .warps = warps_of_block(launch)};
    if (!nwork || !nwaits || !launch->mix_whole || !(out->blocks * out->warps > 0))
        return false;
    add_work(work, nwork, out);
    out->chain_loads = waits->loads / (out->blocks * out->warps);
    out->chain_shared = waits->shared / (out->blocks * out->warps);
    out->ilp = waits->ilp;
    out->mlp = waits->mlp;
    add_requests(rows, insns, ninsns, out);
    add_touched_objects(rows, device, launch, insns, ninsns, out);
    return true;
}
