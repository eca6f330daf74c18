"""What the test has in the place of PyTorch: tensors over libc10_cuda.so. Installed into a
folder site-packages."""
import ctypes
import os

HERE = os.path.dirname(os.path.abspath(__file__))
c10 = ctypes.CDLL(os.path.join(HERE, "libc10.so"))
allocator = ctypes.CDLL(os.path.join(HERE, "libc10_cuda.so"))  # calls give the interpreter's lock away
allocator.tensor_new.restype = ctypes.c_uint64
allocator.tensor_new.argtypes = [ctypes.c_size_t]
allocator.tensor_free.argtypes = [ctypes.c_uint64]
cuda = ctypes.CDLL("libcuda.so.1")

PTX = b"""
.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 from, .param .u64 to)
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.s64 %rd5, %rd2, %rd3;
    ld.global.u32 %r2, [%rd4];
    add.s32 %r3, %r2, %r2;
    st.global.u32 [%rd5], %r3;
    ret;
}
"""


def check(result):
    assert result == 0, result


class Device:
    def __init__(self):
        check(cuda.cuInit(0))
        self.context = ctypes.c_void_p()
        check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(self.context), 0))
        check(cuda.cuCtxSetCurrent(self.context))
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        check(cuda.cuModuleLoadData(ctypes.byref(module), PTX))
        check(cuda.cuModuleGetFunction(ctypes.byref(self.function), module, b"twice"))

    def twice(self, source, target):
        values = [ctypes.c_uint64(source.base), ctypes.c_uint64(target.base)]
        params = (ctypes.c_void_p * 2)(*[ctypes.addressof(value) for value in values])
        check(cuda.cuLaunchKernel(self.function, 1, 1, 1, 32, 1, 1, 0, None, params, None))


class Tensor:
    def __init__(self, count):
        self.base = allocator.tensor_new(4 * count)

    def __del__(self):
        allocator.tensor_free(self.base)


def host_tensor():
    allocator.host_tensor()


def reported():
    """Bytes that came to libc10.so: handed out, less taken back; and refused."""
    return [ctypes.c_int64.in_dll(c10, name).value for name in ("reported_bytes", "refused_bytes")]
