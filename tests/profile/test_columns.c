/* Every column of every table, from a capture into the profile: each field of the records below has
 * a number of its own, so that two columns that are swapped, or one that nobody writes, are seen.
 * Of each pair of columns some row tells which is which. Columns that a record alone does not fill
 * are listed with the test that reads them back. */
#include "base/spans.h"
#include "profile/tables.h"
#include "story.h"
#include "support/test.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

/* ---- the capture ---- */

#define BASE UINT64_C(0x700000000000)
enum { OTHER = 1 << 20 /* from object to object */ };

static void tell(prof_builder *b, cap_record r)
{
    story_expect(prof_add(b, &r, &err), &err);
}

/* A kernel with two loops, one in the other, and a copy with two addresses. */
static const char loops_ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry _Z5loopsPfi(.param .u64 p, .param .u32 n)\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<5>;\n.reg .b64 %d<6>;\n.shared .align 4 .b8 tile[128];\n"
    ".loc 1 5 3\n"
    "ld.param.u64 %d1, [p];\nmov.u32 %r4, tile;\nmov.u32 %r1, 0;\n"
    "A:\nmov.u32 %r2, 0;\n"
    "B:\nmad.wide.u32 %d2, %r2, 4, %d1;\ncp.async.ca.shared.global [%r4], [%d2], 4;\n"
    "ld.global.u32 %r3, [%d2];\n"
    "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, 7;\n@%p1 bra B;\n"
    "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p2, %r1, 9;\n@%p2 bra A;\n"
    "ld.shared.u32 %r3, [%r4];\nret;\n}\n"
    ".visible .entry _Z4lastv()\n{\nret;\n}\n"
    ".file 1 \"/src/loops.cu\"\n";

static cap_record module_of(uint32_t id, const char *text, uint64_t hash)
{
    return (cap_record){.type = CAP_MODULE,
                        .module = {id, id == 3 ? CAP_MODULE_CUBIN : CAP_MODULE_PTX, hash,
                                   id == 1 ? "/src/app" : "/src/b", text, strlen(text), 0}};
}

static void tell_process(prof_builder *b)
{
    static const char *argv[] = {"first", "second"};
    tell(b, (cap_record){.type = CAP_PROCESS,
                         .process = {1001, 1002, "/src/app", "/src/dir", "machine", "inline", "9.8",
                                     "--some", 2, argv, 1003}});
    tell(b, (cap_record){.type = CAP_DEVICE, .device = {40, "A_GPU", 41, 42, 43, 44, "a"}});
    tell(b, (cap_record){.type = CAP_DEVICE, .device = {45, "B_GPU", 46, 47, 48, 49, "b"}});
    tell(b, (cap_record){.type = CAP_STREAM, .stream = {70, CAP_STREAM_CREATED, 71, 72, 73, 74}});
    tell(b, (cap_record){.type = CAP_STREAM, .stream = {77, CAP_STREAM_PER_THREAD, 3, 4, 5, -6}});
    tell(b, (cap_record){.type = CAP_POOL, .pool = {11, CAP_POOL_CREATED, 12}});
    tell(b, (cap_record){.type = CAP_POOL, .pool = {13, CAP_POOL_DEFAULT, 14}});
    tell(b, (cap_record){.type = CAP_POOL_STATE, .pool_state = {13, 0, 15, 16}});
    tell(b, (cap_record){.type = CAP_POOL_STATE, .pool_state = {11, 101, 17, 18}});
    tell(b, module_of(1, story_ptx, 99));
    tell(b, module_of(2, loops_ptx, 98));
    tell(b, module_of(3, "no cubin", 97));
    tell(b, (cap_record){.type = CAP_MESSAGE, .message = {2, "a_message"}});
    tell(b, (cap_record){.type = CAP_MESSAGE, .message = {3, "another"}});
    tell(b, (cap_record){.type = CAP_UNSUPPORTED, .unsupported = {"cuNothing"}});
    for (int i = 0; i < 3; i++)
        tell(b, (cap_record){.type = CAP_SKIPPED, .skipped = {"a_kernel", i == 2 ? "b" : "a", 0}});
}

/* Calls 101 to 104 have the ids 1 to 4; 106 and 105 follow. */
static void tell_calls(prof_builder *b)
{
    static cap_map map = {0x1000, 0x3000, 0x500, "/nowhere/lib.so", ""};
    static uint64_t pcs[] = {0x1011, 0x2021};
    static cap_shape shape = {141, 142, 143, 144, 145, 146, 147};
    static uint32_t ranges[] = {61, 60};
    tell(b, (cap_record){.type = CAP_MAPS, .maps = {1, &map}});
    tell(b, (cap_record){.type = CAP_RANGE,
                         .range = {60, CAP_RANGE_STARTED, 0, "a_domain", "a_range"}});
    tell(b, (cap_record){.type = CAP_RANGE, .range = {61, CAP_RANGE_PUSHED, 506, "", "b_range"}});
    for (uint32_t id = 69; id >= 62; id--)
        tell(b, (cap_record){.type = CAP_RANGES, .ranges = {id, 2, ranges}});
    for (uint32_t i = 6; i >= 3; i--) {
        cap_record r = story_call(100 + i, "cuSomething", CAP_CALL_ALLOC);
        r.call.thread = i == 4 ? 501 : 500 + i;
        r.call.stack = (cap_stack){1, pcs};
        if (i == 3)
            r.call = (cap_call){103, "cuMemcpy3D", CAP_CALL_COPY, 77,  503, 1203,     1204,   1205,
                                201, 202,          131,           132, 133, {2, pcs}, 134,    135,
                                136, 137,          104,           138, 139, 1,        &shape, 62};
        tell(b, r);
    }
    tell(b, (cap_record){.type = CAP_CALL_TIMES, .call_times = {1, &(cap_call_time){103, 0.51}}});
    tell(b, (cap_record){.type = CAP_STARTS, .starts = {1, &(cap_start){0, 103, 0.52}}});
    tell(b, (cap_record){.type = CAP_REFUSAL, .refusal = {103, 151, 152}});
}

