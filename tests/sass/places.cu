// Kernels with a place in a cubin for each thing that src/sass reads beside code.
#include <cassert>
#include <cstdio>

struct Many {
    int x[6000];
};

__constant__ int table[16] = {1, 2, 3};

__global__ void small(int *a, int n)
{
    a[n] = table[n & 15];
}

__global__ void large(const __grid_constant__ Many m, int *a, int n)
{
    a[n] = m.x[n] + m.x[3];
}

__global__ void asserted(int *a)
{
    assert(a[0] > 1);
    printf("%d\n", a[1]);
}

__global__ void chosen(int *a, int n)
{
    switch (n) {
    case 0: a[1] = __clz(a[9]); break;
    case 1: a[2] = n * 3 + a[1]; break;
    case 2: a[3] = a[2] / 5; break;
    case 3: a[4] = a[7] ^ a[8]; break;
    case 4: a[5] = a[6] - a[9]; break;
    case 5: a[6] = a[6] * a[9]; break;
    case 6: a[7] = __popc(a[9]); break;
    case 7: a[8] = __brev(a[9]); break;
    default: a[0] = 1;
    }
}
