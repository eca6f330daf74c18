/* Which pages of what a launch recorded hold anything: a kernel of ours looks, so that the rest
 * need not be copied. */
#include "shim/probe/pages_impl.h"

#include "rewrite/layout.h"
#include "shim/probe/impl.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { WARPS = 8 /* of a block, each with a page */ };

/* The four marks in register `x`, each 0 or 1, become bits of %word from `at` on: the product has
 * them side by side in its upper byte. */
#define FOUR(x, at)                              \
    "    mul.lo.u32 " x ", " x ", 0x01020408;\n" \
    "    shr.u32 " x ", " x ", 24;\n"            \
    "    and.b32 " x ", " x ", 15;\n"            \
    "    shl.b32 " x ", " x ", " at ";\n"        \
    "    or.b32 %word, %word, " x ";\n"

/* A thread a word of the bitmap. */
#define FOLD                                                                                       \
    ".visible .entry wl_fold(.param .u64 bits, .param .u64 marks,\n"                               \
    "    .param .u32 count)\n"                                                                     \
    "{\n"                                                                                          \
    "    .reg .pred %p;\n"                                                                         \
    "    .reg .b32 %n, %t, %u, %word, %a, %b, %c, %d;\n"                                           \
    "    .reg .b64 %at, %from;\n"                                                                  \
    "    mov.u32 %n, %ctaid.x;\n"                                                                  \
    "    mov.u32 %t, %ntid.x;\n"                                                                   \
    "    mov.u32 %u, %tid.x;\n"                                                                    \
    "    mad.lo.u32 %n, %n, %t, %u;\n"                                                             \
    "    ld.param.u32 %t, [count];\n"                                                              \
    "    setp.ge.u32 %p, %n, %t;\n"                                                                \
    "    @%p ret;\n"                                                                               \
    "    ld.param.u64 %at, [bits];\n"                                                              \
    "    mad.wide.u32 %at, %n, 4, %at;\n"                                                          \
    "    ld.param.u64 %from, [marks];\n"                                                           \
    "    mad.wide.u32 %from, %n, 32, %from;\n"                                                     \
    "    ld.global.u32 %word, [%at];\n"                                                            \
    "    ld.global.v4.u32 {%a, %b, %c, %d}, [%from];\n" FOUR("%a", "0") FOUR("%b", "4") FOUR("%c", \
                                                                                             "8")  \
        FOUR("%d", "12") "    ld.global.v4.u32 {%a, %b, %c, %d}, [%from+16];\n" FOUR("%a", "16")   \
            FOUR("%b", "20") FOUR("%c", "24") FOUR("%d", "28") "    st.global.u32 [%at], %word;\n" \
                                                               "    ret;\n"                        \
                                                               "}\n"

/* A lane looks at 16 bytes of each 512 of its warp's page. */
static const char text[] = ".version 6.2\n.target sm_50\n.address_size 64\n"
                           ".visible .entry wl_pages(.param .u64 memory, .param .u64 flags,\n"
                           "    .param .u32 count)\n"
                           "{\n"
                           "    .reg .pred %p;\n"
                           "    .reg .b32 %page, %lane, %t, %left, %any, %a, %b, %c, %d;\n"
                           "    .reg .b64 %at, %flag, %x;\n"
                           "    mov.u32 %page, %ctaid.x;\n"
                           "    mov.u32 %t, %ntid.y;\n"
                           "    mov.u32 %lane, %tid.y;\n"
                           "    mad.lo.u32 %page, %page, %t, %lane;\n"
                           "    ld.param.u32 %t, [count];\n"
                           "    setp.ge.u32 %p, %page, %t;\n"
                           "    @%p ret;\n"
                           "    mov.u32 %lane, %tid.x;\n"
                           "    ld.param.u64 %at, [memory];\n"
                           "    mad.wide.u32 %at, %page, 4096, %at;\n"
                           "    mad.wide.u32 %at, %lane, 16, %at;\n"
                           "    mov.u32 %any, 0;\n"
                           "    mov.u32 %left, 8;\n"
                           "more:\n"
                           "    ld.global.v4.u32 {%a, %b, %c, %d}, [%at];\n"
                           "    or.b32 %a, %a, %b;\n"
                           "    or.b32 %c, %c, %d;\n"
                           "    or.b32 %any, %any, %a;\n"
                           "    or.b32 %any, %any, %c;\n"
                           "    add.s64 %at, %at, 512;\n"
                           "    sub.u32 %left, %left, 1;\n"
                           "    setp.ne.u32 %p, %left, 0;\n"
                           "    @%p bra more;\n"
                           "    setp.ne.u32 %p, %any, 0;\n"
                           "    vote.sync.any.pred %p, %p, -1;\n"
                           "    selp.b32 %t, 1, 0, %p;\n"
                           "    cvt.u64.u32 %x, %page;\n"
                           "    ld.param.u64 %flag, [flags];\n"
                           "    add.s64 %flag, %flag, %x;\n"
                           "    setp.eq.u32 %p, %lane, 0;\n"
                           "    @%p st.global.u8 [%flag], %t;\n"
                           "    ret;\n"
                           "}\n" FOLD;

