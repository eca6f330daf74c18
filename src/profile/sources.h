/* The source files that locations name: their ids, and their text as far as it can be had on this
 * machine. */
#ifndef WL_PROFILE_SOURCES_H
#define WL_PROFILE_SOURCES_H

#include "base/error.h"
#include "profile/profile.h"

typedef struct sources sources;

/* `options` must outlive it. NULL when memory is exhausted. */
sources *sources_new(const prof_options *options);
void sources_free(sources *s); /* NULL is allowed */

/* The program whose sources these are; relative paths are looked for in the folders above it,
 * too. */
void sources_program(sources *s, const char *executable);
/* A file that the program's code was in: its executable, a library. */
void sources_binary(sources *s, const char *path);
/* The file is younger than all of those: what was compiled may have been another text. */
bool sources_changed(const sources *s, uint32_t file);

/* The id of a file, the same for each way to write its path; a relative path starts in `directory`
 * or in a folder above the program, where the file is there. 0 when memory is exhausted or `path`
 * is empty. */
uint32_t sources_id(sources *s, const char *path, const char *directory);
bool sources_system(const sources *s, uint32_t file);
const char *sources_path(const sources *s, uint32_t file);
const char *sources_name(const char *path); /* its last part */

uint32_t sources_count(const sources *s);
/* The file's text, NUL-terminated, read when it is first asked for; NULL where there is none: *why
 * says so. */
const char *sources_text(sources *s, uint32_t file, size_t *length, const char **why);
/* Line `line` (from 1), without its end; NULL where there is none. Not NUL-terminated. */
const char *sources_line(sources *s, uint32_t file, uint32_t line, size_t *length);
/* The first line at or after `from`, else the first of all, that holds `word` as a whole word and
 * one of `marks` (ends with NULL); 0: none. */
uint32_t sources_search(sources *s, uint32_t file, uint32_t from, const char *word,
                        const char *const *marks);

/* Adds what the files include with quotes, beside them and in turn, as far as it is there; at most
 * `most` files in all. */
void sources_add_includes(sources *s, uint32_t most);

#endif
