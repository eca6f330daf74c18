#include "story.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef WL_BINARY_DIR
#define WL_BINARY_DIR "."
#endif

const char story_ptx[] = ".version 8.0\n"
                         ".target sm_90\n"
                         ".address_size 64\n"
                         ".func (.param .b32 result) _Z5twicef(.param .b32 x)\n"
                         "{\n"
                         ".reg .f32 %f<3>;\n"
                         ".loc 1 30 5\n"
                         "ld.param.f32 %f1, [x];\n"
                         "add.f32 %f2, %f1, %f1;\n"
                         "st.param.f32 [result], %f2;\n"
                         "ret;\n"
                         "}\n"
                         ".visible .entry _Z5scalePf(.param .u64 p)\n"
                         "{\n"
                         ".reg .b64 %rd<3>;\n"
                         ".reg .f32 %f<4>;\n"
                         ".reg .b32 %r<2>;\n"
                         ".shared .align 4 .b8 _ZZ5scalePfE4tile[128];\n"
                         ".loc 1 12 1\n"
                         "ld.param.u64 %rd1, [p];\n"
                         ".loc 1 14 9\n"
                         "ld.global.f32 %f1, [%rd1];\n"
                         ".loc 2 70 3, function_name $L__info_string0, inlined_at 1 14 9\n"
                         "{\n"
                         ".param .b32 a;\n"
                         ".param .b32 b;\n"
                         "st.param.f32 [a], %f1;\n"
                         "call (b), _Z5twicef, (a);\n"
                         "ld.param.f32 %f2, [b];\n"
                         "}\n"
                         ".loc 3 8 1, function_name $L__info_string1, inlined_at 1 15 2\n"
                         "st.global.f32 [%rd1], %f2;\n"
                         ".loc 1 16 1\n"
                         "ret;\n"
                         "}\n"
                         ".file 1 \"/src/scale.cu\"\n"
                         ".file 2 \"/usr/local/cuda/include/cuda_fp16.hpp\"\n"
                         ".file 3 \"/src/../src/helpers.cuh\"\n"
                         ".section .debug_str\n"
                         "{\n"
                         "$L__info_string0:\n"
                         ".b8 95,90,53,102,108,111,97,116,118,0\n"
                         "$L__info_string1:\n"
                         ".b8 95,90,53,115,116,111\n"
                         ".b8 114,101,102,0\n"
                         "}\n";

void story_expect(wl_status status, const wl_error *err)
{
    if (status != WL_OK) {
        fprintf(stderr, "%s: %s\n", wl_status_text(status), err->text);
        abort();
    }
}

const char *story_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/tests/%s.%s", WL_BINARY_DIR, program_invocation_short_name,
             name);
    return path;
}

prof_builder *story_begin(const char *name)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    wl_error err;
    story_expect(prof_create(story_path(name), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    return builder;
}

void story_tell(prof_builder *builder, const cap_record *records, size_t count)
{
    wl_error err;
    for (size_t i = 0; i < count; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
}

prof_db *story_finish(prof_builder *builder, const char *name)
{
    prof_db *db;
    wl_error err;
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path(name), &db, &err), &err);
    return db;
}

cap_record story_process(const char *executable)
{
    static const char *argv[] = {"app", "1024"};
    cap_record r = {.type = CAP_PROCESS};
    r.process = (cap_process){.pid = 10,
                              .parent = 9,
                              .executable = executable,
                              .directory = "/src",
                              .host = "here",
                              .collector = "emulate",
                              .version = "0.1.0",
                              .options = "",
                              .argc = 2,
                              .argv = argv,
                              .start_ns = 1000};
    return r;
}

cap_record story_device(void)
{
    cap_record r = {.type = CAP_DEVICE};
    r.device = (cap_device){0, "NVIDIA H200", 9, 0, 132, 150ull << 30, "h200"};
    return r;
}

cap_record story_module(uint32_t id)
{
    cap_record r = {.type = CAP_MODULE};
    r.module = (cap_module){
        .id = id, .name = "/src/app", .code = story_ptx, .length = strlen(story_ptx)};
    return r;
}

