/* Transactions and passes: later rows against what src/observe counts on random requests, all rows
 * against figures worked out by hand from NVIDIA's guides. */
#include "../observe/cost_of.h"
#include "../observe/patterns.h"
#include "analysis/explore/transactions.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

enum { FULL = 32 };

/* NULL: there is no row of that id. */
static const ana_arch *arch_of_id(const char *id)
{
    uint32_t i = 0;
    while (ana_arch_at(i) && strcmp(ana_arch_at(i)->id, id) != 0)
        i++;
    return ana_arch_at(i);
}

typedef struct drawn {
    acc_request r;
    uint64_t addr[FULL];
} drawn;

/* ---- against the observer ---- */

static void show_request(const ana_arch *arch, const acc_request *r)
{
    print_message("%s: space %d op %d bytes %u flags %u mask %08x:", arch->id, r->space, r->op,
                  r->bytes, r->flags, r->mask);
    for (int i = 0; i < FULL; i++)
        print_message(" %llx", (unsigned long long)r->addr[i]);
    print_message("\n");
}

static uint32_t turns_of(const ana_served *served)
{
    uint32_t turns = 0;
    for (size_t i = 0; i < served->transactions.count; i++)
        turns += served->transactions.data[i].turns;
    return turns;
}

static void expect_costs(const ana_arch *arch, const acc_request *r, const ana_served *served)
{
    obs_cost cost = cost_of_request(r);
    if (served->transactions.count == cost.sectors && served->passes.count == cost.wavefronts &&
        served->passes_min == cost.wavefronts_min && turns_of(served) == cost.turns &&
        served->moved == (uint64_t)cost.sectors * 32)
        return;
    show_request(arch, r);
    fail_msg("%zu transactions want %u, %zu passes want %u, at least %u want %u, turns %u want %u",
             served->transactions.count, cost.sectors, served->passes.count, cost.wavefronts,
             served->passes_min, cost.wavefronts_min, turns_of(served), cost.turns);
}

/* What shows that the pieces are right, and not their number alone. */
static void expect_sound_transactions(const ana_served *served, const acc_request *r)
{
    uint32_t lanes = 0;
    uint64_t before = 0;
    for (size_t i = 0; i < served->transactions.count; i++) {
        const ana_transaction *t = &served->transactions.data[i];
        assert_int_equal(t->address % t->size, 0);
        assert_true(i == 0 || t->address > before);
        assert_true(t->used > 0 && t->used <= t->size && t->lanes);
        before = t->address;
        lanes |= t->lanes;
    }
    if (r->space != ACC_SHARED)
        assert_int_equal(lanes, r->mask);
}

static void expect_sound_passes(const ana_served *served, const acc_request *r)
{
    uint32_t lanes = 0;
    for (size_t i = 0; i < served->passes.count; i++) {
        const ana_pass *p = &served->passes.data[i];
        uint32_t served_lanes = 0;
        for (uint32_t b = 0; b < ANA_MOST_BANKS; b++)
            served_lanes |= p->banks[b];
        assert_int_equal(served_lanes, p->lanes);
        lanes |= p->lanes;
    }
    if (r->space == ACC_SHARED)
        assert_int_equal(lanes, r->mask);
}

static uint32_t draw_flags(pattern_rng *rng, const acc_request *r)
{
    uint32_t kind = pattern_below(rng, 12);
    if (r->space == ACC_SHARED && kind == 0 && r->bytes == 16 && r->op == ACC_LOAD)
        return ACC_MATRIX;
    return r->space == ACC_SHARED && kind == 1 && r->bytes <= 16 ? ACC_BARRIER : 0;
}

/* Groups of lanes do not join on 5.x and 6.x, as they do on the GPU that the observer tells of. */
static bool may_join(const ana_arch *arch, const acc_request *r)
{
    return arch->serving != ANA_SERVING_JOINED && r->op == ACC_LOAD &&
           (r->bytes == 8 || r->bytes == 16);
}

