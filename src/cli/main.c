/* The command: finds the subcommand and runs it. */
#include "base/log.h"
#include "base/nearest.h"
#include "base/version.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
    const char *name, *summary;
    int (*run)(int argc, const char **argv);
} command;

static const command commands[] = {
#define X(name, summary) {#name, summary, cmd_##name},
#include "cli/commands.def"
#undef X
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void print_help(FILE *out)
{
    fputs("warplens shows how CUDA kernels use memory, with a GPU or without one.\n\n"
          "usage: warplens COMMAND [options] ...\n\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    fputs("\n  warplens profile ./program        makes program.wlprof\n"
          "  warplens stats program.wlprof     prints what to change\n"
          "  warplens COMMAND --help           lists the options of a command\n",
          out);
}

/* Makes sure that no file of ours is opened as a standard stream that we were started without.
 * What takes its place fails when it is used, and is closed for the application. */
static void hold_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
}

static const command *find_command(const char *name)
{
    if (strcmp(name, "ptx") == 0) /* its name before it read machine code */
        name = "code";
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(name, commands[i].name) == 0)
            return &commands[i];
    return NULL;
}

static int refuse_command(const char *name)
{
    wl_nearest meant = {.typed = name};
    for (int i = 0; i < COMMAND_COUNT; i++)
        wl_nearest_try(&meant, commands[i].name);
    if (meant.word)
        wl_log(WL_LOG_ERROR, "there is no command '%s'; did you mean '%s'?", name, meant.word);
    else if (access(name, X_OK) == 0)
        wl_log(WL_LOG_ERROR, "there is no command '%s'; 'warplens profile %s' runs the program",
               name, name);
    else
        wl_log(WL_LOG_ERROR, "there is no command '%s'; 'warplens --help' lists them", name);
    return CLI_USAGE;
}

/* `warplens help COMMAND` is `warplens COMMAND --help`. */
static int help_with(const char *name)
{
    const command *c = find_command(name);
    const char *argv[] = {name, "--help", NULL};
    return c ? c->run(2, argv) : refuse_command(name);
}

static int run_command(int argc, const char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (!*name) {
        print_help(stderr);
        return CLI_USAGE;
    }
    if (strcmp(name, "help") == 0 && argc > 2)
        return help_with(argv[2]);
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        print_help(stdout);
        return CLI_OK;
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("warplens " WARPLENS_VERSION);
        return CLI_OK;
    }
    const command *c = find_command(name);
    return c ? c->run(argc - 1, argv + 1) : refuse_command(name);
}

int main(int argc, const char **argv)
{
    hold_streams();
    cli_survive_file_limit();
    int status = run_command(argc, argv);
    bool failed = fflush(stdout) != 0 || ferror(stdout);
    if (failed && status == CLI_OK) {
        wl_log(WL_LOG_ERROR, "cannot write the output: %s", strerror(errno));
        status = CLI_FAILED;
    }
    return status;
}
