/* What the examples share: checked CUDA calls, data, and a verdict.
 *
 * Every example checks its own result and exits with 1 when it is wrong. With --skip-kernel the kernel is not launched,
 * so that a test can see that the check would notice.
 *
 * A comment "finds: <pattern> <object>, ..." at the end of a source line says what warplens reports there; the tests compare
 * these comments with the findings, and a source without any must give none. "(<gain>)" behind the object says that mending it
 * gains little, and why. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                            \
    do {                                                                       \
        cudaError_t error_ = (call);                                           \
        if (error_ != cudaSuccess) {                                           \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
                         cudaGetErrorString(error_));                          \
            std::exit(2);                                                      \
        }                                                                      \
    } while (0)

inline bool skip_kernel(int argc, char **argv)
{
    return argc > 1 && std::strcmp(argv[argc - 1], "--skip-kernel") == 0;
}

/* The first argument as a size, or the default. */
inline int size_argument(int argc, char **argv, int standard)
{
    return argc > 1 && std::atoi(argv[1]) > 0 ? std::atoi(argv[1]) : standard;
}

inline std::vector<float> numbers(size_t count, unsigned seed)
{
    std::vector<float> v(count);
    for (float &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = static_cast<float>(seed >> 20) / 2048.0f - 1.0f;
    }
    return v;
}

inline int verdict(const std::vector<float> &got, const std::vector<float> &want, float tolerance)
{
    for (size_t i = 0; i < want.size(); i++) {
        if (!(std::fabs(got[i] - want[i]) <= tolerance)) {
            std::printf("wrong at %zu: %g instead of %g\n", i, got[i], want[i]);
            return 1;
        }
    }
    std::printf("ok\n");
    return 0;
}

#endif
