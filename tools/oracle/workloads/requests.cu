/* Requests of every form, each with the same pattern of lanes: what Nsight Compute counts of a form can be read off, and which
 * rule it follows. A kernel is a pattern; half of the patterns are in the development half, all forms in each. */
#include "check.h"

enum { PATTERNS = 20, PARTS = 4, WARPS = 4, APART = 16384, FORMS = 128 };

/* The lane's place in units of the access, and whether it takes part. */
template <int PATTERN> __device__ int place(int lane)
{
    switch (PATTERN) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4: return lane;
    case 5: return 2 * lane;
    case 6: return lane / 2;
    case 7: return 9 * lane;
    case 8: return lane / 4 * 32 + lane % 4; /* as the pieces of a product's result lie */
    case 9: return lane / 8 * 24 + lane % 8;
    case 10: return lane ^ 5;
    case 11: return 0;
    case 12: return 31 - lane;
    case 13: return lane + 1;
    case 14: return lane % 16;
    case 15: return lane % 8;
    case 16: return lane / 8 * 9 + lane % 8;
    case 17: return lane * 7 % 32;
    case 18: return lane / 2 * 16 + lane % 2;
    default: return lane / 16 * 128 + lane % 4 * 8 + lane % 16 / 4;
    }
}

template <int PATTERN> __device__ bool takes_part(int lane)
{
    switch (PATTERN) {
    case 1: return lane < 16;
    case 2: return lane % 2;
    case 3: return lane % 4 == 0;
    case 4: return lane >= 3 && lane < 21;
    case 9: return lane < 24;
    case 12: return lane % 8 < 5;
    case 17: return lane % 3 != 1;
    default: return true;
    }
}

#define GUARDED "{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %1, 0;\n\t"
#define LOAD1(text, unit, type, letter)                                                                                  \
    {                                                                                                                    \
        type r = 0;                                                                                                      \
        asm volatile(GUARDED "@p " text " %0, [%2];\n\t}" : "+" letter(r) : "r"(on), "l"(in + APART * form++ + (unit) * at)); \
        sum += (unsigned)r;                                                                                              \
    }
#define LOAD2(text, unit)                                                                                                \
    {                                                                                                                    \
        unsigned a = 0, b = 0;                                                                                           \
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %2, 0;\n\t@p " text " {%0, %1}, [%3];\n\t}"                   \
                     : "+r"(a), "+r"(b)                                                                                  \
                     : "r"(on), "l"(in + APART * form++ + (unit) * at));                                                 \
        sum += a ^ b;                                                                                                    \
    }
#define LOAD4(text)                                                                                                      \
    {                                                                                                                    \
        unsigned a = 0, b = 0, c = 0, d = 0;                                                                             \
        asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %4, 0;\n\t@p " text " {%0, %1, %2, %3}, [%5];\n\t}"           \
                     : "+r"(a), "+r"(b), "+r"(c), "+r"(d)                                                                \
                     : "r"(on), "l"(in + APART * form++ + 16 * at));                                                     \
        sum += a ^ b ^ c ^ d;                                                                                            \
    }
/* Stores and reductions: TEXT has the values, %0 to %2 the predicate, the address and a number. */
#define GIVE(text, unit)                                                                                                 \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %0, 0;\n\t@p " text ";\n\t}" ::"r"(on),                           \
                 "l"(out + APART * form++ + (unit) * at), "r"(sum), "f"(1.0f), "l"((long long)sum), "h"((short)sum)      \
                 : "memory");
#define COPY(text, unit, source)                                                                                         \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %0, 0;\n\t@p " text ";\n\t}" ::"r"(on), "r"(own + (unit) * lane), \
                 "l"(in + APART * form++ + (unit) * at), "r"(source)                                                     \
                 : "memory");

#define FETCH(text, values, unit)                                                                                        \
    {                                                                                                                    \
        unsigned r = 0;                                                                                                  \
        asm volatile(GUARDED "@p " text " %0, [%2], " values ";\n\t}"                                                    \
                     : "+r"(r)                                                                                           \
                     : "r"(on), "l"(out + APART * form++ + (unit) * at), "r"(sum)                                        \
                     : "memory");                                                                                        \
        sum += r;                                                                                                        \
    }