static void tell_object(prof_builder *b, uint32_t id, uint32_t kind, uint64_t bytes)
{
    tell(b, (cap_record){.type = CAP_OBJECT,
                         .object = {.id = id,
                                    .kind = kind,
                                    .device = 50 + id % 10,
                                    .base = BASE + (id - 201) * OTHER,
                                    .bytes = bytes,
                                    .call = 100 + id % 10,
                                    .name = id == 202 ? "a_name" : "",
                                    .parent = id == 203 ? 202 : 0,
                                    .pool = id == 203 ? 13 : 0,
                                    .kernel = kind == CAP_OBJECT_HEAP ? "_Z5loopsPfi" : "",
                                    .module = kind == CAP_OBJECT_HEAP ? 2 : 0,
                                    .pc = kind == CAP_OBJECT_HEAP ? 6 : 0}});
}

/* Objects 201, 202 ... have the ids 1, 2 ... */
static void tell_objects(prof_builder *b)
{
    tell_object(b, 201, CAP_OBJECT_DEVICE, 4096);
    tell_object(b, 202, CAP_OBJECT_SYMBOL, 8192);
    tell_object(b, 203, CAP_OBJECT_MANAGED, 777);
    tell_object(b, 204, CAP_OBJECT_HEAP, 555);
    tell(b, (cap_record){.type = CAP_ANNOTATION, .annotation = {203, "a_tag", 24}});
    tell(b, (cap_record){.type = CAP_LEFT_OUT, .left_out = {101, 1005}});
}

/* Of the kernel in the module. */
static void tell_note(prof_builder *b, uint32_t id, uint32_t module, const char *kernel)
{
    static uint64_t params[3];
    params[1] = BASE + 17, params[2] = BASE + 2 * OTHER + 19;
    tell(b, (cap_record){.type = CAP_NOTE,
                         .note = {.id = id,
                                  .call = 105,
                                  .module = module,
                                  .kernel = kernel,
                                  .grid = {151, 152, 153},
                                  .block = {154, 155, 156},
                                  .cluster = {157, 158, 159},
                                  .dynamic_shared = 160,
                                  .static_shared = 161,
                                  .local_bytes = 162,
                                  .registers = 163,
                                  .flags = id == 301 ? CAP_NOTE_PROBED : 0,
                                  .device = 164,
                                  .context = 165,
                                  .stream = 77,
                                  .ordinal = 166,
                                  .params = (const char *)params,
                                  .nparams = sizeof params}});
}

static obs_summary summary_of_launch(void)
{
    static obs_insn insns[] = {{1,   1,   ACC_SHARED, ACC_REDUCTION, 271, 272, 273, 274, 275, 276,
                                277, 278, 285,        286,           279, 280, 281, 282, 283, 284},
                               {3,   202, ACC_GLOBAL, ACC_STORE, 171, 172, 173, 174, 175, 176,
                                177, 178, 0,          0,         179, 180, 181, 182, 183, -184}};
    static obs_block_count blocks[] = {{0, 7, 191, 192}, {7, 4, 193, 194}};
    static obs_heat_row row = {.sector = BASE / 32, .history = 1, .word = {1}, .reads = 1};
    static uint32_t pcs[] = {1, 3, 5};
    static obs_pcset sets[] = {{1, pcs}, {2, pcs + 1}};
    static obs_heat heats[] = {{.object = 202,
                                .space = ACC_GLOBAL,
                                .block = 201,
                                .block_index = {202, 203, 204},
                                .warps = 205,
                                .nrows = 1,
                                .rows = &row,
                                .npcsets = 2,
                                .pcsets = sets,
                                .dropped = 206},
                               {.object = 202,
                                .space = ACC_GLOBAL,
                                .block = 301,
                                .block_index = {302, 303, 304},
                                .warps = 305,
                                .nrows = 1,
                                .rows = &row,
                                .npcsets = 2,
                                .pcsets = sets,
                                .dropped = 306},
                               {.object = 1,
                                .space = ACC_SHARED,
                                .block = 211,
                                .block_index = {212, 213, 214},
                                .warps = 215,
                                .dropped = 216}};
    static obs_reuse reuses[] = {{240, 202, 241, 242, 243, 246},
                                 {240, 0, OBS_FIRST_USE, 244, 245, 247}};
    static obs_sample samples[] = {{220, {221, 222, 223}, OBS_WHY_OUTLIER, 0, 224, 225, 226, 227},
                                   {230, {231, 232, 233}, OBS_WHY_ASKED, 1, 234, 235, 236, 237}};
    static obs_shared shared[] = {{"", 0, 65536}, {"_ZZ5scalePfE4tile", 64, 128}};
    obs_summary s = {.ninsns = 2,
                     .insns = insns,
                     .nblocks = 2,
                     .blocks = blocks,
                     .nheats = 3,
                     .heats = heats,
                     .nsamples = 2,
                     .samples = samples,
                     .nreuses = 2,
                     .reuses = reuses,
                     .nshared = 2,
                     .shared = shared,
                     .warp_instructions = 241,
                     .thread_instructions = 242,
                     .longest_warp = 253,
                     .busiest_block = 254,
                     .longest_warps = 255,
                     .blocks_run = 243,
                     .blocks_observed = 244,
                     .blocks_sampled = 245,
                     .dropped = 246};
    s.mix.warp_instructions[3] = 251, s.mix.thread_instructions[3] = 252;
    return s;
}

static void tell_trials(prof_builder *b)
{
    static obs_shared shared[] = {{"", 0, 65536}, {"_ZZ5scalePfE4tile", 64, 128}};
    static obs_insn before[] = {{1,   1,   ACC_SHARED, ACC_REDUCTION, 401, 402, 403,
                                 404, 405, 406,        407,           408, 409, 416,
                                 410, 411, 412,        413,           414, 415}};
    static obs_insn after[] = {{3,   202, ACC_GLOBAL, ACC_STORE, 421, 422, 423, 424, 425, 426,
                                427, 428, 429,        436,       430, 431, 432, 433, 434, -435}};
    static obs_trial trials[] = {
        {.kind = OBS_TRIAL_TRANSPOSED,
         .blocks = 440,
         .pc = 441,
         .block = {442, 443},
         .nbefore = 1,
         .before = before,
         .nafter = 1,
         .after = after},
        {.kind = OBS_TRIAL_PADDED, .blocks = 444, .object = 1, .pitch = 445, .pad = 446},
        {.kind = OBS_TRIAL_SPREAD, .object = 202}};
    tell(b, (cap_record){.type = CAP_TRIALS, .trials = {301, 2, shared, 3, trials}});
}

