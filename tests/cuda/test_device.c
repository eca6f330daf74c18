/* Device descriptions, attributes, properties and occupancy. */
#include "cuda/device.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORDED WL_SOURCE_DIR "/tests/cuda/recorded/"

static FILE *open_recorded(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, RECORDED "%s", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

static cuda_device load(const char *name)
{
    cuda_device device;
    wl_error err = {0};
    if (cuda_device_load(name, &device, &err) != WL_OK)
        fail_msg("%s", err.text);
    return device;
}

static void every_description_loads(void **state)
{
    char **ids;
    size_t count;
    (void)state;
    assert_int_equal(cuda_device_list(&ids, &count, NULL), WL_OK);
    assert_true(count > 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(i == 0 || strcmp(ids[i - 1], ids[i]) < 0);
        cuda_device device = load(ids[i]);
        assert_string_equal(device.id, ids[i]);
        assert_true(device.model.dram_bytes_per_second > 1e11);
        assert_true(device.model.fp32 > 0);
        /* Twice the clock times the width of the bus is the bandwidth that the data sheet rounds.
         */
        double bus = 2e3 * device.attributes[CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] *
                     device.attributes[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] / 8;
        assert_true(bus > 0.96 * device.model.dram_bytes_per_second);
        assert_true(bus < 1.04 * device.model.dram_bytes_per_second);
    }
    cuda_device_list_free(ids, count);
}

static void names_are_found_in_any_case(void **state)
{
    cuda_device device;
    wl_error err = {0};
    (void)state;
    assert_string_equal(load("H200").name, "NVIDIA H200");
    assert_int_equal(load(WL_SOURCE_DIR "/devices/t4.json").sm, 75);
    assert_int_equal(cuda_device_load("h201", &device, &err), WL_NOENT);
    assert_non_null(strstr(err.text, "h200"));
    assert_int_equal(cuda_device_load("/nonexistent/x.json", &device, &err), WL_NOENT);
}

static const cuda_figure *figure_of(const cuda_device *device, cuda_figure_key key)
{
    return &device->measured.figures[key];
}

/* What the default device can do was measured on one: each figure lies between its extremes, and
 * those that a data sheet states are not above it. */
static void figures_are_measured(void **state)
{
    cuda_device h200 = load("h200"), t4 = load("t4");
    (void)state;
    for (int i = 0; i < CUDA_FIGURES; i++) {
        const cuda_figure *figure = figure_of(&h200, (cuda_figure_key)i);
        assert_true(figure->low > 0 && figure->low <= figure->value);
        assert_true(figure->value <= figure->high);
        assert_true(figure_of(&t4, (cuda_figure_key)i)->value == 0);
    }
    assert_string_equal(t4.measured.date, "");
    assert_int_equal(strlen(h200.measured.date), strlen("2026-01-31"));
    assert_true(h200.measured.processes >= 3);
    assert_true(figure_of(&h200, CUDA_FIGURE_dram_read)->high < h200.model.dram_bytes_per_second);
    assert_true(figure_of(&h200, CUDA_FIGURE_fp32)->high <= h200.model.fp32);
    assert_true(figure_of(&h200, CUDA_FIGURE_fp64)->high <= h200.model.fp64);
    assert_true(figure_of(&h200, CUDA_FIGURE_sfu)->high <= h200.model.sfu);
}

static const char *document_of(const cuda_device *d, cuda_figure_key key)
{
    return d->cited.documents[d->cited.document[key]];
}

/* Sim et al., Table 3, and what it leaves to NVIDIA's guide. */
static void figures_are_cited(void **state)
{
    cuda_device c2050 = load("c2050"), h200 = load("h200");
    static const struct {
        cuda_figure_key key;
        double value;
    } table[] = {
        {CUDA_FIGURE_clock, 1.15e9},       {CUDA_FIGURE_dram_read, 144e9},
        {CUDA_FIGURE_fp32_latency, 18},    {CUDA_FIGURE_dram_latency, 440},
        {CUDA_FIGURE_departure_delay, 20}, {CUDA_FIGURE_l1_latency, 18},
        {CUDA_FIGURE_l2_latency, 130},
    };
    (void)state;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_true(cuda_figure_of(&c2050, table[i].key) == table[i].value);
        assert_non_null(strstr(document_of(&c2050, table[i].key), "Table 3"));
    }
    assert_true(cuda_figure_of(&c2050, CUDA_FIGURE_shared_passes) == 0.5);
    assert_non_null(strstr(document_of(&c2050, CUDA_FIGURE_shared_passes), "Programming Guide"));
    assert_int_equal(c2050.cited.count, 2);
    assert_int_equal(c2050.measured.processes, 0);
    assert_true(cuda_figure_of(&c2050, CUDA_FIGURE_fp64_latency) == 0);
    assert_int_equal(cuda_attribute_of(&c2050, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 14);
    assert_int_equal(c2050.model.fp32, 32);
    assert_int_equal(c2050.model.sfu, 4);
    assert_int_equal(c2050.l2_bytes, 768 * 1024);
    assert_int_equal(h200.cited.count, 0);
    h200.cited.figures[CUDA_FIGURE_fp32_latency] = 99; /* measured figures come first */
    assert_true(cuda_figure_of(&h200, CUDA_FIGURE_fp32_latency) < 5);
    assert_true(cuda_figure_of(&h200, CUDA_FIGURE_departure_delay) == 0);
}

static wl_status load_text(const char *text, wl_error *err)
{
    char path[] = "/tmp/wl_device_XXXXXX.json";
    cuda_device device;
    int file = mkstemps(path, 5);
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    wl_status status = cuda_device_load(path, &device, err);
    unlink(path);
    return status;
}

static void bad_descriptions_are_refused(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"", "1:0"},
        {"[1]", "not an object"},
        {"{\"name\": \"x\",\n \"nam\": 1}", "nam"},
        {"{\"name\": 3}", "name"},
        {"{\"inherits\": \"sm_90\"}", "missing: name, memory_bytes; missing in attributes: "},
        {"{\"inherits\": \"../h200\"}", "inherits"},
        {"{\"inherits\": \"sm_12\"}", "sm_12"},
        {"{\"attributes\": {\"max_thread\": 1}}", "max_thread"},
        {"{\"attributes\": {\"warp_size\": -1}}", "warp_size"},
        {"{\"attributes\": {\"warp_size\": 99999999999}}", "warp_size"},
        {"{\"sm\": {\"carveouts\": [2, 1]}}", "ascending"},
        {"{\"sm\": {\"carveouts\": []}}", "carveouts"},
        {"{\"sm\": 4}", "sm"},
        {"{\"model\": {\"fp16\": 4}}", "fp16"},
        {"{\"source\": []}", "source"},
        {"{\"inherits\": \"sm_90\", \"name\": \"x\", \"source\": [\"y\"], \"memory_bytes\": 5,"
         " \"attributes\": {\"multiprocessor_count\": 1, \"clock_rate\": 1, \"memory_clock_rate\": "
         "1,"
         " \"global_memory_bus_width\": 1, \"l2_cache_size\": 1}, \"sm\": {\"partitions\": 0}}",
         "missing: sm.partitions"},
        {"{\"attributes\": {\"MAX_THREADS_PER_BLOCK\": 1}}", "lower case"},
        {"{\"attributes\": {\"can_map_host_memory\": 1}}", "the emulator answers it"},
        {"{\"name\": \"\"}", "name: not a text"},
        {"{\"measured\": {\"day\": 1}}", "measured.day: unknown"},
        {"{\"measured\": {\"figures\": {\"fp33\": [1, 1, 1]}}}",
         "measured.figures.fp33: no figure"},
        {"{\"measured\": {\"figures\": {\"fp32\": [1, 2, 3]}}}", "measured.figures.fp32: not the"},
        {"{\"measured\": {\"figures\": {\"fp32\": [4, 2, 3]}}}", "measured.figures.fp32: not the"},
        {"{\"measured\": {\"figures\": {\"fp32\": [0, 0, 3]}}}", "measured.figures.fp32: not the"},
        {"{\"measured\": {\"figures\": {\"fp32\": [2, 2]}}}", "measured.figures.fp32: not the"},
        {"{\"measured\": {\"figures\": {}, \"processes\": -1}}",
         "measured.processes: not a number"},
        {"{\"measured\": {\"figures\": {\"departure_delay\": [1, 1, 1]}}}",
         "measured.figures.departure_delay: no figure that"},
        {"{\"cited\": {\"Data sheet\": {\"fp33\": 1}}}", "cited.fp33: no figure"},
        {"{\"cited\": {\"Data sheet\": {\"fp32\": 0}}}", "cited.fp32: not a number above 0"},
        {"{\"cited\": {\"Data sheet\": {\"fp32\": [4, 4, 4]}}}", "cited.fp32: not a number"},
        {"{\"cited\": {\"Data sheet\": 4}}", "cited: not an object"},
        {"{\"cited\": {\"a\": {}, \"b\": {}, \"c\": {}, \"d\": {}, \"e\": {}}}",
         "cited.e: a document too many"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        wl_error err = {0};
        assert_int_not_equal(load_text(cases[i].text, &err), WL_OK);
        if (!strstr(err.text, cases[i].word))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, cases[i].word);
    }
}

