/* Kernels as programs have them (programs.cu) with each probe (compare.h). With an argument, a
 * table of the instructions that probes add is written there. */
#include "../flow/support.h"
#include "compare.h"
#include "programs.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *table;

/* One block traced, as is usual. */
static void add_row(probed *p, const program *e, const char *name, const shape *s,
                    const char *probe, bool everything)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    rewrite_setup setup = {
        .rows = 1 << 12, .nobjects = s->nobjects, .objects = s->objects, .shared_bytes = 49152};
    shot original, with;
    left l;
    const uint64_t block = 0;
    shoot_original(p, name, s, &original);
    shoot_probed(p, name, s, false, &setup, &block, 1, &with, &l);
    fprintf(table, "%s,%s,%s,%u,%llu,%llu,%.3f\n", e->kernel, probe, everything ? "probe" : "auto",
            k->probes ? k->nsites : 0, (unsigned long long)original.warp_instructions,
            (unsigned long long)with.warp_instructions,
            (double)with.warp_instructions / (double)original.warp_instructions);
    left_end(&l), shot_end(&original), shot_end(&with);
}

static void check_program(const program *e, const char *probe, uint32_t probes, bool everything,
                          tally *t)
{
    probed p;
    char *text = test_read_source("tests/rewrite/programs.ptx");
    probed_begin(&p, text, probes, everything);
    const char *name = e->kernel;
    shape s = program_shape(&p, e);
    check_kernel(&p, name, &s, t);
    if (table)
        add_row(&p, e, name, &s, probe, everything);
    probed_end(&p);
    free(text);
}

static void check_all(const char *probe, uint32_t probes, bool everything)
{
    tally t = {0};
    for (size_t i = 0; i < program_count; i++)
        check_program(&programs[i], probe, probes, everything, &t);
    report(probe, &t);
    assert_true(!(probes >> REWRITE_FREQUENCY & 1) || t.logged);
    assert_int_equal(t.kernels, program_count);
}

/* Instrumented code is too slow to try more than all probes together, on everything. */
#ifdef __SANITIZE_ADDRESS__
enum { ALONE = 0, FIRST = 1 };
#else
enum { ALONE = REWRITE_PROBE_COUNT, FIRST = 0 };
#endif

static void programs_run_alike(void **state)
{
    (void)state;
    for (int everything = FIRST; everything <= 1; everything++) {
        for (int probe = 0; probe < ALONE; probe++)
            check_all(rewrite_probe_name((rewrite_probe)probe), 1u << probe, everything);
        check_all("all", (1u << REWRITE_PROBE_COUNT) - 1, everything);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_run_alike)};
    table = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (table)
        fputs("kernel,probe,collect,sites,instructions,with_probes,ratio\n", table);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (table && fclose(table) != 0)
        return 1;
    return failed;
}
