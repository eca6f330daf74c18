/* Executes access patterns (patterns.py), one launch of one warp each, for a profiler to count. A kernel makes one
 * access of the kind that is counted and none else of that kind: offsets come through the constant bank. */
#include "../../support/ends.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

struct pattern {
    uint32_t off[32];
    uint32_t mask, magic;
    char *global;
    uint32_t *out;
};

__constant__ pattern P;
extern __shared__ __align__(1024) char smem[];

/* Keeps a loaded value alive by a store that never happens. */
__device__ inline void keep(uint32_t v)
{
    asm volatile("{.reg .pred p; setp.eq.u32 p, %0, %1; @p st.global.u32 [%2], %0;}" ::"r"(v), "r"(P.magic), "l"(P.out));
}

#define LANE (threadIdx.x & 31)
#define ACTIVE ((P.mask >> LANE) & 1)
#define SADDR ((uint32_t)__cvta_generic_to_shared(smem) + P.off[LANE])
#define GADDR (P.global + P.off[LANE])

#define LOADS(SPACE, NAME, A, ADDR)                                                                                    \
    __global__ void NAME##1()                                                                                          \
    {                                                                                                                  \
        uint32_t v = 0;                                                                                                \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld." SPACE ".u8 %0, [%1];" : "=r"(v) : A(ADDR));                                             \
        keep(v);                                                                                                       \
    }                                                                                                                  \
    __global__ void NAME##2()                                                                                          \
    {                                                                                                                  \
        uint16_t v = 0;                                                                                                \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld." SPACE ".u16 %0, [%1];" : "=h"(v) : A(ADDR));                                            \
        keep(v);                                                                                                       \
    }                                                                                                                  \
    __global__ void NAME##4()                                                                                          \
    {                                                                                                                  \
        uint32_t v = 0;                                                                                                \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld." SPACE ".u32 %0, [%1];" : "=r"(v) : A(ADDR));                                            \
        keep(v);                                                                                                       \
    }                                                                                                                  \
    __global__ void NAME##8()                                                                                          \
    {                                                                                                                  \
        uint32_t v = 0, w = 0;                                                                                         \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld." SPACE ".v2.u32 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : A(ADDR));                          \
        keep(v ^ w * 3);                                                                                               \
    }                                                                                                                  \
    __global__ void NAME##16()                                                                                         \
    {                                                                                                                  \
        uint32_t v = 0, w = 0, x = 0, y = 0;                                                                           \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld." SPACE ".v4.u32 {%0, %1, %2, %3}, [%4];"                                                 \
                         : "=r"(v), "=r"(w), "=r"(x), "=r"(y)                                                          \
                         : A(ADDR));                                                                                   \
        keep(v ^ w * 3 ^ x * 5 ^ y * 7);                                                                               \
    }

#define STORES(SPACE, NAME, A, ADDR)                                                                                   \
    __global__ void NAME##1()                                                                                          \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("st." SPACE ".u8 [%0], %1;" ::A(ADDR), "r"(LANE));                                            \
    }                                                                                                                  \
    __global__ void NAME##2()                                                                                          \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("st." SPACE ".u16 [%0], %1;" ::A(ADDR), "h"((uint16_t)LANE));                                 \
    }                                                                                                                  \
    __global__ void NAME##4()                                                                                          \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("st." SPACE ".u32 [%0], %1;" ::A(ADDR), "r"(LANE));                                           \
    }                                                                                                                  \
    __global__ void NAME##8()                                                                                          \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("st." SPACE ".v2.u32 [%0], {%1, %1};" ::A(ADDR), "r"(LANE));                                  \
    }                                                                                                                  \
    __global__ void NAME##16()                                                                                         \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("st." SPACE ".v4.u32 [%0], {%1, %1, %1, %1};" ::A(ADDR), "r"(LANE));                          \
    }

LOADS("shared", lds, "r", SADDR)
STORES("shared", sts, "r", SADDR)
LOADS("global", ldg, "l", GADDR)
STORES("global", stg, "l", GADDR)

