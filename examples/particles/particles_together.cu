/* The numbers of a particle lie side by side: two of eight words that move are used. */
#include "particles.h"

__global__ void move(float *particles, int n)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n)
        return;
    float speed = particles[i * FIELDS + VX];  // finds: strided d_particles
    particles[i * FIELDS + X] += 2 * speed;    // finds: strided d_particles
    // advises: of every 32 bytes the kernel uses 8
}

int main(int argc, char **argv)
{
    return run_particles(
        argc, argv, [](int field, int i, int) { return static_cast<size_t>(i) * FIELDS + field; },
        [](float *particles, int n) { move<<<(n + THREADS - 1) / THREADS, THREADS>>>(particles, n); });
}
