// sections.c -- which parts of a large tree threads can evaluate at the same time (branches.h).
//
//   trunk     all branches with more bodies on and beyond them than a limit
//   subtrees  what remains on the trunk or on the ground
//   packs     up to eight subtrees of the same shape: their branches share the lanes of registers
//   sections  the trunk, then one pack each, or several small ones
//
// The limit is the best one of n/2, n/4, n/8 and so on: that of the shortest time on THREADS threads, by numbers of
// bodies, if the trunk has to wait for its subtrees and few of its branches share lanes.
#include "tree/normal_form/branches.h"

#include <stdlib.h>

enum {
    THREADS = 16,      // of the estimate
    TRUNK = 2,         // a body of the trunk takes so many times as long as one of a subtree
    SMALL = 128,       // bodies up to which subtrees are added to a section, and
    MAX_SECTIONS = 64, // up to this share of all
    SMALLEST = 8       // limit [bodies] that is tried
};

typedef struct subtree {
    int root, size;
    uint64_t shape; // equal for subtrees with the same joints; for all subtrees without branches
} subtree;

typedef struct work {
    const lwi_branch_body *body;
    int n;
    int *size, *children; ///< [n] bodies on and beyond it; children
    int *head;            ///< [n] first body of its branch
    uint64_t *shape;      ///< [n]
    subtree *subtree;     ///< [n]
} work;

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void measure(work *w)
{
    for (int i = 0; i < w->n; i++) w->size[i] = 1;
    for (int i = w->n - 1; i >= 0; i--) {
        const int parent = w->body[i].parent;
        w->shape[i] = mix(w->shape[i] + 7 * (uint64_t)w->body[i].kind + 1);
        if (parent < 0) continue;
        w->size[parent] += w->size[i];
        w->shape[parent] += w->shape[i];
        w->children[parent]++;
    }
    for (int i = 0; i < w->n; i++) {
        const int parent = w->body[i].parent;
        w->head[i] = parent < 0 || w->children[parent] > 1 ? i : w->head[parent];
    }
}

// The largest first; those of the same shape one after the other.
static int compare(const void *one, const void *other)
{
    const subtree *a = one, *b = other;
    if (a->size != b->size) return a->size > b->size ? -1 : 1;
    if (a->shape != b->shape) return a->shape < b->shape ? -1 : 1;
    return a->root < b->root ? -1 : 1;
}

// Subtrees without branches of any lengths have one shape: the shorter ones are padded.
static uint64_t shape_of(const work *w, int root)
{
    int i = root;
    while (i + 1 < w->n && w->children[i] == 1 && w->body[i + 1].parent == i) i++;
    return w->children[i] == 0 ? 0 : w->shape[root];
}

static int find_subtrees(work *w, int limit)
{
    int count = 0;
    bool sorted = true;
    for (int i = 0; i < w->n; i++) {
        const int parent = w->body[i].parent;
        if (w->head[i] != i || w->size[i] > limit) continue;
        if (parent >= 0 && w->size[w->head[parent]] <= limit) continue;
        w->subtree[count] = (subtree){i, w->size[i], shape_of(w, i)};
        sorted = sorted && (count == 0 || compare(&w->subtree[count - 1], &w->subtree[count]) < 0);
        count++;
    }
    if (!sorted) qsort(w->subtree, (size_t)count, sizeof *w->subtree, compare);
    return count;
}

// Number of subtrees from the first one that share lanes; *bodies: of all of them.
static int pack(const subtree *first, int count, int *bodies)
{
    int n = 1;
    *bodies = first->size;
    while (n < count && n < LWI_LANES && first[n].shape == first->shape) *bodies += first[n++].size;
    return n;
}

// Sections for a limit; `of` gets those of the roots of subtrees, or is NULL.  Returns the estimate.
static double divide(work *w, int limit, int *of, int *sections)
{
    const int count = find_subtrees(w, limit);
    const int enough = w->n / MAX_SECTIONS > SMALL ? w->n / MAX_SECTIONS : SMALL;
    int all = 0, largest = 0, current = 0, bodies;
    *sections = 1;
    for (int i = 0, n; i < count; i += n) {
        n = pack(&w->subtree[i], count - i, &bodies);
        if (*sections == 1 || current + bodies > enough) {
            current = 0;
            ++*sections;
        }
        current += bodies, all += bodies;
        if (current > largest) largest = current;
        for (int j = i; of && j < i + n; j++) of[w->subtree[j].root] = *sections - 1;
    }
    const double share = (double)all / THREADS;
    return (double)TRUNK * (w->n - all) + (largest > share ? largest : share);
}

lw_status lwi_branch_sections(const lwi_branch_body *body, int n, lwi_arena *arena, int *of,
                              int *count)
{
    work w = {.body = body,
              .n = n,
              .size = LWI_PUSH(arena, int, n),
              .children = LWI_PUSH(arena, int, n),
              .head = LWI_PUSH(arena, int, n),
              .shape = LWI_PUSH(arena, uint64_t, n),
              .subtree = LWI_PUSH(arena, subtree, n)};
    if (!w.size || !w.children || !w.head || !w.shape || !w.subtree) return LW_ERR_MEMORY;
    measure(&w);
    int best = 0;
    double lowest = 0.75 * n; // else threads gain too little
    *count = 1;
    for (int limit = n / 2, sections; limit >= SMALLEST; limit /= 2) {
        const double estimate = divide(&w, limit, NULL, &sections);
        if (estimate < lowest) lowest = estimate, best = limit;
    }
    if (best == 0) return LW_OK;
    divide(&w, best, of, count);
    for (int i = 0; i < n; i++) // subtrees from their roots on
        if (body[i].parent >= 0 && of[i] == 0) of[i] = of[body[i].parent];
    return LW_OK;
}
