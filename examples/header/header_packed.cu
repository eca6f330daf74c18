/* The message begins where its memory does, so that its numbers begin a word later, off the sector boundary. */
#include "header.h"

__global__ void scale(float *numbers, float factor, int count)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        numbers[i] *= factor; // finds: misaligned d_message (hidden)
    // advises: Leave 124 bytes free before d_message
}

int main(int argc, char **argv)
{
    return run_header(argc, argv, 0);
}