static void counts_are_the_observers(void **state)
{
    (void)state;
    static const char *const rows[] = {"5.0", "7.0", "8.0", "9.0", "10.0"};
    pattern_rng rng = {0x9e3779b97f4a7c15u};
    ana_served served = {0};
    for (int n = 0; n < 40000; n++) {
        uint64_t addr[FULL];
        uint64_t base = pattern_below(&rng, 2) ? 0x7f5c00000000u : 0;
        acc_request r = pattern_draw(&rng, base, 1u << 15, false, addr);
        r.flags = draw_flags(&rng, &r);
        const ana_arch *arch = arch_of_id(rows[n % 5]);
        assert_true(ana_serve(arch, &r, &served));
        if (r.space != ACC_SHARED || !may_join(arch, &r))
            expect_costs(arch, &r, &served);
        expect_sound_transactions(&served, &r);
        expect_sound_passes(&served, &r);
    }
    ana_served_free(&served);
}

/* ---- worked out by hand ---- */

static drawn make_request(acc_op op, acc_space space, uint32_t bytes, uint32_t mask)
{
    return (drawn){.r = {.op = op, .space = space, .bytes = bytes, .mask = mask}};
}

/* Lane (x, y) of a block that is 16 threads wide takes the element y * across + x * down. */
static drawn tile_request(acc_op op, acc_space space, uint64_t across, uint64_t down)
{
    drawn d = make_request(op, space, 4, UINT32_MAX);
    for (uint64_t lane = 0; lane < FULL; lane++)
        d.addr[lane] = 4 * (lane / 16 * across + lane % 16 * down);
    return d;
}

typedef struct figure {
    const char *arch;
    size_t count;   /* transactions or passes */
    uint64_t moved; /* bytes; of passes 0 */
} figure;

static void expect_figure(drawn *d, const figure *f, ana_served *served)
{
    d->r.addr = d->addr;
    assert_true(ana_serve(arch_of_id(f->arch), &d->r, served));
    size_t count = d->r.space == ACC_SHARED ? served->passes.count : served->transactions.count;
    if (count != f->count || served->moved != f->moved)
        fail_msg("%s: %zu of %llu bytes, want %zu of %llu", f->arch, count,
                 (unsigned long long)served->moved, f->count, (unsigned long long)f->moved);
}

#define expect_figures(d, ...)                                             \
    do {                                                                   \
        static const figure figures_[] = {__VA_ARGS__};                    \
        ana_served served_ = {0};                                          \
        for (size_t i_ = 0; i_ < sizeof figures_ / sizeof *figures_; i_++) \
            expect_figure((d), &figures_[i_], &served_);                   \
        ana_served_free(&served_);                                         \
    } while (0)

/* 512 x 512 floats, tiles of 16 x 16, rows of 512: a warp is two rows of a tile. It reads two rows
 * of 64 bytes, and writes 16 columns, where the two rows lie side by side. */
static void a_naive_transpose_as_the_paper_counts_it(void **state)
{
    (void)state;
    drawn load = tile_request(ACC_LOAD, ACC_GLOBAL, 512, 1);
    expect_figures(&load, {"1.0", 2, 128}, {"1.2", 2, 128}, {"2.0", 2, 256}, {"2.0-l2", 4, 128},
                   {"3.0", 4, 128}, {"7.0", 4, 128}, {"10.0", 4, 128});
    drawn store = tile_request(ACC_STORE, ACC_GLOBAL, 1, 512);
    expect_figures(&store, {"1.0", 32, 1024}, {"1.2", 32, 1024}, {"2.0", 16, 512},
                   {"2.0-l2", 16, 512}, {"3.0", 16, 512}, {"7.0", 16, 512}, {"9.0", 16, 512});
}

/* tile[x][y] with 16 floats a row. 1.x: each half takes one bank of 16, sixteen words of it. Later:
 * columns y and y + 1 of rows x; rows 2 apart share a bank of 32, so 8 words of each of 4 banks. A
 * bank of 3.x gives two of these, which lie 128 bytes apart, in one pass. With 17 a row no bank of 16
 * is asked twice by a half, and of 32 one is by the whole warp: words 0 and 15 * 17 + 1 = 256. */
static void a_transpose_in_shared_memory_as_the_paper_counts_it(void **state)
{
    (void)state;
    drawn rows = tile_request(ACC_STORE, ACC_SHARED, 16, 1);
    expect_figures(&rows, {"1.0", 2, 0}, {"1.2", 2, 0}, {"2.0", 1, 0}, {"3.0", 1, 0},
                   {"7.0", 1, 0});
    drawn columns = tile_request(ACC_LOAD, ACC_SHARED, 1, 16);
    expect_figures(&columns, {"1.0", 32, 0}, {"1.2", 32, 0}, {"2.0", 8, 0}, {"3.0", 4, 0},
                   {"7.0", 8, 0}, {"10.0", 8, 0});
    drawn padded = tile_request(ACC_LOAD, ACC_SHARED, 1, 17);
    expect_figures(&padded, {"1.0", 2, 0}, {"1.2", 2, 0}, {"2.0", 2, 0}, {"3.0", 2, 0},
                   {"7.0", 2, 0});
}

