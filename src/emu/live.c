/* Places of registers in the frame: registers whose lives do not overlap share one.
 *
 * Liveness is a thread's: lanes that stand elsewhere own their lane of a shared place, for every
 * write is masked by the lanes that execute it. A place never changes its width, so lanes do not
 * overlap in memory either. */
#include "emu/decode.h"

typedef struct live_state {
    emu_decode *d;
    const ir_func *func;
    uint32_t nregs, words; /* of a set of registers */
    uint32_t first_bb, nbbs;
    uint64_t *in, *use, *def; /* [block][words] */
    uint32_t *start,
        *end; /* [register]: first and last instruction of its life; start > end: never named */
} live_state;

typedef void (*visit_reg)(live_state *s, uint32_t reg, void *ctx);

#define BIT(set, reg) ((set)[(reg) / 64] >> ((reg) % 64) & 1)
#define ADD(set, reg) ((set)[(reg) / 64] |= UINT64_C(1) << ((reg) % 64))
#define DROP(set, reg) ((set)[(reg) / 64] &= ~(UINT64_C(1) << ((reg) % 64)))

static void visit_all(live_state *s, const ir_operand *o, visit_reg visit, void *ctx)
{
    if ((o->kind == IR_OPD_REG || o->kind == IR_OPD_ADDR) && o->reg != IR_NONE &&
        !(o->kind == IR_OPD_ADDR && o->has_sym))
        visit(s, o->reg, ctx);
    for (uint32_t k = 0; k < o->count; k++)
        visit_all(s, &o->items[k], visit, ctx);
}

/* Registers that an instruction reads: all but the destinations, and the guard. */
static void visit_uses(live_state *s, const ir_insn *i, uint32_t written, visit_reg visit,
                       void *ctx)
{
    for (uint32_t k = 0; k < i->noperands; k++)
        if (k >= 32 || !(written >> k & 1))
            visit_all(s, &i->operands[k], visit, ctx);
    if (i->guard != IR_NONE)
        visit(s, i->guard, ctx);
}

static void visit_defs(live_state *s, const ir_insn *i, uint32_t written, visit_reg visit,
                       void *ctx)
{
    for (uint32_t k = 0; k < i->noperands && k < 32; k++)
        if (written >> k & 1)
            visit_all(s, &i->operands[k], visit, ctx);
}

/* A guarded instruction may leave its destination as it was, so does one that writes a part of a
 * vector. */
static bool defines(const live_state *s, const ir_insn *i, uint32_t reg)
{
    return i->guard == IR_NONE && s->func->regs[reg].vector <= 1;
}

/* ---- sets of a basic block ---- */

typedef struct block_sets {
    uint64_t *use, *def;
    const ir_insn *insn;
} block_sets;

static void note_use(live_state *s, uint32_t reg, void *ctx)
{
    block_sets *b = ctx;
    (void)s;
    if (!BIT(b->def, reg))
        ADD(b->use, reg);
}

static void note_def(live_state *s, uint32_t reg, void *ctx)
{
    block_sets *b = ctx;
    if (defines(s, b->insn, reg))
        ADD(b->def, reg);
    else if (!BIT(b->def, reg))
        ADD(b->use, reg);
}

static const emu_bb *block(const live_state *s, uint32_t b)
{
    return &s->d->kernel->bbs[s->first_bb + b];
}

static void fill_sets(live_state *s)
{
    for (uint32_t b = 0; b < s->nbbs; b++) {
        block_sets sets = {s->use + (size_t)b * s->words, s->def + (size_t)b * s->words, NULL};
        uint32_t from = block(s, b)->first_pc - s->d->first_pc;
        for (uint32_t n = from; n < from + block(s, b)->ninsns; n++) {
            sets.insn = &s->func->insns[n];
            uint32_t written = emu_written(sets.insn);
            visit_uses(s, sets.insn, written, note_use, &sets);
            visit_defs(s, sets.insn, written, note_def, &sets);
        }
    }
}

/* ---- flow: blocks may be left for the next one and for the labels of their last instruction ----
 */

static uint32_t label_block(const live_state *s, uint32_t label)
{
    return emu_label_bb(s->d, label) - s->first_bb;
}

static bool merge_into(live_state *s, uint64_t *out, uint32_t b)
{
    const uint64_t *in = s->in + (size_t)b * s->words;
    uint64_t changed = 0;
    for (uint32_t k = 0; k < s->words; k++) {
        changed |= in[k] & ~out[k];
        out[k] |= in[k];
    }
    return changed != 0;
}

static void merge_label(live_state *s, uint64_t *out, uint32_t label)
{
    const ir_label *l = &s->func->labels[label];
    if (l->kind == IR_LABEL_CODE)
        merge_into(s, out, label_block(s, label));
    for (uint32_t k = 0; l->kind == IR_LABEL_BRANCHTARGETS && k < l->count; k++)
        merge_label(s, out, l->targets[k]);
}

