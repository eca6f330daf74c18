/* Accesses of lifted code by the numbers that its machine code has (sass/body.h). */
#ifndef WL_REPLAY_RENUMBERED_H
#define WL_REPLAY_RENUMBERED_H

#include "access/access.h"
#include "sass/body.h"

typedef struct replay_renumbered replay_renumbered;

/* Both must live as long, but for *inner, which is copied. NULL: there is no memory. */
replay_renumbered *replay_renumbered_new(const sass_body *body, const acc_observer *inner);
void replay_renumbered_free(replay_renumbered *renumbered); /* NULL is allowed */
/* Shows the inner observer what it is shown, without accesses to constant banks, and without basic blocks that
 * lie within a machine instruction. Its blocks are not those of the inner one. */
acc_observer replay_renumbered_observer(replay_renumbered *renumbered);

#endif
