#include "program/options.h"

#include "base/log.h"

#include <ctype.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static prog_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *read_text(const char *variable, const char *initial)
{
    const char *value = getenv(variable);
    char *copy = value && *value ? strdup(value) : NULL;
    return copy ? copy : initial;
}

static uint64_t read_number(const char *variable, uint64_t initial)
{
    const char *value = getenv(variable);
    if (!value || !*value)
        return initial;
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    if (*end || !isdigit((unsigned char)*value)) {
        wl_log(WL_LOG_WARN, "%s=%s is no number; %llu is used.", variable, value,
               (unsigned long long)initial);
        return initial;
    }
    return number;
}

static bool read_flag(const char *variable, bool initial)
{
    return read_number(variable, initial) != 0;
}

static bool read_block(const char **text, prog_block *block)
{
    unsigned x, y = 0, z = 0;
    int used = 0;
    if (sscanf(*text, "%u%n,%u%n,%u%n", &x, &used, &y, &used, &z, &used) < 1)
        return false;
    *text += used;
    *block = (prog_block){x, y, z};
    return **text == ';' || **text == '\0';
}

static void read_blocks(void)
{
    const char *text = options.blocks;
    options.automatic = strcmp(text, "auto") == 0;
    options.all_blocks = strcmp(text, "all") == 0;
    if (options.automatic || options.all_blocks)
        return;
    options.block = calloc(strlen(text) / 2 + 1, sizeof *options.block);
    while (options.block && *text) {
        if (!read_block(&text, &options.block[options.nblocks])) {
            wl_log(WL_LOG_WARN, "WARPLENS_BLOCKS=%s cannot be read; auto is used.", options.blocks);
            options.automatic = true;
            options.nblocks = 0;
            return;
        }
        options.nblocks++;
        text += *text == ';';
    }
}

static void read_all(void)
{
#define X(field, type, variable, initial, meaning) options.field = read_##type(variable, initial);
#include "program/options.def"
#undef X
    read_blocks();
    if (strcmp(options.set, "basic") == 0) {
        options.nblocks = 0;
        options.automatic = options.all_blocks = false;
    }
}

const prog_options *prog_options_get(void)
{
    pthread_once(&once, read_all);
    return &options;
}

void prog_options_again(void)
{
    prog_options_get();
    free(options.block);
    options.block = NULL;
    options.nblocks = 0;
    read_all();
}

/* Itanium mangling: an unqualified name is <length><characters>; a nested one is N <names> E, with template
 * arguments I ... E behind a name. The last name before the arguments of the function is what counts. */
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

bool prog_name_matches(const char *pattern, const char *kernel, wl_error *err)
{
    char base[512];
    prog_base_name(kernel, base, sizeof base);
    if (strncmp(pattern, "regex:", 6) != 0)
        return strcmp(pattern, base) == 0 || strcmp(pattern, kernel) == 0;
    regex_t regex;
    int code = regcomp(&regex, pattern + 6, REG_EXTENDED | REG_NOSUB);
    if (code) {
        char text[256];
        regerror(code, &regex, text, sizeof text);
        wl_fail(err, WL_ARG, "\"%s\" is no regular expression: %s.", pattern + 6, text);
        return false;
    }
    bool match = regexec(&regex, base, 0, NULL, 0) == 0 || regexec(&regex, kernel, 0, NULL, 0) == 0;
    regfree(&regex);
    return match;
}

bool prog_kernel_asked(const char *kernel)
{
    const prog_options *o = prog_options_get();
    if (*o->kernel_name && !prog_name_matches(o->kernel_name, kernel, NULL))
        return false;
    return !*o->kernel_exclude || !prog_name_matches(o->kernel_exclude, kernel, NULL);
}
