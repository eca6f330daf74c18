#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#define CHECK(x)                                   \
    do {                                           \
        cudaError_t e = (x);                       \
        if (e) {                                   \
            printf("%s\n", cudaGetErrorString(e)); \
            exit(2);                               \
        }                                          \
    } while (0)
inline unsigned next(unsigned &s)
{
    return s = s * 1664525u + 1013904223u;
}
inline float frand(unsigned &s)
{
    return (float)(next(s) >> 16) / 65536.0f;
}
template <class T> T *upload(const std::vector<T> &v)
{
    T *d;
    CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
    CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}
template <class T> std::vector<T> download(const T *d, size_t n)
{
    std::vector<T> v(n);
    CHECK(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}
inline void print_sum(const std::vector<float> &v)
{
    unsigned long long h = 1469598103934665603ull;
    double s = 0;
    for (float f : v) {
        unsigned u;
        __builtin_memcpy(&u, &f, 4);
        h = (h ^ u) * 1099511628211ull;
        s += f;
    }
    printf("%016llx %.6g\n", h, s);
}
