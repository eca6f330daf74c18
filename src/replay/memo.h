/* What launches are the same: results by kernel, shape, and what of parameters and constants the
 * accesses depend on, with pointers taken relative to the objects that they lead to.
 *
 * Assumed beyond the proof: a kernel's accesses do not depend on how far two objects lie apart
 * (their order counts where
 * the kernel compares pointers to them), nor on an object's address beyond its place in 256 bytes. */
#ifndef WL_REPLAY_MEMO_H
#define WL_REPLAY_MEMO_H

#include "capture/capture.h"
#include "replay/facts.h"

enum { REPLAY_OBJECTS = 64 }; /* that parameters lead to; of more, pointers count as numbers */

typedef struct replay_launch { /* all that a key is made of */
    const replay_facts *facts;
    uint64_t kernel; /* number of the kernel, of the caller's choice */
    emu_dim grid, block, cluster;
    uint32_t dynamic_shared, device;
    bool cooperative;
    const void *params; /* facts->param_bytes */
    bool pointers; /* pointers among the parameters count that nothing proven depends on, too */
    uint64_t constants; /* hash of the contents of facts->constants */
} replay_launch;

/* Live memory: the innermost object that holds the address, copied to *out; false without one. */
typedef bool (*replay_find)(void *ctx, uint64_t address, emu_alloc *out);
/* The live object with this number. */
typedef bool (*replay_find_object)(void *ctx, uint32_t object, emu_alloc *out);

typedef struct replay_key {
    uint64_t hash[2];
    uint32_t nobjects; /* that parameters lead to, in order of first mention */
    emu_alloc objects[REPLAY_OBJECTS];
    bool
        divided; /* other objects lie in one of them: what a launch accesses there goes by those, and
                     it is neither kept nor found */
} replay_key;

void replay_key_of(const replay_launch *launch, replay_find find, void *ctx, replay_key *key);

typedef struct replay_memo replay_memo;

replay_memo *replay_memo_new(void); /* NULL when out of memory */
void replay_memo_free(replay_memo *memo);
uint64_t replay_memo_bytes(const replay_memo *memo);

typedef struct replay_known { /* a launch whose results are known */
    uint32_t launch;          /* its id */
    uint64_t warp_instructions, thread_instructions;
    uint32_t nmoves;
    cap_move moves[REPLAY_OBJECTS]; /* ascending by `from` */
} replay_known;

/* True where a launch with this key was added, and all that it accessed still lives or has moved
 * with the parameters. */
bool replay_memo_get(const replay_memo *memo, const replay_key *key, replay_find find, void *ctx,
                     replay_known *out);
/* The same launch by another key as well: where it was found in `from`, it is what `to` has for it
 * from now on. Without memory `to` has nothing for it. */
void replay_memo_copy(const replay_memo *from, const replay_key *found, replay_memo *to,
                      const replay_key *key);
/* Keeps the key of a launch that was written with this id. Without memory it is not kept. */
void replay_memo_put(replay_memo *memo, const replay_key *key, uint32_t launch,
                     const obs_summary *summary, replay_find_object find, void *ctx);

#endif
