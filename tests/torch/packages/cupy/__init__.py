"""What the test has in the place of CuPy: arrays of a pool that calls hooks as CuPy's does."""
import ctypes

from cupy.cuda import memory_hook

driver = ctypes.CDLL("libcuda.so.1")
SEGMENT = 1 << 20


def check(result):
    assert result == 0, result


class Pool:
    def __init__(self):
        context, base = ctypes.c_void_p(), ctypes.c_uint64()
        check(driver.cuInit(0))
        check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        check(driver.cuCtxSetCurrent(context))
        check(driver.cuMemAlloc_v2(ctypes.byref(base), ctypes.c_size_t(SEGMENT)))
        self.next, self.given_back = base.value, {}

    def malloc(self, size):
        mem_size = (size + 511) // 512 * 512
        if self.given_back.get(mem_size):
            mem_ptr = self.given_back[mem_size].pop()
        else:
            mem_ptr, self.next = self.next, self.next + mem_size
        for hook in memory_hook.hooks().values():
            hook.malloc_postprocess(device_id=0, size=size, mem_size=mem_size, mem_ptr=mem_ptr, pmem_id=mem_ptr)
        return mem_ptr, mem_size

    def free(self, mem_ptr, mem_size):
        for hook in memory_hook.hooks().values():
            hook.free_preprocess(device_id=0, mem_size=mem_size, mem_ptr=mem_ptr, pmem_id=mem_ptr)
        self.given_back.setdefault(mem_size, []).append(mem_ptr)


pool = Pool()


class Array:
    def __init__(self, size):
        self.memory = pool.malloc(size)

    def __del__(self):
        pool.free(*self.memory)


def empty(size):
    return Array(size)
