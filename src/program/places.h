/* Files that may lie in one of several places. */
#ifndef WL_PROGRAM_PLACES_H
#define WL_PROGRAM_PLACES_H

#include <stdbool.h>
#include <stddef.h>

/* The first file that can be read. Places are patterns of glob(7), in which a $NAME at the begin stands
 * for a variable, and each of the variable's parts between colons counts; what is not absolute is
 * passed over. Of a pattern that several files match the last in the order of names counts. The list
 * ends with NULL. False, and `path` is "", where there is none. */
bool prog_find_in_places(const char *const *places, char *path, size_t size);

#endif
