/* Modules and libraries, their PTX and variables, kernels by handle. */
#include "shim/hooks/unseen.h"
#include "shim/probe/probe.h"

#include "cuda/fatbin.h"
#include "ptx/link.h"
#include "ptx/outline.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_OPTIONS = 4 };

typedef struct variable {
    char *name;
    bool constant;
} variable;

struct shim_module { /* a CUmodule or a CUlibrary */
    void *handle;
    bool library;
    CUcontext context; /* of a CUmodule */
    const void *image; /* in a mapped file, read when it is needed */
    char *text;        /* PTX; malloc'ed */
    size_t length;
    unsigned char *cubin; /* what came in place of PTX; malloc'ed */
    size_t cubin_bytes;
    char *name; /* of the file */
    bool used;
    uint32_t number;             /* in the capture; 0: its code is not known */
    wl_vec(variable) variables;  /* once it is used */
    wl_vec(CUcontext) placed_in; /* a library has its variables in each context of its own */
    shim_probed *probed;         /* what its kernels can record; NULL: nothing */
    uint32_t noptions;           /* of the program's for the compiler */
    CUjit_option options[MAX_OPTIONS];
    void *values[MAX_OPTIONS];
    struct shim_module *next;
};

static shim_module *modules; /* by handle a CUlibrary's own CUmodule leads to the library's */

typedef struct alias { /* cuLibraryGetModule */
    void *handle;
    shim_module *module;
    UT_hash_handle hh;
} alias;

static alias *aliases;
static shim_function *functions;

/* ---- images ---- */

/* The file that the image is part of, malloc'ed; NULL where it lies in memory of its own. */
static char *file_of(const void *image)
{
    char path[PATH_MAX];
    Dl_info info;
    if (!dladdr(image, &info) || !info.dli_fname)
        return NULL;
    bool program = info.dli_fname[0] != '/'; /* named as it was called */
    return strdup(realpath(program ? "/proc/self/exe" : info.dli_fname, path) ? path
                                                                              : info.dli_fname);
}

/* The image's PTX as one text; false where it has none for the device. */
static bool read_module_ptx(shim_module *m, const void *image, size_t size)
{
    cuda_image found;
    wl_error err = {0};
    if (cuda_image_read(image, size, shim_g.sm, &found, &err) != WL_OK)
        return shim_compiled_find(image, size, &m->text, &m->length);
    wl_status status = WL_OK;
    if (found.count > 1) {
        status = ptx_link(found.ptx, found.count, &m->text, &m->length, &err);
    } else {
        m->text = found.ptx[0].text;
        m->length = found.ptx[0].length;
        found.ptx[0].text = NULL;
    }
    cuda_image_clear(&found);
    return status == WL_OK && m->text;
}

/* The image's PTX, or else its machine code. */
static void read_module_code(shim_module *m, const void *image, size_t size)
{
    if (!read_module_ptx(m, image, size))
        (void)cuda_image_cubin(image, size, shim_g.sm, &m->cubin, &m->cubin_bytes, NULL);
}

/* ---- variables ---- */

static CUresult find_in_library(const shim_module *m, const char *name, CUdeviceptr *address,
                                size_t *bytes)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_FOUND, cuLibraryGetGlobal,
                             (CUdeviceptr *, size_t *, CUlibrary, const char *), address, bytes,
                             (CUlibrary)m->handle, name);
    return result == CUDA_SUCCESS ? result
                                  : DRIVER(CUDA_ERROR_NOT_FOUND, cuLibraryGetManaged,
                                           (CUdeviceptr *, size_t *, CUlibrary, const char *),
                                           address, bytes, (CUlibrary)m->handle, name);
}

static CUresult find_variable(const shim_module *m, const char *name, CUdeviceptr *address,
                              size_t *bytes)
{
    if (m->library)
        return find_in_library(m, name, address, bytes);
    return DRIVER(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2,
                  (CUdeviceptr *, size_t *, CUmodule, const char *), address, bytes,
                  (CUmodule)m->handle, name);
}

bool shim_module_variable(const shim_module *m, const char *name, CUdeviceptr *address,
                          size_t *bytes)
{
    return find_variable(m, name, address, bytes) == CUDA_SUCCESS;
}

bool shim_module_in(const shim_module *m, CUcontext context)
{
    return m->library || m->context == context;
}

