/* What the host prepares for a launch, at its edges: which object a pointer leads to, what gets
 * tables and copies, how much of the trace there is. */
#include "ptx/ptx.h"
#include "rewrite/layout.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

/* Reads in[tid], counts it in shared memory, and walks up from there by 256 bytes. */
static const char text[] = ".version 8.3\n.target sm_90\n.address_size 64\n"
                           ".visible .entry k(.param .u64 in)\n{\n.reg .pred %p<2>;\n"
                           ".shared .align 4 .b8 tile[64];\n"
                           ".reg .b32 %r<5>;\n.reg .b64 %d<4>;\nld.param.u64 %d1, [in];\n"
                           "mov.u32 %r1, %tid.x;\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
                           "ld.global.u32 %r2, [%d2];\nand.b32 %r4, %r2, 60;\n"
                           "mov.u32 %r3, tile;\nadd.u32 %r4, %r4, %r3;\n"
                           "st.shared.u32 [%r4], 1;\nmov.u32 %r3, 0;\n"
                           "A:\nst.global.u32 [%d2+64], %r2;\nadd.s64 %d2, %d2, 256;\n"
                           "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, 9;\n@%p1 bra A;\nret;\n}\n";

#define BASE UINT64_C(0x700000000000)
#define STATE UINT64_C(0x900000000000)

typedef struct prepared {
    ir_module *module;
    wl_arena *arena;
    rewrite_result result;
    const rewrite_kernel *k;
    rewrite_setup setup;
    rewrite_object object;
    uint64_t pointers[REWRITE_SLOTS];
    rewrite_layout layout;
    rewrite_state state;
    rewrite_range ranges[2];
} prepared;

static void begin(prepared *p, const char *probes)
{
    wl_error err = {0};
    rewrite_options options = {.everything = true};
    *p = (prepared){.arena = wl_arena_new()};
    assert_true(rewrite_probes_parse(probes, &options.probes));
    assert_int_equal(ptx_parse(text, strlen(text), "k", &p->module, &err), WL_OK);
    assert_int_equal(rewrite_module(p->module, &options, p->arena, &p->result, &err), WL_OK);
    p->k = &p->result.kernels[0];
    p->object = (rewrite_object){BASE, 4096};
    for (uint32_t i = 0; i < p->k->nslots; i++)
        p->pointers[i] = BASE;
    p->setup = (rewrite_setup){.blocks = 100,
                               .threads = {32, 1, 1},
                               .nobjects = 1,
                               .objects = &p->object,
                               .pointers = p->pointers};
}

static void fill(prepared *p)
{
    memset(p->ranges, 0, sizeof p->ranges);
    rewrite_lay_out(p->k, &p->setup, &p->layout);
    rewrite_fill(p->k, &p->setup, &p->layout, STATE, &p->state, p->ranges);
}

static void end(prepared *p)
{
    ir_module_free(p->module);
    free(p->result.text);
    wl_arena_free(p->arena);
}

static void expect_slot(prepared *p, uint64_t pointer, uint64_t base, uint64_t size)
{
    p->pointers[0] = pointer;
    fill(p);
    assert_int_equal(p->state.slot[0].base, base);
    assert_int_equal(p->state.slot[0].size, size);
}

static void pointers_lead_to_the_object_that_holds_them(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "touch");
    assert_true(p.k->nslots > 0);
    expect_slot(&p, BASE - 1, 0, 0);
    expect_slot(&p, BASE, BASE, 4096);
    expect_slot(&p, BASE + 4095, BASE, 4096);
    expect_slot(&p, BASE + 4096, 0, 0);
    p.setup.pointers = NULL;
    expect_slot(&p, BASE, 0, 0);
    p.setup.pointers = p.pointers;
    p.object.base += 64; /* no line begins there */
    expect_slot(&p, BASE + 64, 0, 0);
    end(&p);
}

