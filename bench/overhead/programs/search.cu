/* Binary search: SIZE random keys, a lane each, in a sorted array of a quarter as many. */
#include "common.cuh"

__global__ void binary_search(const unsigned *sorted, int count, const unsigned *keys, int *places, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i];
    int low = 0, high = count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    places[i] = low;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size, count = std::max(n / 4, 1);
    Random random(13);
    std::vector<unsigned> sorted(count), keys(n);
    for (unsigned &x : sorted)
        x = random.next();
    for (unsigned &x : keys)
        x = random.next();
    std::sort(sorted.begin(), sorted.end());
    std::vector<int> want;
    Array<unsigned> d_sorted(sorted), d_keys(keys);
    Array<int> d_places(n);
    bench.rounds([&] {
        bench.time("binary_search", [&] {
            binary_search<<<blocks_for(n, 256), 256>>>(d_sorted, count, d_keys, d_places, n);
        });
    });
    for (int i = 0; bench.check && i < n; i++)
        want.push_back(static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), keys[i]) - sorted.begin()));
    bench.expect("places", bench.result("places", d_places), want);
    return bench.done();
}
