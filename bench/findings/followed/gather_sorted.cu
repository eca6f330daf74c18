#include "common.h"
__global__ void gather(const float *x, const int *index, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[index[i]];
}
int main()
{
    const int n = 1 << 21; unsigned s = 1;
    std::vector<float> x(n), y(n); std::vector<int> p(n);
    for (int i = 0; i < n; i++) { x[i] = frand(s); p[i] = i; }
    for (int i = n - 1; i > 0; i--) { int j = (int)(((unsigned long long)next(s) * (i + 1)) >> 32); int t = p[i]; p[i] = p[j]; p[j] = t; }
    std::vector<int> o(n), q(n); for (int i = 0; i < n; i++) o[p[i]] = i; for (int i = 0; i < n; i++) q[i] = i; std::vector<int> &pp = p; (void)pp;
    float *dx = upload(x), *dy = upload(y); int *di = upload(q);
    gather<<<n / 256, 256>>>(dx, di, dy, n);
    std::vector<float> r = download(dy, n), u(n); for (int i = 0; i < n; i++) u[o[i]] = r[i]; print_sum(u); cudaFree(dx); cudaFree(dy); cudaFree(di);
}
