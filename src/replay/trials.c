#include "replay/trials.h"

#include "replay/padding.h"

#include <string.h>

enum {
    MOST_TRIALS = 64,
    WORD = 4,   /* bytes; what is added to a row is a multiple of it */
    BANKS = 128 /* bytes of all banks */
};

/* What a run of all blocks may take; else few are run. */
static const double most_seconds = 0.1, no_limit = 0, as_few_as_possible = 1e-9;

typedef struct trial_run {
    bool transposed;
    emu_dim grid, block;           /* block {0, 0, 0}: the launch's */
    const replay_padding *padding; /* NULL: none */
} trial_run;

typedef struct trial_rows {
    obs_insn *rows;
    uint32_t count;
    uint64_t blocks;
} trial_rows;

typedef struct trials {
    const replay_tried *launch;
    wl_arena *arena;
    uint32_t count;
    obs_trial *rows;         /* [MOST_TRIALS] */
    double seconds;          /* that a run may take */
    trial_rows base;         /* without a change */
    const flow_kernel *flow; /* NULL until it is asked for */
} trials;

/* ---- a run ---- */

/* All is of the blocks that were run. */
static wl_status keep_rows(const trials *t, replay_watch *watch, const emu_result *result,
                           trial_rows *out)
{
    obs_summary summary;
    wl_status status = replay_watch_finish(watch, result, &summary);
    if (status != WL_OK)
        return status;
    out->rows = wl_arena_copy(t->arena, summary.insns, summary.ninsns * sizeof *out->rows);
    out->count = summary.ninsns;
    out->blocks = result->blocks_run;
    return out->rows ? WL_OK : WL_NOMEM;
}

/* No rows where the run came to no end. */
static wl_status run_trial(const trials *t, const trial_run *what, trial_rows *out)
{
    const replay_tried *launch = t->launch;
    replay_settings settings = *launch->settings;
    replay_run run = launch->run;
    emu_result result = {0};
    replay_watch watch;
    wl_error ignored;
    double share;
    settings.probes = 0;
    if (what->block.x) {
        run.launch.grid = what->grid;
        run.launch.block = what->block;
    }
    replay_watched watched = {.settings = &settings,
                              .machine = run.machine,
                              .kernel = run.slice,
                              .grid = run.launch.grid,
                              .block = run.launch.block,
                              .cluster = run.launch.cluster,
                              .dynamic_shared = run.launch.dynamic_shared,
                              .cooperative = run.launch.cooperative,
                              .unmapped = true};
    run.nsampled = 0;
    run.seconds = t->seconds;
    run.launch.transposed = what->transposed;
    *out = (trial_rows){0};
    wl_status status = replay_watch_begin(&watched, &launch->facts->proof, &watch);
    replay_padded padded = {.inner = &watch.observer};
    if (what->padding)
        padded.padding = *what->padding;
    acc_observer observer = what->padding ? replay_padded_observer(&padded) : watch.observer;
    if (status == WL_OK)
        status = replay_run_blocks(&run, &observer, &result, &share, &ignored);
    if (status == WL_OK)
        status = keep_rows(t, &watch, &result, out);
    emu_result_clear(&result);
    replay_watch_end(&watch);
    return status == WL_NOMEM ? status : WL_OK;
}

/* The launch as it is. Blocks that every later run takes, too: all, where that is soon done. */
static wl_status run_base(trials *t)
{
    const emu_dim grid = t->launch->run.launch.grid;
    if (t->base.count)
        return WL_OK;
    t->seconds = most_seconds;
    wl_status status = run_trial(t, &(trial_run){0}, &t->base);
    bool all = t->base.blocks == (uint64_t)grid.x * grid.y * grid.z;
    t->seconds = all ? no_limit : as_few_as_possible;
    return status == WL_OK && !all ? run_trial(t, &(trial_run){0}, &t->base) : status;
}

