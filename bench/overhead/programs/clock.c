/* clock FILE PROGRAM [ARGUMENTS]: runs the program and appends a line to FILE: wall time in ms, the
 * greatest resident memory in KiB, and what it took of processors' time in ms. So a program's own
 * time is known whatever the tool that runs it does before and after. Passes its exit status. */
#include "../../clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = 0;
    struct rusage usage;
    if (argc < 3)
        return 2;
    double begin = clock_seconds(CLOCK_MONOTONIC);
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[2], argv + 2);
        perror(argv[2]);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0)
        return 2;
    double ms = 1e3 * (clock_seconds(CLOCK_MONOTONIC) - begin);
    double busy = 1e3 * (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                  1e-3 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    FILE *out = fopen(argv[1], "a");
    if (!out)
        return 2;
    fprintf(out, "%.3f %ld %.3f\n", ms, usage.ru_maxrss, busy);
    fclose(out);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
