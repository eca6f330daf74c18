/* Modules: device code of an image, parsed, recorded and placed on a device; kernels by name. */
#include "collect/same.h"

#include "cuda/fatbin.h"
#include "cuda/link.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The file that the image is part of; the image may also lie in memory of its own. Lives until the next call. */
static const char *file_of(const void *image)
{
    static char path[PATH_MAX];
    Dl_info info;
    if (!dladdr(image, &info) || !info.dli_fname)
        return "memory";
    bool program = info.dli_fname[0] != '/'; /* named as it was called */
    return realpath(program ? "/proc/self/exe" : info.dli_fname, path) ? path : info.dli_fname;
}

static collect_result read_status(wl_status status)
{
    switch (status) {
    case WL_NOENT: return COLLECT_NO_BINARY_FOR_GPU;
    case WL_NOMEM: return COLLECT_NOMEM;
    default: return COLLECT_INVALID_IMAGE;
    }
}

/* The image's PTX in one text; *text is malloc'ed. */
static collect_result read_text(const collect_device *device, const void *image, char **text,
                                size_t *length, wl_error *log)
{
    cuda_image found;
    wl_status status = cuda_image_read(image, CUDA_SIZE_UNKNOWN, device->description.sm, &found,
                                       log);
    if (status != WL_OK)
        return read_status(status);
    if (found.count > 1) {
        status = cuda_link_ptx(found.ptx, found.count, text, length, log);
    } else {
        *text = found.ptx[0].text;
        *length = found.ptx[0].length;
        found.ptx[0].text = NULL;
    }
    cuda_image_clear(&found);
    return status == WL_OK ? COLLECT_OK : COLLECT_INVALID_PTX;
}

static void write_module(const collect_module *module)
{
    cap_module record = {.id = module->id,
                         .name = file_of(module->image),
                         .ptx = module->text,
                         .length = module->length};
    COLLECT_WRITE(module, &record);
}

static uint32_t place_variable(void *ctx, const ptx_var *var, uint64_t address, uint64_t size)
{
    collect_module *module = ctx;
    bool constant = var->space == PTX_SPACE_CONST, managed = var->attributes & 1;
    emu_alloc_kind kind = constant  ? EMU_ALLOC_CONST
                          : managed ? EMU_ALLOC_MANAGED
                                    : EMU_ALLOC_SYMBOL;
    uint32_t object = collect_object_new();
    collect_block *block = collect_block_add(NULL, module->context->device, address, size, kind,
                                             object, module->context);
    if (!block)
        return 0;
    block->module = module;
    collect_object_write(block, 0, constant ? CAP_OBJECT_CONST : CAP_OBJECT_SYMBOL, module->id,
                         var->name);
    return object;
}

static collect_result add_functions(collect_module *module)
{
    for (uint32_t i = 0; i < module->ptx->nfuncs; i++) {
        const ptx_func *func = module->ptx->funcs[i];
        if (!func->entry || !func->has_body)
            continue;
        collect_function *f = calloc(1, sizeof *f);
        if (!f || !wl_push(&module->functions, f)) {
            free(f);
            return COLLECT_NOMEM;
        }
        f->module = module;
        f->name = func->name;
        f->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = -1;
        f->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = -1;
        collect_handle_add(&f->handle, COLLECT_FUNCTION, f);
    }
    return COLLECT_OK;
}

static collect_result place(collect_module *module, wl_error *log)
{
    module->id = ++collect_g.next_module;
    write_module(module);
    wl_status status = emu_module_load(module->context->device->machine, module->ptx,
                                       place_variable, module, &module->loaded, log);
    if (status == WL_UNSUPPORTED)
        return COLLECT_NOT_SUPPORTED;
    if (status != WL_OK)
        return status == WL_NOMEM ? COLLECT_NOMEM : COLLECT_INVALID_PTX;
    return add_functions(module);
}

static void release_module(collect_module *module)
{
    collect_block *block, *next;
    HASH_ITER (hh, collect_g.blocks, block, next) {
        if (block->module == module)
            collect_block_release(block, 0);
    }
    for (size_t i = 0; i < module->functions.count; i++) {
        collect_handle_remove(&module->functions.data[i]->handle);
        collect_same_forget(module->functions.data[i]);
        free(module->functions.data[i]);
    }
    wl_vec_free(&module->functions);
    if (module->loaded)
        emu_module_unload(module->loaded);
    ptx_module_free(module->ptx);
    free(module->text);
    free(module);
}

