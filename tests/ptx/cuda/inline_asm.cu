// Inline assembly: scopes of its own, registers of its own, forms that the compiler does not emit by itself.
__device__ __forceinline__ unsigned add_carry(unsigned a, unsigned b, unsigned *high)
{
    unsigned low, h;
    asm("{add.cc.u32 %0, %2, %3;\n\t addc.u32 %1, 0, 0;}" : "=r"(low), "=r"(h) : "r"(a), "r"(b));
    *high = h;
    return low;
}

__device__ __forceinline__ unsigned nested(unsigned x)
{
    unsigned y;
    asm volatile("{\n\t"
                 ".reg .pred p, q; // own predicates\n\t"
                 ".reg.b32 t<3>;\n\t"
                 ".reg .v2 .b32 pair;\n\t"
                 "setp.gt.and.s32 p|q, %1, 4*8+1, !q;\n\t"
                 "mov.v2.b32 pair, {%1, -1};\n\t"
                 "@!p bra skip;\n\t"
                 "{ .reg .b32 t<2>; /* hides t0 and t1 */ xor.b32 t1, %1, ~0x0f; mov.b32 t2, t1; }\n\t"
                 "skip:\n\t"
                 "@p add.u32 t2, t2, pair.y;\n\t"
                 "selp.b32 %0, t2, 0U, q;\n\t"
                 "}"
                 : "=r"(y)
                 : "r"(x));
    return y;
}

__device__ __forceinline__ int video(int a, int b, int c)
{
    int d, e, f;
    asm("vadd.s32.u32.s32.sat.add %0, %1.b0, %2.h1, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("vmad.s32.s32.s32.sat %0, %1, -%2, %3;" : "=r"(e) : "r"(a), "r"(b), "r"(c));
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(f) : "r"(a), "r"(b), "r"(c));
    return d ^ e ^ f;
}

__device__ __forceinline__ unsigned logic(unsigned a, unsigned b, unsigned c)
{
    unsigned d, e, f, g;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
    asm("prmt.b32.f4e %0, %1, %2, %3;" : "=r"(e) : "r"(a), "r"(b), "r"(c));
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(f) : "r"(a), "r"(b), "r"(c));
    asm("bfe.u32 %0, %1, %2, 5;" : "=r"(g) : "r"(a), "r"(b));
    return d + e + f + g;
}

__device__ __forceinline__ float floats(float a, double d)
{
    float r;
    asm("{ .reg .f64 t; .reg .f32 u;\n\t"
        "mul.rz.f64 t, %2, 0d3FF8000000000000;\n\t"
        "cvt.rn.f32.f64 u, t;\n\t"
        "fma.rn.ftz.sat.f32 %0, %1, u, 1.5; }"
        : "=f"(r)
        : "f"(a), "d"(d));
    return r;
}

__global__ void assembly(unsigned *out, float *f, double *d, const int *table)
{
    unsigned i = threadIdx.x, high;
    unsigned low = add_carry(out[i], 0xffffffffu - i, &high);
    out[i] = nested(low) + high + logic(i, low, high) + (unsigned)video((int)i, (int)low, table[i]);
    f[i] = floats(f[i], d[i]);
    unsigned lane, mask, smem;
    asm volatile("mov.u32 %0, %%laneid;\n\tmov.u32 %1, %%lanemask_lt;" : "=r"(lane), "=r"(mask));
    asm volatile("{ .reg .u64 p; .shared .align 8 .b8 own[64]; mov.u64 p, own; cvt.u32.u64 %0, p; st.shared.u8 [own+8], 3; }"
                 : "=r"(smem));
    asm volatile("{ .reg .b64 g; cvta.to.global.u64 g, %0; red.global.add.u32 [g+-4+4], %1; prefetch.global.L2 [g]; }" ::"l"(out),
                 "r"(lane + mask + smem)
                 : "memory");
    asm volatile("membar.gl; bar.warp.sync 0xffffffff; pmevent 1;" ::: "memory");
}
