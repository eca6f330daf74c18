/* Counting what launches logged (rewrite/layout.h): a kernel of ours does, when the launch is over,
 * on a stream that no other waits for. */
#include "shim/probe/impl.h"
#include "shim/probe/pages_impl.h"

#include <stdlib.h>
#include <uthash.h>

enum { WARPS = 8 /* of a block, each with a region */ };

/* Of the lanes with one entry the first adds their number; the counters that most lanes came to
 * would be waited for otherwise. An entry without an equal is the same, only slower: all ones is
 * none. */
static const char text[] =
    ".version 6.2\n.target sm_70\n.address_size 64\n"
    ".visible .entry wl_count(.param .u64 state, .param .u64 ends, .param .u64 log,\n"
    "    .param .u32 rows, .param .u32 regions, .param .u32 end_bytes)\n"
    "{\n"
    "    .reg .pred %p, %here, %marks;\n"
    "    .reg .b32 %region, %lane, %t, %end, %row, %entry, %same, %first, %n;\n"
    "    .reg .b64 %at, %state, %to, %next;\n"
    "    mov.u32 %region, %ctaid.x;\n"
    "    mov.u32 %t, %ntid.y;\n"
    "    mov.u32 %lane, %tid.y;\n"
    "    mad.lo.u32 %region, %region, %t, %lane;\n"
    "    ld.param.u32 %t, [regions];\n"
    "    setp.ge.u32 %p, %region, %t;\n"
    "    @%p ret;\n"
    "    mov.u32 %lane, %tid.x;\n"
    "    ld.param.u64 %state, [state];\n"
    "    ld.param.u64 %at, [ends];\n"
    "    mad.lo.u32 %t, %region, 32, %lane;\n"
    "    ld.param.u32 %n, [end_bytes];\n"
    "    mad.wide.u32 %at, %t, %n, %at;\n"
    "    setp.eq.u32 %p, %n, 1;\n"
    "    @%p ld.global.u8 %end, [%at];\n"
    "    @!%p ld.global.u16 %end, [%at];\n"
    "    ld.param.u32 %t, [rows];\n"
    "    min.u32 %end, %end, %t;\n"
    "    mad.lo.u32 %t, %region, 32, %lane;\n"
    "    ld.param.u64 %at, [log];\n"
    "    mad.wide.u32 %at, %t, 4, %at;\n"
    "    ld.param.u32 %t, [regions];\n"
    "    mul.wide.u32 %next, %t, 128;\n"
    "    mov.u32 %row, 0;\n"
    "rows_left:\n"
    "    setp.lt.u32 %here, %row, %end;\n"
    "    vote.sync.any.pred %p, %here, -1;\n"
    "    @!%p ret;\n"
    "    mov.u32 %entry, -1;\n"
    "    @%here ld.global.cs.u32 %entry, [%at];\n"
    "    match.any.sync.b32 %same, %entry, -1;\n"
    "    brev.b32 %first, %same;\n"
    "    bfind.shiftamt.u32 %first, %first;\n"
    "    setp.eq.and.u32 %p, %first, %lane, %here;\n"
    "    @!%p bra counted;\n"
    "    popc.b32 %same, %same;\n"
    "    shr.u32 %n, %entry, 29;\n"
    "    and.b32 %n, %n, 3;\n"
    "    shl.b32 %n, 1, %n;\n"
    "    and.b32 %t, %entry, 0x1fffffff;\n"
    "    setp.lt.s32 %marks, %entry, 0;\n"
    "    @%marks bra mark;\n"
    "    mad.wide.u32 %to, %t, 4, %state;\n"
    "each_counter:\n"
    "    red.global.add.u32 [%to], %same;\n"
    "    add.s64 %to, %to, 4;\n"
    "    sub.u32 %n, %n, 1;\n"
    "    setp.ne.u32 %p, %n, 0;\n"
    "    @%p bra each_counter;\n"
    "    bra counted;\n"
    "mark:\n"
    "    cvt.u64.u32 %to, %t;\n"
    "    add.s64 %to, %to, %state;\n"
    "each_mark:\n"
    "    ld.global.u8 %t, [%to];\n"
    "    setp.eq.u32 %p, %t, 0;\n"
    "    @%p st.global.u8 [%to], 1;\n"
    "    add.s64 %to, %to, 1;\n"
    "    sub.u32 %n, %n, 1;\n"
    "    setp.ne.u32 %p, %n, 0;\n"
    "    @%p bra each_mark;\n"
    "counted:\n"
    "    add.s64 %at, %at, %next;\n"
    "    add.u32 %row, %row, 1;\n"
    "    bra rows_left;\n"
    "}\n";

typedef struct log_counter { /* of a context */
    CUcontext context;
    CUfunction function; /* NULL: it could not be loaded */
    UT_hash_handle hh;
} log_counter;

static log_counter *log_counters;

static void load_log_kernel(log_counter *c)
{
    CUmodule module;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleLoadData, (CUmodule *, const void *), &module,
               text) == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction,
               (CUfunction *, CUmodule, const char *), &c->function, module, "wl_count");
}

static log_counter *log_counter_of(CUcontext context)
{
    log_counter *c = NULL;
    HASH_FIND_PTR(log_counters, &context, c);
    if (!c && probe_context_idle(context) && (c = calloc(1, sizeof *c))) {
        c->context = context;
        load_log_kernel(c);
        HASH_ADD_PTR(log_counters, context, c);
    }
    return c && c->function ? c : NULL;
}

bool probe_logs_count(CUcontext context)
{
    return log_counter_of(context) != NULL;
}

bool probe_log_count(CUcontext context, CUstream stream, uint64_t state, const rewrite_layout *l)
{
    log_counter *c = log_counter_of(context);
    uint64_t ends = state + l->ends_at, log = state + l->log_at;
    uint32_t rows = l->log_rows, regions = l->log_regions, end_bytes = l->end_bytes;
    void *params[] = {&state, &ends, &log, &rows, &regions, &end_bytes};
    return c && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel,
                       (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **, void **),
                       c->function, (regions + WARPS - 1) / WARPS, 1, 1, REWRITE_LANES, WARPS, 1, 0,
                       stream, params, NULL) == CUDA_SUCCESS;
}

void probe_logs_gone(CUcontext context)
{
    log_counter *c = NULL;
    HASH_FIND_PTR(log_counters, &context, c);
    if (!c)
        return;
    HASH_DEL(log_counters, c);
    free(c);
}
