// names.h -- names in sorted order: search, and names that differ from all others.
#ifndef LWI_IO_NAMES_H
#define LWI_IO_NAMES_H

#include "base/base.h"

/** Indices of the names sorted by strcmp, equal names by index. */
void lwi_names_sort(const char *const *names, int count, int *order);

/** Index of a name, or -1.  @param order  of lwi_names_sort   @cost O(log count) */
int lwi_names_find(const char *const *names, const int *order, int count, const char *name);

/** "first_second", with underscores appended until the name is not in the list.
 *  @param second  NULL: "first"
 *  @return NULL: no memory */
const char *lwi_names_distinct(const char *const *names, const int *order, int count,
                               const char *first, const char *second, lwi_arena *arena);

#endif
