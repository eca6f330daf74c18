/* K nearest neighbours, each thread with a sorted list in device memory. Hardly ever do many lanes of a warp have something to
 * insert at once: the others wait, and each of the few moves sectors of a list of its own. */
#include "nearest.h"

__global__ void nearest(const float *distances, float *best, int points)
{
    int point = blockIdx.x * THREADS + threadIdx.x;
    float *list = best + point * K;
#pragma unroll 1
    for (int i = 0; i < CANDIDATES; i++) {
        float distance = distances[static_cast<size_t>(i) * points + point];
        int at = min(i, K);
        if (at == K && distance >= list[K - 1]) // finds: uncoalesced d_best (hidden)
            continue;
        at = min(at, K - 1);
#pragma unroll 1
        for (; at > 0; at--) {
            float last = list[at - 1]; // finds: divergent d_best (hidden)
            if (last <= distance)
                break;
            list[at] = last; // finds: divergent d_best (hidden)
        }
        list[at] = distance; // finds: uncoalesced d_best (hidden)
    }
}

int main(int argc, char **argv)
{
    int points = size_argument(argc, argv, 32768);
    std::vector<float> distances = numbers(static_cast<size_t>(CANDIDATES) * points, 3), best(static_cast<size_t>(points) * K);
    float *d_distances, *d_best;
    CHECK(cudaMalloc(&d_distances, distances.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_best, best.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_distances, distances.data(), distances.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        nearest<<<points / THREADS, THREADS>>>(d_distances, d_best, points);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(best.data(), d_best, best.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(best, smallest(distances, points), 0);
}
