/* Breadth-first search with a queue of vertices, a launch a level. The graph has SIZE vertices, each with one edge to its
 * successor and DEGREE - 1 to random vertices. */
#include "common.cuh"

constexpr int DEGREE = 8;

/* The order in which vertices enter the queue varies from run to run, their levels do not. */
__global__ void bfs_expand(const int *edges, int *levels, const int *queue, int length, int *next, int *next_length, int level)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= length)
        return;
    int vertex = queue[i];
    for (int e = 0; e < DEGREE; e++) {
        int target = edges[vertex * DEGREE + e];
        if (atomicCAS(&levels[target], -1, level + 1) == -1)
            next[atomicAdd(next_length, 1)] = target;
    }
}

static std::vector<int> search(const std::vector<int> &edges, int vertices)
{
    std::vector<int> levels(vertices, -1), queue(1, 0);
    levels[0] = 0;
    for (size_t i = 0; i < queue.size(); i++) {
        for (int e = 0; e < DEGREE; e++) {
            int target = edges[queue[i] * DEGREE + e];
            if (levels[target] < 0) {
                levels[target] = levels[queue[i]] + 1;
                queue.push_back(target);
            }
        }
    }
    return levels;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 20);
    int vertices = bench.size;
    Random random(5);
    std::vector<int> edges(static_cast<size_t>(vertices) * DEGREE), unseen(vertices, -1), want;
    for (size_t i = 0; i < edges.size(); i++)
        edges[i] = i % DEGREE ? static_cast<int>(random.below(vertices)) : static_cast<int>((i / DEGREE + 1) % vertices);
    unseen[0] = 0;
    Array<int> d_edges(edges), d_unseen(unseen), d_levels(vertices), d_a(vertices), d_b(vertices), d_length(1);
    bench.rounds([&] {
        int *queue = d_a, *next = d_b;
        d_levels.copy(d_unseen);
        CUDA(cudaMemset(queue, 0, sizeof(int)));
        for (int length = 1, level = 0; length > 0; level++) {
            d_length.clear();
            bench.time("bfs_expand", [&] {
                bfs_expand<<<blocks_for(length, 256), 256>>>(d_edges, d_levels, queue, length, next, d_length, level);
            });
            length = d_length.host()[0];
            std::swap(queue, next);
        }
    });
    if (bench.check)
        want = search(edges, vertices);
    bench.expect("levels", bench.result("levels", d_levels), want);
    return bench.done();
}
