/* The kernels of table I of the heat map's paper, and their mended versions, as lists of
 * accesses. */
#include "sim.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

#include <string.h>

#define P(id) (1u << ANA_##id)

typedef struct args { /* of an access: what a kernel's index needs */
    uint32_t n, k;
    const uint32_t *table, *offsets;
} args;

static void print_all(const sim *s, const ana_findings *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const ana_finding *f = &all->rows[i];
        print_message("%s on %s: excess %llu, %.4f of the kernel; %s %s\n",
                      ana_pattern_get(f->pattern)->name, sim_object_of(s, f),
                      (unsigned long long)f->cost.excess, f->cost.share_of_kernel, f->summary,
                      f->advice);
    }
}

static void expect(const sim *s, const ana_findings *all, const char *object, uint32_t patterns)
{
    uint32_t got = sim_patterns(s, all, object);
    if (got != patterns) {
        print_all(s, all);
        fail_msg("%s: patterns %x, not %x", object, got, patterns);
    }
}

/* ---- GEMM: C = A B, n x n, a block of 32 x 32 ---- */

static uint32_t row_v00(const sim_thread *t)
{
    return t->block[0] * 32 + t->thread[0];
}

static uint32_t col_v00(const sim_thread *t)
{
    return t->block[1] * 32 + t->thread[1];
}

static int64_t a_v00(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (row_v00(t) * a->n + a->k) * 4;
}

static int64_t b_v00(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (a->k * a->n + col_v00(t)) * 4;
}

static int64_t c_v00(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (row_v00(t) * a->n + col_v00(t)) * 4;
}

static int64_t a_v01(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (col_v00(t) * a->n + a->k) * 4;
}

static int64_t b_v01(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (a->k * a->n + row_v00(t)) * 4;
}

static int64_t c_v01(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (col_v00(t) * a->n + row_v00(t)) * 4;
}

static void gemm(sim *s, uint32_t n, sim_offset *a, sim_offset *b, sim_offset *c)
{
    sim_begin(s, n / 32, n / 32, 32, 32);
    uint32_t A = sim_alloc(s, "A", n * n * 4, 0), B = sim_alloc(s, "B", n * n * 4, 0),
             C = sim_alloc(s, "C", n * n * 4, 0);
    for (uint32_t k = 0; k < n; k++) {
        args p = {.n = n, .k = k};
        sim_access(s, 10, ACC_LOAD, A, 4, a, &p);
        sim_access(s, 11, ACC_LOAD, B, 4, b, &p);
    }
    args p = {.n = n};
    sim_access(s, 20, ACC_STORE, C, 4, c, &p);
}

static void gemm_v00(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    gemm(&s, 64, a_v00, b_v00, c_v00);
    sim_find(&s, 1, &all);
    expect(&s, &all, "A", P(HOT));
    expect(&s, &all, "B", P(FALSE_SHARING));
    expect(&s, &all, "C", P(FALSE_SHARING));
    /* Per block: a sector of A is loaded by 32 warps in 8 steps of k, once would do; one of B by 8
     * warps; one of C, too. */
    assert_int_equal(sim_finding(&s, &all, "A", ANA_HOT)->cost.excess,
                     4 * (32 * 64 / 8) * (32 * 8 - 1));
    assert_int_equal(sim_finding(&s, &all, "B", ANA_FALSE_SHARING)->cost.excess,
                     4 * (64 * 32 / 8) * (8 - 1));
    assert_int_equal(sim_finding(&s, &all, "C", ANA_FALSE_SHARING)->cost.excess,
                     4 * (32 * 32 / 8) * (8 - 1));
    assert_int_equal(all.rows[0].pattern, ANA_HOT); /* dearest first */
    assert_int_equal(sim_finding(&s, &all, "B", ANA_FALSE_SHARING)->lines[0].pc, 11);
    sim_end(&s);
}

static void gemm_v01(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    gemm(&s, 64, a_v01, b_v01, c_v01);
    sim_find(&s, 3, &all);
    expect(&s, &all, "A", 0);
    expect(&s, &all, "B", P(HOT));
    expect(&s, &all, "C", 0);
    const ana_finding *hot = sim_finding(&s, &all, "B", ANA_HOT);
    assert_int_equal(hot->cost.excess, 3 * 4 * (64 * 4) * 31);
    assert_int_equal(hot->access->launches, 3);
    sim_end(&s);
}

