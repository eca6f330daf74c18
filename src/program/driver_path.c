/* Where NVIDIA's driver library lies: the dynamic linker's own places, searched as it would. */
#include "program/driver_path.h"

#include "program/options.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "libcuda.so.1"

/* The file that this code stands in: the library before the driver bears the driver's name, and would call itself. */
static bool is_own_file(const char *real)
{
    static const char of_this_file[] = "";
    char own[4096];
    Dl_info info;
    return dladdr(of_this_file, &info) && realpath(info.dli_fname, own) && !strcmp(real, own);
}

static bool is_usable_driver(const char *path)
{
    char real[4096];
    if (access(path, R_OK) != 0 || !realpath(path, real))
        return false;
    return !strstr(path, "/stubs/") && !strstr(real, "/lib/warplens/") && !is_own_file(real);
}

/* A folder that is not absolute would mean another one in each process. */
static bool in_folder(const char *folder, size_t length, char *path, size_t size)
{
    int used = snprintf(path, size, "%.*s/" NAME, (int)length, folder);
    return folder[0] == '/' && used > 0 && (size_t)used < size && is_usable_driver(path);
}

static bool find_along_folders(const char *folders, char *path, size_t size)
{
    while (folders && *folders) {
        size_t length = strcspn(folders, ":;");
        if (in_folder(folders, length, path, size))
            return true;
        folders += length + (folders[length] != '\0');
    }
    return false;
}

/* ---- the cache of the dynamic linker ---- */

typedef struct cache_header { /* glibc's format of 2.2 and later; may follow an older one */
    char magic[20];
    uint32_t count, string_bytes;
    uint8_t flags, padding[3];
    uint32_t extensions, unused[3];
} cache_header;

typedef struct cache_entry {
    int32_t flags;
    uint32_t name, path; /* offsets from the header */
    uint32_t os;
    uint64_t hwcap;
} cache_entry;

enum { CACHE_ABI = 0xff00, CACHE_X86_64 = 0x0300 };

static const char *text_at(const char *base, size_t size, uint32_t offset)
{
    return offset < size && memchr(base + offset, '\0', size - offset) ? base + offset : "";
}

static bool find_in_cache(const char *data, size_t size, char *path, size_t room)
{
    const char *base = memmem(data, size, "glibc-ld.so.cache1.1", 20);
    if (!base || size - (size_t)(base - data) < sizeof(cache_header))
        return false;
    size -= (size_t)(base - data);
    cache_header header;
    memcpy(&header, base, sizeof header);
    for (uint64_t i = 0; i < header.count; i++) {
        cache_entry entry;
        size_t at = sizeof header + i * sizeof entry;
        if (at + sizeof entry > size)
            return false;
        memcpy(&entry, base + at, sizeof entry);
        if ((entry.flags & CACHE_ABI) != CACHE_X86_64 ||
            strcmp(text_at(base, size, entry.name), NAME) != 0)
            continue;
        snprintf(path, room, "%s", text_at(base, size, entry.path));
        if (is_usable_driver(path))
            return true;
    }
    return false;
}

bool prog_driver_in_cache(const char *cache, char *path, size_t size)
{
    struct stat st;
    bool found = false;
    FILE *file = fopen(cache, "re");
    if (!file)
        return false;
    if (fstat(fileno(file), &st) == 0 && st.st_size > 0) {
        void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fileno(file), 0);
        if (data != MAP_FAILED) {
            found = find_in_cache(data, (size_t)st.st_size, path, size);
            munmap(data, (size_t)st.st_size);
        }
    }
    fclose(file);
    return found;
}

bool prog_find_driver(char *path, size_t size)
{
    static const char usual[] =
        "/usr/lib/x86_64-linux-gnu:/usr/lib64:/usr/lib:/usr/local/nvidia/lib64:"
        "/usr/local/nvidia/lib:/usr/lib/x86_64-linux-gnu/nvidia/current:"
        "/usr/lib/wsl/lib:/run/opengl-driver/lib";
    const char *named = prog_options_get()->driver;
    if (*named) {
        snprintf(path, size, "%s", named);
        return access(path, R_OK) == 0;
    }
    return find_along_folders(getenv("LD_LIBRARY_PATH"), path, size) ||
           prog_driver_in_cache("/etc/ld.so.cache", path, size) ||
           find_along_folders(usual, path, size);
}

bool prog_gpu_present(void)
{
    DIR *folder = opendir("/dev");
    bool found = false;
    for (struct dirent *e; folder && !found && (e = readdir(folder));)
        found = strcmp(e->d_name, "dxg") == 0 || (strncmp(e->d_name, "nvidia", 6) == 0 &&
                                                  e->d_name[6] >= '0' && e->d_name[6] <= '9');
    if (folder)
        closedir(folder);
    return found;
}
