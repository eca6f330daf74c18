// Sixteen and eight bits: half, bfloat16, fp8, packed integers, dot products, conversions with every rounding.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void halves(half *h, half2 *h2, __nv_bfloat16 *b, __nv_bfloat162 *b2, float *f)
{
    int i = threadIdx.x;
    h[i] = __hfma(h[i], h[i + 1], __float2half(f[i]));
    h2[i] = __hadd2(__hmul2(h2[i], h2[i + 1]), __half2half2(h[i]));
    h2[i] = __hmax2(h2[i], __habs2(h2[i + 2]));
    b[i] = __hadd(b[i], __float2bfloat16(f[i]));
#if __CUDA_ARCH__ >= 800
    b2[i] = __hfma2(b2[i], b2[i + 1], b2[i + 2]);
#endif
    f[i] = __half2float(hexp2(h[i])) + __bfloat162float(b[i]) + (__hlt(h[i], h[i + 1]) ? 1.0f : 0.0f);
    f[i] += __low2float(h2rsqrt(h2[i])) + (__hbeq2(h2[i], h2[i + 1]) ? 2.0f : 3.0f);
}

__global__ void eights(__nv_fp8_e4m3 *a, __nv_fp8x2_e5m2 *b, float *f, float2 *f2)
{
    int i = threadIdx.x;
    a[i] = __nv_fp8_e4m3(f[i]);
    b[i] = __nv_fp8x2_e5m2(f2[i]);
    f[i + 1] = (float)a[i + 2];
    f2[i + 1] = (float2)b[i + 2];
}

__global__ void packed(int *a, unsigned *u, short2 *s)
{
    int i = threadIdx.x;
    a[i] = __dp4a(a[i], a[i + 1], a[i + 2]) + __dp2a_lo(a[i], a[i + 1], a[i + 2]);
    u[i] = __vadd2(u[i], u[i + 1]) ^ __vabsdiffu4(u[i], u[i + 2]) ^ __vmaxs2(u[i], u[i + 3]) ^ __vcmpgtu4(u[i], u[i + 4]);
    u[i] += __vibmax_s16x2(u[i], u[i + 1], (bool *)(u + 8), (bool *)(u + 9));
    a[i] += __viaddmax_s32_relu(a[i], a[i + 1], a[i + 2]) + __usad(u[i], u[i + 1], u[i + 2]) + __byte_perm(a[i], a[i + 1], 0x3210);
    s[i].x = (short)(s[i].y * 3);
}

__global__ void conversions(float *f, double *d, int *i, unsigned long long *l, signed char *c)
{
    int t = threadIdx.x;
    i[t] = __float2int_rd(f[t]) + __float2int_ru(f[t]) + __float2int_rn(f[t]) + __float2int_rz(f[t]) + __double2int_rn(d[t]);
    l[t] = __float2ull_rz(f[t]) + __double2ull_ru(d[t]) + (unsigned long long)(long long)c[t];
    f[t] = __int2float_ru(i[t]) + __ull2float_rd(l[t]) + __double2float_rz(d[t]) + floorf(f[t]) + ceilf(f[t]) + rintf(f[t]) + truncf(f[t]);
    d[t] = __int2double_rn(i[t]) + __ll2double_rd((long long)l[t]) + rint(d[t]) + (double)f[t];
    c[t] = (signed char)f[t];
    f[t] = __saturatef(f[t]) + __fadd_rz(f[t], 1.0f) + __fmul_ru(f[t], 2.0f) + __fmaf_rd(f[t], 3.0f, 4.0f) + __frcp_rn(f[t]) + __fsqrt_rz(f[t]);
    f[t] += __sinf(f[t]) + __cosf(f[t]) + __expf(f[t]) + __logf(f[t]) + __fdividef(f[t], 3.0f) + rsqrtf(f[t]) + tanhf(f[t]);
    d[t] = __dadd_rd(d[t], 1.0) * __ddiv_rn(d[t], 3.0) + __dsqrt_rn(d[t]) + sin(d[t]) + pow(d[t], 1.5) + copysign(1.0, d[t]);
    i[t] = isnan(f[t]) + isinf(d[t]) + signbit(f[t]) + __mulhi(i[t], 77) + __mul24(i[t], 5) + (int)__umul64hi(l[t], 12345ull);
}