/* Tiles of 32 x 32 staged in shared memory: everything moves once. */
static int64_t tile_a(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (col_v00(t) * a->n + a->k * 32 + t->thread[0]) * 4;
}

static int64_t tile_b(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((a->k * 32 + t->thread[1]) * a->n + row_v00(t)) * 4;
}

static int64_t tile_write(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->thread[1] * 32 + t->thread[0]) * 4;
}

static int64_t tile_row(const sim_thread *t, const void *p)
{
    return (t->thread[1] * 32 + ((const args *)p)->k) * 4;
}

static int64_t tile_column(const sim_thread *t, const void *p)
{
    return (((const args *)p)->k * 32 + t->thread[0]) * 4;
}

static void gemm_tiled(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 2, 2, 32, 32);
    uint32_t A = sim_alloc(&s, "A", 64 * 64 * 4, 0), B = sim_alloc(&s, "B", 64 * 64 * 4, 0);
    uint32_t C = sim_alloc(&s, "C", 64 * 64 * 4, 0);
    uint32_t As = sim_shared(&s, "As", 4096), Bs = sim_shared(&s, "Bs", 4096);
    for (uint32_t k = 0; k < 2; k++) {
        args p = {.n = 64, .k = k};
        sim_access(&s, 1, ACC_LOAD, A, 4, tile_a, &p);
        sim_access(&s, 2, ACC_STORE, As, 4, tile_write, &p);
        sim_access(&s, 3, ACC_LOAD, B, 4, tile_b, &p);
        sim_access(&s, 4, ACC_STORE, Bs, 4, tile_write, &p);
        for (uint32_t i = 0; i < 32; i++) {
            args q = {.k = i};
            sim_access(&s, 5, ACC_LOAD, As, 4, tile_row, &q);
            sim_access(&s, 6, ACC_LOAD, Bs, 4, tile_column, &q);
        }
    }
    args p = {.n = 64};
    sim_access(&s, 7, ACC_STORE, C, 4, c_v01, &p);
    sim_find(&s, 1, &all);
    /* A warp reads the row of As that it wrote itself. */
    expect(&s, &all, "As", P(SHARED_WARP_LOCAL));
    const ana_finding *row = sim_finding(&s, &all, "As", ANA_SHARED_WARP_LOCAL);
    assert_int_equal(row->gain, ANA_GAIN_SHUFFLES); /* 32 loads to a store */
    assert_ptr_equal(row, &all.rows[all.count - 1]);
    assert_int_equal(all.count, 1);
    sim_end(&s);
}

/* ---- CSR SpMV, a thread a row ---- */

enum { ROWS = 1024, NNZ = 16 };

static int64_t csr_row(const sim_thread *t, const void *p)
{
    return (t->block[0] * 256 + t->index + ((const args *)p)->k) * 4;
}

static int64_t csr_entry(const sim_thread *t, const void *p)
{
    return ((t->block[0] * 256 + t->index) * NNZ + ((const args *)p)->k) * 4;
}

static int64_t csr_x(const sim_thread *t, const void *p)
{
    const args *a = p;
    return a->table[csr_entry(t, p) / 4] * 4;
}

static void spmv(void **state)
{
    (void)state;
    static uint32_t columns[ROWS * NNZ];
    sim s;
    ana_findings all;
    srand(7);
    for (uint32_t i = 0; i < ROWS * NNZ; i++)
        columns[i] = (uint32_t)rand() % ROWS;
    sim_begin(&s, ROWS / 256, 1, 256, 1);
    uint32_t offsets = sim_alloc(&s, "rowOffsets", (ROWS + 1) * 4, 0),
             cols = sim_alloc(&s, "cols", sizeof columns, 0);
    uint32_t values = sim_alloc(&s, "values", sizeof columns, 0),
             x = sim_alloc(&s, "x", ROWS * 4, 0);
    uint32_t y = sim_alloc(&s, "y", ROWS * 4, 0);
    sim_access(&s, 1, ACC_LOAD, offsets, 4, csr_row, &(args){.k = 0});
    sim_access(&s, 2, ACC_LOAD, offsets, 4, csr_row, &(args){.k = 1});
    for (uint32_t k = 0; k < NNZ; k++) {
        args p = {.k = k, .table = columns};
        sim_access(&s, 3, ACC_LOAD, cols, 4, csr_entry, &p);
        sim_access(&s, 4, ACC_LOAD, values, 4, csr_entry, &p);
        sim_access(&s, 5, ACC_LOAD, x, 4, csr_x, &p);
    }
    sim_access(&s, 6, ACC_STORE, y, 4, csr_row, &(args){.k = 0});
    sim_find(&s, 1, &all);
    expect(&s, &all, "rowOffsets", P(MISALIGNED));
    expect(&s, &all, "x", P(HOT_RANDOM));
    expect(&s, &all, "cols", P(UNCOALESCED));
    expect(&s, &all, "values", P(UNCOALESCED));
    expect(&s, &all, "y", 0);
    const ana_finding *f = sim_finding(&s, &all, "rowOffsets", ANA_MISALIGNED);
    assert_int_equal(f->cost.excess, ROWS / 32);
    assert_int_equal(f->nlines, 1);
    assert_int_equal(f->lines[0].pc, 2);
    sim_end(&s);
}

