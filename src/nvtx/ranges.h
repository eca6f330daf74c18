/* NVTX's ranges, told to the collector. */
#ifndef WL_NVTX_RANGES_H
#define WL_NVTX_RANGES_H

#include <stdbool.h>

/* `get_export_table`: as NVTX gives it to its tool. False where NVTX or the collector is of a version
 * that has no such thing. */
bool nvtx_serve_ranges(const void *get_export_table);

#endif