static void tell_uses(prof_builder *b)
{
    wl_spans spans = {.counted = true};
    const wl_span some[] = {{.first = 2, .count = 3, .times = {4, 0, 2}},
                            {.first = 9, .count = 1, .times = {0, 11, 2}}};
    for (size_t i = 0; i < 2; i++)
        wl_spans_add(&spans, &some[i]);
    assert_true(wl_spans_finish(&spans));
    static const char touched[] = {0, 6};
    obs_use uses[] = {{.object = 202,
                       .space = ACC_GLOBAL,
                       .known = OBS_KNOWN_TOUCHED,
                       .spans = touched,
                       .length = sizeof touched},
                      {.object = 203,
                       .space = ACC_GLOBAL,
                       .known = OBS_KNOWN_COUNTED,
                       .spans = (const char *)spans.data,
                       .length = spans.size,
                       .reuse = OBS_REUSE_ALL,
                       .ranges = {261, 262, 263},
                       .range_accesses = {264, 265, 266},
                       .unfilled = 268,
                       .nlive = 1,
                       .live = &(obs_live_ranges){OBS_COMPUTED, 272, 273},
                       .block_words = 267,
                       .block_words_most = 269,
                       .block_accesses = 270,
                       .blocks = 271},
                      {.object = 1, .space = ACC_SHARED, .known = OBS_KNOWN_NOTHING, .spans = ""}};
    tell(b, (cap_record){.type = CAP_USES,
                         .uses = {301, OBS_KNOWN_COUNTED, OBS_KNOWN_TOUCHED, 3, uses}});
    wl_spans_free(&spans);
}

static void tell_launches(prof_builder *b)
{
    static cap_gap gap = {4, "a_reason"};
    static cap_move moves[] = {{201, 203}, {203, 202}};
    tell_note(b, 301, 1, "_Z5scalePf");
    tell(b, (cap_record){.type = CAP_TIMES, .times = {1, &(cap_time){301, 0.61}}});
    tell(b, (cap_record){.type = CAP_STARTS, .starts = {1, &(cap_start){301, 0, 0.62}}});
    tell(b, (cap_record){.type = CAP_WAY, .way = {301, CAP_WAY_PROBE, 1, "", 1, &gap}});
    tell(b, (cap_record){.type = CAP_LAUNCH,
                         .launch = {.id = 301,
                                    .call = 105,
                                    .module = 1,
                                    .kernel = "_Z5scalePf",
                                    .host_seconds = 0.63,
                                    .device_seconds = -1,
                                    .error = 167,
                                    .fault = "a_fault",
                                    .params = "",
                                    .summary = summary_of_launch()}});
    tell(b, (cap_record){.type = CAP_FAULT,
                         .fault = {301,
                                   "a_kind",
                                   "a_thing",
                                   291,
                                   {292, 293, 294},
                                   {295, 296, 297},
                                   1,
                                   BASE + OTHER + 298,
                                   299}});
    tell_uses(b);
    tell_trials(b);
    tell_note(b, 302, 1, "_Z5scalePf");
    tell(b, (cap_record){.type = CAP_REPEAT, .repeat = {302, 301, 0.64, 2, moves}});
    tell_note(b, 303, 2, "_Z5loopsPfi");
    tell_note(b, 304, 2, "_Z4lastv");
    tell_note(b, 305, 3, "_Z7machinev");
    cap_time times[] = {{306, 0.5}, {307, 1.5}};
    for (size_t i = 0; i < 2; i++)
        tell_note(b, times[i].note, 2, "_Z4lastv");
    tell(b, (cap_record){.type = CAP_TIMES, .times = {2, times}});
}

static void tell_graph(prof_builder *b)
{
    static uint32_t types[] = {2, 0, 1};
    static cap_edge edges[] = {{0, 1}, {1, 2}};
    static uint64_t ordinals[] = {311, 312, 313};
    for (uint32_t i = 1; i <= 2; i++) {
        tell(b, (cap_record){.type = CAP_GRAPH, .graph = {400 + i, i == 1, 3, types, 2, edges}});
        tell(b, (cap_record){.type = CAP_GRAPH_RUN, .graph_run = {101 + i, 400 + i, 3, ordinals}});
    }
}

/* Emulated; it launches the other kernel. */
static void tell_second_process(prof_builder *b)
{
    story_expect(prof_begin_process(b, &err), &err);
    tell(b, story_process("/src/other"));
    tell(b, story_device());
    tell(b, module_of(1, story_ptx, 99));
    tell(b, module_of(5, loops_ptx, 98));
    tell(b, story_call(1, "cuSomething", CAP_CALL_LAUNCH));
    tell(b, story_object(1, 1, BASE, 100));
    tell(b, (cap_record){.type = CAP_LAUNCH,
                         .launch = {.id = 1,
                                    .call = 1,
                                    .module = 5,
                                    .kernel = "_Z5loopsPfi",
                                    .fault = "",
                                    .params = "",
                                    .device_seconds = 0.65}});
    cap_record scale = story_launch(2, 1, BASE);
    tell(b, scale);
    story_expect(prof_end_process(b, NULL, &err), &err);
}

static const char *path_of_profile(void)
{
    return story_path("columns.wlprof");
}

static int set_up(void **state)
{
    prof_builder *b;
    prof_options options = {.force = true, .command = "a_command"};
    story_expect(prof_create(path_of_profile(), &options, &b, &err), &err);
    story_expect(prof_begin_process(b, &err), &err);
    tell_process(b);
    tell(b, story_call(101, "cuMalloc", CAP_CALL_ALLOC));
    tell(b, story_call(102, "cuMalloc", CAP_CALL_ALLOC));
    tell_objects(b);
    tell_calls(b);
    tell_launches(b);
    tell(b, (cap_record){.type = CAP_FREE, .free = {203, 105, CAP_FREED_KERNEL}});
    tell_graph(b);
    tell(b, (cap_record){.type = CAP_END, .end = {1004, 0}});
    story_expect(prof_end_process(b, "a_cut", &err), &err);
    tell_second_process(b);
    story_expect(prof_finish(b, &err), &err);
    return sqlite3_open_v2(path_of_profile(), (sqlite3 **)state, SQLITE_OPEN_READONLY, NULL);
}

