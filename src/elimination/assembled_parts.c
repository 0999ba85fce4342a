// assembled_parts.c -- distribution of tasks over threads for caller-assembled matrices.
//
// All tasks in the order of a traversal of the tree, whole subtrees together, are cut into pieces of equal
// work: a leaf task belongs to the piece it is in, any other task to the part of its children, or to none if
// these are in different parts.
#include "elimination/assembled.h"
#include "elimination/lanes.h"

enum { ABOVE = -1, UNKNOWN = -2 };

/** The tree of tasks; the lanes of a batch may have several parents. */
typedef struct walk {
    const lwi_elim *elim;
    int *first, *child; ///< [ntask + 1], in `child`
    int *next;          ///< [ntask] next child to visit, < 0: not visited yet
    int *stack;
    double *work; ///< [ntask]
} walk;

// Counts the children of tasks, to first[] of the next one, or fills their lists; a child may be listed
// twice.
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

// Traverses the tasks below a root, children first, and itself; *done: work before, and on return with these.
static void cut(walk *w, int root, double all, int parts, double *done, int *part)
{
    int depth = 0;
    w->stack[depth++] = root, w->next[root] = w->first[root];
    while (depth) {
        const int u = w->stack[depth - 1];
        LWI_ASSERT(depth <= w->elim->ntask);
        LWI_ASSERT_INDEX(u, w->elim->ntask);
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
    LWI_ASSERT(parts >= 1);
    walk w;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = make_walk(elim, &scratch, &w);
    if (status == LW_OK) {
        cut_all(&w, parts, part);
        for (int u = 0; u < elim->ntask; u++) // tasks above several parts belong to no part
            if (part[u] == ABOVE) w.work[u] = 0;
        cut_all(&w, parts, part);
    }
    lwi_arena_free(&scratch);
    return status == LW_OK ? lwi_elim_batch_updates(elim, false, arena) : status;
}

lw_status lwi_elim_assembled_stages(const lwi_elim *elim, int parts, const int *of, int *stage,
                                    int *part, bool *together, int *count, lwi_arena *scratch)
{
    lwi_elim_draft d = {.parts = parts, .stage = stage, .part = part};
    double *above = LWI_PUSH(scratch, double, elim->ntask);
    if (!above) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++) above[u] = of[u] < 0, stage[u] = part[u] = 0;
    TRY(lwi_elim_add_levels(elim, above, 0, scratch, &d));
    for (int u = 0; u < elim->ntask; u++) together[u] = d.together[u];
    *count = d.nstage;
    return LW_OK;
}
