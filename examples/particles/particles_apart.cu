/* Each number of all particles is an array. */
#include "particles.h"

__global__ void move(float *x, const float *vx, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n)
        x[i] += 2 * vx[i];
}

int main(int argc, char **argv)
{
    return run_particles(
        argc, argv, [](int field, int i, int n) { return static_cast<size_t>(field) * n + i; },
        [](float *particles, int n) {
            move<<<(n + THREADS - 1) / THREADS, THREADS>>>(particles + X * n, particles + VX * n, n);
        });
}
