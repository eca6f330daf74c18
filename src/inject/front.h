/* What leads a call of CUDA's interfaces to our code: code by the name of its symbol, and how the
 * libraries that bear the names of NVIDIA's ask the collector's library for it. */
#ifndef WL_INJECT_FRONT_H
#define WL_INJECT_FRONT_H

#include <stdbool.h>
#include <stdint.h>

typedef void (*inj_code)(void);

/* The code behind a symbol of libcudart.so.<major>, or of libcuda.so.1 with major 0; NULL where
 * that library has no such symbol. *implemented (may be NULL) is false for a function that only
 * says that it is not there. */
typedef inj_code (*inj_find)(const char *symbol, int major, bool *implemented);

/* What the libraries in front get through cuGetExportTable with this id. */
typedef struct inj_front_table {
    uint64_t size;
    inj_find find;
} inj_front_table;

#define INJ_FRONT_ID "warplens-front-1" /* 16 bytes */

#endif
