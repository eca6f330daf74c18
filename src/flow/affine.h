/* Arithmetic of linear forms. All results lie in the kernel's arena; NULL stands for "no form" and
 * spreads. */
#ifndef WL_FLOW_AFFINE_H
#define WL_FLOW_AFFINE_H

#include "flow/kernel.h"

const flow_affine *flow_affine_constant(flow_mem *mem, int64_t value);
const flow_affine *flow_affine_symbol(flow_mem *mem, flow_symbol symbol);
/* a + factor * b. NULL where it has more than FLOW_MAX_TERMS terms. */
const flow_affine *flow_affine_add(flow_mem *mem, const flow_affine *a, const flow_affine *b,
                                   int64_t factor);
const flow_affine *flow_affine_mul(flow_mem *mem, const flow_affine *a, const flow_affine *b);
/* The same form, noting that 32-bit steps were assumed not to overflow. */
const flow_affine *flow_affine_narrow(flow_mem *mem, const flow_affine *a);
bool flow_affine_equal(const flow_affine *a, const flow_affine *b);
bool flow_affine_is_constant(const flow_affine *a, int64_t *value);
/* The coefficient of a term that is just the symbol; false where the symbol is multiplied with
 * another anywhere. */
bool flow_affine_coefficient(const flow_affine *a, flow_symbol symbol, int64_t *coefficient);
bool flow_affine_has(const flow_affine *a, flow_symbol symbol);
/* What the symbol is multiplied with, all over the form; *rest: the terms without it. NULL where it
 * does not occur, or stands twice in one term. */
const flow_affine *flow_affine_slope(flow_mem *mem, const flow_affine *a, flow_symbol symbol,
                                     const flow_affine **rest);
/* Without that symbol's own term. */
const flow_affine *flow_affine_without(flow_mem *mem, const flow_affine *a, flow_symbol symbol);
/* Trip counts of the loops of a function whose values have forms. */
void flow_find_trips(flow_kernel *kernel, flow_function *f);
/* "4*ctaid.x*ntid.x + 4*i0 + param0", where i0 counts the iterations of loop 0; truncates. Returns
 * buffer. */
char *flow_affine_text(const flow_kernel *kernel, const flow_affine *a, char *buffer, size_t size);
/* The same of a whole address, its constant offset included; "" where it has no form. */
char *flow_address_text(const flow_kernel *kernel, const flow_function *f,
                        const flow_address *address, char *buffer, size_t size);
/* "9 times, while 0 + 1*i lt 8", where i counts the iterations; ", or less" where the loop has
 * other exits; "unknown". */
char *flow_trip_text(const flow_kernel *kernel, const flow_trip *trip, char *buffer, size_t size);

#endif
