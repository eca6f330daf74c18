#include "common.h"
__global__ void softmax(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float most = -1e30f, sum = 0;
    for (int c = 0; c < cols; c++) most = fmaxf(most, in[row * cols + c]);
    for (int c = 0; c < cols; c++) sum += expf(in[row * cols + c] - most);
    for (int c = 0; c < cols; c++) out[row * cols + c] = expf(in[row * cols + c] - most) / sum;
}
int main()
{
    const int rows = 8192, cols = 256; unsigned s = 1;
    std::vector<float> a((size_t)rows * cols); for (float &v : a) v = 4 * frand(s);
    float *da = upload(a), *db; CHECK(cudaMalloc(&db, a.size() * 4));
    softmax<<<rows / 128, 128>>>(da, db, rows, cols);
    print_sum(download(db, a.size())); cudaFree(da); cudaFree(db);
}
