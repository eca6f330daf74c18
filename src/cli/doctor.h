/* What warplens-doctor looks at: the machine and its GPU (doctor_gpu.c), a program
 * (doctor_program.c). */
#ifndef WL_CLI_DOCTOR_H
#define WL_CLI_DOCTOR_H

#include <stdint.h>

typedef enum doctor_verdict { DOCTOR_GOOD, DOCTOR_NOTE, DOCTOR_BAD } doctor_verdict;

/* Prints one line; returns 1 for DOCTOR_BAD. */
int doctor_tell(doctor_verdict v, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

typedef struct doctor_gpu { /* what the driver says */
    int count;              /* 0: programs are emulated */
    uint32_t sm;            /* of the first one: 90 */
    int cuda;               /* the newest CUDA that the driver knows: 13000 */
    char name[256];
} doctor_gpu;

/* Each prints its lines and returns how many of them are bad. */
int doctor_check_gpu(doctor_gpu *gpu);
int doctor_check_program(const char *program, const doctor_gpu *gpu);

#endif
