/* Modules and libraries: their code and their variables. */
#include "shim/driver/impl.h"

#include "cuda/fatbin.h"
#include "program/options.h"
#include "ptx/link.h"
#include "ptx/outline.h"
#include "record/record.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The compiler's options that a program's machine code depends on. */
static const CUjit_option jit_options[] = {CU_JIT_MAX_REGISTERS, CU_JIT_THREADS_PER_BLOCK,
                                           CU_JIT_OPTIMIZATION_LEVEL};
enum { JIT_OPTIONS = sizeof jit_options / sizeof *jit_options };

typedef struct variable {
    char *name;
    bool constant;
} variable;

struct drv_module { /* a CUmodule or a CUlibrary */
    void *handle;
    bool library;
    CUcontext context; /* of a CUmodule */
    const void *image; /* in a mapped file, read when it is needed */
    char *text;        /* PTX; malloc'ed */
    size_t length;
    unsigned char *cubin; /* what came in place of PTX, or what runs of it; malloc'ed */
    size_t cubin_bytes;
    const char *no_cubin; /* why the latter is not known */
    cuda_layouts layouts; /* of its kernels, once it is used */
    char *name;           /* of the file */
    bool used;
    uint32_t number;             /* in the capture; 0: its code is not known */
    wl_vec(variable) variables;  /* once it is used */
    wl_vec(CUcontext) placed_in; /* a library has its variables in each context of its own */
    bool jit_given[JIT_OPTIONS]; /* by the program, and which value then */
    void *jit_values[JIT_OPTIONS];
    struct drv_module *next;
};

static drv_module *modules; /* by handle a CUlibrary's own CUmodule leads to the library's */

typedef struct alias { /* cuLibraryGetModule */
    void *handle;
    drv_module *module;
    UT_hash_handle hh;
} alias;

static alias *aliases;
static bool keeps_texts, keeps_cubins;

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
static bool read_module_ptx(drv_module *m, const void *image, size_t size)
{
    cuda_image found;
    if (cuda_image_read(image, size, drv_sm(), &found, NULL) != WL_OK)
        return drv_compiled_find(image, size, &m->text, &m->length);
    wl_status status = WL_OK;
    if (found.count > 1) {
        status = ptx_link(found.ptx, found.count, &m->text, &m->length, NULL);
    } else {
        m->text = found.ptx[0].text;
        m->length = found.ptx[0].length;
        found.ptx[0].text = NULL;
    }
    cuda_image_clear(&found);
    return status == WL_OK && m->text;
}

/* CUDA_FORCE_PTX_JIT has the driver compile PTX in any case. */
static bool compiles_always(void)
{
    const char *forced = getenv("CUDA_FORCE_PTX_JIT");
    return forced && strcmp(forced, "") != 0 && strcmp(forced, "0") != 0;
}

/* The image's PTX, or else its machine code; both where that is asked for, if it is what runs. */
static void read_module_code(drv_module *m, const void *image, size_t size)
{
    bool ptx = read_module_ptx(m, image, size);
    if (ptx && strcmp(prog_options_get()->code, "machine") != 0)
        return;
    if (ptx && compiles_always())
        m->no_cubin = "CUDA_FORCE_PTX_JIT has the driver compile it";
    else if (cuda_image_cubin(image, size, drv_sm(), &m->cubin, &m->cubin_bytes, NULL) != WL_OK)
        m->no_cubin = "there is no machine code beside it that the device runs, so that the driver "
                      "compiles it";
}

/* ---- variables ---- */

static CUresult find_in_library(const drv_module *m, const char *name, CUdeviceptr *address,
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

static CUresult find_variable(const drv_module *m, const char *name, CUdeviceptr *address,
                              size_t *bytes)
{
    if (m->library)
        return find_in_library(m, name, address, bytes);
    return DRIVER(CUDA_ERROR_NOT_FOUND, cuModuleGetGlobal_v2,
                  (CUdeviceptr *, size_t *, CUmodule, const char *), address, bytes,
                  (CUmodule)m->handle, name);
}

bool drv_module_variable(const drv_module *m, const char *name, CUdeviceptr *address, size_t *bytes)
{
    return find_variable(m, name, address, bytes) == CUDA_SUCCESS;
}

bool drv_module_in(const drv_module *m, CUcontext context)
{
    return m->library || m->context == context;
}

uint32_t drv_module_jit_options(const drv_module *m, CUjit_option *options, void **values,
                                uint32_t most)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < JIT_OPTIONS && n < most; i++)
        if (m->jit_given[i]) {
            options[n] = jit_options[i];
            values[n++] = m->jit_values[i];
        }
    return n;
}

