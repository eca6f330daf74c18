/* Moves particles along x; each is a record of eight numbers. Data, launch and check. */
#ifndef PARTICLES_H
#define PARTICLES_H

#include "../common/example.h"

constexpr int THREADS = 256; // of a block
enum { X, Y, Z, MASS, VX, VY, VZ, AGE, FIELDS };

/* Field f of particle i lies at place(f, i, n). */
template <typename Place, typename Launch>
int run_particles(int argc, char **argv, Place place, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    std::vector<float> all = numbers(static_cast<size_t>(n) * FIELDS, 1), got(all.size()),
                       want(all);
    float *d_particles;
    CHECK(cudaMalloc(&d_particles, all.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_particles, all.data(), all.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(d_particles, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_particles, all.size() * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_particles));
    for (int i = 0; i < n; i++)
        want[place(X, i, n)] += 2 * all[place(VX, i, n)];
    return verdict(got, want, 0);
}

#endif
