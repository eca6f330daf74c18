/* Random kernels: barriers that are told to be superfluous are none to anybody who keeps every access
 * of every lane, in the emulator's log, and looks for two that they alone keep apart. */
#include "ordered.h"

#include "base/vec.h"
#include "emu/fixture.h"
#include "support/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    KERNELS = 500,

    BUFFER = 65536 + 64,
    TEXT = 65536,
    MOST_PCS = 2000
};

/* ---- a kernel ---- */

typedef struct writer {
    char *text;
    size_t at;
    uint64_t seed;
    uint32_t labels, lines, depth, arms; /* arms: of branches that threads take differently */
} writer;

static uint32_t pick(writer *w, uint32_t n)
{
    return (uint32_t)random_below(&w->seed, n);
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->at += (size_t)vsnprintf(w->text + w->at, TEXT - w->at, format, args);
    va_end(args);
    assert_true(w->at < TEXT);
}

/* %r5: an offset of whole `unit`s that follows from the thread, and the iterations of the loop in
 * %r7. */
static void put_offset(writer *w, uint32_t unit)
{
    static const uint32_t steps[] = {0, 1, 1, 1, 2, 4, 8, 16}, turns[] = {0, 0, 1, 32, 128};
    put(w, "mul.lo.u32 %%r5, %%r1, %u;\n", unit * steps[pick(w, 8)]);
    put(w, "mad.lo.u32 %%r5, %%r2, %u, %%r5;\n",
        unit * (pick(w, 3) ? 16u << pick(w, 2) : steps[pick(w, 8)]));
    put(w, "mad.lo.u32 %%r5, %%r7, %u, %%r5;\n", unit * turns[pick(w, 5)]);
    put(w, "add.u32 %%r5, %%r5, %u;\n", pick(w, 2) ? 0 : unit * pick(w, 40));
    if (pick(w, 12) == 0) /* whatever was loaded says where */
        put(w, "and.b32 %%r5, %%r6, 504;\n");
}

/* %r5: an offset in 64 KiB that threads have in common, since 16 bits are too few for it. */
static void put_narrow_offset(writer *w)
{
    put(w, "mul.lo.u32 %%r5, %%r1, %u;\ncvt.u16.u32 %%h1, %%r5;\ncvt.u32.u16 %%r5, %%h1;\n",
        1024u << pick(w, 4));
}

static void put_access(writer *w)
{
    static const char *const arrays[] = {"one", "two", "in", "out"};
    uint32_t which = pick(w, 5) % 4;
    const char *space = which < 2 ? "shared" : "global";
    uint32_t bytes = 4u << pick(w, 2);
    if (which >= 2 && pick(w, 4) == 0)
        put_narrow_offset(w);
    else
        put_offset(w, bytes);
    if (which < 2)
        put(w, "mov.u64 %%d4, %s;\n", arrays[which]);
    else
        put(w, "mov.u64 %%d4, %%d%u;\n", which - 1);
    put(w, "cvt.u64.u32 %%d5, %%r5;\nadd.u64 %%d6, %%d4, %%d5;\n");
    const char *type = bytes == 4 ? ".u32" : pick(w, 2) ? ".v2.u32" : ".u64";
    const char *data = bytes == 4 ? "%r6" : type[1] == 'v' ? "{%r6, %r10}" : "%d7";
    if (pick(w, 2))
        put(w, "ld.%s%s %s, [%%d6+%u];\n", space, type, data, bytes * pick(w, 3));
    else
        put(w, "st.%s%s [%%d6+%u], %s;\n", space, type, bytes * pick(w, 3), data);
}

static void put_barrier(writer *w)
{
    w->lines += pick(w, 8) != 0; /* now and then two on one line */
    put(w, ".loc 1 %u 1\nbar.sync 0;\n.loc 1 1 1\n", 10 + w->lines);
}

static void put_statements(writer *w, uint32_t count);

