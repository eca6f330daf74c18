/* What the tests of the PTX front end share. Failures end the test (cmocka). */
#ifndef WL_TESTS_PTX_SUPPORT_H
#define WL_TESTS_PTX_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "ptx/ptx.h"
#include "ptx/written.h"
#include "support/test.h"

ir_module *parse_ok(const char *text, const char *name);
/* Prints, parses again, compares; prints again and compares the texts. Returns the printed text,
 * malloc'ed. */
char *check_round_trip(const ir_module *module, const char *name, size_t *length);

/* A kernel k(p, n) with registers of every type around `body`; "declarations ## body" puts
 * something before it. The registers: %p, %rs (.b16), %r (.b32), %f, %rd (.b64), %fd, %u, %s, %q
 * (.b128), <9> each; sm is 1 KiB of shared memory. */
char *wrap_body(const char *body, const char *target);

/* Runs a shell command and keeps its output. The exit status. */
int run_quietly(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The first kilobyte of what the latest of these commands wrote. */
const char *command_output(void);
/* Path of a tool of the CUDA toolkit, or NULL where there is none. */
const char *cuda_tool(const char *name);
/* Of the form TMPDIR/wl-ptx-XXXXXX, made on first use and removed at exit. */
const char *scratch_dir(void);
/* NULL where ptxas takes the printed text and makes the same machine code and data of it as of the
 * file at `path`, debug information aside (it names places in the PTX); else what is wrong. The
 * second fails the test with it. */
const char *machine_code_problem(const ir_module *module, const char *path, const char *printed,
                                 size_t length);
void check_machine_code(const ir_module *module, const char *path, const char *printed,
                        size_t length);

#endif
