/* Which remedy is told of findings, and what it covers: without a model, by what was counted. */
#include "analysis/choose.h"
#include "analysis/remedy/follow.h"
#include "support/test.h"

#include <string.h>

typedef struct fixture {
    wl_arena *arena;
    ana_thresholds thresholds;
    gain_input in;
    gain_kernel kernel;
    ana_remedy remedies[3][2];
    ana_finding findings[3];
} fixture;

static int set_up(void **state)
{
    static fixture f;
    static const ana_models none = {0};
    f = (fixture){.arena = wl_arena_new(), .thresholds = ana_thresholds_default()};
    f.in = (gain_input){.thresholds = &f.thresholds, .models = &none, .arena = f.arena};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    wl_arena_free(((fixture *)*state)->arena);
    return 0;
}

/* The finding's own remedy, and one that was tried. */
static void put(fixture *f, int at, uint64_t excess, remedy_kind own, remedy_kind tried, bool two)
{
    f->remedies[at][0] = (ana_remedy){.kind = own, .advice = "own", .remedy = "own"};
    f->remedies[at][1] = (ana_remedy){
        .kind = tried, .counted = true, .advice = "tried", .remedy = "tried"};
    f->findings[at] = (ana_finding){.cost.excess = excess,
                                    .remedy = "own",
                                    .advice = "own",
                                    .nremedies = two ? 2 : 1,
                                    .remedies = f->remedies[at]};
}

static void swapping_is_told_once(void **state)
{
    fixture *f = *state;
    put(f, 0, 10, REMEDY_STAGE, REMEDY_SWAP, true);
    put(f, 1, 20, REMEDY_NEIGHBOURS, REMEDY_SWAP, true);
    put(f, 2, 30, REMEDY_STAGE, REMEDY_SWAP, false);
    assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 3));
    assert_string_equal(f->findings[0].covered_by, remedy_title(REMEDY_SWAP));
    assert_string_equal(f->findings[0].advice, "own");
    assert_null(f->findings[1].covered_by);
    assert_string_equal(f->findings[1].advice, "tried");
    assert_int_equal(f->findings[1].remedies[0].kind, REMEDY_SWAP);
    assert_int_equal(f->findings[1].remedies[1].kind, REMEDY_NEIGHBOURS);
    assert_null(f->findings[2].covered_by);
    assert_string_equal(f->findings[2].advice, "own");
}

/* A padding of known size is told in place of one of no known size. */
static void a_tried_padding_replaces_the_other(void **state)
{
    fixture *f = *state;
    put(f, 0, 10, REMEDY_PAD, REMEDY_PAD, true);
    assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 1));
    assert_int_equal(f->findings[0].nremedies, 1);
    assert_true(f->findings[0].remedies[0].counted);
    assert_string_equal(f->findings[0].advice, "tried");
}

/* Longer rows say by how much "align" is; splitting, which is tried where there are records, stands in the place of
 * neighbouring elements, and before what else may be done. */
static void tried_layouts_stand_first(void **state)
{
    fixture *f = *state;
    put(f, 0, 10, REMEDY_ALIGN, REMEDY_SPREAD, true);
    put(f, 1, 10, REMEDY_STAGE, REMEDY_SPLIT, true);
    put(f, 2, 10, REMEDY_NEIGHBOURS, REMEDY_SPLIT, true);
    assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 3));
    assert_int_equal(f->findings[0].nremedies, 1);
    assert_int_equal(f->findings[0].remedies[0].kind, REMEDY_SPREAD);
    assert_int_equal(f->findings[1].nremedies, 2);
    assert_string_equal(f->findings[1].advice, "tried");
    assert_int_equal(f->findings[1].remedies[1].kind, REMEDY_STAGE);
    assert_int_equal(f->findings[2].nremedies, 1);
    assert_int_equal(f->findings[2].remedies[0].kind, REMEDY_SPLIT);
}

/* What was tried says how wide blocks become, and where the data begins; not the same twice. */
static void what_was_tried_says_more(void **state)
{
    fixture *f = *state;
    put(f, 0, 10, REMEDY_WIDEN, REMEDY_WIDEN, true);
    put(f, 1, 10, REMEDY_SPREAD, REMEDY_ALIGN, true);
    assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 2));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(f->findings[i].nremedies, 1);
        assert_string_equal(f->findings[i].advice, "tried");
    }
}

