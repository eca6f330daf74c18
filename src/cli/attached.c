/* The list that each collector adds a line to when it is loaded: the number of its process, and the
 * name that the process had by then. A process that becomes another program has several. */
#include "cli/attached.h"

#include "base/log.h"
#include "program/attached.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAMED = 5 };

typedef struct attached_list {
    char last[PROG_NAME_BYTES]; /* the name of the program's own process; "" where it has no line */
    char others[256];           /* of other processes, the first of them: "sh, env" */
    unsigned count;             /* of those */
} attached_list;

static FILE *open_list(const char *folder, const char *mode)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/" CLI_ATTACHED_FILE, folder);
    return length < PATH_MAX ? fopen(path, mode) : NULL;
}

static void add_other(attached_list *list, const char *name)
{
    size_t used = strlen(list->others);
    if (list->count++ < NAMED)
        snprintf(list->others + used, sizeof list->others - used, "%s%s", used ? ", " : "", name);
}

static attached_list read_list(const char *folder, pid_t program)
{
    attached_list list = {0};
    char line[64], name[PROG_NAME_BYTES];
    long pid;
    FILE *file = open_list(folder, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%ld %15[^\n]", &pid, name) != 2)
            continue;
        if (pid == program)
            memcpy(list.last, name, sizeof name);
        else
            add_other(&list, name);
    }
    if (file)
        fclose(file);
    return list;
}

void cli_attached_tell(const char *folder, const cli_outcome *outcome)
{
    attached_list list = read_list(folder, outcome->pid);
    if (!*list.last)
        wl_log(WL_LOG_ERROR, "warplens was not attached to the program: the dynamic linker did not "
                             "load its library (LD_PRELOAD) into it, so that no profile was "
                             "written");
    else if (*outcome->name && strcmp(list.last, outcome->name) != 0)
        wl_log(WL_LOG_ERROR,
               "warplens was attached to '%s', but not to '%s' that its process became: something "
               "took warplens's library out of LD_PRELOAD (env -u, a wrapper that sets its own), "
               "so that no profile was written",
               list.last, outcome->name);
    else
        wl_log(WL_LOG_ERROR, "the program made no CUDA call, so there is nothing to profile and "
                             "no profile was written");
    if (list.count)
        wl_log(WL_LOG_INFO,
               "warplens was also attached to %s%s; processes that were started without its "
               "LD_PRELOAD are not observed",
               list.others, list.count > NAMED ? " and others" : "");
}

void cli_attached_forget(const char *folder)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/" CLI_ATTACHED_FILE, folder);
    if (length < PATH_MAX)
        unlink(path);
}
