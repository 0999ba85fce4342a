// names.c -- names in sorted order.
#include "io/names.h"
#include "base/assert.h"

#include <string.h>

// As strcmp; most names differ in their first character.
static inline int compare(const char *one, const char *other)
{
    const int first = (unsigned char)*one - (unsigned char)*other;
    return first ? first : strcmp(one, other);
}

static int compare_names(const char *const *names, int a, int b)
{
    const int order = compare(names[a], names[b]);
    return order ? order : a - b;
}

// Heap sort: no recursion, no memory, O(n log n) for hostile input too.
static void sift_down(const char *const *names, int *order, int root, int count)
{
    for (int child; (child = 2 * root + 1) < count; root = child) {
        if (child + 1 < count && compare_names(names, order[child], order[child + 1]) < 0) child++;
        if (compare_names(names, order[root], order[child]) >= 0) return;
        const int swap = order[root];
        order[root] = order[child], order[child] = swap;
    }
}

// Few names, such as the keys of a mapping.
static void insert_all(const char *const *name, int *order, int count)
{
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && compare_names(name, order[at - 1], i) > 0; at--) order[at] = order[at - 1];
        order[at] = i;
    }
}

void lwi_names_sort(lwi_names *names)
{
    enum { FEW = 8 };
    const char *const *name = names->name;
    int *order = names->order;
    if (names->count <= FEW) {
        insert_all(name, order, names->count);
        return;
    }
    for (int i = 0; i < names->count; i++) order[i] = i;
    for (int i = names->count / 2 - 1; i >= 0; i--) sift_down(name, order, i, names->count);
    for (int n = names->count - 1; n > 0; n--) {
        const int swap = order[0];
        order[0] = order[n], order[n] = swap;
        sift_down(name, order, 0, n);
    }
}

lw_status lwi_names_create(int room, lwi_arena *arena, lwi_names *names)
{
    *names = (lwi_names){.name = LWI_PUSH(arena, const char *, room),
                         .item = LWI_PUSH(arena, int, room),
                         .order = LWI_PUSH(arena, int, room),
                         .room = room};
    return names->name && names->item && names->order ? LW_OK : LW_ERR_MEMORY;
}

void lwi_names_add(lwi_names *names, const char *name, int item)
{
    if (!name) return;
    LWI_ASSERT_INDEX(names->count, names->room);
    names->name[names->count] = name;
    names->item[names->count++] = item;
}

int lwi_names_find(const lwi_names *names, const char *name)
{
    for (int low = 0, high = names->count; low < high;) {
        const int middle = low + (high - low) / 2, i = names->order[middle];
        LWI_ASSERT_INDEX(i, names->count);
        const int side = compare(name, names->name[i]);
        if (side == 0) return names->item ? names->item[i] : i;
        if (side < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

const char *lwi_names_near(const lwi_names *names, const char *name)
{
    return lwi_nearest(name, names->name, names->count);
}

int lwi_names_repeated(const lwi_names *names)
{
    for (int k = 1; k < names->count; k++)
        if (!compare(names->name[names->order[k - 1]], names->name[names->order[k]])) return k;
    return 0;
}

const char *lwi_names_constant(const char *name)
{
    static const char *const meanings[][2] = {
        {"t", "the time"}, {"pi", "3.14..."}, {"e", "2.71..."}};
    for (int i = 0; i < LWI_COUNT(meanings); i++)
        if (strcmp(name, meanings[i][0]) == 0) return meanings[i][1];
    return NULL;
}

const char *lwi_names_distinct(const lwi_names *names, const char *first, const char *second,
                               lwi_arena *arena)
{
    const size_t n = strlen(first), m = second ? 1 + strlen(second) : 0;
    const size_t room = n + m + (size_t)names->count + 1;
    char *name = LWI_PUSH(arena, char, room);
    if (!name) return NULL;
    memcpy(name, first, n);
    if (second) name[n] = '_', memcpy(name + n + 1, second, m - 1);
    for (char *end = name + n + m; lwi_names_find(names, name) >= 0; *end++ = '_')
        LWI_ASSERT(end + 1 < name + room);
    return name;
}
