#!/usr/bin/env python3
"""operations.py [ROUNDS]: operations of PyTorch whose accesses depend on data, by kernels without
PTX: a sort, rows and elements taken by index, additions by index, a histogram. Prints times, and
sums of what they give, which must not depend on who watches."""
import sys
import time

import torch

n = 1 << 20
torch.manual_seed(0)
g = torch.Generator().manual_seed(1)
a = torch.rand(n, generator=g).cuda()
j = torch.randint(0, 1 << 16, (n,), generator=g).cuda()
i = torch.randint(0, n, (n,), generator=g).cuda()
big = torch.rand(1 << 16, 64, generator=g).cuda()
b = torch.zeros(1 << 16, device="cuda")
torch.cuda.synchronize()
ops = {"sort": lambda: torch.sort(a), "index_select": lambda: big.index_select(0, j), "gather": lambda: a[i],
       "scatter_add": lambda: b.scatter_add_(0, j, a), "histc": lambda: torch.histc(a, 100)}
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 1
start = time.perf_counter()
for r in range(rounds):
    for name, f in ops.items():
        s = time.perf_counter()
        out = f()
        torch.cuda.synchronize()
        if r in (0, 1, rounds - 1):
            print(f"{name} round {r}: {(time.perf_counter() - s) * 1e6:.0f} us")
total = time.perf_counter() - start
s = torch.sort(a)
print("sums", float(s.values.double().sum()), int(s.indices.sum()), float(big.index_select(0, j).double().sum()), float(torch.histc(a, 100).sum()))
print(f"rounds {rounds}: {total * 1e3:.1f} ms")