static bool says(const char *text, const char *word)
{
    if (!strstr(text, word))
        fail_msg("\"%s\" lacks \"%s\"", text, word);
    return true;
}

static void all_that_is_wrong_is_told_at_once(void **state)
{
    wl_error err = {0};
    (void)state;
    assert_int_equal(load_text("{\"inherits\": \"sm_90\", \"nam\": 1, \"memory_bytes\": \"5\","
                               " \"sm\": {\"partition\": 4}, \"model\": {\"fp99\": 1},"
                               " \"attributes\": {\"clock\": 1, \"clock_rate\": -1}}",
                               &err),
                     WL_PARSE);
    says(err.text,
         ".json: nam: unknown; memory_bytes: not a number in range; sm.partition: unknown");
    says(err.text, "; model.fp99: unknown; attributes.clock: no attribute of CUDA");
    says(err.text, "; attributes.clock_rate: not a number in range; missing: name; ");
    says(err.text, " in attributes: multiprocessor_count, ");
    assert_null(strstr(err.text, " clock_rate,"));
}

static void an_empty_description_is_told_all_that_it_needs(void **state)
{
    wl_error err = {0};
    (void)state;
    assert_int_equal(load_text("{}", &err), WL_PARSE);
    for (int i = 0; i < CUDA_ATTRIBUTES; i++) {
        char key[CUDA_ATTRIBUTE_KEY];
        if (cuda_attribute_source_of(i) != CUDA_ATTRIBUTE_NEEDED)
            continue;
        assert_true(cuda_attribute_key(i, key));
        says(err.text, key);
    }
}