static drawn strided_request(acc_op op, acc_space space, uint32_t bytes, uint64_t first,
                             uint64_t stride)
{
    drawn d = make_request(op, space, bytes, UINT32_MAX);
    for (uint64_t lane = 0; lane < FULL; lane++)
        d.addr[lane] = first + lane * stride;
    return d;
}

/* A warp that reads 128 bytes, 4 beyond where a segment begins. 1.0: out of order, each lane its
 * own. 1.2: a half touches 64 bytes from 4 on, within one segment of 128, both of whose halves are
 * used; the other half-warp touches 68 to 132: the upper half of that segment, and 4 bytes of the
 * next. */
static void a_misaligned_read_by_hand(void **state)
{
    (void)state;
    drawn d = strided_request(ACC_LOAD, ACC_GLOBAL, 4, 4, 4);
    expect_figures(&d, {"1.0", 32, 1024}, {"1.2", 3, 128 + 64 + 32}, {"2.0", 2, 256},
                   {"2.0-l2", 5, 160}, {"3.0-l1", 2, 256}, {"5.0", 5, 160}, {"9.0", 5, 160});
}

/* 8 and 16 bytes a lane, side by side, and lanes in reverse order. */
static void wide_and_reversed_reads_by_hand(void **state)
{
    (void)state;
    drawn eight = strided_request(ACC_LOAD, ACC_GLOBAL, 8, 0, 8);
    expect_figures(&eight, {"1.0", 2, 256}, {"1.2", 2, 256}, {"2.0", 2, 256}, {"7.0", 8, 256});
    drawn sixteen = strided_request(ACC_LOAD, ACC_GLOBAL, 16, 0, 16);
    expect_figures(&sixteen, {"1.0", 4, 512}, {"1.2", 4, 512}, {"2.0", 4, 512}, {"7.0", 16, 512});
    drawn back = strided_request(ACC_LOAD, ACC_GLOBAL, 4, 4096 + 124, UINT64_C(0) - 4);
    expect_figures(&back, {"1.0", 32, 1024}, {"1.2", 2, 128}, {"2.0", 1, 128}, {"7.0", 4, 128});
    drawn bytes = strided_request(ACC_LOAD, ACC_GLOBAL, 1, 0, 1);
    expect_figures(&bytes, {"1.0", 32, 1024}, {"1.2", 2, 64}, {"2.0", 1, 128}, {"7.0", 1, 32});
}

/* Parts of a warp ask on their own up to 3.x: what two of them touch, they move twice. */
static void parts_of_a_warp_share_nothing(void **state)
{
    (void)state;
    drawn same = strided_request(ACC_LOAD, ACC_GLOBAL, 16, 0, 0);
    expect_figures(&same, {"1.0", 32, 1024}, {"1.2", 2, 64}, {"2.0", 4, 512}, {"3.0", 4, 128},
                   {"5.0", 1, 32});
}

static void lanes_that_are_not_active_ask_for_nothing(void **state)
{
    (void)state;
    drawn d = strided_request(ACC_LOAD, ACC_GLOBAL, 4, 0, 4);
    d.r.mask = 0x0000ffff & 0x55555555; /* the other half is idle, of this one every second lane */
    expect_figures(&d, {"1.0", 1, 64}, {"1.2", 1, 64}, {"2.0", 1, 128}, {"7.0", 2, 64});
    drawn column = strided_request(ACC_LOAD, ACC_SHARED, 4, 0, 128);
    column.r.mask = 0xff;
    expect_figures(&column, {"1.0", 8, 0}, {"2.0", 8, 0}, {"7.0", 8, 0});
}

/* Doubles side by side: on 1.x two reads of words 8 bytes apart, each half with two ways; 2.x serves
 * halves, 3.x all of it, and 16 bytes cost 2.x one way more (guide 5.0, F.3.3.4 and F.4.3.2). */
