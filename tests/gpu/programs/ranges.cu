/* Kernels whose accesses to shared arrays depend on data: words are filled wherever it says, or not at all, and updated by what
 * was read of the same word or of another. Each kernel's array has live ranges of another kind. */
#include "../../../bench/overhead/programs/common.cuh"

constexpr int THREADS = 128, KEPT = 16;

/* A permutation of the block's threads that data chooses. */
__device__ inline unsigned place_of(unsigned key)
{
    return (threadIdx.x * (2 * key + 1) + key / 64) % THREADS;
}

/* One word in eight is accessed before the block has stored anything there, if at all. */
__global__ void scatter(const unsigned *keys, const float *in, float *out)
{
    __shared__ float s[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (keys[i] % 8)
        s[place_of(keys[blockIdx.x])] = in[i];
    __syncthreads();
    out[i] = s[threadIdx.x] > 0 ? 1 : 0;
}

__global__ void queue(const unsigned *keys, float *out)
{
    __shared__ unsigned waiting[THREADS], count;
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (keys[i] & 1)
        waiting[atomicAdd(&count, 1)] = keys[i] % 1024;
    __syncthreads();
    unsigned sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += waiting[k];
    out[i] = static_cast<float>(sum);
}

/* Bins of each thread's own, updated without atomics. */
__global__ void private_bins(const unsigned *keys, unsigned *out)
{
    __shared__ unsigned bins[8][THREADS];
    for (int b = 0; b < 8; b++)
        bins[b][threadIdx.x] = 0;
    for (int k = 0; k < 4; k++)
        bins[keys[(blockIdx.x * 4 + k) * THREADS + threadIdx.x] % 8][threadIdx.x] += k + 1;
    unsigned sum = 0;
    for (int b = 0; b < 8; b++)
        sum = sum * 5 + bins[b][threadIdx.x];
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* Only addresses tell which of the stores update. */
__global__ void links(const unsigned *keys, unsigned *out)
{
    __shared__ unsigned s[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = keys[i] + 1;
    __syncthreads();
    for (unsigned turn = 0; turn < keys[blockIdx.x] % 4; turn++) {
        unsigned value = s[place_of(keys[blockIdx.x + turn])];
        __syncthreads();
        s[place_of(keys[blockIdx.x + turn / 2])] = value + turn;
        __syncthreads();
    }
    out[i] = s[threadIdx.x];
}

/* Data says how many tiles there are. */
__global__ void tiles(const unsigned *keys, const float *in, float *out, int n)
{
    __shared__ float tile[KEPT][THREADS];
    float sum = 0;
    for (unsigned t = 0; t < keys[blockIdx.x] % 4 + 1; t++) {
        for (int k = 0; k < KEPT; k++)
            tile[k][threadIdx.x] = in[((blockIdx.x * 4 + t) * KEPT + k) * THREADS % n + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < KEPT; k++)
            sum += tile[k][(threadIdx.x + k) % THREADS] * tile[(k + 1) % KEPT][threadIdx.x];
        __syncthreads();
    }
    out[blockIdx.x * THREADS + threadIdx.x] = sum;
}

/* One array that follows from the launch, and one that does not. */
__global__ void two(const unsigned *keys, const float *in, float *out)
{
    __shared__ float tile[THREADS];
    __shared__ unsigned bins[KEPT];
    int i = blockIdx.x * THREADS + threadIdx.x;
    tile[threadIdx.x] = in[i];
    if (threadIdx.x < KEPT)
        bins[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&bins[keys[i] % KEPT], 1);
    __syncthreads();
    out[i] = tile[THREADS - 1 - threadIdx.x] + bins[threadIdx.x % KEPT];
}

/* Values from device memory and computed ones in one array. */
__global__ void mixed(const unsigned *keys, const unsigned *in, unsigned *out)
{
    __shared__ unsigned s[THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = 0;
    __syncthreads();
    if (keys[i] & 1)
        s[place_of(keys[blockIdx.x])] = in[i];
    __syncthreads();
    if (keys[i] & 2)
        s[place_of(keys[blockIdx.x] >> 3)] = threadIdx.x;
    __syncthreads();
    out[i] = s[threadIdx.x];
}

/* What was read decides whether the word is stored to. */
__global__ void most(const unsigned *keys, unsigned *out, int rounds)
{
    __shared__ unsigned s[2 * THREADS];
    int i = blockIdx.x * THREADS + threadIdx.x;
    s[threadIdx.x] = s[threadIdx.x + THREADS] = 0;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        unsigned key = keys[(i * rounds + r) % (gridDim.x * THREADS)], at = 2 * threadIdx.x + key % 2;
        if (key > s[at])
            s[at] = key;
    }
    __syncthreads();
    out[i] = s[threadIdx.x] ^ s[threadIdx.x + THREADS];
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size / (4 * THREADS) * 4 * THREADS, blocks = n / THREADS;
    n = n ? n : 4 * THREADS, blocks = blocks ? blocks : 4;
    Random random(27);
    std::vector<unsigned> numbers(n + KEPT);
    for (unsigned &number : numbers)
        number = random.next() >> 8;
    std::vector<float> floats = random_floats(n, 3);
    Array<unsigned> keys(numbers), bins(n), linked(n), values(n), largest(n);
    Array<float> in(floats), scattered(n), queued(n), tiled(n), both(n);
    bench.rounds([&] {
        bench.time("scatter", [&] { scatter<<<blocks, THREADS>>>(keys, in, scattered); });
        bench.time("queue", [&] { queue<<<blocks, THREADS>>>(keys, queued); });
        bench.time("private_bins", [&] { private_bins<<<blocks / 4, THREADS>>>(keys, bins); });
        bench.time("links", [&] { links<<<blocks, THREADS>>>(keys, linked); });
        bench.time("tiles", [&] { tiles<<<blocks, THREADS>>>(keys, in, tiled, n); });
        bench.time("two", [&] { two<<<blocks, THREADS>>>(keys, in, both); });
        bench.time("mixed", [&] { mixed<<<blocks, THREADS>>>(keys, keys, values); });
        bench.time("most", [&] { most<<<blocks, THREADS>>>(keys, largest, 8); });
    });
    bench.result("queue", queued);
    bench.result("private_bins", bins);
    bench.result("links", linked);
    bench.result("tiles", tiled);
    bench.result("two", both);
    bench.result("mixed", values);
    bench.result("most", largest);
    return bench.done();
}
