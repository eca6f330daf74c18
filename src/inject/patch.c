#include "inject/patch.h"

#include "base/vec.h"
#include "program/elf.h"

#include <dlfcn.h>
#include <elf.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* jmp *0(%rip) and the address behind it; or a jump to one of those near by, where a function is
 * shorter. */
enum { LONG_JUMP = 14, SHORT_JUMP = 5 };
static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};

static inj_patching patching;

/* ---- jumps ---- */

typedef struct island { /* pages with long jumps, within reach of short ones */
    uint8_t *page;
    size_t used;
} island;

static wl_vec(island) islands;

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static bool in_reach(const uint8_t *from, const uint8_t *to)
{
    ptrdiff_t distance = to - from;
    return distance > INT32_MIN + 4096 && distance < INT32_MAX - 4096;
}

/* A page near `place`: the kernel is asked for ever farther addresses and may give others. */
static uint8_t *map_near(const uint8_t *place)
{
    enum { STEP = 16 << 20, TRIES = 120 };
    for (int i = 1; i <= TRIES; i++) {
        for (int side = -1; side <= 1; side += 2) {
            uintptr_t hint = ((uintptr_t)place + (intptr_t)side * i * STEP) & ~(page_size() - 1);
            uint8_t *page = mmap((void *)hint, page_size(), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            if (page == MAP_FAILED)
                continue;
            if (in_reach(place, page))
                return page;
            munmap(page, page_size());
        }
    }
    return NULL;
}

static island *island_near(const uint8_t *place)
{
    for (size_t i = 0; i < islands.count; i++)
        if (in_reach(place, islands.data[i].page) &&
            islands.data[i].used + LONG_JUMP <= page_size())
            return &islands.data[i];
    island fresh = {.page = map_near(place)};
    return fresh.page && wl_push(&islands, fresh) ? &islands.data[islands.count - 1] : NULL;
}

/* Writes code. The places lie outside of what the thread sanitizer watches, and memcpy would have
 * it look there. */
__attribute__((no_sanitize("thread"))) static void put(uint8_t *at, const void *code, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((volatile uint8_t *)at)[i] = ((const uint8_t *)code)[i];
}

static void write_long(uint8_t *at, inj_code target)
{
    uint8_t jump[LONG_JUMP] = {0xff, 0x25, 0, 0, 0, 0};
    memcpy(jump + LONG_JUMP - sizeof target, &target, sizeof target);
    put(at, jump, sizeof jump);
}

static bool write_short(uint8_t *at, inj_code target)
{
    island *i = island_near(at);
    if (!i || mprotect(i->page, page_size(), PROT_READ | PROT_WRITE) != 0)
        return false;
    uint8_t *jump = i->page + i->used;
    write_long(jump, target);
    i->used += LONG_JUMP + 2;
    if (mprotect(i->page, page_size(), PROT_READ | PROT_EXEC) != 0)
        return false;
    int32_t distance = (int32_t)(jump - (at + SHORT_JUMP));
    uint8_t code[SHORT_JUMP] = {0xe9};
    memcpy(code + 1, &distance, sizeof distance);
    put(at, code, sizeof code);
    return true;
}

/* Behind a function's end only filling may be overwritten: nop in its forms, int3. */
static bool is_filling(uint8_t byte)
{
    return byte == 0x90 || byte == 0x66 || byte == 0x0f || byte == 0xcc;
}

/* `size`: bytes of the function; `room`: bytes until the next one. */
static bool redirect(uint8_t *at, uint64_t size, uint64_t room, inj_code target)
{
    if (size > sizeof endbr64 && memcmp(at, endbr64, sizeof endbr64) == 0) {
        at += sizeof endbr64;
        size -= sizeof endbr64;
        room -= room > sizeof endbr64 ? sizeof endbr64 : room;
    }
    if (size < room && is_filling(at[size]))
        size = room;
    if (size >= LONG_JUMP) {
        write_long(at, target);
        return true;
    }
    return size >= SHORT_JUMP && write_short(at, target);
}

/* ---- files ---- */

static bool is_own(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return strncmp(name, "libwarplens", 11) == 0 || strncmp(name, "linux-vdso", 10) == 0 ||
           strncmp(name, "libcudart.so", 12) == 0 || strncmp(name, "libcuda.so", 10) == 0;
}

/* Sets the protection of the pages that hold the functions. */
static bool protect(const prog_elf *elf, uintptr_t base, int protection)
{
    const prog_elf_function *last = &elf->functions[elf->count - 1];
    uintptr_t mask = page_size() - 1;
    uintptr_t from = (base + elf->functions[0].address) & ~mask;
    uintptr_t to = (base + last->address + last->size + LONG_JUMP + mask) & ~mask;
    return mprotect((void *)from, to - from, protection) == 0;
}

/* Some systems forbid memory that can be written and executed at once. */
static bool make_writable(const prog_elf *elf, uintptr_t base)
{
    return protect(elf, base, PROT_READ | PROT_WRITE | PROT_EXEC) ||
           protect(elf, base, PROT_READ | PROT_WRITE);
}

static void say_failure(const char *path, const char *what)
{
    char name[PATH_MAX];
    patching.failed(realpath(path, name) ? name : path, what);
}

static void patch_functions(const char *path, const prog_elf *elf, uintptr_t base)
{
    if (!make_writable(elf, base)) {
        say_failure(path, "the CUDA runtime inside could not be made writable");
        return;
    }
    const char *failed = NULL;
    for (size_t i = 0; i < elf->count; i++) {
        const prog_elf_function *f = &elf->functions[i];
        bool implemented;
        inj_code target = patching.find(f->name, elf->runtime_major, &implemented);
        if (target && !redirect((uint8_t *)base + f->address, f->size, f->room, target) &&
            implemented)
            failed = f->name;
    }
    protect(elf, base, PROT_READ | PROT_EXEC);
    if (failed) {
        char text[256];
        snprintf(text, sizeof text, "%s in the CUDA runtime inside could not be redirected",
                 failed);
        say_failure(path, text);
    }
}

static void patch_file(const char *path, uintptr_t base);

/* The one that the program would have had without us: LD_LIBRARY_PATH did not lead to ours. */
static bool is_foreign_runtime(const char *path)
{
    Dl_info self;
    const char *name = strrchr(path, '/');
    char ours[PATH_MAX], real[PATH_MAX];
    if (!inj_loaded_at_start() || !name || strncmp(name + 1, "libcudart.so", 12) != 0 ||
        !dladdr((void *)patch_file, &self) || !realpath(self.dli_fname, ours) ||
        !realpath(path, real))
        return false;
    *strrchr(ours, '/') = *strrchr(real, '/') = '\0';
    return strcmp(ours, real) != 0;
}

static void patch_file(const char *path, uintptr_t base)
{
    prog_elf elf;
    if (is_foreign_runtime(path))
        say_failure(path, "it was loaded instead of warplens's own, since something changed "
                          "LD_LIBRARY_PATH or the program names a folder of its own (RPATH)");
    if (is_own(path) || prog_elf_read(path, &elf, NULL) != WL_OK)
        return;
    if (patching.late && elf.has_static_runtime)
        say_failure(path, "warplens was not attached when it started, since something took "
                          "warplens's library out of LD_PRELOAD, and the CUDA runtime inside was "
                          "left as it is");
    else if (elf.is_stripped)
        say_failure(path, "it has the static CUDA runtime inside without its symbols. Link with "
                          "\"nvcc -cudart shared\", or do not strip it");
    else if (elf.has_static_runtime)
        patch_functions(path, &elf, base);
    prog_elf_clear(&elf);
}

/* ---- what is loaded, and what comes later ---- */

static wl_vec(struct link_map *) seen;

static bool is_new(struct link_map *map)
{
    for (size_t i = 0; i < seen.count; i++)
        if (seen.data[i] == map)
            return false;
    return wl_push(&seen, map);
}

static void patch_all(void)
{
    size_t still = 0;
    for (size_t i = 0; i < seen.count; i++) { /* a link_map may come again after dlclose */
        for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
            if (m != seen.data[i])
                continue;
            seen.data[still++] = m;
            break;
        }
    }
    seen.count = still;
    for (struct link_map *m = _r_debug.r_map; m; m = m->l_next) {
        if (!is_new(m))
            continue;
        bool program = m == _r_debug.r_map;
        if (program || *m->l_name)
            patch_file(program ? "/proc/self/exe" : m->l_name, m->l_addr);
    }
}

