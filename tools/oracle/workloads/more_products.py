"""Products, convolutions and attention of cuBLAS, cuBLASLt and cuDNN: `more_products.py GROUP`.

Layouts, types and shapes are others than library_calls.py's, many odd, so that tiles have edges.

Data is made on the CPU and copied. A call that this version refuses is left out and said.
"""
import ctypes
import re
import sys

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_tf32 = False
SOURCE = torch.Generator().manual_seed(77)
F32, F16, BF16, F64 = torch.float32, torch.float16, torch.bfloat16, torch.float64


def real(*shape, dtype=F32, scale=1):
    return (torch.randn(*shape, generator=SOURCE) * scale).to(dtype).cuda()


def attempt(call, *arguments, **options):
    try:
        return call(*arguments, **options)
    except (RuntimeError, TypeError, ValueError, AttributeError, OSError) as e:
        print(f"left out: {getattr(call, '__name__', call)}: {str(e).splitlines()[0]}", file=sys.stderr)
        return None


def multiply(m, n, k, dtype, layout="nn", batch=(), more=0):
    """`layout`: n as it lies, t transposed; `more` is what a row has behind what is used."""
    def matrix(rows, columns, turned):
        if turned == "t":
            return real(*batch, columns, rows + more, dtype=dtype)[..., :rows].transpose(-1, -2)
        return real(*batch, rows, columns + more, dtype=dtype)[..., :columns]

    attempt(torch.matmul, matrix(m, k, layout[0]), matrix(k, n, layout[1]))


# ---- products ----

def of_singles():
    for layout in ("nn", "nt", "tn", "tt"):
        multiply(150, 130, 70, F32, layout)
        multiply(257, 33, 500, F32, layout, more=3)
    for m, n, k in ((8, 8, 8), (31, 65, 17), (1024, 16, 64), (16, 1024, 300), (384, 384, 384), (3, 700, 1500), (129, 1, 300),
                    (640, 200, 2000)):
        multiply(m, n, k, F32)


def of_tf32():
    torch.backends.cuda.matmul.allow_tf32 = True
    for layout in ("nn", "nt", "tn", "tt"):
        multiply(152, 132, 72, F32, layout)
        multiply(130, 66, 258, F32, layout)
        multiply(101, 67, 43, F32, layout, more=1)
    multiply(512, 640, 1024, F32)
    multiply(64, 2000, 36, F32)
    multiply(60, 52, 44, F32, batch=(6,))


def of_halves():
    for layout in ("nn", "nt", "tn", "tt"):
        multiply(136, 200, 72, F16, layout)
        multiply(130, 66, 258, F16, layout)
        multiply(101, 67, 43, F16, layout)
        multiply(68, 132, 100, F16, layout, more=4)
    for m, n, k in ((16, 16, 2048), (512, 512, 512), (1, 512, 512), (768, 24, 96)):
        multiply(m, n, k, F16)


def of_brains():
    for layout in ("nn", "nt", "tn", "tt"):
        multiply(200, 136, 88, BF16, layout)
        multiply(94, 58, 126, BF16, layout)
        multiply(33, 129, 65, BF16, layout)
        multiply(132, 68, 36, BF16, layout, more=12)
    for m, n, k in ((2048, 8, 64), (640, 384, 320), (5, 1000, 700), (300, 300, 300)):
        multiply(m, n, k, BF16)


def of_doubles():
    for layout in ("nn", "nt", "tn", "tt"):
        multiply(70, 90, 50, F64, layout)
        multiply(33, 65, 129, F64, layout, more=1)
    multiply(300, 280, 260, F64)
    multiply(40, 24, 56, F64, batch=(5,))
    for dtype in (torch.complex64, torch.complex128):
        a, b = (torch.randn(*shape, dtype=dtype, generator=SOURCE).cuda() for shape in ((60, 44), (44, 36)))
        attempt(torch.matmul, a, b)
        attempt(torch.matmul, b.mH, a.mH)