static void add_trial(trials *t, obs_trial trial, const trial_rows *before, const trial_rows *after)
{
    trial.blocks = after->blocks;
    trial.before = before->rows;
    trial.nbefore = before->count;
    trial.after = after->rows;
    trial.nafter = after->count;
    if (t->count < MOST_TRIALS && before->count && after->count)
        t->rows[t->count++] = trial;
}

/* ---- threads numbered along y first ---- */

static bool reads_lanes(const ir_operand *o)
{
    if (o->kind != IR_OPD_SREG)
        return false;
    switch (o->sreg) {
    case IR_SR_laneid:
    case IR_SR_warpid:
    case IR_SR_lanemask_eq:
    case IR_SR_lanemask_le:
    case IR_SR_lanemask_lt:
    case IR_SR_lanemask_ge:
    case IR_SR_lanemask_gt: return true;
    default: return false;
    }
}

/* Does it matter to the instruction which threads make up a warp? */
static bool is_of_warps(const ir_insn *insn)
{
    ir_cost cost = ir_op_get(insn->op)->cost;
    bool warps = cost == IR_COST_WARP || cost == IR_COST_TENSOR ||
                 (insn->op == IR_bar && ir_has(insn, IR_S_warp));
    for (uint32_t i = 0; i < insn->noperands && !warps; i++)
        warps = reads_lanes(&insn->operands[i]);
    return warps;
}

/* An instruction that reads_sreg the thread's index in x; IR_NONE where threads cannot be numbered
 * otherwise. */
static uint32_t where_x_is_read(const ir_kernel *code)
{
    uint32_t found = IR_NONE;
    for (uint32_t pc = 0; pc < code->npcs; pc++) {
        const ir_insn *insn = ir_kernel_at(code, pc).insn;
        if (is_of_warps(insn))
            return IR_NONE;
        for (uint32_t i = 0; i < insn->noperands && found == IR_NONE; i++) {
            const ir_operand *o = &insn->operands[i];
            found = o->kind == IR_OPD_SREG && o->sreg == IR_SR_tid && o->component == 1 ? pc
                                                                                        : found;
        }
    }
    return found;
}

/* Do requests move so many sectors beyond those that they need that another order may save some? */
static bool wastes_sectors(const obs_summary *s)
{
    double moved = 0, needed = 0;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].space == ACC_GLOBAL) {
            moved += (double)s->insns[i].sectors;
            needed += (double)s->insns[i].sectors_min;
        }
    return moved > 1.25 * needed;
}

static bool reads_sreg(const ir_kernel *code, ir_sreg sreg, uint8_t component)
{
    for (uint32_t pc = 0; pc < code->npcs; pc++) {
        const ir_insn *insn = ir_kernel_at(code, pc).insn;
        for (uint32_t i = 0; i < insn->noperands; i++) {
            const ir_operand *o = &insn->operands[i];
            if (o->kind == IR_OPD_SREG && o->sreg == sreg && o->component == component)
                return true;
        }
    }
    return false;
}

/* May blocks have another shape? The kernel must ask for the shape, and have nothing else of it. */
static bool asks_for_shape(const replay_tried *l)
{
    enum { IN_X = 1, IN_Y = 2 };
    return l->summary->nshared <= 1 && !l->run.launch.dynamic_shared &&
           reads_sreg(&l->facts->code, IR_SR_ntid, IN_X) &&
           reads_sreg(&l->facts->code, IR_SR_ntid, IN_Y);
}

/* Would blocks of the same shape do after x and y of all indices were exchanged? */
static bool may_keep_shape(const replay_tried *l)
{
    emu_dim block = l->run.launch.block, grid = l->run.launch.grid;
    return block.x != block.y && (uint64_t)grid.x * block.x % block.y == 0 &&
           (uint64_t)grid.y * block.y % block.x == 0 && asks_for_shape(l);
}

static uint64_t sectors_moved(const trial_rows *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += r->rows[i].sectors;
    return sum;
}