static void objects_beside_each_other_are_told_apart(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "touch");
    const rewrite_object both[] = {{BASE, 256}, {BASE + 256, 128}};
    p.setup.objects = both;
    p.setup.nobjects = 2;
    expect_slot(&p, BASE + 255, BASE, 256);
    expect_slot(&p, BASE + 256, BASE + 256, 128);
    expect_slot(&p, BASE + 383, BASE + 256, 128);
    expect_slot(&p, BASE + 384, 0, 0);
    end(&p);
}

static void objects_that_were_left_out_are_known(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "touch");
    const rewrite_object out = {BASE + 8192, 256};
    p.setup.left_out = &out;
    p.setup.nleft_out = 1;
    expect_slot(&p, BASE + 8191, 0, 0);
    expect_slot(&p, BASE + 8192, UINT64_MAX, 0);
    expect_slot(&p, BASE + 8447, UINT64_MAX, 0);
    expect_slot(&p, BASE + 8448, 0, 0);
    end(&p);
}

/* Tables of objects that no pointer leads to are there only where something may search. */
static void tables_are_where_they_are_needed(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "frequency");
    const rewrite_object both[] = {{BASE, 256}, {BASE + 256, 128}};
    p.setup.objects = both;
    p.setup.nobjects = 2;
    fill(&p);
    assert_true(p.ranges[0].counts[REWRITE_LOADS] && p.ranges[0].counts[REWRITE_STORES]);
    assert_int_equal(p.ranges[0].counts[REWRITE_ATOMICS], 0);
    assert_int_equal(p.ranges[1].counts[REWRITE_LOADS], 0);
    p.setup.everywhere = true;
    fill(&p);
    assert_true(p.ranges[1].counts[REWRITE_LOADS] != 0);
    p.setup.everywhere = false;
    p.pointers[0] = 0;
    fill(&p);
    assert_true(p.ranges[1].counts[p.k->slots[0].class_] != 0);
    end(&p);
}

static void small_objects_have_copies_of_counters(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "frequency");
    p.object.bytes = REWRITE_SPREAD_BYTES;
    fill(&p);
    assert_int_equal(p.ranges[0].spread, 128 * (128 + 4) + 128);
    assert_int_equal(p.state.slot[0].spread, p.ranges[0].spread);
    p.object.bytes = REWRITE_SPREAD_BYTES + 1;
    fill(&p);
    assert_int_equal(p.ranges[0].spread, 0);
    end(&p);
}

/* Each table has room for what the kernel may add, one after the other. */
static void tables_follow_each_other(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "touch");
    const rewrite_object both[] = {{BASE, 4100}, {BASE + 8192 + 100, 100}};
    p.setup.objects = both;
    p.setup.nobjects = 2;
    p.setup.everywhere = true;
    fill(&p);
    /* 33 lines, and one more for what leaves; two, since it lies across their border, and one. A
     * table of walks through the first. */
    const uint64_t words = 34 + 3 + 34;
    assert_int_equal(p.layout.nwords, words);
    assert_int_equal(p.ranges[0].bits, STATE + p.layout.bits_at);
    assert_int_equal(p.ranges[1].bits, STATE + p.layout.bits_at + 4 * 34);
    assert_int_equal(p.ranges[0].lines[0], STATE + p.layout.marks_at);
    assert_int_equal(p.ranges[1].lines[0], STATE + p.layout.marks_at + 32 * 34);
    assert_int_equal(p.state.walk[0].marks, STATE + p.layout.marks_at + 32 * 37);
    assert_true(p.layout.marks_at >= p.layout.bits_at + 4 * words);
    assert_true(p.layout.pool_at >= p.layout.marks_at + 32 * words);
    end(&p);
}

