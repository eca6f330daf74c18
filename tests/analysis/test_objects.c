/* The order of operations, lives of objects, patterns and savings: worked by hand. */
#include "support/test.h"
#include "tale.h"

#include "analysis/objects/order.h"
#include "analysis/objects/savings.h"

#include <stdlib.h>

static obj_trace t;
static uint32_t *levels;
static obj_lives lives;
static obj_hits hits;
static obj_plan plan;

static int begin(void **state)
{
    (void)state;
    tale_begin(&t);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(levels);
    obj_lives_free(&lives);
    wl_vec_free(&hits);
    obj_plan_free(&plan);
    tale_end(&t);
    levels = NULL;
    lives = (obj_lives){0};
    plan = (obj_plan){0};
    return 0;
}

static void analyse(void)
{
    ana_thresholds thresholds = ana_thresholds_default();
    levels = obj_order(&t);
    assert_non_null(levels);
    assert_true(obj_lives_of(&t, levels, &thresholds, &lives));
    assert_true(obj_find_patterns(&t, levels, &lives, NULL, &thresholds, &hits));
    assert_true(obj_plan_savings(&t, 0.01, &hits, &plan));
}

static uint64_t added_by(const obj_hit *hit)
{
    for (size_t i = 0; i < plan.steps.count; i++)
        if (&hits.data[plan.steps.data[i].hit] == hit)
            return plan.steps.data[i].adds;
    return 0;
}

static const obj_hit *hit_of(ana_pattern pattern, uint32_t object)
{
    for (size_t i = 0; i < hits.count; i++)
        if (hits.data[i].pattern == pattern && hits.data[i].object == object)
            return &hits.data[i];
    return NULL;
}

static void expect_levels(const uint32_t *expected)
{
    levels = obj_order(&t);
    assert_non_null(levels);
    for (size_t i = 0; i < t.ops.count; i++)
        if (levels[i] != expected[i])
            fail_msg("operation %zu has level %u, not %u", i, levels[i], expected[i]);
}

/* ---- order ---- */

/* Two streams. What the paper says of its figure 4 holds: object 1 is allocated at T = 0 in one stream,
 * and the first access, a copy in the other, comes at T = 3. The other operations are made up. */
static void two_streams(void **state)
{
    (void)state;
    uint32_t one = tale_queue(&t, OBJ_QUEUE_FREE), two = tale_queue(&t, OBJ_QUEUE_FREE), o1, o2, o3;
    tale_allocate(&t, one, 64, &o1); /* T = 0 */
    tale_allocate(&t, two, 64, &o2); /* 0: the other stream */
    tale_set(&t, two, o2);           /* 1 */
    tale_launch(&t, two, o2, o2);    /* 2 */
    tale_copy_in(&t, two, o1);       /* 3: after the launch, and after its allocation */
    t.ops.data[4].waits = false;
    tale_allocate(&t, one, 64, &o3);    /* 1 */
    tale_launch(&t, one, o1, o3);       /* 4: reads what the copy wrote */
    tale_launch(&t, two, o3, OBJ_NONE); /* 5: reads what that wrote */
    tale_free(&t, one, o2);             /* 5: after all that read or wrote it, and its stream */
    tale_free(&t, one, o3);             /* 6: write after read */
    expect_levels((const uint32_t[]){0, 0, 1, 2, 3, 1, 4, 5, 5, 6});
}

/* The legacy stream and blocking streams wait for each other, a free one does not. */
static void legacy_stream(void **state)
{
    (void)state;
    uint32_t blocking = tale_queue(&t, OBJ_QUEUE_BLOCKING),
             other = tale_queue(&t, OBJ_QUEUE_BLOCKING), apart = tale_queue(&t, OBJ_QUEUE_FREE);
    tale_launch(&t, blocking, OBJ_NONE, OBJ_NONE); /* 0 */
    tale_launch(&t, blocking, OBJ_NONE, OBJ_NONE); /* 1 */
    tale_launch(&t, other, OBJ_NONE, OBJ_NONE); /* 0: blocking streams do not wait for each other */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE); /* 2: after both */
    tale_launch(&t, other, OBJ_NONE, OBJ_NONE);       /* 3: after the legacy stream */
    tale_launch(&t, apart, OBJ_NONE, OBJ_NONE);       /* 0 */
    expect_levels((const uint32_t[]){0, 1, 0, 2, 3, 0});
}

