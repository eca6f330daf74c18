/* The steps of a traced block in one order: what the slice shows of it, which comes as the emulator
 * runs it, and what probes traced, which comes afterwards.
 *
 * Both are in the order in which each lane did it. A traced request of a basic block that the slice
 * counts goes to its place in the lanes' visit of that block. One behind a branch that data decides
 * goes to where its lanes took such a branch that leads there: after what they did before it, and
 * before the block where its ways join again. Where they came to such a branch several times, and a
 * request may belong to any of them, it goes to the first that is possible: what one record of the
 * trace tells is together, and another record is of a later time where control flow does not lead
 * from the one to the other without such a block in between. A lane that passes such a branch and
 * writes no record (it enters none of the loops behind it) leaves nothing that tells so: what it did
 * the next time is then told one time too early. */
#ifndef WL_REPLAY_ORDERED_H
#define WL_REPLAY_ORDERED_H

#include "base/arena.h"
#include "emu/slice.h"
#include "replay/facts.h"

/* Of one such branch: which basic blocks of its function may follow which behind it. */
typedef struct replay_door {
    uint32_t first_pc, npcs, words; /* of the function; words: of a set of its basic blocks */
    const uint32_t *block_of;       /* [npcs] */
    /* By basic block two sets: those that may follow it, and those that may follow the innermost loop
     * around it. NULL: not known. */
    uint64_t *after;
} replay_door;

/* What lies behind the branches of a kernel that data decides; all zero at first, found once a
 * kernel. */
typedef struct replay_doors {
    bool tried;
    wl_arena *arena;
    uint32_t npcs, count, words; /* instructions; branches; of a set of instructions */
    uint8_t *shown;              /* [npcs] the slice tells of each entry of the basic block */
    uint32_t *door_of;           /* [npcs] 1 + the branch that the basic block ends with; 0: none */
    uint64_t *behind;   /* [count][words] bits: instructions that run by the branch's ways only */
    replay_door *doors; /* [count] */
} replay_doors;

/* False: there is no memory for it. */
bool replay_doors_find(replay_doors *doors, const replay_facts *facts, const emu_kernel *slice);
void replay_doors_clear(replay_doors *doors);
/* Whether the basic block of `from` ends with a branch that `pc` is behind. */
bool replay_door_leads_to(const replay_doors *doors, uint32_t from, uint32_t pc);
/* Whether a thread that was at `pc` behind that branch may come to `next`, and stay behind it;
 * `loop`: after the loop that `pc` is in. */
bool replay_door_follows(const replay_doors *doors, uint32_t from, uint32_t pc, bool loop,
                         uint32_t next);

/* ---- a block ---- */

typedef struct replay_ordered replay_ordered;

/* `doors` and `slice` must live as long. NULL: there is no memory. */
replay_ordered *replay_ordered_new(const replay_doors *doors, const emu_kernel *slice,
                                   uint32_t warps);
void replay_ordered_free(replay_ordered *o); /* NULL is allowed */

/* As the slice shows them. False: there is no room for more; what was given before is kept. */
bool replay_ordered_access(replay_ordered *o, const acc_request *request);
bool replay_ordered_barrier(replay_ordered *o, uint32_t pc);
bool replay_ordered_entry(replay_ordered *o, uint32_t warp, uint32_t pc, uint32_t mask);
/* A request that was traced, those of a warp in their order, when the slice has shown all. `record`:
 * equal for what one record told, which is all iterations of a loop where `loop`. False: there is no
 * room for more. */
bool replay_ordered_traced(replay_ordered *o, const acc_request *request, uint32_t record,
                           bool loop);
/* A record of the trace begins, of these lanes, which came to the basic block at `pc`; those that it
 * tells of follow. */
void replay_ordered_record(replay_ordered *o, uint32_t warp, uint32_t mask, uint32_t record,
                           uint32_t pc, bool loop);
/* Bits: warps of which a traced request could have been in no place, so that nothing is known of
 * their order. */
uint32_t replay_ordered_lost(const replay_ordered *o);

/* All of it in order, to functions as acc_observer has them; traced requests to `traced`. */
typedef struct replay_ordered_out {
    void *ctx;
    void (*access)(void *ctx, const acc_request *request);
    void (*traced)(void *ctx, const acc_request *request);
    void (*barrier)(void *ctx, uint32_t pc);
    void (*enter)(void *ctx, uint32_t warp, uint32_t pc, uint32_t mask);
} replay_ordered_out;

void replay_ordered_play(replay_ordered *o, const replay_ordered_out *out);

#endif
