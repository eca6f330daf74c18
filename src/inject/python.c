#define _GNU_SOURCE
#include "inject/python.h"

#include "base/vec.h"
#include "capture/capture.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* ---- where frames lie ---- */

enum { NONE = 0xffff };

/* Offsets from Python's headers. A thread's state leads to its innermost frame, in 3.11 and 3.12 by
 * way of another structure. */
typedef struct layout {
    uint16_t minor;
    uint16_t thread, way;    /* thread state to frame; `way`: the offset in what lies between */
    uint16_t code, previous; /* of a frame */
    uint16_t instruction;    /* a number until 3.10, then an address */
    uint16_t owner;          /* FROM_C: no frame of Python code */
} layout;

enum { FROM_C = 3 };

static const layout layouts[] = {
    {8, 24, NONE, 32, 24, 104, NONE}, {9, 24, NONE, 32, 24, 104, NONE},
    {10, 24, NONE, 32, 24, 96, NONE}, {11, 56, 8, 32, 48, 56, 69},
    {12, 56, 0, 0, 8, 56, 70},        {13, 72, NONE, 0, 8, 56, 70},
};

enum { OBJECT_TYPE = 8, TYPE_BASIC_SIZE = 32, TYPE_MEMBERS = 240 }; /* the same in all of them */

typedef struct member { /* PyMemberDef */
    const char *name;
    int type;
    long offset;
    int flags;
    const char *doc;
} member;

static struct {
    const layout *at;
    void *(*thread)(void);
    int (*ends)(void); /* the interpreter does: states of threads are freed under them */
    int (*line)(void *code, int offset);
    long (*length)(void *text);
    uint32_t (*character)(void *text, long index);
    uint64_t code_type, code_bytes;
    long file, function, first_line; /* offsets in a code object */
    uint64_t begin, end;             /* the interpreter's own code */
    bool trusted;                    /* a whole walk has shown that the layout is right */
} python;

/* ---- finding the interpreter ---- */

static long member_offset(const char *name)
{
    const member *m = *(const member *const *)(python.code_type + TYPE_MEMBERS);
    for (; m && m->name; m++)
        if (strcmp(m->name, name) == 0)
            return m->offset;
    return -1;
}

static int find_code_range(struct dl_phdr_info *info, size_t size, void *address)
{
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uint64_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || (uint64_t)address < begin ||
            (uint64_t)address >= end)
            continue;
        python.begin = begin;
        python.end = end;
        return 1;
    }
    return 0;
}

static const layout *layout_of(const char *version)
{
    unsigned minor = 0;
    if (strstr(version, "free-threading") || sscanf(version, "3.%u.", &minor) != 1)
        return NULL;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        if (layouts[i].minor == minor)
            return &layouts[i];
    return NULL;
}

/* Of a code object; before 3.11 there is no qualified name. */
static bool find_members(void)
{
    python.file = member_offset("co_filename");
    python.function = member_offset("co_qualname");
    if (python.function < 0)
        python.function = member_offset("co_name");
    python.first_line = member_offset("co_firstlineno");
    return python.file > 0 && python.function > 0 && python.first_line > 0;
}

static void find_python(void)
{
    const char *(*version)(void);
    *(void **)&version = dlsym(RTLD_DEFAULT, "Py_GetVersion");
    *(void **)&python.thread = dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
    *(void **)&python.line = dlsym(RTLD_DEFAULT, "PyCode_Addr2Line");
    *(void **)&python.length = dlsym(RTLD_DEFAULT, "PyUnicode_GetLength");
    *(void **)&python.character = dlsym(RTLD_DEFAULT, "PyUnicode_ReadChar");
    *(void **)&python.ends = dlsym(RTLD_DEFAULT, "Py_IsFinalizing"); /* since 3.13 */
    if (!python.ends)
        *(void **)&python.ends = dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
    python.code_type = (uint64_t)dlsym(RTLD_DEFAULT, "PyCode_Type");
    const layout *at = version ? layout_of(version()) : NULL;
    if (!at || !python.thread || !python.ends || !python.line || !python.length ||
        !python.character || !python.code_type || !find_members() ||
        !dl_iterate_phdr(find_code_range, *(void **)&python.thread))
        return;
    python.code_bytes = *(const uint64_t *)(python.code_type + TYPE_BASIC_SIZE);
    __atomic_store_n(&python.at, at, __ATOMIC_RELEASE);
}