__global__ void atoms4()
{
    uint32_t v = 0;
    if (ACTIVE)
        asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(v) : "r"(SADDR), "r"(LANE * 3 + 1));
    keep(v);
}
__global__ void atoms8()
{
    unsigned long long v = 0;
    if (ACTIVE)
        asm volatile("atom.shared.exch.b64 %0, [%1], %2;" : "=l"(v) : "r"(SADDR), "l"((unsigned long long)LANE * 3));
    keep((uint32_t)v ^ (uint32_t)(v >> 32) * 3);
}
__global__ void atomg4()
{
    uint32_t v = 0;
    if (ACTIVE)
        asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(GADDR), "r"(LANE * 3 + 1));
    keep(v);
}
__global__ void atomg8()
{
    unsigned long long v = 0;
    if (ACTIVE)
        asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(v) : "l"(GADDR), "l"((unsigned long long)LANE * 3));
    keep((uint32_t)v ^ (uint32_t)(v >> 32) * 3);
}
__global__ void redg4()
{
    if (ACTIVE)
        asm volatile("red.global.add.u32 [%0], %1;" ::"l"(GADDR), "r"(LANE * 3 + 1));
}
__global__ void redg8()
{
    if (ACTIVE)
        asm volatile("red.global.add.u64 [%0], %1;" ::"l"(GADDR), "l"((unsigned long long)LANE * 3 + 1));
}
/* ldmatrix: which lanes give row addresses follows from the number of matrices. */
__global__ void ldsm8()
{
    uint32_t v;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(v) : "r"(SADDR));
    keep(v);
}
__global__ void ldsm16()
{
    uint32_t v, w;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(v), "=r"(w) : "r"(SADDR));
    keep(v ^ w * 3);
}
__global__ void ldsm32()
{
    uint32_t v, w, x, y;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v), "=r"(w), "=r"(x), "=r"(y)
                 : "r"(SADDR));
    keep(v ^ w * 3 ^ x * 5 ^ y * 7);
}
#define LDGSTS(N)                                                                                                      \
    __global__ void ldgsts##N()                                                                                        \
    {                                                                                                                  \
        if (ACTIVE)                                                                                                    \
            asm volatile("cp.async.ca.shared.global [%0], [%1], " #N ";" ::"r"(SADDR), "l"(P.global + LANE * N));      \
        asm volatile("cp.async.wait_all;");                                                                            \
    }
LDGSTS(4)
LDGSTS(8)
LDGSTS(16)

/* The array's place in local memory is a multiple of 16; accesses reach it through its address in the local window. */
#define LDL(N, TYPE, OUT)                                                                                      \
    __global__ void ldl##N()                                                                                           \
    {                                                                                                                  \
        __align__(16) char buf[1024];                                                                                  \
        uint64_t a = __cvta_generic_to_local(buf) + P.off[LANE];                                                       \
        uint32_t v = 0, w = 0, x = 0, y = 0;                                                                           \
        if (ACTIVE)                                                                                                    \
            asm volatile("ld.local." TYPE " " OUT ", [%4];" : "+r"(v), "+r"(w), "+r"(x), "+r"(y) : "l"(a) : "memory"); \
        keep(v ^ w * 3 ^ x * 5 ^ y * 7);                                                                               \
    }                                                                                                                  \
    __global__ void stl##N()                                                                                           \
    {                                                                                                                  \
        __align__(16) char buf[1024];                                                                                  \
        uint64_t a = __cvta_generic_to_local(buf) + P.off[LANE];                                                       \
        uint32_t v = LANE, w = 1, x = 2, y = 3;                                                                        \
        if (ACTIVE)                                                                                                    \
            asm volatile("st.local." TYPE " [%4], " OUT ";" ::"r"(v), "r"(w), "r"(x), "r"(y), "l"(a) : "memory");      \
    }
LDL(1, "u8", "%0")
__global__ void ldl2()
{
    __align__(16) char buf[1024];
    uint64_t a = __cvta_generic_to_local(buf) + P.off[LANE];
    uint16_t v = 0;
    if (ACTIVE)
        asm volatile("ld.local.u16 %0, [%1];" : "=h"(v) : "l"(a) : "memory");
    keep(v);
}
__global__ void stl2()
{
    __align__(16) char buf[1024];
    uint64_t a = __cvta_generic_to_local(buf) + P.off[LANE];
    if (ACTIVE)
        asm volatile("st.local.u16 [%0], %1;" ::"l"(a), "h"((uint16_t)LANE) : "memory");
}
LDL(4, "u32", "%0")
LDL(8, "v2.u32", "{%0, %1}")
LDL(16, "v4.u32", "{%0, %1, %2, %3}")

struct entry {
    const char *kind;
    int bytes;
    void (*kernel)();
};
#define ALL5(N) {#N, 1, N##1}, {#N, 2, N##2}, {#N, 4, N##4}, {#N, 8, N##8}, {#N, 16, N##16}
static const entry table[] = {ALL5(lds),
                              ALL5(sts),
                              ALL5(ldg),
                              ALL5(stg),
                              ALL5(ldl),
                              ALL5(stl),
                              {"atoms", 4, atoms4},
                              {"atoms", 8, atoms8},
                              {"atomg", 4, atomg4},
                              {"atomg", 8, atomg8},
                              {"redg", 4, redg4},
                              {"redg", 8, redg8},
                              {"ldgsts", 4, ldgsts4},
                              {"ldgsts", 8, ldgsts8},
                              {"ldgsts", 16, ldgsts16}};

static void (*find(const std::string &kind, int bytes, uint32_t mask))()
{
    if (kind == "ldsm")
        return mask == 0xff ? ldsm8 : mask == 0xffff ? ldsm16 : ldsm32;
    for (const entry &e : table)
        if (kind == e.kind && bytes == e.bytes)
            return e.kernel;
    fprintf(stderr, "no kernel for %s %d\n", kind.c_str(), bytes);
    exit(1);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    std::ifstream in(argv[1]);
    std::string line;
    std::getline(in, line);
    pattern p;
    memset(&p, 0, sizeof p);
    p.magic = 0x9e3779b9;
    CHECK(cudaMalloc(&p.global, (1 << 20) + 4096));
    CHECK(cudaMemset(p.global, 0, (1 << 20) + 4096));
    CHECK(cudaMalloc(&p.out, 4));
    while (std::getline(in, line)) {
        std::stringstream s(line);
        std::string id, kind, bytes, mask, name;
        std::getline(s, id, ',');
        std::getline(s, kind, ',');
        std::getline(s, bytes, ',');
        std::getline(s, mask, ',');
        std::getline(s, name, ',');
        for (int i = 0; i < 32; i++)
            s >> p.off[i];
        p.mask = (uint32_t)strtoul(mask.c_str(), nullptr, 16);
        CHECK(cudaMemcpyToSymbol(P, &p, sizeof p));
        find(kind, atoi(bytes.c_str()), p.mask)<<<1, 32, kind.back() == 'l' ? 0 : 33 * 1024>>>();
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
    }
    return 0;
}
