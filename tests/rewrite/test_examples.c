/* The kernels of examples/ with each probe (compare.h). test_examples.py compiles them and gives the folder; with a second
 * argument, a table of the instructions that probes add is written there. */
#include "compare.h"

#include <stdio.h>
#include <stdlib.h>

static const char *folder;
static FILE *table;

typedef struct example {
    const char *file, *kernel;
    emu_dim grid, block;
    const char *args;
} example;

#define DIM(x, y) {x, y, 1}
static const example examples[] = {
#define X(file, kernel, grid, block, args) {#file, kernel, DIM grid, DIM block, args},
#include "examples.def"
};

static char *read_ptx(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s.ptx", folder, strrchr(name, '/') + 1);
    FILE *f = fopen(path, "rb");
    if (!f)
        fail_msg("%s is missing", path);
    char *text = calloc(1, 1 << 20);
    assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
    fclose(f);
    return text;
}

static uint32_t word_of(char kind, uint32_t i)
{
    float value = (float)(i % 97) / 16;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return kind == 'F'   ? bits
           : kind == 'I' ? i * 7919 % 13
           : kind == 'C' ? i * 7919 % 1024
           : kind == 'O' ? i * 64
                         : 0;
}

/* All arrays in one allocation, each from a multiple of 256 bytes on. With `data` NULL only its size is found. */
static uint64_t place(const char *args, char *data, shape *s)
{
    uint64_t at = 0;
    uint32_t n = 0;
    for (char *end; *args; args = end + (*end == ' ')) {
        uint32_t count = (uint32_t)strtoul(args + 1, &end, 10);
        if (*args == 'V') {
            s->args[n++] = count;
            continue;
        }
        s->args[n++] = P(data + at);
        for (uint32_t i = 0; data && i < count; i++)
            ((uint32_t *)(void *)(data + at))[i] = word_of(*args, i);
        at = (at + 4 * (uint64_t)count + 255) / 256 * 256;
    }
    s->nargs = n;
    return at;
}

static const char *kernel_named(const probed *p, const char *part)
{
    for (uint32_t i = 0; i < p->result.nkernels; i++)
        if (strstr(p->result.kernels[i].func->name, part))
            return p->result.kernels[i].func->name;
    fail_msg("no kernel %s", part);
    return NULL;
}

static shape shape_of(probed *p, const example *e)
{
    shape s = {.grid = e->grid, .block = e->block};
    s.bytes = place(e->args, NULL, &s);
    s.data = fixture_alloc(&p->f, s.bytes);
    place(e->args, s.data, &s);
    return s;
}

/* One block traced, as is usual. */
static void add_row(probed *p, const example *e, const char *name, const shape *s,
                    const char *probe, bool everything)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    rewrite_object object = {P(s->data), s->bytes};
    rewrite_setup setup = {
        .chunks = 4096, .nobjects = 1, .objects = &object, .shared_bytes = 49152};
    shot original, with;
    left l;
    const uint64_t block = 0;
    shoot_original(p, name, s, &original);
    shoot_probed(p, name, s, false, &setup, &block, 1, &with, &l);
    fprintf(table, "%s,%s,%s,%s,%u,%llu,%llu,%.3f\n", strrchr(e->file, '/') + 1, e->kernel, probe,
            everything ? "probe" : "auto", k->probes ? k->nsites : 0,
            (unsigned long long)original.warp_instructions,
            (unsigned long long)with.warp_instructions,
            (double)with.warp_instructions / (double)original.warp_instructions);
    left_end(&l), shot_end(&original), shot_end(&with);
}

static void check_example(const example *e, const char *probe, uint32_t probes, bool everything,
                          tally *t)
{
    probed p;
    char *text = read_ptx(e->file);
    probed_begin(&p, text, probes, everything);
    const char *name = kernel_named(&p, e->kernel);
    shape s = shape_of(&p, e);
    check_kernel(&p, name, &s, t);
    if (table)
        add_row(&p, e, name, &s, probe, everything);
    probed_end(&p);
    free(text);
}

static void check_all(const char *probe, uint32_t probes, bool everything)
{
    tally t = {0};
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        check_example(&examples[i], probe, probes, everything, &t);
    report(probe, &t);
    assert_int_equal(t.kernels, sizeof examples / sizeof *examples);
}

static void examples_run_alike(void **state)
{
    (void)state;
    for (int everything = 0; everything <= 1; everything++) {
        for (unsigned probe = 0; probe < REWRITE_PROBE_COUNT; probe++)
            check_all(rewrite_probe_name(probe), 1u << probe, everything);
        check_all("all", (1u << REWRITE_PROBE_COUNT) - 1, everything);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(examples_run_alike)};
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER [TABLE]\n", argv[0]);
        return 2;
    }
    folder = argv[1];
    table = argc > 2 ? fopen(argv[2], "w") : NULL;
    if (table)
        fputs("example,kernel,probe,collect,sites,instructions,with_probes,ratio\n", table);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (table && fclose(table) != 0)
        return 1;
    return failed;
}
