// A kernel whose every access follows from data, launched nine times: all alike, or, with an argument, each with shared memory of
// another size; a second argument is the number of blocks, each with a list of its own.
#include <cstdio>
#include <cstdlib>

struct cell {
    cell *next;
    int value;
};

__global__ void link(cell *cells, cell **first, int n)
{
    cells += blockIdx.x * n;
    for (int i = 0; i < n; i++) {
        cells[i].next = i + 1 < n ? &cells[i + 1] : nullptr;
        cells[i].value = 0;
    }
    first[blockIdx.x] = cells;
}

__global__ void chase(cell **first)
{
    first += blockIdx.x;
    for (cell *c = *first; c; c = c->next)
        if (++c->value == 1000)
            *first = c; // never
}

int main(int argc, char **argv)
{
    const int n = 100, blocks = argc > 2 ? atoi(argv[2]) : 1;
    cell *cells, **first, last;
    cudaMalloc(&cells, blocks * n * sizeof *cells);
    cudaMalloc(&first, blocks * sizeof *first);
    link<<<blocks, 1>>>(cells, first, n);
    for (int i = 0; i < 9; i++)
        chase<<<blocks, 1, argc > 1 ? 4 * i : 0>>>(first);
    cudaMemcpy(&last, cells + blocks * n - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last.value);
    return 0;
}
