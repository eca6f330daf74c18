/* Radix sort of SIZE keys of 32 bits, four bits a pass: count digits by block, sum up, move keys to their places. */
#include "common.cuh"

constexpr int BITS = 4, DIGITS = 1 << BITS, THREADS = 256, WARPS = THREADS / 32, TILE = 16 * THREADS, SCAN = 1024;

__device__ unsigned digit_of(unsigned key, int shift)
{
    return key >> shift & (DIGITS - 1);
}

/* counts[digit][block] */
__global__ void radix_count(const unsigned *keys, int n, int shift, unsigned *counts)
{
    __shared__ unsigned mine[DIGITS];
    if (threadIdx.x < DIGITS)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * TILE + threadIdx.x; i < min(n, static_cast<int>(blockIdx.x + 1) * TILE); i += THREADS)
        atomicAdd(&mine[digit_of(keys[i], shift)], 1u);
    __syncthreads();
    if (threadIdx.x < DIGITS)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

/* One block: each number becomes the sum of those before it. */
__global__ void radix_scan(unsigned *counts, int n)
{
    __shared__ unsigned sums[SCAN];
    unsigned before = 0;
    for (int first = 0; first < n; first += SCAN) {
        int i = first + threadIdx.x;
        unsigned own = i < n ? counts[i] : 0;
        sums[threadIdx.x] = own;
        __syncthreads();
        for (int distance = 1; distance < SCAN; distance *= 2) {
            unsigned left = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
            __syncthreads();
            sums[threadIdx.x] += left;
            __syncthreads();
        }
        if (i < n)
            counts[i] = before + sums[threadIdx.x] - own;
        before += sums[SCAN - 1];
        __syncthreads();
    }
}

/* Keys of one digit keep their order: within a warp by lane, within a block by warp, over blocks by the sums. */
__global__ void radix_scatter(const unsigned *keys, unsigned *sorted, int n, int shift, const unsigned *before)
{
    __shared__ unsigned place[DIGITS], count[WARPS][DIGITS];
    int thread = threadIdx.x, warp = thread / 32, lane = thread % 32;
    if (thread < DIGITS)
        place[thread] = before[thread * gridDim.x + blockIdx.x];
    for (int first = blockIdx.x * TILE; first < min(n, static_cast<int>(blockIdx.x + 1) * TILE); first += THREADS) {
        bool there = first + thread < n;
        unsigned key = there ? keys[first + thread] : 0, digit = there ? digit_of(key, shift) : DIGITS;
        unsigned same = __match_any_sync(0xffffffffu, digit), rank = __popc(same & ((1u << lane) - 1));
        if (thread < WARPS * DIGITS)
            count[thread / DIGITS][thread % DIGITS] = 0;
        __syncthreads();
        if (there && rank == 0)
            count[warp][digit] = __popc(same);
        __syncthreads();
        if (there) {
            for (int w = 0; w < warp; w++)
                rank += count[w][digit];
            sorted[place[digit] + rank] = key;
        }
        __syncthreads();
        if (thread < DIGITS)
            for (int w = 0; w < WARPS; w++)
                place[thread] += count[w][thread];
        __syncthreads();
    }
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size, blocks = blocks_for(n, TILE);
    Random random(1);
    std::vector<unsigned> keys(n), want;
    for (unsigned &key : keys)
        key = random.next();
    Array<unsigned> d_start(keys), d_a(n), d_b(n), d_counts(static_cast<size_t>(DIGITS) * blocks);
    bench.rounds([&] {
        d_a.copy(d_start);
        for (int shift = 0; shift < 32; shift += 2 * BITS)
            for (int half = 0; half < 2; half++) {
                unsigned *from = half ? d_b : d_a, *to = half ? d_a : d_b;
                int by = shift + half * BITS;
                bench.time("radix_count", [&] { radix_count<<<blocks, THREADS>>>(from, n, by, d_counts); });
                bench.time("radix_scan", [&] { radix_scan<<<1, SCAN>>>(d_counts, DIGITS * blocks); });
                bench.time("radix_scatter", [&] { radix_scatter<<<blocks, THREADS>>>(from, to, n, by, d_counts); });
            }
    });
    if (bench.check) {
        want = keys;
        std::sort(want.begin(), want.end());
    }
    bench.expect("keys", bench.result("keys", d_a), want);
    return bench.done();
}
