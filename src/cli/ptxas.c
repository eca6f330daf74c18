/* warplens-ptxas: what `warplens profile` names to programs that compile PTX while they run
 * (Triton, and torch.compile through it). It runs the real ptxas on the same arguments, with its
 * output and status, and keeps the PTX of each cubin in the folder that WARPLENS_PTX_STORE
 * names, for the collector to find when the cubin is loaded. Whatever goes wrong in that is
 * silent: the program gets its cubin. */
#include "cuda/fatbin.h"
#include "cuda/store.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the real one ---- */

static struct stat self;

static bool is_usable_ptxas(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0 &&
           (st.st_dev != self.st_dev || st.st_ino != self.st_ino);
}

static bool is_ptxas_named(const char *variable, const char *within, char path[PATH_MAX])
{
    const char *value = getenv(variable);
    return value && *value && snprintf(path, PATH_MAX, "%s%s", value, within) < PATH_MAX &&
           is_usable_ptxas(path);
}

/* Triton brings its own: beside the library that the calling process has loaded,
 * ".../triton/_C/libtriton.so" -> ".../triton/backends/nvidia/bin/ptxas". */
static bool beside_triton(char path[PATH_MAX])
{
    static const char library[] = "/triton/_C/libtriton.so", tool[] = "backends/nvidia/bin/ptxas";
    char maps[64], line[PATH_MAX + 128];
    bool found = false;
    snprintf(maps, sizeof maps, "/proc/%ld/maps", (long)getppid());
    FILE *file = fopen(maps, "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        char *start = strchr(line, '/'), *end = start ? strstr(start, library) : NULL;
        if (!end)
            continue;
        snprintf(path, PATH_MAX, "%.*s/triton/%s", (int)(end - start), start, tool);
        found = is_usable_ptxas(path);
    }
    if (file)
        fclose(file);
    return found;
}

static bool along_path(char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    while (folders && *folders) {
        size_t length = strcspn(folders, ":");
        if (length && snprintf(path, PATH_MAX, "%.*s/ptxas", (int)length, folders) < PATH_MAX &&
            is_usable_ptxas(path))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool find_real(char path[PATH_MAX])
{
    return is_ptxas_named("WARPLENS_PTXAS", "", path) || beside_triton(path) ||
           is_ptxas_named("CUDA_HOME", "/bin/ptxas", path) ||
           is_ptxas_named("CUDA_PATH", "/bin/ptxas", path) || along_path(path) ||
           (snprintf(path, PATH_MAX, "/usr/local/cuda/bin/ptxas") && is_usable_ptxas(path));
}

/* ---- its arguments ---- */

/* "-o FILE", "--output-file FILE", "--output-file=FILE"; without, ptxas writes elf.o. */
static const char *output_of(int argc, char **argv)
{
    static const char with_value[] = "--output-file=";
    for (int i = 1; i < argc; i++) {
        if ((strcmp(argv[i], "-o") == 0 || strcmp(argv[i], "--output-file") == 0) && i + 1 < argc)
            return argv[i + 1];
        if (strncmp(argv[i], with_value, sizeof with_value - 1) == 0)
            return argv[i] + sizeof with_value - 1;
    }
    return "elf.o";
}

/* The only argument that is a file of PTX; malloc'ed text, NULL where there is none or there are
 * several. */
static char *read_input(int argc, char **argv, size_t *length)
{
    char *found = NULL, *text;
    size_t bytes, count = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' || cuda_file_bytes(argv[i], &text, &bytes, NULL) != WL_OK)
            continue;
        if (cuda_image_identify(text, bytes) == CUDA_IMAGE_PTX && count++ == 0) {
            found = text;
            *length = bytes;
        } else {
            free(text);
        }
    }
    if (count == 1)
        return found;
    free(found);
    return NULL;
}

static void keep_cubin(const char *folder, const char *output, const char *ptx, size_t length)
{
    char *cubin;
    size_t bytes;
    if (cuda_file_bytes(output, &cubin, &bytes, NULL) != WL_OK)
        return;
    (void)cuda_store_keep(folder, cubin, bytes, ptx, length, NULL);
    free(cubin);
}

/* ---- running it ---- */

static int cannot_run(const char *path)
{
    fprintf(stderr, "ptxas: cannot run %s: %s\n", path, strerror(errno));
    return 127;
}

/* As the real one ended. */
static int end_as(int status)
{
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    char path[PATH_MAX];
    const char *folder = getenv("WARPLENS_PTX_STORE");
    size_t length = 0;
    int status;
    if (stat("/proc/self/exe", &self) != 0 || !find_real(path)) {
        fprintf(stderr, "ptxas: the real one was not found: WARPLENS_PTXAS may name it\n");
        return 127;
    }
    argv[0] = path;
    /* Read before: the program may take its file away as soon as ptxas has ended. */
    char *ptx = folder && *folder ? read_input(argc, argv, &length) : NULL;
    pid_t child = ptx ? fork() : 0;
    if (child <= 0) { /* nothing to keep, or in the child, or there can be none */
        /* The user names the program to run. */
        /* NOLINTNEXTLINE(clang-analyzer-optin.taint.GenericTaint) */
        execv(path, argv);
        _exit(cannot_run(path));
    }
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return cannot_run(path);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        keep_cubin(folder, output_of(argc, argv), ptx, length);
    free(ptx);
    return end_as(status);
}
