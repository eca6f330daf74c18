/* What the explorer costs with very many warps: makes a profile record by record, as the import does,
 * and draws the report with what its warps did.
 *
 *     bench_explorer FOLDER [BLOCKS [SEQUENCES]]
 *
 * leaves FOLDER/explorer.wlprof and FOLDER/explorer.html, and prints sizes and times. A launch of BLOCKS
 * (12,500) blocks of 256 threads goes through a loop as often as the data say, loading from device
 * memory and through a shared tile: some 100 operations a warp. Nine of ten warps take one of 16 common
 * paths, the others one of SEQUENCES (1,000), in which lanes leave the loop one after another.
 * explorer.mjs opens it in a browser. */
#include "draw.h"
#include "support/random.h"

#include "../clock.h"

#include "base/steps.h"
#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMON = 16,
    WARPS = 8,

    LOAD = 4,
    STORE = 5,
    BARRIER = 6,
    READ = 7,
    OUT = 13
};

static const char kernel_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry walk(.param .u64 p)\n{\n.reg .b64 %rd<4>;\n.reg .f32 %f<4>;\n.reg .b32 "
    "%r<8>;\n"
    ".reg .pred %p<2>;\n.shared .align 4 .b8 tile[4096];\n"
    "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, "
    "0;\nLOOP:\nld.global.f32 %f1, [%rd1];\nst.shared.f32 [tile], %f1;\nbar.sync 0;\n"
    "ld.shared.f32 %f2, [tile];\nadd.f32 %f3, %f1, %f2;\nadd.s32 %r2, %r2, 1;\nadd.s64 %rd1, %rd1, "
    "4;\nsetp.lt.s32 %p1, %r2, %r1;\n@%p1 bra LOOP;\nst.global.f32 [%rd1], %f3;\nret;\n}\n";

static obs_shared arrays[] = {{.name = ""}, {.name = "tile", .bytes = 4096}};
static obs_block_count counts[] = {{0, LOAD, 8, 256},
                                   {LOAD, BARRIER - LOAD, 80, 2560},
                                   {BARRIER, OUT - BARRIER, 80, 2560},
                                   {OUT, 2, 8, 256}};
static obs_step_object slots[] = {{ACC_GLOBAL, 1}, {ACC_SHARED, 1}};

typedef struct taken { /* a sequence, and the warps that take it */
    wl_page_writer steps, page;
    wl_vec(obs_page) pages; /* of warps */
    uint64_t operations;    /* of one warp */
} taken;

static void must_put(bool put)
{
    if (put)
        return;
    fprintf(stderr, "bench: out of memory\n");
    exit(1);
}

static void put(taken *t, uint32_t pc, uint32_t mask, uint32_t slot, int64_t begin, int64_t stride)
{
    wl_step step = {.pc = pc, .mask = mask, .slot = slot};
    for (int lane = 0; lane < WL_STEP_LANES; lane++)
        step.offset[lane] = begin + stride * lane;
    must_put(wl_page_put_step(&t->steps, &step));
}

/* One round of the loop; `stride`: of the lanes in the tile. */
static void put_round(taken *t, uint32_t round, uint32_t mask, int64_t stride)
{
    put(t, LOAD, mask, WL_STEP_ENTRY, 0, 0);
    put(t, LOAD, mask, 0, 4096 * (int64_t)round, 4);
    put(t, STORE, mask, 1, 0, 4);
    put(t, BARRIER, mask, WL_STEP_ENTRY, 0, 0);
    put(t, BARRIER, mask, WL_STEP_BARRIER, 0, 0);
    put(t, READ, mask, 1, 0, stride);
    t->operations += OUT - LOAD;
}

/* Common ones leave the loop together after 8 to 13 rounds, the others lane by lane. */
static void make_sequence(taken *t, uint32_t number, uint64_t *random)
{
    uint32_t rounds = 8 + number % 6, mask = UINT32_MAX;
    put(t, 0, mask, WL_STEP_ENTRY, 0, 0);
    for (uint32_t i = 0; i < rounds; i++) {
        if (number >= COMMON && i >= 4)
            mask &= (uint32_t)(random_next(random) >> 16) | 1;
        put_round(t, i, mask, number % 7 == 3 ? 16 : 4);
    }
    put(t, OUT, UINT32_MAX, WL_STEP_ENTRY, 0, 0);
    put(t, OUT, UINT32_MAX, 0, 0, 4);
    t->operations += LOAD + 2;
}

static void end_page(taken *t)
{
    if (!t->page.count)
        return;
    char *data = malloc(t->page.size);
    must_put(data && (memcpy(data, t->page.data, t->page.size), true));
    must_put(wl_push(&t->pages, (obs_page){t->page.count, data, t->page.size}));
    wl_page_clear(&t->page);
}

static void add_warp(taken *t, uint64_t block, uint32_t number)
{
    const wl_warp warp = {
        .block = block,
        .number = number,
        .begin = {(int64_t)(block * WARPS + number) * 128, (int64_t)number * 128}};
    if (t->page.count == WL_PAGE_ITEMS)
        end_page(t);
    must_put(wl_page_put_warp(&t->page, &warp, 2));
}

/* Each warp takes a sequence; gives the operations of all. */
static uint64_t add_warps(taken *all, uint32_t blocks, uint32_t nsequences, uint64_t *random)
{
    uint64_t operations = 0;
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            uint32_t rare = (uint32_t)(random_next(random) >> 33),
                     common = (block / 97 + warp) % COMMON;
            taken *t = &all[rare % 10 ? common : COMMON + rare / 10 % nsequences];
            add_warp(t, block, warp);
            operations += t->operations;
        }
    return operations;
}

