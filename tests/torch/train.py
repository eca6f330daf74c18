"""Training steps as PyTorch would make them, over tensors.py."""
import threading

import tensors


class Net:
    def __init__(self):
        self.weight = tensors.Tensor(1024)  # the weight

    def forward(self, device, given):
        hidden = tensors.Tensor(256)  # the activation
        device.twice(given, hidden)
        result = tensors.Tensor(256)  # the result
        device.twice(hidden, result)
        return result


def backward():
    return tensors.Tensor(1024)  # on a thread of its own


def main():
    device = tensors.Device()
    tensors.host_tensor()
    net = Net()
    given = tensors.Tensor(512)  # the input
    for _ in range(2):
        net.forward(device, given)
    thread = threading.Thread(target=backward)
    thread.start()
    thread.join()
    del given
    refused = tensors.Tensor(1 << 50)  # too large
    assert refused.base == 0
    print(*tensors.reported())
    return net


if __name__ == "__main__":
    kept = main()  # until the interpreter's end
