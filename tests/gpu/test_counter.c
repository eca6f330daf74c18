/* The code that patched instructions call (shim/patch/counter.ptx), run by the emulator: what it counts
 * of random requests is what the definitions of observe/cost.h say, taken literally. */
#include "../emu/fixture.h"
#include "../observe/patterns.h"
#include "../observe/reference.h"
#include "shim/patch/impl.h"
#include "shim/patch/read_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 3000, BASE = 0x40000, ROOM = 32 << 10, FIRST_PC = 0x1000 };

/* A block is a warp that makes the request with its number, at a pc of its own; lanes without one have
 * address 0. */
static const char calls[] =
    ".visible .entry request(.param .u64 table, .param .u64 requests, .param .u64 pcs)\n"
    "{\n"
    "    .reg .pred %p, %is;\n"
    "    .reg .b32 %block, %lane, %bytes, %flags, %kind, %r;\n"
    "    .reg .b64 %at, %pc, %address, %table, %x;\n"
    "    mov.u32 %block, %ctaid.x;\n"
    "    mov.u32 %lane, %tid.x;\n"
    "    ld.param.u64 %table, [table];\n"
    "    ld.param.u64 %pc, [pcs];\n"
    "    mad.wide.u32 %pc, %block, 16, %pc;\n"
    "    ld.param.u64 %at, [requests];\n"
    "    mad.wide.u32 %at, %block, 272, %at;\n"
    "    ld.global.u32 %bytes, [%at];\n"
    "    ld.global.u32 %flags, [%at+4];\n"
    "    ld.global.u32 %kind, [%at+8];\n"
    "    mad.wide.u32 %x, %lane, 8, %at;\n"
    "    ld.global.u64 %address, [%x+16];\n"
    "    setp.eq.u64 %p, %address, 0;\n"
    "    @%p exit;\n"
#define CALL(number, name)                                                                        \
    "    setp.ne.u32 %is, %kind, " number ";\n"                                                   \
    "    @%is bra not_" name ";\n"                                                                \
    "    {\n"                                                                                     \
    "    .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; .param .b32 e; .param .b64 " \
    "f;\n"                                                                                        \
    "    .param .b32 out;\n"                                                                      \
    "    st.param.b64 [a], %table; st.param.b64 [b], %pc; st.param.b64 [c], %address;\n"          \
    "    st.param.b32 [d], %bytes; st.param.b32 [e], %flags; st.param.b64 [f], %table;\n"         \
    "    call.uni (out), " name ", (a, b, c, d, e, f);\n"                                         \
    "    ld.param.b32 %r, [out];\n"                                                               \
    "    }\n"                                                                                     \
    "    exit;\n"                                                                                 \
    "not_" name ":\n"
    CALL("0", "wl_global") CALL("1", "wl_shared")
        CALL("2", "wl_local") "    {\n"
                              "    .param .b64 a; .param .b64 b; .param .b64 c; .param .b32 d; "
                              ".param .b32 e; .param .b32 out;\n"
                              "    st.param.b64 [a], %table; st.param.b64 [b], %pc; st.param.b64 "
                              "[c], %address;\n"
                              "    cvt.u32.u64 %r, %address;\n"
                              "    st.param.b32 [d], %r; st.param.b32 [e], %bytes;\n"
                              "    call.uni (out), wl_copied, (a, b, c, d, e);\n"
                              "    ld.param.b32 %r, [out];\n"
                              "    }\n"
                              "    exit;\n"
                              "}\n";

enum { COPIED = 3 };

typedef struct request {
    uint32_t bytes, flags, kind, unused;
    uint64_t address[32];
} request;

typedef struct counting {
    fixture f;
    request *requests;
    acc_request *made; /* the same for the reference; `addr` leads into `requests` */
    char *table;
    patch_plan plan;
    cap_patched counted;
} counting;

