"""A training step in PyTorch, timed by itself: train.py small|large STEPS.

Prints a JSON object with the median of the steps in milliseconds, and what PyTorch's allocator says
of memory. Run it bare, and under `warplens profile`.
"""
import json
import sys
import time

import torch
from torch import nn

SIZES = {"small": (64, 8, 32), "large": (1024, 8, 8192)}  # features, blocks, rows of a batch


class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.norm = nn.LayerNorm(n)
        self.up = nn.Linear(n, 4 * n)
        self.down = nn.Linear(4 * n, n)

    def forward(self, x):
        h = self.norm(x)
        h = self.up(h)
        h = nn.functional.gelu(h)
        return x + self.down(h)


class Net(nn.Module):
    def __init__(self, n, layers):
        super().__init__()
        self.blocks = nn.ModuleList([Block(n) for _ in range(layers)])
        self.head = nn.Linear(n, 10)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def step(net, optimizer, n, batch):
    x = torch.randn(batch, n, device="cuda")
    y = torch.randint(0, 10, (batch,), device="cuda")
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss


def timed(*args):
    begin = time.perf_counter()
    step(*args)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def main():
    kind, steps = sys.argv[1], int(sys.argv[2])
    torch.manual_seed(0)
    n, layers, batch = SIZES[kind]
    net = Net(n, layers).to("cuda")
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(10):
        step(net, optimizer, n, batch)
    torch.cuda.synchronize()
    times = sorted(timed(net, optimizer, n, batch) for _ in range(steps))
    memory = torch.cuda.memory_stats()
    print(json.dumps({"kind": kind, "median_ms": 1e3 * times[len(times) // 2],
                      "used_peak": memory["allocated_bytes.all.peak"],
                      "reserved_peak": memory["reserved_bytes.all.peak"]}))


if __name__ == "__main__":
    main()
