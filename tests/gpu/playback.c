/* A driver that plays back: before the driver of PLAYBACK_DRIVER it exports every function that
 * CUDA has, and gives on what it is called with, but where PLAYBACK_SCRIPT says what a call returns
 * instead. The script is a list of "function call result", with ';' between them: `call` counts the
 * calls of that function from 1, with '+' after it from that one on. What each call gave is written
 * to the file PLAYBACK_LOG, a line each: the function and the result. The program that is tested
 * writes its own results there, too (programs/playback.c). */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))
/* Numbers and pointers alike, in registers and on the stack: as many as a function has at most. */
#define TAKEN long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k
#define GIVEN a, b, c, d, e, f, g, h, i, j, k

enum { NOT_SUPPORTED = 801 };

typedef long (*any_function)(TAKEN);

typedef struct played {
    const char *name;
    any_function real; /* NULL: not looked for, or the driver lacks it */
    bool known;
    unsigned calls;
} played;

enum {
#define CU(symbol, ...) AT_##symbol,
#include "cuda/driver_api.def"
#undef CU
    FUNCTIONS
};

static played functions[FUNCTIONS] = {
#define CU(symbol, ...) {.name = #symbol},
#include "cuda/driver_api.def"
#undef CU
};

static void *driver;
static int log_file = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void open_driver(void)
{
    const char *path = getenv("PLAYBACK_DRIVER"), *name = getenv("PLAYBACK_LOG");
    driver = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
    log_file = name ? open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
}

/* Does the script say what this call returns? */
static bool is_scripted(const char *name, unsigned call, long *result)
{
    size_t length = strlen(name);
    for (const char *at = getenv("PLAYBACK_SCRIPT"); at && *at; at = strchr(at, ';')) {
        char *end;
        at += *at == ';';
        if (strncmp(at, name, length) != 0 || at[length] != ' ')
            continue;
        unsigned first = (unsigned)strtoul(at + length, &end, 10);
        bool on = *end == '+';
        if (call == first || (on && call > first)) {
            *result = strtol(end + on, NULL, 10);
            return true;
        }
    }
    return false;
}

static void tell_result(const char *name, long result)
{
    char line[128];
    int length = snprintf(line, sizeof line, "%s %ld\n", name, result);
    if (log_file >= 0 && write(log_file, line, (size_t)length) != length)
        abort();
}

static long play(played *p, TAKEN)
{
    long result = NOT_SUPPORTED;
    pthread_mutex_lock(&lock);
    unsigned call = ++p->calls;
    if (!p->known && driver)
        p->real = (any_function)dlsym(driver, p->name);
    p->known = true;
    pthread_mutex_unlock(&lock);
    if (!is_scripted(p->name, call, &result) && p->real)
        result = (int)p->real(GIVEN);
    tell_result(p->name, result);
    return result;
}

#define CU(symbol, ...)                              \
    API long symbol(TAKEN);                          \
    API long symbol(TAKEN)                           \
    {                                                \
        return play(&functions[AT_##symbol], GIVEN); \
    }
#include "cuda/driver_api.def"
