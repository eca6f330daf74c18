/* Video instructions (PTX ISA, "Video Instructions"): one, two or four parts of 32-bit registers at
 * once. */
#ifndef WL_EMU_VIDEO_H
#define WL_EMU_VIDEO_H

#include <stdbool.h>
#include <stdint.h>

typedef enum emu_video_op {
    EMU_VIDEO_ADD,
    EMU_VIDEO_SUB,
    EMU_VIDEO_ABSDIFF,
    EMU_VIDEO_MIN,
    EMU_VIDEO_MAX,
    EMU_VIDEO_SHL,
    EMU_VIDEO_SHR,
    EMU_VIDEO_MAD,
    EMU_VIDEO_SET,
    EMU_VIDEO_AVRG
} emu_video_op;

typedef enum emu_video_second {
    EMU_VIDEO_NONE,
    EMU_VIDEO_ACCUMULATE,
    EMU_VIDEO_SECOND_MIN,
    EMU_VIDEO_SECOND_MAX
} emu_video_second;

typedef struct emu_video {
    emu_video_op op;
    emu_video_second second; /* what is done with c */
    uint8_t parts;           /* 1, 2, 4 */
    bool d_signed, a_signed, b_signed, c_signed;
    bool sat, wrap;
    bool a_neg, b_neg, c_neg, plus_one; /* vmad */
    uint8_t shift;                      /* vmad: 0, 7, 15 */
    uint8_t compare;                    /* vset: emu_cmp */
    /* Selectors: for one part, a.b0..b3 are 0..3, a.h0, a.h1 are 4, 5, the whole register 6. For
     * parts of SIMD instructions, which element of {a, b} each part takes. */
    uint8_t a_select[4], b_select[4];
    uint8_t d_select; /* 0..5 as above: the result is merged into c; 6: none */
    uint8_t d_mask;   /* SIMD: parts that are written; the others come from c */
} emu_video;

uint32_t emu_video_run(const emu_video *v, uint32_t a, uint32_t b, uint32_t c);

#endif