/* What orders others has the level from which on these can run. */
static void events_and_waits(void **state)
{
    (void)state;
    uint32_t one = tale_queue(&t, OBJ_QUEUE_FREE), two = tale_queue(&t, OBJ_QUEUE_FREE);
    tale_launch(&t, one, OBJ_NONE, OBJ_NONE);         /* 0 */
    tale_launch(&t, one, OBJ_NONE, OBJ_NONE);         /* 1 */
    tale_order(&t, OBJ_RECORD, one, 0);               /* from 2 on */
    tale_launch(&t, one, OBJ_NONE, OBJ_NONE);         /* 2: not waited for */
    tale_order(&t, OBJ_WAIT, two, 0);                 /* from 2 on */
    tale_launch(&t, two, OBJ_NONE, OBJ_NONE);         /* 2 */
    tale_order(&t, OBJ_SYNC_EVENT, TALE_HOST, 0);     /* from 2 on */
    tale_allocate(&t, TALE_HOST, 8, NULL);            /* 2 */
    tale_order(&t, OBJ_SYNC_STREAM, two, 0);          /* from 3 on */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE); /* 3: the host has waited */
    tale_order(&t, OBJ_SYNC_CONTEXT, TALE_HOST, 0);   /* from 4 on */
    tale_free(&t, TALE_HOST, 0);                      /* 4 */
    expect_levels((const uint32_t[]){0, 1, 2, 2, 2, 2, 2, 2, 3, 3, 4, 4});
}

/* A diamond in a graph: its nodes wait for the stream and for each other, as the edges say. */
static void nodes_of_a_graph(void **state)
{
    (void)state;
    uint32_t one = tale_queue(&t, OBJ_QUEUE_FREE);
    const obj_edge edges[] = {{1, 2}, {1, 3}, {2, 4}, {3, 4}};
    tale_launch(&t, one, OBJ_NONE, OBJ_NONE); /* 0 */
    for (int i = 0; i < 5; i++) {             /* 1, 2, 2, 3, and one without an edge: 1 */
        uint32_t node = tale_launch(&t, one, OBJ_NONE, OBJ_NONE);
        assert_true(wl_push(&t.nodes, (obj_node){node, 1}));
    }
    tale_launch(&t, one, OBJ_NONE, OBJ_NONE); /* 4: after all nodes */
    for (int i = 0; i < 4; i++)
        assert_true(wl_push(&t.edges, edges[i]));
    expect_levels((const uint32_t[]){0, 1, 2, 2, 3, 1, 4});
}

/* ---- patterns ---- */

/* A program with one stage after the other, all of whose memory is allocated before and freed after:
 *
 *   0 in, 1 mid, 2 out allocated; 3 copy to in; 4 in -> mid; 5 mid -> out; 6 copy from out; 7, 8, 9
 *   freed. At the peak all three are alive: 300. With in freed after 4, 8 mid after 5, and out
 *   allocated before 5, no more than two ever are: 200. */
