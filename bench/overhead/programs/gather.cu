/* y[i] = x[index[i]] for random indices: SIZE numbers from a quarter as many. */
#include "common.cuh"

__global__ void gather(const int *index, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[index[i]];
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 24);
    int n = bench.size, from = std::max(n / 4, 1);
    Random random(7);
    std::vector<int> index(n);
    for (int &i : index)
        i = static_cast<int>(random.below(from));
    std::vector<float> x = random_floats(from, 8), want;
    Array<int> d_index(index);
    Array<float> d_x(x), d_y(n);
    bench.rounds([&] { bench.time("gather", [&] { gather<<<blocks_for(n, 256), 256>>>(d_index, d_x, d_y, n); }); });
    for (int i = 0; bench.check && i < n; i++)
        want.push_back(x[index[i]]);
    bench.expect("y", bench.result("y", d_y), want);
    return bench.done();
}