uint32_t shim_module_options(const shim_module *m, CUjit_option *options, void **values,
                             uint32_t most)
{
    uint32_t n = m->noptions < most ? m->noptions : most;
    memcpy(options, m->options, n * sizeof *options);
    memcpy(values, m->values, n * sizeof *values);
    return n;
}

static void add_symbol_object(shim_module *m, const variable *v, CUcontext context)
{
    CUdeviceptr address;
    size_t bytes;
    if (find_variable(m, v->name, &address, &bytes) != CUDA_SUCCESS || shim_object_find(address))
        return;
    shim_object object = {.base = address,
                          .bytes = bytes,
                          .kind = v->constant ? CAP_OBJECT_CONST : CAP_OBJECT_SYMBOL,
                          .context = context,
                          .module = m};
    shim_object_add(NULL, &object, v->name);
}

static void place_variables(shim_module *m, CUcontext context)
{
    for (size_t i = 0; i < m->placed_in.count; i++)
        if (m->placed_in.data[i] == context)
            return;
    if (!wl_push(&m->placed_in, context))
        return;
    for (size_t i = 0; i < m->variables.count; i++)
        add_symbol_object(m, &m->variables.data[i], context);
}

/* The variables that the module defines, which become objects. Parsing in earnest comes after the run. */
static void list_variables(shim_module *m)
{
    ptx_lexer x = ptx_lexer_of(m->text, m->length, NULL, NULL);
    ptx_statement s;
    ptx_next(&x);
    while (ptx_next_statement(&x, &s)) {
        bool constant = s.space == IR_SPACE_CONST;
        if (s.kind != PTX_STATEMENT_VARIABLE || s.linkage == IR_LINK_EXTERN || !s.name ||
            (!constant && s.space != IR_SPACE_GLOBAL))
            continue;
        variable v = {strndup(s.name, s.name_length), constant};
        if (!v.name || !wl_push(&m->variables, v))
            free(v.name);
    }
}

static void write_cubin(shim_module *m)
{
    if (m->cubin)
        m->number = rec_module(CAP_MODULE_CUBIN, m->name ? m->name : "memory",
                               (const char *)m->cubin, m->cubin_bytes);
    free(m->cubin);
    m->cubin = NULL;
}

static void begin_module_use(shim_module *m)
{
    m->used = true;
    if (!m->text && m->image)
        read_module_code(m, m->image, CUDA_SIZE_UNKNOWN);
    if (!m->text) {
        write_cubin(m);
        return;
    }
    m->number = rec_module(CAP_MODULE_PTX, m->name ? m->name : "memory", m->text, m->length);
    list_variables(m);
    if (shim_probes_on())
        m->probed = shim_probed_new(m->text, m->length);
    else
        free(m->text);
    m->text = NULL;
}

shim_probed *shim_module_probed(shim_module *m)
{
    if (!m->used)
        begin_module_use(m);
    return m->probed;
}

uint32_t shim_module_use(shim_module *m)
{
    if (!m->used)
        begin_module_use(m);
    if (m->variables.count)
        place_variables(m, shim_current().handle);
    return m->number;
}

/* ---- the lists ---- */

static shim_module *module_of_handle(const void *handle)
{
    alias *a = NULL;
    HASH_FIND_PTR(aliases, &handle, a);
    if (a)
        return a->module;
    shim_module *m = modules;
    while (m && m->handle != handle)
        m = m->next;
    return m;
}

static void add_alias(void *handle, shim_module *m)
{
    alias *a = NULL;
    HASH_FIND_PTR(aliases, &handle, a);
    if (!a && (a = calloc(1, sizeof *a))) {
        *a = (alias){.handle = handle, .module = m};
        HASH_ADD_PTR(aliases, handle, a);
    }
}

/* The library whose module in the current context this is. */
static shim_module *find_library(void *handle)
{
    CUmodule own;
    for (shim_module *m = modules; m; m = m->next) {
        if (!m->library ||
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLibraryGetModule, (CUmodule *, CUlibrary), &own,
                   (CUlibrary)m->handle) != CUDA_SUCCESS ||
            (void *)own != handle)
            continue;
        add_alias(handle, m);
        return m;
    }
    return NULL;
}