static void stages(void **state)
{
    (void)state;
    uint32_t in, mid, out;
    tale_allocate(&t, TALE_HOST, 100, &in);
    tale_allocate(&t, TALE_HOST, 100, &mid);
    tale_allocate(&t, TALE_HOST, 100, &out);
    tale_copy_in(&t, TALE_LEGACY, in);
    tale_launch(&t, TALE_LEGACY, in, mid);
    tale_launch(&t, TALE_LEGACY, mid, out);
    tale_copy_out(&t, TALE_LEGACY, out);
    tale_free(&t, TALE_HOST, in);
    tale_free(&t, TALE_HOST, mid);
    tale_free(&t, TALE_HOST, out);
    analyse();
    assert_int_equal(plan.devices[0].before, 300);
    assert_int_equal(plan.devices[0].moment, 2);
    assert_int_equal(plan.devices[0].after, 200);
    const obj_hit *early = hit_of(ANA_EARLY_ALLOCATION, out),
                  *late = hit_of(ANA_LATE_DEALLOCATION, in);
    assert_non_null(early);
    assert_int_equal(early->from, 2);
    assert_int_equal(early->to, 5);
    assert_int_equal(early->calls, 2);
    assert_int_equal(early->saves, 0); /* by itself: in, mid and out are alive at 5 */
    assert_true(early->planned);
    assert_int_equal(added_by(early), 100);
    assert_non_null(late);
    assert_int_equal(late->from, 4);
    assert_int_equal(late->calls, 2); /* 5 and 6 */
    assert_true(late->planned && !late->possible);
    assert_int_equal(plan.steps.count, 2);
    assert_int_equal(plan.steps.data[1].peak, 200);
    /* Two calls after its last access mid is freed, but nobody needs the memory then. */
    assert_false(hit_of(ANA_LATE_DEALLOCATION, mid)->planned);
    const obj_hit *last = hit_of(ANA_LATE_DEALLOCATION, out); /* after the frees of the others */
    assert_int_equal(last->calls, 2);
    assert_false(last->planned);
    /* out can live where in was: its first access comes after in's last one. */
    const obj_hit *reuse = hit_of(ANA_REDUNDANT_ALLOCATION, out);
    assert_non_null(reuse);
    assert_int_equal(reuse->other, in);
    assert_int_equal(reuse->saves, 100);
    assert_false(reuse->planned); /* the plan has these 100 already */
    assert_null(hit_of(ANA_LEAK, in));
    assert_null(hit_of(ANA_UNUSED_ALLOCATION, in));
}

/* Nothing is moved over a launch that may access anything. */
static void unknown_launches(void **state)
{
    (void)state;
    uint32_t a, b;
    tale_allocate(&t, TALE_HOST, 100, &a);
    tale_allocate(&t, TALE_HOST, 50, &b);
    tale_set(&t, TALE_LEGACY, b);
    tale_set(&t, TALE_LEGACY, b);
    tale_launch_unknown(&t, TALE_LEGACY); /* 4 */
    tale_set(&t, TALE_LEGACY, b);
    tale_set(&t, TALE_LEGACY, b);
    tale_free(&t, TALE_HOST, a);
    analyse();
    const obj_hit *dead = hit_of(ANA_DEAD_WRITE, b);
    assert_null(hit_of(ANA_UNUSED_ALLOCATION, a)); /* it may be used */
    assert_int_equal(plan.devices[0].after, 150);
    /* 2 is replaced by 3, and 5 by 6; what 3 wrote may have been read. */
    assert_int_equal(dead->count, 2);
    assert_int_equal(dead->bytes, 100);
    assert_int_equal(dead->from, 2);
    assert_int_equal(dead->to, 3);
    const obj_life *life = &lives.rows[a];
    assert_true(life->first == 4 && life->last == 4 && life->accesses == 0);
}

/* Alive between its first and last unknown launch; a late free is told after the last one. */
static void certain_moves(void **state)
{
    (void)state;
    uint32_t a, b;
    tale_allocate(&t, TALE_HOST, 100, &a); /* 0 */
    tale_allocate(&t, TALE_HOST, 100, &b); /* 1 */
    tale_set(&t, TALE_LEGACY, b);          /* 2 */
    tale_launch_unknown(&t, TALE_LEGACY);  /* 3 */
    tale_copy_in(&t, TALE_LEGACY, a);      /* 4 */
    tale_copy_out(&t, TALE_LEGACY, b);     /* 5 */
    tale_launch_unknown(&t, TALE_LEGACY);  /* 6 */
    tale_set(&t, TALE_LEGACY, b);          /* 7 */
    tale_free(&t, TALE_HOST, a);           /* 8 */
    analyse();
    assert_int_equal(hit_of(ANA_EARLY_ALLOCATION, a)->to, 3);
    assert_int_equal(hit_of(ANA_LATE_DEALLOCATION, a)->from, 6);
    assert_false(hit_of(ANA_LATE_DEALLOCATION, a)->possible);
}

