/* Poses of a small molecule in a protein's field: each run has a population of poses, and a block lets one of them
 * search for a lower energy. */
#ifndef DOCKING_H
#define DOCKING_H

#include "../common/example.h"

constexpr int MAX_NUM_OF_RUNS = 64, MAX_POPSIZE = 256, GENOTYPE_LENGTH_IN_GLOBMEM = 64;
constexpr int RUNS = 8, POPSIZE = 150, ATOMS = 32, KINDS = 4, SIDE = 48, TRIES = 6;
constexpr int GENES = 6; /* of the genotype: where it is, and its turns */

struct place {
    float x, y, z;
};

__host__ __device__ inline float inside(float x)
{
    return x < 0 ? 0 : x > SIDE - 1.001f ? SIDE - 1.001f : x;
}

/* Where atom i of the pose is: the molecule is a coil that two turns put askew. */
__host__ __device__ inline place atom_of(const float *genes, int i)
{
    float t = static_cast<float>(i) / ATOMS, x = 6 * t - 3, y = (i % 5 - 2) * 1.5f,
          z = (i % 3 - 1) * 2.0f;
    float across = x * genes[3] - y * genes[4], up = x * genes[4] + y * genes[3];
    return {inside(genes[0] + across), inside(genes[1] + up), inside(genes[2] + z * genes[5])};
}

/* Between the field's eight values around the place. */
__host__ __device__ inline float energy_at(const float *field, place p)
{
    int x = static_cast<int>(p.x), y = static_cast<int>(p.y), z = static_cast<int>(p.z);
    float fx = p.x - static_cast<float>(x), fy = p.y - static_cast<float>(y),
          fz = p.z - static_cast<float>(z), sum = 0;
    for (int corner = 0; corner < 8; corner++) {
        int dx = corner & 1, dy = corner >> 1 & 1, dz = corner >> 2;
        sum += (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy) * (dz ? fz : 1 - fz) *
               // finds: uncoalesced pMem_fields
               field[((z + dz) * SIDE + y + dy) * SIDE + x + dx];
    }
    return sum;
}

__host__ __device__ inline float energy_of_atom(const float *genes, const float *fields, int i)
{
    return energy_at(fields + i % KINDS * SIDE * SIDE * SIDE, atom_of(genes, i));
}

__device__ inline float energy_of_pose(const float *genes, const float *fields)
{
    float sum = energy_of_atom(genes, fields, threadIdx.x);
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, d);
    return sum;
}

/* One warp a pose: it moves at random, and stays where the energy is lower. */
__global__ void dock(float *conformations, float *energies, const float *fields)
{
    __shared__ float genes[GENES];
    float *pose = conformations + blockIdx.x * GENOTYPE_LENGTH_IN_GLOBMEM;
    unsigned lane = threadIdx.x, seed = blockIdx.x * 977 + lane;
    float own = pose[lane], upper = pose[lane + ATOMS], next = own;
    float best = 0;
    for (int turn = 0; turn <= TRIES; turn++) {
        if (lane < GENES)
            // finds: shared-warp-local genes (hidden)
            genes[lane] = next;
        __syncwarp();
        float energy = energy_of_pose(genes, fields);
        if (turn == 0 || energy < best) {
            best = energy;
            own = next;
        }
        seed = seed * 1664525u + 1013904223u;
        next = own + (static_cast<float>(seed >> 20) / 2048.0f - 1.0f) * 0.5f;
        __syncwarp();
    }
    pose[lane] = lane < GENES ? own : best;
    pose[lane + ATOMS] = upper;
    if (lane == 0)
        energies[blockIdx.x] = best;
}

inline std::vector<float> make_poses()
{
    std::vector<float> poses = numbers(static_cast<size_t>(RUNS) * POPSIZE *
                                           GENOTYPE_LENGTH_IN_GLOBMEM,
                                       1);
    for (size_t i = 0; i < poses.size(); i++)
        if (i % GENOTYPE_LENGTH_IN_GLOBMEM < 3)
            poses[i] = (poses[i] + 1) / 2 * SIDE;
    return poses;
}

inline float energy_on_host(const float *genes, const std::vector<float> &fields)
{
    float sum = 0;
    for (int i = 0; i < ATOMS; i++)
        sum += energy_of_atom(genes, fields.data(), i);
    return sum;
}

/* `all` docks the poses in place. They have the energies that it says, and none has more than before. */
template <typename All> int run_docking(int argc, char **argv, All all)
{
    std::vector<float> fields = numbers(static_cast<size_t>(KINDS) * SIDE * SIDE * SIDE, 2),
                       before = make_poses();
    std::vector<float> poses = before, energies(RUNS * POPSIZE), got, want;
    all(poses, energies, fields, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (int i = 0; i < RUNS * POPSIZE; i++) {
        float old = energy_on_host(&before[i * GENOTYPE_LENGTH_IN_GLOBMEM], fields);
        want.push_back(energy_on_host(&poses[i * GENOTYPE_LENGTH_IN_GLOBMEM], fields));
        got.push_back(energies[i]);
        want.push_back(0);
        got.push_back(std::fmax(energies[i] - old - 1e-3f, 0.0f));
    }
    return verdict(got, want, 1e-3f);
}

#endif