/* What the chip reports, in all that is a matter of the chip. */
static bool is_chip(int number)
{
    return cuda_attribute_source_of(number) != CUDA_ATTRIBUTE_HERE;
}

static void h200_attributes_are_those_of_the_chip(void **state)
{
    cuda_device device = load("h200");
    FILE *file = open_recorded("h200_attributes.txt");
    char line[4096];
    int number, expected, value, compared = 0;
    (void)state;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%d %d", &number, &expected) != 2)
            continue;
        assert_true(cuda_device_attribute(&device, number, &value));
        if (is_chip(number) && value != expected)
            fail_msg("attribute %d is %d, on the chip %d", number, value, expected);
        compared += is_chip(number);
    }
    fclose(file);
    assert_true(compared > 70);
    assert_false(cuda_device_attribute(&device, 0, &value));
    assert_false(cuda_device_attribute(&device, 149, &value));
    assert_false(cuda_device_attribute(&device, -5, &value));
    assert_false(cuda_device_attribute(&device, 100000, &value));
}

static size_t unhex(const char *text, unsigned char *out, size_t size)
{
    size_t n = 0;
    unsigned byte;
    while (n < size && sscanf(text + 2 * n, "%2x", &byte) == 1)
        out[n++] = (unsigned char)byte;
    return n;
}

#define A_NONE 0
enum {
#define X(number, id, source, value) A_##id = number,
#include "cuda/attributes.def"
#undef X
};

