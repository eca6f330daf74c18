/* Source files that a profile names: their text, where they are found, which are the system's. */
#include "profile/sources.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILE = 4 << 20 };
static const uint64_t MAX_ALL = 64u << 20;

typedef struct source {
    const char *path;
    uint32_t id;
    bool system, tried;
    time_t modified;
    char *text; /* malloc'ed */
    size_t length;
    const char *why;
    wl_vec(uint32_t) lines; /* where each begins */
    UT_hash_handle hh;
} source;

struct sources {
    const prof_options *options;
    wl_arena *arena;
    source *by_path;
    wl_vec(source *) all; /* by id - 1 */
    uint64_t bytes, limit;
    const char *program;
    time_t built; /* the youngest binary; 0: none was there */
};

sources *sources_new(const prof_options *options)
{
    sources *s = calloc(1, sizeof *s);
    if (!s || !(s->arena = wl_arena_new())) {
        free(s);
        return NULL;
    }
    s->options = options;
    s->limit = options->max_source_bytes ? options->max_source_bytes : MAX_ALL;
    return s;
}

void sources_free(sources *s)
{
    if (!s)
        return;
    HASH_CLEAR(hh, s->by_path);
    for (size_t i = 0; i < s->all.count; i++) {
        free(s->all.data[i]->text);
        wl_vec_free(&s->all.data[i]->lines);
    }
    wl_vec_free(&s->all);
    wl_arena_free(s->arena);
    free(s);
}

const char *sources_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool is_system(const char *path)
{
    const char *name = sources_name(path);
    const char *dot = strrchr(name, '.');
    bool header = dot && (strcmp(dot, ".h") == 0 || strcmp(dot, ".hpp") == 0);
#define PREFIX(text) starts(path, text)
#define PART(text) strstr(path, text) != NULL
#define NAME(text) strcmp(name, text) == 0
#define STEM(text) starts(name, text) && header
#define X(kind, text)   \
    if ((kind(text))) { \
        return true;    \
    }
#include "profile/system_paths.def"
#undef X
#undef PREFIX
#undef PART
#undef NAME
#undef STEM
    return false;
}

/* Removes "//", "/./" and "/x/../" in place: two spellings of a path become one. */
static void normalize(char *path)
{
    char *out = path;
    bool absolute = *path == '/';
    for (const char *p = path; *p;) {
        while (*p == '/')
            p++;
        size_t n = strcspn(p, "/");
        bool up = n == 2 && p[0] == '.' && p[1] == '.';
        if (n == 0 || (n == 1 && p[0] == '.')) {
            p += n;
            continue;
        }
        char *last = out; /* where the last part kept so far begins */
        while (last > path && last[-1] != '/')
            last--;
        bool last_up = out - last == 2 && last[0] == '.' && last[1] == '.';
        if (up && out > path && !last_up) {
            out = last > path ? last - 1 : path;
        } else if (!up || !absolute) {
            if (out > path || absolute)
                *out++ = '/';
            memmove(out, p, n);
            out += n;
        }
        p += n;
    }
    *out = '\0';
}

void sources_program(sources *s, const char *executable)
{
    s->program = wl_arena_strdup(s->arena, executable);
}

/* folder/path where that file is there, else NULL. */
static char *below(sources *s, const char *folder, size_t length, const char *path)
{
    char *full = wl_arena_printf(s->arena, "%.*s/%s", (int)length, folder, path);
    return full && access(full, R_OK) == 0 ? full : NULL;
}

/* A relative path: compilers write it as they were given it, in a folder that nobody knows any
 * more. */
static char *find_relative(sources *s, const char *path, const char *directory)
{
    char *full = directory && directory[0] ? below(s, directory, strlen(directory), path) : NULL;
    size_t n = s->program ? strlen(s->program) : 0;
    while (!full && n > 0) {
        do {
            n--;
        } while (n > 0 && s->program[n] != '/');
        full = n ? below(s, s->program, n, path) : NULL;
    }
    return full;
}

static char *full_path(sources *s, const char *path, const char *directory)
{
    bool relative = path[0] != '/' && path[0] != '<';
    char *full = relative ? find_relative(s, path, directory) : NULL;
    full = full ? full : wl_arena_strdup(s->arena, path);
    if (full)
        normalize(full);
    return full;
}

