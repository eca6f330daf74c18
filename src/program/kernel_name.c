/* Kernels chosen by their names: the base name in a mangled one, and patterns. */
#include "program/kernel_name.h"

#include "program/options.h"

#include <ctype.h>
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

static int compile_expression(regex_t *regex, const char *expression)
{
    return regcomp(regex, expression, REG_EXTENDED | REG_NOSUB);
}

wl_status prog_pattern_check(const char *pattern, wl_error *err)
{
    const char *expression = expression_of(pattern);
    regex_t regex;
    char text[256];
    if (!expression)
        return WL_OK;
    int code = compile_expression(&regex, expression);
    if (code == 0) {
        regfree(&regex);
        return WL_OK;
    }
    regerror(code, &regex, text, sizeof text);
    return wl_fail(err, WL_ARG, "%s", text);
}

bool prog_pattern_matches(const char *pattern, const char *kernel)
{
    char base[512];
    regex_t regex;
    const char *expression = expression_of(pattern);
    prog_base_name(kernel, base, sizeof base);
    if (!expression)
        return strcmp(pattern, base) == 0 || strcmp(pattern, kernel) == 0;
    if (compile_expression(&regex, expression) != 0)
        return false;
    bool match = regexec(&regex, base, 0, NULL, 0) == 0 || regexec(&regex, kernel, 0, NULL, 0) == 0;
    regfree(&regex);
    return match;
}

bool prog_kernel_asked(const char *kernel)
{
    const prog_options *o = prog_options_get();
    if (*o->kernel_name && !prog_pattern_matches(o->kernel_name, kernel))
        return false;
    return !*o->kernel_exclude || !prog_pattern_matches(o->kernel_exclude, kernel);
}
