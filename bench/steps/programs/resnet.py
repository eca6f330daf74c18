"""A training step of ResNet-50 in PyTorch, eager: forward, backward, SGD with momentum."""
import common
import torch
import torchvision

torch.manual_seed(1)
torch.backends.cudnn.deterministic = True
model = torchvision.models.resnet50().cuda()
images = torch.randn(32, 3, 224, 224, device="cuda")
labels = torch.randint(1000, (32,), device="cuda")
common.run_torch(model, torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9),
                 lambda: torch.nn.functional.cross_entropy(model(images), labels))
