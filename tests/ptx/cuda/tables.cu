// Data with initialisers: nested arrays, structures, addresses of data and functions, strings, managed and constant memory.
struct Entry {
    const char *name;
    float value;
    const int *where;
    short pair[2];
};

__device__ int plain = 42;
__device__ const int numbers[2][3] = {{1, -2, 3}, {4, 5, -6}};
__device__ double reals[] = {1.0, -0.5, 3.25e-3, 1e300};
__device__ float floats[4] = {1.5f, -2.25f};
__device__ unsigned long long wide = 0xfedcba9876543210ull;
__device__ Entry entries[] = {{"first", 1.5f, &numbers[1][2], {1, 2}}, {"second", -0.0f, nullptr, {-3, 4}}};
__device__ const int *pointers[] = {numbers[0], &numbers[0][2], &plain};
__constant__ char text[] = "text with \"quotes\"\n";
__constant__ float weights[16];
__constant__ Entry fixed_entry = {text, 2.0f, &numbers[0][1], {7, 8}};
__managed__ int managed_value = 5;
__managed__ float managed_array[64];
static __device__ unsigned char bytes[7] = {1, 2, 3, 255};

namespace inner {
__device__ short shorts[3] = {-1, 2, -3};
}

__global__ void look_up(float *out, int i, const Entry *given)
{
    const Entry &e = entries[i & 1];
    out[0] = e.value + (float)(e.where ? *e.where : 0) + (float)e.name[i];
    out[1] = (float)numbers[i & 1][i % 3] + floats[i & 3] + weights[i & 15];
    out[2] = (float)(reals[i & 3] + (double)(wide >> (i & 63)));
    out[3] = (float)(*pointers[i % 3] + bytes[i % 7] + inner::shorts[i % 3] + text[i]);
    out[4] = fixed_entry.value + (float)*fixed_entry.where + given->value;
    managed_array[i & 63] += (float)atomicAdd(&managed_value, plain);
    bytes[i % 7]++;
}