uint32_t sources_id(sources *s, const char *path, const char *directory)
{
    char *full = path[0] ? full_path(s, path, directory) : NULL;
    source *found = NULL;
    if (!full)
        return 0;
    HASH_FIND_STR(s->by_path, full, found);
    if (found)
        return found->id;
    source *made = wl_new(s->arena, source);
    if (!made || !wl_push(&s->all, made))
        return 0;
    made->path = full;
    made->id = (uint32_t)s->all.count;
    made->system = is_system(full);
    made->why = "";
    HASH_ADD_KEYPTR(hh, s->by_path, made->path, strlen(made->path), made);
    return made->id;
}

static source *numbered_source(const sources *s, uint32_t file)
{
    return file && file <= s->all.count ? s->all.data[file - 1] : NULL;
}

bool sources_system(const sources *s, uint32_t file)
{
    const source *f = numbered_source(s, file);
    return f && f->system;
}

/* The system's libraries are older than any program, ours may be younger than its build. */
static bool is_of_the_program(const char *path)
{
    return !starts(path, "/lib") && !starts(path, "/usr/lib") && !strstr(path, "/libwarplens") &&
           !strstr(path, "/lib/warplens/");
}

void sources_binary(sources *s, const char *path)
{
    struct stat st;
    if (is_of_the_program(path) && stat(path, &st) == 0 && st.st_mtime > s->built)
        s->built = st.st_mtime;
}

/* Whoever runs a script reads it then. */
static bool is_script(const char *path)
{
    size_t length = strlen(path);
    return length > 3 && strcmp(path + length - 3, ".py") == 0;
}

bool sources_changed(const sources *s, uint32_t file)
{
    const source *f = numbered_source(s, file);
    return f && s->built && f->modified > s->built && !is_script(f->path);
}

const char *sources_path(const sources *s, uint32_t file)
{
    const source *f = numbered_source(s, file);
    return f ? f->path : "";
}

uint32_t sources_count(const sources *s)
{
    return (uint32_t)s->all.count;
}

/* A regular file, opened without waiting for anybody; -1 and *why. */
static int open_regular(const char *path, struct stat *st, const char **why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        *why = errno == ENOENT || errno == ENOTDIR ? "not found" : "cannot be opened";
        return -1;
    }
    if (fstat(fd, st) != 0 || !S_ISREG(st->st_mode)) {
        *why = "not a regular file";
        close(fd);
        return -1;
    }
    return fd;
}

