/* The text's head, table of kernels and line of heat maps, to the letter. */
#include "render.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static void test_text_begins_with_the_run(void **state)
{
    fixture *f = *state;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    static const char head[] =
        "transpose --size 512\n"
        "device     NVIDIA H200, compute capability 9.0\n"
        "backend    emulate (on the CPU, no GPU used), warplens 0.1.0\n"
        "memory     2 MiB at the peak\n"
        "\n"
        "Kernels  costliest first; sectors per request, now and needed\n"
        "  kernel                               launches  requests  sectors  per request  needed  "
        "wavefronts  conflicts  findings\n"
        "  transpose_shared<\u2026>                         1    24.6 K   41.0 K         2.50    "
        "2.50       262 K      254 K         1\n"
        "  transpose_naive                             1    16.4 K    295 K         18.0    4.00   "
        "                             1\n"
        "  evil<\"</script><script>\u2026</script>\">         1         1        1         1.00    "
        "1.00                             none\n";
    assert_memory_equal(text, head, sizeof head - 1);
    free(text);
}

static void test_text_of_the_peaks_of_several_devices(void **state)
{
    fixture *f = *state;
    ana_device_memory devices[] = {
        {.process = 1, .device = 0, .peak_bytes = 3 << 20},
        {.process = 1, .device = 1, .peak_bytes = 5 << 10},
        {.process = 2, .device = 0, .peak_bytes = 7},
    };
    f->data.memory.ndevices = 2;
    f->data.memory.devices = devices;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "\nmemory     3 MiB at the peak on device 0\n"
                     "           5 KiB at the peak on device 1\n\n");
    free(text);
    prof_process processes[] = {f->data.processes.rows[0], f->data.processes.rows[0]};
    f->data.processes.rows = processes;
    f->data.processes.count = 2;
    f->data.memory.ndevices = 3;
    text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, "\nmemory     3 MiB at the peak on device 0 of process 1\n"
                     "           5 KiB at the peak on device 1 of process 1\n"
                     "           7 B at the peak on device 0 of process 2\n\n");
    free(text);
}

static void expect_maps(fixture *f, uint64_t observed, uint64_t mapped, uint64_t blocks,
                        uint64_t run, const char *want)
{
    prof_coverage *c = &f->data.coverage;
    c->launches_observed = observed;
    c->launches_mapped = mapped;
    c->blocks_sampled = blocks;
    c->blocks_run = run;
    char *text = text_of(&f->data, &(rep_text_options){.width = 120});
    assert_has(text, want);
    free(text);
}

static void test_text_of_heat_maps(void **state)
{
    fixture *f = *state;
    expect_maps(f, 3, 2, 4, 9,
                " 4 blocks with heat maps in 2 of 3 launches, which stand for the others\n");
    expect_maps(f, 3, 3, 6, 9,
                " 6 blocks with heat maps (2 per launch), which stand for the others\n");
    expect_maps(f, 3, 3, 5, 9, " 5 blocks with heat maps, which stand for the others\n");
    expect_maps(f, 3, 3, 9, 9, " 9 blocks with heat maps (3 per launch)\n");
    expect_maps(f, 1, 1, 1, 9, " 1 block with heat maps, which stands for the others\n");
    expect_maps(f, 1, 1, 1, 1, " 1 block with heat maps\n");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_text_begins_with_the_run),
        T(test_text_of_the_peaks_of_several_devices),
        T(test_text_of_heat_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
