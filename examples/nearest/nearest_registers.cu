/* K nearest neighbours, each thread with its list in registers: all loops over it are unrolled, so that every index is known to
 * the compiler. Lists are stored place by place, neighbouring points side by side. */
#include "nearest.h"

__global__ void nearest(const float *distances, float *best, int points)
{
    int point = blockIdx.x * THREADS + threadIdx.x;
    float list[K];
#pragma unroll
    for (int j = 0; j < K; j++)
        list[j] = INFINITY;
#pragma unroll 1
    for (int i = 0; i < CANDIDATES; i++) {
        float distance = distances[static_cast<size_t>(i) * points + point];
#pragma unroll
        for (int j = 0; j < K; j++) { // the smaller stays, the larger moves on
            float smaller = fminf(list[j], distance);
            distance = fmaxf(list[j], distance);
            list[j] = smaller;
        }
    }
#pragma unroll
    for (int j = 0; j < K; j++)
        best[j * points + point] = list[j];
}

int main(int argc, char **argv)
{
    int points = size_argument(argc, argv, 32768);
    std::vector<float> distances = numbers(static_cast<size_t>(CANDIDATES) * points, 3), best(static_cast<size_t>(points) * K);
    std::vector<float> want = smallest(distances, points), by_place(best.size());
    for (size_t i = 0; i < want.size(); i++)
        by_place[i % K * points + i / K] = want[i];
    float *d_distances, *d_best;
    CHECK(cudaMalloc(&d_distances, distances.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_best, best.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_distances, distances.data(), distances.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        nearest<<<points / THREADS, THREADS>>>(d_distances, d_best, points);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(best.data(), d_best, best.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(best, by_place, 0);
}
