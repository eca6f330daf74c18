"""Calls of libraries, each from a Python package that brings them: `library_calls.py WHICH`."""
import sys

import numpy as np


def cublas():
    import torch
    source = torch.Generator().manual_seed(11)

    def real(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=source).to(dtype).cuda()

    for m, n, k in ((64, 64, 64), (333, 77, 129), (512, 256, 1024), (17, 2048, 96), (1, 1000, 512)):
        for dtype in (torch.float32, torch.float16, torch.bfloat16):
            real(m, k, dtype=dtype) @ real(k, n, dtype=dtype)
    torch.backends.cuda.matmul.allow_tf32 = True
    real(256, 256) @ real(256, 256)
    torch.backends.cuda.matmul.allow_tf32 = False
    real(100, 200, dtype=torch.float64) @ real(200, 50, dtype=torch.float64)
    torch.bmm(real(12, 40, 50), real(12, 50, 60))
    torch.bmm(real(12, 64, 64, dtype=torch.bfloat16), real(12, 64, 64, dtype=torch.bfloat16))
    for dtype in (torch.float16, torch.bfloat16):  # cuBLASLt, with its epilogues
        linear = torch.nn.Linear(192, 384).to(dtype).cuda()
        linear(real(100, 192, dtype=dtype).requires_grad_()).backward(real(100, 384, dtype=dtype))
    torch._addmm_activation(real(128), real(64, 96), real(96, 128), use_gelu=True)
    torch._int_mm((real(64, 64) * 9).to(torch.int8), (real(64, 64) * 9).to(torch.int8))
    a = (real(64, 128) * 2).to(torch.float8_e4m3fn)
    b = (real(64, 128) * 2).to(torch.float8_e4m3fn)
    one = torch.ones((), device="cuda")
    torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16)
    torch.linalg.solve_triangular(real(64, 64).triu() + 20 * torch.eye(64).cuda(), real(64, 8), upper=True)


def cudnn():
    import torch
    import torch.nn.functional as F
    source = torch.Generator().manual_seed(12)

    def real(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=source).to(dtype).cuda()

    torch.backends.cudnn.allow_tf32 = False
    for shape, filters, options in (((2, 3, 64, 64), (16, 3, 7, 7), {"stride": 2, "padding": 3}),
                                    ((4, 32, 20, 20), (48, 32, 1, 1), {}),
                                    ((4, 32, 20, 20), (64, 32, 3, 3), {"padding": 1}),
                                    ((2, 16, 20, 20), (32, 16, 5, 5), {"dilation": 2})):
        for dtype in (torch.float32, torch.float16):
            x, w = real(*shape, dtype=dtype).requires_grad_(), real(*filters, dtype=dtype).requires_grad_()
            y = F.conv2d(x, w, **options)
            y.backward(real(*y.shape, dtype=dtype))
    x = real(4, 32, 20, 20, dtype=torch.float16).to(memory_format=torch.channels_last)
    F.conv2d(x, real(64, 32, 3, 3, dtype=torch.float16).to(memory_format=torch.channels_last), padding=1)
    F.conv_transpose2d(real(2, 16, 10, 10), real(16, 8, 3, 3), stride=2)
    F.conv3d(real(1, 4, 10, 12, 12), real(8, 4, 3, 3, 3))
    F.batch_norm(real(8, 16, 12, 12), real(16), real(16).abs(), real(16), real(16), training=True)
    recurrent = torch.nn.LSTM(32, 48).cuda()
    recurrent(real(5, 3, 32))[0].sum().backward()
    torch.nn.GRU(16, 24).cuda()(real(4, 2, 16))
    F.ctc_loss(real(20, 2, 10).log_softmax(2), torch.randint(1, 10, (2, 5), generator=source).int(),
               torch.full((2,), 20, dtype=torch.int32), torch.full((2,), 5, dtype=torch.int32))


