/* Runs the instruction forms on the emulator and compares with what a GPU gave.
 *
 *   test_ops forms.tsv <family> data/<family>.ops.zst
 *
 * Bit-exact where the form says so, else within its tolerance. A form that the emulator refuses is
 * a failure. */
#include "base/error.h"
#include "emu/emu.h"
#include "ops_form.h"
#include "ptx/ptx.h"
#include "support/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

typedef struct recording {
    char *data;
    size_t size, at;
} recording;

static bool recording_read(const char *path, recording *out)
{
    size_t n;
    char *packed = file_read(path, &n);
    if (!packed) {
        perror(path);
        return false;
    }
    unsigned long long size = ZSTD_getFrameContentSize(packed, n);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN ||
        !(out->data = malloc(size + 1)))
        return false;
    out->size = ZSTD_decompress(out->data, size, packed, n);
    free(packed);
    if (ZSTD_isError(out->size))
        return false;
    out->data[out->size] = '\0';
    char *body = strstr(out->data, "\n\n");
    out->at = body ? (size_t)(body + 2 - out->data) : out->size;
    printf("%.*s\n", (int)out->at, out->data);
    return body != NULL;
}

/* The results of the next form, or NULL where the recording holds another one. */
static const char *recording_next(recording *r, const ops_form *form, uint64_t input_hash)
{
    size_t length = strlen(form->text), results = 0;
    for (uint32_t s = 0; s < form->ndst; s++)
        results += (size_t)ops_width(form->dst[s]) * OPS_THREADS;
    if (r->size - r->at < length + 9 + results || memcmp(r->data + r->at, form->text, length) != 0)
        return NULL;
    const char *hash = r->data + r->at + length + 1;
    if (memcmp(hash, &input_hash, 8) != 0)
        return NULL;
    r->at += length + 9 + results;
    return hash + 8;
}

static double as_float(uint64_t bits, const char *family_type, uint32_t half)
{
    if (strcmp(family_type, "f64") == 0) {
        double d;
        memcpy(&d, &bits, 8);
        return d;
    }
    uint32_t word = (uint32_t)bits;
    if (strcmp(family_type, "bf16") == 0)
        word = (uint32_t)(bits >> 16 * half) << 16;
    if (strcmp(family_type, "f16") == 0) {
        uint32_t h = bits >> 16 * half & 0xffff, e = h >> 10 & 31, m = h & 0x3ff;
        double v = e == 31 ? (m ? NAN : INFINITY)
                   : e     ? ldexp(1024 + m, (int)e - 25)
                           : ldexp(m, -24);
        return h & 0x8000 ? -v : v;
    }
    float f;
    memcpy(&f, &word, 4);
    return f;
}

/* Type in which a tolerance is meant, and how many values a register packs. */
static const char *value_type(const ops_form *form, const char *reg, uint32_t *packed)
{
    *packed = 1;
    if (reg[0] == 'f')
        return reg;
    const char *type = strstr(form->text, "bf16") ? "bf16" : "f16";
    *packed = strcmp(reg, "b32") == 0 ? 2 : 1;
    return type;
}

static bool close_enough(const ops_form *form, const char *reg, uint64_t got, uint64_t want)
{
    uint32_t packed;
    double limit = atof(strchr(form->tolerance, ' ') + 1);
    const char *type = value_type(form, reg, &packed);
    for (uint32_t h = 0; h < packed; h++) {
        double a = as_float(got, type, h), b = as_float(want, type, h);
        if ((isnan(a) && isnan(b)) || a == b)
            continue;
        if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
            return false;
        double error = fabs(a - b), size = fabs(b);
        int exponent;
        frexp(b, &exponent);
        double ulp = ldexp(1, (exponent < -125 ? -125 : exponent) - 24);
        if (form->tolerance[0] == 'u'   ? error > limit * ulp
            : form->tolerance[0] == 'r' ? error > limit * size + 1e-45
                                        : error > limit * fmax(1, size))
            return false;
    }
    return true;
}

static uint64_t load(const char *data, size_t index, uint32_t width)
{
    uint64_t value = 0;
    memcpy(&value, data + index * width, width);
    return value;
}

/* Number of results that differ; the first is printed. */
static uint32_t compare(const ops_form *form, const uint64_t *in, const uint64_t *out,
                        const char *want)
{
    uint32_t wrong = 0;
    for (uint32_t s = 0; s < form->ndst; s++) {
        uint32_t width = ops_width(form->dst[s]);
        for (uint32_t t = 0; t < OPS_THREADS; t++) {
            uint64_t expected = load(want, t, width),
                     got = load((const char *)&out[s * OPS_THREADS + t], 0, width);
            bool same = got == expected || (form->tolerance[0] != 'e' &&
                                            close_enough(form, form->dst[s], got, expected));
            if (same || wrong++)
                continue;
            printf("FAIL %s\n     d%u of thread %u: got %#llx, the GPU gave %#llx, for", form->text,
                   s, t, (unsigned long long)got, (unsigned long long)expected);
            for (uint32_t k = 0; k < form->nsrc; k++)
                printf(" %#llx", (unsigned long long)in[k * OPS_THREADS + t]);
            printf("\n");
        }
        want += (size_t)width * OPS_THREADS;
    }
    return wrong;
}

