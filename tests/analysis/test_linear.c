/* That analysing takes time that grows with what a profile holds: steps of SQLite's machine for twice as
 * much are counted, and what is done outside of it must take less than to write the profile. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/tables.h"
#include "profile/db.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static wl_error err;

static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path("linear.wlprof"));
    return 0;
}

typedef struct amounts {
    uint32_t kernels, objects, launches;
} amounts;

static void add(prof_builder *b, cap_record record)
{
    story_expect(prof_add(b, &record, &err), &err);
}

static void add_object(prof_builder *b, uint32_t id)
{
    add(b, story_call(id, "cudaMalloc", CAP_CALL_ALLOC));
    add(b, story_object(id, id, 0x7f0000000000 + 0x1000 * (uint64_t)id, 4096));
}

static const char *kernel_name(uint32_t module)
{
    static char name[16];
    snprintf(name, sizeof name, "_Z5s%04uPf", module % 10000);
    return name;
}

/* With a kernel that has another name. */
static void add_module(prof_builder *b, uint32_t id)
{
    static const char scale[] = "_Z5scalePf";
    cap_record module = story_module(id);
    char *code = wl_arena_strdup(arena, module.module.code);
    assert_non_null(code);
    for (char *at = code; (at = strstr(at, scale));)
        memcpy(at, kernel_name(id), strlen(scale));
    module.module.code = code;
    add(b, module);
}

/* No two launches are alike: each has a heat map of its own, and elements of its own. */
static void add_launch(prof_builder *b, uint32_t id, const amounts *n)
{
    uint64_t sector = 4 * (uint64_t)id;
    cap_record launch = story_launch(id, 0, 0x7f0000001000);
    char span[] = {(char)(id % 100), 5, 2, 0, 0};
    obs_use use = {.object = 1 + id % n->objects,
                   .space = ACC_GLOBAL,
                   .known = OBS_KNOWN_COUNTED,
                   .spans = span,
                   .length = sizeof span};
    launch.launch.module = 1 + id % n->kernels;
    launch.launch.kernel = kernel_name(launch.launch.module);
    launch.launch.summary.insns[0].requests = 8 + id % 1000;
    launch.launch.summary.heats[0].rows[0].sector += sector;
    launch.launch.summary.heats[0].rows[1].sector += sector;
    add(b, launch);
    add(b, (cap_record){.type = CAP_USES,
                        .uses = {id, OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED, 1, &use}});
}

static prof_db *write_profile(const amounts *n)
{
    prof_builder *b;
    prof_db *db;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("linear.wlprof"), &options, &b, &err), &err);
    story_expect(prof_begin_process(b, &err), &err);
    add(b, story_process("/src/app"));
    add(b, story_device());
    for (uint32_t i = 1; i <= n->kernels; i++)
        add_module(b, i);
    for (uint32_t i = 1; i <= n->objects; i++)
        add_object(b, i);
    for (uint32_t i = 1; i <= n->launches; i++)
        add_launch(b, i, n);
    add(b, story_end());
    story_expect(prof_end_process(b, NULL, &err), &err);
    story_expect(prof_finish(b, &err), &err);
    story_expect(prof_open(story_path("linear.wlprof"), &db, &err), &err);
    return db;
}

/* ---- steps of SQLite ---- */

static int count_step(void *ctx)
{
    ++*(uint64_t *)ctx;
    return 0;
}

typedef void what_is_done(prof_db *db);

static uint64_t steps_of(const amounts *n, what_is_done *what)
{
    uint64_t steps = 0;
    prof_db *db = write_profile(n);
    sqlite3_progress_handler(db->sql, 1, count_step, &steps);
    what(db);
    prof_close(db);
    return steps;
}

/* Twice as much of everything must not take much more than twice the steps. */
static void expect_linear(amounts n, what_is_done *what)
{
    uint64_t once = steps_of(&n, what);
    amounts twice = {2 * n.kernels, 2 * n.objects, 2 * n.launches};
    uint64_t steps = steps_of(&twice, what);
    assert_true(once > n.launches);
    if ((double)steps > 2.5 * (double)once)
        fail_msg("%llu steps, and %llu for twice as much", (unsigned long long)once,
                 (unsigned long long)steps);
}

static void find(prof_db *db)
{
    ana_findings findings;
    const ana_thresholds thresholds = ana_thresholds_default();
    story_expect(ana_find(db, &thresholds, arena, &findings, &err), &err);
}

static void add_up_kernels(prof_db *db)
{
    prof_kernel_rows kernels;
    prof_instruction_rows totals;
    story_expect(prof_load_kernels(db, arena, &kernels, &err), &err);
    assert_true(kernels.count >= 40);
    for (uint32_t i = 0; i < kernels.count; i++) {
        story_expect(prof_load_instruction_totals(db, kernels.rows[i].id, arena, &totals, &err),
                     &err);
        assert_true(totals.count > 0);
    }
}

static void kernels_are_added_up_one_by_one(void **state)
{
    (void)state;
    expect_linear((amounts){40, 4, 400}, add_up_kernels);
}

static void findings_of_many_launches(void **state)
{
    (void)state;
    expect_linear((amounts){1, 4, 400}, find);
}

static void findings_of_many_kernels(void **state)
{
    (void)state;
    expect_linear((amounts){40, 40, 400}, find);
}

/* ---- time ---- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* To write a profile takes longer than a table of it, whatever the machine: if each object were
 * compared with each launch, it would be the other way round many times over. */
static void uses_of_many_objects(void **state)
{
    (void)state;
    const amounts n = {1, 30000, 30000};
    ana_uses uses;
    double begin = seconds();
    prof_db *db = write_profile(&n);
    double written = seconds();
    story_expect(ana_use_table(db, NULL, arena, &uses, &err), &err);
    double done = seconds();
    assert_true(uses.count >= n.objects);
    if (done - written > written - begin)
        fail_msg("%.2f s to write, %.2f s for the table", written - begin, done - written);
    prof_close(db);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, arena_set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(kernels_are_added_up_one_by_one),
        TEST(findings_of_many_launches),
        TEST(findings_of_many_kernels),
        TEST(uses_of_many_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