static const ir_insn *last_insn(const live_state *s, uint32_t b)
{
    uint32_t n = block(s, b)->ninsns;
    return n ? &s->func->insns[block(s, b)->first_pc - s->d->first_pc + n - 1] : NULL;
}

static void live_out(live_state *s, uint32_t b, uint64_t *out)
{
    const ir_insn *last = last_insn(s, b);
    memset(out, 0, s->words * sizeof *out);
    bool leaves = last && last->guard == IR_NONE &&
                  (last->op == IR_bra || last->op == IR_brx || last->op == IR_ret ||
                   last->op == IR_exit);
    if (!leaves && b + 1 < s->nbbs)
        merge_into(s, out, b + 1);
    if (last && (last->op == IR_bra || last->op == IR_brx))
        for (uint32_t k = 0; k < last->noperands; k++)
            if (last->operands[k].kind == IR_OPD_LABEL)
                merge_label(s, out, last->operands[k].label);
}

static void solve_liveness(live_state *s, uint64_t *out)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = s->nbbs; b-- > 0;) {
            uint64_t *in = s->in + (size_t)b * s->words;
            const uint64_t *use = s->use + (size_t)b * s->words,
                           *def = s->def + (size_t)b * s->words;
            live_out(s, b, out);
            for (uint32_t k = 0; k < s->words; k++) {
                uint64_t want = use[k] | (out[k] & ~def[k]);
                changed |= (want & ~in[k]) != 0;
                in[k] |= want;
            }
        }
    }
}

/* ---- lives ---- */

static void extend(live_state *s, uint32_t reg, void *ctx)
{
    uint32_t at = *(const uint32_t *)ctx;
    s->start[reg] = at < s->start[reg] ? at : s->start[reg];
    s->end[reg] = at > s->end[reg] ? at : s->end[reg];
}

static void extend_set(live_state *s, const uint64_t *set, uint32_t at)
{
    for (uint32_t k = 0; k < s->words; k++)
        for (uint64_t rest = set[k]; rest; rest &= rest - 1)
            extend(s, k * 64 + (uint32_t)__builtin_ctzll(rest), &at);
}

static void find_lives(live_state *s, uint64_t *out)
{
    for (uint32_t b = 0; b < s->nbbs; b++) {
        uint32_t from = block(s, b)->first_pc - s->d->first_pc, end = from + block(s, b)->ninsns;
        extend_set(s, s->in + (size_t)b * s->words, from);
        for (uint32_t n = from; n < end; n++) {
            uint32_t written = emu_written(&s->func->insns[n]);
            visit_uses(s, &s->func->insns[n], written, extend, &n);
            visit_defs(s, &s->func->insns[n], written, extend, &n);
        }
        live_out(s, b, out);
        extend_set(s, out, end ? end - 1 : 0);
    }
}

/* Registers of 32 bits that are live at once, at most: an estimate of what the hardware needs. */
static uint32_t weight(const live_state *s, uint32_t reg)
{
    const ir_type_info *t = ir_type_get(s->func->regs[reg].type);
    uint32_t bits = (uint32_t)t->bits * t->lanes;
    return t->kind == IR_KIND_P ? 0 : (bits + 31) / 32 * s->func->regs[reg].vector;
}

typedef struct pressure {
    uint64_t *live;
    uint32_t now, most;
    const ir_insn *insn;
} pressure;

static void press_use(live_state *s, uint32_t reg, void *ctx)
{
    pressure *p = ctx;
    if (BIT(p->live, reg))
        return;
    ADD(p->live, reg);
    p->now += weight(s, reg);
}

static void press_def(live_state *s, uint32_t reg, void *ctx)
{
    pressure *p = ctx;
    if (!BIT(p->live, reg) || !defines(s, p->insn, reg))
        return;
    DROP(p->live, reg);
    p->now -= weight(s, reg);
}

static uint32_t most_live(live_state *s, uint64_t *live)
{
    pressure p = {.live = live};
    for (uint32_t b = 0; b < s->nbbs; b++) {
        uint32_t from = block(s, b)->first_pc - s->d->first_pc;
        live_out(s, b, live);
        p.now = 0;
        for (uint32_t r = 0; r < s->nregs; r++)
            p.now += BIT(live, r) ? weight(s, r) : 0;
        for (uint32_t n = from + block(s, b)->ninsns; n-- > from;) {
            p.insn = &s->func->insns[n];
            uint32_t written = emu_written(p.insn);
            p.most = p.now > p.most ? p.now : p.most;
            visit_defs(s, p.insn, written, press_def, &p);
            visit_uses(s, p.insn, written, press_use, &p);
        }
        p.most = p.now > p.most ? p.now : p.most;
    }
    return p.most;
}

