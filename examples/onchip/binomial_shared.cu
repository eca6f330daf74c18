/* The values of an option's tree lie in shared memory. */
#include "binomial.h"

__global__ void binomial(const option *options, float *values, float *results)
{
    __shared__ float value[VALUES];
    const int t = threadIdx.x;
    const option o = options[blockIdx.x]; // finds: hot d_options (hidden)
    value[t] = worth_at_end(o, t);
    __syncthreads();
    for (int step = STEPS; step > 0; step--) {
        float next = 0;
        if (t < step)
            next = o.up_part * value[t + 1] + o.down_part * value[t];
        __syncthreads();
        if (t < step)
            value[t] = next;
        __syncthreads();
    }
    if (t == 0)
        results[blockIdx.x] = value[0];
    values[blockIdx.x * VALUES + t] = value[t];
}

int main(int argc, char **argv)
{
    return run_binomial(argc, argv, [](int n, const option *options, float *values, float *results) {
        binomial<<<n, THREADS>>>(options, values, results);
    });
}