def in_batches():
    for dtype in (F32, F16, BF16):
        multiply(40, 56, 72, dtype, batch=(9,))
        multiply(64, 64, 64, dtype, "nt", batch=(2, 5))
        multiply(37, 21, 53, dtype, "tn", batch=(7,))
        multiply(1, 128, 64, dtype, batch=(12,))
        attempt(torch.baddbmm, real(6, 30, 44, dtype=dtype), real(6, 30, 28, dtype=dtype), real(6, 28, 44, dtype=dtype))
    attempt(torch.matmul, real(8, 1, 20, 30), real(5, 30, 10))
    attempt(torch.einsum, "bhid,bhjd->bhij", real(2, 4, 50, 32, dtype=F16), real(2, 4, 50, 32, dtype=F16))


def with_vectors():
    for dtype in (F32, F16, BF16, F64):
        a = real(300, 210, dtype=dtype)
        attempt(torch.mv, a, real(210, dtype=dtype))
        attempt(torch.mv, a.t(), real(300, dtype=dtype))
        attempt(torch.dot, real(3001, dtype=dtype), real(3001, dtype=dtype))
        attempt(torch.addr, a, real(300, dtype=dtype), real(210, dtype=dtype))
        multiply(1, 333, 257, dtype)
        multiply(333, 1, 257, dtype)


def with_epilogues():
    for dtype in (F16, BF16, F32):
        layer = torch.nn.Linear(200, 328).to(dtype).cuda()
        y = layer(real(72, 200, dtype=dtype).requires_grad_())
        y.backward(real(*y.shape, dtype=dtype))
        attempt(torch._addmm_activation, real(136, dtype=dtype), real(64, 96, dtype=dtype), real(96, 136, dtype=dtype), use_gelu=True)
        attempt(torch._addmm_activation, real(136, dtype=dtype), real(64, 96, dtype=dtype), real(96, 136, dtype=dtype), use_gelu=False)
        attempt(torch.addmm, real(50, 70, dtype=dtype), real(50, 34, dtype=dtype), real(34, 70, dtype=dtype), beta=0.5, alpha=2)


def of_bytes():
    for m, n, k in ((64, 64, 64), (48, 96, 32), (17, 40, 200), (256, 512, 128)):
        a, b = real(m, k, dtype=torch.int8, scale=9), real(n, k, dtype=torch.int8, scale=9)
        attempt(torch._int_mm, a, b.t())
        attempt(torch._int_mm, a, b.cpu().t().contiguous().cuda())
    one = torch.ones(()).cuda()
    for m, n, k, out in ((64, 96, 128, BF16), (32, 208, 64, F16), (144, 48, 80, F32), (512, 256, 512, BF16)):
        a, b = real(m, k, dtype=torch.float8_e4m3fn), real(n, k, dtype=torch.float8_e4m3fn)
        attempt(torch._scaled_mm, a, b.t(), scale_a=one, scale_b=one, out_dtype=out)
        attempt(torch._scaled_mm, a, b.t(), scale_a=one, scale_b=one, out_dtype=out, use_fast_accum=True)


# ---- cuBLAS itself ----

