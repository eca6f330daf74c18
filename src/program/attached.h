/* The list of processes that the collector was loaded into. The command line reads it where nothing
 * was recorded, to say why. */
#ifndef WL_PROGRAM_ATTACHED_H
#define WL_PROGRAM_ATTACHED_H

enum { PROG_NAME_BYTES = 16 }; /* of a process's name with its NUL, as Linux keeps it */

/* Adds this process, where a list is kept (WARPLENS_ATTACHED_LIST) and the process is one that is
 * recorded: its number, a space, its name. Where that fails nothing is said: the program is not to
 * be disturbed. */
void prog_tell_attached(void);

#endif