/* ---- TTM: results of single threads in shared memory; a broadcast inside warps ---- */

static int64_t own_word(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index * 4;
}

static int64_t own_element(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->block[0] * 128 + t->index) * 4;
}

static void ttm(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 8, 1, 128, 1);
    uint32_t Y = sim_alloc(&s, "Y", 8 * 128 * 4, 0), shared = sim_shared(&s, "Y_shr", 512);
    for (uint32_t k = 0; k < 8; k++) {
        sim_access(&s, 1, ACC_LOAD, shared, 4, own_word, NULL);
        sim_access(&s, 2, ACC_STORE, shared, 4, own_word, NULL);
    }
    sim_access(&s, 3, ACC_STORE, Y, 4, own_element, NULL);
    sim_find(&s, 1, &all);
    expect(&s, &all, "Y_shr", P(SHARED_THREAD_LOCAL));
    expect(&s, &all, "Y", 0);
    assert_int_equal(sim_finding(&s, &all, "Y_shr", ANA_SHARED_THREAD_LOCAL)->cost.excess,
                     8 * 4 * 16);
    sim_end(&s);
}

static int64_t first_lane(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 32 == 0 ? (int64_t)t->index / 32 * 4 : -1;
}

static int64_t of_warp(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index / 32 * 4;
}

static void warp_broadcast(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 8, 1, 256, 1);
    uint32_t sum = sim_shared(&s, "exel_sum", 32);
    sim_access(&s, 1, ACC_STORE, sum, 4, first_lane, NULL);
    sim_access(&s, 2, ACC_LOAD, sum, 4, of_warp, NULL);
    sim_find(&s, 1, &all);
    expect(&s, &all, "exel_sum", P(SHARED_WARP_LOCAL));
    sim_end(&s);
}

/* A tree reduction shares through the array: nothing to say. */
static int64_t upper_half(const sim_thread *t, const void *p)
{
    uint32_t k = ((const args *)p)->k;
    return t->index < k ? (int64_t)(t->index + k) * 4 : -1;
}

static int64_t lower_half(const sim_thread *t, const void *p)
{
    return t->index < ((const args *)p)->k ? (int64_t)t->index * 4 : -1;
}

static int64_t block_input(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->block[0] * 256 + t->index) * 4;
}

static int64_t block_result(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index == 0 ? (int64_t)t->block[0] * 4 : -1;
}

static void reduction(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 64, 1, 256, 1);
    uint32_t in = sim_alloc(&s, "in", 64 * 256 * 4, 0), out = sim_alloc(&s, "out", 64 * 4, 0);
    uint32_t shared = sim_shared(&s, "partial", 1024);
    sim_access(&s, 1, ACC_LOAD, in, 4, block_input, NULL);
    sim_access(&s, 2, ACC_STORE, shared, 4, own_word, NULL);
    for (uint32_t k = 128; k > 0; k /= 2) {
        args p = {.k = k};
        sim_access(&s, 3, ACC_LOAD, shared, 4, upper_half, &p);
        sim_access(&s, 4, ACC_LOAD, shared, 4, lower_half, &p);
        sim_access(&s, 5, ACC_STORE, shared, 4, lower_half, &p);
    }
    sim_access(&s, 6, ACC_STORE, out, 4, block_result, NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 0);
    sim_end(&s);
}

/* ---- Gram-Schmidt, n x n, a thread a row (kernel 2) or a column (kernel 3), column k ---- */

enum { NI = 256 };

