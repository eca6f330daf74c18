/* Names as people write them. */
#ifndef WL_PROFILE_DEMANGLE_H
#define WL_PROFILE_DEMANGLE_H

#include "base/arena.h"

/* The C++ name that was mangled, or `name` itself where it is not mangled. NULL when memory is
 * exhausted. */
const char *prof_demangle(wl_arena *arena, const char *name);

/* A text with such names in it: "kernel _Z4gemmPf failed" -> "kernel gemm(float*) failed". */
const char *prof_demangle_text(wl_arena *arena, const char *text);

/* "void gemm<float>(float const*, int)" -> "gemm<float>"; "transpose(float*)::tile" -> itself. */
const char *prof_short_name(wl_arena *arena, const char *demangled);

/* A short name for headings, without what compilers add to names that people wrote: "run<main::
 * {lambda(int)#1}, (int)4>" -> "run<lambda in main, 4>", and namespaces of versions go. NULL when
 * memory is exhausted. */
const char *prof_heading_name(wl_arena *arena, const char *short_name);

/* What follows the last "::" that is in no bracket: "transpose(float*)::tile" -> "tile". Part
 * of `demangled`. */
const char *prof_last_name(const char *demangled);

/* The bare identifier: "int ns::run<main::{lambda()#1}>(int)" -> "run". NULL when memory is
 * exhausted. */
const char *prof_plain_name(wl_arena *arena, const char *demangled);

#endif
