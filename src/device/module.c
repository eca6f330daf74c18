/* Modules: device code of an image, parsed, recorded and placed on a device; kernels by name. */
#include "device/lifted.h"
#include "device/same.h"

#include "cuda/fatbin.h"
#include "ptx/link.h"
#include "ptx/ptx.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The file that the image is part of; the image may also lie in memory of its own. Lives until the
 * next call. */
static const char *mapped_file(const void *image)
{
    static char path[PATH_MAX];
    Dl_info info;
    if (!dladdr(image, &info) || !info.dli_fname)
        return "memory";
    bool program = info.dli_fname[0] != '/'; /* named as it was called */
    return realpath(program ? "/proc/self/exe" : info.dli_fname, path) ? path : info.dli_fname;
}

const char *dev_module_file(const dev_module *module)
{
    return mapped_file(module->image);
}

dev_result dev_image_result(wl_status status)
{
    switch (status) {
    case WL_OK: return DEV_OK;
    case WL_NOENT: return DEV_NO_BINARY_FOR_GPU;
    case WL_NOMEM: return DEV_NOMEM;
    case WL_UNSUPPORTED: return DEV_INVALID_PTX;
    default: return DEV_INVALID_IMAGE;
    }
}

/* The image's PTX in one text; *text is malloc'ed. */
static dev_result read_image_ptx(const dev_gpu *device, const void *image, char **text,
                                 size_t *length, wl_error *log)
{
    cuda_image found;
    wl_status status = cuda_image_read(image, CUDA_SIZE_UNKNOWN, device->description.sm, &found,
                                       log);
    if (status != WL_OK)
        return dev_image_result(status);
    if (found.count > 1) {
        status = ptx_link(found.ptx, found.count, text, length, log);
    } else {
        *text = found.ptx[0].text;
        *length = found.ptx[0].length;
        found.ptx[0].text = NULL;
    }
    cuda_image_clear(&found);
    return status == WL_OK ? DEV_OK : DEV_INVALID_PTX;
}

static uint32_t place_module_variable(void *ctx, const ir_var *var, uint64_t address, uint64_t size)
{
    dev_module *module = ctx;
    bool constant = var->space == IR_SPACE_CONST, managed = var->attributes & 1;
    emu_alloc_kind kind = constant  ? EMU_ALLOC_CONST
                          : managed ? EMU_ALLOC_MANAGED
                                    : EMU_ALLOC_SYMBOL;
    uint32_t object = rec_object_new();
    dev_block *block = dev_block_add(NULL, module->context->device, address, size, kind, object,
                                     module->context);
    if (!block)
        return 0;
    block->module = module;
    dev_object_write(block, 0, constant ? CAP_OBJECT_CONST : CAP_OBJECT_SYMBOL, module->id,
                     var->name);
    return object;
}

static dev_result add_functions(dev_module *module)
{
    for (uint32_t i = 0; i < module->ptx->nfuncs; i++) {
        const ir_func *func = module->ptx->funcs[i];
        if (!func->entry || !func->has_body)
            continue;
        dev_function *f = calloc(1, sizeof *f);
        if (!f || !wl_push(&module->functions, f)) {
            free(f);
            return DEV_NOMEM;
        }
        f->module = module;
        f->name = func->name;
        f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = -1;
        f->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
        dev_handle_add(&f->handle, DEV_FUNCTION, f);
    }
    return DEV_OK;
}

static dev_result place_module(dev_module *module, wl_error *log)
{
    module->id = rec_module(CAP_MODULE_PTX, mapped_file(module->image), module->text,
                            module->length, 0);
    wl_status status = emu_module_load(module->context->device->machine, module->ptx,
                                       place_module_variable, module, &module->loaded, log);
    if (status == WL_UNSUPPORTED)
        return DEV_NOT_SUPPORTED;
    if (status != WL_OK)
        return status == WL_NOMEM ? DEV_NOMEM : DEV_INVALID_PTX;
    return add_functions(module);
}

static void release_module(dev_module *module)
{
    dev_block *block, *next;
    HASH_ITER (hh, dev_g.blocks, block, next) {
        if (block->module == module)
            dev_block_release(block, 0, CAP_FREED_MODULE);
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        dev_handle_remove(&module->functions.data[i]->handle);
        dev_same_forget(module->functions.data[i]);
        dev_lifted_free(module->functions.data[i]->machine);
        free(module->functions.data[i]);
    }
    wl_vec_free(&module->functions);
    if (module->loaded)
        emu_module_unload(module->loaded);
    ir_module_free(module->ptx);
    dev_cubin_clear(&module->cubin);
    free(module->text);
    free(module);
}