static void walks_have_tables_unless_there_is_no_memory(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "frequency");
    assert_true(p.k->nwalks > 0);
    fill(&p);
    assert_int_equal(p.state.walk[0].object, 0);
    assert_int_equal(p.state.walk[0].step, 256);
    assert_true(p.state.walk[0].counts != 0);
    uint64_t bytes = p.layout.bytes;
    p.setup.no_walks = true;
    fill(&p);
    assert_int_equal(p.state.walk[0].object, UINT32_MAX);
    assert_int_equal(p.state.walk[0].counts, 0);
    /* A table has the object's lines and one more, each class of the two its copies. */
    assert_int_equal(bytes - p.layout.bytes, (4096 + 128 + 255) / 256 * 256);
    end(&p);
}

static void traces_have_the_rows_that_were_asked_for(void **state)
{
    (void)state;
    static const uint64_t traced[] = {3, 99};
    prepared p;
    begin(&p, "trace");
    p.setup.traced = traced;
    p.setup.ntraced = 2;
    p.setup.rows = p.k->tail_rows;
    fill(&p);
    assert_int_equal(p.state.limit, 0);
    p.setup.rows = p.k->tail_rows - 1; /* a region has the tail at least */
    fill(&p);
    assert_int_equal(p.state.rows, p.k->tail_rows);
    assert_int_equal(p.state.limit, 0);
    p.setup.rows = p.k->tail_rows + 7;
    fill(&p);
    assert_int_equal(p.state.rows, p.k->tail_rows + 7);
    assert_int_equal(p.state.limit, 7);
    assert_int_equal(p.state.room, 7);
    assert_int_equal(p.layout.nregions, 2);
    assert_int_equal(p.layout.bytes - p.layout.pool_at, 2 * p.state.rows * REWRITE_ROW);
    p.setup.threads[0] = 33; /* two warps */
    fill(&p);
    assert_int_equal(p.layout.nregions, 4);
    assert_int_equal(p.state.block[1], 99);
    assert_int_equal(p.state.block[2], UINT64_MAX);
    end(&p);
}

/* The kernel compares 32 bits of a block's number. */
static void very_large_grids_are_not_traced(void **state)
{
    (void)state;
    static const uint64_t traced[] = {3};
    prepared p;
    begin(&p, "trace");
    p.setup.traced = traced;
    p.setup.ntraced = 1;
    p.setup.blocks = UINT32_MAX;
    fill(&p);
    assert_int_equal(p.state.block[0], 3);
    p.setup.blocks = UINT64_C(1) << 32;
    fill(&p);
    assert_int_equal(p.state.block[0], UINT64_MAX);
    end(&p);
}

static void the_parameter_has_what_the_state_says(void **state)
{
    (void)state;
    static const uint64_t traced[] = {0, 33, 70};
    prepared p;
    rewrite_param param;
    begin(&p, "all");
    p.setup.traced = traced;
    p.setup.ntraced = 3;
    p.setup.rows = 100;
    p.setup.shared_bytes = 1024;
    fill(&p);
    rewrite_param_init(STATE, &p.state, 40, &param); /* columns 0, 33, 30 */
    assert_int_equal(param.columns, 1u | 1u << 1 | 1u << 30);
    assert_int_equal(param.state, STATE);
    assert_int_equal(param.pool, STATE + p.layout.pool_at);
    assert_int_equal(param.rows, 100);
    assert_int_equal(param.warps, 1);
    assert_int_equal(param.block[2], 70);
    assert_int_equal(param.block[3], UINT32_MAX);
    assert_int_equal(param.shared, p.state.shared);
    assert_int_equal(param.shared_bytes, 1024);
    assert_int_equal(param.shared_mask, p.layout.shared_copies - 1);
    assert_int_equal(param.place_bytes, p.layout.place_bytes);
    assert_memory_equal(param.slot, p.state.slot, sizeof param.slot);
    rewrite_param_init(0, NULL, 0, &param);
    assert_int_equal(param.state, 0);
    assert_int_equal(param.columns, 0);
    assert_int_equal(param.block[0], UINT32_MAX);
    end(&p);
}