static int64_t gs_own_row(const sim_thread *t, const void *p)
{
    return ((t->block[0] * 256 + t->index) * NI + ((const args *)p)->k) * 4;
}

static int64_t gs_diagonal(const sim_thread *t, const void *p)
{
    (void)t;
    return (((const args *)p)->k * NI + ((const args *)p)->k) * 4;
}

static void gramschmidt_kernel2(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 256, 1);
    uint32_t a = sim_alloc(&s, "a", NI * NI * 4, 0), r = sim_alloc(&s, "r", NI * NI * 4, 0);
    uint32_t q = sim_alloc(&s, "q", NI * NI * 4, 0);
    args p = {.k = 3};
    sim_access(&s, 1, ACC_LOAD, a, 4, gs_own_row, &p);
    sim_access(&s, 2, ACC_LOAD, r, 4, gs_diagonal, &p);
    sim_access(&s, 3, ACC_STORE, q, 4, gs_own_row, &p);
    sim_find(&s, 4, &all);
    expect(&s, &all, "a", P(STRIDED));
    expect(&s, &all, "q", P(STRIDED));
    expect(&s, &all, "r", P(HOT));
    assert_int_equal(sim_finding(&s, &all, "q", ANA_STRIDED)->cost.excess, 4 * 256 * 7 / 8);
    assert_int_equal(sim_finding(&s, &all, "r", ANA_HOT)->cost.excess, 4 * 7);
    sim_end(&s);
}

typedef struct gs_args {
    uint32_t i, k;
} gs_args;

static int64_t gs_q(const sim_thread *t, const void *p)
{
    const gs_args *a = p;
    (void)t;
    return (a->i * NI + a->k) * 4;
}

static int64_t gs_a(const sim_thread *t, const void *p)
{
    return (((const gs_args *)p)->i * NI + t->index) * 4;
}

static int64_t gs_r(const sim_thread *t, const void *p)
{
    return (((const gs_args *)p)->k * NI + t->index) * 4;
}

static void gramschmidt_kernel3(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 1, 1, 256, 1);
    uint32_t a = sim_alloc(&s, "a", NI * NI * 4, 0), r = sim_alloc(&s, "r", NI * NI * 4, 0);
    uint32_t q = sim_alloc(&s, "q", NI * NI * 4, 0);
    for (uint32_t i = 0; i < NI; i++) {
        gs_args p = {i, 3};
        sim_access(&s, 1, ACC_LOAD, q, 4, gs_q, &p);
        sim_access(&s, 2, ACC_LOAD, a, 4, gs_a, &p);
        sim_access(&s, 3, ACC_LOAD, r, 4, gs_r, &p);
        sim_access(&s, 4, ACC_STORE, r, 4, gs_r, &p);
    }
    sim_find(&s, 1, &all);
    expect(&s, &all, "q", P(STRIDED) | P(HOT));
    expect(&s, &all, "a", 0);
    expect(&s, &all, "r", 0);
    /* Of each sector's 8 transfers 7 are shared away; of the one that is left 7 words of 8 are not
     * used. */
    assert_int_equal(sim_finding(&s, &all, "q", ANA_HOT)->cost.excess, NI * 7);
    assert_int_equal(sim_finding(&s, &all, "q", ANA_STRIDED)->cost.excess, NI * 7 / 8);
    sim_end(&s);
}

/* ---- cell lists: atoms on a lattice count themselves into cells ---- */

/* Lanes walk along z, where cells are nx * ny apart; warps along x and y. */
static int64_t cell_of(const sim_thread *t, const void *p)
{
    const args *a = p;
    uint32_t atom = t->block[0] * 256 + t->index, z = atom % 32 / 2, column = atom / 32;
    return (z * a->n + column * 2) * 4;
}

static void cell_list(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t count = sim_alloc(&s, "cell_count", 16 * 1024 * 4, 0),
             pos = sim_alloc(&s, "position", 1024 * 4, 0);
    sim_access(&s, 1, ACC_LOAD, pos, 4, block_input, NULL);
    sim_access(&s, 2, ACC_ATOMIC, count, 4, cell_of, &(args){.n = 1024});
    sim_find(&s, 1, &all);
    expect(&s, &all, "cell_count", P(STRIDED) | P(FALSE_SHARING));
    expect(&s, &all, "position", 0);
    sim_end(&s);
}

/* ---- small ones ---- */

static int64_t scaled(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((int64_t)(t->block[0] * 256 + t->index) * a->n + a->k) * 4;
}

