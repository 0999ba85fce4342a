// names.h -- names of items: search, repeated names, and names that differ from all others.
#ifndef LWI_IO_NAMES_H
#define LWI_IO_NAMES_H

#include "base/base.h"

typedef struct lwi_names {
    const char **name; ///< [count]
    int *item;         ///< [count] what has the name; NULL: its index
    int *order;        ///< [count] indices sorted by strcmp, equal names by index; lwi_names_sort
    int count, room;
} lwi_names;

/** An empty list with room for some names.  @return LW_ERR_MEMORY */
lw_status lwi_names_create(int room, lwi_arena *arena, lwi_names *names);
/** Appends a name; NULL is ignored.  Sort before the next search. */
void lwi_names_add(lwi_names *names, const char *name, int item);
void lwi_names_sort(lwi_names *names);

/** Item with a name, or -1.   @cost O(log count) */
int lwi_names_find(const lwi_names *names, const char *name);
/** The nearest name by edit distance, or NULL if none is near.   @cost O(count) */
const char *lwi_names_near(const lwi_names *names, const char *name);
/** Index k of a name that equals the one before it in `order`: order[k - 1], order[k]; 0: all differ. */
int lwi_names_repeated(const lwi_names *names);

/** What a name means in every formula, which no input may have as its name, or NULL. */
const char *lwi_names_constant(const char *name);

/** "first_second", with underscores appended until the name is not in the list.
 *  @param second  NULL: "first"
 *  @return NULL: no memory */
const char *lwi_names_distinct(const lwi_names *names, const char *first, const char *second,
                               lwi_arena *arena);

#endif
