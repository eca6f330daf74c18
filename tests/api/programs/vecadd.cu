// One program in three builds: static runtime, shared runtime, and (vecadd_driver.c) the driver interface.
#include "vecadd_kernel.h"
#include <cstdio>

enum { N = 1000 };

int main()
{
    static float a[N], b[2 * N], c[N];
    const float factors[2] = {2, 3};
    float *da, *db, *dc;
    int count = 0;
    for (int i = 0; i < N; i++)
        a[i] = i, b[2 * i] = i + 1;
    cudaMalloc(&da, sizeof a);
    cudaMalloc(&db, sizeof b);
    cudaMalloc(&dc, sizeof c);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice);
    cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(scale, factors, sizeof factors);
    vecadd<<<(N + 127) / 128, 128>>>(da, db, dc, N);
    cudaError_t error = cudaDeviceSynchronize();
    cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, launched, sizeof count);
    int wrong = 0;
    for (int i = 0; i < N; i++)
        wrong += c[i] != 2 * a[i] + 3 * b[2 * i];
    printf("error %d, %d wrong, launched %d, c[999] = %.0f\n", error, wrong, count, c[999]);
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    return wrong != 0;
}