collect_result collect_module_load(collect_context *context, const void *image,
                                   collect_module **out, wl_error *log)
{
    wl_error ignored = {0};
    collect_module *module = calloc(1, sizeof *module);
    if (!log)
        log = &ignored;
    if (!module)
        return COLLECT_NOMEM;
    module->context = context;
    module->image = image;
    collect_result r = read_text(context->device, image, &module->text, &module->length, log);
    if (r == COLLECT_OK &&
        ptx_parse(module->text, module->length, file_of(image), &module->ptx, log) != WL_OK)
        r = COLLECT_INVALID_PTX;
    if (r == COLLECT_OK)
        r = place(module, log);
    if (r) {
        release_module(module);
        return r;
    }
    collect_handle_add(&module->handle, COLLECT_MODULE, module);
    *out = module;
    return COLLECT_OK;
}

collect_result collect_module_unload(collect_module *module)
{
    collect_wait_idle(NULL, NULL);
    collect_handle_remove(&module->handle);
    release_module(module);
    return COLLECT_OK;
}

void collect_context_modules_unload(collect_context *context)
{
    collect_handle *h, *next;
    bool found;
    do { /* unloading removes other handles too */
        found = false;
        HASH_ITER (hh, collect_g.handles, h, next) {
            collect_module *module = h->self;
            if (h->kind == COLLECT_MODULE && module->context == context) {
                collect_handle_remove(h);
                release_module(module);
                found = true;
                break;
            }
        }
    } while (found);
}

collect_result collect_module_function(collect_module *module, const char *name,
                                       collect_function **function)
{
    for (size_t i = 0; i < module->functions.count; i++) {
        if (strcmp(module->functions.data[i]->name, name) == 0) {
            *function = module->functions.data[i];
            return COLLECT_OK;
        }
    }
    return COLLECT_NOT_FOUND;
}

collect_result collect_module_global(collect_module *module, const char *name, uint64_t *address,
                                     uint64_t *size)
{
    return emu_module_symbol(module->loaded, name, address, size) ? COLLECT_OK : COLLECT_NOT_FOUND;
}

unsigned collect_module_count(const collect_module *module)
{
    return (unsigned)module->functions.count;
}

collect_function *collect_module_at(collect_module *module, unsigned index)
{
    return index < module->functions.count ? module->functions.data[index] : NULL;
}

collect_context *collect_module_context(const collect_module *module)
{
    return module->context;
}

/* ---- functions ---- */

const char *collect_function_name(const collect_function *function)
{
    return function->name;
}

collect_module *collect_function_module(const collect_function *function)
{
    return function->module;
}

const emu_kernel_info *collect_function_info(collect_function *function, wl_error *log)
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

collect_result collect_function_param(collect_function *function, size_t index, size_t *offset,
                                      size_t *size)
{
    const emu_kernel_info *info = collect_function_info(function, NULL);
    if (!info || index >= info->nparams)
        return COLLECT_INVALID_VALUE;
    *offset = info->param_offsets[index];
    if (size)
        *size = info->param_sizes[index];
    return COLLECT_OK;
}

static const cuda_device *description_of(const collect_function *function)
{
    return &function->module->context->device->description;
}

static uint64_t constant_bytes(const ptx_module *ptx)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->nvars; i++)
        if (ptx->vars[i]->space == PTX_SPACE_CONST)
            bytes += ptx_var_size(ptx->vars[i]);
    return bytes;
}

