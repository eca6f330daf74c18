// Measures what a GPU's units and memories can do, and prints it as JSON: a figure a line, the median of eleven runs with the lowest and
// the highest. run.py starts it several times and writes the device's file.
#include "measure.h"

#include <algorithm>
#include <cstring>
#include <vector>

int multiprocessors()
{
    static int count;
    if (!count)
        CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
    return count;
}

uint8_t *memory(size_t bytes)
{
    static uint8_t *all;
    static size_t have;
    if (bytes > have) {
        CHECK(cudaFree(all));
        CHECK(cudaMalloc(&all, bytes));
        CHECK(cudaMemset(all, 0, bytes));
        have = bytes;
    }
    return all;
}

uint64_t *block_cycles()
{
    static uint64_t *cycles;
    if (!cycles)
        CHECK(cudaMalloc(&cycles, 2 * sizeof *cycles)); // on the device: what is managed would be fetched in the middle
    return cycles;
}

double cycles()
{
    uint64_t both[2];
    CHECK(cudaMemcpy(both, block_cycles(), sizeof both, cudaMemcpyDeviceToHost));
    return (double)(both[1] - both[0]);
}

double seconds(void (*launch)())
{
    static cudaEvent_t begin, end;
    if (!begin) {
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
    }
    launch();
    CHECK(cudaEventRecord(begin));
    launch();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    CHECK(cudaGetLastError());
    float milliseconds = 0;
    CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    return milliseconds * 1e-3;
}

static void print(const figure *rows, const char *only)
{
    for (const figure *f = rows; f->key; f++) {
        if (only && !strstr(f->key, only))
            continue;
        std::vector<double> runs;
        for (int i = 0; i < 11; i++)
            runs.push_back(f->measure());
        std::sort(runs.begin(), runs.end());
        printf("{\"key\": \"%s\", \"value\": %.6g, \"low\": %.6g, \"high\": %.6g}\n", f->key, runs[runs.size() / 2], runs.front(),
               runs.back());
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--empty")) {
        launch_empty_kernels(100);
        return 0;
    }
    for (const figure *rows : {latency_figures, pipe_figures, memory_figures, atomic_figures, launch_figures})
        print(rows, argc > 1 ? argv[1] : nullptr);
    return 0;
}
