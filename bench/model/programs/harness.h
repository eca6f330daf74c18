// What the programs have in common: variants of one kernel that compute the same, each timed with a warm and with an empty L2.
//
//     program                  a line of JSON for each variant at each size
//     program each             each variant once at the smaller size, for counts
//     program VARIANT SIZE     that variant once, for a profile
//
// A program defines `prepare`, `result` and `variants`; the two sizes of the table are its own unit.
#ifndef BENCH_MODEL_HARNESS_H
#define BENCH_MODEL_HARNESS_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                      \
    do {                                                                                 \
        cudaError_t error = (call);                                                      \
        if (error != cudaSuccess) {                                                      \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorName(error)); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

struct variant {
    const char *name;
    void (*launch)();
};

extern const int sizes[2];     // small, large
static void prepare(int size); // frees what was prepared before with `release`
static double
result(); // of the last launch, or the mean of all `launched`: the same for both of a pair, but for rounding
extern const variant variants[];

// ---- device memory ----

static std::vector<void *> allocated;

template <class T> static T *device(size_t count)
{
    T *p;
    CHECK(cudaMalloc(&p, count * sizeof(T)));
    CHECK(cudaMemset(p, 0, count * sizeof(T)));
    allocated.push_back(p);
    return p;
}

static void release()
{
    for (void *p : allocated)
        CHECK(cudaFree(p));
    allocated.clear();
}

__global__ void prepare_fill(float *data, size_t n, unsigned seed)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x) {
        unsigned x = (unsigned)i * 2654435761u + seed;
        x ^= x >> 15;
        x *= 2246822519u;
        x ^= x >> 13;
        data[i] = (float)(x & 0xffff) / 65536;
    }
}

// Numbers from 0 to 1, the same in every run.
static float *random_floats(size_t count, unsigned seed)
{
    float *p = device<float>(count);
    prepare_fill<<<1024, 256>>>(p, count, seed);
    return p;
}

template <class T> static double sum_of(const T *data, size_t count)
{
    std::vector<T> host(count);
    CHECK(cudaMemcpy(host.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)host[i] * (double)(i % 7 + 1);
    return sum;
}

static int blocks_of(long n, int threads)
{
    return (int)((n + threads - 1) / threads);
}

// ---- times ----

static long launched; // since the last result

static double seconds_of(void (*launch)(), void *flushed, size_t bytes)
{
    std::vector<float> runs;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    launch();
    launched += 16;
    for (int i = 0; i < 15; i++) {
        if (bytes)
            CHECK(cudaMemsetAsync(flushed, i, bytes));
        CHECK(cudaEventRecord(begin));
        launch();
        CHECK(cudaEventRecord(end));
        CHECK(cudaEventSynchronize(end));
        float milliseconds;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        runs.push_back(milliseconds);
    }
    CHECK(cudaGetLastError());
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    std::sort(runs.begin(), runs.end());
    return runs[runs.size() / 2] * 1e-3;
}

static void time_all(const char *program)
{
    const size_t flush = 256 << 20;
    void *flushed;
    CHECK(cudaMalloc(&flushed, flush));
    for (int size : sizes) {
        prepare(size);
        for (const variant *v = variants; v->name; v++) {
            double warm = seconds_of(v->launch, nullptr, 0),
                   cold = seconds_of(v->launch, flushed, flush);
            printf("{\"program\": \"%s\", \"variant\": \"%s\", \"size\": %d, \"warm\": %.9f, "
                   "\"cold\": %.9f, \"result\": %.9g}\n",
                   program, v->name, size, warm, cold, result());
            launched = 0;
            fflush(stdout);
        }
        release();
    }
    CHECK(cudaFree(flushed));
}

static void run_each()
{
    prepare(sizes[0]);
    for (const variant *v = variants; v->name; v++) {
        v->launch();
        CHECK(cudaDeviceSynchronize());
    }
    release();
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    if (argc == 2 && !strcmp(argv[1], "each")) {
        run_each();
        return 0;
    }
    if (argc < 3) {
        time_all(slash ? slash + 1 : argv[0]);
        return 0;
    }
    prepare(atoi(argv[2]));
    for (const variant *v = variants; v->name; v++)
        if (!strcmp(v->name, argv[1])) {
            v->launch();
            launched = 1;
            printf("%.9g\n", result());
            return 0;
        }
    fprintf(stderr, "no variant %s\n", argv[1]);
    return 2;
}

#endif
