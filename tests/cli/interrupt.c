/* Preloaded into warplens: raises a signal before or after a certain one of its calls that change
 * files, so that an interrupt comes at a point that has a number instead of at a time.
 *
 *   INTERRUPT_AT    the number of the point, from 1; before and after a call are two points
 *   INTERRUPT_BY    the signal's number
 *   INTERRUPT_SEEN  a file that is made when the point is reached
 *
 * Only the process that reads these counts, not what it starts. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h> /* renameat2 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static long points, at, by;
static const char *seen;
static pid_t self; /* 0: nothing is asked for */

static long number_of(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
    at = number_of("INTERRUPT_AT");
    by = number_of("INTERRUPT_BY");
    seen = getenv("INTERRUPT_SEEN");
    self = at && by && seen ? getpid() : 0;
    unsetenv("INTERRUPT_AT");
}

static void pass_point(void)
{
    if (!self || getpid() != self || ++points != at)
        return;
    close(open(seen, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
    raise((int)by);
}

/* The function of this name that the program would have called. */
static void *next_function(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort();
    return function;
}

#define POINTS(type, name, parameters, arguments)               \
    __attribute__((visibility("default"))) type name parameters \
    {                                                           \
        static type(*next) parameters;                          \
        if (!next)                                              \
            next = (type(*) parameters)next_function(#name);    \
        pass_point();                                           \
        type result = next arguments;                           \
        pass_point();                                           \
        return result;                                          \
    }

/* SQLite calls those with 64 in their names. */
POINTS(int, mkostemp, (char *name, int flags), (name, flags))
POINTS(char *, mkdtemp, (char *name), (name))
POINTS(int, fchmod, (int fd, mode_t mode), (fd, mode))
POINTS(ssize_t, pwrite64, (int fd, const void *data, size_t n, off_t at_byte),
       (fd, data, n, at_byte))
POINTS(int, ftruncate64, (int fd, off_t length), (fd, length))
POINTS(int, rename, (const char *from, const char *to), (from, to))
POINTS(int, renameat2,
       (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
       (from_folder, from, to_folder, to, flags))
/* Points, but not carried out: waiting for the disk would be most of the test's time. */
#define POINT_ALONE(name)                                   \
    __attribute__((visibility("default"))) int name(int fd) \
    {                                                       \
        (void)fd;                                           \
        pass_point();                                       \
        return 0;                                           \
    }

POINT_ALONE(fsync)
POINT_ALONE(fdatasync)
POINTS(int, unlink, (const char *path), (path))
POINTS(int, rmdir, (const char *path), (path))
