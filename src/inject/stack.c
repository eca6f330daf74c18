#include "inject/stack.h"

#include "base/vec.h"
#include "inject/stack_path.h"
#include "inject/unwind.h"

#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

typedef struct range {
    uintptr_t start, end;
} range;

static range own; /* this library's code */

static int find_own(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + p->p_vaddr;
        if (p->p_type == PT_LOAD && (uintptr_t)find_own - start < p->p_memsz) {
            own = (range){start, start + p->p_memsz};
            return 1;
        }
    }
    return 0;
}

typedef struct counters {
    unsigned long long adds, subs;
} counters;

static int read_counters(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    *(counters *)data = (counters){info->dlpi_adds, info->dlpi_subs};
    return 1;
}

static counters latest, told; /* as of the last stack; that inj_maps_changed() told of */

/* How often files were mapped and unmapped. */
static counters count_files(void)
{
    counters now = {0, 0};
    dl_iterate_phdr(read_counters, &now);
    return now;
}

/* ---- walking by libgcc, which knows everything, in a third of a microsecond a frame ---- */

typedef struct walk {
    uint64_t *pcs;
    uint32_t count, limit;
    bool inside; /* libgcc begins with the frame that asked it */
} walk;

/* False where the walk ends. */
static bool add_frame(walk *w, uintptr_t pc)
{
    if (pc - own.start < own.end - own.start && w->count == 0)
        return true;
    w->pcs[w->count++] = pc;
    return w->count < w->limit;
}

static _Unwind_Reason_Code step_frame(struct _Unwind_Context *context, void *data)
{
    walk *w = data;
    uintptr_t pc = _Unwind_GetIP(context);
    if (w->inside) {
        w->inside = false;
        return _URC_NO_REASON;
    }
    return pc && add_frame(w, pc) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* ---- walking by rules ---- */

typedef struct frame {
    uint64_t pc, sp, bp;
    uint64_t bp_at; /* where bp was read, 0: it is that of the first frame */
} frame;

static __thread struct {
    uint64_t low, high; /* of the thread's stack; 1, 1: not known */
} bounds;

static void find_bounds(void)
{
    pthread_attr_t attributes;
    void *low;
    size_t size;
    bounds.low = bounds.high = 1;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return;
    if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
        bounds.low = (uint64_t)(uintptr_t)low;
        bounds.high = bounds.low + size;
    }
    pthread_attr_destroy(&attributes);
}

/* A word of the part of the stack that is in use. */
static __attribute__((no_sanitize("address"))) bool read_word(const frame *f, uint64_t address,
                                                              uint64_t *out)
{
    if (address < f->sp || address > bounds.high - sizeof *out || address % sizeof *out)
        return false;
    *out = *(const uint64_t *)(uintptr_t)address;
    return true;
}

/* The frame's %rbp decides about the walk. */
static uint64_t use_bp(const frame *f, stack_path *path)
{
    if (f->bp_at)
        stack_path_other(path, f->bp_at, f->bp);
    else
        path->bp_counts = true;
    return f->bp;
}

static bool find_cfa(const frame *f, unwind_rule rule, stack_path *path, uint64_t *cfa)
{
    uint64_t from = rule.cfa == UNWIND_SP ? f->sp : use_bp(f, path);
    uint64_t at = *cfa = from + (uint64_t)(int64_t)rule.cfa_at;
    if (rule.cfa == UNWIND_AT_BP) {
        if (!read_word(f, at, cfa))
            return false;
        stack_path_other(path, at, *cfa);
    }
    return *cfa > f->sp;
}

/* To the caller; false where that is not known. */
static bool go_up(frame *f, unwind_rule rule, stack_path *path)
{
    frame caller = {.bp = f->bp, .bp_at = f->bp_at};
    if (!find_cfa(f, rule, path, &caller.sp) ||
        !read_word(f, caller.sp - sizeof(uint64_t), &caller.pc))
        return false;
    stack_path_return(path, caller.sp - sizeof(uint64_t), caller.pc);
    if (rule.bp != UNWIND_BP_KEPT) {
        uint64_t from = rule.bp == UNWIND_BP_AT_CFA ? caller.sp : use_bp(f, path);
        caller.bp_at = from + (uint64_t)(int64_t)rule.bp_at;
        if (!read_word(f, caller.bp_at, &caller.bp))
            return false;
    }
    *f = caller;
    return true;
}

/* Of a frame of this library; inlined, so that it is the caller's. */
static inline __attribute__((always_inline)) frame here(void)
{
    frame f = {.bp_at = 0};
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2"
                     : "=r"(f.pc), "=r"(f.sp), "=r"(f.bp));
    return f;
}

/* False where a frame has no simple rule. */
static bool walk_by_rules(walk *w, frame f, stack_path *path)
{
    uint64_t pc = f.pc; /* in the instruction that the frame is at */
    for (;;) {
        unwind_rule rule = unwind_find(pc);
        if (rule.cfa == UNWIND_END)
            return true;
        if (rule.cfa == UNWIND_UNKNOWN || !go_up(&f, rule, path))
            return false;
        if (!f.pc || !add_frame(w, f.pc))
            return true;
        path->own += w->count == 0;
        pc = f.pc - 1;
    }
}

