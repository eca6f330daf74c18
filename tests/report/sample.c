/* A profile as reporters get it, made by hand. */
#include "sample.h"

#include <stdlib.h>

#include <string.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))
#define ROWS(array) {COUNT(array), array}

enum { BLOCKS = 256, REQUESTS = BLOCKS * 8 * 4 };

static const char source_text[] =
    "constexpr int TILE = 32;\n"
    "\n"
    "__global__ void transpose_naive(const float *in, float *out, int n)\n"
    "{\n"
    "    int x = blockIdx.x * TILE + threadIdx.x;\n"
    "    int y = blockIdx.y * TILE + threadIdx.y; // </script>\n"
    "    for (int i = 0; i < TILE; i += 8)\n"
    "\tout[x * n + y + i] = in[(y + i) * n + x];\n"
    "}\n"
    "__shared__ float tile[TILE][TILE];\n"
    "        out[(y + i) * n + x] = tile[threadIdx.x][threadIdx.y + i];\n";

static const char *arguments[] = {"/home/dev/transpose", "--size", "512"};

static prof_process processes[] = {{.id = 1,
                                    .pid = 4711,
                                    .executable = "/home/dev/transpose",
                                    .directory = "/home/dev",
                                    .host = "workstation",
                                    .collector = "emulate",
                                    .version = "0.1.0",
                                    .options = "",
                                    .argc = 3,
                                    .argv = arguments,
                                    .start_ns = INT64_C(1768469400000000000),
                                    .end_ns = 1000}};

static prof_device devices[] = {{.id = 1,
                                 .process = 1,
                                 .name = "NVIDIA H200",
                                 .file = "h200",
                                 .cc_major = 9,
                                 .num_sms = 132,
                                 .global_bytes = UINT64_C(150754820096)}};

static prof_file files[] = {
    {1, "/home/dev/src/transpose.cu", "transpose.cu", false, true, "", sizeof source_text - 1},
    {2, "/home/dev/src/gone.cu", "gone.cu", false, false, "no such file", 0},
};

static prof_kernel kernels[] = {
    {.id = 1,
     .name = "transpose_naive(float const*, float*, int)",
     .short_name = "transpose_naive",
     .mangled = "_Z15transpose_naivePKfPfi",
     .module = "/home/dev/transpose",
     .file = 1,
     .line = 3,
     .ncode = 40,
     .nblocks = 5,
     .module_hash = 1,
     .missing = "",
     .machine_sm = 90,
     .machine_missing = ""},
    {.id = 2,
     .name = "void transpose_shared<float, 32, std::integral_constant<bool, true> >(float const*, "
             "float*, "
             "int)",
     .short_name = "transpose_shared<float, 32, std::integral_constant<bool, true> >",
     .mangled = "_Z16transpose_sharedPKfPfi",
     .module = "/home/dev/transpose",
     .file = 1,
     .line = 10,
     .ncode = 60,
     .nblocks = 7,
     .module_hash = 1,
     .missing = "",
     .machine_missing = "the program has no machine code of it"},
    {.id = 3,
     .name = SAMPLE_HOSTILE "(\033[31mint\x80)",
     .short_name = SAMPLE_HOSTILE,
     .mangled = "_Z4evili",
     .module = "",
     .ncode = 4,
     .nblocks = 1,
     .module_hash = 2,
     .missing = "",
     .machine_missing = ""},
};

static prof_object objects[] = {
    {.id = 1,
     .process = 1,
     .kind = CAP_OBJECT_DEVICE,
     .space = ACC_GLOBAL,
     .name = "d_in (transpose.cu:20)",
     .variable = "d_in",
     .base = 0x7f0000000000,
     .bytes = 1048576,
     .alloc_call = 1,
     .file = 1,
     .line = 5,
     .function = "main",
     .pool = 1,
     .tag = "image",
     .element_bytes = 4},
    {.id = 2,
     .process = 1,
     .kind = CAP_OBJECT_DEVICE,
     .space = ACC_GLOBAL,
     .name = "d_out, \"quoted\" (transpose.cu:21)",
     .variable = "d_out",
     .base = 0x7f0000200000,
     .bytes = 1048576,
     .alloc_call = 1,
     .file = 1,
     .line = 6,
     .function = "main",
     .freed = true,
     .freed_how = CAP_FREED_PROGRAM,
     .tag = ""},
    {.id = 3,
     .kernel = 2,
     .kind = PROF_OBJECT_SHARED,
     .space = ACC_SHARED,
     .name = "tile (transpose.cu:10)",
     .variable = "tile",
     .bytes = 4096,
     .file = 1,
     .line = 10,
     .function = "",
     .tag = ""},
};

