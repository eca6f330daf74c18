/* What the programs share: arguments, arrays, times of kernels, checksums of results.
 *
 *     program [SIZE] [--rounds N] [--check]
 *
 * A program goes through N rounds and one before them to warm up. In each it launches its kernels, on the same data. Then it
 * prints
 *
 *     kernel NAME MS      for each round, what the kernel's launches took on the device
 *     result NAME HASH    of each array of results, to the bit
 *     span MS             what passed on the host from when CUDA had started to the end
 *
 * and, with --check, compares the results with what the host computes. It exits with 1 where they differ, with 2 where CUDA
 * reports an error. A program knows nothing of who may be watching it. */
#ifndef COMMON_CUH
#define COMMON_CUH

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CUDA(call)                                                             \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
        if (error_ != cudaSuccess) {                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                         cudaGetErrorString(error_));                          \
            std::exit(2);                                                      \
        }                                                                      \
    } while (0)

/* The same numbers on every machine. */
class Random {
public:
    explicit Random(unsigned seed) : state_(seed) {}
    unsigned next()
    {
        state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
        return static_cast<unsigned>(state_ >> 32);
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>(static_cast<unsigned long long>(next()) * limit >> 32); }
    float unit() { return static_cast<float>(next() >> 8) / 8388608.0f - 1.0f; } /* [-1, 1) */

private:
    unsigned long long state_;
};

inline std::vector<float> random_floats(size_t count, unsigned seed)
{
    Random random(seed);
    std::vector<float> numbers(count);
    for (float &x : numbers)
        x = random.unit();
    return numbers;
}

/* Memory on the device, zero at first or as given; freed at the end of its scope. */
template <typename T> class Array {
public:
    explicit Array(size_t count) : count_(count)
    {
        CUDA(cudaMalloc(&data_, bytes()));
        clear();
    }
    explicit Array(const std::vector<T> &values) : count_(values.size())
    {
        CUDA(cudaMalloc(&data_, bytes()));
        set(values);
    }
    Array(const Array &) = delete;
    ~Array() { cudaFree(data_); }
    operator T *() const { return data_; }
    size_t bytes() const { return count_ * sizeof(T); }
    void clear() { CUDA(cudaMemset(data_, 0, bytes())); }
    void set(const std::vector<T> &values) { CUDA(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice)); }
    void copy(const Array &from) { CUDA(cudaMemcpy(data_, from.data_, bytes(), cudaMemcpyDeviceToDevice)); }
    std::vector<T> host() const
    {
        std::vector<T> values(count_);
        CUDA(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost));
        return values;
    }

private:
    T *data_ = nullptr;
    size_t count_;
};

/* Keeps the device busy while the host puts an event, kernels and an event behind it on the stream. So what passes between the
 * events is the device's time, and not the host's on a device that waits for it. */
__global__ void bench_hold(unsigned long long ns)
{
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < ns);
}

class Bench {
public:
    Bench(int argc, char **argv, int standard, int rounds = 10) : size(standard), rounds_(rounds)
    {
        for (int i = 1; i < argc; i++) {
            if (std::strcmp(argv[i], "--check") == 0)
                check = true;
            else if (std::strcmp(argv[i], "--rounds") == 0 && i + 1 < argc)
                rounds_ = std::atoi(argv[++i]);
            else
                size = std::atoi(argv[i]);
        }
        if (size <= 0 || rounds_ <= 0) {
            std::fprintf(stderr, "usage: %s [SIZE] [--rounds N] [--check]\n", argv[0]);
            std::exit(2);
        }
        CUDA(cudaEventCreate(&begin_));
        CUDA(cudaEventCreate(&end_));
        start_ = Clock::now();
    }

    int size;
    bool check = false;

    /* Calls ROUND for each round; what it launches through time() counts. */
    template <typename Round> void rounds(Round round)
    {
        for (int i = 0; i <= rounds_; i++) {
            for (Kernel &k : kernels_)
                k.now = 0;
            round();
            CUDA(cudaDeviceSynchronize());
            for (Kernel &k : kernels_)
                if (i > 0)
                    k.samples.push_back(k.now);
        }
    }

    /* Adds to KERNEL's time in this round what passes on the device while LAUNCH's kernels run. */
    template <typename Launch> void time(const char *kernel, Launch launch)
    {
        const unsigned long long HOLD_NS = 60000;
        float ms = 0;
        bench_hold<<<1, 1>>>(HOLD_NS);
        CUDA(cudaEventRecord(begin_));
        launch();
        CUDA(cudaGetLastError());
        CUDA(cudaEventRecord(end_));
        CUDA(cudaEventSynchronize(end_));
        CUDA(cudaEventElapsedTime(&ms, begin_, end_));
        find(kernel).now += ms;
    }

    /* Prints a hash of the array as it lies on the device now, and gives its content. */
    template <typename T> std::vector<T> result(const char *name, const Array<T> &array)
    {
        std::vector<T> values = array.host();
        const unsigned char *bytes = reinterpret_cast<const unsigned char *>(values.data());
        unsigned long long hash = 14695981039346656037ull;
        for (size_t i = 0; i < values.size() * sizeof(T); i += 4) {
            unsigned word = 0;
            std::memcpy(&word, bytes + i, std::min<size_t>(4, values.size() * sizeof(T) - i));
            hash = (hash ^ word) * 1099511628211ull;
            hash ^= hash >> 29;
        }
        std::printf("result %s %016llx\n", name, hash);
        return values;
    }

    /* Compares; floating-point numbers may differ by TOLERANCE, relative to those above 1. */
    template <typename T, typename U>
    void expect(const char *name, const std::vector<T> &got, const std::vector<U> &want, double tolerance = 0)
    {
        for (size_t i = 0; i < want.size(); i++) {
            double g = static_cast<double>(got[i]), w = static_cast<double>(want[i]);
            if (got.size() == want.size() && std::fabs(g - w) <= tolerance * std::max(1.0, std::fabs(w)))
                continue;
            std::printf("wrong: %s[%zu] is %g instead of %g\n", name, i, g, w);
            failed_ = true;
            return;
        }
    }

    /* The program's exit status. */
    int done()
    {
        for (const Kernel &k : kernels_)
            for (double ms : k.samples)
                std::printf("kernel %s %.6f\n", k.name.c_str(), ms);
        CUDA(cudaEventDestroy(begin_));
        CUDA(cudaEventDestroy(end_));
        std::printf("span %.6f\n", std::chrono::duration<double, std::milli>(Clock::now() - start_).count());
        return failed_ ? 1 : 0;
    }

private:
    using Clock = std::chrono::steady_clock;

    struct Kernel {
        std::string name;
        double now;
        std::vector<double> samples;
    };

    Kernel &find(const char *name)
    {
        for (Kernel &k : kernels_)
            if (k.name == name)
                return k;
        kernels_.push_back({name, 0, {}});
        return kernels_.back();
    }

    int rounds_;
    bool failed_ = false;
    cudaEvent_t begin_, end_;
    Clock::time_point start_;
    std::vector<Kernel> kernels_;
};

inline int blocks_for(long long threads, int block)
{
    return static_cast<int>((threads + block - 1) / block);
}

#endif
