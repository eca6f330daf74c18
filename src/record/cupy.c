#include "record/cupy.h"

#include "record/parts.h"
#include "record/record.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct object object; /* PyObject */

typedef struct method { /* PyMethodDef */
    const char *name;
    object *(*call)(object *self, object *arguments);
    int flags;
    const char *doc;
} method;

enum { WITH_TUPLE = 1 }; /* METH_VARARGS */
enum { AS_FILE = 257 };  /* Py_file_input */

static struct {
    int (*is_initialized)(void);
    int (*add_pending_call)(int (*)(void *), void *);
    object *(*modules)(void);
    object *(*item)(object *, const char *);
    int (*set_item)(object *, const char *, object *);
    object *(*new_dict)(void);
    object *(*new_function)(method *, object *, object *);
    object *(*builtins)(void);
    object *(*run)(const char *, int, object *, object *);
    int (*parse)(object *, const char *, ...);
    object *(*build)(const char *, ...);
    void (*release)(object *);
    void (*clear_error)(void);
} py;

static bool find_functions(void)
{
    static const struct {
        const char *name;
        void **to;
    } wanted[] = {
        {"Py_IsInitialized", (void **)&py.is_initialized},
        {"Py_AddPendingCall", (void **)&py.add_pending_call},
        {"PyImport_GetModuleDict", (void **)&py.modules},
        {"PyDict_GetItemString", (void **)&py.item},
        {"PyDict_SetItemString", (void **)&py.set_item},
        {"PyDict_New", (void **)&py.new_dict},
        {"PyCFunction_NewEx", (void **)&py.new_function},
        {"PyEval_GetBuiltins", (void **)&py.builtins},
        {"PyRun_String", (void **)&py.run},
        {"PyArg_ParseTuple", (void **)&py.parse},
        {"Py_BuildValue", (void **)&py.build},
        {"Py_DecRef", (void **)&py.release},
        {"PyErr_Clear", (void **)&py.clear_error},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        *wanted[i].to = dlsym(RTLD_DEFAULT, wanted[i].name);
        if (!*wanted[i].to)
            return false;
    }
    return true;
}

/* ---- what the hook calls ---- */

static object *new_none(void)
{
    return py.build("");
}

static object *take_block(object *self, object *arguments)
{
    static const rec_named names = {.in = "CuPy segment", .part = "array"};
    unsigned long long base, bytes;
    (void)self;
    if (!py.parse(arguments, "KK", &base, &bytes))
        return NULL;
    rec_block_taken("cupy.cuda.MemoryPool.malloc", base, bytes, &names);
    return new_none();
}

static object *give_block(object *self, object *arguments)
{
    unsigned long long base;
    (void)self;
    if (!py.parse(arguments, "K", &base))
        return NULL;
    rec_annotate_free("cupy.cuda.MemoryPool.free", base);
    return new_none();
}

static const char source[] = "class Warplens(memory_hook.MemoryHook):\n"
                             "    name = 'warplens'\n"
                             "    def malloc_postprocess(self, **block):\n"
                             "        if block['mem_ptr']:\n"
                             "            taken(block['mem_ptr'], block['mem_size'])\n"
                             "    def free_preprocess(self, **block):\n"
                             "        if block['mem_ptr']:\n"
                             "            given(block['mem_ptr'])\n"
                             "Warplens().__enter__()\n";

/* ---- putting it in ---- */

static bool add_function(object *names, method *m)
{
    object *function = py.new_function(m, NULL, NULL);
    bool good = function && py.set_item(names, m->name, function) == 0;
    if (function)
        py.release(function);
    return good;
}

static bool run_source(object *memory_hook)
{
    static method taken = {"taken", take_block, WITH_TUPLE, NULL};
    static method given = {"given", give_block, WITH_TUPLE, NULL};
    object *names = py.new_dict(), *done = NULL;
    if (names && add_function(names, &taken) && add_function(names, &given) &&
        py.set_item(names, "memory_hook", memory_hook) == 0 &&
        py.set_item(names, "__builtins__", py.builtins()) == 0)
        done = py.run(source, AS_FILE, names, names);
    if (done)
        py.release(done);
    else
        py.clear_error();
    if (names)
        py.release(names);
    return done != NULL;
}

typedef enum progress { LOOKING, ASKED, OVER } progress;

static progress state;

/* The interpreter calls this on its main thread, with its lock, between two lines of Python. */
static int look_for_cupy(void *unused)
{
    (void)unused;
    object *modules = py.modules();
    object *memory_hook = modules ? py.item(modules, "cupy.cuda.memory_hook") : NULL;
    bool in = memory_hook && run_source(memory_hook);
    if (memory_hook && !in) {
        pthread_mutex_lock(&rec_g.lock);
        rec_remark("CuPy's arrays are not observed: its memory hooks are not as expected.");
        pthread_mutex_unlock(&rec_g.lock);
    }
    __atomic_store_n(&state, memory_hook ? OVER : LOOKING, __ATOMIC_RELEASE);
    return 0;
}

/* Programs that never load CuPy are asked ever more seldom. */
static bool is_turn(void)
{
    static uint32_t count;
    uint32_t n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
    return (n & (n - 1)) == 0;
}

void rec_cupy_look(void)
{
    static bool looked;
    progress looking = LOOKING;
    if (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != LOOKING || !is_turn())
        return;
    if (!__atomic_compare_exchange_n(&state, &looking, ASKED, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        return;
    if (!looked && !find_functions())
        __atomic_store_n(&state, OVER, __ATOMIC_RELEASE);
    else if (!py.is_initialized() || py.add_pending_call(look_for_cupy, NULL) != 0)
        __atomic_store_n(&state, LOOKING, __ATOMIC_RELEASE);
    looked = true;
}
