"""PyTorch operations in several shapes and types, a training step of small blocks, and nothing else
that launches kernels: data is made on the CPU and copied.

    torch_operations.py [GROUP]...

An operation that this version of PyTorch refuses ends its group only.
"""
import sys
import traceback

import torch
import torch.nn.functional as F

torch.backends.cudnn.benchmark = False
SOURCE = torch.Generator().manual_seed(2026)


def real(*shape, dtype=torch.float32):
    return torch.randn(*shape, generator=SOURCE).to(dtype).cuda()


def whole(high, *shape, dtype=torch.int64):
    return torch.randint(0, high, shape, generator=SOURCE).to(dtype).cuda()


# ---- one function for each group of operations ----

def elementwise():
    for dtype, n in ((torch.float32, 65536), (torch.float16, 40001), (torch.bfloat16, 1000), (torch.float64, 12345)):
        a, b = real(n, dtype=dtype), real(n, dtype=dtype)
        a + b
        a.mul_(b)
        torch.sigmoid(a)
        F.gelu(a)
    a, row, column = real(300, 200), real(200), real(300, 1)
    a + row
    a * column
    torch.addcmul(a, a, row)
    a.t() + 1
    a[:, ::2] * 2
    a[::3].exp()
    torch.where(a > 0, a, row)
    a.to(torch.float16)
    a.to(torch.bfloat16).to(torch.float64)
    a.clamp(-1, 1)
    a.pow(3)
    torch.atan2(a, a)
    whole(100, 5000) // 7
    whole(100, 5000, dtype=torch.int32) % 5
    whole(2, 5000, dtype=torch.bool).logical_not()
    real(64, 3, 32, 32).to(memory_format=torch.channels_last)
    real(12, 13, 14, 15).permute(3, 1, 0, 2).contiguous()
    torch.complex(real(999), real(999)).abs()


def copying():
    torch.cat([real(100, 64), real(50, 64), real(7, 64)])
    torch.cat([real(300, 20), real(300, 33)], dim=1)
    torch.cat([real(128, 16, dtype=torch.float16)] * 5, dim=1)
    torch.stack([real(1000), real(1000)])
    real(200, 30).repeat(2, 3)
    real(64, 100).flip(1)
    real(64, 100).roll(5, 1)
    F.pad(real(10, 20, 20), (1, 2, 3, 4))
    torch.tril(real(200, 150))
    torch.zeros(3000, device="cuda")
    torch.full((3001,), 2.5, device="cuda", dtype=torch.bfloat16)
    torch.arange(5000, device="cuda")
    torch.linspace(0, 1, 777, device="cuda")
    torch.eye(90, device="cuda")
    real(50, 60).unfold(1, 8, 3).contiguous()


def reductions():
    for dtype, shape in ((torch.float32, (512, 300)), (torch.float16, (64, 4096)), (torch.float64, (33, 77)),
                         (torch.bfloat16, (8, 20000))):
        a = real(*shape, dtype=dtype)
        a.sum()
        a.sum(0)
        a.mean(1)
        a.amax(1)
    a = real(1000, 100)
    a.argmax(1)
    a.std(1)
    a.norm()
    a.min(0)
    (a > 0).any(1)
    torch.logsumexp(a, 1)
    a.prod(1)
    real(1 << 20).sum()
    torch.bincount(whole(50, 10000))
    torch.histc(real(5000), 20)
    a.median(1)
    torch.count_nonzero(a)


def softmaxes():
    for dtype, shape in ((torch.float32, (256, 1000)), (torch.float16, (128, 512)), (torch.bfloat16, (64, 30)),
                         (torch.float32, (16, 5000))):
        a = real(*shape, dtype=dtype).requires_grad_()
        torch.softmax(a, 1).sum().backward()
        torch.log_softmax(a, 1)
    torch.softmax(real(20, 30, 40), 1)
    F.cross_entropy(real(200, 50).requires_grad_(), whole(50, 200)).backward()
    F.mse_loss(real(3000).requires_grad_(), real(3000)).backward()


