/* jansson inside an application, for the device descriptions: its archive is not made for shared
 * libraries, and its shared library must not meet another copy that the application brought. So it
 * is opened for ourselves alone, on first use; these functions stand in front of it. */
#include <dlfcn.h>
#include <jansson.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define FUNCTIONS(X)           \
    X(json_array_get)          \
    X(json_array_size)         \
    X(json_delete)             \
    X(json_integer_value)      \
    X(json_load_file)          \
    X(json_number_value)       \
    X(json_object_get)         \
    X(json_object_iter)        \
    X(json_object_iter_key)    \
    X(json_object_iter_next)   \
    X(json_object_iter_value)  \
    X(json_object_key_to_iter) \
    X(json_string_value)

static struct {
#define X(name) __typeof__(&name) name;
    FUNCTIONS(X)
#undef X
    bool complete;
} real;

static void open_library(void)
{
    void *library = dlopen("libjansson.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
#define X(name) real.name = (__typeof__(&name))dlsym(library, #name);
    FUNCTIONS(X)
#undef X
    real.complete = true;
#define X(name) real.complete &= real.name != NULL;
    FUNCTIONS(X)
#undef X
}

/* Nothing else can be called before this one has given a value. */
json_t *json_load_file(const char *path, size_t flags, json_error_t *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_library);
    if (real.complete)
        return real.json_load_file(path, flags, error);
    memset(error, 0, sizeof *error);
    snprintf(error->text, sizeof error->text, "libjansson.so.4 cannot be loaded");
    return NULL;
}

json_t *json_array_get(const json_t *array, size_t index)
{
    return real.json_array_get(array, index);
}

size_t json_array_size(const json_t *array)
{
    return real.json_array_size(array);
}

void json_delete(json_t *json)
{
    real.json_delete(json);
}

json_int_t json_integer_value(const json_t *integer)
{
    return real.json_integer_value(integer);
}

double json_number_value(const json_t *number)
{
    return real.json_number_value(number);
}

json_t *json_object_get(const json_t *object, const char *key)
{
    return real.json_object_get(object, key);
}

void *json_object_iter(json_t *object)
{
    return real.json_object_iter(object);
}

const char *json_object_iter_key(void *iter)
{
    return real.json_object_iter_key(iter);
}

void *json_object_iter_next(json_t *object, void *iter)
{
    return real.json_object_iter_next(object, iter);
}

json_t *json_object_iter_value(void *iter)
{
    return real.json_object_iter_value(iter);
}

void *json_object_key_to_iter(const char *key)
{
    return real.json_object_key_to_iter(key);
}

const char *json_string_value(const json_t *string)
{
    return real.json_string_value(string);
}