static uint32_t vector_add(uint32_t stride, uint32_t skew, uint64_t *excess)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t x = sim_alloc(&s, "x", 16 * 256 * 4 * stride, skew),
             y = sim_alloc(&s, "y", 16 * 256 * 4, 0);
    sim_access(&s, 1, ACC_LOAD, x, 4, scaled, &(args){.n = stride});
    sim_access(&s, 2, ACC_STORE, y, 4, scaled, &(args){.n = 1});
    sim_find(&s, 1, &all);
    expect(&s, &all, "y", 0);
    uint32_t found = sim_patterns(&s, &all, "x");
    *excess = all.count ? all.rows[0].cost.excess : 0;
    sim_end(&s);
    return found;
}

static void strides(void **state)
{
    (void)state;
    uint64_t excess;
    assert_int_equal(vector_add(1, 0, &excess), 0);
    assert_int_equal(vector_add(1, 4, &excess), P(MISALIGNED));
    assert_int_equal(excess, 128);
    assert_int_equal(vector_add(2, 0, &excess), P(STRIDED));
    assert_int_equal(excess, 128 * 4);
    assert_int_equal(vector_add(8, 0, &excess), P(STRIDED));
    assert_int_equal(excess, 128 * 28);
    assert_int_equal(vector_add(33, 0, &excess), P(STRIDED));
    assert_int_equal(excess, 128 * 28);
}

/* Structures of eight floats, all fields used, one an instruction. */
static void array_of_structures(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t x = sim_alloc(&s, "x", 4 * 256 * 32, 0);
    for (uint32_t k = 0; k < 8; k++)
        sim_access(&s, k, ACC_LOAD, x, 4, scaled, &(args){.n = 8, .k = k});
    sim_find(&s, 1, &all);
    expect(&s, &all, "x", P(UNCOALESCED));
    assert_int_equal(all.rows[0].cost.excess, 32 * 8 * 28);
    assert_int_equal(all.rows[0].nlines, 8);
    sim_end(&s);
}

/* Each thread has a list of eight floats; only every n-th lane reads from its own. */
static int64_t seldom(const sim_thread *t, const void *p)
{
    const args *a = p;
    uint32_t thread = t->block[0] * 256 + t->thread[0];
    return thread % a->n == 0 ? (int64_t)thread * 32 + a->k * 4 : -1;
}

static uint32_t lists(uint32_t every, uint64_t *excess)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t x = sim_alloc(&s, "x", 4 * 256 * 32, 0);
    for (uint32_t k = 0; k < 8; k++)
        sim_access(&s, k, ACC_LOAD, x, 4, seldom, &(args){.n = every, .k = k});
    sim_find(&s, 1, &all);
    uint32_t found = sim_patterns(&s, &all, "x");
    *excess = all.count ? all.rows[0].cost.excess : 0;
    sim_end(&s);
    return found;
}

/* Of a warp's request n lanes need n sectors, where n * 4 bytes would fill one; beyond two too many
 * it is the layout's fault. */
static void few_lanes(void **state)
{
    (void)state;
    uint64_t excess;
    assert_int_equal(lists(32, &excess), 0);
    assert_int_equal(lists(16, &excess), P(DIVERGENT));
    assert_int_equal(excess, 32 * 8 * 1);
    assert_int_equal(lists(8, &excess), P(UNCOALESCED));
    assert_int_equal(excess, 32 * 8 * 3);
}

/* Transpose of a 32 x 32 tile by 32 x 8 threads: the naive store, and the column of an unpadded
 * tile. */
static int64_t store_naive(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((t->block[0] * 32 + t->thread[0]) * a->n + t->block[1] * 32 + t->thread[1] + a->k) * 4;
}

static int64_t load_naive(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((t->block[1] * 32 + t->thread[1] + a->k) * a->n + t->block[0] * 32 + t->thread[0]) * 4;
}

static void transpose_naive(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 4, 32, 8);
    uint32_t in = sim_alloc(&s, "in", 128 * 128 * 4, 0),
             out = sim_alloc(&s, "out", 128 * 128 * 4, 0);
    for (uint32_t j = 0; j < 32; j += 8) {
        args p = {.n = 128, .k = j};
        sim_access(&s, 1, ACC_LOAD, in, 4, load_naive, &p);
        sim_access(&s, 2, ACC_STORE, out, 4, store_naive, &p);
    }
    sim_find(&s, 1, &all);
    expect(&s, &all, "in", 0);
    expect(&s, &all, "out", P(FALSE_SHARING));
    assert_int_equal(all.rows[0].cost.excess, 128 * 128 / 8 * 7);
    sim_end(&s);
}

