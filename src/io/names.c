// names.c -- names in sorted order.
#include "io/names.h"
#include "base/assert.h"

#include <string.h>

// Heap sort: no recursion, no memory, O(n log n) for hostile input too.
static int compare_names(const char *const *names, int a, int b)
{
    const int order = strcmp(names[a], names[b]);
    return order ? order : a - b;
}

static void sift_down(const char *const *names, int *order, int root, int count)
{
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare_names(names, order[child], order[child + 1]) < 0) child++;
        if (compare_names(names, order[root], order[child]) >= 0) return;
        const int swap = order[root];
        order[root] = order[child], order[child] = swap;
    }
}

void lwi_names_sort(const char *const *names, int count, int *order)
{
    for (int i = 0; i < count; i++) order[i] = i;
    for (int i = count / 2 - 1; i >= 0; i--) sift_down(names, order, i, count);
    for (int n = count - 1; n > 0; n--) {
        const int swap = order[0];
        order[0] = order[n], order[n] = swap;
        sift_down(names, order, 0, n);
    }
}

int lwi_names_find(const char *const *names, const int *order, int count, const char *name)
{
    for (int low = 0, high = count; low < high;) {
        const int middle = low + (high - low) / 2;
        const int side = strcmp(name, names[order[middle]]);
        if (side == 0) return order[middle];
        if (side < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

const char *lwi_names_distinct(const char *const *names, const int *order, int count,
                               const char *first, const char *second, lwi_arena *arena)
{
    const size_t n = strlen(first), m = second ? 1 + strlen(second) : 0;
    const size_t room = n + m + (size_t)count + 1;
    char *name = LWI_PUSH(arena, char, room);
    if (!name) return NULL;
    memcpy(name, first, n);
    if (second) name[n] = '_', memcpy(name + n + 1, second, m - 1);
    for (char *end = name + n + m; lwi_names_find(names, order, count, name) >= 0; *end++ = '_')
        LWI_ASSERT(end + 1 < name + room);
    return name;
}