static int tear_down(void **state)
{
    db_close(*state);
    return unlink(path_of_profile());
}

/* ---- what the profile has of it ---- */

typedef struct expected_row {
    const char *table, *where;
    const char *values; /* "column=value ..."; *: whatever there is, but something */
} expected_row;

static const expected_row expected[] = {
    {"info", "key = 'command'", "key=command value=a_command"},
    {"names", "kind = 'access' AND value = 1", "kind=access value=1 name=store"},
    {"processes", "id = 1",
     "id=1 pid=1001 parent_pid=1002 executable=/src/app directory=/src/dir host=machine "
     "collector=inline version=9.8 options=--some start_ns=1003 end_ns=1004 cut_off=a_cut "
     "objects_dropped=1005"},
    {"arguments", "process = 2 AND position = 1", "process=2 position=1 value=1024"},
    {"moves", "object = 3", "id=1 object=3 becomes=2"},
    {"gaps", "launch = 1", "launch=1 pc=4 reason=a_reason"},
    {"mix", "launch = 1", "launch=1 class=3 warp_instructions=251 thread_instructions=252"},
    {"frames", "stack = 2 AND depth = 1", "stack=2 depth=1 binary=/nowhere/lib.so offset=5408"},
    {"graphs", "id = 1", "id=1 process=1 edges_known=1"},
    {"graphs", "id = 2", "id=2 process=1 edges_known=0"},
    {"graph_nodes", "graph = 1 AND node = 0", "graph=1 node=0 type=2"},
    {"graph_nodes", "graph = 1 AND node = 2", "graph=1 node=2 type=1"},
    {"graph_edges", "graph = 1 AND source = 0", "graph=1 source=0 target=1"},
    {"graph_edges", "graph = 1 AND source = 1", "graph=1 source=1 target=2"},
    {"graph_runs", "call = 2", "call=2 graph=1"},
    {"graph_steps", "call = 2 AND node = 1", "call=2 node=1 ordinal=312"},
    {"files", "id = 2", "id=2 path=/usr/local/cuda/include/cuda_fp16.hpp system=1 missing=*"},
    {"modules", "id = 3", "id=3 kind=1 name=/src/b hash=97 bytes=8 code=*"},
    {"contents", "id = 1", "id=1 nrows=1 npcsets=2 npcs=3 data=*"},
    {"contents", "id = 2", "id=2 nrows=0 npcsets=0 npcs=0 data=*"},
    {"spans", "id = 2", "id=2 bytes=10 counted=1 data=*"},
    {"unsupported", "api = 'cuNothing'", "api=cuNothing"},
    {"skips", "id = 1", "id=1 process=1 kernel=a_kernel reason=a count=2"},
    {"skips", "id = 2", "id=2 process=1 kernel=a_kernel reason=b count=1"},
    {"messages", "id = 2", "id=2 process=1 level=3 text=another"},
    {"launch_kinds", "id = 1",
     "id=1 first=1 count=1 timed=1 host_seconds=0.63 device_seconds=0.61 device_least=0.61 "
     "device_most=0.61 process=1 kernel=1 "
     "grid_x=151 grid_y=152 grid_z=153 block_x=154 block_y=155 block_z=156 cluster_x=157 "
     "cluster_y=158 cluster_z=159 dynamic_shared=160 static_shared=161 local_bytes=162 "
     "registers=163 stream=2 device=164 context=165 error=167 fault=a_fault "
     "warp_instructions=241 thread_instructions=242 longest_warp=253 busiest_block=254 "
     "longest_warps=255 "
     "blocks_run=243 blocks_observed=244 "
     "blocks_sampled=245 dropped=246 way=3 estimated=1 recorded=1 accesses_known=0 mix_whole=1 "
     "registers_by=1 rows_of=1 moves=NULL objects_known=2 arrays_known=1"},
    {"launch_kinds", "id = 2",
     "id=2 first=2 count=1 timed=0 host_seconds=0.64 device_seconds=NULL device_least=NULL "
     "device_most=NULL process=1 kernel=1 "
     "grid_x=151 grid_y=152 grid_z=153 block_x=154 block_y=155 block_z=156 cluster_x=157 "
     "cluster_y=158 cluster_z=159 dynamic_shared=160 static_shared=161 local_bytes=162 "
     "registers=163 stream=2 device=164 context=165 error=0 fault= warp_instructions=241 "
     "thread_instructions=242 longest_warp=253 busiest_block=254 longest_warps=255 "
     "blocks_run=243 blocks_observed=244 blocks_sampled=245 dropped=246 "
     "way=3 estimated=1 recorded=0 accesses_known=0 mix_whole=1 registers_by=1 rows_of=1 moves=1 "
     "objects_known=2 arrays_known=1"},
    {"launch_kinds", "id = 3",
     "id=3 first=3 count=1 timed=0 host_seconds=NULL device_seconds=NULL device_least=NULL "
     "device_most=NULL process=1 kernel=2 "
     "grid_x=151 grid_y=152 grid_z=153 block_x=154 block_y=155 block_z=156 cluster_x=157 "
     "cluster_y=158 cluster_z=159 dynamic_shared=160 static_shared=161 local_bytes=162 "
     "registers=163 stream=2 device=164 context=165 error=0 fault= warp_instructions=0 "
     "thread_instructions=0 longest_warp=0 busiest_block=0 longest_warps=0 "
     "blocks_run=0 blocks_observed=0 "
     "blocks_sampled=0 dropped=0 way=0 "
     "estimated=0 recorded=0 accesses_known=0 mix_whole=0 registers_by=1 rows_of=3 moves=NULL "
     "objects_known=NULL arrays_known=NULL"},
    {"launch_kinds", "id = 4",
     "id=4 first=4 count=3 timed=2 host_seconds=NULL device_seconds=2.0 device_least=0.5 "
     "device_most=1.5 process=1 kernel=3 way=0 estimated=0 recorded=0 accesses_known=0 mix_whole=0 "
     "registers_by=1 rows_of=4"},
    {"launch_kinds", "id = 7",
     "id=7 first=9 count=1 timed=0 host_seconds=0.25 device_seconds=NULL device_least=NULL "
     "device_most=NULL process=2 kernel=1 grid_x=4 grid_y=1 grid_z=1 block_x=256 block_y=1 "
     "block_z=1 cluster_x=0 cluster_y=0 cluster_z=0 dynamic_shared=0 static_shared=0 "
     "local_bytes=0 registers=0 stream=0 device=0 context=0 error=0 fault= warp_instructions=88 "
     "thread_instructions=2710 longest_warp=0 busiest_block=0 longest_warps=0 "
     "blocks_run=4 blocks_observed=4 "
     "blocks_sampled=1 dropped=0 way=1 "
     "estimated=0 recorded=0 accesses_known=1 mix_whole=1 registers_by=0 rows_of=9 moves=NULL "
     "objects_known=NULL arrays_known=NULL"},
    {"launch_times", "id = 1",
     "id=1 kind=1 number=301 call=6 ordinal=166 host_seconds=0.63 device_seconds=0.61 "
     "device_start=0.62"},
    {"launch_times", "id = 2",
     "id=2 kind=2 number=302 call=6 ordinal=166 host_seconds=0.64 device_seconds=NULL "
     "device_start=NULL"},
    {"launch_times", "id = 7",
     "id=7 kind=4 number=307 call=6 ordinal=166 host_seconds=NULL device_seconds=1.5 "
     "device_start=NULL"},
    {"launch_times", "id = 9",
     "id=9 kind=7 number=2 call=7 ordinal=NULL host_seconds=0.25 device_seconds=NULL "
     "device_start=NULL"},
    {"faults", "launch = 1",
     "launch=1 kind=a_kind what=a_thing pc=291 block_x=292 block_y=293 block_z=294 "
     "thread_x=295 thread_y=296 thread_z=297 address=123145303359786 bytes=299 object=2"},
    {"parameters", "kernel = 2 AND position = 1", "kernel=2 position=1 offset=8 bytes=4 type=int"},
    {"reaches", "launch = 1 AND offset = 16", "launch=1 offset=16 object=3 object_offset=19"},
    {"instructions", "launch = 1 AND position = 0",
     "launch=1 position=0 pc=1 object=5 space=1 access=3 bytes=271 flags=272 "
     "executions=191 execution_lanes=192 requests=273 active_lanes=274 sectors=275 "
     "sectors_min=276 wavefronts=277 wavefronts_min=278 turns=285 slice_turns=286 uniform=279 "
     "contiguous=280 "
     "misaligned=281 strided=282 irregular=283 stride=284"},
    {"instructions", "launch = 1 AND position = 1",
     "launch=1 position=1 pc=3 object=2 space=0 access=1 bytes=171 flags=172 "
     "executions=191 execution_lanes=192 requests=173 active_lanes=174 sectors=175 "
     "sectors_min=176 wavefronts=177 wavefronts_min=178 turns=NULL slice_turns=NULL uniform=179 "
     "contiguous=180 "
     "misaligned=181 strided=182 irregular=183 stride=-184"},
    {"blocks", "launch = 1 AND block = 3",
     "launch=1 block=3 first_pc=7 ninsns=4 executions=193 lanes=194"},
    {"objects", "id = 3",
     "id=3 process=1 kernel=NULL kind=2 space=0 device=53 name=* variable=a_tag "
     "base=123145304408064 bytes=777 alloc_call=3 free_call=6 alloc_order=3 free_order=5 "
     "freed_how=2 parent=2 pool=13 tag=a_tag element_bytes=24 made_by_kernel=NULL "
     "made_by_pc=NULL file=NULL line=NULL function="},
    {"objects", "id = 4",
     "id=4 process=1 kernel=NULL kind=6 space=0 device=54 name=* variable= "
     "base=123145305456640 bytes=555 alloc_call=4 free_call=NULL alloc_order=4 "
     "free_order=NULL freed_how=6 parent=NULL pool=NULL tag= element_bytes=NULL "
     "made_by_kernel=2 made_by_pc=6 file=4 line=5 function=*"},
    {"objects", "id = 5",
     "id=5 process=NULL kernel=1 kind=64 space=1 device=0 name=* variable=tile base=64 "
     "bytes=128 alloc_call=NULL free_call=NULL alloc_order=0 free_order=NULL "
     "freed_how=NULL parent=NULL pool=NULL tag= element_bytes=NULL made_by_kernel=NULL "
     "made_by_pc=NULL file=NULL line=NULL function="},
    {"calls", "id = 3",
     "id=3 process=1 number=103 api=cuMemcpy3D kind=2 stream=2 thread=5 start_ns=1203 "
     "end_ns=1204 result=1205 source_object=1 source_offset=131 target_object=2 "
     "target_offset=132 bytes=133 stack=2 device_seconds=0.51 device_start=0.52 "
     "ordinal=134 device=135 context=136 flags=137 parent=4 event=138 version=139 "
     "width=141 rows=142 slices=143 source_pitch=144 source_rows=145 target_pitch=146 "
     "target_rows=147 ranges=8"},
    {"calls", "id = 4",
     "id=4 process=1 number=104 api=cuSomething kind=0 stream=0 thread=4 start_ns=1040 "
     "end_ns=1045 result=0 source_object=NULL source_offset=0 target_object=NULL "
     "target_offset=0 bytes=0 stack=1 device_seconds=NULL device_start=NULL ordinal=NULL "
     "device=0 context=0 flags=0 parent=NULL event=NULL version=NULL width=NULL rows=NULL "
     "slices=NULL source_pitch=NULL source_rows=NULL target_pitch=NULL target_rows=NULL "
     "ranges=NULL"},
    {"calls", "id = 7",
     "id=7 process=2 number=1 api=cuSomething kind=4 stream=0 thread=1 start_ns=10 "
     "end_ns=15 result=0 source_object=NULL source_offset=0 target_object=NULL "
     "target_offset=0 bytes=0 stack=NULL device_seconds=NULL device_start=NULL "
     "ordinal=NULL device=0 context=0 flags=0 parent=NULL event=NULL version=NULL "
     "width=NULL rows=NULL slices=NULL source_pitch=NULL source_rows=NULL "
     "target_pitch=NULL target_rows=NULL ranges=NULL"},
    {"ranges", "id = 1", "id=1 process=1 kind=1 thread=NULL domain=a_domain name=a_range"},
    {"ranges", "id = 2", "id=2 process=1 kind=0 thread=2 domain= name=b_range"},
    {"range_lists", "list = 8 AND position = 0", "list=8 position=0 range=2"},
    {"range_lists", "list = 8 AND position = 1", "list=8 position=1 range=1"},
    {"pools", "pool = 11", "process=1 pool=11 kind=1 device=12"},
    {"pools", "pool = 13", "process=1 pool=13 kind=0 device=14"},
    {"pool_states", "pool = 13", "process=1 pool=13 call=NULL reserved=15 used=16"},
    {"pool_states", "pool = 11", "process=1 pool=11 call=1 reserved=17 used=18"},
    {"refusals", "call = 3", "call=3 free=151 total=152"},
    {"streams", "stream = 1",
     "process=1 stream=1 kind=2 device=71 context=72 flags=73 priority=74"},
    {"streams", "stream = 2", "process=1 stream=2 kind=1 device=3 context=4 flags=5 priority=-6"},
    {"heats", "id = 1",
     "id=1 launch=1 object=2 space=0 block=201 block_x=202 block_y=203 block_z=204 "
     "warps=205 dropped=206 content=1"},
    {"heats", "id = 3",
     "id=3 launch=1 object=5 space=1 block=211 block_x=212 block_y=213 block_z=214 "
     "warps=215 dropped=216 content=2"},
    {"samples", "launch = 1 AND block = 220",
     "launch=1 block=220 block_x=221 block_y=222 block_z=223 why=2 mapped=0 alike=224 "
     "instructions=225 requests=226 sectors=227"},
    {"samples", "launch = 1 AND block = 230",
     "launch=1 block=230 block_x=231 block_y=232 block_z=233 why=0 mapped=1 alike=234 "
     "instructions=235 requests=236 sectors=237"},
    {"reuses", "launch = 1 AND position = 0",
     "launch=1 position=0 block=240 object=2 distance=241 loads=242 stores=243 waits=246"},
    {"reuses", "launch = 1 AND position = 1",
     "launch=1 position=1 block=240 object=NULL distance=NULL loads=244 stores=245 waits=247"},
    {"trials", "id = 1",
     "id=1 launch=1 kind=0 blocks=440 pc=441 block_x=442 block_y=443 object=NULL pitch=0 pad=0"},
    {"trials", "id = 2",
     "id=2 launch=1 kind=1 blocks=444 pc=0 block_x=0 block_y=0 object=5 pitch=445 pad=446"},
    {"trials", "id = 3",
     "id=3 launch=1 kind=3 blocks=0 pc=0 block_x=0 block_y=0 object=2 pitch=0 pad=0"},
    {"trial_instructions", "trial = 1 AND after = 0",
     "trial=1 after=0 position=0 pc=1 object=5 space=1 access=3 bytes=401 flags=402 requests=403 "
     "active_lanes=404 sectors=405 sectors_min=406 wavefronts=407 wavefronts_min=408 turns=409 "
     "slice_turns=416 "
     "uniform=410 contiguous=411 misaligned=412 strided=413 irregular=414 stride=415"},
    {"trial_instructions", "trial = 1 AND after = 1",
     "trial=1 after=1 position=0 pc=3 object=2 space=0 access=1 bytes=421 flags=422 requests=423 "
     "active_lanes=424 sectors=425 sectors_min=426 wavefronts=427 wavefronts_min=428 turns=429 "
     "slice_turns=436 "
     "uniform=430 contiguous=431 misaligned=432 strided=433 irregular=434 stride=-435"},
    {"uses", "object = 3",
     "launch=1 object=3 space=0 known=2 elements=195 touched=4 loads=12 stores=11 "
     "atomics=8 least=6 most=13 squares=277.0 spans=2 ranges_loaded=261 ranges_copied=262 "
     "ranges_computed=263 accesses_loaded=264 accesses_copied=265 accesses_computed=266 "
     "accesses_unfilled=268 block_words=267 block_words_most=269 block_accesses=270 blocks=271"},
    {"uses", "object = 5",
     "launch=1 object=5 space=1 known=0 elements=32 touched=NULL loads=NULL stores=NULL "
     "atomics=NULL least=NULL most=NULL squares=NULL spans=NULL ranges_loaded=NULL "
     "ranges_copied=NULL ranges_computed=NULL accesses_loaded=NULL accesses_copied=NULL "
     "accesses_computed=NULL accesses_unfilled=NULL block_words=NULL block_words_most=NULL "
     "block_accesses=NULL blocks=NULL"},
    {"live_ranges", "object = 3", "launch=1 object=3 origin=2 accesses=272 ranges=273"},
    {"kernels", "id = 2",
     "id=2 mangled=_Z5loopsPfi name=* short_name=loops module=2 file=4 line=5 ncode=15 "
     "nblocks=6"},
    {"kernels", "id = 3",
     "id=3 mangled=_Z4lastv name=last() short_name=last module=2 file=NULL line=NULL "
     "ncode=1 nblocks=2"},
    {"code", "kernel = 1 AND pc = 5",
     "kernel=1 pc=5 text=* op=st.global.f32 function=scale(float*) ptx_line=32 block=1 "
     "loc=5 file=3 line=8 col=1"},
    {"code", "kernel = 1 AND pc = 8",
     "kernel=1 pc=8 text=* op=add.f32 function=twice(float) ptx_line=9 block=3 loc=7 "
     "file=1 line=30 col=5"},
    {"static_blocks", "kernel = 1 AND first_pc = 0",
     "kernel=1 first_pc=0 ninsns=7 loop=NULL ilp=1.75 mlp=1.0 chain_loads=1 chain_shared=0"},
    {"static_blocks", "kernel = 2 AND first_pc = 4",
     "kernel=2 first_pc=4 ninsns=6 loop=4 ilp=1.5 mlp=1.0 chain_loads=1 chain_shared=0"},
    {"static_blocks", "kernel = 2 AND first_pc = 13",
     "kernel=2 first_pc=13 ninsns=2 loop=NULL ilp=2.0 mlp=NULL chain_loads=0 chain_shared=1"},
    {"static_mix", "kernel = 1 AND first_pc = 7 AND class = 9",
     "kernel=1 first_pc=7 class=9 instructions=2 chain=2 machine=1.0 chain_machine=*"},
    {"static_mix", "kernel = 1 AND first_pc = 0 AND class = 9",
     "kernel=1 first_pc=0 class=9 instructions=5 chain=3 machine=3.0 chain_machine=*"},
    {"loops", "header = 3", "kernel=2 header=3 number=0 depth=1 outer=NULL times=9 trips=*"},
    {"loops", "header = 4", "kernel=2 header=4 number=1 depth=2 outer=3 times=7 trips=*"},
    {"forms", "kernel = 2 AND pc = 5 AND position = 1",
     "kernel=2 pc=5 position=1 bytes=4 form=* no_wrap=1"},
    {"forms", "kernel = 2 AND pc = 6", "kernel=2 pc=6 position=0 bytes=4 form=* no_wrap=1"},
    {"successors", "kernel = 2 AND first_pc = 3", "kernel=2 first_pc=3 next_pc=4"},
    {"locs", "id = 5", "id=5 file=3 line=8 col=1 function=store(float) inlined_at=4"},
    {"devices", "id = 2",
     "id=2 process=1 ordinal=45 name=B_GPU file=b cc_major=46 cc_minor=47 sms=48 "
     "global_bytes=49"},
};

