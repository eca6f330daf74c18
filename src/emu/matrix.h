/* Matrix instructions: mma, wmma, ldmatrix, stmatrix. One warp holds a matrix in the registers of
 * its lanes. */
#ifndef WL_EMU_MATRIX_H
#define WL_EMU_MATRIX_H

#include "emu/access.h"

enum {
    EMU_MATRIX_REGS = 32,
    EMU_MATRIX_ELEMENTS = 32 * 256, /* of the largest operand */
    EMU_MATRIX_BYTES = 3 * 8 * EMU_MATRIX_ELEMENTS
};

typedef enum emu_element { /* of a matrix */
                           EMU_E_F16,
                           EMU_E_BF16,
                           EMU_E_TF32,
                           EMU_E_F32,
                           EMU_E_F64,
                           EMU_E_S8,
                           EMU_E_U8,
                           EMU_E_S4,
                           EMU_E_U4,
                           EMU_E_B1,
                           EMU_E_E4M3,
                           EMU_E_E5M2,
                           EMU_E_S32
} emu_element;

uint32_t emu_element_bits(emu_element e);

/* Where the elements of a fragment are. MMA: as the PTX ISA shows for mma. WMMA: the ISA leaves it
 * open; here lane l holds the elements that come l-th in memory order. */
typedef enum emu_layout { EMU_LAYOUT_MMA, EMU_LAYOUT_WMMA } emu_layout;

typedef struct emu_fragment {
    emu_element type;
    uint16_t rows, columns; /* A: m x k, B: k x n, C and D: m x n */
    bool column_major;      /* WMMA: the memory order of A and B */
    uint8_t role;           /* 'a', 'b', 'c' */
    uint8_t nregs;
    uint8_t reg_bytes; /* of a register's element: 4 or 8; 2 never occurs */
    emu_ref regs[EMU_MATRIX_REGS];
} emu_fragment;

typedef enum emu_dot { EMU_DOT_SUM, EMU_DOT_XOR_POPC, EMU_DOT_AND_POPC } emu_dot;

typedef struct emu_mma { /* extra of mma and wmma.mma */
    emu_layout layout;
    emu_dot dot;
    bool saturate;
    emu_fragment a, b, c, d;
} emu_mma;

typedef struct emu_wmma { /* extra of wmma.load and wmma.store: the emu_mem comes first */
    emu_mem mem;
    emu_fragment fragment;
    bool column_major; /* in memory */
    emu_ref stride;    /* elements from row to row, or from column to column */
} emu_wmma;

typedef struct emu_matrices { /* extra of ldmatrix and stmatrix: the emu_mem comes first */
    emu_mem mem;
    uint8_t count; /* 1, 2, 4 */
    bool transposed;
    emu_ref regs[4];
} emu_matrices;

void emu_run_mma(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_wmma_load(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_wmma_store(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_ldmatrix(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_stmatrix(emu_warp *w, const emu_insn *in, uint32_t mask);

#endif
