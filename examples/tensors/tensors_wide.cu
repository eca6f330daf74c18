/* An element of k has four numbers, of which one is used: of all tensors in the pool, k is what is read with gaps. */
#include "tensors.h"

constexpr int FIELDS = 4;

__global__ void multiply(const float *q, const float *k, float *scores, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        scores[i] = q[i] * k[i * FIELDS]; // finds: strided k
}

int main(int argc, char **argv)
{
    return run_tensors(argc, argv, FIELDS, [](const float *q, const float *k, float *scores, int n) {
        multiply<<<(n + 255) / 256, 256>>>(q, k, scores, n);
    });
}
