/* Says so when the emulator or the observation crashes inside the application, which otherwise
 * would look like the application's own crash. It ends by the signal all the same: the kernel's
 * result is lost. */
#ifndef WL_INJECT_GUARD_H
#define WL_INJECT_GUARD_H

/* Around each run of a kernel, on any number of threads; `kernel` must live that long. While runs
 * go on, SIGSEGV, SIGBUS, SIGILL and SIGFPE are handled where the application left them to the
 * system. One that a process sent ends the application, and nothing is said of a crash. */
void inj_guard_begin(const char *kernel);
void inj_guard_end(void);

#endif
