/* Each layer gets its weights once, and its output when it runs; what it was made of is freed then. */
#include "network.h"

struct layer {
    float *weights_gpu, *output_gpu;
};

static void make_layer(layer &l, const std::vector<float> &weights)
{
    CHECK(cudaMalloc(&l.weights_gpu, weights.size() * sizeof(float)));
}

static void push_weights(const layer &l, const std::vector<float> &weights)
{
    CHECK(cudaMemcpy(l.weights_gpu, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
}

int main(int argc, char **argv)
{
    return run_network(argc, argv, [](const float *image, const std::vector<std::vector<float>> &weights,
                                      float *results, int side, bool launch) {
        size_t count = static_cast<size_t>(CHANNELS) * side * side, bytes = count * sizeof(float);
        std::vector<layer> layers(LAYERS);
        float *input_gpu;
        for (int i = 0; i < LAYERS; i++)
            make_layer(layers[i], weights[i]);
        for (int i = 0; i < LAYERS; i++)
            push_weights(layers[i], weights[i]);
        CHECK(cudaMalloc(&input_gpu, bytes));
        CHECK(cudaMemcpy(input_gpu, image, bytes, cudaMemcpyHostToDevice));
        for (int i = 0; i < LAYERS; i++) {
            float *in = i ? layers[i - 1].output_gpu : input_gpu;
            CHECK(cudaMalloc(&layers[i].output_gpu, bytes));
            if (launch)
                forward<<<blocks_of(side), dim3(WIDE, HIGH)>>>(in, layers[i].weights_gpu, layers[i].output_gpu, side);
            CHECK(cudaFree(in));
        }
        CHECK(cudaMemcpy(results, layers[LAYERS - 1].output_gpu, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(layers[LAYERS - 1].output_gpu));
        for (const layer &l : layers)
            CHECK(cudaFree(l.weights_gpu));
    });
}
