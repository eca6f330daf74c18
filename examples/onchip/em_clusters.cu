/* A block keeps the clusters in shared memory; a thread keeps its point in registers, and the biases are loaded. */
#include "em.h"

__global__ void expect(mixture m)
{
    __shared__ float part[CLUSTERS][THREADS], mean[CLUSTERS * DIMS], scale[CLUSTERS * DIMS];
    const int t = threadIdx.x, i = blockIdx.x * THREADS + t;
    float point[DIMS];
#pragma unroll
    for (int d = 0; d < DIMS; d++)
        point[d] = m.points[d * m.n + i];
    for (int j = t; j < CLUSTERS * DIMS; j += THREADS) {
        mean[j] = m.means[j];
        scale[j] = m.scales[j];
    }
    __syncthreads();
    float all = 0;
    for (int k = 0; k < CLUSTERS; k++) {
        float sum = 0;
#pragma unroll
        for (int d = 0; d < DIMS; d++) {
            float x = point[d] - mean[k * DIMS + d];
            sum += x * x * scale[k * DIMS + d];
        }
        part[k][t] = expf(m.biases[k] - sum); // finds: hot d_biases (cached), shared-thread-local part
        all += part[k][t];
    }
    for (int k = 0; k < CLUSTERS; k++)
        m.parts[k * m.n + i] = part[k][t] / all; // finds: shared-thread-local part
}

int main(int argc, char **argv)
{
    return run_em(argc, argv, [](mixture m) { expect<<<m.n / THREADS, THREADS>>>(m); });
}