/* The same for a handle that some way led to which is not hooked; `name`: of a kernel or variable in it. */
static shim_module *find_or_guess(void *handle, bool library, const char *name)
{
    shim_unseen found;
    shim_module *m = module_of_handle(handle);
    if (!m && handle && !library)
        m = find_library(handle);
    if (m || !handle || !name || !(m = calloc(1, sizeof *m)))
        return m;
    m->handle = handle;
    m->library = library;
    m->context = shim_current().handle;
    if (shim_unseen_find(name, shim_g.sm, m->context, &found)) {
        m->text = found.text;
        m->length = found.length;
        m->name = found.file;
    }
    m->next = modules;
    modules = m;
    return m;
}

static void forget_functions(const shim_module *m)
{
    shim_function *f, *next;
    HASH_ITER (hh, functions, f, next) {
        if (f->module == m || !f->module) {
            HASH_DEL(functions, f);
            wl_vec_free(&f->params);
            free(f->name);
            free(f);
        }
    }
    alias *a, *next_alias;
    HASH_ITER (hh, aliases, a, next_alias) {
        if (a->module == m) {
            HASH_DEL(aliases, a);
            free(a);
        }
    }
}

static void free_module(shim_module *m)
{
    for (size_t i = 0; i < m->variables.count; i++)
        free(m->variables.data[i].name);
    wl_vec_free(&m->variables);
    wl_vec_free(&m->placed_in);
    shim_probed_free(m->probed);
    free(m->text);
    free(m->cubin);
    free(m->name);
    free(m);
}

/* Returns what its kernels recorded with. */
static shim_own *forget_module(shim_module *m)
{
    shim_module **at = &modules;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    shim_probe_module_gone(m->probed);
    shim_own *own = shim_own_take(m->probed);
    forget_functions(m);
    shim_objects_gone(NULL, m);
    free_module(m);
    return own;
}

/* A library outlives it, but not what it had there. */
static void leave_context(shim_module *m, CUcontext context)
{
    for (size_t i = m->placed_in.count; i-- > 0;)
        if (m->placed_in.data[i] == context)
            m->placed_in.data[i] = m->placed_in.data[--m->placed_in.count];
    shim_own_gone(m->probed, context);
}

void shim_modules_gone(CUcontext context)
{
    for (shim_module *m = modules, *next; m; m = next) {
        next = m->next;
        if (m->library)
            leave_context(m, context);
        else if (m->context == context)
            shim_own_free(forget_module(m), false);
    }
}

static void read_file(shim_module *m, const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (data != MAP_FAILED) {
            read_module_code(m, data, (size_t)st.st_size);
            munmap(data, (size_t)st.st_size);
        }
    }
    close(fd);
}

/* What is about to be loaded; `image` NULL: the file. What the compiler registers lies in a mapped file and stays: its code is
 * taken when a kernel of it is launched. Anything else may be gone after the call, so its code is taken now. NULL without
 * memory. */
static shim_module *new_pending_module(bool library, const void *image, const char *file)
{
    shim_module *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->library = library;
    m->name = image ? file_of(image) : realpath(file, NULL);
    bool stays = image && m->name &&
                 cuda_image_identify(image, CUDA_SIZE_UNKNOWN) == CUDA_IMAGE_WRAPPER;
    if (stays)
        m->image = image;
    else if (image)
        read_module_code(m, image, CUDA_SIZE_UNKNOWN);
    else if (file)
        read_file(m, file);
    return m;
}

/* ---- loading ---- */

typedef struct loading {
    shim_call call;
    shim_module *module; /* NULL: nothing is recorded */
} loading;

/* What the program asks of the compiler, as far as it matters to a kernel that is compiled anew. */
typedef struct wishes {
    const CUjit_option *options;
    void *const *values;
    uint32_t count;
} wishes;

static bool matters(CUjit_option option)
{
    return option == CU_JIT_MAX_REGISTERS || option == CU_JIT_THREADS_PER_BLOCK ||
           option == CU_JIT_OPTIMIZATION_LEVEL;
}

static void keep_wishes(shim_module *m, const wishes *w)
{
    for (uint32_t i = 0; w->options && w->values && i < w->count && m->noptions < MAX_OPTIONS; i++)
        if (matters(w->options[i])) {
            m->options[m->noptions] = w->options[i];
            m->values[m->noptions++] = w->values[i];
        }
}

static void begin_loading(loading *l, bool library, const void *image, const char *file, wishes w)
{
    l->module = NULL;
    if (!l->call.rec.active || (!image && !file))
        return;
    pthread_mutex_lock(&rec_g.lock);
    l->module = new_pending_module(library, image, file);
    if (l->module)
        keep_wishes(l->module, &w);
    pthread_mutex_unlock(&rec_g.lock);
}

