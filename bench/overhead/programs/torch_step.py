"""torch_step.py eager|compile [--rounds N]: training steps of a small transformer; prints what the
programs in CUDA do.

    kernel step_MODE MS      for each step, on the device
    result parameters HASH   after all steps, to the bit
"""
import argparse
import hashlib
import os

os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # or matrix products may differ from run to run

import torch

VOCABULARY, WIDTH, LENGTH, BATCH = 8192, 512, 128, 16
WARM_UP = 3


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0.0, batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.out(self.layers(self.embedding(tokens)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=["eager", "compile"])
    parser.add_argument("--rounds", type=int, default=10)
    o = parser.parse_args()
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(True, warn_only=True)
    model = Model().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1), device="cuda")
    forward = torch.compile(model) if o.mode == "compile" else model

    def step():
        optimizer.zero_grad()
        logits = forward(tokens[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()

    for _ in range(WARM_UP):
        step()
    times = []
    for _ in range(o.rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda.synchronize()
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
    total = hashlib.sha256()
    for parameter in model.parameters():
        total.update(parameter.detach().cpu().numpy().tobytes())
    print("result parameters", total.hexdigest()[:16])
    for ms in times:
        print(f"kernel step_{o.mode} {ms:.6f}")


main()
