// A kernel whose every access follows from data, launched nine times: all alike, or, with an argument, each with shared memory of
// another size.
#include <cstdio>

struct cell {
    cell *next;
    int value;
};

__global__ void link(cell *cells, cell **first, int n)
{
    for (int i = 0; i < n; i++) {
        cells[i].next = i + 1 < n ? &cells[i + 1] : nullptr;
        cells[i].value = 0;
    }
    *first = cells;
}

__global__ void chase(cell **first)
{
    for (cell *c = *first; c; c = c->next)
        if (++c->value == 1000)
            *first = c; // never
}

int main(int argc, char **)
{
    const int n = 100;
    cell *cells, **first, last;
    cudaMalloc(&cells, n * sizeof *cells);
    cudaMalloc(&first, sizeof *first);
    link<<<1, 1>>>(cells, first, n);
    for (int i = 0; i < 9; i++)
        chase<<<1, 1, argc > 1 ? 4 * i : 0>>>(first);
    cudaMemcpy(&last, cells + n - 1, sizeof last, cudaMemcpyDeviceToHost);
    printf("%d\n", last.value);
    return 0;
}
