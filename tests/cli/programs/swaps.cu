/* Loops of compare and swap on one word, on words of their own, and that keep the larger value; and managed memory. */
#include "common.h"

__global__ void add(unsigned *word)
{
    unsigned was, old = *word;
    do {
        was = old;
        old = atomicCAS(word, was, was + 1);
    } while (old != was);
}

__global__ void add_apart(unsigned *words)
{
    unsigned *word = words + threadIdx.x * 8, was, old = *word;
    do {
        was = old;
        old = atomicCAS(word, was, was + 1);
    } while (old != was);
}

__global__ void keep_larger(unsigned *word)
{
    unsigned was, old = *word;
    do {
        was = old;
        old = atomicCAS(word, was, max(was, threadIdx.x));
    } while (old != was);
}

__global__ void lock_once(unsigned *word)
{
    atomicCAS(word, 0, 1);
}

__global__ void fill(unsigned *words)
{
    words[threadIdx.x] = 1;
}

int main()
{
    unsigned *words, *managed;
    CHECK(cudaMalloc(&words, 4096));
    CHECK(cudaMemset(words, 0, 4096));
    CHECK(cudaMallocManaged(&managed, 4096));
    add<<<1, 64>>>(words);
    add_apart<<<1, 64>>>(words);
    keep_larger<<<1, 64>>>(words + 1023);
    lock_once<<<1, 64>>>(words);
    fill<<<1, 64>>>(managed);
    fill<<<1, 64>>>(words);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
