/* Kernels and memory over time, from captures made by hand. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/input.h"
#include "analysis/tables.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static wl_error err;
static prof_db *make(void (*tell)(prof_builder *))
{
    prof_builder *builder;
    prof_db *db;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("tables.wlprof"), &options, &builder, &err), &err);
    tell(builder);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("tables.wlprof"), &db, &err), &err);
    return db;
}

static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path("tables.wlprof"));
    return 0;
}

/* Rows count whole sectors of device memory; places are told from the object's first byte. */
static void sectors_of_objects(void **state)
{
    const obs_heat_row row = {.sector = 3, .history = 0x13, .word = {1, 3, [7] = 7}};
    const prof_object aligned = {.base = 0x1000}, skewed = {.base = 0x1010};
    (void)state;
    assert_int_equal(ana_sector_of(&row, NULL).offset, 96);
    assert_int_equal(ana_sector_of(&row, &aligned).offset, 96);
    ana_sector sector = ana_sector_of(&row, &skewed);
    assert_int_equal(sector.offset, 80);
    assert_int_equal(sector.temperature, 3);
    assert_true(sector.word[0] == 1 && sector.word[1] == 2 && !sector.word[2]);
    assert_int_equal(sector.word[7], 3);
}

static void kernels(void **state)
{
    (void)state;
    prof_db *db = make(story_all);
    ana_kernels table;
    ana_findings findings;
    ana_thresholds thresholds = ana_thresholds_default();
    story_expect(ana_find(db, &thresholds, arena, &findings, &err), &err);
    story_expect(ana_kernel_table(db, &findings, arena, &table, &err), &err);
    assert_int_equal(table.count, 1);
    const ana_kernel *k = &table.rows[0];
    assert_int_equal(k->launches, 3);
    assert_int_equal(k->counts.sectors, 3 * (32 + 64));
    assert_int_equal(k->counts.wavefronts, 3 * 4);
    assert_int_equal(k->counts.requests, 3 * 18);
    assert_int_equal(k->counts.executions,
                     3 * 16); /* two instructions, one of them on two objects */
    assert_int_equal(k->counts.thread_instructions, 3 * 2710);
    assert_true(k->host_seconds == 0.75 && k->device.seconds < 0 && k->device.timed == 0);
    uint64_t sectors = 0;
    uint32_t groups = 0;
    for (uint32_t g = 0; g < findings.ngroups; g++)
        groups += findings.groups[g].nkernels > 0; /* there is but one kernel */
    assert_int_equal(k->nfindings, groups);
    for (uint32_t i = 0; i < findings.count; i++) {
        const ana_cost *cost = &findings.rows[i].cost;
        sectors += cost->unit == ANA_SECTORS ? cost->excess : 0;
    }
    assert_int_equal(k->excess_sectors, sectors);
    prof_close(db);
}

/* ---- memory ---- */

static void add(prof_builder *builder, cap_record r)
{
    story_expect(prof_add(builder, &r, &err), &err);
}

static void allocate(prof_builder *builder, uint32_t id, uint64_t bytes, cap_object_kind kind)
{
    add(builder, story_call(id, "cudaMalloc", CAP_CALL_ALLOC));
    cap_record r = story_object(id, id, 0x10000 * id, bytes);
    r.object.kind = kind;
    add(builder, r);
}

static void allocate_on(prof_builder *builder, uint32_t id, uint32_t device, uint64_t bytes)
{
    add(builder, story_call(id, "cudaMalloc", CAP_CALL_ALLOC));
    cap_record r = story_object(id, id, 0x10000 * id, bytes);
    r.object.device = device;
    add(builder, r);
}

static void tell_memory(prof_builder *builder)
{
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process("/src/app"));
    allocate(builder, 1, 1000, CAP_OBJECT_DEVICE);
    allocate(builder, 2, 500, CAP_OBJECT_MANAGED);
    allocate(builder, 3, 1 << 20, CAP_OBJECT_PINNED); /* the host's memory */
    add(builder, story_free(2, 0));
    allocate(builder, 4, 200, CAP_OBJECT_DEVICE);
    add(builder, story_free(4, 0));
    allocate(builder, 5, 900, CAP_OBJECT_DEVICE);
    add(builder, story_end());
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process("/src/child"));
    allocate(builder, 1, 1800, CAP_OBJECT_DEVICE);
    add(builder, story_end());
}