static void wide_reads_of_shared_memory_by_hand(void **state)
{
    (void)state;
    drawn eight = strided_request(ACC_LOAD, ACC_SHARED, 8, 0, 8);
    expect_figures(&eight, {"1.0", 8, 0}, {"2.0", 2, 0}, {"3.0", 1, 0}, {"3.0-8", 1, 0},
                   {"5.0", 2, 0}, {"7.0", 2, 0});
    drawn sixteen = strided_request(ACC_LOAD, ACC_SHARED, 16, 0, 16);
    expect_figures(&sixteen, {"1.0", 32, 0}, {"2.0", 8, 0}, {"3.0", 2, 0}, {"3.0-8", 2, 0},
                   {"5.0", 4, 0}, {"7.0", 4, 0});
    drawn one = strided_request(ACC_LOAD, ACC_SHARED, 16, 32, 0);
    expect_figures(&one, {"2.0", 8, 0}, {"5.0", 4, 0}, {"7.0", 2, 0});
}

/* The middle and the right example of the guide's figure on strides (5.0, F-2): two words apart there
 * is no conflict on 3.x and two ways on 2.x; 32 words apart 3.x has 16 ways: a bank of
 * 4 bytes gives two of the 32 words a pass, and with 8 bytes they lie in two banks. */
static void strides_in_shared_memory_as_the_guide_draws_them(void **state)
{
    (void)state;
    drawn two = strided_request(ACC_LOAD, ACC_SHARED, 4, 0, 8);
    expect_figures(&two, {"1.0", 4, 0}, {"2.0", 2, 0}, {"3.0", 1, 0}, {"3.0-8", 1, 0},
                   {"7.0", 2, 0});
    drawn three = strided_request(ACC_LOAD, ACC_SHARED, 4, 0, 12);
    expect_figures(&three, {"1.0", 2, 0}, {"2.0", 1, 0}, {"3.0", 1, 0}, {"7.0", 1, 0});
    drawn column = strided_request(ACC_LOAD, ACC_SHARED, 4, 0, 128);
    expect_figures(&column, {"1.0", 32, 0}, {"2.0", 32, 0}, {"3.0", 16, 0}, {"3.0-8", 16, 0},
                   {"7.0", 32, 0});
}

/* One word for all lanes: a broadcast. Two words of two banks in turn: 1.x broadcasts one a pass and
 * gives the other to one lane, so each half takes one pass and then one for seven of eight lanes. */
static void broadcasts_by_hand(void **state)
{
    (void)state;
    drawn one = strided_request(ACC_LOAD, ACC_SHARED, 4, 64, 0);
    expect_figures(&one, {"1.0", 2, 0}, {"2.0", 1, 0}, {"3.0", 1, 0}, {"7.0", 1, 0});
    drawn two = make_request(ACC_LOAD, ACC_SHARED, 4, UINT32_MAX);
    for (uint64_t lane = 0; lane < FULL; lane++)
        two.addr[lane] = lane % 2 * 4;
    expect_figures(&two, {"1.0", 4, 0}, {"2.0", 1, 0}, {"7.0", 1, 0});
    drawn bytes = strided_request(ACC_LOAD, ACC_SHARED, 1, 0, 1);
    expect_figures(&bytes, {"1.0", 8, 0}, {"2.0", 1, 0}, {"7.0", 1, 0});
    drawn stores = strided_request(ACC_STORE, ACC_SHARED, 4, 64, 0);
    expect_figures(&stores, {"1.0", 2, 0}, {"2.0", 1, 0}, {"7.0", 1, 0});
    drawn atomics = strided_request(ACC_ATOMIC, ACC_SHARED, 4, 64, 0);
    expect_figures(&atomics, {"1.2", 32, 0}, {"2.0", 32, 0}, {"7.0", 32, 0});
}

/* Element 5 of each thread's array, in words of 4 and of 8 bytes: side by side on every row. */
static void local_memory_by_hand(void **state)
{
    (void)state;
    drawn four = strided_request(ACC_LOAD, ACC_LOCAL, 4, 20, 0);
    expect_figures(&four, {"1.0", 2, 128}, {"1.2", 2, 128}, {"2.0", 1, 128}, {"7.0", 4, 128});
    drawn eight = strided_request(ACC_LOAD, ACC_LOCAL, 8, 24, 0);
    expect_figures(&eight, {"1.0", 4, 256}, {"2.0", 4, 512}, {"2.0-l2", 8, 256}, {"7.0", 8, 256});
}

