/* A framework's pool: one allocation, from which tensors are taken and to which they are given back. It tells warplens what it
 * does, so that a report speaks of tensors. */
#ifndef TENSORS_H
#define TENSORS_H

#include "../../include/warplens/annotate.h"
#include "../common/example.h"

#include <map>

class Pool
{
  public:
    explicit Pool(size_t bytes)
    {
        CHECK(cudaMalloc(&block_, bytes));
        warplens_pool(block_, bytes, "arena");
        free_[0] = bytes;
    }

    ~Pool()
    {
        warplens_pool_end(block_);
        cudaFree(block_);
    }

    Pool(const Pool &) = delete;
    Pool &operator=(const Pool &) = delete;

    /* The first gap that is large enough. */
    float *take(size_t count, const char *name)
    {
        size_t bytes = (count * sizeof(float) + GRAIN - 1) / GRAIN * GRAIN;
        for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
            if (gap->second < bytes)
                continue;
            size_t at = gap->first, rest = gap->second - bytes;
            free_.erase(gap);
            if (rest)
                free_[at + bytes] = rest;
            taken_[at] = bytes;
            float *tensor = reinterpret_cast<float *>(block_ + at);
            warplens_alloc(tensor, count * sizeof(float), name, sizeof(float));
            return tensor;
        }
        std::fprintf(stderr, "the pool is full\n");
        std::exit(2);
    }

    void give_back(const float *tensor)
    {
        auto found = taken_.find(static_cast<size_t>(reinterpret_cast<const char *>(tensor) -
                                                     block_));
        warplens_free(tensor);
        free_.insert(*found);
        taken_.erase(found);
    }

  private:
    static constexpr size_t GRAIN = 256;
    char *block_ = nullptr;
    std::map<size_t, size_t> free_, taken_; /* by where they begin: bytes */
};

/* Three steps of scores = q * k, each with tensors of its own; k is the first of `fields` numbers of an element. */
template <typename Launch> int run_tensors(int argc, char **argv, int fields, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    size_t count = static_cast<size_t>(n), wide = count * static_cast<size_t>(fields);
    std::vector<float> queries = numbers(count, 3), keys = numbers(wide, 7), got(count),
                       want(count);
    Pool pool(64 << 20);
    float *spare = pool.take(count, "spare"); // finds: unused-allocation spare
    for (int step = 0; step < 3; step++) {
        float *q = pool.take(count, "q");
        float *k = pool.take(wide, nullptr); /* named by the variable */
        float *scores = pool.take(count, "scores");
        CHECK(cudaMemcpy(q, queries.data(), count * sizeof(float), cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(k, keys.data(), wide * sizeof(float), cudaMemcpyHostToDevice));
        if (!skip_kernel(argc, argv))
            launch(q, k, scores, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(got.data(), scores, count * sizeof(float), cudaMemcpyDeviceToHost));
        pool.give_back(q);
        pool.give_back(scores);
        pool.give_back(k);
    }
    pool.give_back(spare);
    for (size_t i = 0; i < count; i++)
        want[i] = queries[i] * keys[i * static_cast<size_t>(fields)];
    return verdict(got, want, 0);
}

#endif
