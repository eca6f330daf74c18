/* Which word somebody meant who typed another. */
#ifndef WL_BASE_NEAREST_H
#define WL_BASE_NEAREST_H

typedef struct wl_nearest {
    const char *typed;
    const char *word;  /* the nearest so far, borrowed; NULL: none is near enough */
    unsigned distance; /* of `word` */
} wl_nearest;

/* Keeps `word` where fewer letters must be changed, added, left out or swapped with their
 * neighbour than for the words before it, and no more than a third of those typed (at least
 * one). Words that begin with what was typed are near, too. */
void wl_nearest_try(wl_nearest *search, const char *word);

#endif
