/* A driver that says when it is asked for a device, and has none. */
#include <stdio.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags,
                        int *found);
int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags);

int cuInit(unsigned flags)
{
    (void)flags;
    fprintf(stderr, "asked for cuInit\n");
    return 100; /* CUDA_ERROR_NO_DEVICE */
}

int cuDriverGetVersion(int *version)
{
    *version = 13000;
    return 0;
}

int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags)
{
    (void)version, (void)flags;
    *out = strcmp(name, "cuInit") == 0                  ? (void *)cuInit
           : strcmp(name, "cuDriverGetVersion") == 0    ? (void *)cuDriverGetVersion
           : strncmp(name, "cuGetProcAddress", 16) == 0 ? (void *)cuGetProcAddress_v2
                                                        : NULL;
    return *out ? 0 : 500; /* CUDA_ERROR_NOT_FOUND */
}

int cuGetProcAddress_v2(const char *name, void **out, int version, unsigned long long flags,
                        int *found)
{
    int result = cuGetProcAddress(name, out, version, flags);
    if (found)
        *found = result ? 1 : 0; /* CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND */
    return result;
}
