/* Kernels chosen by their names. */
#ifndef WL_PROGRAM_KERNEL_NAME_H
#define WL_PROGRAM_KERNEL_NAME_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A pattern is a name, or "regex:" and an extended regular expression of which a part of the
 * name is enough. WL_ARG for an expression that does not compile, with the reason: "Unmatched (
 * or \(". */
wl_status prog_pattern_check(const char *pattern, wl_error *err);

/* True where the pattern fits the kernel's mangled or base name. False for one that
 * prog_pattern_check refuses. */
bool prog_pattern_matches(const char *pattern, const char *kernel);

/* True where a kernel (mangled name) passes the options kernel_name and kernel_exclude of this
 * process. */
bool prog_kernel_asked(const char *kernel);

/* The function's own name in a mangled one: "_ZN2ns3addIfEEvPT_" gives "add". Writes at most `size`
 * bytes; a name that is not mangled is copied. */
void prog_base_name(const char *mangled, char *base, size_t size);

#endif
