#include "collect/stack.h"

#include "base/vec.h"

#include <elf.h>
#include <link.h>
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

typedef struct walk {
    uint64_t *pcs;
    uint32_t count, limit;
} walk;

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *data)
{
    walk *w = data;
    uintptr_t pc = _Unwind_GetIP(context);
    if (!pc)
        return _URC_END_OF_STACK;
    if (pc - own.start < own.end - own.start && w->count == 0)
        return _URC_NO_REASON;
    w->pcs[w->count++] = pc;
    return w->count < w->limit ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void collect_stack_start(void)
{
    dl_iterate_phdr(find_own, NULL);
}

uint32_t collect_stack(uint64_t *pcs, uint32_t limit)
{
    walk w = {.pcs = pcs, .limit = limit};
    _Unwind_Backtrace(step, &w);
    return w.count;
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

bool collect_maps_changed(void)
{
    static counters last;
    counters now = {0, 0};
    dl_iterate_phdr(read_counters, &now);
    if (now.adds == last.adds && now.subs == last.subs)
        return false;
    last = now;
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

wl_status collect_maps_read(cap_maps *maps)
{
    listing l = {.failed = false};
    dl_iterate_phdr(list_one, &l);
    *maps = (cap_maps){.count = (uint32_t)l.maps.count, .maps = l.maps.data};
    if (!l.failed)
        return WL_OK;
    collect_maps_free(maps);
    return WL_NOMEM;
}

void collect_maps_free(cap_maps *maps)
{
    for (uint32_t i = 0; i < maps->count; i++) {
        free((char *)maps->maps[i].path);
        free((char *)maps->maps[i].build_id);
    }
    free(maps->maps);
    *maps = (cap_maps){0};
}
