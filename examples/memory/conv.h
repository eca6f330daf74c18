/* Two convolutions as a framework makes them: for windows of 3 x 3 their elements are copied into columns, which a
 * matrix of weights is then multiplied by; single elements lie in columns already. */
#ifndef CONV_H
#define CONV_H

#include "products.h"

constexpr int THREADS = 256;

struct shape { /* of a convolution */
    int inputs, outputs, window, side;

    int pixels() const
    {
        return side * side;
    }
    int depth() const
    {
        return inputs * window * window;
    }
};

constexpr shape SPATIAL = {16, 64, 3, 112}, POINTWISE = {64, 256, 1, 112};

/* The element of an input plane that place w of the window around a pixel is; beyond the edges 0. */
__host__ __device__ inline float pick(const float *plane, int pixel, int w, int side)
{
    int x = pixel % side + w % 3 - 1, y = pixel / side + w / 3 - 1;
    // finds: misaligned input (hidden)
    return x >= 0 && x < side && y >= 0 && y < side ? plane[y * side + x] : 0;
}

/* columns: for each input and place of the window a row of all pixels. */
__global__ void fill_columns(const float *in, float *columns, int side)
{
    int pixel = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y, n = side * side;
    if (pixel < n)
        // finds: misaligned input (hidden)
        columns[row * n + pixel] = pick(in + row / 9 * n, pixel, row % 9, side);
}

inline void launch_columns(const float *in, float *columns, shape s)
{
    fill_columns<<<dim3((s.pixels() + THREADS - 1) / THREADS, s.depth()), THREADS>>>(in, columns,
                                                                                     s.side);
}

inline void launch_weights(const float *weights, const float *columns, float *out, shape s)
{
    product<<<tiles(s.outputs, s.pixels()), threads()>>>(weights, columns, out, s.pixels(),
                                                         s.depth());
}

inline std::vector<float> make_weights(shape s, unsigned seed)
{
    std::vector<float> weights = numbers(static_cast<size_t>(s.outputs) * s.depth(), seed);
    for (float &w : weights)
        w /= 8;
    return weights;
}

/* An output of the first convolution for a pixel. */
inline float reference(const std::vector<float> &image, const std::vector<float> &weights,
                       int output, int pixel)
{
    double sum = 0;
    for (int row = 0; row < SPATIAL.depth(); row++)
        sum += static_cast<double>(weights[output * SPATIAL.depth() + row]) *
               pick(&image[row / 9 * SPATIAL.pixels()], pixel, row % 9, SPATIAL.side);
    return static_cast<float>(sum);
}

/* `both` takes an image through the two convolutions. Some pixels are checked. */
template <typename Both> int run_conv(int argc, char **argv, Both both)
{
    std::vector<float> image = numbers(static_cast<size_t>(SPATIAL.inputs) * SPATIAL.pixels(), 1);
    std::vector<float> first = make_weights(SPATIAL, 2), second = make_weights(POINTWISE, 3), got,
                       want;
    std::vector<float> results(static_cast<size_t>(POINTWISE.outputs) * POINTWISE.pixels());
    both(image, first, second, results.data(), !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (int pixel = 0; pixel < SPATIAL.pixels(); pixel += 555) {
        for (int output = 0; output < POINTWISE.outputs; output += 17) {
            double sum = 0;
            for (int i = 0; i < POINTWISE.inputs; i++)
                sum += static_cast<double>(second[output * POINTWISE.inputs + i]) *
                       reference(image, first, i, pixel);
            got.push_back(results[output * POINTWISE.pixels() + pixel]);
            want.push_back(static_cast<float>(sum));
        }
    }
    return verdict(got, want, 1e-3f);
}

/* Memory on the device for so many numbers, as long as it is there. */
class Tensor
{
  public:
    explicit Tensor(size_t count) : count_(count)
    {
        CHECK(cudaMalloc(&data_, count * sizeof(float)));
    }
    explicit Tensor(const std::vector<float> &from) : Tensor(from.size())
    {
        CHECK(cudaMemcpy(data_, from.data(), count_ * sizeof(float), cudaMemcpyHostToDevice));
    }
    Tensor(Tensor &&other) noexcept : data_(other.data_), count_(other.count_)
    {
        other.data_ = nullptr;
    }
    Tensor(const Tensor &) = delete;
    Tensor &operator=(const Tensor &) = delete;
    ~Tensor()
    {
        cudaFree(data_);
    }

    float *data() const
    {
        return data_;
    }
    void read(float *to) const
    {
        CHECK(cudaMemcpy(to, data_, count_ * sizeof(float), cudaMemcpyDeviceToHost));
    }

  private:
    float *data_ = nullptr;
    size_t count_;
};

#endif