static void unused_and_leaks(void **state)
{
    (void)state;
    uint32_t spare, kept, a, b;
    tale_allocate(&t, TALE_HOST, 40, &spare);
    tale_allocate(&t, TALE_HOST, 30, &kept);
    tale_set(&t, TALE_LEGACY, kept);
    tale_allocate(&t, TALE_HOST, 10, &a);
    tale_set(&t, TALE_LEGACY, a);
    tale_allocate(&t, TALE_HOST, 10, &b);
    tale_set(&t, TALE_LEGACY, b);
    tale_free(&t, TALE_HOST, spare);
    t.objects.data[b].site = t.objects.data[a].site; /* a loop */
    analyse();
    assert_int_equal(plan.devices[0].before, 90);
    const obj_hit *unused = hit_of(ANA_UNUSED_ALLOCATION, spare);
    assert_false(unused->possible);
    assert_int_equal(unused->saves, 40);
    assert_null(hit_of(ANA_EARLY_ALLOCATION, spare));
    assert_int_equal(hit_of(ANA_LEAK, kept)->count, 1);
    assert_int_equal(hit_of(ANA_LEAK, a)->count, 2);
    assert_int_equal(hit_of(ANA_LEAK, a)->bundle, hit_of(ANA_LEAK, b)->bundle);
    /* kept freed before a is allocated, a before b: never more than kept alone. */
    assert_int_equal(plan.devices[0].after, 30);
}

/* Given back for a time only where that takes long: 16 calls, or as measured. */
static void idle(double seconds, uint32_t calls, bool expected)
{
    uint32_t state_, other;
    tale_begin(&t);
    tale_allocate(&t, TALE_HOST, 1000, &state_);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, state_);
    tale_allocate(&t, TALE_HOST, 1000, &other);
    for (uint32_t i = 0; i < calls; i++) {
        uint32_t launch = tale_launch(&t, TALE_LEGACY, other, other);
        t.ops.data[launch].seconds = (float)seconds;
    }
    tale_free(&t, TALE_HOST, other);
    tale_launch(&t, TALE_LEGACY, state_, OBJ_NONE);
    tale_free(&t, TALE_HOST, state_);
    analyse();
    const obj_hit *hit = hit_of(ANA_TEMPORARY_IDLENESS, state_);
    assert_int_equal(hit != NULL, expected);
    if (hit) {
        assert_int_equal(hit->from, 1);
        assert_int_equal(hit->saves, 1000);
        assert_true(hit->planned);
        assert_int_equal(plan.devices[0].after, 1000);
    }
    end(NULL);
}

static void idleness(void **state)
{
    (void)state;
    end(NULL);
    double copies = 2 * 1000 / ana_thresholds_default().link_rate;
    idle(-1, 16, true);
    idle(-1, 10, false);
    idle(copies / 3.1, 3, false);
    idle(copies / 2.9, 3, true);
    idle(1, 0, false); /* one call, the free */
    tale_begin(&t);
}

/* Two gaps of 16 calls: given back in both, it is at neither of the two peaks. */
static void idle_twice(void **state)
{
    uint32_t rests, other;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &rests);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, rests);
    for (int round = 0; round < 2; round++) {
        tale_allocate(&t, TALE_HOST, 1000, &other);
        for (int i = 0; i < 16; i++)
            tale_launch(&t, TALE_LEGACY, other, other);
        tale_free(&t, TALE_HOST, other);
        tale_launch(&t, TALE_LEGACY, rests, OBJ_NONE);
    }
    tale_free(&t, TALE_HOST, rests);
    analyse();
    assert_int_equal(lives.gaps.count, 2);
    assert_int_equal(plan.devices[0].before, 2000);
    assert_int_equal(plan.devices[0].after, 1000);
    assert_int_equal(plan.steps.count, 2);
    assert_int_equal(hit_of(ANA_TEMPORARY_IDLENESS, rests)->saves, 1000);
}

/* Copies of 2 MiB in 1 ms and out in 4 ms were measured: so long would those of a gap take. What is
 * smaller, or not measured, does not count. */
static void measured_link(void **state)
{
    uint32_t large, small;
    (void)state;
    tale_allocate(&t, TALE_HOST, 2 << 20, &large);
    tale_allocate(&t, TALE_HOST, 1000, &small);
    t.ops.data[tale_copy_in(&t, TALE_LEGACY, large)].seconds = 1e-3F;
    t.ops.data[tale_copy_out(&t, TALE_LEGACY, large)].seconds = 4e-3F;
    t.ops.data[tale_copy_out(&t, TALE_LEGACY, small)].seconds = 1;
    tale_copy_in(&t, TALE_LEGACY, large);
    for (int i = 0; i < 20; i++)
        tale_launch(&t, TALE_LEGACY, small, small);
    tale_launch(&t, TALE_LEGACY, large, OBJ_NONE);
    analyse();
    assert_within((double)hit_of(ANA_TEMPORARY_IDLENESS, large)->copies, 5e-3, 1e-6);
}

