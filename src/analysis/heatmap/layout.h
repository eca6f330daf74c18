/* What the code alone tells about how an instruction's addresses lie: for all blocks of a launch,
 * where a heat map knows only those that were sampled. */
#ifndef WL_ANALYSIS_HEATMAP_LAYOUT_H
#define WL_ANALYSIS_HEATMAP_LAYOUT_H

#include "analysis/input.h"

typedef enum layout_blocks {
    LAYOUT_UNKNOWN,
    LAYOUT_SAME_WORDS, /* every block takes the same words of the sectors that it takes */
    LAYOUT_OTHER_WORDS /* neighbouring blocks take other words of the same sectors */
} layout_blocks;

/* In the launch that the row stands for. */
layout_blocks layout_of_blocks(const ana_input *input, const prof_instruction *insn);

/* Bytes from one block to the next in x, y and z, as far as neighbouring blocks come to the same
 * sectors: 0 where they do not, and where layout_of_blocks does not know. */
void layout_steps(const ana_input *input, const prof_instruction *insn, int8_t steps[3]);

/* Do all threads of all blocks take one address? */
bool layout_is_one_address(const ana_input *input, const prof_instruction *insn);

/* Does the compiler make one update of those that a warp's lanes ask for? */
bool layout_is_combined(const ana_input *input, const prof_instruction *insn);

/* Does the address follow from the result of an atomic update, as a place in a list does? */
bool layout_is_counted(const ana_input *input, const prof_instruction *insn);

/* Do lanes run along memory, in a block that is less than a warp wide, so that a warp has pieces of
 * several rows, and may these rows be longer than the block is wide? Rows of no known place, as
 * those that memory tells of, may be short, and are none of these. */
bool layout_is_narrow(const ana_input *input, const prof_instruction *insn);

/* Does the code show that the next block takes what comes next in these rows? */
bool layout_goes_on(const ana_input *input, const prof_instruction *insn);

/* Does the kernel have arrays in shared memory, whose shape may be the block's? */
bool layout_has_tiles(const ana_input *input);

/* Does the address follow from what memory holds? True where its form is not known. */
bool layout_is_loaded(const ana_input *input, const prof_instruction *insn);

/* Are the two the same address but for a few bytes that are no multiple of a sector, as the
 * neighbours of a stencil are? */
bool layout_are_neighbours(const ana_input *input, const prof_instruction *a,
                           const prof_instruction *b);

/* Does a loop take neighbouring elements with each iteration, a warp all of its lanes' together, as a
 * stencil or a filter of one line does? */
bool layout_slides(const ana_input *input, const prof_instruction *insn);

/* Do all of its requests begin equally far after a sector's begin, since nothing but the lane moves
 * them by less than whole sectors? False where the code does not tell. */
bool layout_is_shifted(const ana_input *input, const prof_instruction *insn);

/* Equal for instructions whose addresses differ by constants alone, or that stand in one line where
 * the code does not tell more; 0: nothing is known. */
uint64_t layout_family(const ana_input *input, const prof_instruction *insn);

#endif
