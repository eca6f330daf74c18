/* What a report of a million sectors costs: makes a profile record by record, as the import does,
 * and draws its report.
 *
 *     bench_report FOLDER [SECTORS]
 *
 * leaves FOLDER/large.wlprof and FOLDER/large.html, and prints sizes and times. The launch has two
 * objects, each touched by two sampled blocks: `gathered`, whose words belong to irregular warps,
 * so that no two sectors are alike and nothing compresses well, and `streamed`, four neighbouring
 * sectors a warp. viewer/test/large.mjs opens the report in a browser. */
#include "draw.h"
#include "support/random.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARPS = 32, PC_LOAD = 4, PC_STORE = 5, GATHERED = 1, STREAMED = 2, MAPS = 4 };

#define BASE UINT64_C(0x7f0000000000)

static const char source_text[] = "__global__ void gather(float *out, const float *in, int n)\n"
                                  "{\n"
                                  "    for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
                                  "        out[i] = in[i * 7919 % n];\n"
                                  "}\n";

static const char ptx_text[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                               ".visible .entry _Z6gatherPfPKfi(.param .u64 p, .param .u64 q)\n"
                               "{\n"
                               "    .reg .b64 %rd<5>;\n"
                               "    .reg .f32 %f<2>;\n"
                               "    .loc 1 4 5\n"
                               "    ld.param.u64 %rd1, [p];\n"
                               "    ld.param.u64 %rd2, [q];\n"
                               "    cvta.to.global.u64 %rd3, %rd1;\n"
                               "    cvta.to.global.u64 %rd4, %rd2;\n"
                               "    ld.global.f32 %f1, [%rd4];\n"
                               "    st.global.f32 [%rd3], %f1;\n"
                               "    ret;\n"
                               "}\n"
                               ".file 1 \"";

static uint32_t next_random(uint64_t *state)
{
    return (uint32_t)(random_next(state) >> 32);
}

/* Each word used by one warp, any, and every fourth by another, too. */
static void gathered(obs_heat_row *rows, uint32_t count, uint32_t block)
{
    uint64_t state = 1 + block;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (obs_heat_row){.sector = BASE / 32 + i};
        for (int w = 0; w < OBS_WORDS_PER_SECTOR; w++) {
            rows[i].word[w] = 1u << next_random(&state) % WARPS;
            if (next_random(&state) % 4 == 0)
                rows[i].word[w] |= 1u << next_random(&state) % WARPS;
            rows[i].history |= rows[i].word[w];
        }
        rows[i].reads = (uint32_t)__builtin_popcount(rows[i].history);
    }
}

/* The blocks take turns at the object's chunks of 128 sectors, four of them a warp. */
static void streamed(obs_heat_row *rows, uint32_t count, uint32_t block, uint64_t base)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t chunk = (uint64_t)(i / (4 * WARPS)) * 2 + block;
        uint32_t warp = 1u << i / 4 % WARPS;
        rows[i] = (obs_heat_row){.sector = base / 32 + chunk * 4 * WARPS + i % (4 * WARPS),
                                 .history = warp,
                                 .writes = 1};
        for (int w = 0; w < OBS_WORDS_PER_SECTOR; w++)
            rows[i].word[w] = warp;
    }
}

static void make_maps(obs_heat *heats, uint32_t sectors, uint64_t second)
{
    static uint32_t pcs[2][1] = {{PC_LOAD}, {PC_STORE}};
    static obs_pcset pcsets[2] = {{1, pcs[0]}, {1, pcs[1]}};
    for (uint32_t i = 0; i < MAPS; i++) {
        uint32_t object = i / 2, block = i % 2;
        obs_heat_row *rows = calloc(sectors, sizeof *rows);
        if (!rows)
            exit(1);
        if (object == 0)
            gathered(rows, sectors, block);
        else
            streamed(rows, sectors, block, second);
        heats[i] = (obs_heat){.object = object + 1,
                              .block = block,
                              .block_index = {block, 0, 0},
                              .warps = WARPS,
                              .nrows = sectors,
                              .rows = rows,
                              .npcsets = 1,
                              .pcsets = &pcsets[object]};
    }
}

