// Kernels whose machine code has opcodes that the other programs of the test sass_forms have not.
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__global__ void integers(int *a, const unsigned *b, long long *c, uint64_t *d, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    a[i] = a[i] / n + a[i] % (n + 3) + __clz(b[i]) + __popc(b[i]) + __brev(b[i]) + __byte_perm(a[i], b[i], 0x3210);
    c[i] = c[i] * c[i + 1] / (c[i + 2] | 1) + __mulhi(a[i], n) + (c[i] << (a[i] & 63)) + (c[i] >> 7);
    d[i] = __funnelshift_l(b[i], a[i], n) + max(a[i], n) + min(b[i], 7U) + abs(a[i]) + __umul64hi(d[i], d[i + 1]);
}

__global__ void floats(float *a, double *b, __half2 *c, __nv_bfloat162 *d, int *e)
{
    int i = threadIdx.x;
    a[i] = sinf(a[i]) + expf(a[i + 1]) / sqrtf(a[i + 2]) + rintf(a[i + 3]) + fminf(a[i], tanhf(a[i + 4]));
    b[i] = b[i] / b[i + 1] + sqrt(b[i + 2]) + fmax(b[i], 2.5) + e[i] + (double)a[i];
    c[i] = __hfma2(c[i], c[i + 1], c[i + 2]) * __hadd2(c[i], h2exp(c[i + 1]));
    d[i] = __hfma2(d[i], d[i + 1], d[i + 2]);
    e[i] = (int)a[i] + (int)b[i] + __float2int_ru(a[i + 1]) + __half2int_rn(c[i].x) + isnan(a[i]);
}

__global__ void memory(int *a, float *b, double *c, unsigned long long *d, __half2 *e)
{
    __shared__ int s[256];
    volatile int *v = a;
    int4 *wide = (int4 *)a, local[4];
    int i = threadIdx.x;
    for (int k = 0; k < 4; k++)
        local[(i + k) & 3] = wide[i + k];
    s[i] = v[i] + local[i & 3].x;
    __syncthreads();
    atomicAdd(&s[i ^ 1], 1);
    atomicMax(&a[i], s[i ^ 2]);
    atomicAdd(&b[i], 1.0f);
    atomicAdd(&c[i], 1.0);
    atomicAdd(&e[i], e[i + 1]);
    d[i] = atomicCAS(&d[i + 1], 1ULL, 2ULL) + atomicExch(&d[i + 2], 3ULL) + atomicAdd(&d[i + 3], 5ULL);
    a[i] = __ldg(&a[i + 1]) + __ldcs(&a[i + 2]) + __ldcg(&a[i + 3]);
    __threadfence();
    __threadfence_system();
    __stwt(&a[i + 4], atomicCAS(&s[0], i, 7));
}

__global__ void warps(int *a, unsigned *b)
{
    int i = threadIdx.x, lane = i & 31;
    unsigned mask = __ballot_sync(~0U, a[i] > 3);
    a[i] = __shfl_sync(~0U, a[i], lane ^ 3) + __shfl_down_sync(~0U, a[i], 4) + __shfl_xor_sync(mask, a[i], 8) +
           __reduce_add_sync(~0U, b[i]) + __match_any_sync(~0U, a[i]);
    if (__any_sync(~0U, a[i] == 2) && __all_sync(~0U, a[i] > 1))
        a[i] += __syncthreads_count(i & 1) + __syncthreads_or(i & 2);
    __nanosleep(20);
    asm volatile("bar.arrive 3, 64;");
    b[i] = clock() + (unsigned)clock64();
    if (a[i] == 77)
        printf("%d\n", a[i]);
    if (a[i] == 78)
        __trap();
}

__global__ void chosen(int *a, int n)
{
    switch (n) {
    case 0: a[1] = __clz(n); break;
    case 1: a[2] = n * 3; break;
    case 2: a[3] = a[2] / 5; break;
    case 3: a[4] = a[7] ^ a[8]; break;
    case 4: a[5] = a[6] - a[9]; break;
    case 5: a[6] = a[6] * a[9]; break;
    case 6: a[7] = __popc(a[9]); break;
    case 7: a[8] = __brev(a[9]); break;
    default: a[0] = 1;
    }
}

__global__ void copied(const int4 *from, int4 *to)
{
    __shared__ int4 s[128];
    unsigned at = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]), r[4];
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + threadIdx.x));
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;");
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
    float d[4] = {0, 0, 0, 0};
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%4, %5}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
    to[threadIdx.x] = make_int4((int)d[0], (int)d[1], (int)d[2], (int)d[3]);
}