def norms():
    for dtype, shape in ((torch.float32, (400, 256)), (torch.float16, (128, 768)), (torch.bfloat16, (50, 1000))):
        a, w, b = real(*shape, dtype=dtype).requires_grad_(), real(shape[1], dtype=dtype), real(shape[1], dtype=dtype)
        F.layer_norm(a, shape[1:], w.requires_grad_(), b.requires_grad_()).backward(real(*shape, dtype=dtype))
    F.rms_norm(real(100, 512), (512,), real(512))
    F.group_norm(real(8, 32, 10, 10).requires_grad_(), 4, real(32), real(32)).backward(real(8, 32, 10, 10))
    F.batch_norm(real(16, 32, 14, 14), real(32), real(32).abs(), real(32), real(32), training=False)
    with torch.backends.cudnn.flags(enabled=False):
        F.batch_norm(real(16, 32, 14, 14).requires_grad_(), None, None, real(32), real(32), training=True).backward(
            real(16, 32, 14, 14))


def indexing():
    a = real(1000, 64)
    a[whole(1000, 500)]
    a.half()[whole(1000, 333)]
    a.index_select(1, whole(64, 40))
    a.gather(1, whole(64, 1000, 20))
    torch.zeros(1000, 64, device="cuda").scatter_(1, whole(64, 1000, 20), real(1000, 20))
    torch.zeros(300, 64, device="cuda").scatter_add_(0, whole(300, 1000, 64), a)
    torch.zeros(300, 64, device="cuda").index_add_(0, whole(300, 1000), a)
    a[whole(1000, 100)] = 0
    a.index_put_((whole(1000, 200),), real(200, 64), accumulate=True)
    a.masked_fill(a > 1, 0.0)
    a.masked_select(a > 1)
    torch.nonzero(a > 2)
    a.take(whole(64000, 3000))
    torch.unique(whole(100, 4000))
    torch.searchsorted(torch.arange(0, 1000, 3).cuda(), whole(1000, 2000))
    table = real(500, 96).requires_grad_()
    F.embedding(whole(500, 40, 30), table).sum().backward()
    F.embedding_bag(whole(500, 40, 30), real(500, 96), mode="mean")
    F.one_hot(whole(30, 200), 30)


def ordering():
    torch.sort(real(20000))
    torch.sort(real(200, 300), dim=1)
    torch.sort(real(60, 3000, dtype=torch.float16), dim=1)
    torch.sort(whole(1 << 30, 30000))
    torch.topk(real(100, 1000), 5)
    torch.topk(real(2, 50000), 20)
    torch.argsort(real(1000), stable=True)
    torch.kthvalue(real(50, 400), 7)
    torch.cumsum(real(100, 300), 1)
    torch.cumsum(real(300, 100), 0)
    torch.cumsum(real(50000), 0)
    torch.cumprod(real(64, 64), 1)
    torch.cummax(real(64, 500), 1)
    torch.logcumsumexp(real(64, 500), 1)


def random():
    torch.cuda.manual_seed(3)
    F.dropout(real(10000), 0.3)
    F.dropout(real(333, 77, dtype=torch.float16), 0.5)
    torch.rand(5000, device="cuda")
    torch.randn(777, device="cuda", dtype=torch.float16)
    torch.randint(0, 9, (3000,), device="cuda")
    torch.bernoulli(real(2000).sigmoid())
    torch.multinomial(real(20, 100).abs(), 5, replacement=True)
    torch.randperm(4000, device="cuda")


def convolutions():
    for dtype in (torch.float32, torch.float16):
        x, w = real(4, 16, 28, 28, dtype=dtype).requires_grad_(), real(32, 16, 3, 3, dtype=dtype).requires_grad_()
        F.conv2d(x, w, padding=1).backward(real(4, 32, 28, 28, dtype=dtype))
    F.conv2d(real(2, 24, 30, 30), real(24, 1, 3, 3), groups=24)
    F.conv1d(real(4, 8, 200), real(12, 8, 5))
    with torch.backends.cudnn.flags(enabled=False):
        F.conv2d(real(2, 8, 20, 20), real(16, 8, 3, 3))
    x = real(4, 16, 28, 28).requires_grad_()
    F.max_pool2d(x, 2).sum().backward()
    F.avg_pool2d(x, 3, 2).sum().backward()
    F.adaptive_avg_pool2d(x, 5)
    F.interpolate(x, scale_factor=2, mode="bilinear")
    F.interpolate(x, scale_factor=2)
    F.grid_sample(real(2, 3, 20, 20), real(2, 16, 16, 2).tanh(), align_corners=False)
    F.unfold(x, 3)