/* The dynamic linker calls this in place of the empty function that it keeps for debuggers,
 * whenever the list of files changes: with all new files mapped and none of their constructors run.
 */
static void on_change(void)
{
    if (_r_debug.r_state == RT_CONSISTENT && patching.active())
        patch_all();
}

static void watch(void)
{
    uint8_t *hook = (uint8_t *)_r_debug.r_brk;
    uintptr_t page = (uintptr_t)hook & ~(page_size() - 1);
    if (!hook || mprotect((void *)page, 2 * page_size(), PROT_READ | PROT_WRITE | PROT_EXEC) != 0)
        return; /* libraries that come by dlopen are not redirected then */
    uint8_t *ret = hook + (memcmp(hook, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0);
    if (*ret == 0xc3 && is_filling(ret[1]) && is_filling(ret[SHORT_JUMP - 1]))
        write_short(ret, on_change);
    mprotect((void *)page, 2 * page_size(), PROT_READ | PROT_EXEC);
}

/* Files stand in the order in which they were loaded: preloaded ones before all that the program
 * asks for, opened ones after them. */
bool inj_loaded_at_start(void)
{
    const struct link_map *own, *libc;
    Dl_info info;
    if (!dladdr1((void *)inj_loaded_at_start, &info, (void **)&own, RTLD_DL_LINKMAP) ||
        !dladdr1((void *)gnu_get_libc_version, &info, (void **)&libc, RTLD_DL_LINKMAP))
        return true;
    for (const struct link_map *m = _r_debug.r_map; m && m != libc; m = m->l_next)
        if (m == own)
            return true;
    return false;
}

void inj_patch_start(const inj_patching *how)
{
    patching = *how;
    patch_all();
    patching.late = false; /* what comes from now on has not begun */
    watch();
}
