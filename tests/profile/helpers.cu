// Accesses in helpers that are inlined: an operator, a short function, a lambda, a function of many lines.
// test_object_names.py finds lines by the words after "//".
#include <cstdio>

struct View {
    const float *values;
    int count;
    __device__ float operator[](int i) const
    {
        return values[i * 17 % count]; // in operator
    }
};

__device__ float fetch(const float *from, int i)
{
    return from[i]; // in fetch
}

__device__ float sum_of(const float *from, int i, int n)
{
    float sum = from[i]; // sum 1
    if (sum > 0)
        sum -= from[(i + n / 2) % n];
    if (sum < 1)
        sum *= from[(i + n / 4) % n];
    sum += from[(i + n / 8) % n];
    return sum;
}

__global__ void gather(View x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = x[i];          // of operator
    a += fetch(y, i * 9 % n); // of fetch
    out[i] = a;
}

__global__ void whole(const float *z, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = sum_of(z, i * 11 % n, n); // of sum
}

template <typename F>
__global__ void each(F body)
{
    body(blockIdx.x * blockDim.x + threadIdx.x); // of lambda
}

int main()
{
    const int n = 1 << 16;
    float *dX, *dY, *dZ, *dW, *out;
    cudaMalloc(&dX, n * sizeof(float)); // makes dX
    cudaMalloc(&dY, n * sizeof(float)); // makes dY
    cudaMalloc(&dZ, n * sizeof(float)); // makes dZ
    cudaMalloc(&dW, n * sizeof(float)); // makes dW
    cudaMalloc(&out, n * sizeof(float));
    gather<<<n / 256, 256>>>(View{dX, n}, dY, out, n);
    whole<<<n / 256, 256>>>(dZ, out, n);
    each<<<n / 256, 256>>>([=] __device__(int i) {
        out[i] = dW[i * 13 % n]; // in lambda
    });
    return cudaDeviceSynchronize() != cudaSuccess;
}
