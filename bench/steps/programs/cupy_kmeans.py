"""A step of k-means in CuPy, with array expressions and a kernel of its own that NVRTC compiles."""
import common
import cupy

POINTS, DIMENSIONS, CENTRES = 1 << 20, 16, 64
assign = cupy.RawKernel(r"""
extern "C" __global__ void assign(const float *points, const float *centres, int *nearest, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = 1e30f; int which = 0;
    for (int c = 0; c < 64; c++) {
        float d = 0;
        for (int k = 0; k < 16; k++) { float e = points[k * n + i] - centres[c * 16 + k]; d += e * e; }
        if (d < best) { best = d; which = c; }
    }
    nearest[i] = which;
}""", "assign", options=("-lineinfo",))
random = cupy.random.RandomState(1)
points = random.standard_normal((DIMENSIONS, POINTS), dtype=cupy.float32)
centres = points[:, :CENTRES].T.copy()


def step():
    nearest = cupy.empty(POINTS, dtype=cupy.int32)
    assign(((POINTS + 255) // 256,), (256,), (points, centres, nearest, cupy.int32(POINTS)))
    spread = ((points - points.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    order = cupy.argsort(nearest)
    sizes = cupy.bincount(nearest, minlength=CENTRES)
    ends = cupy.cumsum(sizes)
    sums = cupy.cumsum(points[:, order], axis=1)[:, cupy.maximum(ends - 1, 0)]
    own = cupy.diff(sums, axis=1, prepend=cupy.zeros((DIMENSIONS, 1), cupy.float32))
    centres[...] = (own / cupy.maximum(sizes, 1)).T + 0 * spread


common.run(step, cupy.cuda.runtime.deviceSynchronize, lambda: [cupy.asnumpy(centres)])