/* ---- places ---- */

typedef struct free_place {
    uint32_t offset, bytes;
} free_place;

typedef wl_vec(free_place) free_places;

static uint32_t take_place(emu_decode *d, free_places *list, uint32_t bytes)
{
    for (size_t k = list->count; k-- > 0;)
        if (list->data[k].bytes == bytes) {
            uint32_t offset = list->data[k].offset;
            list->data[k] = list->data[--list->count];
            return offset;
        }
    return emu_frame_take(d, bytes);
}

/* Scans the instructions: places become free behind the last one of a life, and are taken at the
 * first. */
static bool place_registers(live_state *s, const uint32_t *by_start, uint32_t *next_end,
                            uint32_t *first_end, free_places *list)
{
    emu_decode *d = s->d;
    uint32_t at = 0;
    for (uint32_t n = 0; n < s->nregs && by_start[n] != UINT32_MAX; n++) {
        uint32_t reg = by_start[n];
        for (; at < s->start[reg]; at++)
            for (uint32_t r = first_end[at]; r != UINT32_MAX; r = next_end[r])
                if (!wl_push(list, (free_place){EMU_REF_OFFSET(d->regs[r]), emu_reg_bytes(d, r)}))
                    return false;
        d->regs[reg] = EMU_REF(EMU_FRAME, take_place(d, list, emu_reg_bytes(d, reg)));
    }
    return true;
}

static bool order_lives(live_state *s, uint32_t *by_start, uint32_t *next_end, uint32_t *first_end,
                        uint32_t *counts)
{
    uint32_t n = s->func->ninsns + 1;
    for (uint32_t k = 0; k < n; k++)
        first_end[k] = UINT32_MAX;
    for (uint32_t r = 0; r < s->nregs; r++) {
        by_start[r] = UINT32_MAX;
        if (s->start[r] > s->end[r])
            continue;
        counts[s->start[r] + 1]++;
        /* No life ends behind the last place. */
        /* NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        next_end[r] = first_end[s->end[r]];
        first_end[s->end[r]] = r;
    }
    for (uint32_t k = 0; k < n; k++)
        counts[k + 1] += counts[k];
    for (uint32_t r = 0; r < s->nregs; r++)
        if (s->start[r] <= s->end[r])
            by_start[counts[s->start[r]]++] = r;
    return true;
}

/* What may be read before it is written reads as zero. */
static bool zero_entry(live_state *s)
{
    for (uint32_t r = 0; r < s->nregs; r++)
        if (BIT(s->in, r) &&
            !emu_zero_at_start(s->d, EMU_REF_OFFSET(s->d->regs[r]), emu_reg_bytes(s->d, r)))
            return false;
    return true;
}

static bool assign_places(live_state *s)
{
    uint32_t n = s->func->ninsns + 2;
    uint32_t *by_start = malloc((s->nregs + 1) * sizeof *by_start),
             *next_end = malloc((s->nregs + 1) * sizeof *next_end);
    uint32_t *first_end = malloc(n * sizeof *first_end), *counts = calloc(n + 1, sizeof *counts);
    free_places list = {0};
    bool ok = by_start && next_end && first_end && counts &&
              order_lives(s, by_start, next_end, first_end, counts) &&
              place_registers(s, by_start, next_end, first_end, &list) && zero_entry(s);
    free(by_start);
    free(next_end);
    free(first_end);
    free(counts);
    wl_vec_free(&list);
    return ok;
}

bool emu_place_registers(emu_decode *d, uint32_t nbbs)
{
    live_state s = {.d = d,
                    .func = d->func,
                    .nregs = d->func->nregs,
                    .first_bb = d->function->entry,
                    .nbbs = nbbs};
    s.words = (s.nregs + 63) / 64;
    size_t set = (size_t)nbbs * s.words + 1;
    s.in = calloc(set, sizeof *s.in);
    s.use = calloc(set, sizeof *s.use);
    s.def = calloc(set, sizeof *s.def);
    uint64_t *out = calloc(s.words + 1, sizeof *out);
    s.start = malloc((s.nregs + 1) * sizeof *s.start);
    s.end = calloc(s.nregs + 1, sizeof *s.end);
    bool ok = s.in && s.use && s.def && out && s.start && s.end;
    if (ok) {
        memset(s.start, 0xff, (s.nregs + 1) * sizeof *s.start);
        fill_sets(&s);
        solve_liveness(&s, out);
        find_lives(&s, out);
        d->function->registers = most_live(&s, out);
        ok = assign_places(&s);
    }
    free(s.in);
    free(s.use);
    free(s.def);
    free(out);
    free(s.start);
    free(s.end);
    return ok;
}
