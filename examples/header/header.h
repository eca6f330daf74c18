/* Scales a message's numbers; its length stands before them. Data, launch and check. */
#ifndef HEADER_H
#define HEADER_H

#include "../common/example.h"

constexpr int THREADS = 256; // of a block

__global__ void scale(float *numbers, float factor, int count);

/* `free`: bytes of the message's memory before its length. */
inline int run_header(int argc, char **argv, size_t free)
{
    int count = size_argument(argc, argv, 1 << 20);
    std::vector<float> message = numbers(count + 1, 1), got(count + 1), want(message);
    std::memcpy(message.data(), &count, sizeof count);
    std::memcpy(want.data(), &count, sizeof count);
    size_t bytes = message.size() * sizeof(float);
    char *d_message;
    CHECK(cudaMalloc(&d_message, free + bytes));
    CHECK(cudaMemcpy(d_message + free, message.data(), bytes, cudaMemcpyHostToDevice));
    float *d_numbers = reinterpret_cast<float *>(d_message + free) + 1;
    if (!skip_kernel(argc, argv))
        scale<<<(count + THREADS - 1) / THREADS, THREADS>>>(d_numbers, 3, count);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_message + free, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_message));
    for (int i = 1; i <= count; i++)
        want[i] = message[i] * 3;
    got[0] = want[0]; // no number
    return verdict(got, want, 0);
}

#endif