static prof_call calls[] = {{.id = 1,
                             .process = 1,
                             .number = 1,
                             .api = "cudaMalloc",
                             .kind = CAP_CALL_ALLOC,
                             .bytes = 1048576,
                             .file = 1,
                             .line = 6,
                             .function = "main"}};

static prof_code code[] = {
    {1, 14, "ld.global.f32 %f1, [%rd4]", "ld.global.f32", "transpose_naive", 30, 2, 1, 1, 8, 9},
    {1, 17, "st.global.f32 [%rd6], %f1", "st.global.f32", "transpose_naive", 33, 2, 1, 1, 8, 9},
    {2, 31, "ld.shared.f32 %f2, [%r12]", "ld.shared.f32", "transpose_shared", 51, 3, 2, 1, 11, 9},
    {2, 34, "st.global.f32 [%rd9], %f2", "st.global.f32", "transpose_shared", 54, 3, 2, 1, 11, 9},
    {3, 2, "ld.global.u32 %r1, [%rd1]", "ld.global.u32", "evil", 5, 0, 0, 0, 0, 0},
};

static const prof_listed machine_code[] = {
    {"LDG.E R1, [R4.64]", 30, 1, 8}, {"EXIT", 0, 0, 0}, {"STG.E [R6.64], R1", 33, 1, 8}};

static prof_listing listings[] = {
    {1, CAP_MODULE_CUBIN, 80, 90, 3, "", "", machine_code},
    {2, CAP_MODULE_CUBIN, 0, 90, 0, "the program has no machine code of it", "", NULL},
    {3, CAP_MODULE_CUBIN, 80, 80, 3, "", "its machine code was made from other PTX", machine_code},
};

static prof_block block_totals[] = {
    {.launch = 1, .kernel = 1, .block = 2, .first_pc = 10, .ninsns = 8, .executions = 2048}};

static const obs_mix no_mix;

#define LAUNCH(ID, BLOCKS_)        \
    {.id = ID,                     \
     .count = 1,                   \
     .process = 1,                 \
     .number = ID,                 \
     .kernel = ID,                 \
     .grid = {16, 16, 1},          \
     .block = {32, 8, 1},          \
     .cluster = {1, 1, 1},         \
     .host_seconds = 0.25,         \
     .device_seconds = -1,         \
     .fault = "",                  \
     .warp_instructions = 1000,    \
     .thread_instructions = 32000, \
     .blocks_run = BLOCKS_,        \
     .blocks_observed = BLOCKS_,   \
     .blocks_sampled = 1,          \
     .mix = &no_mix}

static prof_launch launches[] = {LAUNCH(1, BLOCKS), LAUNCH(2, BLOCKS), LAUNCH(3, 1)};

#define INSN(KERNEL, OBJECT, ...)                                          \
    {                                                                      \
        .launch = KERNEL, .kernel = KERNEL, .executions = REQUESTS, .c = { \
            .object = OBJECT,                                              \
            .bytes = 4,                                                    \
            .requests = REQUESTS,                                          \
            .active_lanes = REQUESTS * 32,                                 \
            __VA_ARGS__                                                    \
        }                                                                  \
    }

static prof_instruction instructions[] = {
    INSN(1, 1, .pc = 14, .space = ACC_GLOBAL, .op = ACC_LOAD, .sectors = REQUESTS * 4,
         .sectors_min = REQUESTS * 4, .contiguous = REQUESTS),
    INSN(1, 2, .pc = 17, .space = ACC_GLOBAL, .op = ACC_STORE, .sectors = REQUESTS * 32,
         .sectors_min = REQUESTS * 4, .strided = REQUESTS, .stride = 2048),
    INSN(2, 3, .pc = 31, .space = ACC_SHARED, .op = ACC_LOAD, .wavefronts = REQUESTS * 32,
         .wavefronts_min = REQUESTS, .strided = REQUESTS, .stride = 128),
    INSN(2, 1, .pc = 34, .space = ACC_GLOBAL, .op = ACC_STORE, .sectors = REQUESTS,
         .sectors_min = REQUESTS, .contiguous = REQUESTS),
    INSN(2, 2, .pc = 34, .space = ACC_GLOBAL, .op = ACC_STORE, .sectors = REQUESTS * 4,
         .sectors_min = REQUESTS * 4, .contiguous = REQUESTS),
    {.launch = 3,
     .kernel = 3,
     .executions = 1,
     .c = {.pc = 2,
           .space = ACC_GLOBAL,
           .op = ACC_LOAD,
           .bytes = 4,
           .requests = 1,
           .active_lanes = 1,
           .sectors = 1,
           .sectors_min = 1,
           .uniform = 1}},
};