static CUresult end_loading(loading *l, CUresult result, void *const *handle)
{
    shim_module *m = l->module;
    if (m && result == CUDA_SUCCESS) {
        pthread_mutex_lock(&rec_g.lock);
        m->handle = *handle;
        m->context = shim_current().handle;
        m->next = modules;
        modules = m;
        pthread_mutex_unlock(&rec_g.lock);
    } else if (m) {
        free_module(m);
    }
    return shim_end(&l->call, result);
}

#define LOAD(symbol, is_library, image, file, options, values, count, params, args)   \
    HOOK(symbol, params, args)                                                        \
    {                                                                                 \
        loading l;                                                                    \
        shim_begin(&l.call, #symbol, CAP_CALL_OTHER);                                 \
        begin_loading(&l, is_library, image, file, (wishes){options, values, count}); \
        return end_loading(&l, real_##symbol args, (void **)out);                     \
    }

LOAD(cuModuleLoad, false, NULL, name, NULL, NULL, 0, (CUmodule * out, const char *name),
     (out, name))
LOAD(cuModuleLoadData, false, image, NULL, NULL, NULL, 0, (CUmodule * out, const void *image),
     (out, image))
LOAD(cuModuleLoadDataEx, false, image, NULL, options, values, count,
     (CUmodule * out, const void *image, unsigned int count, CUjit_option *options, void **values),
     (out, image, count, options, values))
LOAD(cuModuleLoadFatBinary, false, image, NULL, NULL, NULL, 0, (CUmodule * out, const void *image),
     (out, image))
LOAD(cuLibraryLoadData, true, image, NULL, jit, jit_values, njit,
     (CUlibrary * out, const void *image, CUjit_option *jit, void **jit_values, unsigned int njit,
      CUlibraryOption *options, void **values, unsigned int noptions),
     (out, image, jit, jit_values, njit, options, values, noptions))
LOAD(cuLibraryLoadFromFile, true, NULL, name, jit, jit_values, njit,
     (CUlibrary * out, const char *name, CUjit_option *jit, void **jit_values, unsigned int njit,
      CUlibraryOption *options, void **values, unsigned int noptions),
     (out, name, jit, jit_values, njit, options, values, noptions))

#define UNLOAD(symbol, type)                           \
    HOOK(symbol, (type handle), (handle))              \
    {                                                  \
        shim_call call;                                \
        shim_begin(&call, #symbol, CAP_CALL_OTHER);    \
        if (call.rec.active) {                         \
            pthread_mutex_lock(&rec_g.lock);           \
            shim_module *m = module_of_handle(handle); \
            shim_own *own = NULL;                      \
            if (m && m->handle == handle)              \
                own = forget_module(m);                \
            pthread_mutex_unlock(&rec_g.lock);         \
            shim_own_free(own, true);                  \
        }                                              \
        return shim_end(&call, real_##symbol(handle)); \
    }

UNLOAD(cuModuleUnload, CUmodule)
UNLOAD(cuLibraryUnload, CUlibrary)

/* ---- looking up ---- */

static shim_function *remember_function(void *handle, const char *name, shim_module *module)
{
    static uint64_t serial;
    shim_function *f = NULL;
    HASH_FIND_PTR(functions, &handle, f);
    if (f && f->module == module && strcmp(f->name, name) == 0)
        return f;
    if (f) { /* the handle was given out again */
        HASH_DEL(functions, f);
        wl_vec_free(&f->params);
        free(f->name);
        free(f);
    }
    f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return NULL;
    }
    f->handle = handle;
    f->module = module;
    f->serial = ++serial;
    HASH_ADD_PTR(functions, handle, f);
    return f;
}

HOOK(cuModuleGetFunction, (CUfunction * out, CUmodule module, const char *name),
     (out, module, name))
{
    CUresult result = real_cuModuleGetFunction(out, module, name);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        remember_function(*out, name, find_or_guess(module, false, name));
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuLibraryGetKernel, (CUkernel * out, CUlibrary library, const char *name),
     (out, library, name))
{
    CUresult result = real_cuLibraryGetKernel(out, library, name);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        shim_function *f = remember_function(*out, name, find_or_guess(library, true, name));
        if (f)
            f->kernel = true;
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuKernelGetFunction, (CUfunction * out, CUkernel kernel), (out, kernel))
{
    CUresult result = real_cuKernelGetFunction(out, kernel);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        shim_function *known = NULL;
        HASH_FIND_PTR(functions, &kernel, known);
        if (known && (void *)kernel != (void *)*out)
            remember_function(*out, known->name, known->module);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuLibraryGetModule, (CUmodule * out, CUlibrary library), (out, library))
{
    CUresult result = real_cuLibraryGetModule(out, library);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        shim_module *m = module_of_handle(library);
        if (m)
            add_alias(*out, m);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

/* ---- variables by name: their contents will be written ---- */

static CUresult use_named_module(CUresult result, void *handle, bool library, const char *name)
{
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        shim_module *m = find_or_guess(handle, library, name);
        if (m)
            shim_module_use(m);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuModuleGetGlobal_v2, (CUdeviceptr * out, size_t *bytes, CUmodule module, const char *name),
     (out, bytes, module, name))
{
    return use_named_module(real_cuModuleGetGlobal_v2(out, bytes, module, name), module, false,
                            name);
}

HOOK(cuLibraryGetGlobal, (CUdeviceptr * out, size_t *bytes, CUlibrary library, const char *name),
     (out, bytes, library, name))
{
    return use_named_module(real_cuLibraryGetGlobal(out, bytes, library, name), library, true,
                            name);
}

HOOK(cuLibraryGetManaged, (CUdeviceptr * out, size_t *bytes, CUlibrary library, const char *name),
     (out, bytes, library, name))
{
    return use_named_module(real_cuLibraryGetManaged(out, bytes, library, name), library, true,
                            name);
}

/* ---- what a handle stands for ---- */

/* A handle that came by another way (enumeration, a table of the runtime's): the driver knows its name. A CUkernel may be
 * given where a CUfunction is expected. */
static shim_function *ask_for_function(void *handle)
{
    const char *name = NULL;
    void *owner = NULL;
    bool kernel = false;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetName, (const char **, CUfunction), &name,
               (CUfunction)handle) == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetModule, (void **, CUfunction), &owner,
               (CUfunction)handle);
    else if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetName, (const char **, CUkernel), &name,
                    (CUkernel)handle) == CUDA_SUCCESS) {
        kernel = true;
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetLibrary, (void **, CUkernel), &owner,
               (CUkernel)handle);
    }
    shim_module *m = find_or_guess(owner, kernel, name);
    shim_function *f = remember_function(handle, name ? name : "(unknown kernel)",
                                         owner ? m : NULL);
    if (f)
        f->kernel = kernel;
    return f;
}

