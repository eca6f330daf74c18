/* What warplens doctor says of the GPU and its driver. */
#include "cli/doctor.h"

#include "cli/cli.h"
#include "program/driver_path.h"
#include "program/sanitizer_path.h"

#include <ctype.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CC_MAJOR = 75, /* CUdevice_attribute */
    CC_MINOR = 76,
    PARAMETERS =
        12040 /* the first CUDA whose driver tells how a kernel's parameters are laid out */
};

typedef struct answer {
    doctor_gpu gpu;
    char failure[512]; /* "": none */
} answer;

#define LOOK_UP(library, name, types) \
    int(*name) types = (library) ? (int(*) types)dlsym((library), #name) : NULL

/* What the driver says of its devices, in a process of its own: a driver may take long, fail or
 * end it. */
static void ask_driver(const char *path, answer *a)
{
    int result = 0, major = 0, minor = 0;
    void *driver = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    LOOK_UP(driver, cuInit, (unsigned));
    LOOK_UP(driver, cuDriverGetVersion, (int *));
    LOOK_UP(driver, cuDeviceGetCount, (int *));
    LOOK_UP(driver, cuDeviceGetName, (char *, int, int));
    LOOK_UP(driver, cuDeviceGetAttribute, (int *, int, int));
    if (!cuInit || !cuDriverGetVersion || !cuDeviceGetCount || !cuDeviceGetName ||
        !cuDeviceGetAttribute) {
        snprintf(a->failure, sizeof a->failure, "cannot be loaded: %s",
                 driver ? "it is no driver" : dlerror());
        return;
    }
    if ((result = cuInit(0)) || (result = cuDeviceGetCount(&a->gpu.count)) || !a->gpu.count) {
        snprintf(a->failure, sizeof a->failure, "finds no GPU (error %d)", result);
        return;
    }
    cuDriverGetVersion(&a->gpu.cuda);
    cuDeviceGetName(a->gpu.name, sizeof a->gpu.name, 0);
    cuDeviceGetAttribute(&major, CC_MAJOR, 0);
    cuDeviceGetAttribute(&minor, CC_MINOR, 0);
    a->gpu.sm = (uint32_t)(major * 10 + minor);
}

static void ask_in_child(const char *path, answer *a)
{
    int ends[2];
    *a = (answer){.failure = "gave no answer"};
    if (pipe(ends) != 0)
        return;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        answer told = {0};
        ask_driver(path, &told);
        _exit(write(ends[1], &told, sizeof told) != sizeof told);
    }
    close(ends[1]);
    answer told;
    if (child > 0 && read(ends[0], &told, sizeof told) == sizeof told)
        *a = told;
    close(ends[0]);
    if (child > 0)
        waitpid(child, NULL, 0);
}

/* The word with a digit and a dot in "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.82.07
 * Release Build". */
static void release_of_driver(char *release, size_t size)
{
    char line[512] = "";
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    *release = '\0';
    if (file && fgets(line, sizeof line, file)) {
        char *rest;
        for (char *word = strtok_r(line, " \t\n", &rest); word;
             word = strtok_r(NULL, " \t\n", &rest))
            if (isdigit((unsigned char)*word) && strchr(word, '.') && !*release)
                snprintf(release, size, "release %s, ", word);
    }
    if (file)
        fclose(file);
}

/* What is loaded into programs there. */
static int check_inline(void)
{
    char path[PATH_MAX];
    const char *prefix = cli_prefix();
    snprintf(path, sizeof path, "%s/lib/warplens/inline/libcuda.so.1", prefix ? prefix : "");
    if (access(path, R_OK) != 0)
        return doctor_tell(DOCTOR_BAD, "library for GPUs", "%s is missing: install warplens again",
                           path);
    return doctor_tell(DOCTOR_GOOD, "library for GPUs", "%s is there", path);
}

/* What counts accesses of kernels without PTX. */
static int check_sanitizer(void)
{
    char path[PATH_MAX];
    if (prog_find_sanitizer(path, sizeof path))
        return doctor_tell(DOCTOR_GOOD, "Compute Sanitizer",
                           "%s: counts what kernels without PTX access where that depends on data",
                           path);
    if (prog_sanitizer_off())
        return doctor_tell(DOCTOR_NOTE, "Compute Sanitizer", "not wanted (WARPLENS_SANITIZER)");
    return doctor_tell(
        DOCTOR_NOTE, "Compute Sanitizer",
        "none: of kernels without PTX (PyTorch's, say) is not known what they access where that "
        "depends on data. It comes with CUDA's toolkit, and as the Python package "
        "nvidia-cuda-sanitizer-api");
}

static int check_version(const doctor_gpu *gpu)
{
    if (gpu->cuda >= PARAMETERS)
        return 0;
    return doctor_tell(
        DOCTOR_NOTE, "NVIDIA driver",
        "before CUDA 12.4 a driver does not say how kernels' parameters are laid out, so "
        "that what kernels access is not known: update it, or use --backend emulate");
}

int doctor_check_gpu(doctor_gpu *gpu)
{
    char path[PATH_MAX], release[64];
    answer a;
    *gpu = (doctor_gpu){0};
    if (!prog_find_driver(path, sizeof path))
        return doctor_tell(DOCTOR_GOOD, "NVIDIA driver",
                           "none; kernels run on the CPU, which needs none");
    if (!prog_gpu_present())
        return doctor_tell(DOCTOR_NOTE, "NVIDIA driver", "%s, but no GPU; kernels run on the CPU",
                           path);
    ask_in_child(path, &a);
    if (a.failure[0])
        return doctor_tell(DOCTOR_NOTE, "NVIDIA driver", "%s %s; kernels run on the CPU", path,
                           a.failure);
    *gpu = a.gpu;
    release_of_driver(release, sizeof release);
    doctor_tell(DOCTOR_GOOD, "NVIDIA driver", "%s: %sCUDA %d.%d", path, release, gpu->cuda / 1000,
                gpu->cuda % 1000 / 10);
    doctor_tell(DOCTOR_GOOD, "GPU", "%d, the first is %s (sm_%u); programs are profiled there",
                gpu->count, gpu->name, gpu->sm);
    return check_version(gpu) + check_inline() + check_sanitizer();
}
