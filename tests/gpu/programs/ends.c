/* ends HOW: launches three times, waits, and ends in that way: exit, _exit, quick_exit, abort,
 * crash, or hang, in a wait for something that never comes, until a signal ends it. "thread"
 * crashes beside a thread that launches on and on. */
#include "driver.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

enum { LAUNCHES = 10000 }; /* of the thread, before the crash: more than wait to be written */

static CUcontext context;
static CUfunction kernel;

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry nothing(.param .u64 p, .param .u32 n)\n{ ret; }\n";

static void launch(void)
{
    CUdeviceptr data = 0;
    unsigned n = 0;
    void *params[] = {&data, &n};
    CALL(cuLaunchKernel, LAUNCH, kernel, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
}

static sem_t launched;

static void *launch_on(void *unused)
{
    CALL(cuCtxSetCurrent, (CUcontext), context);
    for (;;) {
        launch();
        sem_post(&launched);
    }
    return unused;
}

static void end(const char *how)
{
    pthread_t thread;
    if (strcmp(how, "thread") == 0) {
        sem_init(&launched, 0, 0);
        pthread_create(&thread, NULL, launch_on, NULL);
        for (int i = 0; i < LAUNCHES; i++)
            sem_wait(&launched);
    }
    if (strcmp(how, "_exit") == 0)
        _exit(7);
    if (strcmp(how, "quick_exit") == 0)
        quick_exit(7);
    if (strcmp(how, "abort") == 0)
        abort();
    if (strcmp(how, "crash") == 0 || strcmp(how, "thread") == 0)
        raise(SIGSEGV);
    while (strcmp(how, "hang") == 0)
        pause();
    exit(7);
}

int main(int argc, char **argv)
{
    CUmodule module;
    if (argc != 2 || !(driver = dlopen("libcuda.so.1", RTLD_NOW)))
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel, module, "nothing");
    for (int i = 0; i < 3; i++)
        launch();
    CALL(cuCtxSynchronize, (void));
    printf("launched\n");
    fflush(stdout);
    end(argv[1]);
}
