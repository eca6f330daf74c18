/* Columns are there where a convolution needs them, and what the first one was made of is freed after it. */
#include "conv.h"

static Tensor convolve(const Tensor &in, const Tensor &weights, shape s, bool launch)
{
    Tensor out(static_cast<size_t>(s.outputs) * s.pixels());
    bool requires_columns = s.window > 1;
    Tensor columns(requires_columns ? static_cast<size_t>(s.depth()) * s.pixels() : 0);
    if (launch && requires_columns)
        launch_columns(in.data(), columns.data(), s);
    if (launch)
        launch_weights(weights.data(), requires_columns ? columns.data() : in.data(), out.data(), s);
    return out;
}

static Tensor make_middle(const std::vector<float> &image, const std::vector<float> &first, bool launch)
{
    Tensor input(image), weights1(first);
    return convolve(input, weights1, SPATIAL, launch);
}

int main(int argc, char **argv)
{
    return run_conv(argc, argv, [](const std::vector<float> &image, const std::vector<float> &first,
                                   const std::vector<float> &second, float *results, bool launch) {
        Tensor middle = make_middle(image, first, launch), weights2(second);
        Tensor output = convolve(middle, weights2, POINTWISE, launch);
        output.read(results);
    });
}
