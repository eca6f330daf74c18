// Launches that repeat earlier ones, and launches that look as if they did: what the memo must tell apart.
#include <cstdio>
#include <cstdlib>

#define CHECK(call)                                                       \
    do {                                                                  \
        cudaError_t error = (call);                                       \
        if (error != cudaSuccess) {                                       \
            printf("%s: %s\n", #call, cudaGetErrorString(error));         \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

__constant__ int stride;
__constant__ float *target;

__global__ void scale(float *out, const float *in, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = a * in[i];
}

__global__ void strided(float *data, int n) // its addresses depend on a constant
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    if (i < n)
        data[i] += 1;
}

__global__ void elsewhere(int n) // a pointer that is no parameter
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        target[i] += 1;
}

__global__ void odd(float *data, const float *in, int n) // what it executes depends on data
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0)
        data[i] += 1;
}

__global__ void gather(float *out, const float *in, const int *index, int n) // its addresses do
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[index[i]];
}

static float *buffer(int n)
{
    float *p;
    CHECK(cudaMalloc(&p, n * sizeof *p));
    CHECK(cudaMemset(p, 0, n * sizeof *p));
    return p;
}

int main()
{
    const int n = 3000, blocks = (n + 127) / 128;
    float *a = buffer(n), *b = buffer(n), *c = buffer(2 * n);
    for (int i = 0; i < 4; i++) // other values, the same accesses
        scale<<<blocks, 128>>>(b, a, (float)i, n);
    scale<<<blocks, 128>>>(a, b, 1, n);         // objects exchanged
    scale<<<blocks, 128>>>(b, b, 1, n);         // one in place of two
    scale<<<blocks, 128>>>(b, c, 1, n);         // a larger one
    scale<<<blocks, 128>>>(b, c + 1, 1, n);     // misaligned
    scale<<<blocks, 128>>>(b, c + n, 1, n);     // another place in it
    scale<<<blocks, 128>>>(b, c + n, 1, n - 1); // fewer elements
    scale<<<blocks, 64>>>(b, c + n, 1, n);      // another shape
    for (int i = 0; i < 3; i++) {               // new objects at what may be old addresses
        float *d = buffer(n);
        scale<<<blocks, 128>>>(d, a, 1, n);
        CHECK(cudaFree(d));
    }
    for (int i = 0; i < 6; i++) { // the same launch under other constants
        int step = 1 + i / 2;
        CHECK(cudaMemcpyToSymbol(stride, &step, sizeof step));
        strided<<<blocks, 128>>>(a, n);
    }
    float *const targets[] = {a, a, a, b, b, a};
    for (float *to : targets) {
        CHECK(cudaMemcpyToSymbol(target, &to, sizeof to));
        elsewhere<<<blocks, 128>>>(n);
    }
    int *index;
    CHECK(cudaMalloc(&index, n * sizeof *index));
    for (int i = 0; i < 4; i++) { // the same launch over other data
        float value = i & 1 ? 1.0f : -1.0f;
        int to = 8 * i;
        CHECK(cudaMemset(index, 0, n * sizeof *index));
        CHECK(cudaMemcpy(a + 5, &value, sizeof value, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(index + 40, &to, sizeof to, cudaMemcpyHostToDevice));
        odd<<<blocks, 128>>>(b, a, n);
        gather<<<blocks, 128>>>(b, a, index, n);
    }
    CHECK(cudaDeviceSynchronize());
    puts("done");
    return 0;
}