/* Slots in another order than the instructions. */
static void plan_all(patch_plan *p)
{
    *p = (patch_plan){
        .insns = REQUESTS, .slots = REQUESTS, .slot_of = calloc(REQUESTS, sizeof *p->slot_of)};
    for (uint32_t i = 0; i < REQUESTS; i++)
        p->slot_of[i] = (uint16_t)((REQUESTS - i) | (i % 6 ? 0 : PATCH_PAIRS));
    patch_plan_size(p);
}

static void begin_counting(counting *c)
{
    char *counter = test_read_source("src/shim/patch/counter.ptx");
    char *text = malloc(strlen(counter) + sizeof calls);
    sprintf(text, "%s%s", counter, calls);
    memset(c, 0, sizeof *c);
    fixture_begin(&c->f, text);
    free(text);
    free(counter);
    c->requests = fixture_alloc(&c->f, REQUESTS * sizeof *c->requests);
    c->made = calloc(REQUESTS, sizeof *c->made);
    plan_all(&c->plan);
    c->table = fixture_alloc(&c->f, c->plan.bytes);
    uint64_t bytes;
    void *head = patch_table_begin(&c->plan, FIRST_PC, &bytes);
    memcpy(c->table, head, bytes);
    free(head);
}

static void end_counting(counting *c)
{
    free(c->counted.insns);
    free(c->made);
    patch_plan_clear(&c->plan);
    fixture_end(&c->f);
}

static void put_request(counting *c, uint32_t i, const acc_request *a, uint32_t kind)
{
    bool reads = a->op != ACC_STORE, writes = a->op != ACC_LOAD;
    request *r = &c->requests[i];
    r->bytes = a->bytes;
    r->flags = (reads ? PATCH_READS : 0) | (writes ? PATCH_WRITES : 0);
    r->kind = kind;
    for (uint32_t lane = 0; lane < 32; lane++)
        r->address[lane] = a->mask >> lane & 1 ? a->addr[lane] : 0;
    c->made[i] = *a;
    c->made[i].addr = r->address;
    c->made[i].stride = ACC_IRREGULAR;
}

/* One that the API could show: no constants, no matrices. */
static void draw_request(counting *c, pattern_rng *rng, uint32_t i)
{
    uint64_t addr[32];
    acc_request a;
    do
        a = pattern_draw(rng, BASE, ROOM, true, addr);
    while (a.space == ACC_CONST || a.bytes > 16 || (a.bytes & (a.bytes - 1)) ||
           (a.flags & (ACC_MATRIX | ACC_BULK | ACC_BOX | ACC_BARRIER | ACC_TEXTURE)));
    bool copied = a.space == ACC_GLOBAL && a.op == ACC_LOAD && a.bytes >= 4 && i % 3 == 0;
    a.flags = copied ? ACC_ASYNC | (i % 6 ? ACC_CACHED : 0) : 0;
    put_request(c, i, &a, copied ? COPIED : a.space);
}

static void run_requests(counting *c, uint64_t table)
{
    RUN(&c->f, "request", REQUESTS, 32, table, P(c->requests), FIRST_PC);
}

static void read_counts(counting *c)
{
    free(c->counted.insns);
    assert_true(patch_table_read(c->table, c->plan.bytes, &c->counted));
}

static void check_shapes(const obs_insn *row, obs_shape shape, uint64_t times)
{
    const uint64_t shapes[OBS_SHAPE_COUNT] = {row->uniform, row->contiguous, row->misaligned,
                                              row->strided, row->irregular};
    for (int i = 0; i < OBS_SHAPE_COUNT; i++)
        assert_int_equal(shapes[i], i == (int)shape ? times : 0);
}

static void check_range(const cap_patched_insn *insn, const acc_request *a)
{
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        if (!(a->mask >> lane & 1))
            continue;
        low = a->addr[lane] < low ? a->addr[lane] : low;
        high = a->addr[lane] + a->bytes > high ? a->addr[lane] + a->bytes : high;
    }
    assert_int_equal(insn->low, low);
    assert_int_equal(insn->high, high);
}

