// Allocations as programs make them: several on a line, in helpers, templates, lambdas, classes, macros that
// span lines, loops. Each has a size of its own, by which test_object_names.py knows it.
#include "names_helper.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thrust/device_vector.h>
#include <utility>
#include <vector>

#define CHECK(call)                                          \
    do {                                                     \
        cudaError_t failed = (call);                         \
        if (failed != cudaSuccess) {                         \
            printf("%s\n", cudaGetErrorString(failed));      \
            exit(1);                                         \
        }                                                    \
    } while (0)

constexpr size_t KB = 1024;

template <typename T>
class DeviceBuffer {
public:
    explicit DeviceBuffer(size_t n) { CHECK(cudaMalloc(&ptr_, n)); }
    ~DeviceBuffer() { cudaFree(ptr_); }
    DeviceBuffer(DeviceBuffer &&other) : ptr_(std::exchange(other.ptr_, nullptr)) {}
    T *get() const { return ptr_; }

private:
    T *ptr_ = nullptr;
};

struct Held {
    float *m_dev_ptr_;
    explicit Held(size_t n) { CHECK(cudaMalloc(&m_dev_ptr_, n)); }
};

template <typename T>
T *upload(const std::vector<T> &v)
{
    T *p;
    CHECK(cudaMalloc(&p, v.size() * sizeof(T)));
    CHECK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}

static void reserve(float **to, size_t n) { CHECK(cudaMalloc(to, n)); }

struct Matrix {
    float *values;
    int *cols;
};

static Matrix make_matrix(size_t n)
{
    Matrix m;
    cudaMalloc(&m.values, n); cudaMalloc(&m.cols, n + KB);
    return m;
}

struct Solver {
    DeviceBuffer<float> state;
    float *residual;
    explicit Solver(size_t n) : state(n) { cudaMalloc(&residual, n + KB); }
};

static DeviceBuffer<float> make_buffer(size_t n) { return DeviceBuffer<float>(n); }

struct Freed {
    void operator()(float *p) const { cudaFree(p); }
};
using unique_floats = std::unique_ptr<float, Freed>;

static unique_floats make_unique_floats(size_t n)
{
    float *p;
    CHECK(cudaMalloc(&p, n));
    return unique_floats(p);
}

struct Layer {
    float *weights, *bias;
};

struct Net {
    Layer layers[2];
    float *scratch;
    std::vector<float *> activations;
};

__global__ void copy(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }

static int use(float *p)
{
    copy<<<1, 32>>>(p, p);
    return p != nullptr;
}

static int first_phase() { return use(allocate_floats(41 * KB)); }

static int second_phase() { return use(allocate_floats(42 * KB)); }

int main()
{
    float *dX, *dY, *dA, *dB, *out, *other, *wide, *parts[2];
    cudaMalloc(&dX, 1 * KB); cudaMalloc(&dY, 2 * KB);
    CHECK(cudaMalloc(&dA, 3 * KB)); CHECK(cudaMalloc(&dB, 4 * KB));
    CHECK(
        cudaMalloc(
            &wide,
            5 * KB));
    float *a = upload(std::vector<float>(6 * KB / 4));
    auto b = upload(std::vector<int>(7 * KB / 4));
    reserve(&out, 8 * KB), reserve(&other, 9 * KB);
    DeviceBuffer<float> x(10 * KB), y(11 * KB);
    Matrix A = make_matrix(12 * KB);
    thrust::device_vector<char> t(14 * KB), u(15 * KB);
    auto make = [&](size_t n) {
        float *q;
        CHECK(cudaMalloc(&q, n));
        return q;
    };
    float *first = make(16 * KB), *second = make(17 * KB);
    for (int i = 0; i < 2; i++) CHECK(cudaMalloc(&parts[i], 18 * KB));
    Solver solver(20 * KB);
    Held held(23 * KB);
    auto owned = std::make_unique<DeviceBuffer<float>>(22 * KB);
    float *from_other_file = allocate_floats(24 * KB);
    void *reserved;
    reserve_bytes(&reserved, 25 * KB);
    std::vector<float *> buffers(2), pushed;
    for (auto &b : buffers)
        CHECK(cudaMalloc(&b, 26 * KB));
    for (int i = 0; i < 2; i++) {
        float *p;
        CHECK(cudaMalloc(&p, 27 * KB));
        pushed.push_back(p);
    }
    Net net;
    for (int i = 0; i < 2; i++)
        CHECK(cudaMalloc(&net.layers[i].weights, 28 * KB));
    for (Layer &layer : net.layers)
        CHECK(cudaMalloc(&layer.bias, 29 * KB));
    net.scratch = allocate_floats(30 * KB);
    net.activations.push_back(allocate_floats(31 * KB));
    auto made = make_buffer(32 * KB);
    unique_floats smart = make_unique_floats(33 * KB);
    float *listed[2] = {allocate_floats(34 * KB), allocate_floats(35 * KB)};
    std::map<std::string, float *> by_name;
    CHECK(cudaMalloc(&by_name["weights"], 36 * KB));
    std::function<float *(size_t)> erased = make;
    float *through_function = erased(37 * KB);
    std::vector<DeviceBuffer<float>> arrays;
    arrays.reserve(2);
    arrays.emplace_back(38 * KB);
    arrays.push_back(DeviceBuffer<float>(39 * KB));
    float *lone;
    CHECK(cudaMalloc(&lone, 40 * KB));
    pushed.push_back(lone);
    copy<<<1, 32>>>(dX, dY);
    copy<<<1, 32>>>(dA, dB);
    copy<<<1, 32>>>(A.values, out);
    cudaDeviceSynchronize();
    return !(a && b && first && second && other && wide && x.get() && y.get() && owned && t.size() && u.size() && held.m_dev_ptr_ &&
             first_phase() && second_phase() &&
             from_other_file && reserved && net.scratch && made.get() && smart && listed[1] && through_function);
}