/* ---- figure 3 ---- */

/* A walk of which what the paper says of its figure 3 holds: A5 is O1's last access and O3's first, A6
 * is O4's first, and O4 takes the memory of O1. The other accesses are made up; objects of one size:
 *
 *   O1 first A1, last A5   O2 first A2, last A7   O3 first A5, last A8   O4 first A6, last A9
 *
 * sorted, a last one after a first one of its level: O1f A1, O2f A2, O3f A5, O1l A5, O4f A6, O2l A7,
 * O3l A8, O4l A9. From the end: O4, O3 and O2 come into use; at A6 O4 is done, and the nearest
 * initial one to its left is O1. At A5 O1 comes into use, then O3 is done: there is nobody left of
 * it. */
static void figure_3(void **state)
{
    (void)state;
    uint32_t o[5], launches[10];
    for (int i = 1; i <= 4; i++)
        tale_allocate(&t, TALE_HOST, 100, &o[i]);
    const uint32_t first[] = {0, 1, 2, 5, 6}, last[] = {0, 5, 7, 8, 9};
    for (uint32_t a = 1; a <= 9; a++) {
        obj_access accesses[4];
        uint32_t n = 0;
        for (uint32_t i = 1; i <= 4; i++)
            if (first[i] == a || last[i] == a)
                accesses[n++] = (obj_access){.object = o[i], .how = OBJ_READ};
        launches[a] = tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
        t.ops.data[launches[a]].accesses = obj_trace_add_set(&t, accesses, n);
    }
    analyse();
    const obj_hit *reuse = hit_of(ANA_REDUNDANT_ALLOCATION, o[4]);
    assert_non_null(reuse);
    assert_int_equal(reuse->other, o[1]);
    assert_int_equal(reuse->from, launches[5]);
    assert_int_equal(reuse->to, launches[6]);
    for (int i = 1; i <= 3; i++)
        assert_null(hit_of(ANA_REDUNDANT_ALLOCATION, o[i]));
    assert_int_equal(reuse->saves, 100);
}

/* A chain: each takes the memory of the one before, and can be taken in turn. Sizes up to a tenth
 * apart fit; the larger is kept. */
static void reuse_in_a_chain(void **state)
{
    (void)state;
    uint32_t o[4];
    const uint64_t bytes[] = {90, 100, 95, 80};
    for (int i = 0; i < 4; i++)
        tale_allocate(&t, TALE_HOST, bytes[i], &o[i]);
    for (int i = 0; i < 4; i++)
        tale_set(&t, TALE_LEGACY, o[i]);
    for (int i = 0; i < 4; i++)
        tale_free(&t, TALE_HOST, o[i]);
    analyse();
    assert_int_equal(hit_of(ANA_REDUNDANT_ALLOCATION, o[1])->other, o[0]);
    assert_int_equal(hit_of(ANA_REDUNDANT_ALLOCATION, o[1])->saves, 90);
    assert_int_equal(hit_of(ANA_REDUNDANT_ALLOCATION, o[2])->other, o[1]);
    assert_null(hit_of(ANA_REDUNDANT_ALLOCATION, o[3])); /* 80 are less than nine tenths of 95 */
    assert_int_equal(plan.devices[0].after, 100);
}

/* Used in streams that do not wait for each other: levels tell no order. */
static void reuse_across_streams(void **state)
{
    (void)state;
    uint32_t one = tale_queue(&t, OBJ_QUEUE_FREE), two = tale_queue(&t, OBJ_QUEUE_FREE), a, b;
    tale_allocate(&t, TALE_HOST, 100, &a);
    tale_allocate(&t, TALE_HOST, 100, &b);
    tale_launch(&t, one, OBJ_NONE, a);
    tale_launch(&t, two, OBJ_NONE, OBJ_NONE);
    tale_launch(&t, two, OBJ_NONE, b);
    tale_free(&t, TALE_HOST, a);
    tale_free(&t, TALE_HOST, b);
    analyse();
    assert_true(hit_of(ANA_REDUNDANT_ALLOCATION, b)->possible);
    assert_false(hit_of(ANA_REDUNDANT_ALLOCATION, b)->planned);
}