#define TO_SHARED(text, unit)                                                                                            \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.s32 p, %0, 0;\n\t@p " text ";\n\t}" ::"r"(on),                           \
                 "r"(own + 512 * form++ + (unit) * at), "r"(sum), "f"(1.0f), "h"((short)sum)                             \
                 : "memory");
#define FROM_SHARED(text, unit, ...)                                                                                     \
    {                                                                                                                    \
        unsigned r = 0;                                                                                                  \
        asm volatile(GUARDED "@p " text " %0, [%2]" __VA_ARGS__ ";\n\t}"                                                 \
                     : "+r"(r)                                                                                           \
                     : "r"(on), "r"(own + 512 * form++ + (unit) * at), "r"(sum)                                          \
                     : "memory");                                                                                        \
        sum += r;                                                                                                        \
    }

template <int PATTERN> __global__ void loads(const char *in, unsigned *out, int kept)
{
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = takes_part<PATTERN>(lane) && kept, form = 0;
    unsigned sum = 0;
    in += blockIdx.x * 4096;
    LOAD1("ld.global.u8", 1, unsigned, "r")
    LOAD1("ld.global.u16", 2, unsigned short, "h")
    LOAD1("ld.global.u32", 4, unsigned, "r")
    LOAD1("ld.global.u64", 8, unsigned long long, "l")
    LOAD2("ld.global.v2.u32", 8)
    LOAD4("ld.global.v4.u32")
    LOAD1("ld.global.nc.u16", 2, unsigned short, "h")
    LOAD1("ld.global.nc.u32", 4, unsigned, "r")
    LOAD2("ld.global.nc.v2.u32", 8)
    LOAD4("ld.global.nc.v4.u32")
    LOAD1("ld.global.L2::128B.u32", 4, unsigned, "r")
    LOAD2("ld.global.L2::128B.v2.u32", 8)
    LOAD4("ld.global.L2::128B.v4.u32")
    LOAD4("ld.global.nc.L2::128B.v4.u32")
    LOAD4("ld.global.L2::256B.v4.u32")
    LOAD4("ld.global.L2::64B.v4.u32")
    LOAD1("ld.global.nc.L1::no_allocate.u32", 4, unsigned, "r")
    LOAD4("ld.global.nc.L1::no_allocate.v4.u32")
    LOAD4("ld.global.nc.L1::no_allocate.L2::128B.v4.u32")
    LOAD4("ld.global.L1::evict_last.v4.u32")
    LOAD4("ld.global.L1::evict_first.v4.u32")
    LOAD1("ld.global.cg.u32", 4, unsigned, "r")
    LOAD4("ld.global.cg.v4.u32")
    LOAD4("ld.global.cs.v4.u32")
    LOAD1("ld.global.cv.u32", 4, unsigned, "r")
    LOAD1("ld.relaxed.gpu.global.u32", 4, unsigned, "r")
    LOAD1("ld.relaxed.sys.global.u64", 8, unsigned long long, "l")
    LOAD1("ld.acquire.gpu.global.u32", 4, unsigned, "r")
    LOAD1("ld.u32", 4, unsigned, "r") /* of a generic address */
    LOAD4("ld.v4.u32")
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* As above, but lanes that take no part have left before. */
template <int PATTERN> __global__ void parted_loads(const char *in, unsigned *out)
{
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = 1, form = 0;
    unsigned sum = 0;
    if (!takes_part<PATTERN>(lane))
        return;
    in += blockIdx.x * 4096;
    LOAD1("ld.global.u16", 2, unsigned short, "h")
    LOAD1("ld.global.u32", 4, unsigned, "r")
    LOAD2("ld.global.v2.u32", 8)
    LOAD4("ld.global.v4.u32")
    LOAD4("ld.global.nc.L1::no_allocate.L2::128B.v4.u32")
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int PATTERN> __global__ void stores(char *out, int kept)
{
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = takes_part<PATTERN>(lane) && kept, form = 0;
    unsigned sum = lane;
    out += blockIdx.x * 4096;
    GIVE("st.global.u8 [%1], %2", 1)
    GIVE("st.global.u16 [%1], %5", 2)
    GIVE("st.global.u32 [%1], %2", 4)
    GIVE("st.global.u64 [%1], %4", 8)
    GIVE("st.global.v2.u32 [%1], {%2, %2}", 8)
    GIVE("st.global.v4.u32 [%1], {%2, %2, %2, %2}", 16)
    GIVE("st.global.v2.u64 [%1], {%4, %4}", 16)
    GIVE("st.global.cg.v4.u32 [%1], {%2, %2, %2, %2}", 16)
    GIVE("st.global.cs.v4.u32 [%1], {%2, %2, %2, %2}", 16)
    GIVE("st.global.wt.u32 [%1], %2", 4)
    GIVE("st.relaxed.gpu.global.u32 [%1], %2", 4)
    GIVE("st.global.L1::no_allocate.v4.u32 [%1], {%2, %2, %2, %2}", 16)
    GIVE("st.u32 [%1], %2", 4)
    GIVE("st.v4.u32 [%1], {%2, %2, %2, %2}", 16)
}

template <int PATTERN> __global__ void reductions(char *out, int kept)
{
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = takes_part<PATTERN>(lane) && kept, form = 0;
    unsigned sum = lane;
    out += blockIdx.x * 4096;
    GIVE("red.global.add.u32 [%1], %2", 4)
    GIVE("red.global.max.s32 [%1], %2", 4)
    GIVE("red.global.add.u64 [%1], %4", 8)
    GIVE("red.global.add.f32 [%1], %3", 4)
    GIVE("red.global.add.noftz.f16x2 [%1], %2", 4)
    GIVE("red.global.add.noftz.bf16x2 [%1], %2", 4)
    GIVE("red.global.add.noftz.f16 [%1], %5", 2)
    GIVE("red.global.v2.f32.add [%1], {%3, %3}", 8)
    GIVE("red.global.v4.f32.add [%1], {%3, %3, %3, %3}", 16)
    GIVE("red.global.v2.f16x2.add.noftz [%1], {%2, %2}", 8)
    GIVE("red.global.v4.f16x2.add.noftz [%1], {%2, %2, %2, %2}", 16)
    GIVE("red.global.v4.bf16x2.add.noftz [%1], {%2, %2, %2, %2}", 16)
    GIVE("red.global.v8.f16.add.noftz [%1], {%5, %5, %5, %5, %5, %5, %5, %5}", 16)
    FETCH("atom.global.add.u32", "%3", 4)
    FETCH("atom.global.exch.b32", "%3", 4)
    FETCH("atom.global.cas.b32", "%3, %3", 4)
    ((unsigned *)(out + APART * (FORMS - 1)))[threadIdx.x] = sum;
}

template <int PATTERN> __global__ void copies(const char *in, int kept)
{
    extern __shared__ __align__(128) char shared[];
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = takes_part<PATTERN>(lane) && kept, form = 0;
    unsigned own = (unsigned)__cvta_generic_to_shared(shared) + threadIdx.x / 32 * 1024;
    in += blockIdx.x * 4096;
    COPY("cp.async.ca.shared.global [%1], [%2], 4", 4, 4)
    COPY("cp.async.ca.shared.global [%1], [%2], 8", 8, 8)
    COPY("cp.async.ca.shared.global [%1], [%2], 16", 16, 16)
    COPY("cp.async.cg.shared.global [%1], [%2], 16", 16, 16)
    COPY("cp.async.ca.shared.global.L2::128B [%1], [%2], 4", 4, 4)
    COPY("cp.async.ca.shared.global.L2::128B [%1], [%2], 8", 8, 8)
    COPY("cp.async.cg.shared.global.L2::128B [%1], [%2], 16", 16, 16)
    COPY("cp.async.cg.shared.global.L2::256B [%1], [%2], 16", 16, 16)
    COPY("cp.async.ca.shared.global [%1], [%2], 4, %3", 4, lane % 3 ? 4 : 0)
    COPY("cp.async.ca.shared.global [%1], [%2], 8, %3", 8, lane % 3 ? 8 : 4)
    COPY("cp.async.cg.shared.global [%1], [%2], 16, %3", 16, lane % 4 * 4)
    COPY("cp.async.cg.shared.global [%1], [%2], 16, %3", 16, lane % 3 ? 16 : 0)
    COPY("cp.async.cg.shared.global.L2::128B [%1], [%2], 16, %3", 16, lane < 16 ? 16 : 0)
    asm volatile("cp.async.wait_all;");
}

/* The same from lanes that have parted, as copies at the border of a product are. */
template <int PATTERN> __global__ void parted_copies(const char *in)
{
    extern __shared__ __align__(128) char shared[];
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = 1, form = 0;
    unsigned own = (unsigned)__cvta_generic_to_shared(shared) + threadIdx.x / 32 * 1024;
    if (!takes_part<PATTERN>(lane))
        return;
    in += blockIdx.x * 4096;
    COPY("cp.async.ca.shared.global [%1], [%2], 4", 4, 4)
    COPY("cp.async.ca.shared.global [%1], [%2], 8", 8, 8)
    COPY("cp.async.cg.shared.global.L2::128B [%1], [%2], 16", 16, 16)
    asm volatile("cp.async.wait_all;");
}

template <int PATTERN> __global__ void in_shared_memory(unsigned *sink, int kept)
{
    extern __shared__ __align__(128) char shared[];
    int lane = threadIdx.x % 32, at = place<PATTERN>(lane), on = takes_part<PATTERN>(lane) && kept, form = 0;
    unsigned sum = lane, own = (unsigned)__cvta_generic_to_shared(shared);
    TO_SHARED("st.shared.u8 [%1], %2", 1)
    TO_SHARED("st.shared.u16 [%1], %4", 2)
    TO_SHARED("st.shared.u32 [%1], %2", 4)
    TO_SHARED("st.shared.v2.u32 [%1], {%2, %2}", 8)
    TO_SHARED("st.shared.v4.u32 [%1], {%2, %2, %2, %2}", 16)
    TO_SHARED("red.shared.add.u32 [%1], %2", 4)
    TO_SHARED("red.shared.add.u32 [%1], 1", 4)
    TO_SHARED("red.shared.max.s32 [%1], %2", 4)
    TO_SHARED("red.shared.add.f32 [%1], %3", 4)
    FROM_SHARED("ld.shared.u8", 1)
    FROM_SHARED("ld.shared.u32", 4)
    FROM_SHARED("atom.shared.exch.b32", 4, ", %3")
    FROM_SHARED("atom.shared.inc.u32", 4, ", %3")
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Rows of 16 bytes that lanes name: a lane's is on or off as before, but all take part. */
template <int PATTERN> __global__ void matrices(unsigned *sink)
{
    extern __shared__ __align__(128) char shared[];
    int lane = threadIdx.x % 32;
    unsigned own = (unsigned)__cvta_generic_to_shared(shared) + 16 * place<PATTERN>(lane), a, b, c, d, sum = 0;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(own));
    sum += a;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "r"(own));
    sum += a ^ b;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(own));
    sum += a ^ b ^ c ^ d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(own));
    sum += a ^ b ^ c ^ d;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(own), "r"(sum) : "memory");
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %1, %1, %1};" ::"r"(own), "r"(sum) : "memory");
    sink[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

template <int PATTERN> void launch_from(char *memory)
{
    int blocks = 2, threads = 32 * WARPS, shared = 16384;
    unsigned *sink = (unsigned *)(memory + APART * FORMS);
    loads<PATTERN><<<blocks, threads>>>(memory, sink, 1);
    stores<PATTERN><<<blocks, threads>>>(memory, 1);
    reductions<PATTERN><<<blocks, threads>>>(memory, 1);
    copies<PATTERN><<<blocks, threads, shared>>>(memory, 1);
    in_shared_memory<PATTERN><<<blocks, threads, shared>>>(sink, 1);
    matrices<PATTERN><<<blocks, threads, shared>>>(sink);
    if (PATTERN == 1 || PATTERN == 2 || PATTERN == 4 || PATTERN == 9 || PATTERN == 12 || PATTERN == 17) {
        parted_loads<PATTERN><<<blocks, threads>>>(memory, sink);
        parted_copies<PATTERN><<<blocks, threads, shared>>>(memory);
    }
    if constexpr (PATTERN + PARTS < PATTERNS)
        launch_from<PATTERN + PARTS>(memory);
}

/* `requests PART`: of the patterns each PARTS-th, so that processes can share them. */
int main(int argc, char **argv)
{
    char *memory;
    CHECK(cudaMalloc(&memory, APART * (FORMS + 1)));
    CHECK(cudaMemset(memory, 1, APART * (FORMS + 1)));
    switch (argc > 1 ? argv[1][0] : '0') {
    case '0': launch_from<0>(memory); break;
    case '1': launch_from<1>(memory); break;
    case '2': launch_from<2>(memory); break;
    default: launch_from<3>(memory); break;
    }
    CHECK(cudaDeviceSynchronize());
    return 0;
}
