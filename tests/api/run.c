#include "run.h"
#include "support/file.h"
#include "support/test.h"

#include "dump.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define EMULATE WL_BINARY_DIR "/lib/warplens/emulate"

/* "folder/name"; malloc'ed. */
static char *join(const char *folder, const char *name)
{
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        abort();
    return path;
}

/* "" where there is no such file. */
static char *read_all(const char *folder, const char *name)
{
    char *path = join(folder, name), *text = file_read(path, NULL);
    free(path);
    return text ? text : calloc(1, 1);
}

static void redirect(const char *folder, const char *name, int fd)
{
    if (!freopen(join(folder, name), "w", fd == STDOUT_FILENO ? stdout : stderr))
        _exit(126);
}

static void start(const run_options *o, const char *folder)
{
    char *captures = join(folder, "captures");
    redirect(folder, "out", STDOUT_FILENO);
    redirect(folder, "err", STDERR_FILENO);
    setenv("LD_PRELOAD", EMULATE "/libwarplens_emulate.so", 1);
    setenv("LD_LIBRARY_PATH", EMULATE, 1);
    setenv("WARPLENS_DEVICES", WL_SOURCE_DIR "/devices", 1);
    if (!o->unrecorded)
        setenv("WARPLENS_CAPTURE_DIR", captures, 1);
    for (const char *const *e = o->environment; e && *e; e++)
        putenv((char *)(uintptr_t)*e);
    if (chdir(folder) == 0)
        execv(o->argv[0], (char *const *)(uintptr_t)o->argv);
    _exit(127);
}

static int is_capture(const struct dirent *entry)
{
    return strstr(entry->d_name, ".wlcap") != NULL;
}

static void read_capture(const char *path, run_result *r)
{
    size_t size, n = r->captures++;
    wl_error err = {0};
    r->dumps = realloc(r->dumps, r->captures * sizeof *r->dumps);
    r->whole = realloc(r->whole, r->captures * sizeof *r->whole);
    assert_non_null(r->dumps);
    assert_non_null(r->whole);
    FILE *out = open_memstream(&r->dumps[n], &size);
    assert_int_equal(dump_capture(path, DUMP_ROWS, out, &err), WL_OK);
    fclose(out);
    r->whole[n] = run_count(r->dumps[n], "END") == 1;
    free(r->dumps[n]);
    out = open_memstream(&r->dumps[n], &size);
    dump_capture(path, DUMP_ROWS | DUMP_STABLE, out, &err);
    fclose(out);
}

static void read_captures(const char *captures, run_result *r)
{
    struct dirent **names;
    int count = scandir(captures, &names, is_capture, alphasort);
    assert_true(count >= 0);
    for (int i = 0; i < count; i++) {
        char *path = join(captures, names[i]->d_name);
        read_capture(path, r);
        unlink(path);
        free(path);
        free(names[i]);
    }
    free(names);
    rmdir(captures);
}

static void wait_for(pid_t pid, run_result *r)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        assert_int_equal(errno, EINTR);
    r->exited = WIFEXITED(status);
    r->status = r->exited ? WEXITSTATUS(status) : WTERMSIG(status);
}

static void remove_file(const char *folder, const char *name)
{
    char *path = join(folder, name);
    unlink(path);
    free(path);
}

void run_program(const run_options *o, run_result *r)
{
    char folder[] = WL_BINARY_DIR "/tests/run-XXXXXX";
    *r = (run_result){0};
    assert_non_null(mkdtemp(folder));
    char *captures = join(folder, "captures");
    assert_int_equal(mkdir(captures, 0777), 0);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        start(o, folder);
    wait_for(pid, r);
    r->out = read_all(folder, "out");
    r->err = read_all(folder, "err");
    read_captures(captures, r);
    free(captures);
    remove_file(folder, "out");
    remove_file(folder, "err");
    remove_file(folder, "victim");
    rmdir(folder);
}

void run_clear(run_result *r)
{
    free(r->out);
    free(r->err);
    for (size_t i = 0; i < r->captures; i++)
        free(r->dumps[i]);
    free(r->dumps);
    free(r->whole);
}

size_t run_count(const char *text, const char *start)
{
    size_t count = 0, length = strlen(start);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        count += strncmp(line, start, length) == 0;
    return count;
}