static prof_skip skips[] = {
    {.kernel = "warmup()", .reason = "left out by --kernel-name", .count = 3}};
static prof_message messages[] = {
    {.process = 1, .level = 1, .text = "the driver's version is older than the runtime's"},
    {.process = 1, .level = 1, .text = "\033[31mloud\x80"}};
static prof_unsupported unsupported[] = {{"cudaGraphInstantiate"}};

static ana_kernel kernel_rows[] = {
    {.kernel = 2,
     .launches = 1,
     .host_seconds = 0.25,
     .device = {.seconds = -1},
     .nfindings = 1,
     .excess_wavefronts = REQUESTS * 31,
     .counts = {.thread_instructions = 32000,
                .requests = REQUESTS * 3,
                .sectors = REQUESTS * 5,
                .sectors_min = REQUESTS * 5,
                .wavefronts = REQUESTS * 32,
                .wavefronts_min = REQUESTS}},
    {.kernel = 1,
     .launches = 1,
     .host_seconds = 0.25,
     .device = {.seconds = -1},
     .nfindings = 1,
     .excess_sectors = REQUESTS * 28,
     .counts = {.thread_instructions = 32000,
                .requests = REQUESTS * 2,
                .sectors = REQUESTS * 36,
                .sectors_min = REQUESTS * 8}},
    {.kernel = 3,
     .launches = 1,
     .host_seconds = 0.25,
     .device = {.seconds = -1},
     .counts = {.thread_instructions = 32000, .requests = 1, .sectors = 1, .sectors_min = 1}},
};

static ana_use uses[] = {
    {.object = 1,
     .launches = 2,
     .counted = true,
     .partial = true,
     .elements = 262144,
     .touched = 131072,
     .times = {524288, 0, 0},
     .most = 8,
     .rare = 1024,
     .mean = 2,
     .variation = 1},
    {.object = 2, .launches = 1, .estimated = true, .elements = 262144, .touched = 4}};
static obs_live_ranges live[] = {{OBS_FROM_MEMORY, 2, 600}, {OBS_COMPUTED, 16, 1}};
static ana_use parts[] = {{.object = 3,
                           .kernel = 2,
                           .array = true,
                           .launches = 1,
                           .counted = true,
                           .elements = 1024,
                           .touched = 600,
                           .times = {1220, 601, 0},
                           .reuse = {.ranges_known = true,
                                     .ranges = {600, 0, 1},
                                     .range_accesses = 1220,
                                     .accesses_per_range = 2.03125,
                                     .nlive = COUNT(live),
                                     .live = live,
                                     .blocks_known = true,
                                     .blocks = 1,
                                     .block_words = 600,
                                     .block_words_most = 600,
                                     .block_accesses = 1821,
                                     .accesses_per_block_word = 3.035}},
                          {.object = 2,
                           .kernel = 3,
                           .unknown = true,
                           .partial = true,
                           .estimated = true,
                           .elements = 262144,
                           .reuse = {.blocks_known = true,
                                     .blocks = 4,
                                     .block_words = 8,
                                     .block_words_most = 2,
                                     .block_accesses = 8,
                                     .accesses_per_block_word = 1}}};
static uint32_t peak_objects[] = {2, 1};
static ana_peak peaks[] = {
    {.process = 1, .bytes = 2097152, .call = 1, .nobjects = 2, .objects = peak_objects}};
static ana_memory_point course[] = {{.object = 2, .bytes = 1048576},
                                    {.object = 1, .call = 1, .bytes = 2097152},
                                    {.object = 2, .freed = true, .bytes = 1048576}};
static ana_device_memory device_memory[] = {
    {.process = 1, .peak_bytes = 2097152, .npoints = COUNT(course), .points = course}};

static ana_line conflict_lines[] = {
    {"/home/dev/src/transpose.cu", 11, 31, false, REQUESTS, 0, 0, REQUESTS * 32, REQUESTS}};
static ana_line strided_lines[] = {
    {"/home/dev/src/transpose.cu", 8, 17, false, REQUESTS, REQUESTS * 32, REQUESTS * 4, 0, 0}};
