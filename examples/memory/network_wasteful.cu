/* Each layer gets all its arrays when the network is made, with gradients that only training would use, and weights
 * that are copied in once more before it runs. */
#include "network.h"

struct layer {
    float *weights_gpu, *output_gpu, *delta_gpu;
};

static void make_layer(layer &l, const std::vector<float> &weights, size_t count)
{
    CHECK(cudaMalloc(&l.weights_gpu, weights.size() * sizeof(float)));
    CHECK(cudaMemcpy(l.weights_gpu, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&l.output_gpu, count * sizeof(float)));
    CHECK(cudaMalloc(&l.delta_gpu, count * sizeof(float)));
}

static void push_weights(const layer &l, const std::vector<float> &weights)
{
    CHECK(cudaMemcpy(l.weights_gpu, weights.data(), weights.size() * sizeof(float), cudaMemcpyHostToDevice));
}

static void free_layer(const layer &l)
{
    CHECK(cudaFree(l.weights_gpu));
    CHECK(cudaFree(l.output_gpu));
    CHECK(cudaFree(l.delta_gpu));
}

int main(int argc, char **argv)
{
    return run_network(argc, argv, [](const float *image, const std::vector<std::vector<float>> &weights,
                                      float *results, int side, bool launch) {
        size_t count = static_cast<size_t>(CHANNELS) * side * side, bytes = count * sizeof(float);
        std::vector<layer> layers(LAYERS);
        float *input_gpu;
        for (int i = 0; i < LAYERS; i++)
            // finds: dead-write layers[i].weights_gpu, early-allocation layers[i].output_gpu, late-deallocation layers[i].output_gpu, redundant-allocation layers[i].output_gpu, unused-allocation layers[i].delta_gpu
            make_layer(layers[i], weights[i], count);
        for (int i = 0; i < LAYERS; i++)
            push_weights(layers[i], weights[i]);
        CHECK(cudaMalloc(&input_gpu, bytes)); // finds: late-deallocation input_gpu
        CHECK(cudaMemcpy(input_gpu, image, bytes, cudaMemcpyHostToDevice));
        for (int i = 0; i < LAYERS; i++) {
            float *in = i ? layers[i - 1].output_gpu : input_gpu;
            if (launch)
                forward<<<blocks_of(side), dim3(WIDE, HIGH)>>>(in, layers[i].weights_gpu, layers[i].output_gpu, side);
        }
        CHECK(cudaMemcpy(results, layers[LAYERS - 1].output_gpu, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(input_gpu));
        for (const layer &l : layers)
            free_layer(l);
    });
}
