/* Thrust's algorithms with functions of the user's. */
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/partition.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/transform.h>

struct odd {
    __host__ __device__ bool operator()(int x) const
    {
        return x & 1;
    }
};

struct scaled {
    float factor;
    __host__ __device__ float operator()(float x, float y) const
    {
        return factor * x + y;
    }
};

int main()
{
    const int n = 30011;
    thrust::host_vector<int> numbers(n);
    thrust::host_vector<float> reals(n);
    unsigned seed = 7;
    for (int i = 0; i < n; i++) {
        numbers[i] = (int)((seed = seed * 1664525u + 1013904223u) >> 12);
        reals[i] = (float)numbers[i] / 1000;
    }
    thrust::device_vector<int> keys = numbers, order(n), found(n), other(2 * n);
    thrust::device_vector<float> x = reals, y = reals;
    thrust::sequence(order.begin(), order.end());
    thrust::transform(x.begin(), x.end(), y.begin(), y.begin(), scaled{2.5f});
    thrust::sort_by_key(keys.begin(), keys.end(), order.begin());
    thrust::gather(order.begin(), order.end(), x.begin(), y.begin());
    thrust::stable_sort(x.begin(), x.end(), thrust::greater<float>());
    thrust::inclusive_scan(keys.begin(), keys.end(), found.begin(), thrust::maximum<int>());
    thrust::lower_bound(keys.begin(), keys.end(), order.begin(), order.end(), found.begin());
    thrust::copy_if(keys.begin(), keys.end(), found.begin(), odd());
    thrust::partition(order.begin(), order.end(), odd());
    thrust::set_union(keys.begin(), keys.begin() + n / 2, keys.begin() + n / 3, keys.end(), other.begin());
    thrust::reduce_by_key(keys.begin(), keys.end(), x.begin(), found.begin(), y.begin());
    float product = thrust::inner_product(x.begin(), x.end(), y.begin(), 0.0f);
    cudaDeviceSynchronize();
    return product == 1.25f;
}