static const cap_patched_insn *find_counts(const counting *c, uint32_t pc, acc_space space)
{
    for (uint32_t i = 0; i < c->counted.count; i++)
        if (c->counted.insns[i].row.pc == pc && c->counted.insns[i].row.space == space)
            return &c->counted.insns[i];
    fail_msg("no counts of %u", pc);
    return NULL;
}

static void check_counts(const counting *c, uint32_t i, const acc_request *a, uint64_t times)
{
    const cap_patched_insn *insn = find_counts(c, i, a->space);
    const obs_insn *row = &insn->row;
    obs_cost cost = ref_cost(a);
    assert_int_equal(row->pc, i);
    assert_int_equal(row->space, a->space);
    assert_int_equal(row->bytes, a->bytes);
    assert_int_equal(row->op, a->op == ACC_REDUCTION ? ACC_ATOMIC : a->op);
    assert_int_equal(row->requests, times);
    assert_int_equal(row->active_lanes, cost.lanes * times);
    assert_int_equal(row->sectors, cost.sectors * times);
    assert_int_equal(row->sectors_min, cost.sectors_min * times);
    assert_int_equal(row->wavefronts, cost.wavefronts * times);
    assert_int_equal(row->wavefronts_min, cost.wavefronts_min * times);
    assert_int_equal(row->stride, cost.stride);
    check_shapes(row, cost.shape, times);
    check_range(insn, a);
}

/* A copy stores to shared memory, at the same offsets, what it loads. Returns how many rows it has. */
static uint32_t check_request(const counting *c, uint32_t i, uint64_t times)
{
    acc_request stored = c->made[i];
    check_counts(c, i, &c->made[i], times);
    if (c->requests[i].kind != COPIED)
        return 1;
    stored.space = ACC_SHARED;
    stored.op = ACC_STORE;
    check_counts(c, i, &stored, times);
    return 2;
}

static void counts_are_those_of_the_definitions(void **state)
{
    (void)state;
    counting c;
    pattern_rng rng = {2026};
    uint32_t kinds[4] = {0};
    begin_counting(&c);
    for (uint32_t i = 0; i < REQUESTS; i++) {
        draw_request(&c, &rng, i);
        kinds[c.requests[i].kind]++;
    }
    for (uint64_t times = 1; times <= 2; times++) {
        run_requests(&c, P(c.table));
        read_counts(&c);
        uint32_t rows = 0;
        for (uint32_t i = 0; i < REQUESTS; i++)
            rows += check_request(&c, i, times);
        assert_int_equal(c.counted.count, rows);
        assert_int_equal(c.counted.elsewhere, 0);
    }
    for (int i = 0; i < 4; i++)
        assert_in_range(kinds[i], 40, REQUESTS);
    end_counting(&c);
}

/* By hand: 32 lanes at 8 bytes apart from an odd multiple of 16 on, of 4 bytes each. */
static void a_request_is_counted_as_by_hand(void **state)
{
    (void)state;
    counting c;
    uint64_t addr[32];
    for (uint64_t lane = 0; lane < 32; lane++)
        addr[lane] = 0x40010 + 8 * lane;
    acc_request a = {
        .op = ACC_LOAD, .space = ACC_GLOBAL, .bytes = 4, .mask = UINT32_MAX, .addr = addr};
    begin_counting(&c);
    put_request(&c, 5, &a, PATCH_GLOBAL);
    run_requests(&c, P(c.table));
    read_counts(&c);
    assert_int_equal(c.counted.count, 1);
    const obs_insn *row = &c.counted.insns[0].row;
    assert_int_equal(row->pc, 5);
    assert_int_equal(row->sectors, 9);
    assert_int_equal(row->sectors_min, 4);
    assert_int_equal(row->strided, 1);
    assert_int_equal(row->stride, 8);
    assert_int_equal(c.counted.insns[0].low, 0x40010);
    assert_int_equal(c.counted.insns[0].high, 0x4010c);
    end_counting(&c);
}