/* The host waits for the stream of the first in between: then the other may begin. Had it waited for
 * another stream, that would say nothing. */
static void reuse_after_a_wait(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        uint32_t one = tale_queue(&t, OBJ_QUEUE_FREE), two = tale_queue(&t, OBJ_QUEUE_FREE), a, b;
        tale_allocate(&t, TALE_HOST, 100, &a);
        tale_allocate(&t, TALE_HOST, 100, &b);
        tale_launch(&t, one, OBJ_NONE, a);
        tale_order(&t, OBJ_SYNC_STREAM, right ? one : two, 0);
        tale_launch(&t, two, OBJ_NONE, OBJ_NONE);
        tale_launch(&t, two, OBJ_NONE, b);
        tale_free(&t, TALE_HOST, a);
        tale_free(&t, TALE_HOST, b);
        analyse();
        const obj_hit *hit = hit_of(ANA_REDUNDANT_ALLOCATION, b);
        assert_non_null(hit);
        assert_int_equal(hit->possible, !right);
        end(NULL);
        tale_begin(&t);
    }
}

/* ---- what is filled too soon ---- */

/* All is copied in at once: what is used last is filled, and allocated, too soon. A set before the copy
 * is put off with it. */
static void filled_too_soon(void **state)
{
    uint32_t a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 100, &a);             /* T = 0 */
    tale_allocate(&t, TALE_HOST, 100, &b);             /* 1 */
    tale_set(&t, TALE_LEGACY, a);                      /* 2 */
    tale_copy_in(&t, TALE_LEGACY, a);                  /* 3 */
    uint32_t copy = tale_copy_in(&t, TALE_LEGACY, b);  /* 4 */
    tale_launch(&t, TALE_LEGACY, b, b);                /* 5 */
    tale_free(&t, TALE_HOST, b);                       /* 6 */
    uint32_t use = tale_launch(&t, TALE_LEGACY, a, a); /* 7 */
    tale_free(&t, TALE_HOST, a);
    analyse();
    const obj_hit *late_use = hit_of(ANA_EARLY_ALLOCATION, a),
                  *at_once = hit_of(ANA_EARLY_ALLOCATION, b);
    assert_true(late_use && late_use->to == use && late_use->calls == 6);
    assert_true(at_once && at_once->to == copy && at_once->calls == 2);
    assert_int_equal(plan.devices[0].before, 200);
    assert_int_equal(plan.devices[0].after, 100);
}

/* What is not known may have used it: then nothing is put off over that. */
static void filled_before_what_is_unknown(void **state)
{
    uint32_t a;
    (void)state;
    tale_allocate(&t, TALE_HOST, 100, &a);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    tale_copy_in(&t, TALE_LEGACY, a);
    uint32_t unknown = tale_launch_unknown(&t, TALE_LEGACY);
    for (int i = 0; i < 4; i++)
        tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    tale_launch(&t, TALE_LEGACY, a, a);
    analyse();
    assert_int_equal(lives.rows[a].used, unknown);
    assert_int_equal(hit_of(ANA_EARLY_ALLOCATION, a)->to, lives.rows[a].filled);
}

/* ---- parts ---- */

/* Parts are counted in their pool: 205 bytes at its peak, 105 when each lives only while it is used.
 * The device's peak is the pool's memory, which nothing is advised about. */
static void parts_of_a_pool(void **state)
{
    uint32_t pool, a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &pool);        /* T = 0 */
    tale_part(&t, pool, 100, &a);                     /* 0, as the call before it */
    tale_part(&t, pool, 105, &b);                     /* 0 */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, b);        /* 1 */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, a);        /* 2 */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE); /* 3 */
    tale_free(&t, TALE_HOST, a);                      /* 4, as the next call */
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE); /* 4: does not wait for that */
    tale_free(&t, TALE_HOST, b);                      /* 5 */
    tale_free(&t, TALE_HOST, pool);                   /* 5: waits for all of the context */
    expect_levels((const uint32_t[]){0, 0, 0, 1, 2, 3, 4, 4, 5, 5});
    free(levels);
    analyse();
    assert_int_equal(t.ndevices, 2);
    assert_int_equal(hit_of(ANA_EARLY_ALLOCATION, a)->calls, 1);
    assert_int_equal(hit_of(ANA_LATE_DEALLOCATION, a)->calls, 1);
    assert_int_equal(hit_of(ANA_LATE_DEALLOCATION, b)->calls, 3);
    assert_int_equal(hits.count, 3); /* none to reuse memory, and none of the pool's own */
    assert_int_equal(plan.devices[0].before, 1000);
    assert_int_equal(plan.devices[0].after, 1000);
    assert_int_equal(plan.devices[1].before, 205);
    assert_int_equal(plan.devices[1].after, 105);
    assert_true(obj_pool_of(&t, 0) == OBJ_NONE && obj_pool_of(&t, 1) == pool);
}

