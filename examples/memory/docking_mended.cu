/* Memory for the poses that there are. */
#include "docking.h"

int main(int argc, char **argv)
{
    return run_docking(argc, argv, [](std::vector<float> &poses, std::vector<float> &energies,
                                      const std::vector<float> &fields, bool launch) {
        size_t used = poses.size() * sizeof(float), bytes_of_energies = energies.size() * sizeof(float);
        size_t size_population = RUNS * POPSIZE * GENOTYPE_LENGTH_IN_GLOBMEM * sizeof(float);
        size_t size_energies = RUNS * POPSIZE * sizeof(float), bytes_of_fields = fields.size() * sizeof(float);
        float *pMem_conformations, *pMem_energies, *pMem_fields;
        CHECK(cudaMalloc(&pMem_conformations, size_population));
        CHECK(cudaMalloc(&pMem_energies, size_energies));
        CHECK(cudaMalloc(&pMem_fields, bytes_of_fields));
        CHECK(cudaMemcpy(pMem_conformations, poses.data(), used, cudaMemcpyHostToDevice));
        CHECK(cudaMemcpy(pMem_fields, fields.data(), bytes_of_fields, cudaMemcpyHostToDevice));
        if (launch)
            dock<<<RUNS * POPSIZE, ATOMS>>>(pMem_conformations, pMem_energies, pMem_fields);
        CHECK(cudaMemcpy(poses.data(), pMem_conformations, used, cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(energies.data(), pMem_energies, bytes_of_energies, cudaMemcpyDeviceToHost));
        CHECK(cudaFree(pMem_conformations));
        CHECK(cudaFree(pMem_energies));
        CHECK(cudaFree(pMem_fields));
    });
}