cap_record story_object(uint32_t id, uint32_t call, uint64_t base, uint64_t bytes)
{
    cap_record r = {.type = CAP_OBJECT};
    r.object = (cap_object){.id = id,
                            .kind = CAP_OBJECT_DEVICE,
                            .base = base,
                            .bytes = bytes,
                            .call = call,
                            .name = ""};
    return r;
}

cap_record story_free(uint32_t object, uint32_t call)
{
    cap_record r = {.type = CAP_FREE};
    r.free = (cap_free){object, call, call ? CAP_FREED_PROGRAM : CAP_FREED_CONTEXT};
    return r;
}

cap_record story_call(uint32_t id, const char *api, cap_call_kind kind)
{
    cap_record r = {.type = CAP_CALL};
    r.call = (cap_call){.id = id,
                        .api = api,
                        .kind = kind,
                        .thread = 77,
                        .start_ns = 10 * id,
                        .end_ns = 10 * id + 5};
    return r;
}

cap_record story_end(void)
{
    cap_record r = {.type = CAP_END};
    r.end = (cap_end){5000, 0};
    return r;
}

cap_record story_launch(uint32_t id, uint32_t call, uint64_t base)
{
    static obs_insn insns[3];
    static obs_block_count blocks[2];
    static obs_heat_row rows[2];
    static uint32_t pcs[2] = {1, 5};
    static obs_pcset sets[1] = {{2, pcs}};
    static obs_heat heats[1];
    static obs_sample samples[] = {{.why = OBS_WHY_TYPICAL,
                                    .mapped = 1,
                                    .alike = 3,
                                    .instructions = 70,
                                    .requests = 5,
                                    .sectors = 20},
                                   {.block = 3,
                                    .block_index = {1, 1, 0},
                                    .why = OBS_WHY_OUTLIER,
                                    .alike = 1,
                                    .instructions = 700,
                                    .requests = 50,
                                    .sectors = 200}};
    static obs_reuse reuses[2];
    static const obs_shared shared[2] = {{"", 0, 65536}, {"_ZZ5scalePfE4tile", 0, 128}};
    insns[0] = (obs_insn){
        .pc = 1, .object = 1, .space = ACC_GLOBAL, .op = ACC_LOAD, .bytes = 4, .requests = 8};
    insns[0].active_lanes = 256, insns[0].sectors = 32, insns[0].sectors_min = 32,
    insns[0].contiguous = 8;
    insns[1] = (obs_insn){
        .pc = 5, .object = 1, .space = ACC_GLOBAL, .op = ACC_STORE, .bytes = 4, .requests = 8};
    insns[1].active_lanes = 256, insns[1].sectors = 64, insns[1].sectors_min = 32,
    insns[1].strided = 8;
    insns[1].stride = -8;
    insns[2] = (obs_insn){
        .pc = 5, .object = 1, .space = ACC_SHARED, .op = ACC_STORE, .bytes = 4, .requests = 2};
    insns[2].wavefronts = 4, insns[2].wavefronts_min = 2;
    blocks[0] = (obs_block_count){0, 7, 8, 250};
    blocks[1] = (obs_block_count){7, 4, 8, 240};
    rows[0] = (obs_heat_row){.sector = base / 32, .history = 3, .word = {1, 2, 3}, .reads = 5};
    rows[1] = (obs_heat_row){
        .sector = base / 32 + 4, .history = 0x80000000, .word = {[7] = 0x80000000}, .writes = 9};
    heats[0] = (obs_heat){.object = 1,
                          .space = ACC_GLOBAL,
                          .warps = 32,
                          .nrows = 2,
                          .rows = rows,
                          .npcsets = 1,
                          .pcsets = sets};
    reuses[0] = (obs_reuse){.object = 1, .distance = 3, .loads = 6, .waits = 1};
    reuses[1] = (obs_reuse){
        .object = 1, .distance = OBS_FIRST_USE, .loads = 2, .stores = 16, .waits = 2};
    cap_record r = {.type = CAP_LAUNCH};
    r.launch = (cap_launch){.id = id,
                            .call = call,
                            .module = 1,
                            .kernel = "_Z5scalePf",
                            .grid = {4, 1, 1},
                            .block = {256, 1, 1},
                            .host_seconds = 0.25,
                            .device_seconds = -1,
                            .fault = ""};
    r.launch.summary = (obs_summary){.ninsns = 3,
                                     .insns = insns,
                                     .nblocks = 2,
                                     .blocks = blocks,
                                     .nheats = 1,
                                     .heats = heats,
                                     .nsamples = 2,
                                     .samples = samples,
                                     .nreuses = 2,
                                     .reuses = reuses,
                                     .nshared = 2,
                                     .shared = (obs_shared *)shared,
                                     .warp_instructions = 88,
                                     .thread_instructions = 2710,
                                     .blocks_run = 4,
                                     .blocks_observed = 4,
                                     .blocks_sampled = 1};
    r.launch.summary.mix.warp_instructions[0] = 80;
    r.launch.summary.mix.thread_instructions[0] = 2500;
    return r;
}

