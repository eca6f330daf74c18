/* ptxfmt FILE: parses a PTX file ("-": standard input), verifies it and prints it again. Exit
 * status 0, or 1 with a message.
 *   -q  do not print       -r  check that what was printed parses to an equal module
 *   -n  do not verify      -t N  parse N times and print the speed to stderr */
#include "equal.h"
#include "ptx/ptx.h"
#include "support/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char *read_all(const char *path, size_t *length)
{
    return strcmp(path, "-") == 0 ? file_rest(stdin, length) : file_read(path, length);
}

static int fail(const char *message)
{
    fprintf(stderr, "%s\n", message);
    return 1;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int time_parse(const char *text, size_t length, const char *path, int times)
{
    wl_error err;
    double start = seconds();
    for (int i = 0; i < times; i++) {
        ir_module *module;
        if (ptx_parse(text, length, path, &module, &err) != WL_OK)
            return fail(err.text);
        ir_module_free(module);
    }
    fprintf(stderr, "%s: %.1f MB/s\n", path, (double)length * times / (seconds() - start) / 1e6);
    return 0;
}

static int check_round_trip(const ir_module *module, const char *printed, size_t length,
                            const char *path)
{
    ir_module *again;
    wl_error err;
    if (ptx_parse(printed, length, "printed", &again, &err) != WL_OK)
        return fail(err.text);
    bool equal = modules_equal(module, again);
    ir_module_free(again);
    if (!equal)
        fprintf(stderr, "%s: what was printed parses to another module\n", path);
    return equal ? 0 : 1;
}

static int format(const char *text, size_t length, const char *path, const char *flags)
{
    ir_module *module;
    wl_error err;
    if (ptx_parse(text, length, path, &module, &err) != WL_OK)
        return fail(err.text);
    int status = 0;
    char *printed = NULL;
    size_t printed_length = 0;
    if (!strchr(flags, 'n') && ptx_verify(module, path, &err) != WL_OK)
        status = fail(err.text);
    else if (ptx_print(module, &printed, &printed_length) != WL_OK)
        status = fail("out of memory");
    else if (strchr(flags, 'r'))
        status = check_round_trip(module, printed, printed_length, path);
    if (status == 0 && !strchr(flags, 'q'))
        fwrite(printed, 1, printed_length, stdout);
    free(printed);
    ir_module_free(module);
    return status;
}

int main(int argc, char **argv)
{
    char flags[8] = "";
    size_t nflags = 0;
    int times = 0, option;
    while ((option = getopt(argc, argv, "qrnt:")) != -1) {
        if (option == '?')
            return fail("usage: ptxfmt [-q] [-r] [-n] [-t times] file");
        if (option == 't')
            times = atoi(optarg);
        else if (!strchr(flags, option) && nflags < sizeof flags - 1)
            flags[nflags++] = (char)option;
    }
    if (optind + 1 != argc)
        return fail("usage: ptxfmt [-q] [-r] [-n] [-t times] file");
    size_t length;
    char *text = read_all(argv[optind], &length);
    if (!text)
        return fail("cannot read the file");
    int status = times > 0 ? time_parse(text, length, argv[optind], times)
                           : format(text, length, argv[optind], flags);
    free(text);
    return status;
}
