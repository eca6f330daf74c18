/* Where the user's Compute Sanitizer lies, whose API puts patches into machine code. None of it comes
 * with warplens. */
#ifndef WL_PROGRAM_SANITIZER_PATH_H
#define WL_PROGRAM_SANITIZER_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* libsanitizer-public.so as --sanitizer names it, or with `auto` the first that is found: with CUDA
 * toolkits, in Python's packages, along LD_LIBRARY_PATH. False where there is none, or it is not
 * wanted; where the option names a file that cannot be read, `path` is its name, else "". */
bool prog_find_sanitizer(char *path, size_t size);

/* --sanitizer off */
bool prog_sanitizer_off(void);

#endif
