/* A block keeps its points and their parts in shared memory, and loads the clusters from device memory for each. */
#include "em.h"

__global__ void expect(mixture m)
{
    __shared__ float point[DIMS][THREADS + 1], part[CLUSTERS][THREADS];
    __shared__ float bias[CLUSTERS];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    for (int d = 0; d < DIMS; d++)
        point[d][t] = m.points[d * m.n + i]; // finds: shared-thread-local point
    if (t < CLUSTERS)
        bias[t] = m.biases[t];
    __syncthreads();
    float all = 0;
    for (int k = 0; k < CLUSTERS; k++) {
        float sum = 0;
        for (int d = 0; d < DIMS; d++) {
            float x = point[d][t] - m.means[k * DIMS + d]; // finds: hot d_means (cached), shared-thread-local point
            sum += x * x * m.scales[k * DIMS + d]; // finds: hot d_scales (cached)
        }
        part[k][t] = expf(bias[k] - sum); // finds: shared-thread-local part
        all += part[k][t];
    }
    for (int k = 0; k < CLUSTERS; k++)
        m.parts[k * m.n + i] = part[k][t] / all; // finds: shared-thread-local part
}

int main(int argc, char **argv)
{
    return run_em(argc, argv, [](mixture m) { expect<<<m.n / THREADS, THREADS>>>(m); });
}
