/* Our counts against those of a real GPU, pattern by pattern (data/, measured by hardware/). */
#include "cost_of.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct measured {
    char kind[16], name[64];
    uint64_t addr[32];
    acc_request access;
    uint32_t counts[2]; /* wavefronts and conflicts, or sectors and requests */
} measured;

static const struct {
    const char *kind;
    acc_space space;
    acc_op op;
    uint32_t flags;
} kinds[] = {
    {"lds", ACC_SHARED, ACC_LOAD, 0},     {"sts", ACC_SHARED, ACC_STORE, 0},
    {"atoms", ACC_SHARED, ACC_ATOMIC, 0}, {"ldsm", ACC_SHARED, ACC_LOAD, ACC_MATRIX},
    {"ldg", ACC_GLOBAL, ACC_LOAD, 0},     {"stg", ACC_GLOBAL, ACC_STORE, 0},
};

static bool set_kind(measured *m)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].kind, m->kind) == 0) {
            m->access.space = kinds[i].space;
            m->access.op = kinds[i].op;
            m->access.flags = kinds[i].flags;
            return true;
        }
    }
    return false;
}

/* kind,bytes,mask,name,offsets,count,count */
static bool parse(char *line, measured *m)
{
    char offsets[512];
    *m = (measured){.access = {.stride = ACC_IRREGULAR}};
    m->access.addr = m->addr;
    if (sscanf(line, "%15[^,],%u,%x,%63[^,],%511[^,],%u,%u", m->kind, &m->access.bytes,
               &m->access.mask, m->name, offsets, &m->counts[0], &m->counts[1]) != 7)
        return false;
    char *at = offsets;
    for (int i = 0; i < 32; i++)
        m->addr[i] = strtoul(at, &at, 10);
    return set_kind(m);
}

static void expect(const measured *m, uint32_t got, uint32_t want, const char *what)
{
    if (got != want)
        fail_msg("%s %u %08x %s: %s %u, the hardware counts %u", m->kind, m->access.bytes,
                 m->access.mask, m->name, what, got, want);
}

static void compare(const measured *m)
{
    obs_cost cost = cost_of_request(&m->access);
    if (m->access.space == ACC_SHARED) {
        expect(m, cost.wavefronts, m->counts[0], "wavefronts");
        expect(m, cost.wavefronts - cost.wavefronts_min, m->counts[1], "bank conflicts");
    } else {
        expect(m, cost.sectors, m->counts[0], "sectors");
        expect(m, 1, m->counts[1], "requests");
    }
}

static int compare_file(const char *name)
{
    char path[512], line[1024];
    int rows = 0;
    snprintf(path, sizeof path, "%s/tests/observe/data/%s", WL_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s is missing", path);
    while (fgets(line, sizeof line, file)) {
        measured m;
        if (line[0] == '#' || strncmp(line, "kind,", 5) == 0)
            continue;
        if (!parse(line, &m))
            fail_msg("unreadable: %s", line);
        compare(&m);
        rows++;
    }
    fclose(file);
    return rows;
}

static void shared_memory(void **state)
{
    (void)state;
    assert_true(compare_file("h200_shared.csv") > 1000);
}

static void global_memory(void **state)
{
    (void)state;
    assert_true(compare_file("h200_global.csv") > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory),
        cmocka_unit_test(global_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