/* Requests of the first 20 instructions and of those from 120 to 126, of which copies make two. */
static uint64_t uncounted(const counting *c)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < 127; i++)
        if (i < 20 || i >= 120)
            n += c->requests[i].kind == COPIED ? 2 : 1;
    return n;
}

static void code_outside_is_counted_apart(void **state)
{
    (void)state;
    counting c;
    pattern_rng rng = {7};
    begin_counting(&c);
    for (uint32_t i = 0; i < REQUESTS; i++)
        draw_request(&c, &rng, i);
    patch_head *head = (patch_head *)c.table;
    uint16_t *slot_of = (uint16_t *)(head + 1);
    for (uint32_t i = 100; i < 107; i++)
        slot_of[i] = 0;
    RUN(&c.f, "request", REQUESTS, 32, P(c.table), P(c.requests), FIRST_PC - 16 * 20);
    assert_int_equal(head->elsewhere, uncounted(&c));
    end_counting(&c);
}

static void without_a_table_nothing_is_done(void **state)
{
    (void)state;
    counting c;
    pattern_rng rng = {7};
    begin_counting(&c);
    draw_request(&c, &rng, 0);
    run_requests(&c, 0);
    read_counts(&c);
    assert_int_equal(c.counted.count, 0);
    end_counting(&c);
}

static void damaged_tables_are_refused(void **state)
{
    (void)state;
    cap_patched out;
    uint16_t slots[4] = {0, 2, 0, 1};
    patch_plan plan = {.insns = 4, .slots = 2, .slot_of = slots};
    uint64_t bytes;
    patch_plan_size(&plan);
    patch_head *begin = patch_table_begin(&plan, 0x100, &bytes), *head = calloc(1, plan.bytes);
    memcpy(head, begin, bytes);
    assert_true(patch_table_read(head, plan.bytes, &out));
    assert_int_equal(out.count, 0);
    free(out.insns);
    assert_false(patch_table_read(head, plan.bytes - 1, &out));
    assert_false(patch_table_read(head, 3, &out));
    head->end = 0x80;
    assert_false(patch_table_read(head, plan.bytes, &out));
    head->end = UINT64_MAX;
    assert_false(patch_table_read(head, plan.bytes, &out));
    *head = *begin;
    head->copies = 0;
    assert_false(patch_table_read(head, plan.bytes, &out));
    head->copies = 1 << 30;
    assert_false(patch_table_read(head, plan.bytes, &out));
    *head = *begin;
    ((uint16_t *)(head + 1))[0] = 7; /* there is no such slot */
    assert_true(patch_table_read(head, plan.bytes, &out));
    assert_int_equal(out.count, 0);
    free(out.insns);
    free(head);
    free(begin);
}

/* Tables of large kernels have fewer copies, but one. */
static void tables_are_bounded(void **state)
{
    (void)state;
    for (uint32_t slots = 1; slots < UINT16_MAX; slots = slots * 3 + 1) {
        patch_plan plan = {.insns = 2 * slots, .slots = slots};
        patch_plan_size(&plan);
        assert_int_equal(plan.copies & (plan.copies - 1), 0);
        assert_true(plan.copies == 1 || plan.bytes <= (4 << 20) + 5 * slots + 64);
        assert_true(plan.copies == 16 || plan.bytes > 2 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_the_definitions),
        cmocka_unit_test(a_request_is_counted_as_by_hand),
        cmocka_unit_test(code_outside_is_counted_apart),
        cmocka_unit_test(without_a_table_nothing_is_done),
        cmocka_unit_test(damaged_tables_are_refused),
        cmocka_unit_test(tables_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