static uint32_t rows_used(int32_t limit, int32_t room, uint32_t rows)
{
    rewrite_state s = {.limit = limit, .room = room, .rows = rows};
    return rewrite_rows_used(&s);
}

static void rows_that_were_used_are_counted(void **state)
{
    (void)state;
    assert_int_equal(rows_used(10, 10, 15), 1); /* the end alone */
    assert_int_equal(rows_used(10, 9, 15), 2);
    assert_int_equal(rows_used(10, 0, 15), 11);
    assert_int_equal(rows_used(10, -1, 15), 11);
    assert_int_equal(rows_used(10, 0, 11), 11);
    assert_int_equal(rows_used(10, 0, 10), 10); /* no more than there are */
    assert_int_equal(rows_used(10, 12, 15), 0); /* damaged */
}

static void unpack(const void *packed, uint64_t length, uint64_t from, const char *want)
{
    char out[8] = {0};
    rewrite_unpack(packed, length, from, out, sizeof out);
    assert_memory_equal(out, want, sizeof out);
}

/* A part of a state that ends where a run begins, or begins where one ends; runs that the bytes do
 * not suffice for. */
static void parts_of_states_are_unpacked(void **state)
{
    (void)state;
    rewrite_run runs[] = {{8, 4}, {20, 4}};
    char packed[64];
    uint64_t head = rewrite_pack_head(runs, 2, 32, packed), length = head + 8;
    memcpy(packed + head, "abcdefgh", 8);
    unpack(packed, length, 0, "\0\0\0\0\0\0\0\0");
    unpack(packed, length, 1, "\0\0\0\0\0\0\0a");
    unpack(packed, length, 8, "abcd\0\0\0\0");
    unpack(packed, length, 11, "d\0\0\0\0\0\0\0");
    unpack(packed, length, 12, "\0\0\0\0\0\0\0\0");
    unpack(packed, length, 13, "\0\0\0\0\0\0\0e");
    unpack(packed, length, 23, "h\0\0\0\0\0\0\0");
    unpack(packed, length - 1, 20, "\0\0\0\0\0\0\0\0"); /* the last is cut off */
    unpack(packed, head - 1, 8, "\0\0\0\0\0\0\0\0");    /* so are the runs */
    unpack(packed, 15, 8, "\0\0\0\0\0\0\0\0");
    assert_int_equal(rewrite_packed_size(packed, 15), 0);
    assert_int_equal(rewrite_packed_size(packed, 16), 32);
    runs[1] = (rewrite_run){UINT64_MAX - 3, 4}; /* beyond all addresses */
    rewrite_pack_head(runs, 2, 32, packed);
    unpack(packed, length, 8, "abcd\0\0\0\0");
}

/* Of three runs the first and the last become narrow, and every part reads as before. */
static void small_numbers_are_narrow(void **state)
{
    (void)state;
    static const uint32_t numbers[] = {1, 0, 255, 7, 256, 1, 9, 0};
    const rewrite_run runs[] = {{8, 12}, {24, 8}, {40, 12}};
    char packed[256] = {0}, before[64], after[64];
    uint64_t head = rewrite_pack_head(runs, 3, 64, packed), length = head + sizeof numbers;
    char wide[256];
    memcpy(packed + head, numbers, sizeof numbers);
    memcpy(wide, packed, sizeof wide);
    uint64_t narrow = rewrite_narrow(packed, length);
    assert_int_equal(narrow, head + 3 + 8 + 3);
    assert_true(rewrite_is_packed(packed, narrow));
    assert_false(rewrite_is_packed(packed, narrow - 1));
    assert_int_equal(rewrite_narrow(packed, narrow), narrow);
    rewrite_run read[3];
    assert_int_equal(rewrite_packed_runs(packed, narrow, read), 3);
    assert_memory_equal(read, runs, sizeof read);
    for (uint64_t from = 0; from < 64; from++)
        for (uint64_t size = 0; size < 64 - from; size++) {
            memset(before, 0, sizeof before);
            memset(after, 0, sizeof after);
            rewrite_unpack(wide, length, from, before, size);
            rewrite_unpack(packed, narrow, from, after, size);
            assert_memory_equal(before, after, sizeof before);
        }
}

