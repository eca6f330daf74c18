/* The file that `warplens profile` writes: its name, and what becomes of the profile of an earlier
 * run under the same name. */
#include "cli/output.h"

#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Replaces %p (process), %h (host) and %q{VAR}; malloc'ed. */
static char *expand_output(const char *pattern)
{
    char *text = NULL, host[256] = "";
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    gethostname(host, sizeof host - 1);
    for (const char *c = pattern; *c; c++) {
        const char *end;
        if (c[0] == '%' && c[1] == 'p') {
            fprintf(out, "%d", (int)getpid());
            c++;
        } else if (c[0] == '%' && c[1] == 'h') {
            fputs(host, out);
            c++;
        } else if (strncmp(c, "%q{", 3) == 0 && (end = strchr(c, '}'))) {
            char name[256];
            snprintf(name, sizeof name, "%.*s", (int)(end - c - 3), c + 3);
            const char *value = getenv(name);
            fputs(value ? value : "", out);
            c = end;
        } else {
            fputc(*c, out);
        }
    }
    fclose(out);
    return text;
}

static char *default_name(const char *program)
{
    char *path;
    return asprintf(&path, "%s.wlprof", base_name(program)) < 0 ? NULL : path;
}

wl_status cli_output_choose(const prog_options *o, const char *program, cli_output *out,
                            wl_error *err)
{
    *out = (cli_output){.path = *o->output ? expand_output(o->output) : default_name(program),
                        .replace = o->force,
                        .keep_older = !*o->output && !o->force};
    struct stat st;
    if (!out->path)
        return wl_fail(err, WL_NOMEM, "out of memory");
    bool there = stat(out->path, &st) == 0;
    if (there && !S_ISREG(st.st_mode))
        return wl_fail(
            err, WL_ARG,
            "%s is not a regular file, and a profile must be one; -o NAME writes elsewhere",
            out->path);
    if (there && !out->replace && !out->keep_older)
        return wl_fail(err, WL_EXISTS,
                       "%s is there already; -f replaces it, -o NAME writes elsewhere", out->path);
    return prof_check_path(out->path, err);
}

void cli_output_clear(cli_output *out)
{
    free(out->path);
    *out = (cli_output){0};
}
