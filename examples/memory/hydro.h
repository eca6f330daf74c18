/* A step of a gas on a square grid that wraps around: the velocity's changes at points of each zone, the stress that
 * follows from them, and the pressure, by conjugate gradients. */
#ifndef HYDRO_H
#define HYDRO_H

#include "../common/example.h"

constexpr int POINTS = 2, TURNS = 8, THREADS = 256, BLOCKS = 264;

/* The next zone of the row, and of the column. */
__host__ __device__ inline int right_of(int zone, int side)
{
    return zone % side == side - 1 ? zone - side + 1 : zone + 1;
}

__host__ __device__ inline int below(int zone, int side)
{
    return zone + side < side * side ? zone + side : zone + side - side * side;
}

__host__ __device__ inline float at_point(float change, int point)
{
    return change * (point ? 0.75f : 0.25f);
}

/* What a zone exchanges with the next one. */
__host__ __device__ inline float exchange_of(float change)
{
    return 0.1f + change * change;
}

/* q_dx, q_dy: how the velocity changes along the row and the column, all zones' first points first. */
__global__ void make_points(const float *v, float *q_dx, float *q_dy, int side)
{
    int zone = blockIdx.x * blockDim.x + threadIdx.x, n = side * side;
    if (zone >= n)
        return;
    // finds: misaligned v (hidden)
    float across = v[right_of(zone, side)] - v[zone], down = v[below(zone, side)] - v[zone];
    for (int p = 0; p < POINTS; p++) {
        q_dx[p * n + zone] = at_point(across, p);
        q_dy[p * n + zone] = at_point(down, p);
    }
}

/* The stress of each zone, and what it exchanges. */
__global__ void update_quadrature(const float *q_dx, const float *q_dy, float *stress, float *k_x,
                                  float *k_y, int n)
{
    int zone = blockIdx.x * blockDim.x + threadIdx.x;
    if (zone >= n)
        return;
    float x = q_dx[zone] + q_dx[n + zone], y = q_dy[zone] + q_dy[n + zone];
    stress[zone] = x * y;
    k_x[zone] = exchange_of(x);
    k_y[zone] = exchange_of(y);
}

/* What flows out of each zone; the system's matrix, times d. */
__global__ void apply(const float *d, const float *k_x, const float *k_y, float *out, int side)
{
    int zone = blockIdx.x * blockDim.x + threadIdx.x, n = side * side;
    if (zone >= n)
        return;
    int left = zone % side ? zone - 1 : zone + side - 1,
        above = zone >= side ? zone - side : zone - side + n;
    // finds: misaligned d (hidden)
    float sum = d[zone] + k_x[zone] * (d[zone] - d[right_of(zone, side)]) +
                k_y[zone] * (d[zone] - d[below(zone, side)]);
    // finds: misaligned d (hidden), misaligned k_x (hidden)
    out[zone] = sum + k_x[left] * (d[zone] - d[left]) + k_y[above] * (d[zone] - d[above]);
}

/* y = x * a + y * b. */
__global__ void combine(const float *x, float a, float *y, float b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * a + y[i] * b;
}

/* Each block's part of the scalar product. */
__global__ void multiply(const float *x, const float *y, float *parts, int n)
{
    __shared__ float sums[THREADS];
    float sum = 0;
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        sum += x[i] * y[i];
    sums[threadIdx.x] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            // finds: divergent sums (hidden)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        parts[blockIdx.x] = sums[0];
}

inline int blocks_of(int n)
{
    return (n + THREADS - 1) / THREADS;
}

inline float product_of(const float *x, const float *y, float *parts, int n)
{
    float host[BLOCKS];
    double sum = 0;
    multiply<<<BLOCKS, THREADS>>>(x, y, parts, n);
    CHECK(cudaMemcpy(host, parts, sizeof host, cudaMemcpyDeviceToHost));
    for (float part : host)
        sum += part;
    return static_cast<float>(sum);
}

/* From p = 0, with the stress as what is left (r), and as the first direction d. */
inline void solve(float *p, float *r, float *d, float *Ad, const float *k_x, const float *k_y,
                  float *parts, int side)
{
    int n = side * side;
    float rest = product_of(r, r, parts, n);
    for (int i = 0; i < TURNS; i++) {
        apply<<<blocks_of(n), THREADS>>>(d, k_x, k_y, Ad, side);
        float step = rest / product_of(d, Ad, parts, n);
        combine<<<blocks_of(n), THREADS>>>(d, step, p, 1, n);
        combine<<<blocks_of(n), THREADS>>>(Ad, -step, r, 1, n);
        float left = product_of(r, r, parts, n);
        combine<<<blocks_of(n), THREADS>>>(r, 1, d, left / rest, n);
        rest = left;
    }
}

/* How far A p is from the stress that follows from v, against it. */
inline double residual(const std::vector<float> &v, const std::vector<float> &p, int side)
{
    int n = side * side;
    std::vector<double> sums(n);
    double rest = 0, all = 0;
    for (int zone = 0; zone < n; zone++) {
        int right = right_of(zone, side), down = below(zone, side);
        float x = v[right] - v[zone], y = v[down] - v[zone];
        double flow_x = exchange_of(x) * (p[zone] - p[right]),
               flow_y = exchange_of(y) * (p[zone] - p[down]);
        sums[zone] += p[zone] + flow_x + flow_y - x * y;
        sums[right] -= flow_x;
        sums[down] -= flow_y;
        all += x * y * x * y;
    }
    for (double s : sums)
        rest += s * s;
    return std::sqrt(rest / all);
}

/* `step` takes the velocities to the pressures. */
template <typename Step> int run_hydro(int argc, char **argv, Step step)
{
    int side = size_argument(argc, argv, 512);
    std::vector<float> v = numbers(static_cast<size_t>(side) * side, 1), p(v.size());
    for (float &x : v)
        x /= 2;
    step(v.data(), p.data(), side, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    return verdict({static_cast<float>(residual(v, p, side))}, {0}, 2e-3f);
}

#endif