static int64_t tile_store(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((t->thread[1] + a->k) * a->n + t->thread[0]) * 4;
}

static int64_t tile_load(const sim_thread *t, const void *p)
{
    const args *a = p;
    return (t->thread[0] * a->n + t->thread[1] + a->k) * 4;
}

static uint32_t transpose_shared(uint32_t pitch, uint64_t *excess)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 4, 32, 8);
    uint32_t tile = sim_shared(&s, "tile", 32 * 33 * 4);
    for (uint32_t j = 0; j < 32; j += 8) {
        args p = {.n = pitch, .k = j};
        sim_access(&s, 1, ACC_STORE, tile, 4, tile_store, &p);
        sim_access(&s, 2, ACC_LOAD, tile, 4, tile_load, &p);
    }
    sim_find(&s, 1, &all);
    uint32_t found = sim_patterns(&s, &all, "tile");
    *excess = all.count ? all.rows[0].cost.excess : 0;
    sim_end(&s);
    return found;
}

static void bank_conflicts(void **state)
{
    (void)state;
    uint64_t excess;
    assert_int_equal(transpose_shared(32, &excess), P(BANK_CONFLICT));
    assert_int_equal(excess, 16 * 8 * 4 * 31);
    assert_int_equal(transpose_shared(33, &excess), 0);
}

/* A factor a row, read once by the warp of the row, beside a long row: true, but too little to
 * tell. */
static int64_t of_row(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->block[0] * 8 + t->thread[1]) * 4;
}

static int64_t in_row(const sim_thread *t, const void *p)
{
    const args *a = p;
    return ((t->block[0] * 8 + t->thread[1]) * a->n + a->k + t->thread[0]) * 4;
}

static void tiny_effects(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 32, 8);
    uint32_t image = sim_alloc(&s, "image", 32 * 1024 * 4, 0),
             factor = sim_alloc(&s, "factor", 32 * 4, 0);
    sim_access(&s, 1, ACC_LOAD, factor, 4, of_row, NULL);
    for (uint32_t k = 0; k < 1024; k += 32) {
        args p = {.n = 1024, .k = k};
        sim_access(&s, 2, ACC_LOAD, image, 4, in_row, &p);
        sim_access(&s, 3, ACC_STORE, image, 4, in_row, &p);
    }
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 0);
    sim_end(&s);
}

/* ---- what looks like a pattern and is none ---- */

/* Tiles of 16 x 16 threads whose inner 12 x 12 store: rows of 12 words, a pitch apart. */
static int64_t inner_of_tile(const sim_thread *t, const void *p)
{
    const args *a = p;
    bool inner = t->thread[0] >= 2 && t->thread[0] < 14 && t->thread[1] >= 2 && t->thread[1] < 14;
    int64_t row = t->block[1] * 12 + t->thread[1], column = t->block[0] * 12 + t->thread[0];
    return inner ? ((row - 2) * a->n + column - 2) * 4 : -1;
}

static void ends_of_rows_are_no_stride(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 4, 16, 16);
    uint32_t out = sim_alloc(&s, "out", 48 * 256 * 4, 0);
    sim_access(&s, 1, ACC_STORE, out, 4, inner_of_tile, &(args){.n = 256});
    sim_find(&s, 1, &all);
    assert_int_equal(sim_patterns(&s, &all, "out") & P(STRIDED), 0);
    sim_end(&s);
}

/* The first block has nothing to merge, so that it does not show that the others read one another's
 * words. */
static int64_t others_word(const sim_thread *t, const void *p)
{
    const args *a = p;
    return t->linear_block < a->n ? -1 : (int64_t)(255 - t->index) * 4;
}

static uint32_t merge_of(uint32_t first)
{
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t box = sim_shared(&s, "box", 1024);
    sim_access(&s, 1, ACC_STORE, box, 4, own_word, NULL);
    sim_access(&s, 2, ACC_LOAD, box, 4, own_word, NULL);
    sim_access(&s, 3, ACC_LOAD, box, 4, others_word, &(args){.n = first});
    sim_find(&s, 1, &all);
    uint32_t found = sim_patterns(&s, &all, "box");
    sim_end(&s);
    return found;
}

