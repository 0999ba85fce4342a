// assembled_parts.c -- units that threads can do at a time when the matrix is given.
//
// All units in the order of a walk through the tree, whole subtrees together, are cut into pieces of
// equal work: a unit without children belongs to the piece it is in, any other to that of its children,
// or, where these are of several, to none.
#include "elimination/assembled.h"
#include "elimination/lanes.h"

enum { ABOVE = -1, UNKNOWN = -2 };

/** The tree of units: the lanes of a group may have parents of several. */
typedef struct walk {
    const lwi_elim *elim;
    int *first, *child; ///< [nunit + 1], in `child`
    int *next;          ///< [nunit] child to go to, < 0: not seen yet
    int *stack;
    double *work; ///< [nunit]
} walk;

// Counts the children of units, to first[] of the next, or fills their lists; one may be there twice.
static int list_children(const walk *w, bool fill)
{
    const lwi_elim *elim = w->elim;
    int n = 0;
    for (int u = elim->ntask - 1; u >= 0; u--)
        for (int l = 0, last = -1; l < elim->task[u].lanes; l++) {
            const int parent = lwi_elim_task_parent(elim, u, l);
            if (parent < 0 || parent == last) continue;
            last = parent, n++;
            if (fill)
                w->child[--w->first[parent]] = u;
            else
                w->first[parent]++;
        }
    return n;
}

static lw_status make_walk(const lwi_elim *elim, lwi_arena *scratch, walk *w)
{
    *w = (walk){.elim = elim};
    w->first = LWI_PUSH(scratch, int, elim->ntask + 1);
    w->next = LWI_PUSH(scratch, int, elim->ntask);
    w->stack = LWI_PUSH(scratch, int, elim->ntask);
    w->work = LWI_PUSH(scratch, double, elim->ntask);
    if (!w->first || !w->next || !w->stack || !w->work) return LW_ERR_MEMORY;
    if (!(w->child = LWI_PUSH(scratch, int, list_children(w, false)))) return LW_ERR_MEMORY;
    for (int u = 1; u <= elim->ntask; u++) w->first[u] += w->first[u - 1];
    list_children(w, true);
    for (int u = 0; u < elim->ntask; u++) w->work[u] = lwi_elim_task_work(elim, u);
    return LW_OK;
}

// The units below a root and itself, children first; `done`: the work before, and then with these.
static void cut(walk *w, int root, double all, int parts, double *done, int *part)
{
    int depth = 0;
    w->stack[depth++] = root, w->next[root] = w->first[root];
    while (depth) {
        const int u = w->stack[depth - 1];
        if (w->next[u] < w->first[u + 1]) {
            const int child = w->child[w->next[u]++];
            if (w->next[child] < 0) w->stack[depth++] = child, w->next[child] = w->first[child];
            continue;
        }
        const int at = (int)((*done + 0.5 * w->work[u]) / all * parts);
        part[u] = w->first[u] < w->first[u + 1] ? UNKNOWN : at < parts ? at : parts - 1;
        *done += w->work[u];
        depth--;
    }
}

static void cut_all(walk *w, int parts, int *part)
{
    double all = 0, done = 0;
    for (int u = 0; u < w->elim->ntask; u++) all += w->work[u], w->next[u] = -1;
    for (int u = w->elim->ntask - 1; u >= 0; u--)
        if (w->next[u] < 0) cut(w, u, all, parts, &done, part);
    lwi_elim_assembled_above(w->elim, part);
}

void lwi_elim_assembled_above(const lwi_elim *elim, int *part)
{
    for (int u = 0; u < elim->ntask; u++)
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int parent = lwi_elim_task_parent(elim, u, l);
            if (parent < 0) continue;
            if (part[parent] == UNKNOWN) part[parent] = part[u];
            if (part[parent] != part[u]) part[parent] = ABOVE;
        }
}

double lwi_elim_assembled_work(const lwi_elim *elim)
{
    double all = 0;
    for (int u = 0; u < elim->ntask; u++) all += lwi_elim_task_work(elim, u);
    return all;
}

lw_status lwi_elim_assembled_parts(lwi_elim *elim, int parts, int *part, lwi_arena *arena)
{
    walk w;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make_walk(elim, &scratch, &w);
    if (status == LW_OK) {
        cut_all(&w, parts, part);
        for (int u = 0; u < elim->ntask; u++) // what is above is nobody's work
            if (part[u] == ABOVE) w.work[u] = 0;
        cut_all(&w, parts, part);
    }
    lwi_arena_free(&scratch);
    return status == LW_OK ? lwi_elim_batch_updates(elim, false, arena) : status;
}