static void put_loop(writer *w)
{
    uint32_t label = w->labels++;
    put(w, "mov.u32 %%r7, 0;\nL%u:\n", label);
    put_statements(w, 1 + pick(w, 4));
    put(w,
        "add.u32 %%r7, %%r7, 1;\nsetp.lt.u32 %%p1, %%r7, %u;\n@%%p1 bra L%u;\nmov.u32 %%r7, 0;\n",
        2 + pick(w, 2), label);
}

/* All threads go one way, by the launch; or some of them another. */
static void put_branch(writer *w)
{
    uint32_t label = w->labels++;
    bool together = pick(w, 2);
    if (together)
        put(w, "setp.lt.u32 %%p2, %%r8, %u;\n", pick(w, 10));
    else
        put(w, "setp.lt.u32 %%p2, %%r1, %u;\n", 8u << pick(w, 4));
    put(w, "@%%p2 bra L%u;\n", label);
    w->arms += !together;
    put_statements(w, 1 + pick(w, 3));
    w->arms -= !together;
    put(w, "L%u:\n", label);
}

static void put_statements(writer *w, uint32_t count)
{
    w->depth++;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t what = pick(w, 12);
        if (what == 0 && w->depth == 1)
            put_loop(w);
        else if (what == 1 && w->depth < 3)
            put_branch(w);
        else if (what < 6 && !w->arms)
            put_barrier(w);
        else
            put_access(w);
    }
    w->depth--;
}

static void put_kernel(writer *w)
{
    put(w, HEADER ".file 1 \"/src/kernel.cu\"\n"
                  ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
                  ".shared .align 16 .b8 one[16384];\n.shared .align 16 .b8 two[16384];\n"
                  ".reg .pred %%p<4>;\n.reg .b16 %%h<2>;\n.reg .b32 %%r<12>;\n.reg .b64 %%d<8>;\n"
                  ".loc 1 1 1\n"
                  "ld.param.u64 %%d1, [in];\nld.param.u64 %%d2, [out];\nld.param.u32 %%r8, [n];\n"
                  "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%tid.y;\nmov.u32 %%r6, 0;\n"
                  "mov.u32 %%r7, 0;\nmov.u32 %%r10, 0;\nmov.u64 %%d7, 0;\n");
    put_statements(w, 4 + pick(w, 10));
    put(w, "ret;\n}\n");
}

/* ---- what it did ---- */

typedef struct event { /* an access by a lane */
    uint32_t pc, thread, bytes, phase;
    bool writes, shared;
    uint64_t at;
} event;

typedef struct history {
    wl_vec(event) events;
    wl_vec(uint32_t) barriers; /* pc of the one that ends each phase */
} history;

static void *begin_block(void *worker, uint64_t block)
{
    (void)block;
    return worker;
}

static void *begin_worker(void *ctx, uint32_t number)
{
    (void)number;
    return ctx;
}

static void note_access(void *block, const acc_request *r)
{
    history *h = block;
    for (uint32_t m = r->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        event e = {.pc = r->pc,
                   .thread = 32 * r->warp + lane,
                   .bytes = r->bytes,
                   .phase = (uint32_t)h->barriers.count,
                   .writes = r->op != ACC_LOAD,
                   .shared = r->space == ACC_SHARED,
                   .at = r->addr[lane]};
        assert_true(wl_push(&h->events, e));
    }
}

static void note_barrier(void *block, uint32_t pc)
{
    history *h = block;
    assert_true(wl_push(&h->barriers, pc));
}

/* ---- the naive check ---- */

static footprint_order needs_at(const ordered *o, uint32_t pc)
{
    for (uint32_t i = 0; i < o->all.count; i++)
        if (o->all.rows[i].pc == pc)
            return o->all.rows[i].needs;
    return FOOTPRINT_BLOCK;
}

static bool touch(const event *a, const event *b)
{
    return a->shared == b->shared && (a->writes || b->writes) && a->at < b->at + b->bytes &&
           b->at < a->at + a->bytes;
}

/* What is left between the phases of two events once the advice is followed. */
static footprint_order left_between(const ordered *o, const history *h, const event *a,
                                    const event *b)
{
    footprint_order left = FOOTPRINT_APART;
    for (uint32_t p = a->phase; p < b->phase; p++) {
        footprint_order one = needs_at(o, h->barriers.data[p]);
        left = one > left ? one : left;
    }
    return left;
}

