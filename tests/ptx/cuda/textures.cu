// Texture and surface objects, and the loads that go past the caches.
__global__ void sample(float4 *out, cudaTextureObject_t t1, cudaTextureObject_t t2, cudaTextureObject_t t3,
    cudaTextureObject_t cube, cudaTextureObject_t layered)
{
    int i = threadIdx.x;
    float x = i * 0.125f;
    float4 s = tex1Dfetch<float4>(t1, i);
    float4 p = tex2D<float4>(t2, x, x + 0.5f);
    float4 l = tex2DLod<float4>(t2, x, x, 1.5f);
    float4 g = tex2DGrad<float4>(t2, x, x, make_float2(0.1f, 0.2f), make_float2(0.3f, 0.4f));
    float4 v = tex3D<float4>(t3, x, x, x);
    float4 c = texCubemap<float4>(cube, x, x, x);
    float4 a = tex2DLayered<float4>(layered, x, x, 3);
    float4 f = tex2Dgather<float4>(t2, x, x, 1);
    uint4 u = tex1D<uint4>(t1, x);
    out[i] = make_float4(s.x + p.y + l.z, g.w + v.x, c.y + a.z, f.w + (float)u.x);
}

__global__ void surfaces(cudaSurfaceObject_t s2, cudaSurfaceObject_t s3, uchar4 *out)
{
    int x = threadIdx.x, y = blockIdx.x;
    uchar4 v = surf2Dread<uchar4>(s2, x * 4, y);
    surf2Dwrite(v, s2, x * 4, y + 1, cudaBoundaryModeClamp);
    surf3Dwrite((int)v.x, s3, x * 4, y, 1, cudaBoundaryModeZero);
    out[x] = v;
}

__global__ void cached(float *out, const float *in, const double2 *wide)
{
    int i = threadIdx.x;
    float v = __ldg(in + i) + __ldcg(in + i) + __ldcs(in + i) + __ldca(in + i) + __ldlu(in + i) + __ldcv(in + i);
    double2 d = __ldg(wide + i);
    __stcg(out + i, v);
    __stcs(out + i + 32, (float)d.x);
    __stwt(out + i + 64, (float)d.y);
    __stwb(out + i + 96, v);
}
