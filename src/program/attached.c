/* A process that the collector was loaded into, told of in the folder of captures. */
#include "program/attached.h"

#include "program/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static bool is_recorded(const prog_options *o)
{
    return *o->attached_list && (!o->only_process || o->only_process == (uint64_t)getpid());
}

void prog_tell_attached(void)
{
    const prog_options *options = prog_options_get();
    char name[PROG_NAME_BYTES] = "", line[64];
    if (!is_recorded(options) || prctl(PR_GET_NAME, name) != 0)
        return;
    int fd = open(options->attached_list, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line, "%ld %s\n", (long)getpid(), name);
    (void)!write(fd, line, (size_t)length);
    close(fd);
}
