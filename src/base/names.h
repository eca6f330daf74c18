/* Mangled C++ names within messages. */
#ifndef WL_BASE_NAMES_H
#define WL_BASE_NAMES_H

#include <stddef.h>

/* As the C++ ABI's __cxa_demangle: malloc'ed, NULL where it is no such name. */
typedef char *wl_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* The text with what stands behind each mangled name in its place; malloc'ed, NULL without memory.
 */
char *wl_demangle_words(const char *text, wl_demangle *demangle);

#endif
