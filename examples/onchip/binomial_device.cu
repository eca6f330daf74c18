/* The values of an option's tree lie in device memory, where each step changes them. */
#include "binomial.h"

__global__ void binomial(const option *options, float *values, float *results)
{
    const int t = threadIdx.x;
    const option o = options[blockIdx.x];
    float *value = values + blockIdx.x * VALUES;
    value[t] = worth_at_end(o, t); // finds: promote d_values
    __syncthreads();
    for (int step = STEPS; step > 0; step--) {
        float next = 0;
        if (t < step)
            next = o.up_part * value[t + 1] + o.down_part * value[t]; // finds: misaligned d_values (hidden), promote d_values
        __syncthreads();
        if (t < step)
            value[t] = next; // finds: promote d_values
        __syncthreads();
    }
    if (t == 0)
        results[blockIdx.x] = value[0]; // finds: promote d_values
}

int main(int argc, char **argv)
{
    return run_binomial(argc, argv, [](int n, const option *options, float *values, float *results) {
        binomial<<<n, THREADS>>>(options, values, results);
    });
}