/* ---- what is left of an instruction ---- */

static const prof_instruction updates_of_a_word = {.c = {.pc = 1,
                                                         .space = ACC_SHARED,
                                                         .op = ACC_ATOMIC,
                                                         .requests = 10,
                                                         .active_lanes = 320,
                                                         .wavefronts = 320,
                                                         .wavefronts_min = 10}};

static ana_remedy followed(fixture *f, remedy_kind kind, const prof_instruction *insn, double paid)
{
    ana_remedy out;
    ana_draft draft = {.kind = kind, .ninsns = 1, .insns = insn, .insn_excess = &paid};
    assert_true(remedy_follow(&draft, f->arena, &out));
    assert_int_equal(out.change.nedits, 1);
    return out;
}

/* 32 lanes of ten requests update one word: one lane is left of each, and one wavefront. */
static void in_shared_memory_wavefronts_go(void **state)
{
    fixture *f = *state;
    ana_remedy combined = followed(f, REMEDY_COMBINE, &updates_of_a_word, 310);
    assert_true(combined.after.wavefronts == 10 && combined.after.requests == 10);
    assert_float_equal(combined.change.edits[0].lanes, 1.0 / 32, 1e-9);
    ana_remedy copies = followed(f, REMEDY_PRIVATE, &updates_of_a_word, 310);
    assert_true(copies.after.wavefronts == 10 && copies.after.requests == 10);
    assert_float_equal(copies.change.edits[0].lanes, 1, 1e-9); /* each still makes its own */
    ana_remedy sum = followed(f, REMEDY_REDUCE, &updates_of_a_word, 160);
    assert_true(sum.after.wavefronts == 160 && sum.after.requests == 10);
}

/* What changes the kernel mends both. */
static void swapping_stands_before_layouts(void **state)
{
    fixture *f = *state;
    put(f, 0, 10, REMEDY_SPLIT, REMEDY_SWAP, true);
    f->findings[0].nremedies = 3;
    ana_remedy three[3] = {f->remedies[0][0], f->remedies[0][1], f->remedies[0][1]};
    three[2].kind = REMEDY_SPLIT;
    f->findings[0].remedies = three;
    assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 1));
    assert_int_equal(three[0].kind, REMEDY_SWAP);
    assert_int_equal(f->findings[0].nremedies, 2); /* of splitting what was tried is told */
    assert_true(three[1].kind == REMEDY_SPLIT && three[1].counted);
}

/* To turn the rows of an array round and to swap the thread's indices are one change, seen from two sides. */
static void turning_rows_is_told_once(void **state)
{
    static const remedy_kind sides[] = {REMEDY_TRANSPOSE, REMEDY_ALONG};
    fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        put(f, 0, 10, sides[i], REMEDY_SWAP, true);
        assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 1));
        assert_int_equal(f->findings[0].nremedies, 1);
        assert_int_equal(f->findings[0].remedies[0].kind, REMEDY_SWAP);
        put(f, 0, 10, REMEDY_STAGE, REMEDY_SWAP, true);
        f->remedies[0][0].kind =
            REMEDY_SWAP; /* tried, and not told first: a layout stands before it */
        f->remedies[0][1].kind = sides[i];
        assert_true(choose_remedies(&f->in, &f->kernel, f->findings, 1));
        assert_int_equal(f->findings[0].nremedies, 1);
    }
}

/* Of strided data fewer sectors are touched once they are transposed; where the words between are used, too, at another
 * time, as many: a row of each lane's own, or words that other warps take. */