static void h200_properties_are_those_of_the_chip(void **state)
{
    cuda_device device = load("h200");
    cudaDeviceProp_v13 ours, theirs;
    FILE *file = open_recorded("h200_attributes.txt");
    char line[4096] = "";
    int compared = 0;
    (void)state;
    while (fgets(line, sizeof line, file) && strncmp(line, "prop ", 5) != 0)
        continue;
    fclose(file);
    assert_int_equal(unhex(line + 5, (unsigned char *)&theirs, sizeof theirs), sizeof theirs);
    cuda_device_prop_v13(&device, 0, &ours);
    assert_string_equal(ours.name, theirs.name);
    assert_int_equal(ours.totalGlobalMem, theirs.totalGlobalMem);
#define FIELD(type, name, count, attribute)                          \
    if (A_##attribute != A_NONE && is_chip(A_##attribute)) {         \
        if (memcmp(&ours.name, &theirs.name, sizeof ours.name) != 0) \
            fail_msg("%s differs", #name);                           \
        compared++;                                                  \
    }
#define NO_FIELD(type, name, count, attribute)
#define ALL FIELD
#define OLD NO_FIELD
#define NEW FIELD
#define V12 NO_FIELD
#define V13 FIELD
#include "cuda/device_prop.def"
#undef ALL
#undef OLD
#undef NEW
#undef V12
#undef V13
    assert_true(compared > 40);
}

static void properties_of_older_releases_agree(void **state)
{
    cuda_device device = load("a100");
    cudaDeviceProp_v11 v11;
    cudaDeviceProp_v12 v12;
    cudaDeviceProp_v13 v13;
    (void)state;
    cuda_device_prop_v11(&device, 1, &v11);
    cuda_device_prop_v12(&device, 1, &v12);
    cuda_device_prop_v13(&device, 1, &v13);
    assert_memory_equal(&v11, &v12, offsetof(cudaDeviceProp_v12, hostRegisterSupported));
    assert_int_equal(v12.clockRate, 1410000);
    assert_int_equal(v13.multiProcessorCount, v12.multiProcessorCount);
    assert_int_equal(v13.pciBusID, v11.pciBusID);
    assert_int_equal(v12.maxGridSize[2], 65535);
    assert_memory_equal(v11.uuid.bytes, v13.uuid.bytes, 16);
    cuda_device_prop_v13(&device, 0, &v13);
    assert_memory_not_equal(v11.uuid.bytes, v13.uuid.bytes, 16);
}

/* ---- occupancy ---- */

static uint32_t blocks(const char *name, uint32_t threads, uint32_t registers, uint32_t shared)
{
    cuda_device device = load(name);
    cuda_footprint block = {threads, registers, 0, shared, -1};
    return cuda_occupancy_of(&device, &block).blocks;
}

static void published_examples(void **state)
{
    (void)state;
    /* CUDA C++ Best Practices Guide, "Calculating Occupancy": 7.0, 37 registers, 128 and 320
     * threads. */
    assert_int_equal(blocks("v100", 128, 37, 0), 12);
    assert_int_equal(blocks("v100", 320, 37, 0), 4);
    /* CUDA C++ Programming Guide, "Multiprocessor Level": 6.x, 512 threads, 64 and 65 registers. */
    assert_int_equal(blocks("gtx1080", 512, 64, 0), 2);
    assert_int_equal(blocks("gtx1080", 512, 65, 0), 1);
    /* Tuning guides: the limits of resident warps and blocks. */
    assert_int_equal(blocks("a10", 32, 16, 0), 16);
    assert_int_equal(blocks("l40s", 32, 16, 0), 24);
    assert_int_equal(blocks("t4", 1024, 32, 0), 1);
    assert_int_equal(blocks("a10", 512, 32, 0), 3);
    /* A block may have 99 KB of an 8.6 SM, and no more. */
    assert_int_equal(blocks("a10", 128, 32, 99 * 1024), 1);
    assert_int_equal(blocks("a10", 128, 32, 99 * 1024 + 1), 0);
    assert_int_equal(blocks("a100", 2000, 32, 0), 0);
    assert_int_equal(blocks("a100", 0, 32, 0), 0);
    assert_int_equal(blocks("a100", 32, 256, 0), 0);
}

static int compare(const cuda_device *device, cuda_footprint *block, unsigned bytes,
                   unsigned expected, const char *line)
{
    block->dynamic_shared = bytes;
    uint32_t ours = cuda_occupancy_of(device, block).blocks;
    if (ours != expected)
        fail_msg("%u blocks at %u bytes: %s", ours, bytes, line);
    return 1;
}

/* "bytes=blocks" says from which size on; in between the chip was asked too. */
static int check_steps(const cuda_device *device, cuda_footprint *block, const char *line,
                       const char *steps)
{
    unsigned next, expected = 0, following;
    int taken, compared = 0;
    if (sscanf(steps, " %u=%u%n", &next, &following, &taken) != 2)
        return 0;
    for (unsigned bytes = 0; bytes <= 229376; bytes += bytes < 16384 ? 1024 : 8192) {
        if (bytes >= next) {
            expected = following, steps += taken;
            if (sscanf(steps, " %u=%u%n", &next, &following, &taken) != 2)
                next = UINT32_MAX;
        }
        compared += compare(device, block, bytes, expected, line);
    }
    return compared;
}

static int check_line(const cuda_device *device, const char *line)
{
    unsigned registers, fixed, threads, carveout, bytes, expected;
    int used = 0, compared = 0, taken;
    if (sscanf(line, "occ %u %u %u:%n", &registers, &fixed, &threads, &used) == 3 && used) {
        cuda_footprint block = {threads, registers, fixed, 0, -1};
        return check_steps(device, &block, line, line + used);
    }
    if (sscanf(line, "carve %u %u %u:%n", &carveout, &registers, &fixed, &used) != 3 || !used)
        return 0;
    cuda_footprint block = {128, registers, fixed, 0, (int)carveout};
    for (; sscanf(line + used, " %u=%u%n", &bytes, &expected, &taken) == 2; used += taken)
        compared += compare(device, &block, bytes, expected, line);
    return compared;
}

static int check_available(const cuda_device *device, const char *line)
{
    unsigned registers, fixed, wanted, threads, expected = 0;
    char answer[16];
    if (sscanf(line, "avail %u %u %u %u: %15s", &registers, &fixed, &wanted, &threads, answer) != 5)
        return 0;
    cuda_footprint block = {threads, registers, fixed, 0, -1};
    if (answer[0] != '!')
        expected = (unsigned)strtoul(answer, NULL, 10);
    assert_int_equal(cuda_occupancy_shared(device, &block, wanted), expected);
    return 1;
}

static int check_best(const cuda_device *device, const char *line)
{
    unsigned registers, fixed, most, limit, dynamic, grid, threads;
    uint32_t min_grid;
    if (sscanf(line, "best %u %u %u %u %u: %u %u", &registers, &fixed, &most, &limit, &dynamic,
               &grid, &threads) != 7)
        return 0;
    cuda_footprint block = {0, registers, fixed, dynamic, -1};
    if (limit == 0 || limit > most)
        limit = most;
    assert_int_equal(cuda_occupancy_best(device, &block, limit, NULL, &min_grid), threads);
    assert_int_equal(min_grid, grid);
    return 1;
}

static void occupancy_is_that_of_the_chip(void **state)
{
    cuda_device device = load("h200");
    FILE *file = open_recorded("h200_occupancy.txt");
    char line[4096];
    int occupancies = 0, available = 0, best = 0;
    (void)state;
    while (fgets(line, sizeof line, file)) {
        occupancies += check_line(&device, line);
        available += check_available(&device, line);
        best += check_best(&device, line);
    }
    fclose(file);
    assert_int_equal(occupancies, 5 * 32 * 43 + 5 * 5 * 9);
    assert_true(available >= 90);
    assert_int_equal(best, 18);
}

static size_t shared_of(int threads)
{
    return (size_t)threads * 200;
}

static void block_sizes_may_depend_on_shared_memory(void **state)
{
    cuda_device device = load("h200");
    cuda_footprint block = {0, 32, 0, 0, -1};
    uint32_t grid;
    (void)state;
    size_t shared[32];
    for (int warps = 1; warps <= 32; warps++)
        shared[warps - 1] = shared_of(warps * 32);
    uint32_t threads = cuda_occupancy_best(&device, &block, 0, shared, &grid);
    block.threads = threads;
    block.dynamic_shared = (uint32_t)shared_of((int)threads);
    uint32_t resident = cuda_occupancy_of(&device, &block).blocks * threads;
    for (uint32_t t = 1; t <= 1024; t++) {
        block.threads = t;
        block.dynamic_shared = (uint32_t)shared_of((int)t);
        if (t % 32 == 0)
            assert_true(cuda_occupancy_of(&device, &block).blocks * t <= resident);
    }
    assert_int_equal(grid, resident / threads * 132);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_description_loads),
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(figures_are_measured),
        cmocka_unit_test(figures_are_cited),
        cmocka_unit_test(bad_descriptions_are_refused),
        cmocka_unit_test(all_that_is_wrong_is_told_at_once),
        cmocka_unit_test(an_empty_description_is_told_all_that_it_needs),
        cmocka_unit_test(h200_attributes_are_those_of_the_chip),
        cmocka_unit_test(h200_properties_are_those_of_the_chip),
        cmocka_unit_test(properties_of_older_releases_agree),
        cmocka_unit_test(published_examples),
        cmocka_unit_test(occupancy_is_that_of_the_chip),
        cmocka_unit_test(block_sizes_may_depend_on_shared_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
