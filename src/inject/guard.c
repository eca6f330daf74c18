#include "inject/guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
enum { SIGNALS = sizeof signals / sizeof *signals };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned runs;
static bool installed[SIGNALS];
static const char *volatile running; /* the kernel that began last */

/* The linker's names for where this library begins and its code ends. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_in_own_code(const void *context)
{
    const ucontext_t *u = context;
#if defined __x86_64__
    uintptr_t at = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    uintptr_t at = (uintptr_t)u->uc_mcontext.pc;
#else
    uintptr_t at = 0;
    (void)u;
#endif
    return at >= (uintptr_t)__ehdr_start && at < (uintptr_t)etext;
}

/* In one piece, whatever else is written there. */
static void say_which(const char *kernel)
{
    const char *const parts[] = {
        "==WARPLENS== warplens itself crashed while it ran the kernel ", kernel ? kernel : "?",
        ": please report this. The launches that ended before are kept. Without that kernel it may "
        "work: --kernel-name-exclude NAME\n"};
    struct iovec text[3];
    for (int i = 0; i < 3; i++)
        text[i] = (struct iovec){(void *)parts[i], strlen(parts[i])};
    if (writev(STDERR_FILENO, text, 3) < 0)
        return; /* nowhere to say it */
}

/* Returns to the instruction that failed, which then ends the process as it would have without us.
 * What a process sent (kill -SEGV) failed nowhere, so it is sent again. */
static void on_crash(int number, siginfo_t *info, void *context)
{
    static volatile sig_atomic_t said;
    signal(number, SIG_DFL);
    if (info->si_code <= 0) {
        raise(number);
        return;
    }
    if (said || !is_in_own_code(context))
        return;
    said = 1;
    say_which(running);
}

static void install(void)
{
    struct sigaction old, ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (int i = 0; i < SIGNALS; i++) {
        installed[i] = sigaction(signals[i], NULL, &old) == 0 && !(old.sa_flags & SA_SIGINFO) &&
                       old.sa_handler == SIG_DFL && sigaction(signals[i], &ours, NULL) == 0;
    }
}

/* What the application installed meanwhile stays. */
static void restore_signals(void)
{
    struct sigaction now;
    for (int i = 0; i < SIGNALS; i++)
        if (installed[i] && sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == on_crash)
            signal(signals[i], SIG_DFL);
}

void inj_guard_begin(const char *kernel)
{
    pthread_mutex_lock(&lock);
    running = kernel;
    if (runs++ == 0)
        install();
    pthread_mutex_unlock(&lock);
}

void inj_guard_end(void)
{
    pthread_mutex_lock(&lock);
    if (--runs == 0)
        restore_signals();
    pthread_mutex_unlock(&lock);
}
