/* Every convolution gets columns, also where the input serves as such, and what the first one was made of stays to
 * the end. */
#include "conv.h"

static Tensor convolve(const Tensor &in, const Tensor &weights, shape s, bool launch)
{
    Tensor out(static_cast<size_t>(s.outputs) * s.pixels());
    Tensor columns(static_cast<size_t>(s.depth()) * s.pixels()); // finds: unused-allocation columns
    bool requires_columns = s.window > 1;
    if (launch && requires_columns)
        launch_columns(in.data(), columns.data(), s);
    if (launch)
        launch_weights(weights.data(), requires_columns ? columns.data() : in.data(), out.data(), s);
    return out;
}

int main(int argc, char **argv)
{
    return run_conv(argc, argv, [](const std::vector<float> &image, const std::vector<float> &first,
                                   const std::vector<float> &second, float *results, bool launch) {
        Tensor input(image), weights1(first), weights2(second); // finds: late-deallocation input, late-deallocation weights1
        Tensor middle = convolve(input, weights1, SPATIAL, launch);
        Tensor output = convolve(middle, weights2, POINTWISE, launch);
        output.read(results);
    });
}