static void check_course(const ana_device_memory *m, const uint64_t *bytes, uint32_t count)
{
    assert_int_equal(m->npoints, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(m->points[i].bytes, bytes[i]);
}

static void memory(void **state)
{
    (void)state;
    prof_db *db = make(tell_memory);
    ana_memory table;
    story_expect(ana_memory_table(db, arena, &table, &err), &err);
    assert_int_equal(table.peak_bytes, 1900);
    assert_int_equal(table.npeaks, 3);
    assert_int_equal(table.peaks[0].bytes, 1900);
    assert_int_equal(table.peaks[0].nobjects, 2);
    assert_int_equal(table.peaks[0].objects[0], 1); /* largest first */
    assert_int_equal(table.peaks[0].objects[1], 5);
    assert_int_equal(table.peaks[0].call, 5);
    assert_int_equal(table.peaks[1].bytes, 1800); /* of the other process: they do not add up */
    assert_int_equal(table.peaks[1].process, 2);
    assert_int_equal(table.peaks[2].bytes, 1500);
    assert_int_equal(table.peaks[2].process, 1);
    assert_int_equal(table.ndevices, 2);
    check_course(&table.devices[0], (const uint64_t[]){1000, 1500, 1000, 1200, 1000, 1900}, 6);
    check_course(&table.devices[1], (const uint64_t[]){1800}, 1);
    prof_close(db);
}

/* ---- pools ---- */

static void tag(prof_builder *builder, uint32_t object, const char *name)
{
    add(builder, (cap_record){.type = CAP_ANNOTATION, .annotation = {object, name, 0}});
}

static void place(prof_builder *builder, uint32_t id, uint32_t parent, uint64_t base,
                  uint64_t bytes)
{
    add(builder, story_call(id, parent ? "take" : "cudaMalloc", CAP_CALL_ALLOC));
    cap_record r = story_object(id, id, base, bytes);
    r.object.parent = parent;
    add(builder, r);
}

/* Two segments of one name side by side, 1000 to 2000 to 3000. Most is in use when 5 has come, which
 * lies across their border; 6 lies in 4, and counts with it. 7 comes when 3 has gone. 8 is a segment
 * without a name, which holds 9; 10 is no pool. */
static void tell_pools(prof_builder *builder)
{
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process("/src/app"));
    place(builder, 1, 0, 1000, 1000);
    tag(builder, 1, "arena");
    place(builder, 2, 0, 2000, 1000);
    tag(builder, 2, "arena");
    place(builder, 3, 1, 1000, 400);
    place(builder, 4, 1, 1600, 200);
    place(builder, 5, 1, 1900, 400);
    place(builder, 6, 4, 1650, 100);
    add(builder, story_free(3, 0));
    place(builder, 7, 1, 1000, 300);
    place(builder, 8, 0, 5000, 64);
    place(builder, 9, 8, 5000, 64);
    add(builder, story_free(9, 0));
    place(builder, 10, 0, 9000, 4096);
    add(builder, (cap_record){.type = CAP_POOL, .pool = {1, CAP_POOL_DEFAULT, 0}});
    add(builder, (cap_record){.type = CAP_POOL, .pool = {2, CAP_POOL_CREATED, 1}});
    add(builder, (cap_record){.type = CAP_POOL, .pool = {3, CAP_POOL_CREATED, 0}});
    add(builder, (cap_record){.type = CAP_POOL_STATE, .pool_state = {1, 0, 64, 10}});
    add(builder, (cap_record){.type = CAP_POOL_STATE, .pool_state = {2, 0, 7, 7}});
    add(builder, (cap_record){.type = CAP_POOL_STATE, .pool_state = {1, 0, 128, 40}});
    add(builder, (cap_record){.type = CAP_POOL_STATE, .pool_state = {1, 0, 192, 30}});
    add(builder, (cap_record){.type = CAP_POOL_STATE, .pool_state = {1, 0, 0, 0}});
    add(builder, story_end());
}

static void check_amounts(const ana_pool *p, uint64_t most_reserved, uint64_t most_used,
                          uint64_t reserved)
{
    assert_int_equal(p->most_reserved, most_reserved);
    assert_int_equal(p->most_used, most_used);
    assert_int_equal(p->reserved_then, reserved);
}

static void check_free(const ana_pool *p, uint64_t all, uint64_t largest)
{
    assert_true(p->divided);
    assert_int_equal(p->free_then, all);
    assert_int_equal(p->largest_free_then, largest);
}

static void pools(void **state)
{
    (void)state;
    prof_db *db = make(tell_pools);
    ana_pools table;
    story_expect(ana_pool_table(db, arena, &table, &err), &err);
    assert_int_equal(table.count, 4); /* of pool 3 nothing is known */
    const ana_pool *p = table.rows;
    assert_int_equal(p[0].pool, 0);
    assert_int_equal(p[0].nobjects, 1); /* the one without a name is first */
    assert_int_equal(p[0].objects[0], 9);
    check_amounts(&p[0], 64, 64, 64);
    check_free(&p[0], 0, 0);
    assert_true(ana_fragmentation(&p[0]) == 0);
    assert_string_equal(p[1].name, "arena");
    check_amounts(&p[1], 2000, 1000, 2000);
    check_free(&p[1], 1000, 700); /* 1400 to 1600, 1800 to 1900, 2300 to 3000 */
    assert_true(ana_fragmentation(&p[1]) > 0.299 && ana_fragmentation(&p[1]) < 0.301);
    assert_int_equal(p[1].nobjects, 3);
    assert_int_equal(p[1].objects[0], 3); /* largest first */
    assert_int_equal(p[1].objects[2], 4);
    assert_int_equal(p[2].pool, 1);
    check_amounts(&p[2], 192, 40, 128);
    assert_false(p[2].divided);
    assert_int_equal(p[3].device, 1);
    check_amounts(&p[3], 7, 7, 7);
    prof_close(db);
}