/* The kernel sees blocks of the shape exchanged; of these are as many as cover the same threads. */
static wl_status try_same_shape(const trials *t, obs_trial *trial, trial_rows *best)
{
    emu_dim block = t->launch->run.launch.block, grid = t->launch->run.launch.grid;
    trial_run run = {.transposed = true,
                     .grid = {grid.x * block.x / block.y, grid.y * block.y / block.x, grid.z},
                     .block = {block.y, block.x, block.z}};
    trial_rows rows;
    wl_status status = run_trial(t, &run, &rows);
    if (rows.count && rows.blocks == t->base.blocks &&
        sectors_moved(&rows) <= sectors_moved(best)) {
        *best = rows;
        trial->block[0] = block.x;
        trial->block[1] = block.y;
    }
    return status;
}

static wl_status try_transposed(trials *t)
{
    const replay_tried *l = t->launch;
    emu_dim block = l->run.launch.block;
    obs_trial trial = {.kind = OBS_TRIAL_TRANSPOSED, .block = {block.y, block.x}};
    trial_rows after = {0};
    if (block.x < 2 || block.y < 2 || !wastes_sectors(l->summary) ||
        (trial.pc = where_x_is_read(&l->facts->code)) == IR_NONE)
        return WL_OK;
    wl_status status = run_base(t);
    if (status == WL_OK)
        status = run_trial(t, &(trial_run){.transposed = true}, &after);
    if (status == WL_OK && may_keep_shape(l))
        status = try_same_shape(t, &trial, &after);
    if (status == WL_OK)
        add_trial(t, trial, &t->base, &after);
    return status;
}

/* ---- wider blocks ---- */

/* As many threads, a warp wide, over the same range. */
static bool widen(const replay_tried *l, trial_run *run)
{
    emu_dim block = l->run.launch.block, grid = l->run.launch.grid;
    uint32_t by = block.x ? ACC_LANES / block.x : 0;
    run->block = (emu_dim){ACC_LANES, by ? block.y / by : 0, block.z};
    if (by < 2 || ACC_LANES % block.x || block.y % by || grid.x % by)
        return false;
    run->grid = (emu_dim){grid.x / by, grid.y * by, grid.z};
    return true;
}

static wl_status try_widened(trials *t)
{
    const replay_tried *l = t->launch;
    trial_run run = {0};
    trial_rows after = {0};
    if (!wastes_sectors(l->summary) || !widen(l, &run) || !asks_for_shape(l) ||
        where_x_is_read(&l->facts->code) == IR_NONE)
        return WL_OK;
    obs_trial trial = {.kind = OBS_TRIAL_WIDENED, .block = {run.block.x, run.block.y}};
    wl_status status = run_base(t);
    if (status == WL_OK)
        status = run_trial(t, &run, &after);
    if (status == WL_OK && after.blocks == t->base.blocks)
        add_trial(t, trial, &t->base, &after);
    return status;
}

/* ---- rows padded ---- */

static uint64_t wavefronts_of(const trial_rows *r, bool fewest)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += fewest ? r->rows[i].wavefronts_min : r->rows[i].wavefronts;
    return sum;
}

/* Bytes of a lane in the widest access; 0 where banks do not conflict. */
static uint32_t conflicting_bytes(const obs_summary *s, uint32_t array)
{
    uint64_t passes = 0, fewest = 0;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *c = &s->insns[i];
        if (c->space != ACC_SHARED || c->object != array)
            continue;
        passes += c->wavefronts;
        fewest += c->wavefronts_min;
        bytes = c->bytes > bytes ? c->bytes : bytes;
    }
    return passes > fewest ? bytes : 0;
}

static wl_status analyse(trials *t)
{
    flow_kernel *flow = t->flow ? NULL : flow_kernel_new(&t->launch->facts->code, t->arena);
    wl_status status = t->flow ? WL_OK : flow ? flow_run(flow, FLOW_PASS_affine) : WL_NOMEM;
    if (flow && status == WL_OK)
        t->flow = flow;
    return status;
}

/* Fewer wavefronts; or as few in a shorter array. */
static bool is_better_padding(const trial_rows *rows, const replay_padding *p,
                              const trial_rows *kept, const obs_trial *best)
{
    uint64_t now = wavefronts_of(rows, false), least = wavefronts_of(kept, false);
    bool shorter = (uint64_t)p->pad * best->pitch < (uint64_t)best->pad * p->pitch;
    return rows->count && (!kept->count || now < least || (now == least && shorter));
}