static ana_evidence evidence[] = {{"sectors_per_request", "sectors per request", 32, ""},
                                  {"mean_word_temperature", "warps per word", 1.0625, "warps"}};
static ana_sector example_sectors[] = {{0, 8, {1, 1, 1, 1, 1, 1, 1, 1}},
                                       {2048, 8, {1, 1, 1, 1, 1, 1, 1, 0}}};

static ana_access accesses[] = {
    {.space = ACC_SHARED, .launches = 1, .example_launch = 2, .objects = 1, .first_object = 3},
    {.space = ACC_GLOBAL,
     .launches = 1,
     .example_launch = 1,
     .objects = 3,
     .first_object = 2,
     .nsectors = COUNT(example_sectors),
     .sectors = example_sectors},
};
static ana_finding findings_rows[] = {
    {.number = 1,
     .key = 0xfeedUL,
     .pattern = ANA_BANK_CONFLICT,
     .scope = ANA_SCOPE_KERNEL_AND_OBJECT,
     .kernel = 2,
     .object = 3,
     .cost = {.unit = ANA_WAVEFRONTS,
              .excess = REQUESTS * 31,
              .share_of_kernel = 0.96875,
              .share_of_program = 0.96875},
     .kernel_share_of_time = -1,
     .gain_figures = "",
     .gain_note = "",
     .nlines = 1,
     .lines = conflict_lines,
     .summary = "The load takes a column of tile, so that all 32 lanes fall into one bank.",
     .advice = "Declare tile[TILE][TILE + 1], so that a column's elements lie in different banks.",
     .access = &accesses[0]},
    {.number = 2,
     .key = 2,
     .pattern = ANA_STRIDED,
     .scope = ANA_SCOPE_KERNEL_AND_OBJECT,
     .kernel = 1,
     .object = 2,
     .cost = {.unit = ANA_SECTORS,
              .excess = REQUESTS * 28,
              .share_of_kernel = 0.77777,
              .share_of_program = 0.6829},
     .kernel_share_of_time = 0.004,
     .gain = ANA_GAIN_TINY,
     .gain_figures = "0.4 % of the program's time",
     .gain_note = "Fixing this gains little (0.4 % of the program's time).",
     .certainty = ANA_CERTAINTY_SAMPLED,
     .nlines = 1,
     .lines = strided_lines,
     .nevidence = COUNT(evidence),
     .evidence = evidence,
     .summary = "The store writes one float in each of 32 sectors, 2,048 bytes apart.",
     .advice = "",
     .access = &accesses[1]},
};
/* Launch 1 in full; what was asked for in launch 2 has no heat map. */
static prof_sample samples[] = {
    {.launch = 1,
     .count = 1,
     .kernel = 1,
     .s = {.why = OBS_WHY_TYPICAL,
           .mapped = 1,
           .alike = BLOCKS - 1,
           .instructions = 640,
           .requests = 16,
           .sectors = 288},
     .of = BLOCKS},
    {.launch = 1,
     .count = 1,
     .kernel = 1,
     .s = {.block = BLOCKS - 1,
           .block_index = {15, 15, 0},
           .why = OBS_WHY_OUTLIER,
           .alike = 1,
           .instructions = 64000,
           .requests = 1600,
           .sectors = 28800},
     .of = BLOCKS},
    {.launch = 2, .kernel = 2, .s = {.why = OBS_WHY_ASKED, .mapped = 1}, .of = BLOCKS},
};
static uint32_t group_ids[] = {1, 2, 3};
static ana_finding_group groups[] = {
    {.first = 0,
     .count = 1,
     .nkernels = 1,
     .kernels = &group_ids[1],
     .nobjects = 1,
     .objects = &group_ids[2],
     .nlines = 1,
     .lines = conflict_lines,
     .cost = {.unit = ANA_WAVEFRONTS, .excess = REQUESTS * 31, .share_of_program = 0.96875},
     .advice = "Declare tile[TILE][TILE + 1], so that a column's elements lie in different banks."},
    {.first = 1,
     .count = 1,
     .nkernels = 1,
     .kernels = &group_ids[0],
     .nobjects = 1,
     .objects = &group_ids[1],
     .nlines = 1,
     .lines = strided_lines,
     .cost = {.unit = ANA_SECTORS, .excess = REQUESTS * 28, .share_of_program = 0.6829},
     .advice = ""},
};
static const ana_findings findings = {.count = COUNT(findings_rows),
                                      .rows = findings_rows,
                                      .ngroups = COUNT(groups),
                                      .groups = groups,
                                      .left_out = {.count = 2,
                                                   .pattern = ANA_MISALIGNED,
                                                   .kernel = 1,
                                                   .object = 1,
                                                   .share = 0.004,
                                                   .unnamed_sectors = 1234}};