typedef struct unset_column {
    const char *table, *column;
    const char *why; /* what reads it back instead */
} unset_column;

static const unset_column unset[] = {
    {"frames", "function", "test_sites.c: names are in debug information"},
    {"frames", "file", "test_sites.c"},
    {"frames", "line", "test_sites.c"},
    {"frames", "inlined", "test_sites.c"},
    {"objects", "caller_file", "test_sites.c"},
    {"objects", "caller_line", "test_sites.c"},
    {"callers", "*", "test_sites.c"},
    {"calls", "file", "test_sites.c"},
    {"calls", "line", "test_sites.c"},
    {"calls", "function", "test_sites.c"},
    {"parameters", "name", "test_parameters.py: names are in debug information"},
    {"kernels", "machine_sm", "test_machine_code.py: of programs that hold machine code"},
    {"kernels", "machine_missing", "test_machine_code.py"},
    {"kernels", "missing", "test_modules.c: of kernels whose code cannot be had"},
    {"files", "bytes", "test_profile.c: of files that are there"},
    {"files", "text", "test_profile.c"},
    {"launch_kinds", "warps_dropped",
     "test_sequences.c: packed steps, and what they are unpacked to"},
    {"fills", "*", "test_facts.c: of kernels that write to shared memory"},
    {"fill_reads", "*", "test_facts.c"},
    {"barriers", "*", "test_facts.c: of kernels with barriers"},
    {"premises", "*", "test_facts.c: of kernels with barriers"},
    {"paths", "*", "test_paths.c"},
    {"listings", "*", "test_listing.c"},
    {"path_runs", "*", "test_paths.c"},
    {"sequences", "*", "test_sequences.c"},
    {"sequence_pages", "*", "test_sequences.c"},
    {"warp_groups", "*", "test_sequences.c"},
    {"warp_pages", "*", "test_sequences.c"},
    {"warp_objects", "*", "test_sequences.c"},
};

