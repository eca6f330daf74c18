#include "program/places.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A folder that is not absolute would mean another one in each process. */
static bool matches_pattern(const char *pattern, char *path, size_t size)
{
    glob_t found;
    bool any = false;
    if (pattern[0] != '/' || glob(pattern, 0, NULL, &found) != 0)
        return false;
    for (size_t i = found.gl_pathc; i-- > 0 && !any;) {
        any = access(found.gl_pathv[i], R_OK) == 0 && strlen(found.gl_pathv[i]) < size;
        if (any)
            snprintf(path, size, "%s", found.gl_pathv[i]);
    }
    globfree(&found);
    return any;
}

/* A variable's part that has signs of a pattern in it is left out. */
static bool matches_part(const char *part, size_t length, const char *rest, char *path, size_t size)
{
    char pattern[PATH_MAX];
    if (!length || strcspn(part, "*?[\\") < length || length + strlen(rest) >= sizeof pattern)
        return false;
    snprintf(pattern, sizeof pattern, "%.*s%s", (int)length, part, rest);
    return matches_pattern(pattern, path, size);
}

static bool matches_place(const char *place, char *path, size_t size)
{
    char name[64];
    size_t length = strcspn(place, "/");
    if (place[0] != '$')
        return matches_pattern(place, path, size);
    snprintf(name, sizeof name, "%.*s", (int)length - 1, place + 1);
    for (const char *part = getenv(name); part && *part;) {
        size_t end = strcspn(part, ":");
        if (matches_part(part, end, place + length, path, size))
            return true;
        part += end + (part[end] != '\0');
    }
    return false;
}

bool prog_find_in_places(const char *const *places, char *path, size_t size)
{
    for (; *places; places++)
        if (matches_place(*places, path, size))
            return true;
    path[0] = '\0';
    return false;
}
