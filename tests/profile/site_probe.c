/* Allocates like an application and prints what a collector would record: the return addresses of
 * each call, innermost first, then the process's executable mappings. Built with debug information
 * and without; test_sites.c reads it. */
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)        \
    do {                   \
        if ((call) != 0) { \
            return 1;      \
        }                  \
    } while (0)

#ifdef __OPTIMIZE__
#define INLINE __attribute__((always_inline))
#else
#define INLINE
#endif

int driver_alloc(void **p, size_t size);
int libcudart_static_1a2b(void **p, size_t size);
int cudaMalloc(void **p, size_t size);
float *make_buffer(size_t n);

__attribute__((noipa)) int driver_alloc(void **p, size_t size)
{
    void *frames[16];
    int n = backtrace(frames, 16);
    printf("call %zu", size);
    for (int i = 1; i < n; i++)
        printf(" %p", frames[i]);
    printf("\n");
    *p = malloc(size);
    return *p == NULL;
}

/* As in CUDA's static runtime: a function of its interface, and one within that calls the
 * driver. */
__attribute__((noipa)) int libcudart_static_1a2b(void **p, size_t size)
{
    int failed = driver_alloc(p, size);
    return failed;
}

__attribute__((noipa)) int cudaMalloc(void **p, size_t size)
{
    int failed = libcudart_static_1a2b(p, size);
    return failed;
}

__attribute__((noipa)) float *make_buffer(size_t n)
{
    void *p;
    return cudaMalloc(&p, n * sizeof(float)) ? NULL : p;
}

static inline INLINE int allocate_one(void **q, size_t n)
{
    int failed = cudaMalloc(q, n);
    return failed;
}

static void *kept[2];
static int nkept;

__attribute__((noipa)) int keep_one(size_t n)
{
    return cudaMalloc(&kept[nkept++], n);
}

static void print_maps(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, " r-xp ") && strchr(line, '/'))
            printf("map %s", line);
    fclose(maps);
}

int main(int argc, char **argv)
{
    float *d_A, *d_B;
    void *parts[3], *single, *never;
    if (argc > 1) {
        printf("%s\n", argv[1]);
        CHECK(cudaMalloc(&never, 1));
    }
    CHECK(cudaMalloc((void **)&d_A, 1024));
    CHECK(cudaMalloc((void **)&d_B, 2048));
    for (int i = 0; i < 3; i++)
        CHECK(cudaMalloc(&parts[i], 8));
    float *left = make_buffer(16);
    float *right = make_buffer(32);
    CHECK(allocate_one(&single, 100));
    CHECK(keep_one(16));
    CHECK(keep_one(32));
    print_maps();
    return left == right;
}
