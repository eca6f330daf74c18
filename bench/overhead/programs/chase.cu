/* Chains of pointers through SIZE nodes in random order: a lane follows 32 of them, each known when the one before is loaded. */
#include "common.cuh"

constexpr int STEPS = 32;

__global__ void pointer_chase(const int *next, int *ends, int lanes)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes)
        return;
    int at = i;
    for (int step = 0; step < STEPS; step++)
        at = next[at];
    ends[i] = at;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size, lanes = std::max(n / 8, 1);
    Random random(19);
    std::vector<int> next(n), want;
    for (int i = 0; i < n; i++)
        next[i] = i;
    for (int i = n - 1; i > 0; i--)
        std::swap(next[i], next[random.below(i)]); /* one cycle through all */
    Array<int> d_next(next), d_ends(lanes);
    bench.rounds([&] {
        bench.time("pointer_chase", [&] { pointer_chase<<<blocks_for(lanes, 256), 256>>>(d_next, d_ends, lanes); });
    });
    for (int i = 0; bench.check && i < lanes; i++) {
        int at = i;
        for (int step = 0; step < STEPS; step++)
            at = next[at];
        want.push_back(at);
    }
    bench.expect("ends", bench.result("ends", d_ends), want);
    return bench.done();
}