static void blocks_that_are_not_typical(void **state)
{
    (void)state;
    assert_int_equal(merge_of(0), 0);
    assert_int_equal(merge_of(1), 0);
    assert_int_equal(merge_of(4), P(SHARED_THREAD_LOCAL));
}

/* A buffer made again and again has one name: its findings are one, with the lines of all of them
 * added up. */
static void objects_made_again(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t first = sim_alloc(&s, "x", 4 * 256 * 32, 0),
             again = sim_alloc(&s, "x", 4 * 256 * 32, 0);
    for (uint32_t k = 0; k < 8; k++) {
        sim_access(&s, k, ACC_LOAD, first, 4, scaled, &(args){.n = 8, .k = k});
        sim_access(&s, k / 2, ACC_LOAD, again, 4, scaled, &(args){.n = 8, .k = k});
    }
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 1);
    assert_int_equal(all.rows[0].access->objects, 2);
    assert_int_equal(all.rows[0].cost.excess, 2 * 32 * 8 * 28);
    assert_int_equal(all.rows[0].nlines, 8);
    uint64_t requests = 0;
    for (uint32_t i = 0; i < 8; i++)
        requests += all.rows[0].lines[i].requests;
    assert_int_equal(requests, 2 * 32 * 8);
    sim_end(&s);
}

/* ---- the words fit the case ---- */

static const char *advice_of(const sim *s, const ana_findings *all, const char *object,
                             ana_pattern p)
{
    const ana_finding *f = sim_finding(s, all, object, p);
    assert_non_null(f);
    return f->advice;
}

static void advice_for_stencils(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 16, 1, 256, 1);
    uint32_t in = sim_alloc(&s, "in", 16 * 256 * 4 + 64, 0),
             row = sim_alloc(&s, "row", 16 * 256 * 4 + 64, 4);
    for (uint32_t k = 0; k < 3; k++)
        sim_access(&s, k, ACC_LOAD, in, 4, scaled, &(args){.n = 1, .k = k});
    sim_access(&s, 5, ACC_LOAD, row, 4, scaled, &(args){.n = 1});
    sim_find(&s, 1, &all);
    assert_non_null(strstr(advice_of(&s, &all, "in", ANA_MISALIGNED), "stencil"));
    assert_null(strstr(advice_of(&s, &all, "row", ANA_MISALIGNED), "stencil"));
    sim_end(&s);
}

static int64_t first_word(const sim_thread *t, const void *p)
{
    (void)t;
    (void)p;
    return 0;
}

static int64_t word_of_bin(const sim_thread *t, const void *p)
{
    (void)p;
    return t->index % 8 * 4;
}

static void advice_for_shared_atomics(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t sum = sim_shared(&s, "sum", 256), bins = sim_shared(&s, "bins", 256);
    sim_access(&s, 1, ACC_ATOMIC, sum, 4, first_word, NULL);
    sim_access(&s, 2, ACC_ATOMIC, bins, 4, word_of_bin, NULL);
    sim_find(&s, 1, &all);
    assert_non_null(strstr(advice_of(&s, &all, "sum", ANA_SAME_ADDRESS), "one lane"));
    assert_null(strstr(advice_of(&s, &all, "bins", ANA_BANK_CONFLICT), "one lane"));
    sim_end(&s);
}

/* Anywhere in 64 KiB. */
static int64_t anywhere(const sim_thread *t, const void *p)
{
    (void)p;
    return (int64_t)(t->index * 2654435769u >> 18) * 4;
}

static void advice_for_scattered_atomics(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t bins = sim_alloc(&s, "bins", 65536, 0), table = sim_alloc(&s, "table", 65536, 0);
    sim_access(&s, 1, ACC_ATOMIC, bins, 4, anywhere, NULL);
    sim_access(&s, 2, ACC_LOAD, table, 4, anywhere, NULL);
    sim_find(&s, 1, &all);
    assert_non_null(strstr(advice_of(&s, &all, "bins", ANA_SCATTERED_ATOMICS), "Sort the updates"));
    assert_non_null(strstr(advice_of(&s, &all, "table", ANA_UNCOALESCED), "renumber the index"));
    sim_end(&s);
}

/* A counter a thread and value, the value from the data; and a word a thread. */
static int64_t counter_of(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->index * t->index * 7 % 16 * 256 + t->index) * 4;
}

