/* SIZE launches in a row, nobody waiting in between, of one kernel in five shapes. */
#include "common.cuh"

constexpr int SHAPES = 5, LENGTH = 1 << 18;

__global__ void add_one(unsigned *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += 1;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 10000, 1);
    int launches = bench.size, length = std::min(LENGTH, launches * 26);
    std::vector<unsigned> want(length);
    Array<unsigned> d_data(length);
    bench.rounds([&] {
        d_data.clear();
        bench.time("add_one", [&] {
            for (int i = 0; i < launches; i++) {
                int n = length >> i % SHAPES;
                add_one<<<blocks_for(n, 256), 256>>>(d_data, n);
            }
        });
    });
    for (int i = 0; bench.check && i < launches; i++)
        for (int j = 0; j < length >> i % SHAPES; j++)
            want[j]++;
    bench.expect("data", bench.result("data", d_data), bench.check ? want : std::vector<unsigned>());
    return bench.done();
}