def products():
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        a, b = real(192, 128, dtype=dtype), real(128, 256, dtype=dtype)
        a @ b
        a.t() @ real(192, 64, dtype=dtype)
        torch.addmm(real(256, dtype=dtype), a, b)
    torch.bmm(real(8, 64, 32), real(8, 32, 48))
    torch.bmm(real(8, 64, 32, dtype=torch.float16), real(8, 32, 48, dtype=torch.float16))
    real(500, 300) @ real(300)
    torch.dot(real(5000), real(5000))
    torch.einsum("bij,bjk->bik", real(3, 20, 30), real(3, 30, 10))
    real(1000, 1000, dtype=torch.float16) @ real(1000, 1000, dtype=torch.float16)
    torch.outer(real(200), real(300))
    torch.cdist(real(100, 3), real(150, 3))
    torch.baddbmm(real(4, 50, 70), real(4, 50, 60), real(4, 60, 70))


def attention():
    for dtype, backend in ((torch.float16, torch.nn.attention.SDPBackend.FLASH_ATTENTION),
                           (torch.float32, torch.nn.attention.SDPBackend.EFFICIENT_ATTENTION),
                           (torch.float32, torch.nn.attention.SDPBackend.MATH)):
        q, k, v = (real(2, 4, 128, 64, dtype=dtype).requires_grad_() for _ in range(3))
        with torch.nn.attention.sdpa_kernel(backend):
            F.scaled_dot_product_attention(q, k, v, is_causal=True).backward(real(2, 4, 128, 64, dtype=dtype))


def optimizers():
    for kind, options in ((torch.optim.AdamW, {}), (torch.optim.SGD, {"momentum": 0.9}), (torch.optim.RMSprop, {}),
                          (torch.optim.Adam, {"fused": True})):
        weights = [real(n).requires_grad_() for n in (1000, 64, 30000, 7)]
        for w in weights:
            w.grad = real(*w.shape)
        optimizer = kind(weights, lr=1e-3, **({"foreach": True} if "fused" not in options else {}), **options)
        optimizer.step()
        if kind is torch.optim.SGD:
            torch.nn.utils.clip_grad_norm_(weights, 1.0)
            optimizer.zero_grad(set_to_none=False)


def transformer_block():
    torch.manual_seed(5)
    layer = torch.nn.TransformerEncoderLayer(128, 4, 256, dropout=0.1, batch_first=True, norm_first=True).cuda()
    torch.cuda.manual_seed(6)
    layer(real(4, 50, 128)).backward(real(4, 50, 128))
    half = torch.nn.TransformerEncoderLayer(64, 2, 128, dropout=0.0, batch_first=True).half().cuda()
    half(real(2, 32, 64, dtype=torch.float16)).sum().backward()


def residual_block():
    torch.manual_seed(7)

    class Block(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = torch.nn.Conv2d(32, 32, 3, padding=1, bias=False), torch.nn.Conv2d(32, 32, 3, padding=1)
            self.na, self.nb = torch.nn.BatchNorm2d(32), torch.nn.BatchNorm2d(32)

        def forward(self, x):
            return F.relu(self.nb(self.b(F.relu(self.na(self.a(x))))) + x)

    block = Block().cuda()
    block(real(8, 32, 16, 16).requires_grad_()).mean().backward()
    block.half().to(memory_format=torch.channels_last)
    x = real(8, 32, 16, 16, dtype=torch.float16).to(memory_format=torch.channels_last)
    block(x).sum().backward()


GROUPS = [elementwise, copying, reductions, softmaxes, norms, indexing, ordering, random, convolutions, products,
          attention, optimizers, transformer_block, residual_block]


def main():
    for group in GROUPS:
        if group.__name__ in sys.argv[1:] or len(sys.argv) == 1:
            try:
                group()
            except (RuntimeError, TypeError, ValueError, AttributeError):
                traceback.print_exc()
            torch.cuda.synchronize()


if __name__ == "__main__":
    main()