static void add_symbol_object(drv_module *m, const variable *v, CUcontext context)
{
    CUdeviceptr address;
    size_t bytes;
    if (find_variable(m, v->name, &address, &bytes) != CUDA_SUCCESS || drv_object_find(address))
        return;
    drv_object object = {.base = address,
                         .bytes = bytes,
                         .number = rec_object_new(),
                         .kind = v->constant ? CAP_OBJECT_CONST : CAP_OBJECT_SYMBOL,
                         .context = context,
                         .module = m};
    if (drv_object_add(&object))
        drv_object_record(&object, 0, v->name);
}

static void place_variables(drv_module *m, CUcontext context)
{
    for (size_t i = 0; i < m->placed_in.count; i++)
        if (m->placed_in.data[i] == context)
            return;
    if (!wl_push(&m->placed_in, context))
        return;
    for (size_t i = 0; i < m->variables.count; i++)
        add_symbol_object(m, &m->variables.data[i], context);
}

/* The variables that the module defines, which become objects. Parsing in earnest comes after the
 * run. */
static void list_variables(drv_module *m)
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

/* Whether the report says it of another module of the same file, with or without machine code. */
static bool is_code_told(const drv_module *m)
{
    for (const drv_module *other = modules; other; other = other->next)
        if (other != m && other->used && !other->no_cubin == !m->no_cubin &&
            (m->name ? other->name && strcmp(m->name, other->name) == 0 : !other->name))
            return true;
    return false;
}

static void tell_code(const drv_module *m, const char *name)
{
    if (is_code_told(m))
        return;
    if (m->no_cubin)
        rec_remark("Kernels of %s are counted by their PTX, not by machine code: %s", name,
                   m->no_cubin);
    else
        rec_remark("Kernels of %s are counted by its machine code for sm_%u where all that they "
                   "access follows from their launches, but for those that are named",
                   name, cuda_cubin_sm(m->cubin, m->cubin_bytes));
}

/* Of a module with PTX what its kernels run, where that was asked for. */
static void write_cubin_beside(drv_module *m)
{
    const char *name = m->name ? m->name : "memory";
    if (strcmp(prog_options_get()->code, "machine") != 0)
        return;
    if (m->cubin)
        rec_module(CAP_MODULE_CUBIN, name, (const char *)m->cubin, m->cubin_bytes, m->number);
    else if (!m->no_cubin)
        m->no_cubin = "how it was loaded was not observed";
    tell_code(m, name);
    free(m->cubin);
    m->cubin = NULL;
}

static void list_cubin_variables(drv_module *m)
{
    cuda_variables found;
    cuda_cubin_variables(m->cubin, m->cubin_bytes, &found);
    for (size_t i = 0; i < found.count; i++) {
        variable v = {found.list[i].name, found.list[i].constant};
        if (wl_push(&m->variables, v))
            found.list[i].name = NULL;
    }
    cuda_variables_clear(&found);
}

static void write_cubin(drv_module *m)
{
    if (!m->cubin)
        return;
    m->number = rec_module(CAP_MODULE_CUBIN, m->name ? m->name : "memory", (const char *)m->cubin,
                           m->cubin_bytes, 0);
    cuda_cubin_layouts(m->cubin, m->cubin_bytes, &m->layouts);
    list_cubin_variables(m);
    if (keeps_cubins)
        return;
    free(m->cubin);
    m->cubin = NULL;
}

static void begin_module_use(drv_module *m)
{
    m->used = true;
    if (!m->text && m->image)
        read_module_code(m, m->image, CUDA_SIZE_UNKNOWN);
    if (!m->text) {
        write_cubin(m);
        return;
    }
    m->number = rec_module(CAP_MODULE_PTX, m->name ? m->name : "memory", m->text, m->length, 0);
    write_cubin_beside(m);
    list_variables(m);
    if (keeps_texts)
        return;
    free(m->text);
    m->text = NULL;
}

void drv_keep_texts(void)
{
    keeps_texts = true;
}

void drv_keep_cubins(void)
{
    keeps_cubins = true;
}

bool drv_module_has_cubin(drv_module *m)
{
    if (!m->used)
        begin_module_use(m);
    return m->cubin_bytes != 0;
}

const void *drv_module_cubin(const drv_module *m, size_t *bytes)
{
    *bytes = m->cubin_bytes;
    return m->cubin;
}

char *drv_module_take_text(drv_module *m, size_t *length)
{
    if (!m->used)
        begin_module_use(m);
    char *text = m->text;
    *length = m->length;
    m->text = NULL;
    return text;
}

const cuda_layout *drv_module_layout(drv_module *m, const char *kernel)
{
    if (!m->used)
        begin_module_use(m);
    return cuda_layout_of(&m->layouts, kernel);
}

