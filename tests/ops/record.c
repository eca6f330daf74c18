/* Runs the instruction forms on a GPU and writes their results.
 *
 *   ops_record forms.tsv folder
 *
 * writes folder/<family>.ops, one a family: a text line "warplens-ops 1", lines "chip", "driver"
 * and "date", an empty line, then for each form: its text and a newline, u64 hash of the inputs,
 * and ndst * OPS_THREADS results of the slot's width, little-endian. Needs nothing but the driver:
 * CUDA's functions come from libcuda.so.1 at run time. Build: cc -O1 -I.. -o ops_record record.c
 * ops_form.c ops_inputs.c ../support/file.c -lm -ldl */
#include "ops_form.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

typedef int (*fn)();
static void *driver;

static fn need(const char *name)
{
    fn f = (fn)dlsym(driver, name);
    if (!f) {
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
        exit(1);
    }
    return f;
}

static void check(int result, const char *what)
{
    if (result) {
        fprintf(stderr, "%s: CUDA error %d\n", what, result);
        exit(1);
    }
}

typedef struct gpu {
    char name[128];
    int version;
    unsigned long long in, out, mem;
} gpu;

static void gpu_open(gpu *g)
{
    int device;
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) {
        fprintf(stderr, "no GPU driver here: %s\n", dlerror());
        exit(77);
    }
    check(need("cuInit")(0), "cuInit");
    check(need("cuDeviceGet")(&device, 0), "cuDeviceGet");
    check(need("cuDeviceGetName")(g->name, (int)sizeof g->name, device), "cuDeviceGetName");
    check(need("cuDriverGetVersion")(&g->version), "cuDriverGetVersion");
    check(need("cuDevicePrimaryCtxRetain")(&context, device), "cuDevicePrimaryCtxRetain");
    check(need("cuCtxSetCurrent")(context), "cuCtxSetCurrent");
    size_t slots = (size_t)OPS_MAX_SLOTS * OPS_THREADS * 8;
    check(need("cuMemAlloc_v2")(&g->in, slots), "cuMemAlloc");
    check(need("cuMemAlloc_v2")(&g->out, slots), "cuMemAlloc");
    check(need("cuMemAlloc_v2")(&g->mem, (size_t)OPS_CELL * OPS_THREADS), "cuMemAlloc");
}

static bool run(gpu *g, const ops_form *form, const uint64_t *in, uint64_t *out)
{
    char log[2048] = "";
    int options[] = {5, 6}; /* CU_JIT_ERROR_LOG_BUFFER, its size */
    void *values[] = {log, (void *)sizeof log}, *module, *kernel;
    void *params[] = {&g->in, &g->out, &g->mem};
    char *ptx = ops_form_ptx(form);
    int result = need("cuModuleLoadDataEx")(&module, ptx, 2, options, values);
    free(ptx);
    if (result) {
        fprintf(stderr, "not recorded: %s: %s\n", form->text, log);
        return false;
    }
    check(need("cuModuleGetFunction")(&kernel, module, "k"), "cuModuleGetFunction");
    check(need("cuMemcpyHtoD_v2")(g->in, in, (size_t)form->nsrc * OPS_THREADS * 8), "cuMemcpyHtoD");
    check(need("cuMemsetD8_v2")(g->out, 0, (size_t)OPS_MAX_SLOTS * OPS_THREADS * 8), "cuMemsetD8");
    check(need("cuMemsetD8_v2")(g->mem, 0, (size_t)OPS_CELL * OPS_THREADS), "cuMemsetD8");
    check(need("cuLaunchKernel")(kernel, OPS_THREADS / OPS_BLOCK, 1, 1, OPS_BLOCK, 1, 1, 0, NULL,
                                 params, NULL),
          form->text);
    check(need("cuCtxSynchronize")(), form->text);
    check(need("cuMemcpyDtoH_v2")(out, g->out, (size_t)form->ndst * OPS_THREADS * 8),
          "cuMemcpyDtoH");
    check(need("cuModuleUnload")(module), "cuModuleUnload");
    return true;
}

static FILE *family_open(const gpu *g, const char *folder, const char *family)
{
    char path[512], date[32];
    snprintf(path, sizeof path, "%s/%s.ops", folder, family);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        exit(1);
    }
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    const char *driver_version = getenv("OPS_DRIVER");
    fprintf(f, "warplens-ops 1\nchip %s\ndriver %s, CUDA %d.%d\ndate %s\n\n", g->name,
            driver_version ? driver_version : "unknown", g->version / 1000, g->version % 1000 / 10,
            date);
    return f;
}

int main(int argc, char **argv)
{
    ops_forms forms;
    static uint64_t in[OPS_MAX_SLOTS * OPS_THREADS], out[OPS_MAX_SLOTS * OPS_THREADS];
    if (argc != 3 || !ops_forms_read(argv[1], &forms))
        return 2;
    gpu g = {0};
    gpu_open(&g);
    FILE *file = NULL;
    unsigned recorded = 0;
    for (uint32_t i = 0; i < forms.count; i++) {
        const ops_form *form = &forms.rows[i];
        if (i == 0 || strcmp(form->family, forms.rows[i - 1].family) != 0) {
            if (file)
                fclose(file);
            file = family_open(&g, argv[2], form->family);
        }
        ops_form_inputs(form, in);
        if (!run(&g, form, in, out))
            continue;
        uint64_t hash = XXH64(in, (size_t)form->nsrc * OPS_THREADS * 8, 0);
        fprintf(file, "%s\n", form->text);
        fwrite(&hash, 8, 1, file);
        for (uint32_t s = 0; s < form->ndst; s++)
            for (uint32_t t = 0; t < OPS_THREADS; t++)
                fwrite(&out[s * OPS_THREADS + t], ops_width(form->dst[s]), 1, file);
        recorded++;
    }
    if (file)
        fclose(file);
    printf("%u of %u forms recorded on %s\n", recorded, forms.count, g.name);
    ops_forms_free(&forms);
    return recorded == forms.count ? 0 : 1;
}