/* NULL: the process is no interpreter whose frames we can read. */
static const layout *python_layout(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_python);
    return __atomic_load_n(&python.at, __ATOMIC_ACQUIRE);
}

/* ---- reading ---- */

/* Whatever the address is, before the layout has proved right. */
static bool read_memory(uint64_t address, void *out, size_t bytes)
{
    if (__atomic_load_n(&python.trusted, __ATOMIC_RELAXED)) {
        memcpy(out, (const void *)address, bytes);
        return true;
    }
    const struct iovec to = {out, bytes}, from = {(void *)address, bytes};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)bytes;
}

static bool read_word(uint64_t address, uint64_t *out)
{
    return read_memory(address, out, sizeof *out);
}

static bool find_innermost(const layout *at, uint64_t *frame)
{
    *frame = 0;
    uint64_t state = (uint64_t)python.thread();
    if (!state)
        return true;
    return read_word(state + at->thread, frame) &&
           (at->way == NONE || !*frame || read_word(*frame + at->way, frame));
}

typedef struct position { /* in a code object */
    uint64_t code;
    int offset; /* as PyCode_Addr2Line takes it */
} position;

static bool read_position(const layout *at, uint64_t frame, position *p)
{
    uint64_t type, instruction = 0;
    bool number = at->minor <= 10;
    if (!read_word(frame + at->code, &p->code) || !read_word(p->code + OBJECT_TYPE, &type) ||
        type != python.code_type ||
        !read_memory(frame + at->instruction, &instruction, number ? 4 : 8))
        return false;
    p->offset = number ? (int)instruction * (at->minor == 10 ? 2 : 1)
                       : (int)(instruction - p->code - python.code_bytes);
    return true;
}

static bool is_from_c(const layout *at, uint64_t frame, bool *from_c)
{
    uint8_t owner = 0;
    bool good = at->owner == NONE || read_memory(frame + at->owner, &owner, 1);
    *from_c = owner == FROM_C;
    return good;
}

/* ---- places ---- */

typedef struct place { /* its number is its index + 1 */
    position at;
    uint64_t file, function; /* the interpreter's objects, by which a code object is known again */
    inj_place told;
} place;

enum { MOST_PLACES = 1 << 20, MOST_CHARACTERS = 4096 };

static struct {
    pthread_mutex_t lock;
    wl_vec(place *) all;
    uint32_t *slots; /* numbers by hash; 0: empty */
    uint32_t mask;
} places = {.lock = PTHREAD_MUTEX_INITIALIZER};

static size_t put_utf8(char *to, uint32_t c)
{
    const size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(marks[n] | c);
    return n;
}

/* A copy of Python's text. Its functions that read one character change nothing. */
static char *copy_text(uint64_t text)
{
    long length = python.length((void *)text);
    if (length < 0 || length > MOST_CHARACTERS)
        return NULL;
    char *copy = malloc((size_t)length * 4 + 1);
    size_t at = 0;
    for (long i = 0; copy && i < length; i++)
        at += put_utf8(copy + at, python.character((void *)text, i));
    if (copy)
        copy[at] = '\0';
    return copy;
}

static uint32_t hash_position(const position *p)
{
    const uint64_t odd = 0x9e3779b97f4a7c15;
    return (uint32_t)(((p->code >> 4) * odd ^ (uint32_t)p->offset * odd) >> 32);
}

static uint64_t word_of_code(const position *p, long offset)
{
    return *(const uint64_t *)(p->code + (uint64_t)offset);
}

static bool is_place(const place *known, const position *p)
{
    return known->at.code == p->code && known->at.offset == p->offset &&
           known->file == word_of_code(p, python.file) &&
           known->function == word_of_code(p, python.function);
}

static uint32_t *slot_of(const position *p)
{
    uint32_t i = hash_position(p) & places.mask;
    while (places.slots[i] && !is_place(places.all.data[places.slots[i] - 1], p))
        i = (i + 1) & places.mask;
    return &places.slots[i];
}

/* Room for one more, at most half full. */
static bool grow_slots(void)
{
    uint32_t room = places.slots ? places.mask + 1 : 0;
    if (places.all.count * 2 < room)
        return true;
    uint32_t *larger = calloc(room ? room * 2 : 1024, sizeof *larger);
    if (!larger)
        return false;
    free(places.slots);
    places.slots = larger;
    places.mask = (room ? room * 2 : 1024) - 1;
    for (uint32_t i = 0; i < places.all.count; i++) {
        uint32_t at = hash_position(&places.all.data[i]->at) & places.mask;
        while (larger[at])
            at = (at + 1) & places.mask;
        larger[at] = i + 1;
    }
    return true;
}

