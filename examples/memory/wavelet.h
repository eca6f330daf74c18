/* The wavelet transform of a colour image, a component after the other, by Haar's wavelet in several levels. */
#ifndef WAVELET_H
#define WAVELET_H

#include "../common/example.h"

constexpr int LEVELS = 5, WIDE = 32, HIGH = 8; /* threads of a block */

typedef unsigned char byte;

/* Bytes of the three components to numbers around 0. */
__global__ void split(const byte *source, float *r, float *g, float *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    r[i] = source[i] - 128.0f;
    g[i] = source[n + i] - 128.0f;
    b[i] = source[2 * n + i] - 128.0f;
}

/* Four elements to their mean and three differences. */
struct quad {
    float mean, across, down, both;
};

__host__ __device__ inline quad transform_quad(float a, float b, float c, float d)
{
    return {(a + b + c + d) / 4, (a - b + c - d) / 4, (a + b - c - d) / 4, (a - b - c + d) / 4};
}

/* One level of a square image of `size` elements a side, whose rows are `pitch` elements apart: the means go to the
 * upper left quarter. */
__global__ void transform(const float *in, float *out, int size, int pitch)
{
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y, half = size / 2;
    if (x >= half || y >= half)
        return;
    float2 top = *reinterpret_cast<const float2 *>(&in[2 * y * pitch + 2 * x]);
    float2 low = *reinterpret_cast<const float2 *>(&in[(2 * y + 1) * pitch + 2 * x]);
    quad q = transform_quad(top.x, top.y, low.x, low.y);
    out[y * pitch + x] = q.mean;
    out[y * pitch + half + x] = q.across;
    out[(half + y) * pitch + x] = q.down;
    out[(half + y) * pitch + half + x] = q.both;
}

inline dim3 blocks_of(int size)
{
    return dim3((size / 2 + WIDE - 1) / WIDE, (size / 2 + HIGH - 1) / HIGH);
}

/* The same on the host, all levels, in place. */
inline void reference(std::vector<float> &image, int side)
{
    std::vector<float> out = image;
    for (int level = 0, size = side; level < LEVELS; level++, size /= 2) {
        int half = size / 2;
        for (int y = 0; y < half; y++) {
            for (int x = 0; x < half; x++) {
                const float *at = &image[2 * y * side + 2 * x];
                quad q = transform_quad(at[0], at[1], at[side], at[side + 1]);
                out[y * side + x] = q.mean;
                out[y * side + half + x] = q.across;
                out[(half + y) * side + x] = q.down;
                out[(half + y) * side + half + x] = q.both;
            }
        }
        image = out;
    }
}

/* `all` takes the bytes of the image to the three transformed components. */
template <typename All> int run_wavelet(int argc, char **argv, All all)
{
    int side = size_argument(argc, argv, 1024), n = side * side;
    std::vector<byte> source(3 * n);
    std::vector<float> got(3 * n), want;
    for (int i = 0; i < 3 * n; i++)
        source[i] = static_cast<byte>(i * 7 + i / side * 13 + i / 1000);
    all(source.data(), got.data(), side, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (int c = 0; c < 3; c++) {
        std::vector<float> component(n);
        for (int i = 0; i < n; i++)
            component[i] = source[c * n + i] - 128.0f;
        reference(component, side);
        want.insert(want.end(), component.begin(), component.end());
    }
    return verdict(got, want, 1e-3f);
}

#endif
