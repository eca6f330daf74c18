/* Random kernels: barriers that are told to be superfluous are none to anybody who keeps every access
 * of every lane, in the emulator's log, and looks for two that they alone keep apart. Where no threads
 * race, the kernel that follows the advice leaves the same in memory. */
#include "ordered.h"

#include "base/vec.h"
#include "emu/fixture.h"
#include "support/random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KERNELS = 600,

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

/* %p2: what differs from thread to thread, by its place, or is not known to. */
static void put_guard(writer *w)
{
    static const char *const compares[] = {"lt", "ge", "eq", "ne"};
    static const char *const places[] = {"%r1", "%r1", "%r2", "%r11", "%r12", "%r13", "%r6"};
    static const uint32_t numbers[] = {0, 1, 2, 8, 16, 31, 32, 64};
    for (uint32_t p = 2; p < 4; p++)
        put(w, "setp.%s.u32 %%p%u, %s, %u;\n", compares[pick(w, 4)], p, places[pick(w, 7)],
            numbers[pick(w, 8)]);
    if (pick(w, 3) == 0)
        put(w, "%s.pred %%p2, %%p2, %%p3;\n", pick(w, 2) ? "and" : "or");
}

/* An atomic, of a word. */
static void put_update(writer *w, const char *space)
{
    if (pick(w, 2))
        put(w, "atom.%s.add.u32 %%r6, [%%d6], 1;\n", space);
    else
        put(w, "red.%s.add.u32 [%%d6], %%r1;\n", space);
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
    if (bytes == 4 && pick(w, 8) == 0) {
        put_update(w, space);
        return;
    }
    if (pick(w, 4) == 0) {
        put_guard(w);
        put(w, "@%s%%p2 ", pick(w, 2) ? "!" : "");
    }
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

/* Half as many threads in each iteration, as a sum has them. */
static void put_halving(writer *w)
{
    uint32_t label = w->labels++;
    if (pick(w, 2))
        put(w, "mov.u32 %%r14, %u;\n", 8u << pick(w, 4));
    else
        put(w, "mov.u32 %%r14, %%ntid.x;\nshr.u32 %%r14, %%r14, 1;\n");
    put(w, "L%u:\nsetp.ge.u32 %%p2, %%r1, %%r14;\n@%%p2 bra N%u;\n", label, label);
    w->arms++;
    put_statements(w, 1 + pick(w, 2));
    if (pick(w, 2))
        put(w, "mov.u32 %%r5, one;\nmad.lo.u32 %%r15, %%r14, 4, %%r5;\n"
               "mad.lo.u32 %%r15, %%r1, 4, %%r15;\nld.shared.u32 %%r6, [%%r15];\n"
               "mad.lo.u32 %%r15, %%r1, 4, %%r5;\nst.shared.u32 [%%r15], %%r6;\n");
    w->arms--;
    put(w, "N%u:\n", label);
    if (!w->arms)
        put_barrier(w);
    put(w, "shr.u32 %%r14, %%r14, 1;\nsetp.gt.u32 %%p1, %%r14, %u;\n@%%p1 bra L%u;\n",
        pick(w, 2) * 4, label);
}

/* All threads go one way, by the launch; or some of them another. */
static void put_branch(writer *w)
{
    uint32_t label = w->labels++;
    bool together = pick(w, 2);
    if (together)
        put(w, "setp.lt.u32 %%p2, %%r8, %u;\n", pick(w, 10));
    else
        put_guard(w);
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
        uint32_t what = pick(w, 13);
        if (what == 0 && w->depth == 1)
            put_loop(w);
        else if (what == 12 && w->depth == 1)
            put_halving(w);
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
                  ".reg .pred %%p<4>;\n.reg .b16 %%h<2>;\n.reg .b32 %%r<16>;\n.reg .b64 %%d<8>;\n"
                  ".loc 1 1 1\n"
                  "ld.param.u64 %%d1, [in];\nld.param.u64 %%d2, [out];\nld.param.u32 %%r8, [n];\n"
                  "mov.u32 %%r1, %%tid.x;\nmov.u32 %%r2, %%tid.y;\nmov.u32 %%r6, %%tid.x;\n"
                  "mov.u32 %%r11, %%ntid.x;\nmad.lo.u32 %%r11, %%r2, %%r11, %%r1;\n"
                  "and.b32 %%r12, %%r11, 31;\nshr.u32 %%r13, %%r11, 5;\n"
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

typedef struct meeting {  /* of two accesses by different threads, one of them not only to load */
    uint32_t first, then; /* events */
} meeting;

typedef struct history {
    wl_vec(event) events;
    wl_vec(meeting) meetings;  /* in different phases */
    bool races;                /* some meet in one phase */
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

static void find_meetings(history *h)
{
    for (uint32_t i = 0; i < h->events.count; i++)
        for (uint32_t k = i + 1; k < h->events.count; k++) {
            const event *a = &h->events.data[i], *b = &h->events.data[k];
            if (!touch(a, b) || a->thread == b->thread)
                continue;
            if (a->phase == b->phase)
                h->races = true;
            else
                assert_true(wl_push(&h->meetings, ((meeting){i, k})));
        }
}

/* Two that nothing keeps apart any more; NULL: there are none. */
static const event *conflict_of(const ordered *o, const history *h)
{
    for (size_t i = 0; i < h->meetings.count; i++) {
        const event *a = &h->events.data[h->meetings.data[i].first];
        const event *b = &h->events.data[h->meetings.data[i].then];
        footprint_order needed = a->thread / 32 == b->thread / 32 ? FOOTPRINT_WARPS
                                                                  : FOOTPRINT_BLOCK;
        if (left_between(o, h, a, b) < needed)
            return a;
    }
    return NULL;
}

/* ---- a run ---- */

typedef struct run {
    fixture f;
    uint64_t buffers[2];
} run;

static void begin_run(run *r, const char *text, const uint32_t block[3], uint64_t seed,
                      const acc_observer *observer)
{
    fixture_begin(&r->f, text);
    r->f.observer = observer;
    for (int i = 0; i < 2; i++) {
        uint32_t *words = fixture_alloc(&r->f, BUFFER);
        for (uint32_t k = 0; k < BUFFER / 4; k++)
            words[k] = k * 2654435761u;
        r->buffers[i] = P(words);
    }
    fixture_ok(&r->f, fixture_try(&r->f, "kernel", (emu_dim){1, 1, 1},
                                  (emu_dim){block[0], block[1], block[2]}, 3,
                                  (uint64_t[]){r->buffers[0], r->buffers[1], seed % 10}));
}

/* ---- the advice followed ---- */

#define BARRIER "bar.sync 0;\n"

/* Whose n-th barrier is the n-th of the rows: all are of the block, and by pc. */
static void follow_advice(const ordered *o, const char *text, char *out)
{
    uint32_t n = 0;
    *out = '\0';
    for (const char *at; (at = strstr(text, BARRIER)); n++) {
        footprint_order needs = ordered_needs(o, n);
        strncat(out, text, (size_t)(at - text));
        strcat(out, needs == FOOTPRINT_BLOCK   ? BARRIER
                    : needs == FOOTPRINT_WARPS ? "bar.warp.sync -1;\n"
                                               : "");
        text = at + strlen(BARRIER);
    }
    assert_int_equal(n, o->all.count);
    strcat(out, text);
}

static bool same_results(const ordered *o, const char *text, const run *before,
                         const uint32_t block[3], uint64_t seed)
{
    static char followed[TEXT];
    run after;
    bool same = true;
    follow_advice(o, text, followed);
    begin_run(&after, followed, block, seed, NULL);
    for (int i = 0; i < 2; i++)
        same &= memcmp((void *)(uintptr_t)before->buffers[i], (void *)(uintptr_t)after.buffers[i],
                       BUFFER) == 0;
    fixture_end(&after.f);
    return same;
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
    uint32_t by_guards;               /* of gone and eased: not without what guards tell */
    uint32_t run;                     /* kernels that ran as advised */
} tally;

static void add_up(ordered *o, const history *h, tally *t)
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

static void compare_without_guards(ordered *o, tally *t)
{
    order_barriers plain;
    wl_error err;
    o->input.premises.count = 0;
    assert_int_equal(order_of(&o->input, &plain, &err), WL_OK);
    assert_int_equal(plain.count, o->all.count);
    for (uint32_t i = 0; i < plain.count; i++)
        t->by_guards += o->all.rows[i].needs < plain.rows[i].needs;
}

static void check_advice(ordered *o, const history *h, const char *text, const run *r,
                         uint64_t seed, tally *t)
{
    const event *conflict = conflict_of(o, h);
    if (conflict)
        fail_msg("seed %llu: what pc %u accesses is no longer ordered\n%s",
                 (unsigned long long)seed, conflict->pc, text);
    if (h->races)
        return;
    t->run++;
    if (!same_results(o, text, r, o->launch.block, seed))
        fail_msg("seed %llu: with the advice it leaves something else in memory\n%s",
                 (unsigned long long)seed, text);
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
    run r;
    ordered o;
    begin_run(&r, text, block, seed, &observer);
    find_meetings(&h);
    ordered_begin(&o, text, block, rows, objects_of(&h, r.buffers, rows));
    check_advice(&o, &h, text, &r, seed, t);
    add_up(&o, &h, t);
    compare_without_guards(&o, t);
    ordered_end(&o);
    fixture_end(&r.f);
    wl_vec_free(&h.events);
    wl_vec_free(&h.barriers);
    wl_vec_free(&h.meetings);
}

static void nothing_needed_is_told(void **state)
{
    (void)state;
    tally t = {0};
    for (uint64_t seed = 1; seed <= KERNELS; seed++)
        check_kernel(seed, &t);
    print_message(
        "%u can go, %u are of warps, %u stay (%u of them without a need in these runs); %u "
        "are told by guards; %u kernels ran as advised\n",
        t.gone, t.eased, t.kept, t.idle, t.by_guards, t.run);
    assert_true(t.gone > KERNELS / 10 && t.eased > KERNELS / 50 && t.kept > KERNELS / 2);
    assert_true(t.by_guards > KERNELS / 50 && t.run > KERNELS / 10);
    assert_true(t.gone + t.eased > 2 * t.idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_needed_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
