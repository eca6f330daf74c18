/* The roofline of a launch: operations against bytes, at each level of memory.
 *
 * An operation is what a lane does in one arithmetic instruction: a multiply-add is one, as it is one
 * in the figures that are its ceiling, and so is a pair of halves; a matrix instruction is all of its
 * multiply-adds. Lanes that are not active do none. Bytes are those that a level moves whether they
 * are needed or not: whole sectors, and for shared memory whole wavefronts of 128 bytes. Atomics in
 * global memory are in no level. */
#ifndef WL_ANALYSIS_MODEL_ROOFLINE_H
#define WL_ANALYSIS_MODEL_ROOFLINE_H

#include <stdbool.h>

typedef enum model_level {
#define LEVEL(resource, words) MODEL_LEVEL_##resource,
#include "analysis/model/roofline.def"
    MODEL_LEVELS
} model_level;

typedef enum model_arithmetic {
#define ARITHMETIC(resource, words, class, figure, of_lane) MODEL_ARITHMETIC_##resource,
#include "analysis/model/roofline.def"
    MODEL_ARITHMETICS
} model_arithmetic;

typedef struct model_roof {
    double amount;  /* bytes or operations of a launch; 0: none */
    double seconds; /* that it takes at the rate that was measured of the device, all of it busy */
} model_roof;

typedef struct model_roofline {
    model_roof levels[MODEL_LEVELS], arithmetic[MODEL_ARITHMETICS];
} model_roofline;

const char *model_level_words(model_level level);                /* "device memory" */
const char *model_arithmetic_words(model_arithmetic arithmetic); /* "FP32" */
/* Integer arithmetic counts where nothing else is done: elsewhere it computes addresses. */
bool model_counts_arithmetic(const model_roofline *roofline, model_arithmetic arithmetic);

#endif
