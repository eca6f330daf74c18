// Functions that are called: noinline, recursive, through pointers and virtual tables, with large returns.
struct Big {
    int v[6];
};

__device__ __noinline__ Big make_big(int seed, float scale)
{
    Big b;
    for (int i = 0; i < 6; i++)
        b.v[i] = seed * i + (int)scale;
    return b;
}

__device__ __noinline__ int ackermann(int m, int n)
{
    if (m == 0)
        return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

__device__ __noinline__ double twice(double x) { return x + x; }
__device__ __noinline__ double square(double x) { return x * x; }
__device__ __noinline__ void nothing() {}

typedef double (*unary)(double);
__device__ unary table[] = {twice, square};
__constant__ unary constant_table[2] = {square, twice};

struct Shape {
    __device__ virtual float area(float scale) const = 0;
    __device__ virtual ~Shape() {}
};

struct Circle : Shape {
    float r;
    __device__ Circle(float radius) : r(radius) {}
    __device__ float area(float scale) const override { return r * r * scale; }
};

struct Square : Shape {
    float a;
    __device__ Square(float side) : a(side) {}
    __device__ float area(float scale) const override { return a * a + scale; }
};

__global__ void call_all(double *out, int *ints, float *floats, int which, Big big)
{
    int i = threadIdx.x;
    out[i] = table[which](out[i]) + constant_table[which ^ 1](out[i]);
    Big b = make_big(i, floats[i]);
    ints[i] = b.v[i % 6] + big.v[which] + ackermann(which, 2);
    nothing();
    Circle circle(floats[i]);
    Square square_(floats[i]);
    const Shape *shape = which ? (const Shape *)&circle : (const Shape *)&square_;
    floats[i] = shape->area(2.0f);
}

extern "C" __global__ void jump_table(int *out, int n)
{
    int i = threadIdx.x, v = out[i];
    switch (n) {
    case 0: v = v * 3 + 1; break;
    case 1: v ^= 0x55; break;
    case 2: v = __popc(v); break;
    case 3: v = v / 7; break;
    case 4: v = __brev(v); break;
    case 5: v = v % 13; break;
    case 6: v = __clz(v); break;
    case 7: v = v << (i & 31); break;
    case 8: v = max(v, i); break;
    case 9: v = abs(v); break;
    default: v = -1;
    }
    out[i] = v;
}
