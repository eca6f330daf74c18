/* What a launch asks of a device: sums over the profile's rows of one launch. */
#include "analysis/model/work.h"

#include "analysis/atomics.h"
#include "analysis/forms.h"

#include <math.h>
#include <string.h>

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
    double missed;                     /* of the sectors that are loaded, the part that L1 lacks */
    double footprint;                  /* bytes that are touched, of all that is asked for */
    double again;                      /* sectors that device memory moves again, of the same */
    double first_loaded, again_loaded; /* of the sectors that are loaded */
} shares;

struct model_rows {
    shares last;
    prof_object_rows objects;
    prof_code_rows code;
    prof_form_rows forms;
    prof_instruction_rows all; /* what the cursor `instructions` goes through */
    cursor instructions, touched, reuses, work, waits;
    prof_instruction *changed; /* room for a launch's, while a change is tried */
};

/* Of one launch. */
typedef struct launch_rows {
    const prof_instruction *insns;
    const prof_touched *touched;
    const prof_reuse *reuses;
    uint32_t ninsns, ntouched, nreuses;
} launch_rows;

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

static size_t most_of_launch(const prof_instruction_rows *rows)
{
    size_t most = 0, first = 0;
    for (size_t i = 0; i < rows->count; i++) {
        bool same = rows->rows[i].launch == rows->rows[first].launch &&
                    rows->rows[i].kernel == rows->rows[first].kernel;
        first = same ? first : i;
        most = i - first + 1 > most ? i - first + 1 : most;
    }
    return most;
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
        status = prof_load_forms(profile, PROF_ALL, arena, &rows->forms, err);
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
    rows->all = instructions;
    rows->instructions = CURSOR(instructions);
    rows->touched = CURSOR(touched);
    rows->reuses = CURSOR(reuses);
    rows->work = CURSOR(work);
    rows->waits = CURSOR(waits);
    rows->changed = wl_new_array(arena, prof_instruction, most_of_launch(&instructions) + 1);
    return rows->changed ? WL_OK
                         : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

static bool is_atomic(const obs_insn *c)
{
    return c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* Those of each slice become more or fewer in proportion. */
static void set_turns(obs_insn *c, uint64_t turns)
{
    double part = c->turns ? (double)turns / (double)c->turns : 0;
    c->slice_turns = (uint64_t)llround((double)c->slice_turns * part);
    c->turns = c->turns ? turns : 0;
}

void model_rows_combine(model_rows *rows, const prof_launch_rows *launches)
{
    for (uint32_t i = 0; i < rows->all.count; i++) {
        prof_instruction *row = &rows->all.rows[i];
        if (!is_atomic(&row->c) || row->c.active_lanes <= row->c.requests ||
            !ana_is_combined(prof_find_code(&rows->code, row->kernel, row->c.pc),
                             ana_form_of(&rows->forms, row->kernel, row->c.pc),
                             prof_find_launch(launches, row->launch)))
            continue;
        row->c.active_lanes = row->c.requests;
        set_turns(&row->c, row->c.requests);
    }
}

static void rewind_cursor(cursor *c, uint32_t kernel)
{
    uint32_t low = 0, high = c->count;
    while (low < high) {
        c->at = low + (high - low) / 2;
        if (row_at(c)->kernel < kernel)
            low = c->at + 1;
        else
            high = c->at;
    }
    c->at = low;
}

void model_rows_rewind(model_rows *rows, uint32_t kernel)
{
    rewind_cursor(&rows->instructions, kernel);
    rewind_cursor(&rows->touched, kernel);
    rewind_cursor(&rows->reuses, kernel);
    rewind_cursor(&rows->work, kernel);
    rewind_cursor(&rows->waits, kernel);
    rows->last = (shares){0};
}

/* ---- a change ---- */

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

static double at_least(double value, double least)
{
    return value > least ? value : least;
}

static double part_of(double some, double all)
{
    return all > 0 ? some / all : 0;
}

const model_edit *model_edit_of(const model_change *change, const obs_insn *c)
{
    for (uint32_t i = 0; change && i < change->nedits; i++) {
        const model_edit *e = &change->edits[i];
        if (e->pc == c->pc && e->space == c->space &&
            (e->object == c->object || e->object == MODEL_ANY_OBJECT))
            return e;
    }
    return NULL;
}

static uint64_t scaled(uint64_t count, double part)
{
    return (uint64_t)llround((double)count * part);
}

/* Its requests lie in the same proportions. */
static void lay_out_like(obs_insn *c, const obs_insn *like)
{
    double part = like->requests ? (double)c->requests / (double)like->requests : 0;
    c->uniform = scaled(like->uniform, part);
    c->misaligned = scaled(like->misaligned, part);
    c->strided = scaled(like->strided, part);
    c->irregular = scaled(like->irregular, part);
    c->stride = like->stride;
    uint64_t others = c->uniform + c->misaligned + c->strided + c->irregular;
    c->contiguous = c->requests > others ? c->requests - others : 0;
}

static void edit_layout(obs_insn *c, const model_edit *e)
{
    if (e->like) {
        lay_out_like(c, e->like);
        return;
    }
    bool closer = e->sectors < e->requests; /* the lanes of a request have moved together */
    c->uniform = closer ? 0 : scaled(c->uniform, e->requests);
    c->misaligned = closer ? 0 : scaled(c->misaligned, e->requests);
    c->strided = closer ? 0 : scaled(c->strided, e->requests);
    c->irregular = closer ? 0 : scaled(c->irregular, e->requests);
    c->contiguous = c->requests - c->uniform - c->misaligned - c->strided - c->irregular;
}

static void edit_counts(obs_insn *c, const model_edit *e)
{
    c->requests = scaled(c->requests, e->requests);
    c->sectors = scaled(c->sectors, e->sectors);
    c->wavefronts = scaled(c->wavefronts, e->wavefronts);
    c->active_lanes = scaled(c->active_lanes, e->lanes);
    double turns = (double)c->turns * at_most(e->lanes, e->sectors);
    set_turns(c, (uint64_t)llround(at_least(turns, (double)c->sectors)));
    edit_layout(c, e);
}

static bool is_load_of(const obs_insn *c, acc_space space)
{
    return c->op == ACC_LOAD && c->space == space;
}

/* Do most of its requests go to a single word? */
static bool is_of_one_word(const obs_insn *c)
{
    return c->uniform * 2 > c->requests;
}

static model_sum sum_of(const model_rows *rows, const prof_instruction *i)
{
    const prof_code *code = prof_find_code(&rows->code, i->kernel, i->c.pc);
    if (!code || (!strstr(code->op, ".f") && !strstr(code->op, ".bf")))
        return MODEL_SUM_INTEGER;
    return strstr(code->op, ".f64") ? MODEL_SUM_DOUBLE : MODEL_SUM_FLOAT;
}

/* Lanes that update shared memory, where that takes a loop: sums of floating point. False elsewhere. */
static bool add_spins(const model_rows *rows, const prof_instruction *i, double lanes,
                      model_work *w)
{
    model_sum sum = sum_of(rows, i);
    model_atomics *spins = &w->spins[sum];
    if (sum != MODEL_SUM_INTEGER)
        *(is_of_one_word(&i->c) ? &spins->same : &spins->apart) += lanes;
    return sum != MODEL_SUM_INTEGER;
}

/* Loads of a launch, and what a change makes of them. */
typedef struct moved_loads {
    double all, staged, kept;       /* requests of global loads; kept: of those that are staged */
    double shared, gone, exchanged; /* of loads from shared memory; exchanged: by shuffles */
} moved_loads;

static void note_moved(moved_loads *m, const obs_insn *before, const obs_insn *after,
                       const model_edit *e)
{
    double requests = (double)before->requests, gone = requests - (double)after->requests;
    if (is_load_of(before, ACC_GLOBAL) && e->staged > 0) {
        m->staged += gone;
        m->kept += (double)after->requests;
    } else if (is_load_of(before, ACC_SHARED)) {
        m->gone += gone;
        m->exchanged += e->shuffles > 0 ? gone : 0;
    }
}

/* A warp waits for shared memory where it waited for loads that are staged. Before, it waits for
 * what it brings there, at least once, and for two barriers each time. */
static void stage_chain(model_work *w, const moved_loads *m)
{
    double part = m->staged / m->all, of_warp = m->kept / (w->blocks * w->warps);
    double turns = of_warp > 1 ? of_warp : 1;
    w->chain_shared += part * w->chain_loads;
    w->chain_loads *= 1 - part;
    if (w->chain_loads < turns)
        w->chain_loads = turns;
    w->machine[IR_COST_SYNC] += 2 * turns * w->blocks * w->warps;
    double addresses = m->staged < w->machine[IR_COST_INT] ? m->staged : w->machine[IR_COST_INT];
    w->machine[IR_COST_INT] -= addresses; /* the upper half of each: those there have 32 bits */
}

static void move_chain(model_work *w, const moved_loads *m)
{
    if (m->staged > 0)
        stage_chain(w, m);
    if (m->gone > 0) {
        w->chain[IR_COST_WARP] += m->exchanged / m->shared * w->chain_shared;
        w->chain_shared *= 1 - m->gone / m->shared;
    }
}

/* The launch's instructions as the change leaves them; what goes through shared memory or shuffles
 * in their place is added to the work. */
static const prof_instruction *change_rows(const model_rows *rows, const prof_instruction *insns,
                                           uint32_t count, const model_change *change,
                                           model_work *w)
{
    moved_loads moved = {0};
    for (uint32_t i = 0; i < count; i++) {
        const obs_insn *c = &insns[i].c;
        const model_edit *e = model_edit_of(change, c);
        rows->changed[i] = insns[i];
        moved.all += is_load_of(c, ACC_GLOBAL) ? (double)c->requests : 0;
        moved.shared += is_load_of(c, ACC_SHARED) ? (double)c->requests : 0;
        if (!e)
            continue;
        w->shared_turns += e->staged * (double)c->requests;
        add_spins(rows, &insns[i], e->updates * (double)c->requests, w);
        w->machine[IR_COST_WARP] += e->shuffles * (double)c->requests;
        edit_counts(&rows->changed[i].c, e);
        note_moved(&moved, c, &rows->changed[i].c, e);
    }
    move_chain(w, &moved);
    return rows->changed;
}

/* Of the sectors of an object that a block touches, the part that is left. */
static double touched_after(const model_change *change, uint32_t object)
{
    double part = 1;
    for (uint32_t i = 0; change && i < change->nedits; i++)
        if (change->edits[i].object == object && change->edits[i].space == ACC_GLOBAL &&
            change->edits[i].touched < part)
            part = change->edits[i].touched;
    return part;
}

/* ---- the requests of one instruction ---- */

static double size_of_object(const prof_object *object)
{
    return object ? (double)object->bytes : INFINITY;
}

/* Lines that its requests touch: where lanes are far apart, each sector has its own, as far as the
 * object has as many. */
static double lines_of(const obs_insn *c, const prof_object *object)
{
    double dense = (double)(c->uniform + c->contiguous + c->misaligned);
    double part = c->requests ? dense / (double)c->requests : 1;
    double apart = fabs((double)c->stride), of_line = 1;
    if (c->strided && apart < MODEL_LINE)
        of_line = MODEL_LINE / at_least(apart, MODEL_SECTOR);
    double a_line = (double)MODEL_LINE / MODEL_SECTOR;
    double lines = at_least((double)c->sectors * (part / a_line + (1 - part) / of_line),
                            (double)c->requests);
    return at_most(lines, (double)c->requests * ceil(size_of_object(object) / MODEL_LINE + 1));
}

/* Further turns in a sector are of lanes that change one word. */
static void add_atomics(const model_rows *rows, const prof_instruction *i, model_traffic *t)
{
    const obs_insn *c = &i->c;
    model_atomics *slice = &t->slice[sum_of(rows, i)];
    double turns = (double)c->slice_turns;
    double same = is_of_one_word(c) ? turns
                                    : turns * (1 - part_of((double)c->sectors, (double)c->turns));
    slice->same += at_least(same, 0);
    slice->apart += turns - at_least(same, 0);
    t->atomic_lanes += (double)c->active_lanes;
    t->atomic_turns += (double)c->turns;
}

static void add_global(const model_rows *rows, const obs_insn *c, model_traffic *t)
{
    bool known = c->space == ACC_GLOBAL;
    double lines = lines_of(c, known ? prof_find_object(&rows->objects, c->object) : NULL);
    t->requests += (double)c->requests;
    t->lines += lines;
    t->sectors += (double)c->sectors;
    if (c->op == ACC_STORE) {
        t->stored += (double)c->sectors;
        t->stored_lines += lines;
        t->stored_bytes += at_most((double)c->active_lanes * c->bytes,
                                   (double)c->sectors * MODEL_SECTOR);
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
                                        uint32_t object, const prof_object *known)
{
    object_traffic sum = {0};
    for (uint32_t i = 0; i < count; i++) {
        const obs_insn *c = &rows[i].c;
        if (c->space != ACC_GLOBAL || c->object != object)
            continue;
        if (c->op == ACC_LOAD) {
            sum.loaded += (double)c->sectors;
            sum.loaded_lines += lines_of(c, known);
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
    double size = size_of_object(object), part = missed_part(d, of, reuse, object);
    t->missed += part * of->loaded;
    t->missed_lines += part * of->loaded_lines;
    t->moved_again += reuse->loaded_anew * of->loaded + reuse->stored_anew * of->stored;
    t->again_loaded += reuse->loaded_anew * of->loaded;
    t->footprint += at_most(touched * MODEL_SECTOR, size);
    t->first_loaded += at_most(at_most(touched, size / MODEL_SECTOR), part * of->loaded);
}

/* What the maps do not tell of: each launch's are not kept where many are alike. It is taken from
 * the kernel's last launch that has some; else L1 has nothing twice. */
static void add_unmapped(shares *last, uint32_t kernel, const object_traffic *mapped,
                         model_traffic *t)
{
    double asked = t->sectors * MODEL_SECTOR;
    bool any = t->footprint > 0 && asked > 0;
    if (any)
        *last = (shares){kernel,
                         mapped->loaded > 0 ? t->missed / mapped->loaded : 1,
                         t->footprint / asked,
                         t->moved_again / t->sectors,
                         part_of(t->first_loaded, mapped->loaded),
                         part_of(t->again_loaded, mapped->loaded)};
    else if (last->kernel != kernel)
        *last = (shares){kernel, 1, 1, 0, 1, 0};
    t->missed += last->missed * (t->loaded - mapped->loaded);
    t->missed_lines += last->missed * (t->loaded_lines - mapped->loaded_lines);
    t->first_loaded += last->first_loaded * (t->loaded - mapped->loaded);
    t->again_loaded += last->again_loaded * (t->loaded - mapped->loaded);
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

static void add_shared_requests(const model_rows *rows, const prof_instruction *i, model_work *w)
{
    const obs_insn *c = &i->c;
    if (is_atomic(c) && add_spins(rows, i, (double)c->active_lanes, w))
        return;
    w->shared_turns += turns_of_shared(c);
    w->shared_extra += turns_of_shared(c) - (double)c->wavefronts_min;
}

static void add_requests(model_rows *rows, const prof_instruction *insns, uint32_t ninsns,
                         model_work *w)
{
    for (uint32_t i = 0; i < ninsns; i++) {
        const obs_insn *c = &insns[i].c;
        if (c->space == ACC_SHARED)
            add_shared_requests(rows, &insns[i], w);
        else if (c->space == ACC_GLOBAL && is_atomic(c))
            add_atomics(rows, &insns[i], &w->traffic);
        else if (c->space == ACC_GLOBAL || c->space == ACC_LOCAL)
            add_global(rows, c, &w->traffic);
    }
}

/* What of an object is loaded for the first time stays so, however close its sectors lie after a
 * change: it is another part of fewer. */
static double first_of_fewer(double first, const object_traffic *before,
                             const object_traffic *after, double touched)
{
    return at_most(1, part_of(first * before->loaded * touched, after->loaded));
}

/* `now`: the launch's instructions as a change leaves them, else its own. */
static void add_touched_objects(model_rows *rows, const model_device *d, const launch_rows *l,
                                const prof_instruction *now, const model_change *change,
                                model_work *w)
{
    object_traffic mapped = {0};
    for (uint32_t i = 0; i < l->ntouched; i++) {
        uint32_t object = l->touched[i].object;
        const prof_object *known = prof_find_object(&rows->objects, object);
        object_traffic before = traffic_of_object(l->insns, l->ninsns, object, known);
        object_traffic of = traffic_of_object(now, l->ninsns, object, known);
        double sectors = l->touched[i].sectors * w->blocks, part = touched_after(change, object);
        object_reuse reuse;
        if (!reuse_of_object(d, l->reuses, l->nreuses, object, &reuse)) /* L1 has it all */
            reuse = (object_reuse){.first = at_most(1, part_of(sectors, before.loaded))};
        if (change)
            reuse.first = first_of_fewer(reuse.first, &before, &of, part);
        mapped.loaded += of.loaded;
        mapped.loaded_lines += of.loaded_lines;
        add_object(d, &w->traffic, &of, &reuse, known, part * sectors);
    }
    if (l->ninsns)
        add_unmapped(&rows->last, l->insns->kernel, &mapped, &w->traffic);
}

static double hit_rate_of(const model_traffic *t)
{
    return t->loaded > 0 ? 1 - t->missed / t->loaded : 0;
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

/* How much more than the mean the one does that does most; 1 where that is not known. */
static double most_of_mean(uint64_t most, uint64_t all, double count)
{
    return all ? at_least((double)most * count / (double)all, 1) : 1;
}

static void add_balance(const prof_launch *l, model_work *w)
{
    w->longest = most_of_mean(l->longest_warp, l->warp_instructions, w->blocks * w->warps);
    w->busiest = most_of_mean(l->busiest_block, l->warp_instructions, w->blocks);
}

static void add_work(const prof_work *rows, uint32_t count, model_work *w)
{
    for (uint32_t i = 0; i < count; i++) {
        w->machine[rows[i].cost] += rows[i].machine;
        w->chain[rows[i].cost] += rows[i].chain / (w->blocks * w->warps);
    }
}

/* Where there are fewer, so many blocks, each of which does that much less. */
static void spread_work(model_work *w, double blocks)
{
    double times = blocks / w->blocks;
    if (times <= 1)
        return;
    w->blocks = blocks;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        w->chain[cost] /= times;
    w->chain_loads /= times;
    w->chain_shared /= times;
}

static bool stages(const model_change *change)
{
    for (uint32_t i = 0; i < change->nedits; i++)
        if (change->edits[i].staged > 0)
            return true;
    return false;
}

/* Sectors that lie closer together are found in L1 as well as before, unless they are staged: then
 * what is left to load comes from further away. */
static void try_change(model_rows *rows, const model_device *d, const launch_rows *l,
                       const model_change *change, model_work *w)
{
    double before = w->traffic.hit_rate;
    w->traffic = (model_traffic){0};
    w->shared_turns = w->shared_extra = 0;
    memset(w->spins, 0, sizeof w->spins);
    const prof_instruction *now = change_rows(rows, l->insns, l->ninsns, change, w);
    add_requests(rows, now, l->ninsns, w);
    add_touched_objects(rows, d, l, now, change, w);
    double after = hit_rate_of(&w->traffic);
    w->traffic.hit_rate = stages(change) || after > before ? after : before;
}

static launch_rows take_launch(model_rows *rows, const prof_launch *launch)
{
    launch_rows l;
    l.insns = take_rows(&rows->instructions, launch, &l.ninsns);
    l.touched = take_rows(&rows->touched, launch, &l.ntouched);
    l.reuses = take_rows(&rows->reuses, launch, &l.nreuses);
    return l;
}

bool model_work_of(model_rows *rows, const model_device *device, const prof_launch *launch,
                   const model_change *change, model_work *out)
{
    uint32_t nwork, nwaits;
    launch_rows l = take_launch(rows, launch);
    const prof_work *work = take_rows(&rows->work, launch, &nwork);
    const prof_wait *waits = take_rows(&rows->waits, launch, &nwaits);
    *out = (model_work){.blocks = blocks_of_grid(launch), .warps = warps_of_block(launch)};
    if (!nwork || !nwaits || !launch->mix_whole || !(out->blocks * out->warps > 0))
        return false;
    add_balance(launch, out);
    add_work(work, nwork, out);
    out->chain_loads = waits->loads / (out->blocks * out->warps);
    out->chain_shared = waits->shared / (out->blocks * out->warps);
    out->ilp = waits->ilp;
    out->mlp = waits->mlp;
    add_requests(rows, l.insns, l.ninsns, out);
    add_touched_objects(rows, device, &l, l.insns, NULL, out);
    out->traffic.hit_rate = hit_rate_of(&out->traffic);
    if (change)
        try_change(rows, device, &l, change, out);
    if (change && change->fill)
        spread_work(out, device->sms);
    return true;
}

static void fill_atomics(model_atomics *a, double times)
{
    a->same *= times;
    a->apart *= times;
}

void model_work_fill(model_work *w, double blocks)
{
    model_traffic *t = &w->traffic;
    double *const counts[] = {
        &w->blocks,       &w->shared_turns, &w->shared_extra, &t->requests,     &t->lines,
        &t->sectors,      &t->loads,        &t->loaded,       &t->loaded_lines, &t->missed,
        &t->missed_lines, &t->moved_again,  &t->again_loaded, &t->stored,       &t->stored_lines,
        &t->stored_bytes, &t->atomic_lanes, &t->atomic_turns};
    double times = blocks / w->blocks;
    if (times <= 1)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] *= times;
    for (uint32_t sum = 0; sum < MODEL_SUMS; sum++) {
        fill_atomics(&t->slice[sum], times);
        fill_atomics(&w->spins[sum], times);
    }
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        w->machine[cost] *= times;
}
