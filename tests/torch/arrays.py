"""Arrays as a program with CuPy makes them."""
import cupy


def add(given):
    result = cupy.empty(1000)  # the sum
    return result, given


def main():
    first = cupy.empty(3000)  # the first
    for _ in range(2):
        add(first)
    print(sorted(cupy.cuda.memory_hook.hooks()))
    del first


if __name__ == "__main__":
    main()
