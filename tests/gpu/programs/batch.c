/* batch: copies two volumes by one call, the second a plain row; then frees memory and launches a
 * graph on a stream that is being captured. On the driver that does nothing. */
#include "driver.h"

#include <stdbool.h>

static const CUDA_MEMCPY3D_BATCH_OP *volumes(CUdeviceptr from, CUdeviceptr to)
{
    static CUDA_MEMCPY3D_BATCH_OP list[2];
    for (int i = 0; i < 2; i++) {
        list[i].src.type = list[i].dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
        list[i].src.op.ptr.ptr = from;
        list[i].dst.op.ptr.ptr = to;
        list[i].extent.width = 32;
        list[i].extent.height = list[i].extent.depth = 1;
    }
    list[0].extent.height = 4;
    list[0].extent.depth = 2;
    list[0].src.op.ptr.rowLength = 64;
    list[0].src.op.ptr.layerHeight = 8;
    return list;
}

int main(void)
{
    CUcontext context;
    CUdeviceptr from, to;
    CUstream stream;
    CUgraph graph;
    void (*behave)(bool, bool);
    void *behind = dlopen(getenv("WARPLENS_DRIVER"), RTLD_NOW);
    if (!(driver = dlopen("libcuda.so.1", RTLD_NOW)) || !behind)
        return 2;
    *(void **)&behave = dlsym(behind, "null_driver_behave");
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &from, 4096);
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &to, 4096);
    CALL(cuStreamCreate, (CUstream *, unsigned), &stream, 0);
    CALL(cuMemcpy3DBatchAsync_v2,
         (size_t, const CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream), 2,
         volumes(from, to), 0, stream);
    CALL(cuStreamBeginCapture_v2, (CUstream, int), stream, 0);
    behave(false, true);
    CALL(cuMemFreeAsync, (CUdeviceptr, CUstream), to, stream);
    CALL(cuGraphLaunch, (CUgraphExec, CUstream), (CUgraphExec)0x10, stream);
    behave(false, false);
    CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph);
    CALL(cuMemFree_v2, (CUdeviceptr), from);
    printf("done\n");
    return 0;
}
