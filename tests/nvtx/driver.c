/* Launches by the driver's functions in ranges of NVTX; each is known by its grid. The driver is
 * looked up, so that nothing of CUDA's toolkit is needed. */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry kernel()\n{\nret;\n}\n";

static void *driver, *kernel;

static void *function(const char *name)
{
    void *found = dlsym(driver, name);
    if (!found)
        fprintf(stderr, "no %s\n", name);
    return found;
}

static int prepare(void)
{
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *), (*load)(void **, const void *);
    int (*find)(void **, void *, const char *);
    void *context, *module;
    *(void **)&init = function("cuInit");
    *(void **)&retain = function("cuDevicePrimaryCtxRetain");
    *(void **)&set = function("cuCtxSetCurrent");
    *(void **)&load = function("cuModuleLoadData");
    *(void **)&find = function("cuModuleGetFunction");
    return init(0) || retain(&context, 0) || set(context) || load(&module, ptx) ||
           find(&kernel, module, "kernel");
}

static void launch(unsigned grid)
{
    int (*run)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
               void **, void **);
    *(void **)&run = function("cuLaunchKernel");
    printf("%d", run(kernel, grid, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

int main(void)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver || prepare())
        return 1;
    launch(1);
    nvtxRangePushA("outer");
    launch(2);
    nvtxRangePushA("inner");
    launch(3);
    nvtxRangePop();
    launch(4);
    nvtxRangePop();
    const nvtxRangeId_t load = nvtxRangeStartA("load");
    launch(5);
    nvtxRangeEnd(load);
    launch(6);
    return 0;
}