dev_result dev_module_load(dev_context *context, const void *image, dev_module **out, wl_error *log)
{
    wl_error ignored = {0};
    dev_module *module = calloc(1, sizeof *module);
    if (!log)
        log = &ignored;
    if (!module)
        return DEV_NOMEM;
    module->context = context;
    module->image = image;
    dev_result r = read_image_ptx(context->device, image, &module->text, &module->length, log);
    if (r == DEV_OK &&
        ptx_parse(module->text, module->length, mapped_file(image), &module->ptx, log) != WL_OK)
        r = DEV_INVALID_PTX;
    if (r == DEV_OK)
        r = place_module(module, log);
    if (r) {
        release_module(module);
        return r;
    }
    dev_handle_add(&module->handle, DEV_MODULE, module);
    *out = module;
    return DEV_OK;
}

dev_result dev_module_unload(dev_module *module)
{
    dev_wait_idle(NULL, NULL);
    dev_handle_remove(&module->handle);
    release_module(module);
    return DEV_OK;
}

void dev_context_modules_unload(dev_context *context)
{
    dev_handle *h, *next;
    bool found;
    do { /* unloading removes other handles too */
        found = false;
        HASH_ITER (hh, dev_g.handles, h, next) {
            dev_module *module = h->self;
            if (h->kind == DEV_MODULE && module->context == context) {
                dev_handle_remove(h);
                release_module(module);
                found = true;
                break;
            }
        }
    } while (found);
}

dev_result dev_module_function(dev_module *module, const char *name, dev_function **function)
{
    for (size_t i = 0; i < module->functions.count; i++) {
        if (strcmp(module->functions.data[i]->name, name) == 0) {
            *function = module->functions.data[i];
            return DEV_OK;
        }
    }
    return DEV_NOT_FOUND;
}

dev_result dev_module_global(dev_module *module, const char *name, uint64_t *address,
                             uint64_t *size)
{
    return emu_module_symbol(module->loaded, name, address, size) ? DEV_OK : DEV_NOT_FOUND;
}

unsigned dev_module_count(const dev_module *module)
{
    return (unsigned)module->functions.count;
}

dev_function *dev_module_at(dev_module *module, unsigned index)
{
    return index < module->functions.count ? module->functions.data[index] : NULL;
}

dev_context *dev_module_context(const dev_module *module)
{
    return module->context;
}

/* ---- functions ---- */

const char *dev_function_name(const dev_function *function)
{
    return function->name;
}

dev_module *dev_function_module(const dev_function *function)
{
    return function->module;
}

const emu_kernel_info *dev_function_info(dev_function *function, wl_error *log)
{
    if (!function->decoded) {
        function->decoded = true;
        wl_status status = emu_module_kernel(function->module->loaded, function->name,
                                             &function->kernel, &function->error);
        if (status != WL_OK)
            function->kernel = NULL;
    }
    if (!function->kernel && log)
        *log = function->error;
    return function->kernel ? emu_kernel_get(function->kernel) : NULL;
}

dev_result dev_function_param(dev_function *function, size_t index, size_t *offset, size_t *size)
{
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info || index >= info->nparams)
        return DEV_INVALID_VALUE;
    *offset = info->param_offsets[index];
    if (size)
        *size = info->param_sizes[index];
    return DEV_OK;
}

static const cuda_device *description_of(const dev_function *function)
{
    return &function->module->context->device->description;
}

static uint64_t constant_bytes(const ir_module *ptx)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->nvars; i++)
        if (ptx->vars[i]->space == IR_SPACE_CONST)
            bytes += ir_var_size(ptx->vars[i]);
    return bytes;
}

/* What a launch may use without asking for more: the part of 48 KiB that static arrays leave. */
int dev_function_dynamic_limit(const dev_function *function, const emu_kernel_info *info)
{
    int set = function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    int limit = (int)description_of(function)->limits.shared_per_block;
    return set >= 0 ? set : limit - (int)info->static_shared;
}

