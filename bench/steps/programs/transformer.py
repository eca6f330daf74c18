"""A training step of a transformer in PyTorch, eager: forward, backward, AdamW."""
import common
import torch

VOCABULARY, WIDTH, LENGTH, BATCH = 8192, 768, 256, 16

torch.manual_seed(1)
torch.use_deterministic_algorithms(True, warn_only=True)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        layer = torch.nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, dropout=0.1, batch_first=True, norm_first=True)
        self.layers = torch.nn.TransformerEncoder(layer, 6, enable_nested_tensor=False)
        self.out = torch.nn.Linear(WIDTH, VOCABULARY)

    def forward(self, tokens):
        return self.out(self.layers(self.embedding(tokens)))


model = Model().cuda()
tokens = torch.randint(VOCABULARY, (BATCH, LENGTH + 1), device="cuda")
common.run_torch(model, torch.optim.AdamW(model.parameters(), lr=1e-4), lambda: torch.nn.functional.cross_entropy(
    model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()))