/* Two that nothing keeps apart any more; NULL: there are none. */
static const event *conflict_of(const ordered *o, const history *h)
{
    for (size_t i = 0; i < h->events.count; i++)
        for (size_t k = i + 1; k < h->events.count; k++) {
            const event *a = &h->events.data[i], *b = &h->events.data[k];
            if (a->phase == b->phase || a->thread == b->thread || !touch(a, b))
                continue;
            footprint_order needed = a->thread / 32 == b->thread / 32 ? FOOTPRINT_WARPS
                                                                      : FOOTPRINT_BLOCK;
            if (left_between(o, h, a, b) < needed)
                return a;
        }
    return NULL;
}

/* ---- together ---- */

static uint32_t objects_of(const history *h, const uint64_t *buffers, prof_access *rows)
{
    uint32_t count = 0;
    for (uint32_t pc = 0; pc < MOST_PCS; pc++)
        for (uint32_t object = 1; object <= 2; object++)
            for (size_t i = 0; i < h->events.count; i++) {
                const event *e = &h->events.data[i];
                if (e->pc != pc || e->shared || e->at - buffers[object - 1] >= BUFFER)
                    continue;
                rows[count++] = (prof_access){1, pc, 1, object};
                break;
            }
    return count;
}

typedef struct tally {
    uint32_t gone, eased, kept, idle; /* idle: kept, though this run shows no need */
} tally;

static void add_up(const ordered *o, const history *h, tally *t)
{
    for (uint32_t i = 0; i < o->all.count; i++) {
        footprint_order needs = o->all.rows[i].needs;
        t->gone += needs == FOOTPRINT_APART;
        t->eased += needs == FOOTPRINT_WARPS;
        t->kept += needs == FOOTPRINT_BLOCK;
        if (needs == FOOTPRINT_BLOCK) {
            o->all.rows[i].needs = FOOTPRINT_APART;
            t->idle += !conflict_of(o, h);
            o->all.rows[i].needs = needs;
        }
    }
}

static void check_kernel(uint64_t seed, tally *t)
{
    static const uint32_t blocks[][3] = {{32, 1, 1}, {64, 1, 1}, {96, 1, 1},
                                         {16, 8, 1}, {32, 4, 1}, {8, 5, 1}};
    static char text[TEXT];
    static prof_access rows[2 * MOST_PCS];
    writer w = {.text = text, .seed = seed};
    put_kernel(&w);
    const uint32_t *block = blocks[pick(&w, 6)];
    history h = {0};
    const acc_observer observer = {.ctx = &h,
                                   .worker_begin = begin_worker,
                                   .block_begin = begin_block,
                                   .access = note_access,
                                   .barrier = note_barrier};
    fixture f;
    fixture_begin(&f, text);
    f.observer = &observer;
    uint64_t buffers[] = {P(fixture_alloc(&f, BUFFER)), P(fixture_alloc(&f, BUFFER))};
    fixture_ok(&f, fixture_try(&f, "kernel", (emu_dim){1, 1, 1},
                               (emu_dim){block[0], block[1], block[2]}, 3,
                               (uint64_t[]){buffers[0], buffers[1], seed % 10}));
    ordered o;
    ordered_begin(&o, text, block, rows, objects_of(&h, buffers, rows));
    const event *conflict = conflict_of(&o, &h);
    if (conflict)
        fail_msg("seed %llu: what pc %u accesses is no longer ordered\n%s",
                 (unsigned long long)seed, conflict->pc, text);
    add_up(&o, &h, t);
    ordered_end(&o);
    fixture_end(&f);
    wl_vec_free(&h.events);
    wl_vec_free(&h.barriers);
}

static void nothing_needed_is_told(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= KERNELS; seed++)
        check_kernel(seed, &t);
    print_message("%u can go, %u are of warps, %u stay (%u of them without a need in these runs)\n",
                  t.gone, t.eased, t.kept, t.idle);
    assert_true(t.gone > KERNELS / 10 && t.eased > KERNELS / 50 && t.kept > KERNELS / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_needed_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
