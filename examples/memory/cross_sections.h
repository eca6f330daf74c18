/* Cross sections for particles of random energies in random materials: of each nuclide of the material, an
 * interpolation between two of its grid points, to which a grid of all energies leads. The particles are slow, so
 * that the lowest energies are all they need. */
#ifndef CROSS_SECTIONS_H
#define CROSS_SECTIONS_H

#include "../common/example.h"

#include <algorithm>

constexpr int NUCLIDES = 32, POINTS = 512, ENERGIES = NUCLIDES * POINTS, KINDS = 5, MATERIALS = 512,
              THREADS = 128;
constexpr float SLOW = 0.05f; /* of the energies, which reach to 1 */

struct point { /* of a nuclide's grid */
    float energy, sections[KINDS];
};

struct particle {
    float energy;
    int material;
};

struct tables {
    std::vector<float> energies; /* of all nuclides' points, ascending */
    std::vector<point> points;   /* by nuclide */
    std::vector<int> index_grid; /* by energy and nuclide: the last point that is not above */
    std::vector<float> concs;    /* by material and nuclide; 0: not in it */
};

/* The last energy that is not above, of the first `rows`. */
__host__ __device__ inline int find_row(const float *energies, int rows, float energy)
{
    int low = 0, high = rows;
    while (low < high) {
        int middle = (low + high) / 2;
        // finds: hot-random energies (hidden)
        if (energies[middle] <= energy)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? low - 1 : 0;
}

/* What one nuclide adds: all kinds together. */
__host__ __device__ inline float add_up(const point &low, const point &high, float energy)
{
    // finds: uncoalesced d_points
    float part = (energy - low.energy) / (high.energy - low.energy), sum = 0;
    for (int k = 0; k < KINDS; k++)
        // finds: uncoalesced d_points
        sum += low.sections[k] + part * (high.sections[k] - low.sections[k]);
    return sum;
}

__host__ __device__ inline float section_of(particle p, const float *energies, const point *points,
                                            const int *index_grid, const float *concs, int rows)
{
    int row = find_row(energies, rows, p.energy);
    float sum = 0;
    for (int nuclide = 0; nuclide < NUCLIDES; nuclide++) {
        // finds: uncoalesced concs
        float conc = concs[p.material * NUCLIDES + nuclide];
        if (conc == 0)
            continue;
        // finds: uncoalesced index_grid
        const point *low = &points[nuclide * POINTS + index_grid[row * NUCLIDES + nuclide]];
        // finds: uncoalesced d_points
        sum += conc * add_up(low[0], low[1], p.energy);
    }
    return sum;
}

/* The energies of all nuclides' grids, and which point of each is below. Every grid reaches from about 0 to 1. */
inline tables make_tables()
{
    tables t;
    std::vector<float> random = numbers(ENERGIES * (KINDS + 1), 1);
    for (int i = 0; i < ENERGIES; i++) {
        int at = i % POINTS, nuclide = i / POINTS;
        float between = (static_cast<float>(nuclide) + 0.5f) / NUCLIDES;
        point p = {at == 0            ? 1e-6f * static_cast<float>(nuclide)
                   : at == POINTS - 1 ? 1
                                      : (static_cast<float>(at) + between - 0.5f) / (POINTS - 1),
                   {}};
        for (int k = 0; k < KINDS; k++)
            p.sections[k] = random[i * KINDS + k] + 1.5f;
        t.points.push_back(p);
        t.energies.push_back(p.energy);
    }
    std::sort(t.energies.begin(), t.energies.end());
    t.index_grid.resize(static_cast<size_t>(ENERGIES) * NUCLIDES);
    std::vector<int> last(NUCLIDES);
    for (int row = 0; row < ENERGIES; row++)
        for (int n = 0; n < NUCLIDES; n++) {
            while (last[n] + 2 < POINTS &&
                   t.points[n * POINTS + last[n] + 1].energy <= t.energies[row])
                last[n]++;
            t.index_grid[row * NUCLIDES + n] = last[n];
        }
    for (int i = 0; i < MATERIALS * NUCLIDES; i++) /* the first has all nuclides, the others some */
        t.concs.push_back(i < NUCLIDES || i % 7 == 0 ? 0.1f + 0.01f * static_cast<float>(i % 13)
                                                     : 0);
    return t;
}

inline std::vector<particle> make_particles(int count)
{
    std::vector<particle> particles = {{SLOW, 0}, {0, 0}};
    std::vector<float> random = numbers(count, 3);
    for (int i = 2; i < count; i++)
        particles.push_back({(random[i] + 1) / 2 * SLOW, i % MATERIALS});
    return particles;
}

/* How many of the energies particles need. */
inline int rows_of(const tables &t)
{
    return static_cast<int>(std::upper_bound(t.energies.begin(), t.energies.end(), SLOW) -
                            t.energies.begin());
}

__global__ __launch_bounds__(THREADS) void look_up(const particle *particles, const float *energies,
                                                   const point *points, const int *index_grid,
                                                   const float *concs, float *results, int rows,
                                                   int count)
{
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < count)
        // finds: uncoalesced d_particles (hidden)
        results[i] = section_of(particles[i], energies, points, index_grid, concs, rows);
}

/* `all` finds the sections of all particles. */
template <typename All> int run_cross_sections(int argc, char **argv, All all)
{
    int count = size_argument(argc, argv, 100000);
    tables t = make_tables();
    std::vector<particle> particles = make_particles(count);
    std::vector<float> got(count), want(count);
    all(t, particles, got.data(), rows_of(t), !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (int i = 0; i < count; i++)
        want[i] = section_of(particles[i], t.energies.data(), t.points.data(), t.index_grid.data(),
                             t.concs.data(), ENERGIES);
    return verdict(got, want, 1e-3f);
}

#endif
