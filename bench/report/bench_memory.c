/* What the view of memory costs with many calls and objects: makes a profile record by record, as the
 * import does, and draws its report.
 *
 *     bench_memory FOLDER [OPERATIONS [OBJECTS]]
 *
 * leaves FOLDER/memory.wlprof and FOLDER/memory.html, and prints sizes and times. The program
 * allocates and frees objects of 4 KiB to 64 MiB at any time, some hundreds of them at once, copies
 * to and from them, and launches 24 kernels on two to four of them, in four streams. Some objects
 * are never used, and some never freed. memory.mjs opens the report in a browser. */
#include "draw.h"
#include "support/random.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    KERNELS = 24,
    STREAMS = 4,
    MOST_ALIVE = 400,
    TEXT = 1 << 15,
    FIRST_PC = 2 /* of a kernel's memory instructions */
};

#define BASE UINT64_C(0x7f0000000000)

typedef struct story {
    prof_builder *builder;
    uint64_t random, ordinal, next;
    uint32_t calls, launches, made, nalive;
    uint32_t alive[MOST_ALIVE];
} story;

static uint32_t below(story *s, uint32_t n)
{
    return (uint32_t)(random_next(&s->random) >> 33) % n;
}

static void add_kernels(story *s)
{
    char *text = malloc(TEXT);
    if (!text)
        exit(1);
    int n = snprintf(text, TEXT, ".version 8.0\n.target sm_90\n.address_size 64\n");
    for (int k = 0; k < KERNELS; k++)
        n += snprintf(text + n, TEXT - (size_t)n,
                      ".visible .entry step_%d(.param .u64 p)\n{\n.reg .b64 %%rd<2>;\n.reg .f32 "
                      "%%f<2>;\nld.param.u64 %%rd1, [p];\ncvta.to.global.u64 %%rd1, %%rd1;\n"
                      "ld.global.f32 %%f1, [%%rd1];\nst.global.f32 [%%rd1], %%f1;\nret;\n}\n",
                      k);
    add(s->builder,
        (cap_record){.type = CAP_MODULE,
                     .module = {.id = 1, .name = "steps", .code = text, .length = (size_t)n}});
    free(text);
}

static uint32_t add_call(story *s, const char *api, cap_call_kind kind, uint32_t source,
                         uint32_t target)
{
    uint32_t id = ++s->calls;
    add(s->builder, (cap_record){.type = CAP_CALL,
                                 .call = {.id = id,
                                          .api = api,
                                          .kind = kind,
                                          .thread = 1,
                                          .start_ns = 5000 * (int64_t)id,
                                          .end_ns = 5000 * (int64_t)id + 2000,
                                          .source_object = source,
                                          .target_object = target,
                                          .bytes = source || target ? 4096 : 0,
                                          .context = 1,
                                          .ordinal = ++s->ordinal}});
    return id;
}

static void allocate(story *s)
{
    uint64_t bytes = UINT64_C(4096) << below(s, 15);
    uint32_t call = add_call(s, "cudaMalloc", CAP_CALL_ALLOC, 0, 0);
    add(s->builder, (cap_record){.type = CAP_OBJECT,
                                 .object = {.id = ++s->made,
                                            .kind = CAP_OBJECT_DEVICE,
                                            .base = BASE + s->next,
                                            .bytes = bytes,
                                            .call = call,
                                            .name = ""}});
    s->next += bytes;
    s->alive[s->nalive++] = s->made;
}

static void free_one(story *s)
{
    uint32_t at = below(s, s->nalive), object = s->alive[at];
    s->alive[at] = s->alive[--s->nalive];
    uint32_t call = add_call(s, "cudaFree", CAP_CALL_FREE, 0, 0);
    add(s->builder, (cap_record){.type = CAP_FREE, .free = {object, call, CAP_FREED_PROGRAM}});
}

/* One of every eight is used by nobody. */
static uint32_t any_used(story *s)
{
    for (int i = 0; i < 8; i++) {
        uint32_t object = s->alive[below(s, s->nalive)];
        if (object % 8)
            return object;
    }
    return 0;
}

static void copy(story *s)
{
    uint32_t object = any_used(s);
    bool in = below(s, 2);
    add_call(s, "cudaMemcpy", CAP_CALL_COPY, in ? 0 : object, in ? object : 0);
}

static void launch(story *s)
{
    obs_insn insns[4] = {{0}};
    char kernel[16];
    uint32_t n = 2 + below(s, 3);
    for (uint32_t i = 0; i < n; i++)
        insns[i] = (obs_insn){.pc = FIRST_PC + (i + 1 == n),
                              .object = any_used(s),
                              .space = ACC_GLOBAL,
                              .op = i + 1 == n ? ACC_STORE : ACC_LOAD,
                              .bytes = 4,
                              .requests = 8,
                              .active_lanes = 256,
                              .sectors = 32,
                              .sectors_min = 32,
                              .contiguous = 8};
    snprintf(kernel, sizeof kernel, "step_%u", below(s, KERNELS));
    uint32_t call = add_call(s, "cudaLaunchKernel", CAP_CALL_LAUNCH, 0, 0);
    add(s->builder,
        (cap_record){
            .type = CAP_LAUNCH,
            .launch = {
                .id = ++s->launches,
                .call = call,
                .module = 1,
                .kernel = kernel,
                .grid = {1, 1, 1},
                .block = {256, 1, 1},
                .cluster = {1, 1, 1},
                .context = 1,
                .stream = 1 + below(s, STREAMS),
                .ordinal = ++s->ordinal,
                .host_seconds = -1,
                .device_seconds = 1e-6 * (1 + below(s, 50)),
                .fault = "",
                .params = "",
                .summary = {.ninsns = n, .insns = insns, .blocks_run = 1, .blocks_observed = 1}}});
}

/* What comes next: objects are spread evenly over the operations. */
static void add_operation(story *s, uint32_t at, uint32_t operations, uint32_t objects)
{
    bool due = (uint64_t)s->made * operations < (uint64_t)objects * at || s->nalive < 4;
    if (s->nalive == MOST_ALIVE || (s->nalive > 8 && below(s, operations) < objects))
        free_one(s);
    else if (due && s->made < objects)
        allocate(s);
    else if (below(s, 8) == 0)
        copy(s);
    else
        launch(s);
}

static void make_profile(const char *path, uint32_t operations, uint32_t objects)
{
    story s = {.builder = begin_profile(path, "/opt/steps"), .random = 1};
    add_kernels(&s);
    for (uint32_t i = 0; i < operations; i++)
        add_operation(&s, i, operations, objects);
    end_profile(s.builder);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_memory FOLDER [OPERATIONS [OBJECTS]]\n");
        return 2;
    }
    uint32_t operations = argc > 2 ? (uint32_t)atoi(argv[2]) : 100000;
    uint32_t objects = argc > 3 ? (uint32_t)atoi(argv[3]) : operations / 10;
    char profile[4096], html[4096];
    snprintf(profile, sizeof profile, "%s/memory.wlprof", argv[1]);
    snprintf(html, sizeof html, "%s/memory.html", argv[1]);
    double start = clock_seconds(CLOCK_MONOTONIC);
    make_profile(profile, operations, objects);
    printf("%u operations, %u objects: profile %.2f s, %.1f MB\n", operations, objects,
           clock_seconds(CLOCK_MONOTONIC) - start, megabytes(profile));
    draw_report(profile, html, REP_PART_HEATS | REP_PART_SOURCES | REP_PART_COURSES);
    return 0;
}