CUfunction shim_function_handle(const shim_function *f)
{
    CUfunction function = (CUfunction)f->handle;
    if (f->kernel)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetFunction, (CUfunction *, CUkernel), &function,
               (CUkernel)f->handle);
    return function;
}

static uint32_t function_attribute(CUfunction function, int which)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value, which,
           function);
    return value > 0 ? (uint32_t)value : 0;
}

static void read_params(shim_function *f, CUfunction function)
{
    size_t offset, bytes;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0;; i++) {
        result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetParamInfo,
                        (CUfunction, size_t, size_t *, size_t *), function, i, &offset, &bytes);
        if (result != CUDA_SUCCESS)
            break;
        if (!wl_push(&f->params, ((shim_param){(uint32_t)offset, (uint32_t)bytes})))
            return;
        if (offset + bytes > f->param_bytes)
            f->param_bytes = (uint32_t)(offset + bytes);
    }
    f->params_known = result == CUDA_ERROR_INVALID_VALUE; /* that is how the list ends */
}

static void describe_function(shim_function *f)
{
    CUfunction function = shim_function_handle(f);
    f->described = true;
    f->static_shared = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    f->local_bytes = function_attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    f->registers = function_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    for (int i = 0; i < 3; i++)
        f->cluster[i] = function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i);
    read_params(f, function);
}

shim_probed_kernel *shim_function_probe(shim_function *f)
{
    if (!f->looked_for_probe && f->module) {
        shim_probed *probed = shim_module_probed(f->module);
        f->probe = probed ? shim_probed_find(probed, f->name) : NULL;
    }
    f->looked_for_probe = true;
    return f->probe;
}

shim_function *shim_function_of(void *handle)
{
    shim_function *f = NULL;
    HASH_FIND_PTR(functions, &handle, f);
    if (!f)
        f = ask_for_function(handle);
    if (f && !f->described)
        describe_function(f);
    return f;
}