/* The file under a folder of the search path, by as much of its path as fits: longest first. */
static int open_below(const char *folder, size_t length, const char *path, struct stat *st,
                      const char **why)
{
    for (const char *tail = path; tail; tail = strchr(tail, '/')) {
        tail += *tail == '/';
        char name[PATH_MAX];
        int n = snprintf(name, sizeof name, "%.*s/%s", (int)length, folder, tail);
        int fd = n > 0 && (size_t)n < sizeof name ? open_regular(name, st, why) : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

static int open_source(const sources *s, const char *path, struct stat *st, const char **why)
{
    int fd = open_regular(path, st, why);
    const char *why_not = *why;
    const char *folder = s->options->source_path;
    while (fd < 0 && folder && *folder) {
        size_t n = strcspn(folder, ":");
        fd = n ? open_below(folder, n, path, st, &why_not) : -1;
        folder += n + (folder[n] == ':');
    }
    return fd;
}

static bool read_exactly(int fd, char *data, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = read(fd, data + done, size - done);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static void read_source_file(sources *s, source *f)
{
    struct stat st;
    int fd = open_source(s, f->path, &st, &f->why);
    if (fd < 0)
        return;
    size_t size = (size_t)st.st_size;
    if (st.st_size > MAX_FILE) {
        f->why = "too large";
    } else if (s->bytes + size > s->limit) {
        f->why = "over the limit of all sources together";
    } else if (!(f->text = malloc(size + 1)) || !read_exactly(fd, f->text, size)) {
        f->why = "cannot be read";
    } else if (memchr(f->text, '\0', size)) {
        f->why = "not text";
    } else {
        f->text[size] = '\0';
        f->modified = st.st_mtime;
        f->length = size;
        f->why = "";
        s->bytes += size;
    }
    close(fd);
    if (f->why[0]) {
        free(f->text);
        f->text = NULL;
    }
}

const char *sources_text(sources *s, uint32_t file, size_t *length, const char **why)
{
    source *f = numbered_source(s, file);
    *length = 0;
    if (!f) {
        *why = "not found";
        return NULL;
    }
    if (!f->tried) {
        f->tried = true;
        if (f->system)
            f->why = "belongs to the toolkit or the system";
        else
            read_source_file(s, f);
    }
    *length = f->length;
    *why = f->why;
    return f->text;
}

static bool index_lines(source *f)
{
    for (size_t at = 0; at < f->length;) {
        if (!wl_push(&f->lines, (uint32_t)at))
            return false;
        const char *end = memchr(f->text + at, '\n', f->length - at);
        at = end ? (size_t)(end - f->text) + 1 : f->length;
    }
    return true;
}

const char *sources_line(sources *s, uint32_t file, uint32_t line, size_t *length)
{
    const char *why;
    size_t size;
    const char *text = sources_text(s, file, &size, &why);
    source *f = numbered_source(s, file);
    if (!text || (f->lines.count == 0 && !index_lines(f)) || line == 0 || line > f->lines.count)
        return NULL;
    const char *start = text + f->lines.data[line - 1];
    size_t n = strcspn(start, "\n");
    *length = n && start[n - 1] == '\r' ? n - 1 : n;
    return start;
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool line_holds_word(const char *line, size_t length, const char *word, bool whole)
{
    size_t n = strlen(word);
    for (size_t i = 0; n && i + n <= length; i++) {
        bool alone = (i == 0 || !is_word(line[i - 1])) &&
                     (i + n == length || !is_word(line[i + n]));
        if ((alone || !whole) && memcmp(line + i, word, n) == 0)
            return true;
    }
    return false;
}

static bool is_text_marked(const char *text, size_t length, const char *const *marks)
{
    for (const char *const *mark = marks; *mark; mark++)
        if (line_holds_word(text, length, *mark, false))
            return true;
    return false;
}

uint32_t sources_search(sources *s, uint32_t file, uint32_t from, const char *word,
                        const char *const *marks)
{
    size_t length;
    const char *text;
    uint32_t first = 0;
    for (uint32_t line = 1; (text = sources_line(s, file, line, &length)); line++) {
        if (line_holds_word(text, length, word, true) && is_text_marked(text, length, marks)) {
            if (line >= from)
                return line;
            first = first ? first : line;
        }
    }
    return first;
}

/* The name in `#include "name"`; false for any other line. */
static bool included_name(const char *line, size_t length, const char **name, size_t *size)
{
    const char *p = line, *end = line + length;
    while (p < end && (*p == ' ' || *p == '\t' || *p == '#'))
        p++;
    if (end - p < 8 || memcmp(p, "include", 7) != 0 || !memchr(line, '#', length))
        return false;
    const char *open = memchr(p, '"', (size_t)(end - p));
    const char *close = open ? memchr(open + 1, '"', (size_t)(end - open - 1)) : NULL;
    *name = open ? open + 1 : NULL;
    *size = close ? (size_t)(close - *name) : 0;
    return *size > 0;
}

static void add_includes_of(sources *s, uint32_t file, uint32_t most)
{
    const char *path = sources_path(s, file), *line, *name;
    size_t length, size, folder = (size_t)(sources_name(path) - path);
    for (uint32_t n = 1; (line = sources_line(s, file, n, &length)) && sources_count(s) < most;
         n++) {
        if (included_name(line, length, &name, &size)) {
            char *full = wl_arena_printf(s->arena, "%.*s%.*s", (int)folder, path, (int)size, name);
            if (full && access(full, R_OK) == 0)
                sources_id(s, full, NULL);
        }
    }
}

void sources_add_includes(sources *s, uint32_t most)
{
    for (uint32_t file = 1; file <= sources_count(s); file++)
        add_includes_of(s, file, most);
}
