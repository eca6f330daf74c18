/* Barriers that can be followed, and kernels that cannot, worked out by hand. */
#include "flow/barriers.h"
#include "support.h"

enum { MOST = 4096 };

/* Of a kernel that has this body. */
static void find(subject *s, const char *body, flow_barriers *out)
{
    char text[MOST];
    snprintf(text, sizeof text,
             FLOW_HEADER ".visible .func other() { ret; }\n"
                         ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"
                         ".shared .align 8 .b8 tile[1024];\n.reg .pred %%p<5>;\n.reg .b32 %%r<9>;\n"
                         ".reg .b64 %%d<5>;\nld.param.u64 %%d1, [p];\nld.param.u32 %%r1, [n];\n"
                         "mov.u32 %%r2, %%tid.x;\nsetp.lt.u32 %%p1, %%r1, 9;\n"
                         "setp.lt.u32 %%p2, %%r2, 9;\nsetp.lt.u32 %%p3, %%r2, 9;\n%s\nret;\n}\n",
             body);
    subject_begin(s, text, "k");
    assert_int_equal(flow_find_barriers(s->kernel, s->arena, out), WL_OK);
}

/* As letters: b of the block, r with a result, w of a warp; "-" where it cannot be followed. */
static void expect(const char *body, const char *expected)
{
    subject s;
    flow_barriers all;
    char got[32] = "";
    find(&s, body, &all);
    for (uint32_t i = 0; i < all.count; i++)
        got[i] = "brw"[all.rows[i].meets];
    assert_string_equal(all.why_not ? "-" : got, expected);
    assert_true(!all.why_not || !all.count);
    subject_end(&s);
}

static void of_all_threads(void **state)
{
    (void)state;
    expect("", "");
    expect("bar.sync 0;", "b");
    expect("barrier.sync.aligned 0;\nbar.red.popc.u32 %r3, 0, %p2;\nbar.warp.sync -1;", "brw");
    expect("@%p1 bra L;\nbar.sync 0;\nL:", "b"); /* the launch decides */
    expect("@%p1 bar.sync 0;", "b");
    expect("L:\nadd.u32 %r1, %r1, 1;\nbar.sync 0;\nsetp.lt.u32 %p4, %r1, 9;\n@%p4 bra L;", "b");
    expect("L:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p4, %r2, 9;\n@%p4 bra L;\nbar.sync 0;", "b");
}

static void of_some_threads(void **state)
{
    (void)state;
    expect("@%p2 bra L;\nbar.sync 0;\nL:", "-");
    expect("@%p2 bar.sync 0;", "-");
    expect("@%p2 ret;\nbar.sync 0;", "-");
    expect("L:\nadd.u32 %r2, %r2, 1;\nbar.sync 0;\nsetp.lt.u32 %p4, %r2, 9;\n@%p4 bra L;", "-");
    expect("ld.global.u32 %r3, [%d1];\nsetp.lt.u32 %p4, %r3, 9;\n@%p4 bra L;\nbar.sync 0;\nL:",
           "-");
    expect("bar.sync 1;", "-");
    expect("bar.sync 0, 64;", "-");
    expect("bar.sync %r1;", "-");
    expect("bar.arrive 0, 64;", "-");
    /* Lanes of a warp that do not all come are of no use to the others. */
    expect("bar.sync 0;\n@%p2 bra L;\nbar.warp.sync -1;\nL:", "b");
    expect("bar.sync 0;\nbar.warp.sync 1;", "b");
}

static void of_other_means(void **state)
{
    static const char *const others[] = {
        "atom.acquire.gpu.shared.add.u32 %r3, [tile], 1;",
        "red.release.gpu.global.add.u32 [%d1], 1;",
        "atom.add.u32 %r3, [%d1], 1;",
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "ld.volatile.global.u32 %r3, [%d1];",
        "ld.relaxed.gpu.global.u32 %r3, [%d1];",
        "ld.acquire.gpu.global.u32 %r3, [%d1];",
        "st.release.gpu.global.u32 [%d1], 1;",
        "cp.async.ca.shared.global [tile], [%d1], 4;",
        "cp.async.commit_group;",
        "mbarrier.init.shared.b64 [tile], 1;",
        "mov.u32 %r3, %clock;",
        "mov.u64 %d2, %globaltimer;",
        "activemask.b32 %r3;",
        "nanosleep.u32 9;",
        "call other, ();",
        "barrier.cluster.arrive;",
    };
    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char body[256];
        snprintf(body, sizeof body, "%s\nbar.sync 0;", others[i]);
        expect(body, "-");
    }
    expect("atom.shared.add.u32 %r3, [tile], 1;\nred.global.add.u32 [%d1], 1;\nbar.sync 0;", "b");
    expect("ld.global.nc.u32 %r3, [%d1];\nshfl.sync.idx.b32 %r3, %r2, 0, 31, -1;\nbar.sync 0;",
           "b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_all_threads),
        cmocka_unit_test(of_some_threads),
        cmocka_unit_test(of_other_means),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