def cufft():
    import torch
    source = torch.Generator().manual_seed(13)

    def real(*shape, dtype=torch.float32):
        return torch.randn(*shape, generator=source).to(dtype).cuda()

    for n in (64, 128, 1000, 1024, 4096, 1 << 17, 997, 1331, 7776):
        torch.fft.fft(torch.complex(real(4, n), real(4, n)))
    torch.fft.rfft(real(8, 500))
    torch.fft.irfft(torch.complex(real(8, 129), real(8, 129)))
    torch.fft.fft2(torch.complex(real(2, 60, 64), real(2, 60, 64)))
    torch.fft.rfftn(real(16, 20, 24))
    torch.fft.ifft(torch.complex(real(4, 256, dtype=torch.float64), real(4, 256, dtype=torch.float64)))


USER_KERNEL = r"""
extern "C" __global__ void smooth(const float *in, float *out, int n, float w)
{
    __shared__ float tile[258];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x + 1] = i < n ? in[i] : 0;
    if (threadIdx.x == 0) tile[0] = i > 0 ? in[i - 1] : 0;
    if (threadIdx.x == 255) tile[257] = i + 1 < n ? in[i + 1] : 0;
    __syncthreads();
    if (i < n) out[i] = w * (tile[threadIdx.x] + tile[threadIdx.x + 2]) + (1 - 2 * w) * tile[threadIdx.x + 1];
}
extern "C" __global__ void pick(const float *in, const int *where, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && (i & 3)) out[i] = in[where[i]];
}
"""


def cupy():
    import cupy as cp
    numbers = np.random.default_rng(14)

    def real(*shape, dtype=np.float32):
        return cp.asarray(numbers.standard_normal(shape).astype(dtype))

    x = real(10000)
    out = cp.asarray(np.zeros(10000, np.float32))
    module = cp.RawModule(code=USER_KERNEL)
    module.get_function("smooth")((40,), (256,), (x, out, np.int32(10000), np.float32(0.25)))
    where = cp.asarray(numbers.integers(0, 10000, 9001).astype(np.int32))
    module.get_function("pick")((36,), (256,), (x, where, out, np.int32(9001)))
    squared = cp.ElementwiseKernel("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    squared(x, out)
    cp.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm_of")(x)
    a = real(200, 300)
    a.sum()
    a.sum(axis=0)
    a.T + 1
    cp.sort(x)
    cp.argsort(real(50, 60), axis=1)
    cp.cumsum(x)
    cp.unique(where)
    a @ real(300, 100)
    cp.take(x, where)
    cp.fft.fft(x)
    cp.linalg.cholesky(a[:64, :64] @ a[:64, :64].T + 100 * cp.asarray(np.eye(64, dtype=np.float32)))
    import scipy.sparse
    from cupyx.scipy import sparse
    matrix = sparse.csr_matrix(scipy.sparse.random(1000, 800, 0.02, "csr", np.float32, random_state=15))
    matrix @ real(800)
    matrix @ real(800, 16)
    matrix.T.tocsr()
    cp.cuda.Device().synchronize()


def jax():
    import jax
    import jax.numpy as jnp
    numbers = np.random.default_rng(16)
    shapes = {"w1": (64, 128), "b1": (128,), "w2": (128, 10), "scale": (64,)}
    weights = {k: jnp.asarray(numbers.standard_normal(s).astype(np.float32) * 0.1) for k, s in shapes.items()}
    x = jnp.asarray(numbers.standard_normal((256, 64)).astype(np.float32))
    y = jnp.asarray(numbers.integers(0, 10, 256))

    def loss(w, x, y):
        mean = x.mean(-1, keepdims=True)
        x = (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * w["scale"]
        hidden = jax.nn.gelu(x @ w["w1"] + w["b1"])
        logits = hidden @ w["w2"]
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1).mean()

    @jax.jit
    def step(w, x, y):
        g = jax.grad(loss)(w, x, y)
        return jax.tree.map(lambda a, b: a - 0.1 * b, w, g)

    weights = step(weights, x, y)
    weights = step(weights, x, y)
    jax.jit(lambda v: jnp.sort(v.ravel())[:50].sum())(x).block_until_ready()
    jax.jit(lambda v: jnp.cumsum(v, 0))(x).block_until_ready()
    jax.block_until_ready(weights)


if __name__ == "__main__":
    {f.__name__: f for f in (cublas, cudnn, cufft, cupy, jax)}[sys.argv[1]]()
