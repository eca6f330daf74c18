// Kernels whose parameters have names in all the ways that sources have them.
struct Box {
    int first;
    float second;
};

__global__ void plain(const float *in, float *out, int n)
{
    if (threadIdx.x < n)
        out[threadIdx.x] = in[threadIdx.x];
}

template <class T>
__global__ void of_type(T *data, Box box, int count)
{
    if (threadIdx.x < count)
        data[threadIdx.x] = box.second;
}

extern "C" __global__ void
__launch_bounds__(128)
in_c(double *__restrict__ values, // not the value
     /* int old, */ const Box boxes, int = 3, int last = sizeof(int[2]))
{
    values[0] = last + boxes.first;
}

namespace inner {
static __global__ void hidden(int *where)
{
    *where = 1;
}
}

namespace {
__global__ void nowhere(int *there)
{
    *there = 1;
}
}

__global__ void nothing()
{
}

int main()
{
    float *memory;
    cudaMalloc(&memory, 4096);
    plain<<<1, 32>>>(memory, memory + 64, 32);
    of_type<float><<<1, 32>>>(memory, Box{1, 2}, 32);
    in_c<<<1, 1>>>((double *)memory, Box{1, 2}, 1, 2);
    inner::hidden<<<1, 1>>>((int *)memory);
    nowhere<<<1, 1>>>((int *)memory);
    nothing<<<1, 1>>>();
    return cudaDeviceSynchronize() != cudaSuccess;
}