static void add_launch(prof_builder *builder, uint32_t sectors)
{
    uint64_t bytes = (uint64_t)sectors * 32, second = BASE + 4 * bytes, requests = sectors / 4;
    obs_insn insns[] = {{.pc = PC_LOAD,
                         .object = GATHERED,
                         .space = ACC_GLOBAL,
                         .op = ACC_LOAD,
                         .bytes = 4,
                         .requests = requests,
                         .active_lanes = requests * 32,
                         .sectors = requests * 32,
                         .sectors_min = requests * 4,
                         .irregular = requests},
                        {.pc = PC_STORE,
                         .object = STREAMED,
                         .space = ACC_GLOBAL,
                         .op = ACC_STORE,
                         .bytes = 4,
                         .requests = requests,
                         .active_lanes = requests * 32,
                         .sectors = requests * 4,
                         .sectors_min = requests * 4,
                         .contiguous = requests}};
    obs_heat heats[MAPS];
    make_maps(heats, sectors, second);
    cap_launch launch = {.id = 1,
                         .module = 1,
                         .kernel = "_Z6gatherPfPKfi",
                         .grid = {2, 1, 1},
                         .block = {1024, 1, 1},
                         .cluster = {1, 1, 1},
                         .host_seconds = 1,
                         .device_seconds = -1,
                         .fault = "",
                         .summary = {.ninsns = 2,
                                     .insns = insns,
                                     .nheats = MAPS,
                                     .heats = heats,
                                     .blocks_run = 2,
                                     .blocks_observed = 2,
                                     .blocks_sampled = 2}};
    static const char *names[] = {"gathered", "streamed"};
    for (uint32_t i = 0; i < 2; i++)
        add(builder, (cap_record){.type = CAP_OBJECT,
                                  .object = {.id = i + 1,
                                             .kind = CAP_OBJECT_SYMBOL,
                                             .base = i ? second : BASE,
                                             .bytes = bytes * (i + 1),
                                             .module = 1,
                                             .name = names[i]}});
    add(builder, (cap_record){.type = CAP_LAUNCH, .launch = launch});
    for (uint32_t i = 0; i < MAPS; i++)
        free(heats[i].rows);
}

static void make_profile(const char *path, const char *source, uint32_t sectors)
{
    char ptx[8192];
    int length = snprintf(ptx, sizeof ptx, "%s%s\"\n", ptx_text, source);
    FILE *out = fopen(source, "w");
    if (!out || fputs(source_text, out) == EOF || fclose(out) != 0)
        exit(1);
    prof_builder *builder = begin_profile(path, "/opt/gather");
    add(builder,
        (cap_record){.type = CAP_MODULE,
                     .module = {.id = 1, .name = "gather", .code = ptx, .length = (size_t)length}});
    add_launch(builder, sectors);
    end_profile(builder);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_report FOLDER [SECTORS]\n");
        return 2;
    }
    uint32_t sectors = argc > 2 ? (uint32_t)atoi(argv[2]) : 1 << 20;
    char profile[4096], html[4096], source[4096];
    snprintf(profile, sizeof profile, "%s/large.wlprof", argv[1]);
    snprintf(html, sizeof html, "%s/large.html", argv[1]);
    snprintf(source, sizeof source, "%s/large.cu", argv[1]);
    double start = clock_seconds(CLOCK_MONOTONIC);
    make_profile(profile, source, sectors);
    printf("%u sectors a map, %d maps: profile %.2f s, %.1f MB\n", sectors, MAPS,
           clock_seconds(CLOCK_MONOTONIC) - start, megabytes(profile));
    draw_report(profile, html, REP_PART_HEATS | REP_PART_SOURCES | REP_PART_COURSES);
    return 0;
}
