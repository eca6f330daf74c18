/* Where NVIDIA's driver library lies. */
#ifndef WL_PROGRAM_DRIVER_PATH_H
#define WL_PROGRAM_DRIVER_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The file that the dynamic linker would load for "libcuda.so.1", were no library of ours in
 * front of it: from LD_LIBRARY_PATH, the linker's cache, the usual folders. Libraries of
 * warplens and the toolkit's stubs are passed over. WARPLENS_DRIVER names the file in its place.
 * False where there is none. */
bool prog_find_driver(char *path, size_t size);

/* The first driver that a cache of the dynamic linker names, and that prog_find_driver takes: `cache`
 * is a file like /etc/ld.so.cache; it may be damaged or missing. `path` is written where false, too. */
bool prog_driver_in_cache(const char *cache, char *path, size_t size);

/* Whether this machine has a GPU that the driver could use: a device file. Loads nothing, starts
 * nothing. */
bool prog_gpu_present(void);

#endif
