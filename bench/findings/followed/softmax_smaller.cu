#include "common.h"
__global__ void softmax(const float *in, float *out, int rows, int cols)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float most = -1e30f, sum = 0;
    for (int c = 0; c < cols; c++) most = fmaxf(most, in[c * rows + row]);
    for (int c = 0; c < cols; c++) sum += expf(in[c * rows + row] - most);
    for (int c = 0; c < cols; c++) out[c * rows + row] = expf(in[c * rows + row] - most) / sum;
}
int main()
{
    const int rows = 8192, cols = 256; unsigned s = 1;
    std::vector<float> a((size_t)rows * cols); for (float &v : a) v = 4 * frand(s);
    std::vector<float> t(a.size()); for (int r = 0; r < rows; r++) for (int c = 0; c < cols; c++) t[c * rows + r] = a[r * cols + c]; float *da = upload(t), *db; CHECK(cudaMalloc(&db, a.size() * 4));
    softmax<<<rows / 32, 32>>>(da, db, rows, cols);
    std::vector<float> o = download(db, a.size()), u(o.size()); for (int r = 0; r < rows; r++) for (int c = 0; c < cols; c++) u[r * cols + c] = o[c * rows + r]; print_sum(u); cudaFree(da); cudaFree(db);
}