static int threads_limit(const dev_function *function, const emu_kernel_info *info)
{
    const cuda_sm_limits *limits = &description_of(function)->limits;
    uint32_t most = info->max_threads;
    if (info->registers) {
        uint32_t fit = limits->registers_per_block / info->registers / 32 * 32;
        most = fit < most ? fit : most;
    }
    return (int)most;
}

dev_result dev_function_get(dev_function *function, int attribute, int *value)
{
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info)
        return DEV_NOT_SUPPORTED;
    const ir_module *ptx = function->module->ptx;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = threads_limit(function, info); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)constant_bytes(ptx); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)ptx->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)description_of(function)->sm; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = dev_function_dynamic_limit(function, info);
        break;
    default:
        if (attribute < 0 || attribute >= DEV_ATTRIBUTE_MAX)
            return DEV_INVALID_VALUE;
        *value = function->attributes[attribute];
    }
    return DEV_OK;
}

static bool is_settable(int attribute)
{
    return attribute >= CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
           attribute < DEV_ATTRIBUTE_MAX;
}

dev_result dev_function_set(dev_function *function, int attribute, int value)
{
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info)
        return DEV_NOT_SUPPORTED;
    if (!is_settable(attribute))
        return DEV_INVALID_VALUE;
    uint32_t most = description_of(function)->limits.shared_per_block_optin;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        (value < 0 || (uint32_t)value + info->static_shared > most))
        return DEV_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
        (value < -1 || value > 100))
        return DEV_INVALID_VALUE;
    function->attributes[attribute] = value;
    return DEV_OK;
}

/* ---- occupancy ---- */

/* Percent, or -1. A context that prefers L1 leaves no more shared memory than one block needs (seen
 * on an H200). */
static int preferred_carveout(const dev_function *function)
{
    int own = function->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    bool less = function->module->context->cache_config == CU_FUNC_CACHE_PREFER_L1;
    return own < 0 && less ? 0 : own;
}

static cuda_footprint footprint_of(const dev_function *function, const emu_kernel_info *info,
                                   int block, size_t shared)
{
    return (cuda_footprint){.threads = (uint32_t)block,
                            .registers = info->registers,
                            .static_shared = info->static_shared,
                            .dynamic_shared = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared,
                            .carveout = preferred_carveout(function)};
}

dev_result dev_occupancy(dev_function *function, int block, size_t shared, int *blocks)
{
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info)
        return DEV_NOT_SUPPORTED;
    if (block <= 0)
        return DEV_INVALID_VALUE;
    cuda_footprint need = footprint_of(function, info, block, shared);
    *blocks = (int)cuda_occupancy_of(description_of(function), &need).blocks;
    return DEV_OK;
}

dev_result dev_occupancy_shared(dev_function *function, int blocks, int block, size_t *shared)
{
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info)
        return DEV_NOT_SUPPORTED;
    if (block <= 0 || blocks <= 0)
        return DEV_INVALID_VALUE;
    cuda_footprint need = footprint_of(function, info, block, 0);
    *shared = cuda_occupancy_shared(description_of(function), &need, (uint32_t)blocks);
    return DEV_OK;
}

dev_result dev_occupancy_best(dev_function *function, int limit, const size_t *shared, int *block,
                              int *grid)
{
    int most;
    uint32_t fill;
    const emu_kernel_info *info = dev_function_info(function, NULL);
    if (!info)
        return DEV_NOT_SUPPORTED;
    dev_result r = dev_function_get(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &most);
    if (r)
        return r;
    cuda_footprint need = footprint_of(function, info, 0, 0);
    *block = (int)cuda_occupancy_best(description_of(function), &need,
                                      (uint32_t)(limit <= 0 || limit > most ? most : limit), shared,
                                      &fill);
    *grid = (int)fill;
    return DEV_OK;
}

dev_result dev_max_clusters(dev_function *function, const dev_launch *launch, int *clusters)
{
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    uint64_t size = (uint64_t)launch->cluster.x * launch->cluster.y * launch->cluster.z;
    int blocks;
    dev_result r = dev_occupancy(function, threads > INT32_MAX ? 0 : (int)threads, launch->shared,
                                 &blocks);
    if (r || !size)
        return r ? r : DEV_INVALID_VALUE;
    int sms = 0;
    cuda_device_attribute(description_of(function), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms);
    *clusters = (int)((uint64_t)blocks * (uint64_t)sms / size);
    return DEV_OK;
}