typedef struct looker { /* of a context */
    CUcontext context;
    CUfunction function, fold; /* NULL: it could not be loaded */
    CUdeviceptr flags;
    uint64_t room;
    UT_hash_handle hh;
} looker;

static looker *lookers;

static CUfunction get_page_kernel(CUmodule module, const char *name)
{
    CUfunction function = NULL;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleGetFunction, (CUfunction *, CUmodule, const char *),
           &function, module, name);
    return function;
}

static void load_page_kernels(looker *l)
{
    CUmodule module;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuModuleLoadData, (CUmodule *, const void *), &module,
               text) != CUDA_SUCCESS)
        return;
    l->function = get_page_kernel(module, "wl_pages");
    l->fold = get_page_kernel(module, "wl_fold");
}

static looker *looker_of(CUcontext context)
{
    looker *l = NULL;
    HASH_FIND_PTR(lookers, &context, l);
    if (!l && probe_context_idle(context) && (l = calloc(1, sizeof *l))) {
        l->context = context;
        load_page_kernels(l);
        HASH_ADD_PTR(lookers, context, l);
    }
    return l && l->function && l->fold ? l : NULL;
}

static bool make_room_for_flags(looker *l, uint64_t bytes)
{
    if (l->room >= bytes)
        return true;
    if (l->room)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemFree_v2, (CUdeviceptr), l->flags);
    l->room = 0;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemAlloc_v2, (CUdeviceptr *, size_t), &l->flags,
               bytes) != CUDA_SUCCESS)
        return false;
    l->room = bytes;
    return true;
}

bool probe_pages_used(CUcontext context, CUstream stream, uint64_t memory, uint32_t count,
                      uint8_t *used)
{
    looker *l = looker_of(context);
    if (!l || !make_room_for_flags(l, count))
        return false;
    void *params[] = {&memory, &l->flags, &count};
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel,
                  (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   CUstream, void **, void **),
                  l->function, (count + WARPS - 1) / WARPS, 1, 1, REWRITE_LANES, WARPS, 1, 0,
                  stream, params, NULL) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyDtoHAsync_v2,
                  (void *, CUdeviceptr, size_t, CUstream), used, l->flags, count,
                  stream) == CUDA_SUCCESS &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream), stream) ==
               CUDA_SUCCESS;
}

bool probe_pages_fold(CUcontext context, CUstream stream, uint64_t bits, uint64_t marks,
                      uint32_t nwords)
{
    enum { THREADS = 256 };
    looker *l = looker_of(context);
    void *params[] = {&bits, &marks, &nwords};
    return l && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLaunchKernel,
                       (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, CUstream, void **, void **),
                       l->fold, (nwords + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, stream,
                       params, NULL) == CUDA_SUCCESS;
}

void probe_pages_gone(CUcontext context)
{
    looker *l = NULL;
    HASH_FIND_PTR(lookers, &context, l);
    if (!l)
        return;
    HASH_DEL(lookers, l);
    free(l);
}