/* Which bytes, lanes and banks: a store of every third byte, and two lanes on one word. */
static void pieces_tell_their_lanes(void **state)
{
    (void)state;
    ana_served served = {0};
    drawn d = strided_request(ACC_STORE, ACC_GLOBAL, 1, 30, 3);
    d.r.mask = 7; /* bytes 30, 33 and 36 */
    d.r.addr = d.addr;
    assert_true(ana_serve(arch_of_id("9.0"), &d.r, &served));
    assert_int_equal(served.transactions.count, 2);
    assert_int_equal(served.transactions.data[0].lanes, 1);
    assert_true(served.transactions.data[0].taken[0] == UINT64_C(1) << 30);
    assert_int_equal(served.transactions.data[1].address, 32);
    assert_int_equal(served.transactions.data[1].lanes, 6);
    assert_true(served.transactions.data[1].taken[0] == 0x12);
    assert_int_equal(served.used, 3);
    drawn s = make_request(ACC_LOAD, ACC_SHARED, 4, 0xf);
    s.addr[0] = 0, s.addr[1] = 128, s.addr[2] = 0, s.addr[3] = 4;
    s.r.addr = s.addr;
    assert_true(ana_serve(arch_of_id("9.0"), &s.r, &served));
    assert_int_equal(served.passes.count, 2);
    assert_int_equal(served.passes.data[0].banks[0], 5);
    assert_int_equal(served.passes.data[0].banks[1], 8);
    assert_int_equal(served.passes.data[1].banks[0], 2);
    assert_int_equal(served.passes.data[1].units[0], 32);
    assert_int_equal(served.transactions.count, 0);
    ana_served_free(&served);
}

/* A bulk copy: one lane, 4 KiB from 16 on. */
static void bulk_copies_move_whole_sectors(void **state)
{
    (void)state;
    drawn d = make_request(ACC_LOAD, ACC_GLOBAL, 4096, 1);
    d.addr[0] = 16;
    d.r.flags = ACC_ASYNC | ACC_BULK;
    expect_figures(&d, {"9.0", 129, 4128});
    drawn s = make_request(ACC_STORE, ACC_SHARED, 4096, 1);
    s.r.flags = ACC_ASYNC | ACC_BULK;
    expect_figures(&s, {"9.0", 32, 0});
}

static void rows_are_found(void **state)
{
    (void)state;
    static const struct {
        uint32_t major, minor;
        const char *id;
    } devices[] = {{12, 0, "10.0"}, {10, 0, "10.0"}, {9, 0, "9.0"}, {8, 9, "8.0"},
                   {7, 5, "7.0"},   {6, 1, "5.0"},   {3, 7, "3.0"}, {2, 1, "2.0"},
                   {1, 3, "1.2"},   {1, 1, "1.0"},   {0, 9, "1.0"}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        assert_string_equal(ana_arch_of_device(devices[i].major, devices[i].minor)->id,
                            devices[i].id);
    assert_null(arch_of_id("4.0"));
    uint32_t rows = 0;
    while (ana_arch_at(rows)) {
        assert_ptr_equal(arch_of_id(ana_arch_at(rows)->id), ana_arch_at(rows));
        rows++;
    }
    assert_true(rows >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_the_observers),
        cmocka_unit_test(a_naive_transpose_as_the_paper_counts_it),
        cmocka_unit_test(a_transpose_in_shared_memory_as_the_paper_counts_it),
        cmocka_unit_test(a_misaligned_read_by_hand),
        cmocka_unit_test(wide_and_reversed_reads_by_hand),
        cmocka_unit_test(parts_of_a_warp_share_nothing),
        cmocka_unit_test(lanes_that_are_not_active_ask_for_nothing),
        cmocka_unit_test(wide_reads_of_shared_memory_by_hand),
        cmocka_unit_test(strides_in_shared_memory_as_the_guide_draws_them),
        cmocka_unit_test(broadcasts_by_hand),
        cmocka_unit_test(local_memory_by_hand),
        cmocka_unit_test(pieces_tell_their_lanes),
        cmocka_unit_test(bulk_copies_move_whole_sectors),
        cmocka_unit_test(rows_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