/* Into runs, and nowhere else. */
static void parts_of_states_are_put_back(void **state)
{
    (void)state;
    const rewrite_run runs[] = {{8, 4}, {20, 4}};
    char packed[64] = {0};
    uint64_t head = rewrite_pack_head(runs, 2, 32, packed), length = head + 8;
    memcpy(packed + head, "abcdefgh", 8);
    rewrite_repack(packed, length, 10, "0123456789ABCDEF", 12);
    assert_memory_equal(packed + head, "ab01ABgh", 8);
    rewrite_repack(packed, length - 1, 20, "wxyz", 4); /* the last run is cut off */
    assert_memory_equal(packed + head, "ab01ABgh", 9);
}

/* Filled for one address and moved, a state is what is filled for the other; so it is in runs. */
static void states_are_moved(void **state)
{
    (void)state;
    static const uint64_t places[] = {0x7f0000000100, 0x7f0012340000};
    enum { ROOM = 64 * 1024 };
    static char packed[2][ROOM];
    for (uint32_t probes = 0; probes < 2; probes++) {
        prepared p;
        const rewrite_object objects[] = {{BASE, 4096}, {BASE + 8192, 512}};
        begin(&p, probes ? "touch" : "frequency,shared");
        p.setup.nobjects = 2;
        p.setup.objects = objects;
        rewrite_lay_out(p.k, &p.setup, &p.layout);
        uint64_t bytes = p.layout.tables_at;
        assert_true(bytes > sizeof(rewrite_state) && bytes < ROOM - 256 && p.layout.nranges > 1);
        /* The runs meet within a range. */
        uint64_t half = p.layout.ranges_at + sizeof(rewrite_range) / 2;
        const rewrite_run runs[] = {{0, half}, {half, bytes - half}};
        uint64_t head = 0;
        for (int i = 0; i < 2; i++) {
            char *filled = calloc(1, bytes);
            rewrite_fill(p.k, &p.setup, &p.layout, places[i], (rewrite_state *)filled,
                         (rewrite_range *)(filled + p.layout.ranges_at));
            head = rewrite_pack_head(runs, 2, p.layout.pool_at, packed[i]);
            memcpy(packed[i] + head, filled, bytes);
            free(filled);
        }
        assert_memory_not_equal(packed[0], packed[1], head + bytes);
        rewrite_move(&p.layout, places[0], places[1], packed[0], head + bytes);
        assert_memory_equal(packed[0], packed[1], head + bytes);
        end(&p);
    }
}

/* What is counted in shared memory has a table there, and what is read follows from the thread. */
static void no_log_without_scattered_accesses(void **state)
{
    (void)state;
    prepared p;
    begin(&p, "frequency,shared");
    p.setup.log_bytes = 1 << 20;
    fill(&p);
    assert_false(p.k->logs);
    assert_int_equal(p.layout.log_rows, 0);
    end(&p);
}

static const char gather[] = ".version 8.3\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u64 in)\n{\n.reg .b32 %r<3>;\n"
                             ".reg .b64 %d<4>;\nld.param.u64 %d1, [in];\n"
                             "ld.global.u32 %r1, [%d1];\nmad.wide.u32 %d2, %r1, 4, %d1;\n"
                             "mov.u32 %r2, %tid.x;\nmad.wide.u32 %d2, %r2, 8, %d2;\n"
                             "ld.global.u32 %r2, [%d2];\n"
                             "mad.wide.u32 %d3, %r2, 4, %d1;\nld.global.u32 %r1, [%d3];\nret;\n}\n";

