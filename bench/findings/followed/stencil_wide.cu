#include "common.h"
__global__ void blur(const float *in, float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2) return;
    float s = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            s += in[(y + dy) * w + x + dx];
    out[y * w + x] = s / 25;
}
int main()
{
    const int w = 2048, h = 2048; unsigned s = 1;
    std::vector<float> a((size_t)w * h), z(a.size()); for (float &v : a) v = frand(s);
    float *da = upload(a), *db = upload(z);
    blur<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(da, db, w, h);
    print_sum(download(db, a.size())); cudaFree(da); cudaFree(db);
}