/* What a launch may use without asking for more: the part of 48 KiB that static arrays leave. */
int collect_function_dynamic_limit(const collect_function *function, const emu_kernel_info *info)
{
    int set = function->attributes[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    int limit = (int)description_of(function)->limits.shared_per_block;
    return set >= 0 ? set : limit - (int)info->static_shared;
}

static int threads_limit(const collect_function *function, const emu_kernel_info *info)
{
    const cuda_sm_limits *limits = &description_of(function)->limits;
    uint32_t most = info->max_threads;
    if (info->registers) {
        uint32_t fit = limits->registers_per_block / info->registers / 32 * 32;
        most = fit < most ? fit : most;
    }
    return (int)most;
}

collect_result collect_function_get(collect_function *function, int attribute, int *value)
{
    const emu_kernel_info *info = collect_function_info(function, NULL);
    if (!info)
        return COLLECT_NOT_SUPPORTED;
    const ptx_module *ptx = function->module->ptx;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = threads_limit(function, info); break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)constant_bytes(ptx); break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local_bytes; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)ptx->sm; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = (int)description_of(function)->sm; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = collect_function_dynamic_limit(function, info);
        break;
    default:
        if (attribute < 0 || attribute >= COLLECT_ATTRIBUTE_MAX)
            return COLLECT_INVALID_VALUE;
        *value = function->attributes[attribute];
    }
    return COLLECT_OK;
}

static bool settable(int attribute)
{
    return attribute >= CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
           attribute < COLLECT_ATTRIBUTE_MAX;
}

collect_result collect_function_set(collect_function *function, int attribute, int value)
{
    const emu_kernel_info *info = collect_function_info(function, NULL);
    if (!info)
        return COLLECT_NOT_SUPPORTED;
    if (!settable(attribute))
        return COLLECT_INVALID_VALUE;
    uint32_t most = description_of(function)->limits.shared_per_block_optin;
    if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
        (value < 0 || (uint32_t)value + info->static_shared > most))
        return COLLECT_INVALID_VALUE;
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT &&
        (value < -1 || value > 100))
        return COLLECT_INVALID_VALUE;
    function->attributes[attribute] = value;
    return COLLECT_OK;
}

/* ---- occupancy ---- */

/* Percent, or -1. A context that prefers L1 leaves no more shared memory than one block needs (seen on an H200). */
static int preferred_carveout(const collect_function *function)
{
    int own = function->attributes[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    bool less = function->module->context->cache_config == CU_FUNC_CACHE_PREFER_L1;
    return own < 0 && less ? 0 : own;
}

static cuda_footprint footprint(const collect_function *function, const emu_kernel_info *info,
                                int block, size_t shared)
{
    return (cuda_footprint){.threads = (uint32_t)block,
                            .registers = info->registers,
                            .static_shared = info->static_shared,
                            .dynamic_shared = shared > UINT32_MAX ? UINT32_MAX : (uint32_t)shared,
                            .carveout = preferred_carveout(function)};
}

collect_result collect_occupancy(collect_function *function, int block, size_t shared, int *blocks)
{
    const emu_kernel_info *info = collect_function_info(function, NULL);
    if (!info)
        return COLLECT_NOT_SUPPORTED;
    if (block <= 0)
        return COLLECT_INVALID_VALUE;
    cuda_footprint need = footprint(function, info, block, shared);
    *blocks = (int)cuda_occupancy_of(description_of(function), &need).blocks;
    return COLLECT_OK;
}

collect_result collect_occupancy_shared(collect_function *function, int blocks, int block,
                                        size_t *shared)
{
    const emu_kernel_info *info = collect_function_info(function, NULL);
    if (!info)
        return COLLECT_NOT_SUPPORTED;
    if (block <= 0 || blocks <= 0)
        return COLLECT_INVALID_VALUE;
    cuda_footprint need = footprint(function, info, block, 0);
    *shared = cuda_occupancy_shared(description_of(function), &need, (uint32_t)blocks);
    return COLLECT_OK;
}

collect_result collect_max_clusters(collect_function *function, const collect_launch *launch,
                                    int *clusters)
{
    uint64_t threads = (uint64_t)launch->block.x * launch->block.y * launch->block.z;
    uint64_t size = (uint64_t)launch->cluster.x * launch->cluster.y * launch->cluster.z;
    int blocks;
    collect_result r = collect_occupancy(function, threads > INT32_MAX ? 0 : (int)threads,
                                         launch->shared, &blocks);
    if (r || !size)
        return r ? r : COLLECT_INVALID_VALUE;
    int sms = 0;
    cuda_device_attribute(description_of(function), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &sms);
    *clusters = (int)((uint64_t)blocks * (uint64_t)sms / size);
    return COLLECT_OK;
}
