/* What two lengths have in common. */
#ifndef WL_BASE_GCD_H
#define WL_BASE_GCD_H

#include <stdint.h>

/* The greatest common divisor; of 0 and a number, the number. */
static inline uint64_t wl_gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

#endif