static void add_launch(prof_builder *builder, uint32_t blocks)
{
    obs_insn insns[] = {
        {.pc = LOAD, .object = 1, .space = ACC_GLOBAL, .op = ACC_LOAD, .bytes = 4, .requests = 8},
        {.pc = OUT, .object = 1, .space = ACC_GLOBAL, .op = ACC_STORE, .bytes = 4, .requests = 8},
        {.pc = STORE, .object = 1, .space = ACC_SHARED, .op = ACC_STORE, .bytes = 4, .requests = 8},
        {.pc = READ, .object = 1, .space = ACC_SHARED, .op = ACC_LOAD, .bytes = 4, .requests = 8}};
    add(builder,
        (cap_record){.type = CAP_CALL,
                     .call = {.id = 1, .api = "cudaMalloc", .kind = CAP_CALL_ALLOC, .ordinal = 1}});
    add(builder, (cap_record){.type = CAP_OBJECT,
                              .object = {.id = 1,
                                         .kind = CAP_OBJECT_DEVICE,
                                         .base = UINT64_C(0x7f0000000000),
                                         .bytes = UINT64_C(1) << 30,
                                         .call = 1,
                                         .name = "data"}});
    add(builder,
        (cap_record){
            .type = CAP_CALL,
            .call = {.id = 2, .api = "cudaLaunchKernel", .kind = CAP_CALL_LAUNCH, .ordinal = 2}});
    add(builder, (cap_record){.type = CAP_LAUNCH,
                              .launch = {.id = 1,
                                         .call = 2,
                                         .module = 1,
                                         .kernel = "walk",
                                         .grid = {blocks, 1, 1},
                                         .block = {WARPS * 32, 1, 1},
                                         .cluster = {1, 1, 1},
                                         .static_shared = 4096,
                                         .host_seconds = -1,
                                         .device_seconds = -1,
                                         .fault = "",
                                         .params = "",
                                         .summary = {.ninsns = 4,
                                                     .insns = insns,
                                                     .nblocks = 4,
                                                     .blocks = counts,
                                                     .nshared = 2,
                                                     .shared = arrays,
                                                     .blocks_run = blocks,
                                                     .blocks_observed = blocks}}});
}

static void add_sequences(prof_builder *builder, taken *all, uint32_t count)
{
    obs_sequence *sequences = calloc(count, sizeof *sequences);
    obs_warps *warps = calloc(count, sizeof *warps);
    obs_page *pages = calloc(count, sizeof *pages);
    must_put(sequences && warps && pages);
    uint32_t nwarps = 0;
    for (uint32_t i = 0; i < count; i++) {
        end_page(&all[i]);
        pages[i] = (obs_page){all[i].steps.count, (char *)all[i].steps.data, all[i].steps.size};
        sequences[i] = (obs_sequence){2, 1, &pages[i]};
        if (all[i].pages.count)
            warps[nwarps++] = (obs_warps){.sequence = i,
                                          .nslots = 2,
                                          .slots = slots,
                                          .npages = (uint32_t)all[i].pages.count,
                                          .pages = all[i].pages.data};
    }
    add(builder, (cap_record){.type = CAP_SEQUENCES,
                              .sequences = {.launch = 1,
                                            .nsequences = count,
                                            .sequences = sequences,
                                            .nwarps = nwarps,
                                            .warps = warps}});
    free(sequences), free(warps), free(pages);
}

static uint64_t make_profile(const char *path, uint32_t blocks, uint32_t nsequences)
{
    uint64_t random = 1;
    taken *all = calloc(COMMON + nsequences, sizeof *all);
    must_put(all != NULL);
    for (uint32_t i = 0; i < COMMON + nsequences; i++)
        make_sequence(&all[i], i, &random);
    uint64_t operations = add_warps(all, blocks, nsequences, &random);
    prof_builder *builder = begin_profile(path, "/opt/walk");
    add(builder, (cap_record){.type = CAP_MODULE,
                              .module = {.id = 1,
                                         .name = "walk",
                                         .code = kernel_text,
                                         .length = sizeof kernel_text - 1}});
    add_launch(builder, blocks);
    add_sequences(builder, all, COMMON + nsequences);
    end_profile(builder);
    for (uint32_t i = 0; i < COMMON + nsequences; i++) {
        for (size_t k = 0; k < all[i].pages.count; k++)
            free((void *)all[i].pages.data[k].data);
        wl_vec_free(&all[i].pages);
        free(all[i].steps.data), free(all[i].page.data);
    }
    free(all);
    return operations;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_explorer FOLDER [BLOCKS [SEQUENCES]]\n");
        return 2;
    }
    uint32_t blocks = argc > 2 ? (uint32_t)atoi(argv[2]) : 12500;
    uint32_t sequences = argc > 3 ? (uint32_t)atoi(argv[3]) : 1000;
    char profile[4096], html[4096];
    snprintf(profile, sizeof profile, "%s/explorer.wlprof", argv[1]);
    snprintf(html, sizeof html, "%s/explorer.html", argv[1]);
    double start = clock_seconds(CLOCK_MONOTONIC);
    uint64_t operations = make_profile(profile, blocks, sequences);
    printf("%u warps, %llu operations, %u sequences: profile %.2f s, %.1f MB\n", blocks * WARPS,
           (unsigned long long)operations, COMMON + sequences,
           clock_seconds(CLOCK_MONOTONIC) - start, megabytes(profile));
    draw_report(profile, html, REP_PART_SOURCES | REP_PART_WARPS);
    return 0;
}
