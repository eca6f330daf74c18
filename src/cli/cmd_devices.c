/* `warplens devices`: the GPUs that can be emulated, and what the description of one says. */
#include "base/log.h"
#include "cli/cli.h"
#include "cuda/device.h"

#include <stdlib.h>
#include <string.h>

/* What bench/device measured, where it did. */
static void print_figures(const cuda_measured *measured)
{
    if (!*measured->date)
        return;
    printf("measured %s, driver %s: the median, and from the lowest to the highest\n",
           measured->date, measured->driver);
    for (int i = 0; i < CUDA_FIGURES; i++) {
        const cuda_figure *figure = &measured->figures[i];
        if (figure->value > 0)
            printf("  %-28s %10.4g  %-22s %.4g to %.4g\n", cuda_figure_texts[i].key, figure->value,
                   cuda_figure_texts[i].unit, figure->low, figure->high);
    }
}

/* What documents tell of a device that bench/device did not run on, each with its figures. */
static void print_cited(const cuda_cited *cited)
{
    for (uint32_t d = 0; d < cited->count; d++) {
        printf("cited from %s\n", cited->documents[d]);
        for (int i = 0; i < CUDA_ALL_FIGURES; i++)
            if (cited->figures[i] > 0 && cited->document[i] == d)
                printf("  %-28s %10.4g  %s\n", cuda_figure_texts[i].key, cited->figures[i],
                       cuda_figure_texts[i].unit);
    }
}

static int describe_device(const char *name)
{
    cuda_device d;
    wl_error err = {0};
    if (cuda_device_load(name, &d, &err) != WL_OK)
        return cli_fail(&err);
    printf("%s\n", d.name);
    printf("  %-34s %u.%u\n", "compute capability", d.sm / 10, d.sm % 10);
    printf("  %-34s %.1f GiB\n", "device memory", (double)d.global_bytes / (1 << 30));
    printf("  %-34s %.1f MiB\n", "L2 cache", (double)d.l2_bytes / (1 << 20));
    if (d.model.dram_bytes_per_second > 0)
        printf("  %-34s %.0f GB/s\n", "memory bandwidth", d.model.dram_bytes_per_second / 1e9);
    printf("  %-34s %u threads, %u blocks, %u registers, %u KiB of shared memory\n", "an SM holds",
           d.limits.threads, d.limits.blocks, d.limits.registers, d.limits.shared / 1024);
    for (int i = 0; i < CUDA_ATTRIBUTES; i++) {
        char key[CUDA_ATTRIBUTE_KEY];
        int value;
        if (cuda_attribute_key(i, key) && cuda_device_attribute(&d, i, &value))
            printf("  %-50s %d\n", key, value);
    }
    print_figures(&d.measured);
    print_cited(&d.cited);
    printf("source: %s\n", d.source);
    return CLI_OK;
}

static int list_devices(void)
{
    char **ids;
    size_t count;
    wl_error err = {0};
    if (cuda_device_list(&ids, &count, &err) != WL_OK)
        return cli_fail(&err);
    printf("%-10s %-28s %5s %6s %12s\n", "id", "name", "cc", "SMs", "memory");
    int status = CLI_OK;
    for (size_t i = 0; i < count; i++) {
        cuda_device d;
        int sms = 0;
        if (cuda_device_load(ids[i], &d, &err) != WL_OK) {
            status = cli_fail(&err);
            continue;
        }
        cuda_device_attribute(&d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms);
        printf("%-10s %-28s %3u.%u %6d %8.0f GiB%s\n", d.id, d.name, d.sm / 10, d.sm % 10, sms,
               (double)d.global_bytes / (1 << 30),
               strcmp(d.id, CUDA_DEFAULT_DEVICE) == 0 ? "  (default)" : "");
    }
    cuda_device_list_free(ids, count);
    return status;
}

int cmd_devices(int argc, const char **argv)
{
    const struct poptOption options[] = {CLI_COMMON};
    int status;
    const cli_syntax syntax = {.options = options, .usage = "[NAME]"};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    const char **args = context ? poptGetArgs(context) : NULL;
    if (args && args[0] && args[1])
        status = cli_usage_error("devices", "one device is expected, not several");
    else if (context)
        status = args && args[0] ? describe_device(args[0]) : list_devices();
    poptFreeContext(context);
    return status;
}