/* ---- columns ---- */

typedef struct table_column {
    const char *table, *name;
    const char *member; /* of the structure */
} table_column;

static const table_column columns[] = {
#define TABLE(table, type) {#table, NULL, NULL},
#define KEY(column, member) {NULL, #column, #member},
#define NUMBER(column, member) {NULL, #column, #member},
#define ENUM(column, member, n) {NULL, #column, #member},
#define ID(column, member) {NULL, #column, #member},
#define MAYBE(column, member) {NULL, #column, #member},
#define AMOUNT(column, member) {NULL, #column, #member},
#define TEXT(column, member) {NULL, #column, #member},
#define REMARK(column, member) {NULL, #column, #member},
#define BYTES(column, member) {NULL, #column, #member},
#define MAYBE_BYTES(column, member) {NULL, #column, #member},
#define WHEN(condition, column, member) {NULL, #column, #member},
#include "profile/columns.def"
};

enum { COLUMNS = sizeof columns / sizeof *columns, EXPECTED = sizeof expected / sizeof *expected };

/* The value that the row gives the column, as a copy; NULL: none. */
static char *value_in(const expected_row *row, const char *column)
{
    size_t length = strlen(column);
    for (const char *at = row->values; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, column, length) == 0 && at[length] == '=')
            return strndup(at + length + 1, strcspn(at + length + 1, " "));
    }
    return NULL;
}

