/* Kernels chosen by their names: the base name in a mangled one, and patterns. */
#include "program/kernel_name.h"

#include "program/options.h"

#include <ctype.h>
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "regex:"

/* Itanium mangling: an unqualified name is <length><characters>; a nested one is N <names> E,
 * with template arguments I ... E after a name. The last name before the arguments of the
 * function is what counts. */
void prog_base_name(const char *mangled, char *base, size_t size)
{
    const char *p = mangled, *name = mangled;
    size_t length = strlen(mangled);
    if (strncmp(p, "_Z", 2) == 0) {
        p += 2;
        bool nested = *p == 'N';
        p += nested;
        while (*p == 'K' || *p == 'V' || *p == 'r' || *p == 'L')
            p++;
        while (isdigit((unsigned char)*p)) {
            char *end;
            unsigned long n = strtoul(p, &end, 10);
            if (n == 0 || n > strlen(end))
                break;
            name = end;
            length = n;
            p = end + n;
            if (!nested)
                break;
            if (*p == 'L')
                p++;
        }
    }
    if (length >= size)
        length = size - 1;
    memcpy(base, name, length);
    base[length] = '\0';
}

/* The expression of a pattern; NULL where the pattern is a name. */
static const char *expression_of(const char *pattern)
{
    size_t length = strlen(PREFIX);
    return strncmp(pattern, PREFIX, length) == 0 ? pattern + length : NULL;
}

/* A pattern that is ready to be matched. */
typedef struct matcher {
    const char *name; /* the whole text */
    regex_t regex;    /* where it is compiled: an expression, not a name */
    bool compiled;
} matcher;

/* WL_ARG for an expression that does not compile. The text must last as long as the matcher. */
static wl_status matcher_init(matcher *m, const char *pattern, wl_error *err)
{
    const char *expression = expression_of(pattern);
    char text[256];
    *m = (matcher){.name = pattern};
    if (!expression)
        return WL_OK;
    int code = regcomp(&m->regex, expression, REG_EXTENDED | REG_NOSUB);
    m->compiled = code == 0;
    if (m->compiled)
        return WL_OK;
    regerror(code, &m->regex, text, sizeof text);
    return wl_fail(err, WL_ARG, "%s", text);
}

static void matcher_clear(matcher *m)
{
    if (m->compiled)
        regfree(&m->regex);
}

static bool matcher_fits(const matcher *m, const char *kernel)
{
    char base[512];
    prog_base_name(kernel, base, sizeof base);
    if (m->compiled)
        return regexec(&m->regex, base, 0, NULL, 0) == 0 ||
               regexec(&m->regex, kernel, 0, NULL, 0) == 0;
    return strcmp(m->name, base) == 0 || strcmp(m->name, kernel) == 0;
}

wl_status prog_pattern_check(const char *pattern, wl_error *err)
{
    matcher m;
    wl_status status = matcher_init(&m, pattern, err);
    matcher_clear(&m);
    return status;
}

bool prog_pattern_matches(const char *pattern, const char *kernel)
{
    matcher m;
    bool fits = matcher_init(&m, pattern, NULL) == WL_OK && matcher_fits(&m, kernel);
    matcher_clear(&m);
    return fits;
}

/* ---- the kernels that this process is asked about: with each launch ---- */

static matcher wanted, unwanted; /* an empty name: all, none; they stay for good */
static pthread_once_t matchers_once = PTHREAD_ONCE_INIT;

/* An expression that does not compile was refused when the options were read. */
static void read_matchers(void)
{
    const prog_options *o = prog_options_get();
    (void)matcher_init(&wanted, o->kernel_name, NULL);
    (void)matcher_init(&unwanted, o->kernel_exclude, NULL);
}

bool prog_kernel_asked(const char *kernel)
{
    pthread_once(&matchers_once, read_matchers);
    return (!*wanted.name || matcher_fits(&wanted, kernel)) &&
           (!*unwanted.name || !matcher_fits(&unwanted, kernel));
}