def library(name):
    """The one that PyTorch has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as f:
        return ctypes.CDLL(re.search(rf"\S*/{name}\.so\.\d+", f.read()).group())


def called():
    real(64, 64) @ real(64, 64)
    blas = library("libcublas")
    handle = ctypes.c_void_p(torch.cuda.current_blas_handle())
    one, half = ctypes.byref(ctypes.c_float(1)), ctypes.byref(ctypes.c_float(0.5))

    def at(tensor):
        return ctypes.c_void_p(tensor.data_ptr())

    def call(name, *arguments):
        status = getattr(blas, name)(handle, *arguments)
        if status:
            print(f"left out: {name}: {status}", file=sys.stderr)

    a, b, c, x, y = real(200, 200), real(200, 200), real(200, 200), real(500), real(500)
    for uplo, trans in ((0, 0), (1, 1)):
        call("cublasSsyrk_v2", uplo, trans, 90, 60, one, at(a), 200, half, at(c), 200)
        call("cublasSsyr2k_v2", uplo, trans, 75, 50, one, at(a), 200, at(b), 200, half, at(c), 200)
        call("cublasSsymm_v2", trans, uplo, 66, 77, one, at(a), 200, at(b), 200, half, at(c), 200)
        call("cublasStrmm_v2", trans, uplo, trans, 0, 65, 70, one, at(a), 200, at(b), 200, at(c), 200)
        call("cublasSsymv_v2", uplo, 150, one, at(a), 200, at(x), 1, half, at(y), 2)
        call("cublasStrmv_v2", uplo, trans, 0, 120, at(a), 200, at(x), 1)
    call("cublasSgemv_v2", 0, 150, 120, one, at(a), 200, at(x), 2, half, at(y), 3)
    call("cublasSger_v2", 150, 120, one, at(x), 1, at(y), 1, at(a), 200)
    call("cublasSaxpy_v2", 499, one, at(x), 1, at(y), 1)
    call("cublasSgeam", 1, 0, 100, 90, one, at(a), 200, half, at(b), 200, at(c), 200)
    call("cublasSdgmm", 0, 100, 90, at(a), 200, at(x), 1, at(c), 200)
    types = {F16: 2, BF16: 14, F32: 0, torch.int8: 3}
    for dtype, out, lda in ((F16, F32, 200), (BF16, F32, 202), (F16, F16, 201), (BF16, BF16, 204)):
        p, q, r = real(200, 210, dtype=dtype), real(200, 210, dtype=dtype), real(200, 210, dtype=out)
        for m, n, k, ta, tb in ((100, 90, 80, 0, 0), (65, 33, 150, 1, 0), (33, 129, 66, 0, 1), (16, 8, 190, 1, 1)):
            call("cublasGemmEx", ta, tb, m, n, k, one, at(p), types[dtype], lda, at(q), types[dtype], lda, half, at(r), types[out],
                 lda, 68, -1)


# ---- convolutions ----

CONVOLUTIONS = (((3, 5, 17, 19), (7, 5, 3, 3), {"padding": 1}), ((2, 24, 15, 15), (40, 24, 1, 1), {"stride": 2}),
                ((2, 48, 12, 12), (24, 48, 3, 3), {"padding": 1}), ((1, 8, 40, 40), (16, 8, 5, 5), {"padding": 2, "stride": 2}))


def convolve(dtype, backward, form=torch.contiguous_format):
    for shape, filters, options in CONVOLUTIONS:
        x = real(*shape, dtype=dtype).to(memory_format=form).requires_grad_(backward)
        w = real(*filters, dtype=dtype).to(memory_format=form).requires_grad_(backward)
        y = attempt(F.conv2d, x, w, **options)
        if backward and y is not None:
            attempt(y.backward, real(*y.shape, dtype=dtype).to(memory_format=form))


def convolutions_of_singles():
    convolve(F32, True)


def convolutions_of_halves():
    convolve(F16, True)


def convolutions_of_brains():
    convolve(BF16, True, torch.channels_last)


def convolutions_with_channels_last():
    convolve(F16, True, torch.channels_last)
    torch.backends.cudnn.allow_tf32 = True
    convolve(F32, False, torch.channels_last)


def other_convolutions():
    torch.backends.cudnn.allow_tf32 = True
    convolve(F32, False)
    for dtype in (F32, F16):
        attempt(F.conv2d, real(2, 32, 14, 14, dtype=dtype), real(32, 8, 3, 3, dtype=dtype), groups=4, padding=1)
        attempt(F.conv2d, real(2, 32, 14, 14, dtype=dtype), real(32, 1, 3, 3, dtype=dtype), groups=32, padding=1)
        attempt(F.conv_transpose2d, real(2, 20, 9, 11, dtype=dtype), real(20, 12, 3, 3, dtype=dtype), stride=2, padding=1)
        attempt(F.conv3d, real(1, 6, 9, 10, 11, dtype=dtype), real(10, 6, 3, 3, 3, dtype=dtype), padding=1)
        attempt(F.conv1d, real(3, 16, 150, dtype=dtype), real(24, 16, 7, dtype=dtype))
        attempt(F.conv2d, real(2, 12, 20, 20, dtype=dtype), real(18, 12, 3, 3, dtype=dtype), bias=real(18, dtype=dtype), dilation=3)
    torch.backends.cudnn.benchmark = True  # several ways to do one convolution
    attempt(F.conv2d, real(2, 16, 16, 16, dtype=F16), real(32, 16, 3, 3, dtype=F16), padding=1)


def recurrent():
    for kind, options in ((torch.nn.LSTM, {"bidirectional": True}), (torch.nn.GRU, {"num_layers": 2}), (torch.nn.RNN, {})):
        layer = kind(40, 56, **options).cuda()
        attempt(lambda layer=layer: layer(real(6, 5, 40).requires_grad_())[0].sum().backward())
    layer = torch.nn.LSTM(64, 64).half().cuda()
    attempt(lambda: layer(real(4, 8, 64, dtype=F16))[0])


def attention():
    kinds = torch.nn.attention.SDPBackend
    for dtype, kind, shape in ((BF16, kinds.FLASH_ATTENTION, (2, 3, 100, 64)), (F16, kinds.FLASH_ATTENTION, (1, 2, 77, 128)),
                               (F16, kinds.EFFICIENT_ATTENTION, (2, 3, 65, 40)), (BF16, kinds.EFFICIENT_ATTENTION, (1, 4, 130, 96)),
                               (F16, kinds.CUDNN_ATTENTION, (2, 2, 128, 64)), (BF16, kinds.CUDNN_ATTENTION, (1, 3, 200, 128))):
        with torch.nn.attention.sdpa_kernel(kind):
            q, k, v = (real(*shape, dtype=dtype).requires_grad_() for _ in range(3))
            y = attempt(F.scaled_dot_product_attention, q, k, v, is_causal=shape[2] % 2 == 0)
            if y is not None:
                attempt(y.backward, real(*shape, dtype=dtype))


def sparse():
    """cuSPARSE and cuSPARSELt."""
    dense = torch.randn(120, 90, generator=SOURCE).relu()
    rows = dense.to_sparse_csr()
    attempt(torch.matmul, rows.cuda(), real(90, 33))
    attempt(torch.matmul, rows.cuda(), real(90))
    attempt(torch.matmul, dense.to_sparse().coalesce().cuda(), real(90, 17))
    attempt(torch.sparse.sampled_addmm, rows.cuda(), real(120, 24), real(24, 90))
    attempt(torch.matmul, rows.to(F64).cuda(), real(90, 20, dtype=F64))
    attempt(torch.matmul, dense.to_sparse_bsr((6, 6)).cuda(), real(90, 32))
    pruned = torch.randn(128, 128, generator=SOURCE) * torch.tensor([1, 1, 0, 0]).repeat(32)
    packed = attempt(torch._cslt_compress, pruned.to(F16).cuda())
    if packed is not None:
        attempt(torch._cslt_sparse_mm, packed, real(128, 64, dtype=F16))


GROUPS = [of_singles, of_tf32, of_halves, of_brains, of_doubles, in_batches, with_vectors, with_epilogues, of_bytes, called,
          convolutions_of_singles, convolutions_of_halves, convolutions_of_brains, convolutions_with_channels_last,
          other_convolutions, recurrent, attention, sparse]

if __name__ == "__main__":
    {f.__name__: f for f in GROUPS}[sys.argv[1]]()
    torch.cuda.synchronize()