static void advice_for_private_arrays(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t counts = sim_shared(&s, "counts", 16 * 256 * 4), own = sim_shared(&s, "own", 1024);
    sim_access(&s, 1, ACC_STORE, counts, 4, counter_of, NULL);
    sim_access(&s, 2, ACC_STORE, own, 4, own_word, NULL);
    sim_find(&s, 1, &all);
    assert_non_null(strstr(advice_of(&s, &all, "counts", ANA_SHARED_THREAD_LOCAL), "index"));
    assert_null(strstr(advice_of(&s, &all, "own", ANA_SHARED_THREAD_LOCAL), "index"));
    sim_end(&s);
}

/* A look-up in a table of one sector. */
static int64_t in_small_table(const sim_thread *t, const void *p)
{
    (void)p;
    return (t->index * t->index * 11 + t->index / 5) % 8 * 4;
}

static void advice_for_small_tables(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t table = sim_alloc(&s, "table", 32, 0);
    for (uint32_t k = 0; k < 4; k++)
        sim_access(&s, 1, ACC_LOAD, table, 4, in_small_table, NULL);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 1);
    assert_non_null(strstr(all.rows[0].advice, "shared memory once"));
    sim_end(&s);
}

static void advice_for_tables_of_the_library(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    sim_begin(&s, 4, 1, 256, 1);
    uint32_t table = sim_alloc(&s, "__cudart_sin_cos_coeffs", 128, 0);
    sim_access(&s, 1, ACC_LOAD, table, 8, first_word, NULL);
    sim_find(&s, 1, &all);
    assert_non_null(strstr(advice_of(&s, &all, "__cudart_sin_cos_coeffs", ANA_HOT), "library"));
    sim_end(&s);
}

/* Several sampled blocks stand for the launch together. */
static void several_blocks(void **state)
{
    (void)state;
    sim s;
    ana_findings one, four;
    gemm(&s, 64, a_v00, b_v00, c_v00);
    sim_find(&s, 1, &one);
    s.nsampled = 4;
    for (uint32_t i = 0; i < 4; i++)
        s.sampled[i] = i;
    sim_find(&s, 1, &four);
    assert_int_equal(one.count, four.count);
    for (uint32_t i = 0; i < one.count; i++) {
        assert_int_equal(one.rows[i].pattern, four.rows[i].pattern);
        assert_int_equal(one.rows[i].cost.excess, four.rows[i].cost.excess);
    }
    sim_end(&s);
}

/* A launch without heat maps costs what one of its shape costs that has some. */
static void launches_without_maps(void **state)
{
    (void)state;
    sim s;
    ana_findings all, few;
    gemm(&s, 64, a_v00, b_v00, c_v00);
    sim_find(&s, 5, &all);
    s.mapped = 2;
    sim_find(&s, 5, &few);
    assert_true(all.count > 0);
    assert_int_equal(all.count, few.count);
    for (uint32_t i = 0; i < all.count; i++) {
        assert_int_equal(all.rows[i].pattern, few.rows[i].pattern);
        assert_int_equal(all.rows[i].cost.excess, few.rows[i].cost.excess);
    }
    sim_end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_v00),
        cmocka_unit_test(gemm_v01),
        cmocka_unit_test(gemm_tiled),
        cmocka_unit_test(spmv),
        cmocka_unit_test(ttm),
        cmocka_unit_test(warp_broadcast),
        cmocka_unit_test(reduction),
        cmocka_unit_test(gramschmidt_kernel2),
        cmocka_unit_test(gramschmidt_kernel3),
        cmocka_unit_test(cell_list),
        cmocka_unit_test(strides),
        cmocka_unit_test(array_of_structures),
        cmocka_unit_test(few_lanes),
        cmocka_unit_test(transpose_naive),
        cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(tiny_effects),
        cmocka_unit_test(several_blocks),
        cmocka_unit_test(launches_without_maps),
        cmocka_unit_test(ends_of_rows_are_no_stride),
        cmocka_unit_test(blocks_that_are_not_typical),
        cmocka_unit_test(objects_made_again),
        cmocka_unit_test(advice_for_stencils),
        cmocka_unit_test(advice_for_shared_atomics),
        cmocka_unit_test(advice_for_scattered_atomics),
        cmocka_unit_test(advice_for_private_arrays),
        cmocka_unit_test(advice_for_small_tables),
        cmocka_unit_test(advice_for_tables_of_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
