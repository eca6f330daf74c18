// Allocations as programs make them: several on a line, in helpers, templates, lambdas, classes, macros that
// span lines, loops. Each has a size of its own, by which test_object_names.py knows it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thrust/device_vector.h>
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

__global__ void copy(const float *in, float *out) { out[threadIdx.x] = in[threadIdx.x]; }

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
    copy<<<1, 32>>>(dX, dY);
    copy<<<1, 32>>>(dA, dB);
    copy<<<1, 32>>>(A.values, out);
    cudaDeviceSynchronize();
    return !(a && b && first && second && other && wide && x.get() && y.get() && owned && t.size() && u.size() && held.m_dev_ptr_);
}