cap_record story_uses(uint32_t id)
{
    static const char object[] = {0, 5, 2, 0, 0, 2, 2, 0, 1, 0}, array[] = {0, 32, 8, 4, 1};
    static obs_live_ranges live[] = {
        {OBS_FROM_MEMORY, 1, 32}, {OBS_FROM_MEMORY, 3, 32}, {OBS_COMPUTED, 5, 32}};
    static obs_use uses[] = {{.object = 1,
                              .space = ACC_GLOBAL,
                              .known = OBS_KNOWN_COUNTED,
                              .spans = object,
                              .length = sizeof object},
                             {.object = 2, .space = ACC_GLOBAL, .spans = ""},
                             {.object = 1,
                              .space = ACC_SHARED,
                              .known = OBS_KNOWN_COUNTED,
                              .spans = array,
                              .length = sizeof array,
                              .reuse = OBS_REUSE_ALL,
                              .ranges = {[OBS_FROM_MEMORY] = 64, [OBS_COMPUTED] = 32},
                              .range_accesses = {[OBS_FROM_MEMORY] = 128, [OBS_COMPUTED] = 160},
                              .unfilled = 32,
                              .nlive = 3,
                              .live = live,
                              .block_words = 4 * 32,
                              .block_words_most = 32,
                              .block_accesses = 13 * 32,
                              .blocks = 4}};
    cap_record r = {.type = CAP_USES};
    r.uses = (cap_uses){id, OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED, 3, uses};
    return r;
}

/* Its second instruction would move half as many sectors. */
static cap_record story_trials(uint32_t id)
{
    static obs_insn before = {.pc = 1, .object = 1, .requests = 8, .sectors = 64},
                    after = {.pc = 1, .object = 1, .requests = 8, .sectors = 32};
    static obs_trial trial = {.kind = OBS_TRIAL_TRANSPOSED,
                              .blocks = 4,
                              .block = {16, 16},
                              .nbefore = 1,
                              .before = &before,
                              .nafter = 1,
                              .after = &after};
    cap_record r = {.type = CAP_TRIALS};
    r.trials = (cap_trials){.launch = id, .count = 1, .trials = &trial};
    return r;
}

void story_all(prof_builder *builder)
{
    const cap_record story[] = {
        story_process("/src/app"),
        story_device(),
        story_module(1),
        story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(1, 1, 0x7f0000000000, 4096),
        story_call(2, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(2, 2, 0x7f0000100000, 1024),
    };
    wl_error err = {0};
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof story / sizeof *story; i++)
        story_expect(prof_add(builder, &story[i], &err), &err);
    for (uint32_t i = 1; i <= 3; i++) {
        cap_record call = story_call(2 + i, "cudaLaunchKernel", CAP_CALL_LAUNCH);
        cap_record launch = story_launch(i, 2 + i, 0x7f0000000000);
        story_expect(prof_add(builder, &launch, &err),
                     &err); /* a launch may come before its call */
        cap_record uses = story_uses(i), trials = story_trials(i);
        if (i == 1)
            story_expect(prof_add(builder, &uses, &err), &err);
        if (i == 1)
            story_expect(prof_add(builder, &trials, &err), &err);
        story_expect(prof_add(builder, &call, &err), &err);
    }
    const cap_record end[] = {story_call(6, "cudaFree", CAP_CALL_FREE), story_free(2, 6),
                              story_end()};
    for (size_t i = 0; i < sizeof end / sizeof *end; i++)
        story_expect(prof_add(builder, &end[i], &err), &err);
    story_expect(prof_end_process(builder, NULL, &err), &err);
}
