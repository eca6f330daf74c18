/* What the points of the zones hold is freed when the stress is made of it. */
#include "hydro.h"

int main(int argc, char **argv)
{
    return run_hydro(argc, argv, [](const float *velocity, float *pressure, int side, bool launch) {
        int n = side * side;
        size_t bytes = n * sizeof(float);
        float *v, *q_dx, *q_dy, *stress, *k_x, *k_y, *p, *d, *Ad, *parts;
        CHECK(cudaMalloc(&v, bytes));
        CHECK(cudaMalloc(&q_dx, POINTS * bytes));
        CHECK(cudaMalloc(&q_dy, POINTS * bytes));
        CHECK(cudaMalloc(&k_x, bytes));
        CHECK(cudaMalloc(&k_y, bytes));
        CHECK(cudaMemcpy(v, velocity, bytes, cudaMemcpyHostToDevice));
        if (launch)
            make_points<<<blocks_of(n), THREADS>>>(v, q_dx, q_dy, side);
        CHECK(cudaFree(v));
        CHECK(cudaMalloc(&stress, bytes));
        if (launch)
            update_quadrature<<<blocks_of(n), THREADS>>>(q_dx, q_dy, stress, k_x, k_y, n);
        CHECK(cudaFree(q_dx));
        CHECK(cudaFree(q_dy));
        CHECK(cudaMalloc(&p, bytes));
        CHECK(cudaMalloc(&d, bytes));
        CHECK(cudaMalloc(&Ad, bytes));
        CHECK(cudaMalloc(&parts, BLOCKS * sizeof(float)));
        CHECK(cudaMemset(p, 0, bytes));
        CHECK(cudaMemcpy(d, stress, bytes, cudaMemcpyDeviceToDevice));
        if (launch)
            solve(p, stress, d, Ad, k_x, k_y, parts, side);
        CHECK(cudaMemcpy(pressure, p, bytes, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(stress));
        CHECK(cudaFree(k_x));
        CHECK(cudaFree(k_y));
        CHECK(cudaFree(p));
        CHECK(cudaFree(d));
        CHECK(cudaFree(Ad));
        CHECK(cudaFree(parts));
    });
}