/* 100 blocks of 40 threads: 200 warps. A row takes 128 bytes a warp, ends take 32 bytes. */
static void log_has_rows_for_each_warp(void **state)
{
    (void)state;
    wl_error err = {0};
    rewrite_result result;
    ir_module *module;
    wl_arena *arena = wl_arena_new();
    rewrite_options options = {.probes = 1u << REWRITE_FREQUENCY};
    rewrite_object object = {BASE, 4096};
    rewrite_layout without, l;
    rewrite_param param = {0};
    assert_int_equal(ptx_parse(gather, strlen(gather), "k", &module, &err), WL_OK);
    assert_int_equal(rewrite_module(module, &options, arena, &result, &err), WL_OK);
    const rewrite_kernel *k = &result.kernels[0];
    rewrite_setup setup = {.blocks = 100, .threads = {40, 1, 1}, .nobjects = 1, .objects = &object};
    assert_true(k->logs);
    assert_int_equal(k->log_rows, 2); /* two loads, in no loop */
    rewrite_lay_out(k, &setup, &without);
    assert_int_equal(without.log_rows, 0);
    setup.log_bytes = 200 * (128 + 32) + 512; /* of one row */
    rewrite_lay_out(k, &setup, &l);
    assert_int_equal(l.log_rows, 1);
    assert_int_equal(l.log_regions, 200);
    assert_int_equal(l.end_bytes, 1);
    assert_true(l.ends_at >= without.bytes && l.log_at >= l.ends_at + 200 * 32);
    assert_int_equal(l.bytes, l.log_at + 200 * 128);
    assert_true(l.bytes <= without.bytes + setup.log_bytes);
    setup.log_bytes = 1 << 20; /* more than two rows */
    rewrite_lay_out(k, &setup, &l);
    assert_int_equal(l.log_rows, 2);
    rewrite_param_log(STATE, &l, &param);
    assert_int_equal(param.log, STATE + l.log_at);
    assert_int_equal(param.ends, STATE + l.ends_at);
    assert_int_equal(param.log_row, 200 * 128);
    assert_int_equal(param.log_bytes, 2 * 200 * 128);
    for (uint32_t rows = 0; rows <= 2; rows++)
        assert_int_equal((rows * param.log_row >> param.log_shift) * param.log_inverse, rows);
    setup.threads[0] = 1024; /* a row takes 1 GiB, then 2: 32 bits have to tell one more */
    setup.log_bytes = UINT64_C(1) << 40;
    setup.blocks = 1 << 18;
    rewrite_lay_out(k, &setup, &l);
    assert_int_equal(l.log_rows, 2);
    setup.blocks = 1 << 19;
    rewrite_lay_out(k, &setup, &l);
    assert_int_equal(l.log_rows, 0);
    setup.blocks = UINT32_MAX; /* nor do they tell its lanes */
    rewrite_lay_out(k, &setup, &l);
    assert_int_equal(l.log_rows, 0);
    free(result.text);
    ir_module_free(module);
    wl_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_log_without_scattered_accesses),
        cmocka_unit_test(log_has_rows_for_each_warp),
        cmocka_unit_test(pointers_lead_to_the_object_that_holds_them),
        cmocka_unit_test(objects_beside_each_other_are_told_apart),
        cmocka_unit_test(objects_that_were_left_out_are_known),
        cmocka_unit_test(tables_are_where_they_are_needed),
        cmocka_unit_test(small_objects_have_copies_of_counters),
        cmocka_unit_test(tables_follow_each_other),
        cmocka_unit_test(walks_have_tables_unless_there_is_no_memory),
        cmocka_unit_test(traces_have_the_rows_that_were_asked_for),
        cmocka_unit_test(very_large_grids_are_not_traced),
        cmocka_unit_test(the_parameter_has_what_the_state_says),
        cmocka_unit_test(rows_that_were_used_are_counted),
        cmocka_unit_test(parts_of_states_are_unpacked),
        cmocka_unit_test(small_numbers_are_narrow),
        cmocka_unit_test(parts_of_states_are_put_back),
        cmocka_unit_test(states_are_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