/* Whether some were mapped or unmapped since the last look. */
static bool look_at_files(void)
{
    counters now = count_files();
    if (__atomic_load_n(&latest.adds, __ATOMIC_RELAXED) == now.adds &&
        __atomic_load_n(&latest.subs, __ATOMIC_RELAXED) == now.subs)
        return false;
    __atomic_store_n(&latest.adds, now.adds, __ATOMIC_RELAXED);
    __atomic_store_n(&latest.subs, now.subs, __ATOMIC_RELAXED);
    return true;
}

static void forget_unwinding(void)
{
    unwind_forget();
    stack_path_forget();
}

/* On other stacks than the thread's own nobody knows how far one may read. */
static bool is_walkable(frame f)
{
    if (look_at_files())
        forget_unwinding();
    if (!bounds.high)
        find_bounds();
    return f.sp >= bounds.low && f.sp < bounds.high;
}

void inj_stack_start(void)
{
    dl_iterate_phdr(find_own, NULL);
    latest = count_files();
}

static uint32_t take_known(const stack_path *known, uint64_t *pcs)
{
    uint32_t count = known->nreturns - known->own;
    count -= count && !known->returns[known->nreturns - 1]; /* the walk ended there */
    memcpy(pcs, known->returns + known->own, count * sizeof *pcs);
    return count;
}

__attribute__((noinline)) uint32_t inj_stack(uint64_t *pcs, uint32_t limit)
{
    walk w = {.pcs = pcs, .limit = limit};
    frame f = here();
    if (is_walkable(f)) {
        stack_path path;
        const stack_path *known = stack_path_find(f.sp, f.bp, limit);
        if (known)
            return take_known(known, pcs);
        stack_path_begin(&path, f.sp, f.bp, limit);
        if (walk_by_rules(&w, f, &path)) {
            stack_path_keep(&path);
            return w.count;
        }
    }
    w.count = 0;
    w.inside = true;
    _Unwind_Backtrace(step_frame, &w);
    return w.count;
}

/* ---- files ---- */

bool inj_maps_changed(void)
{
    counters now = {__atomic_load_n(&latest.adds, __ATOMIC_RELAXED),
                    __atomic_load_n(&latest.subs, __ATOMIC_RELAXED)};
    if (now.adds == told.adds && now.subs == told.subs)
        return false;
    told = now;
    return true;
}

static char *build_id_of_note(const char *note, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)note;
        size_t name = (n->n_namesz + 3U) & ~(size_t)3, desc = (n->n_descsz + 3U) & ~(size_t)3;
        if (sizeof *n + name + desc > size)
            return NULL;
        const unsigned char *bytes = (const unsigned char *)note + sizeof *n + name;
        if (n->n_type == NT_GNU_BUILD_ID && n->n_namesz == 4 &&
            memcmp(note + sizeof *n, "GNU", 4) == 0) {
            char *text = malloc(2 * (size_t)n->n_descsz + 1);
            for (size_t i = 0; text && i < n->n_descsz; i++)
                snprintf(text + 2 * i, 3, "%02x", bytes[i]);
            return text;
        }
        note += sizeof *n + name + desc;
        size -= sizeof *n + name + desc;
    }
    return NULL;
}

static char *build_id(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE)
            continue;
        char *text = build_id_of_note((const char *)info->dlpi_addr + p->p_vaddr, p->p_memsz);
        if (text)
            return text;
    }
    return strdup("");
}

static char *path_of(const struct dl_phdr_info *info)
{
    if (*info->dlpi_name)
        return strdup(info->dlpi_name);
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return strdup("");
    path[length] = '\0';
    return strdup(path);
}

typedef struct listing {
    wl_vec(cap_map) maps;
    bool failed;
} listing;

static int list_one(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    listing *l = data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        cap_map map = {.start = info->dlpi_addr + p->p_vaddr,
                       .end = info->dlpi_addr + p->p_vaddr + p->p_memsz,
                       .offset = p->p_offset,
                       .path = path_of(info),
                       .build_id = build_id(info)};
        if (!map.path || !map.build_id || !wl_push(&l->maps, map)) {
            free((char *)map.path);
            free((char *)map.build_id);
            l->failed = true;
            return 1;
        }
    }
    return 0;
}

wl_status inj_maps_read(cap_maps *maps)
{
    listing l = {.failed = false};
    dl_iterate_phdr(list_one, &l);
    *maps = (cap_maps){.count = (uint32_t)l.maps.count, .maps = l.maps.data};
    if (!l.failed)
        return WL_OK;
    inj_maps_free(maps);
    return WL_NOMEM;
}

void inj_maps_free(cap_maps *maps)
{
    for (uint32_t i = 0; i < maps->count; i++) {
        free((char *)maps->maps[i].path);
        free((char *)maps->maps[i].build_id);
    }
    free(maps->maps);
    *maps = (cap_maps){0};
}