/* Two devices in turns. On device 0 the peak is 700, on device 1 it is 900; together it would be
 * 1,500 bytes, which no device ever held. */
static void tell_devices(prof_builder *builder)
{
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process("/src/app"));
    allocate_on(builder, 1, 0, 600);
    allocate_on(builder, 2, 1, 900);
    add(builder, story_free(2, 0));
    allocate_on(builder, 3, 0, 100);
    allocate_on(builder, 4, 1, 300);
    add(builder, story_free(1, 0));
    add(builder, story_end());
}

static void memory_of_two_devices(void **state)
{
    (void)state;
    prof_db *db = make(tell_devices);
    ana_memory table;
    story_expect(ana_memory_table(db, arena, &table, &err), &err);
    assert_int_equal(table.peak_bytes, 900);
    assert_int_equal(table.ndevices, 2);
    assert_int_equal(table.devices[0].device, 0);
    assert_int_equal(table.devices[0].peak_bytes, 700);
    check_course(&table.devices[0], (const uint64_t[]){600, 700, 100}, 3);
    assert_int_equal(table.devices[1].device, 1);
    assert_int_equal(table.devices[1].peak_bytes, 900);
    check_course(&table.devices[1], (const uint64_t[]){900, 0, 300}, 3);
    assert_int_equal(table.npeaks, 3);
    assert_int_equal(table.peaks[0].device, 1);
    assert_int_equal(table.peaks[0].objects[0], 2);
    assert_int_equal(table.peaks[1].device, 0);
    assert_int_equal(table.peaks[1].nobjects, 2);
    assert_int_equal(table.peaks[2].device, 1);
    assert_int_equal(table.peaks[2].bytes, 300);
    prof_close(db);
}

/* Peaks of equal size; the second process uses the devices in the other order. */
static void tell_equal_peaks(prof_builder *builder)
{
    for (uint32_t process = 0; process < 2; process++) {
        story_expect(prof_begin_process(builder, &err), &err);
        add(builder, story_process("/src/app"));
        for (uint32_t i = 0; i < 3; i++)
            allocate_on(builder, i + 1, process ? 2 - i : i, 500);
        add(builder, story_end());
    }
}

/* By process, then by device. */
static void equal_peaks_have_an_order(void **state)
{
    (void)state;
    prof_db *db = make(tell_equal_peaks);
    ana_memory table;
    story_expect(ana_memory_table(db, arena, &table, &err), &err);
    assert_int_equal(table.npeaks, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(table.peaks[i].process, 1 + i / 3);
        assert_int_equal(table.peaks[i].device, i % 3);
    }
    prof_close(db);
}

static void tell_nothing(prof_builder *builder)
{
    story_expect(prof_begin_process(builder, &err), &err);
    add(builder, story_process("/src/app"));
    add(builder, story_end());
}

static void nothing(void **state)
{
    (void)state;
    prof_db *db = make(tell_nothing);
    ana_memory table;
    ana_kernels kernels_of;
    ana_findings findings;
    ana_thresholds thresholds = ana_thresholds_default();
    story_expect(ana_memory_table(db, arena, &table, &err), &err);
    story_expect(ana_kernel_table(db, NULL, arena, &kernels_of, &err), &err);
    story_expect(ana_find(db, &thresholds, arena, &findings, &err), &err);
    assert_int_equal(table.npeaks + kernels_of.count + findings.count, 0);
    assert_int_equal(table.peak_bytes, 0);
    prof_close(db);
}

static void every_pattern_is_described(void **state)
{
    (void)state;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        const ana_pattern_info *info = ana_pattern_get((ana_pattern)p);
        char path[4096];
        snprintf(path, sizeof path, "%s/docs/patterns/%s.md", WL_SOURCE_DIR, info->name);
        assert_int_equal(access(path, R_OK), 0);
        assert_true(strlen(info->title) > 0 && strlen(info->remedy) > 0);
        assert_true(strlen(ana_unit_text(info->unit)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sectors_of_objects),
        cmocka_unit_test_setup_teardown(kernels, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(pools, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_of_two_devices, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(equal_peaks_have_an_order, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing, arena_set_up, tear_down),
        cmocka_unit_test(every_pattern_is_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