/* Tries one pitch with ever more padding, until nothing conflicts; keeps what helps most. */
static wl_status try_pads(const trials *t, replay_padding p, uint32_t unit, obs_trial *best,
                          trial_rows *kept)
{
    wl_status status = WL_OK;
    for (p.pad = unit; p.pad <= 4 * unit && status == WL_OK; p.pad *= 2) {
        trial_rows rows;
        status = run_trial(t, &(trial_run){.padding = &p}, &rows);
        if (is_better_padding(&rows, &p, kept, best)) {
            *kept = rows;
            best->pitch = p.pitch;
            best->pad = p.pad;
        }
        if (rows.count && wavefronts_of(&rows, false) == wavefronts_of(&rows, true))
            break;
    }
    return status;
}

static wl_status rows_of_array(const trials *t, uint32_t array, trial_rows *out)
{
    *out = (trial_rows){.rows = wl_new_array(t->arena, obs_insn, (size_t)t->base.count + 1),
                        .blocks = t->base.blocks};
    for (uint32_t i = 0; out->rows && i < t->base.count; i++)
        if (t->base.rows[i].space == ACC_SHARED && t->base.rows[i].object == array)
            out->rows[out->count++] = t->base.rows[i];
    return out->rows ? WL_OK : WL_NOMEM;
}

static void set_array(trial_rows *r, uint32_t array)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->rows[i].object = array;
}

static wl_status try_array(trials *t, uint32_t array, uint32_t bytes)
{
    const obs_shared *a = &t->launch->summary->shared[array];
    replay_padding p = {.start = a->offset, .end = (uint64_t)a->offset + a->bytes, .pitch = BANKS};
    uint32_t unit = bytes > WORD ? bytes : WORD, pitches[REPLAY_PITCHES + 1];
    obs_trial trial = {.kind = OBS_TRIAL_PADDED, .array = array};
    trial_rows before, after = {0};
    wl_status status = analyse(t);
    if (status == WL_OK)
        status = run_base(t);
    if (status == WL_OK)
        status = rows_of_array(t, array, &before);
    uint32_t count = status == WL_OK ? replay_pitches_of(t->flow, a->name, unit, pitches) : 0;
    pitches[count++] = BANKS; /* a word after each word of all banks suits any array */
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        p.pitch = pitches[i];
        if (p.pitch < a->bytes)
            status = try_pads(t, p, unit, &trial, &after);
    }
    set_array(&after, array);
    if (status == WL_OK)
        add_trial(t, trial, &before, &after);
    return status;
}

static wl_status try_padded(trials *t)
{
    const obs_summary *s = t->launch->summary;
    wl_status status = WL_OK;
    for (uint32_t i = 1; i < s->nshared && status == WL_OK; i++) {
        uint32_t bytes = conflicting_bytes(s, i);
        if (bytes)
            status = try_array(t, i, bytes);
    }
    return status;
}

/* ---- all ---- */

bool replay_is_worth_trying(const obs_summary *s)
{
    bool conflicts = false;
    for (uint32_t i = 1; i < s->nshared; i++)
        conflicts |= conflicting_bytes(s, i) > 0;
    return conflicts || wastes_sectors(s);
}

wl_status replay_try(const replay_tried *launch, wl_arena *arena, uint32_t *count, obs_trial **out)
{
    trials t = {
        .launch = launch, .arena = arena, .rows = wl_new_array(arena, obs_trial, MOST_TRIALS)};
    wl_status status = t.rows ? WL_OK : WL_NOMEM;
    *count = 0;
    if (status == WL_OK && launch->facts->whole) {
        status = try_transposed(&t);
        if (status == WL_OK)
            status = try_widened(&t);
        if (status == WL_OK)
            status = try_padded(&t);
    }
    *count = t.count;
    *out = t.rows;
    return status;
}