typedef struct machine {
    emu_machine *m;
    uint64_t in, out, mem;
} machine;

static bool run(machine *mc, const ops_form *form, const uint64_t *in, wl_error *err)
{
    char *ptx = ops_form_ptx(form);
    ir_module *module = NULL;
    emu_module *loaded = NULL;
    emu_kernel *kernel = NULL;
    emu_result result = {0};
    uint64_t params[] = {mc->in, mc->out, mc->mem};
    emu_launch launch = {
        .grid = {OPS_THREADS / OPS_BLOCK, 1, 1}, .block = {OPS_BLOCK, 1, 1}, .params = params};
    memcpy((void *)(uintptr_t)mc->in, in, (size_t)form->nsrc * OPS_THREADS * 8);
    memset((void *)(uintptr_t)mc->out, 0, (size_t)OPS_MAX_SLOTS * OPS_THREADS * 8);
    memset((void *)(uintptr_t)mc->mem, 0, (size_t)OPS_CELL * OPS_THREADS);
    bool ok = ptx_parse(ptx, strlen(ptx), "form.ptx", &module, err) == WL_OK &&
              ptx_verify(module, "form.ptx", err) == WL_OK &&
              emu_module_load(mc->m, module, NULL, NULL, &loaded, err) == WL_OK &&
              emu_module_kernel(loaded, "k", &kernel, err) == WL_OK;
    if (ok) {
        wl_status status = emu_run(mc->m, kernel, &launch, &result, err);
        if (status == WL_FAULT)
            snprintf(err->text, sizeof err->text, "%.900s", result.fault.text);
        ok = status == WL_OK;
    }
    emu_result_clear(&result);
    if (loaded)
        emu_module_unload(loaded);
    ir_module_free(module);
    free(ptx);
    return ok;
}

static bool machine_open(machine *mc)
{
    const emu_device device = {.sm = 90,
                               .num_sms = 132,
                               .max_threads_per_block = 1024,
                               .max_shared_per_block = 232448,
                               .max_blocks_per_sm = 32,
                               .max_threads_per_sm = 2048,
                               .shared_per_sm = 233472,
                               .global_bytes = UINT64_C(1) << 32,
                               .clock_khz = 1980000};
    wl_error err;
    size_t slots = (size_t)OPS_MAX_SLOTS * OPS_THREADS * 8;
    if (emu_machine_new(&device, &mc->m, &err) != WL_OK ||
        emu_mem_alloc(mc->m, slots, 256, EMU_ALLOC_DEVICE, 1, &mc->in) != WL_OK ||
        emu_mem_alloc(mc->m, slots, 256, EMU_ALLOC_DEVICE, 2, &mc->out) != WL_OK ||
        emu_mem_alloc(mc->m, (uint64_t)OPS_CELL * OPS_THREADS, 256, EMU_ALLOC_DEVICE, 3,
                      &mc->mem) != WL_OK) {
        fprintf(stderr, "cannot set up the emulator: %s\n", err.text);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static uint64_t in[OPS_MAX_SLOTS * OPS_THREADS];
    ops_forms forms;
    recording rec;
    machine mc;
    if (argc != 4 || !ops_forms_read(argv[1], &forms) || !recording_read(argv[3], &rec) ||
        !machine_open(&mc))
        return 2;
    uint32_t passed = 0, failed = 0;
    for (uint32_t i = 0; i < forms.count; i++) {
        const ops_form *form = &forms.rows[i];
        if (strcmp(form->family, argv[2]) != 0)
            continue;
        wl_error err = {0};
        ops_form_inputs(form, in);
        const char *want = recording_next(&rec, form,
                                          XXH64(in, (size_t)form->nsrc * OPS_THREADS * 8, 0));
        if (!want) {
            printf("FAIL %s: the recording holds no such form with these inputs; record again\n",
                   form->text);
            failed++;
            break;
        }
        bool ran = run(&mc, form, in, &err);
        if (!ran)
            printf("FAIL %s\n     %s\n", form->text, err.text);
        uint32_t wrong = ran ? compare(form, in, (const uint64_t *)(uintptr_t)mc.out, want) : 1;
        if (ran && wrong)
            printf("     %u of %u results differ\n", wrong, form->ndst * OPS_THREADS);
        *(wrong ? &failed : &passed) += 1;
    }
    emu_machine_free(mc.m);
    ops_forms_free(&forms);
    free(rec.data);
    printf("%u passed, %u failed\n", passed, failed);
    return failed || !passed;
}
