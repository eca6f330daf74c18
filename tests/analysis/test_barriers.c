/* Barriers: what a kernel's code proves about them, on kernels written as their instructions. */
#include "support/arena.h"
#include "support/test.h"

#include "analysis/heatmap/barriers.h"

#include <string.h>

typedef struct insn {
    const char *op, *form; /* form: NULL without one */
    uint32_t bytes;
} insn;

enum { MOST = 16 };

/* `followed`: flow/barriers.h could. */
static barriers_order together_of(const insn *insns, uint32_t n, uint32_t x, uint32_t y,
                                  bool followed)
{
    prof_code code[MOST] = {0};
    prof_form forms[MOST] = {0};
    prof_barrier rows[MOST] = {0};
    prof_launch launch = {.count = 1, .kernel = 1, .grid = {4, 1, 1}, .block = {x, y, 1}};
    const prof_kernel kernel = {.id = 1};
    ana_program program = {.launches = {1, &launch}};
    ana_input input = {.program = &program,
                       .kernel = &kernel,
                       .code = {n, code},
                       .forms = {0, forms},
                       .barriers = {0, rows},
                       .scratch = arena};
    assert_true(n <= MOST);
    for (uint32_t i = 0; i < n; i++) {
        code[i] = (prof_code){.kernel = 1, .pc = i, .op = insns[i].op};
        if (followed && strcmp(insns[i].op, "bar.sync") == 0)
            rows[input.barriers.count++] = (prof_barrier){.kernel = 1, .pc = i};
        if (insns[i].form) {
            forms[input.forms.count++] = (prof_form){
                .kernel = 1, .pc = i, .bytes = insns[i].bytes, .form = insns[i].form};
        }
    }
    return barriers_of(&input);
}

#define ORDER(insns, x, y) together_of(insns, sizeof(insns) / sizeof *(insns), x, y, true)

/* As nvcc compiles a product of tiles: a row of As is of one warp, Bs of all. */
static void of_tiles(void **state)
{
    (void)state;
    const insn product[] = {{"ld.global.f32", "4*tid.x*param3 + param0", 4},
                            {"st.shared.f32", "4*tid.x + 128*tid.y + &As", 4},
                            {"st.shared.f32", "4*tid.x + 128*tid.y + &Bs", 4},
                            {"bar.sync", NULL, 0},
                            {"ld.shared.f32", "128*tid.y + &As + 4", 4},
                            {"ld.shared.f32", "4*tid.x + &Bs + 128", 4}};
    const insn rows_alone[] = {{"st.shared.f32", "4*tid.x + 128*tid.y + &As", 4},
                               {"bar.sync", NULL, 0},
                               {"ld.shared.f32", "128*tid.y + &As + 4", 4}};
    assert_int_equal(ORDER(product, 32, 32), BARRIERS_MAY_ORDER);
    assert_int_equal(ORDER(rows_alone, 32, 32), BARRIERS_ORDER_WARPS);
    assert_int_equal(ORDER(rows_alone, 16, 32), BARRIERS_ORDER_WARPS); /* rows overlap in a warp */
    assert_int_equal(ORDER(rows_alone, 33, 32), BARRIERS_MAY_ORDER);
}

static void of_private_arrays(void **state)
{
    (void)state;
    const insn own[] = {{"st.shared.f32", "4*tid.x + &part", 4},
                        {"bar.sync", NULL, 0},
                        {"ld.shared.f32", "4*tid.x + &part", 4}};
    const insn wider[] = {{"st.shared.f32", "4*tid.x + &part", 4},
                          {"bar.sync", NULL, 0},
                          {"ld.shared.v2.f32", "4*tid.x + &part", 8}};
    assert_int_equal(ORDER(own, 256, 1), BARRIERS_ORDER_NOTHING);
    assert_int_equal(ORDER(own, 256, 2), BARRIERS_MAY_ORDER); /* threads of another y */
    assert_int_equal(ORDER(own, 16, 2), BARRIERS_ORDER_WARPS);
    assert_int_equal(ORDER(wider, 32, 1), BARRIERS_ORDER_WARPS);
    assert_int_equal(ORDER(wider, 33, 1), BARRIERS_MAY_ORDER); /* the last lane's second word */
}

static void of_what_is_not_proven(void **state)
{
    (void)state;
    static const insn others[] = {{"ld.shared.f32", NULL, 0},
                                  {"ld.shared.f32", "4*tid.x + 4*i0 + &part", 4},
                                  {"ld.shared.f32", "4*v7 + &part", 4},
                                  {"ld.shared.f32", "4*tid.x*param1 + &part", 4},
                                  {"ld.f32", "4*tid.x + param0", 4},
                                  {"ld.shared.f32", "4*tid.x + &part - 4", 4},
                                  {"ld.shared.f32", "4*tid.x + &part", 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const insn kernel[] = {
            {"st.shared.f32", "4*tid.x + &part", 4}, {"bar.sync", NULL, 0}, others[i]};
        assert_int_equal(ORDER(kernel, 64, 1), BARRIERS_MAY_ORDER);
    }
    const insn followed[] = {{"bar.sync", NULL, 0}};
    assert_int_equal(together_of(followed, 1, 32, 1, false), BARRIERS_MAY_ORDER);
    assert_int_equal(together_of(NULL, 0, 32, 1, true), BARRIERS_MAY_ORDER); /* no code */
}

static void of_none(void **state)
{
    (void)state;
    const insn plain[] = {{"st.shared.f32", "4*tid.x + &part", 4},
                          {"bar.warp.sync", NULL, 0},
                          {"ld.shared.f32", "4*tid.x + &part", 4}};
    assert_int_equal(ORDER(plain, 256, 1), BARRIERS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tiles),
        cmocka_unit_test(of_private_arrays),
        cmocka_unit_test(of_what_is_not_proven),
        cmocka_unit_test(of_none),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
