// Objects that end in each way, and memory from pools; told apart by their sizes in KiB.
#include "common.h"

static char *allocate(int kib)
{
    char *data;
    CHECK(cudaMalloc(&data, kib * 1024));
    return data;
}

static cudaMemPool_t create_pool()
{
    cudaMemPoolProps props = {};
    cudaMemPool_t pool;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props));
    return pool;
}

static void use_pools()
{
    void *of_default, *of_first, *of_second;
    cudaMemPool_t pool = create_pool();
    CHECK(cudaMallocAsync(&of_default, 2 * 1024, 0));
    CHECK(cudaMallocFromPoolAsync(&of_first, 3 * 1024, pool, 0));
    CHECK(cudaFreeAsync(of_default, 0));
    CHECK(cudaFreeAsync(of_first, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaMemPoolDestroy(pool));
    pool = create_pool(); // perhaps where the first one was
    CHECK(cudaMallocFromPoolAsync(&of_second, 4 * 1024, pool, 0));
    CHECK(cudaFreeAsync(of_second, 0));
    CHECK(cudaDeviceSynchronize());
}

__global__ void cut(char **kept)
{
    char *shortly = static_cast<char *>(malloc(10 * 1024));
    char *longer = static_cast<char *>(malloc(11 * 1024));
    shortly[0] = 'a';
    longer[0] = shortly[0];
    free(shortly);
    kept[blockIdx.x] = longer;
}

__global__ void give_back(char **kept)
{
    free(kept[0]);
}

__global__ void litter()
{
    malloc(12 * 1024);
}

static void use_heap()
{
    char **kept = reinterpret_cast<char **>(allocate(7));
    cut<<<2, 1>>>(kept);
    give_back<<<1, 1>>>(kept);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(kept));
}

int main()
{
    CHECK(cudaFree(filled(256, 1)));
    use_pools();
    use_heap();
    allocate(5);
    CHECK(cudaDeviceReset());
    allocate(6);
    litter<<<300, 2>>>();
    CHECK(cudaDeviceSynchronize());
    std::printf("done\n");
}
