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

static barriers_order order_of(const insn *insns, uint32_t n, uint32_t x, uint32_t y,
                               uint32_t ngroups, ana_group *groups)
{
    prof_code code[MOST] = {0};
    prof_form forms[MOST] = {0};
    prof_launch launch = {.count = 1, .kernel = 1, .grid = {4, 1, 1}, .block = {x, y, 1}};
    const prof_kernel kernel = {.id = 1};
    ana_program program = {.launches = {1, &launch}};
    ana_input input = {.program = &program,
                       .kernel = &kernel,
                       .code = {n, code},
                       .forms = {0, forms},
                       .ngroups = ngroups,
                       .groups = groups,
                       .scratch = arena};
    assert_true(n <= MOST);
    for (uint32_t i = 0; i < n; i++) {
        code[i] = (prof_code){.kernel = 1, .pc = i, .op = insns[i].op};
        if (insns[i].form) {
            forms[input.forms.count++] = (prof_form){
                .kernel = 1, .pc = i, .bytes = insns[i].bytes, .form = insns[i].form};
        }
    }
    return barriers_of(&input);
}

#define ORDER(insns, x, y) order_of(insns, sizeof(insns) / sizeof *(insns), x, y, 0, NULL)

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
                                  {"ld.shared.f32", "4*tid.x + &part + 262144", 4},
                                  {"ld.shared.f32", "4*tid.x + &part", 0},
                                  {"ld.volatile.shared.f32", "4*tid.x + &part", 4},
                                  {"atom.shared.add.u32", "4*tid.x + &part", 4},
                                  {"red.global.add.u32", NULL, 0},
                                  {"cp.async.ca.shared.global", "4*tid.x + &part", 4},
                                  {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", NULL, 0},
                                  {"membar.gl", NULL, 0},
                                  {"bar.red.popc.u32", NULL, 0},
                                  {"call.uni", NULL, 0}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const insn kernel[] = {
            {"st.shared.f32", "4*tid.x + &part", 4}, {"bar.sync", NULL, 0}, others[i]};
        assert_int_equal(ORDER(kernel, 64, 1), BARRIERS_MAY_ORDER);
    }
    assert_int_equal(order_of(NULL, 0, 32, 1, 0, NULL), BARRIERS_MAY_ORDER); /* no code */
}

static void of_none(void **state)
{
    (void)state;
    const insn plain[] = {{"st.shared.f32", "4*tid.x + &part", 4},
                          {"bar.warp.sync", NULL, 0},
                          {"ld.shared.f32", "4*tid.x + &part", 4}};
    assert_int_equal(ORDER(plain, 256, 1), BARRIERS_NONE);
}

/* A block's threads can talk through device memory as well. */
static void of_objects(void **state)
{
    (void)state;
    const insn kernel[] = {{"st.shared.f32", "4*tid.x + &part", 4},
                           {"bar.sync", NULL, 0},
                           {"ld.shared.f32", "4*tid.x + &part", 4}};
    prof_instruction stores[] = {{.c = {.op = ACC_STORE}}, {.c = {.op = ACC_LOAD}}};
    ana_group group = {.object = 1, .space = ACC_GLOBAL, .ninsns = 1, .insns = stores};
    assert_int_equal(order_of(kernel, 3, 64, 1, 1, &group), BARRIERS_ORDER_NOTHING);
    group.ninsns = 2;
    assert_int_equal(order_of(kernel, 3, 64, 1, 1, &group), BARRIERS_MAY_ORDER);
    group.ninsns = 1;
    group.object = 0; /* memory of no known object: anything */
    assert_int_equal(order_of(kernel, 3, 64, 1, 1, &group), BARRIERS_MAY_ORDER);
    stores[0].c.op = ACC_LOAD;
    assert_int_equal(order_of(kernel, 3, 64, 1, 1, &group), BARRIERS_ORDER_NOTHING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_tiles),
        cmocka_unit_test(of_private_arrays),
        cmocka_unit_test(of_what_is_not_proven),
        cmocka_unit_test(of_none),
        cmocka_unit_test(of_objects),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
