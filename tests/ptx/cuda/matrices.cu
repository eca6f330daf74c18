// Tensor cores: wmma of every element type, mma and ldmatrix.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void half_tiles(const half *a, const half *b, float *c)
{
    __shared__ half tile[256];
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::fill_fragment(acc, 0.0f);
    tile[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    wmma::load_matrix_sync(fa, tile, 16);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::mma_sync(acc, fa, fb, acc);
    for (int i = 0; i < acc.num_elements; i++)
        acc.x[i] *= 2.0f;
    wmma::store_matrix_sync(c, acc, 16, wmma::mem_row_major);
}

__global__ void byte_tiles(const signed char *a, const signed char *b, int *c)
{
    wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 8, 32, 16, int> acc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, b, 32);
    wmma::load_matrix_sync(acc, c, 32, wmma::mem_col_major);
    wmma::mma_sync(acc, fa, fb, acc, true);
    wmma::store_matrix_sync(c, acc, 32, wmma::mem_col_major);
}

#if __CUDA_ARCH__ >= 800
__global__ void new_tiles(const __nv_bfloat16 *a, const float *t, const double *d, float *c, double *dc)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::col_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
    wmma::load_matrix_sync(fa, a, 16);
    wmma::load_matrix_sync(fb, a, 16);
    wmma::fill_fragment(acc, 1.0f);
    wmma::mma_sync(acc, fa, fb, acc);
    wmma::store_matrix_sync(c, acc, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> ta;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> tb;
    wmma::load_matrix_sync(ta, t, 8);
    wmma::load_matrix_sync(tb, t, 16);
    for (int i = 0; i < ta.num_elements; i++)
        ta.x[i] = wmma::__float_to_tf32(ta.x[i]);
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> tacc;
    wmma::load_matrix_sync(tacc, c, 16, wmma::mem_col_major);
    wmma::mma_sync(tacc, ta, tb, tacc);
    wmma::store_matrix_sync(c + 256, tacc, 16, wmma::mem_row_major);
    wmma::fragment<wmma::matrix_a, 8, 8, 4, double, wmma::row_major> da;
    wmma::fragment<wmma::matrix_b, 8, 8, 4, double, wmma::col_major> db;
    wmma::fragment<wmma::accumulator, 8, 8, 4, double> dacc;
    wmma::load_matrix_sync(da, d, 4);
    wmma::load_matrix_sync(db, d, 4);
    wmma::fill_fragment(dacc, 0.0);
    wmma::mma_sync(dacc, da, db, dacc);
    wmma::store_matrix_sync(dc, dacc, 8, wmma::mem_row_major);
}

__global__ void fragments(const half *in, float *out)
{
    __shared__ alignas(16) half tile[16 * 16];
    unsigned a[4], b[2], where = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x * 8);
    float c[4] = {0, 0, 0, 0};
    tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(where));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%0, %1}, [%2+16];"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(where));
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    int i0, i1, i2, i3;
    asm volatile("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %10, %10, %10};"
                 : "=r"(i0), "=r"(i1), "=r"(i2), "=r"(i3)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(0));
    out[threadIdx.x] = c[0] + c[1] + c[2] + c[3] + (float)(i0 + i1 + i2 + i3);
}
#endif