static void transposing_touches_what_is_used(void **state)
{
    static const prof_instruction load = {.c = {.pc = 1,
                                                .space = ACC_GLOBAL,
                                                .op = ACC_LOAD,
                                                .bytes = 4,
                                                .requests = 10,
                                                .active_lanes = 320,
                                                .sectors = 320,
                                                .sectors_min = 40}};
    static const struct {
        ana_pattern pattern;
        double touched;
    } cases[] = {{ANA_STRIDED, 0.125}, {ANA_UNCOALESCED, 1}, {ANA_FALSE_SHARING, 1}};
    fixture *f = *state;
    for (int i = 0; i < 3; i++) {
        double paid = 280;
        ana_remedy out;
        ana_draft draft = {.pattern = cases[i].pattern,
                           .kind = REMEDY_TRANSPOSE,
                           .ninsns = 1,
                           .insns = &load,
                           .insn_excess = &paid};
        assert_true(remedy_follow(&draft, f->arena, &out));
        assert_float_equal(out.change.edits[0].sectors, 0.125, 1e-9);
        assert_float_equal(out.change.edits[0].touched, cases[i].touched, 1e-9);
        draft.kind = REMEDY_TILES; /* each request is made in shared memory then */
        assert_true(remedy_follow(&draft, f->arena, &out));
        assert_true(out.after.sectors == 40 && out.after.wavefronts == 10);
    }
}

/* ---- changes together ---- */

static const model_edit half = {.pc = 1,
                                .object = 2,
                                .requests = 1,
                                .sectors = 0.5,
                                .wavefronts = 1,
                                .lanes = 1,
                                .touched = 1},
                        quarter = {.pc = 1,
                                   .object = MODEL_ANY_OBJECT,
                                   .requests = 1,
                                   .sectors = 0.75,
                                   .wavefronts = 1,
                                   .lanes = 1,
                                   .touched = 1},
                        elsewhere = {.pc = 3,
                                     .object = 2,
                                     .requests = 1,
                                     .sectors = 0.5,
                                     .wavefronts = 1,
                                     .lanes = 1,
                                     .touched = 1};

static void changes_of_one_instruction_add_up(void **state)
{
    fixture *f = *state;
    const model_change a = {.nedits = 1, .edits = &half, .shared = 1024},
                       b = {.nedits = 1, .edits = &quarter},
                       c = {.nedits = 1,
                            .edits = &elsewhere,
                            .fill = true,
                            .even = true,
                            .packed = true,
                            .shared = 512};
    model_change both;
    assert_true(remedy_overlap(&a, &b));
    assert_false(remedy_overlap(&a, &c));
    assert_true(remedy_join(f->arena, &a, &b, &both));
    assert_int_equal(both.nedits, 1);
    assert_false(both.even || both.packed);
    assert_float_equal(both.edits[0].sectors, 0.25, 1e-9);
    assert_true(remedy_join(f->arena, &both, &c, &both));
    assert_int_equal(both.nedits, 2);
    assert_true(both.fill && both.even && both.packed);
    assert_int_equal(both.shared, 1536);
}

/* The barriers that one change leaves out are among those of the other. */
static void changes_of_barriers_meet(void **state)
{
    fixture *f = *state;
    const model_change all = {.barriers = 1}, some = {.barriers = 0.25, .warp_barriers = 0.5},
                       c = {.nedits = 1, .edits = &half};
    model_change both;
    assert_true(remedy_overlap(&all, &some));
    assert_false(remedy_overlap(&all, &c));
    assert_true(remedy_join(f->arena, &all, &some, &both));
    assert_float_equal(both.barriers, 1, 1e-9);
    assert_float_equal(both.warp_barriers, 0.5, 1e-9);
    assert_true(remedy_join(f->arena, &some, &c, &both));
    assert_float_equal(both.barriers, 0.25, 1e-9);
    assert_int_equal(both.nedits, 1);
}

static void every_remedy_has_its_words(void **state)
{
    (void)state;
    for (int kind = 0; kind < REMEDY_COUNT; kind++) {
        assert_true(strlen(remedy_name((remedy_kind)kind)) > 0);
        assert_true(strlen(remedy_title((remedy_kind)kind)) > 0);
        const char *condition = remedy_condition((remedy_kind)kind);
        assert_int_equal(condition[strlen(condition) - 1], '.');
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(swapping_is_told_once),
        T(a_tried_padding_replaces_the_other),
        T(tried_layouts_stand_first),
        T(swapping_stands_before_layouts),
        T(turning_rows_is_told_once),
        T(transposing_touches_what_is_used),
        T(what_was_tried_says_more),
        T(in_shared_memory_wavefronts_go),
        T(changes_of_one_instruction_add_up),
        T(changes_of_barriers_meet),
        T(every_remedy_has_its_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