static bool is_expected(const char *table, const char *name)
{
    bool is = false;
    for (int i = 0; i < EXPECTED && !is; i++) {
        char *value = strcmp(expected[i].table, table) == 0 ? value_in(&expected[i], name) : NULL;
        is = value != NULL;
        free(value);
    }
    return is;
}

static const unset_column *find_unset(const char *table, const char *name)
{
    for (size_t i = 0; i < sizeof unset / sizeof *unset; i++)
        if (strcmp(unset[i].table, table) == 0 &&
            (strcmp(unset[i].column, "*") == 0 || strcmp(unset[i].column, name) == 0))
            return &unset[i];
    return NULL;
}

static void every_column_is_expected(void **state)
{
    (void)state;
    const char *table = NULL;
    for (int i = 0; i < COLUMNS; i++) {
        table = columns[i].table ? columns[i].table : table;
        if (!columns[i].name)
            continue;
        if (is_expected(table, columns[i].name) == (find_unset(table, columns[i].name) != NULL))
            fail_msg("%s.%s is %s", table, columns[i].name,
                     find_unset(table, columns[i].name) ? "expected and unset"
                                                        : "nowhere expected");
    }
}

/* ---- values ---- */

static void check_value(sqlite3 *sql, const expected_row *row, const char *column,
                        const char *value)
{
    sqlite3_stmt *stmt;
    char *text = sqlite3_mprintf("SELECT coalesce(%s, 'NULL') FROM %s WHERE %s", column, row->table,
                                 row->where);
    if (sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", text, sqlite3_errmsg(sql));
    assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
    const char *have = (const char *)sqlite3_column_text(stmt, 0);
    bool same = strcmp(value, "*") == 0 ? sqlite3_column_bytes(stmt, 0) > 0
                                        : strcmp(value, have) == 0;
    if (!same)
        fail_msg("%s where %s: %s is %s, not %s", row->table, row->where, column, have, value);
    assert_int_equal(sqlite3_step(stmt), SQLITE_DONE);
    sqlite3_finalize(stmt);
    sqlite3_free(text);
}

static void every_value_is_where_it_belongs(void **state)
{
    for (int i = 0; i < EXPECTED; i++)
        for (const char *at = expected[i].values; at; at = strchr(at, ' ')) {
            at += *at == ' ';
            char *name = strndup(at, strcspn(at, "=")), *value = value_in(&expected[i], name);
            check_value(*state, &expected[i], name, value);
            free(name), free(value);
        }
}

/* Is there a row that has both columns, with different values? */
static bool are_told_apart(const char *table, const char *a, const char *b)
{
    bool apart = false;
    for (int i = 0; i < EXPECTED && !apart; i++) {
        bool of_table = strcmp(expected[i].table, table) == 0;
        char *x = of_table ? value_in(&expected[i], a) : NULL;
        char *y = of_table ? value_in(&expected[i], b) : NULL;
        apart = x && y && strcmp(x, y) != 0;
        free(x), free(y);
    }
    return apart;
}

static void columns_are_told_apart(void **state)
{
    (void)state;
    const char *table = NULL;
    for (int i = 0; i < COLUMNS; i++) {
        table = columns[i].table ? columns[i].table : table;
        for (int k = i + 1; columns[i].name && k < COLUMNS && columns[k].name; k++)
            if (!find_unset(table, columns[i].name) && !find_unset(table, columns[k].name) &&
                !are_told_apart(table, columns[i].name, columns[k].name))
                fail_msg("no row tells %s.%s from %s", table, columns[i].name, columns[k].name);
    }
}

/* ---- reading ---- */

/* Inserts a row as its table wants it. */
#define TABLE(table, type)                                             \
    static wl_status insert_##table(sqlite3_stmt *stmt, const void *v) \
    {                                                                  \
        return table_insert_##table(stmt, v, &err);                    \
    }
#include "profile/columns.def"

#define OF_kernel "0"
#define OF_count "1"
#define OF_nrows "0"
#define OF_blocks_observed "0"
#define OF_has_text "0"
#define OF_module_name "''"
#define OF_module_hash "0"
#define OF_module_kind "0"
#define OF_ordinal "1"
#define OF_device "0"
#define OF_bytes "0"
#define OF_executions "0"

/* What rows are read from: the table, with something for what its views join. */
static const struct {
    const char *name, *from;
    wl_status (*insert)(sqlite3_stmt *stmt, const void *v);
} tables[] = {
#define TABLE(table, type) \
    {                      \
        #table, "(SELECT * "
#define JOINED(column, member) ", " OF_##column " AS " #column
#define END(table)                      \
    " FROM " #table ")", insert_##table \
    }                                   \
    ,
#include "profile/columns.def"
};

static const size_t sizes[] = {
#define TABLE(table, type) sizeof(type),
#include "profile/columns.def"
};

static void copy_rows(sqlite3 *from, sqlite3 *to, int table)
{
    wl_arena *arena = wl_arena_new();
    sqlite3_stmt *stmt;
    uint32_t count;
    char *rows;
    story_expect(table_load(from, (table_id)table, tables[table].from, NULL, 0, arena, &count,
                            &rows, &err),
                 &err);
    story_expect(table_prepare(to, (table_id)table, &stmt, &err), &err);
    for (uint32_t i = 0; i < count; i++)
        story_expect(tables[table].insert(stmt, rows + i * sizes[table]), &err);
    sqlite3_finalize(stmt);
    wl_arena_free(arena);
}

/* Both tables have the same rows. */
static void check_same_rows(sqlite3 *sql, const char *table)
{
    char *text = sqlite3_mprintf("SELECT count(*) FROM (SELECT * FROM %s EXCEPT SELECT * FROM "
                                 "copy.%s) UNION ALL SELECT (SELECT count(*) FROM %s) - (SELECT "
                                 "count(*) FROM copy.%s)",
                                 table, table, table, table);
    sqlite3_stmt *stmt;
    assert_int_equal(sqlite3_prepare_v2(sql, text, -1, &stmt, NULL), SQLITE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        if (sqlite3_column_int(stmt, 0))
            fail_msg("%s: rows that are read and written again differ", table);
    }
    sqlite3_finalize(stmt);
    sqlite3_free(text);
}

/* Every row is read into its structure and written to an empty profile. */
static void rows_are_read_as_they_were_written(void **state)
{
    char path[4096];
    sqlite3 *copy;
    snprintf(path, sizeof path, "%s.copy", path_of_profile());
    unlink(path);
    assert_int_equal(sqlite3_open(path, &copy), SQLITE_OK);
    story_expect(db_exec(copy, prof_schema, &err), &err);
    for (int i = 0; i < TABLE_COUNT; i++)
        copy_rows(*state, copy, i);
    sqlite3_close(copy);
    char *attach = sqlite3_mprintf("ATTACH %Q AS copy", path);
    story_expect(db_exec(*state, attach, &err), &err);
    for (int i = 0; i < TABLE_COUNT; i++)
        check_same_rows(*state, tables[i].name);
    sqlite3_free(attach);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_is_expected),
        cmocka_unit_test(every_value_is_where_it_belongs),
        cmocka_unit_test(columns_are_told_apart),
        cmocka_unit_test(rows_are_read_as_they_were_written),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
