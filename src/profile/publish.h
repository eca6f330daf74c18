/* Files that appear whole or not at all. */
#ifndef WL_PROFILE_PUBLISH_H
#define WL_PROFILE_PUBLISH_H

#include "base/error.h"

#include <stdbool.h>

/* An empty file beside `path`, to be written and then published; *temp is malloc'ed. WL_EXISTS
 * where `path` is there and `force` is false; WL_ARG where it is something else than a file (a
 * pipe, a device), which is never replaced. A link's file is meant, not the link. What replaces a
 * file has its mode. */
wl_status publish_begin(const char *path, bool force, char **temp, wl_error *err);
/* Gives the file its name, after what it holds is on the disk. Frees temp; on failure the file is
 * gone. */
wl_status publish_end(char *temp, const char *path, bool force, wl_error *err);
/* The same, where a file that is there already is not replaced but gets another name beside it:
 * "a.1.wlprof" for "a.wlprof", or the first of the following numbers that is free. *older is that
 * name, malloc'ed; NULL where there was none. */
wl_status publish_end_beside(char *temp, const char *path, char **older, wl_error *err);
/* Removes the file; frees temp. NULL is allowed. */
void publish_discard(char *temp);

#endif
