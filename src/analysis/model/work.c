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

typedef struct reuse { /* of a kernel's last launch that has heat maps */
    uint32_t kernel;
    double missed;    /* of the sectors that are loaded, the part that L1 lacks */
    double footprint; /* bytes that are touched, of all that is asked for */
} reuse;

struct model_rows {
    reuse last;
    prof_object_rows objects;
    prof_code_rows code;
    cursor instructions, touched, work, waits;
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
        status = prof_load_work(profile, arena, &work, err);
    if (status == WL_OK)
        status = prof_load_waits(profile, arena, &waits, err);
    if (status != WL_OK)
        return status;
    rows->instructions = CURSOR(instructions);
    rows->touched = CURSOR(touched);
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

/* ---- what L1 keeps ---- */

typedef struct object_loads {
    double sectors, lines;
} object_loads;

static object_loads loads_of_object(const prof_instruction *rows, uint32_t count, uint32_t object)
{
    object_loads sum = {0};
    for (uint32_t i = 0; i < count; i++)
        if (rows[i].c.space == ACC_GLOBAL && rows[i].c.op == ACC_LOAD &&
            rows[i].c.object == object) {
            sum.sectors += (double)rows[i].c.sectors;
            sum.lines += lines_of(&rows[i].c);
        }
    return sum;
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

/* Each block loads each of its sectors once: what it loads again comes from L1, which holds what
 * neighbouring warps and turns of a loop share. A small object stays there, from block to block. */
static void add_object(const model_device *d, model_traffic *t, const object_loads *l,
                       const prof_object *object, double touched)
{
    double size = object ? (double)object->bytes : INFINITY, once = touched;
    if (size <= d->l1_bytes)
        once = at_most(once, d->sms * ceil(size / MODEL_SECTOR));
    double part = l->sectors > once ? once / l->sectors : 1;
    t->missed += part * l->sectors;
    t->missed_lines += part * l->lines;
    t->footprint += at_most(touched * MODEL_SECTOR, size);
}

/* What the maps do not tell of: each launch's are not kept where many are alike. It is taken from
 * the kernel's last launch that has some; else L1 has nothing twice. */
static void add_unmapped(reuse *last, uint32_t kernel, const object_loads *mapped, model_traffic *t)
{
    double asked = t->sectors * MODEL_SECTOR;
    bool any = t->footprint > 0 && asked > 0;
    if (any)
        *last = (reuse){kernel, mapped->sectors > 0 ? t->missed / mapped->sectors : 1,
                        t->footprint / asked};
    else if (last->kernel != kernel)
        *last = (reuse){kernel, 1, 1};
    t->missed += last->missed * (t->loaded - mapped->sectors);
    t->missed_lines += last->missed * (t->loaded_lines - mapped->lines);
    if (!any)
        t->footprint = last->footprint * asked;
}

/* Lanes that change one word of shared memory wait for each other. */
static double turns_of_shared(const obs_insn *c)
{
    return (double)(is_atomic(c) && is_of_one_word(c) ? c->active_lanes : c->wavefronts);
}

static void add_traffic(model_rows *rows, const model_device *d, const prof_instruction *insns,
                        uint32_t ninsns, const prof_touched *touched, uint32_t ntouched,
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
    object_loads mapped = {0};
    for (uint32_t i = 0; i < ntouched; i++) {
        object_loads loads = loads_of_object(insns, ninsns, touched[i].object);
        mapped.sectors += loads.sectors;
        mapped.lines += loads.lines;
        add_object(d, &w->traffic, &loads, prof_find_object(&rows->objects, touched[i].object),
                   touched[i].sectors * w->blocks);
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
    uint32_t ninsns, ntouched, nwork, nwaits;
    const prof_instruction *insns = take_rows(&rows->instructions, launch, &ninsns);
    const prof_touched *touched = take_rows(&rows->touched, launch, &ntouched);
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
    add_traffic(rows, device, insns, ninsns, touched, ntouched, out);
    return true;
}
