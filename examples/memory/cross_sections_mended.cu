/* Only the energies that particles have are on the device, and all is freed. */
#include "cross_sections.h"

int main(int argc, char **argv)
{
    return run_cross_sections(argc, argv, [](const tables &t, const std::vector<particle> &particles, float *results,
                                             int rows, bool launch) {
        int count = static_cast<int>(particles.size());
        size_t bytes_of_particles = count * sizeof(particle), bytes_of_points = t.points.size() * sizeof(point);
        size_t bytes_of_energies = rows * sizeof(float), bytes_of_grid = static_cast<size_t>(rows) * NUCLIDES * sizeof(int);
        size_t bytes_of_concs = t.concs.size() * sizeof(float);
        particle *d_particles;
        point *d_points;
        int *index_grid;
        float *energies, *concs, *d_results;
        CHECK(cudaMalloc(&d_particles, bytes_of_particles));
        CHECK(cudaMalloc(&energies, bytes_of_energies));
        CHECK(cudaMalloc(&d_points, bytes_of_points));
        CHECK(cudaMalloc(&index_grid, bytes_of_grid));
        CHECK(cudaMalloc(&concs, bytes_of_concs));
        CHECK(cudaMalloc(&d_results, count * sizeof(float)));
        CHECK(cudaMemcpy(d_particles, particles.data(), bytes_of_particles, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(energies, t.energies.data(), bytes_of_energies, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(d_points, t.points.data(), bytes_of_points, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(index_grid, t.index_grid.data(), bytes_of_grid, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(concs, t.concs.data(), bytes_of_concs, cudaMemcpyHostToDevice));
        if (launch)
            look_up<<<(count + THREADS - 1) / THREADS, THREADS>>>(d_particles, energies, d_points, index_grid, concs,
                                                                   d_results, rows, count);
        CHECK(cudaMemcpy(results, d_results, count * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK(cudaFree(d_particles));
        CHECK(cudaFree(energies));
        CHECK(cudaFree(d_points));
        CHECK(cudaFree(index_grid));
        CHECK(cudaFree(concs));
        CHECK(cudaFree(d_results));
    });
}
