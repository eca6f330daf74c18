// Structures by value, vectors, templates, local arrays, shared memory.
struct Small {
    char tag;
    short half;
    float value;
};

struct alignas(16) Wide {
    double4 a;
    Small inner[3];
    unsigned char bytes[5];
};

template <typename T, int N> struct Tile {
    T data[N];
    __device__ T sum() const
    {
        T s = 0;
        for (int i = 0; i < N; i++)
            s += data[i];
        return s;
    }
};

template <typename T, int N> __global__ void reduce(Tile<T, N> tile, T *out, const T *__restrict__ in, int n)
{
    __shared__ T cache[256];
    extern __shared__ char dynamic[];
    T s = tile.sum();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += in[i];
    cache[threadIdx.x] = s;
    ((T *)dynamic)[threadIdx.x] = s;
    __syncthreads();
    for (int half = blockDim.x / 2; half; half >>= 1) {
        if (threadIdx.x < half)
            cache[threadIdx.x] += cache[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = cache[0] + ((T *)dynamic)[1];
}

template __global__ void reduce<float, 4>(Tile<float, 4>, float *, const float *, int);
template __global__ void reduce<double, 3>(Tile<double, 3>, double *, const double *, int);
template __global__ void reduce<int, 7>(Tile<int, 7>, int *, const int *, int);
template __global__ void reduce<unsigned long long, 2>(Tile<unsigned long long, 2>, unsigned long long *,
    const unsigned long long *, int);

__global__ void __launch_bounds__(128, 2) by_value(Wide w, Wide *out, float4 *v4, uchar4 *c4, double2 *d2)
{
    int i = threadIdx.x;
    Wide copy = w;
    copy.inner[i % 3].value *= copy.a.x;
    copy.bytes[i % 5] ^= copy.inner[(i + 1) % 3].tag;
    out[i] = copy;
    float4 v = v4[i];
    v.w = v.x * v.y + v.z;
    v4[i] = v;
    c4[i] = make_uchar4(c4[i].w, c4[i].z, c4[i].y, c4[i].x);
    d2[i] = make_double2(d2[i].y, d2[i].x);
}
