/* The forward phase of a network of convolutions, each of 3 x 3 with CHANNELS inputs and outputs, then what is
 * negative cut off. */
#ifndef NETWORK_H
#define NETWORK_H

#include "../common/example.h"

constexpr int LAYERS = 6, CHANNELS = 16, WIDE = 32, HIGH = 8; /* threads of a block */

/* Three rows of three elements, with what they weigh. `row` is how far apart the rows are. */
__host__ __device__ inline float weigh(const float *in, int row, const float *weights)
{
    float sum = 0;
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            sum += in[y * row + x] * weights[y * 3 + x];
    return sum;
}

__host__ __device__ inline float cut_off(float x)
{
    return x > 0 ? x : 0;
}

/* An element of a plane; beyond its edges 0. */
__device__ inline float pick(const float *plane, int side, int x, int y)
{
    // finds: misaligned input_gpu (hidden), misaligned layers[i].output_gpu (hidden)
    return x >= 0 && x < side && y >= 0 && y < side ? plane[y * side + x] : 0;
}

/* in, out: planes of side x side elements; weights: 9 for each pair of an output and an input channel. */
__global__ void forward(const float *in, const float *weights, float *out, int side)
{
    __shared__ float tile[HIGH + 2][WIDE + 2], all[CHANNELS * 9];
    int x = blockIdx.x * WIDE + threadIdx.x, y = blockIdx.y * HIGH + threadIdx.y;
    int thread = threadIdx.y * WIDE + threadIdx.x, channel = blockIdx.z;
    if (thread < CHANNELS * 9)
        all[thread] = weights[channel * CHANNELS * 9 + thread];
    float sum = 0;
    for (int c = 0; c < CHANNELS; c++) {
        __syncthreads();
        for (int row = threadIdx.y; row < HIGH + 2; row += HIGH)
            for (int col = threadIdx.x; col < WIDE + 2; col += WIDE)
                // finds: misaligned input_gpu (hidden), misaligned layers[i].output_gpu (hidden)
                tile[row][col] = pick(in + c * side * side, side, blockIdx.x * WIDE + col - 1,
                                      blockIdx.y * HIGH + row - 1);
        __syncthreads();
        sum += weigh(&tile[threadIdx.y][threadIdx.x], WIDE + 2, &all[c * 9]);
    }
    if (x < side && y < side)
        out[(channel * side + y) * side + x] = cut_off(sum);
}

inline dim3 blocks_of(int side)
{
    return dim3((side + WIDE - 1) / WIDE, (side + HIGH - 1) / HIGH, CHANNELS);
}

inline std::vector<float> make_weights(int layer)
{
    std::vector<float> weights = numbers(CHANNELS * CHANNELS * 9, 10 + layer);
    for (float &w : weights)
        w /= 8;
    return weights;
}

/* A layer on the host; `padded` is planes with a border of zeros. */
inline std::vector<float> reference(const std::vector<float> &in, const std::vector<float> &weights,
                                    int side)
{
    int row = side + 2;
    std::vector<float> padded(CHANNELS * row * row), out(in.size());
    for (int i = 0; i < CHANNELS * side; i++)
        std::memcpy(&padded[(i / side * row + i % side + 1) * row + 1], &in[i * side],
                    side * sizeof(float));
    for (int i = 0; i < CHANNELS * side * side; i++) {
        int channel = i / (side * side), y = i / side % side, x = i % side;
        for (int c = 0; c < CHANNELS; c++)
            out[i] += weigh(&padded[(c * row + y) * row + x], row,
                            &weights[(channel * CHANNELS + c) * 9]);
        out[i] = cut_off(out[i]);
    }
    return out;
}

/* `infer` takes an image of CHANNELS planes through all layers. */
template <typename Infer> int run_network(int argc, char **argv, Infer infer)
{
    int side = size_argument(argc, argv, 96);
    std::vector<float> image = numbers(static_cast<size_t>(CHANNELS) * side * side, 1),
                       want = image;
    std::vector<float> got(image.size());
    std::vector<std::vector<float>> weights;
    for (int l = 0; l < LAYERS; l++)
        weights.push_back(make_weights(l));
    infer(image.data(), weights, got.data(), side, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (const std::vector<float> &w : weights)
        want = reference(want, w, side);
    return verdict(got, want, 1e-3f);
}

#endif
