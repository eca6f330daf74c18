/* The K smallest of many distances for each of a number of points, as k-nearest-neighbours ask for: data, launch and check, for
 * both versions of the kernel. distances[i * points + point]: candidate i of a point. */
#ifndef NEAREST_H
#define NEAREST_H

#include "../common/example.h"

#include <algorithm>

constexpr int K = 8, CANDIDATES = 512, THREADS = 256;

/* best[point * K + j] */
inline std::vector<float> smallest(const std::vector<float> &distances, int points)
{
    std::vector<float> best(static_cast<size_t>(points) * K), all(CANDIDATES);
    for (int p = 0; p < points; p++) {
        for (int i = 0; i < CANDIDATES; i++)
            all[i] = distances[static_cast<size_t>(i) * points + p];
        std::partial_sort_copy(all.begin(), all.end(), best.begin() + p * K,
                               best.begin() + (p + 1) * K);
    }
    return best;
}

#endif