uint32_t drv_module_use(drv_module *m)
{
    if (!m->used)
        begin_module_use(m);
    if (m->variables.count)
        place_variables(m, drv_current().handle);
    return m->number;
}

/* ---- the lists ---- */

drv_module *drv_module_of(const void *handle)
{
    alias *a = NULL;
    HASH_FIND_PTR(aliases, &handle, a);
    if (a)
        return a->module;
    drv_module *m = modules;
    while (m && m->handle != handle)
        m = m->next;
    return m;
}

bool drv_module_has_handle(const drv_module *m, const void *handle)
{
    return m->handle == handle;
}

static void add_module_alias(void *handle, drv_module *m)
{
    alias *a = NULL;
    HASH_FIND_PTR(aliases, &handle, a);
    if (!a && (a = calloc(1, sizeof *a))) {
        *a = (alias){.handle = handle, .module = m};
        HASH_ADD_PTR(aliases, handle, a);
    }
}

void drv_library_has_module(drv_module *library, void *handle)
{
    add_module_alias(handle, library);
}

/* The library whose module in the current context this is. */
static drv_module *find_library(void *handle)
{
    CUmodule own;
    for (drv_module *m = modules; m; m = m->next) {
        if (!m->library ||
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuLibraryGetModule, (CUmodule *, CUlibrary), &own,
                   (CUlibrary)m->handle) != CUDA_SUCCESS ||
            (void *)own != handle)
            continue;
        add_module_alias(handle, m);
        return m;
    }
    return NULL;
}

drv_module *drv_module_find(void *handle, bool library, const char *name)
{
    drv_unseen found;
    drv_module *m = drv_module_of(handle);
    if (!m && handle && !library)
        m = find_library(handle);
    if (m || !handle || !name || !(m = calloc(1, sizeof *m)))
        return m;
    m->handle = handle;
    m->library = library;
    m->context = drv_current().handle;
    if (drv_unseen_find(name, drv_sm(), m->context, &found)) {
        m->text = found.text;
        m->length = found.length;
        m->name = found.file;
    }
    m->next = modules;
    modules = m;
    return m;
}

static void forget_aliases(const drv_module *m)
{
    alias *a, *next;
    HASH_ITER (hh, aliases, a, next) {
        if (a->module == m) {
            HASH_DEL(aliases, a);
            free(a);
        }
    }
}

void drv_module_free(drv_module *m)
{
    for (size_t i = 0; i < m->variables.count; i++)
        free(m->variables.data[i].name);
    wl_vec_free(&m->variables);
    wl_vec_free(&m->placed_in);
    free(m->text);
    free(m->cubin);
    cuda_layouts_clear(&m->layouts);
    free(m->name);
    free(m);
}

void drv_module_forget(drv_module *m)
{
    drv_module **at = &modules;
    while (*at != m)
        at = &(*at)->next;
    *at = m->next;
    drv_functions_gone(m);
    forget_aliases(m);
    drv_module_objects_gone(m);
    drv_module_free(m);
}

drv_module *drv_module_of_context(CUcontext context)
{
    drv_module *m = modules;
    while (m && (m->library || m->context != context))
        m = m->next;
    return m;
}

static void leave_context(drv_module *m, CUcontext context)
{
    for (size_t i = m->placed_in.count; i-- > 0;)
        if (m->placed_in.data[i] == context)
            m->placed_in.data[i] = m->placed_in.data[--m->placed_in.count];
}

void drv_libraries_leave(CUcontext context)
{
    for (drv_module *m = modules; m; m = m->next)
        if (m->library)
            leave_context(m, context);
}

static void read_file(drv_module *m, const char *path)
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

/* ---- loading ---- */

/* Of an option that is given twice the latter counts. */
static void keep_jit_option(drv_module *m, CUjit_option option, void *value)
{
    for (uint32_t i = 0; i < JIT_OPTIONS; i++)
        if (jit_options[i] == option) {
            m->jit_given[i] = true;
            m->jit_values[i] = value;
        }
}

static void keep_jit_options(drv_module *m, const drv_jit_options *jit)
{
    for (uint32_t i = 0; jit->options && jit->values && i < jit->count; i++)
        keep_jit_option(m, jit->options[i], jit->values[i]);
}

/* What the compiler registers lies in a mapped file and stays: its code is taken when a kernel of
 * it is launched. Anything else may be gone after the call, so its code is taken now. */
drv_module *drv_module_new(bool library, const void *image, const char *file, drv_jit_options jit)
{
    drv_module *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->library = library;
    m->name = image ? file_of(image) : realpath(file, NULL);
    keep_jit_options(m, &jit);
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

void drv_module_loaded(drv_module *m, void *handle)
{
    m->handle = handle;
    m->context = drv_current().handle;
    m->next = modules;
    modules = m;
}