static rep_source sources[] = {{1, source_text, sizeof source_text - 1}, {2, NULL, 0}};

/* Block 0 of the naive transpose over d_out: 32 columns of 4 sectors, 8 warps to a sector. */
static prof_heat heat_of_stores(wl_arena *arena)
{
    enum { ROWS_ = 128 };
    prof_heat heat = {.info = {.id = 1,
                               .launch = 1,
                               .kernel = 1,
                               .object = 2,
                               .space = ACC_GLOBAL,
                               .warps = 8,
                               .nrows = ROWS_,
                               .content = 1},
                      .npcsets = 1};
    heat.rows = wl_new_array(arena, obs_heat_row, ROWS_);
    heat.pcsets = wl_new(arena, obs_pcset);
    heat.pcsets[0] = (obs_pcset){1, wl_new(arena, uint32_t)};
    heat.pcsets[0].pcs[0] = 17;
    for (uint32_t i = 0; i < ROWS_; i++) {
        obs_heat_row *row = &heat.rows[i];
        row->sector = (uint64_t)(i / 4) * 64 + i % 4;
        row->history = 0xff;
        for (int w = 0; w < OBS_WORDS_PER_SECTOR; w++)
            row->word[w] = 1u << w;
        row->writes = 8;
    }
    return heat;
}

static ana_range range_rows[] = {{.domain = "",
                                  .name = "step *",
                                  .times = 2,
                                  .sums = {.launches = 2,
                                           .requests = 900,
                                           .sectors = 3000,
                                           .sectors_min = 2000,
                                           .wavefronts = 0,
                                           .host_seconds = 0.25,
                                           .device_seconds = -1},
                                  .nfindings = 1},
                                 {.parent = 1,
                                  .depth = 1,
                                  .domain = "model",
                                  .name = "forward",
                                  .times = 1,
                                  .sums = {.launches = 1,
                                           .requests = 300,
                                           .sectors = 1000,
                                           .sectors_min = 1000,
                                           .host_seconds = -1,
                                           .device_seconds = -1}}};

void sample_make(rep_data *data, wl_arena *arena)
{
    *data = (rep_data){
        .info = {"0.1.0", "warplens profile transpose", "emulate"},
        .coverage = {.launches_seen = 6,
                     .launches_observed = 3,
                     .kernels_seen = 4,
                     .kernels_observed = 3,
                     .blocks_run = 513,
                     .blocks_observed = 513,
                     .blocks_sampled = 3,
                     .processes = 1,
                     .sources_missing = 1},
        .processes = ROWS(processes),
        .devices = ROWS(devices),
        .files = ROWS(files),
        .kernels = ROWS(kernels),
        .objects = ROWS(objects),
        .calls = ROWS(calls),
        .launches = ROWS(launches),
        .samples = ROWS(samples),
        .instructions = ROWS(instructions),
        .totals = ROWS(instructions),
        .code = ROWS(code),
        .listings = ROWS(listings),
        .blocks = ROWS(block_totals),
        .sources = sources,
        .skips = ROWS(skips),
        .messages = ROWS(messages),
        .unsupported = ROWS(unsupported),
        .kernel_table = ROWS(kernel_rows),
        .uses = {.count = COUNT(uses), .rows = uses, .nparts = COUNT(parts), .parts = parts},
        .memory = {.peak_bytes = 2097152,
                   .npeaks = 1,
                   .peaks = peaks,
                   .ndevices = 1,
                   .devices = device_memory},
        .findings = &findings,
        .nheats = 1,
        .heats = wl_new(arena, prof_heat),
    };
    data->heats[0] = heat_of_stores(arena);
    data->ranges = (ana_ranges){
        .count = COUNT(range_rows),
        .rows = range_rows,
        .outside = {.launches = 1, .sectors = 1000, .sectors_min = 1000, .device_seconds = -1},
        .all = {.launches = 3, .sectors = 4000, .device_seconds = -1}};
    if (!ana_keys_of(&data->kernels, &data->objects, arena, &data->keys) ||
        !ana_family_table(&data->kernel_table, &data->kernels, arena, &data->families))
        abort();
}
