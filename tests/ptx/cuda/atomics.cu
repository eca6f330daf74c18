// Atomics in all scopes and spaces, and the memory model.
#include <cuda/atomic>
#include <cuda_fp16.h>

__device__ unsigned counters[8];

__global__ void classic(int *i, unsigned *u, float *f, double *d, unsigned long long *l, half2 *h)
{
    __shared__ int s[4];
    int t = threadIdx.x;
    if (t < 4)
        s[t] = 0;
    __syncthreads();
    atomicAdd(&s[t & 3], t);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 2.0);
    atomicAdd(l, 3ull);
    atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
    atomicSub(i, 1);
    i[1] = atomicExch(i + 2, t);
    i[3] = atomicMin(i + 4, t) + atomicMax(u + 4, 7u);
    u[1] = atomicInc(u + 2, 17u) + atomicDec(u + 3, 5u);
    u[5] = atomicCAS(u + 6, 1u, 2u) + atomicAnd(u + 7, 3u) + atomicOr(u + 8, 4u) + atomicXor(u + 9, 5u);
    l[1] = atomicCAS(l + 2, 1ull, 2ull) + atomicMax(l + 3, 9ull);
    atomicAdd_block(i + 5, 1);
    atomicAdd_system(i + 6, 1);
    atomicExch_system(counters + 3, 1u);
    __threadfence();
    __threadfence_block();
    __threadfence_system();
    i[7] = atomicAdd(s + 1, 2);
    volatile int *v = i + 8;
    *v = *v + 1;
}

template <cuda::thread_scope scope> __device__ void ordered(int *p)
{
    cuda::atomic_ref<int, scope> a(*p);
    a.store(1, cuda::std::memory_order_release);
    int x = a.load(cuda::std::memory_order_acquire);
    a.fetch_add(x, cuda::std::memory_order_relaxed);
    a.fetch_or(x, cuda::std::memory_order_acq_rel);
    a.compare_exchange_strong(x, 5, cuda::std::memory_order_seq_cst);
    cuda::atomic_thread_fence(cuda::std::memory_order_seq_cst, scope);
    cuda::atomic_thread_fence(cuda::std::memory_order_acquire, scope);
}

__global__ void modern(int *p)
{
    __shared__ int shared[2];
    ordered<cuda::thread_scope_block>(shared);
    ordered<cuda::thread_scope_device>(p);
    ordered<cuda::thread_scope_system>(p + 1);
}