/* Three are made at one place: the first two are used no more when the next is made. What is used to
 * the end is none, however many there are, and what is made once may be meant to stay. */
static void leaks_in_a_pool(void **state)
{
    uint32_t pool, made[3], weights[3], once;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &pool);
    tale_part(&t, pool, 10, &once);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, once);
    for (int i = 0; i < 3; i++) {
        tale_part(&t, pool, 10, &weights[i]);
        t.objects.data[weights[i]].site = weights[0];
    }
    for (int i = 0; i < 3; i++) {
        tale_part(&t, pool, 10, &made[i]);
        t.objects.data[made[i]].site = made[0];
        tale_launch(&t, TALE_LEGACY, weights[i], made[i]);
    }
    analyse();
    assert_true(hit_of(ANA_LEAK, made[0]) && hit_of(ANA_LEAK, made[1]));
    assert_int_equal(hit_of(ANA_LEAK, made[0])->count, 2);
    assert_null(hit_of(ANA_LEAK, made[2]));
    for (int i = 0; i < 3; i++)
        assert_null(hit_of(ANA_LEAK, weights[i]));
    assert_null(hit_of(ANA_LEAK, once));
    assert_null(hit_of(ANA_LEAK, pool));
}

/* What is told of all that is divided may be of any part. */
static void accesses_around_parts(void **state)
{
    uint32_t pool, a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &pool);
    tale_part(&t, pool, 10, &a);
    tale_part(&t, pool, 10, &b);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    uint32_t around = tale_launch_around(&t, TALE_LEGACY, a);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    tale_free(&t, TALE_HOST, a);
    tale_free(&t, TALE_HOST, b);
    analyse();
    assert_null(hit_of(ANA_UNUSED_ALLOCATION, a));
    assert_non_null(hit_of(ANA_UNUSED_ALLOCATION, b));
    assert_int_equal(lives.rows[a].first, around);
    assert_true(lives.rows[a].possibly && !lives.rows[a].accesses);
}

/* A part is idle and written in vain like an object of CUDA's; what holds it is not. */
static void idle_and_dead_parts(void **state)
{
    uint32_t pool, a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &pool);
    tale_part(&t, pool, 10, &a);
    tale_part(&t, pool, 10, &b);
    uint32_t set = tale_set(&t, TALE_LEGACY, a);
    uint32_t copy = tale_copy_in(&t, TALE_LEGACY, a);
    for (int i = 0; i < 20; i++)
        tale_launch(&t, TALE_LEGACY, b, b);
    uint32_t use = tale_launch(&t, TALE_LEGACY, a, OBJ_NONE);
    tale_free(&t, TALE_HOST, a);
    analyse();
    const obj_hit *dead = hit_of(ANA_DEAD_WRITE, a), *idle = hit_of(ANA_TEMPORARY_IDLENESS, a);
    assert_true(dead && idle);
    assert_true(dead->from == set && dead->to == copy);
    assert_true(idle->from == copy && idle->to == use && idle->calls == 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(two_streams),
        TEST(legacy_stream),
        TEST(events_and_waits),
        TEST(nodes_of_a_graph),
        TEST(stages),
        TEST(unknown_launches),
        TEST(certain_moves),
        TEST(unused_and_leaks),
        TEST(idleness),
        TEST(idle_twice),
        TEST(measured_link),
        TEST(figure_3),
        TEST(reuse_in_a_chain),
        TEST(reuse_across_streams),
        TEST(reuse_after_a_wait),
        TEST(filled_too_soon),
        TEST(filled_before_what_is_unknown),
        TEST(parts_of_a_pool),
        TEST(leaks_in_a_pool),
        TEST(accesses_around_parts),
        TEST(idle_and_dead_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