static bool fill_place(place *made, const position *p)
{
    *made = (place){.at = *p,
                    .file = word_of_code(p, python.file),
                    .function = word_of_code(p, python.function)};
    int line = python.line((void *)p->code, p->offset);
    made->told = (inj_place){.number = (uint32_t)places.all.count + 1,
                             .file = copy_text(made->file),
                             .function = copy_text(made->function),
                             .line = line > 0 ? (uint32_t)line : 0};
    return made->told.file && made->told.function;
}

static void free_place(place *p)
{
    if (p) {
        free((char *)p->told.file);
        free((char *)p->told.function);
    }
    free(p);
}

/* 0: without memory, or there are too many. */
static uint32_t place_number(const position *p)
{
    if (!grow_slots())
        return 0;
    uint32_t *slot = slot_of(p);
    if (*slot || places.all.count >= MOST_PLACES)
        return *slot;
    place *made = calloc(1, sizeof *made);
    if (!made || !fill_place(made, p) || !wl_push(&places.all, made)) {
        free_place(made);
        return 0;
    }
    return *slot = made->told.number;
}

bool inj_python_place(uint32_t last, inj_place *out)
{
    pthread_mutex_lock(&places.lock);
    bool there = last < places.all.count;
    if (there)
        *out = places.all.data[last]->told;
    pthread_mutex_unlock(&places.lock);
    return there;
}

void inj_python_after_fork(void)
{
    pthread_mutex_init(&places.lock, NULL);
}

/* ---- the walk ---- */

typedef struct positions {
    uint32_t count, limit;
    position *rows;
} positions;

static bool add_position(const layout *at, uint64_t frame, positions *out)
{
    bool from_c;
    position p;
    if (!is_from_c(at, frame, &from_c) || (!from_c && !read_position(at, frame, &p)))
        return false;
    if (!from_c && out->count < out->limit)
        out->rows[out->count++] = p;
    return true;
}

/* The first walks, which try the layout, go to the outermost frame. False: what was found are no
 * frames. */
static bool walk_frames(const layout *at, positions *out)
{
    bool trusted = __atomic_load_n(&python.trusted, __ATOMIC_RELAXED);
    uint64_t frame;
    if (!find_innermost(at, &frame))
        return false;
    while (frame && (!trusted || out->count < out->limit))
        if (!add_position(at, frame, out) || !read_word(frame + at->previous, &frame))
            return false;
    if (out->count)
        __atomic_store_n(&python.trusted, true, __ATOMIC_RELAXED);
    return true;
}

static uint32_t number_positions(const positions *found, uint64_t *pcs)
{
    uint32_t count = 0;
    pthread_mutex_lock(&places.lock);
    for (uint32_t i = 0; i < found->count; i++) {
        uint32_t number = place_number(&found->rows[i]);
        if (number)
            pcs[count++] = CAP_FIRST_PLACE + number;
    }
    pthread_mutex_unlock(&places.lock);
    return count;
}

/* Python's frames get room for at least this many, in a stack of `limit`. */
static uint32_t least_for_python(uint32_t limit)
{
    return limit * 3 / 4;
}

static uint32_t native_frames(const uint64_t *pcs, uint32_t count)
{
    uint32_t i = 0;
    while (i < count && (pcs[i] < python.begin || pcs[i] >= python.end))
        i++;
    return i;
}

uint32_t inj_python_frames(uint64_t *pcs, uint32_t count, uint32_t limit)
{
    position rows[CAP_MAX_STACK];
    const layout *at = python_layout();
    positions found = {.limit = limit < CAP_MAX_STACK ? limit : CAP_MAX_STACK, .rows = rows};
    if (!at || python.ends())
        return count;
    if (!walk_frames(at, &found)) {
        __atomic_store_n(&python.at, NULL, __ATOMIC_RELEASE);
        return count;
    }
    if (!found.count)
        return count;
    uint32_t least = least_for_python(limit), native = native_frames(pcs, count);
    uint32_t python_count = found.count < least ? found.count : least;
    native = native < limit - python_count ? native : limit - python_count;
    found.count = found.count < limit - native ? found.count : limit - native;
    return native + number_positions(&found, pcs + native);
}
