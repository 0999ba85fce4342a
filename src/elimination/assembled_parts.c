// assembled_parts.c -- distribution of tasks over threads for caller-assembled matrices.
//
// All tasks in the order of a traversal of the tree, whole subtrees together, are cut into pieces of equal
// work: a leaf task belongs to the piece it is in, any other task to the part of its children, or to none if
// these are in different parts.  A part has one piece, or several small ones where subtrees are unequal.
#include "elimination/assembled.h"
#include "elimination/lanes.h"

#include <math.h>
#include <string.h>

enum { ABOVE = -1, UNKNOWN = -2 };

/** Pieces of a thread at most. */
enum { FINEST = 16 };
/** More pieces only if the busiest thread has less than so much of what it had, and until it has no more than EVEN of
 *  its part. */
#define FINER 0.98
#define EVEN 1.04

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
    for (int u = 0; u < elim->ntask; u++) w->work[u] = lwi_elim_task_work(elim, u, false);
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
    for (int u = 0; u < elim->ntask; u++) all += lwi_elim_task_work(elim, u, false);
    return all;
}

// The tree cut into equal pieces; tasks above several pieces are shared in another way and do not count.
static void cut_evenly(walk *w, int pieces, int *part)
{
    for (int u = 0; u < w->elim->ntask; u++) w->work[u] = lwi_elim_task_work(w->elim, u, false);
    cut_all(w, pieces, part);
    for (int u = 0; u < w->elim->ntask; u++)
        if (part[u] == ABOVE) w->work[u] = 0;
    cut_all(w, pieces, part);
}

// Work of each piece, without that above several pieces.
static void add_work(const walk *w, int pieces, const int *part, double *of)
{
    memset(of, 0, (size_t)pieces * sizeof *of);
    for (int u = 0; u < w->elim->ntask; u++)
        if (part[u] >= 0) of[part[u]] += lwi_elim_task_work(w->elim, u, false);
}

static int largest(const double *x, int n)
{
    int at = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[at]) at = i;
    return at;
}

static int smallest(const double *x, int n)
{
    int at = 0;
    for (int i = 1; i < n; i++)
        if (x[i] < x[at]) at = i;
    return at;
}

// Gives every piece to a thread, the largest pieces first, each to the thread that has the smallest load; tasks between pieces
// of one thread become its own.
static void deal(const walk *w, int pieces, int parts, double *of, double *load, int *thread,
                 int *part)
{
    memset(load, 0, (size_t)parts * sizeof *load);
    for (int i = 0; i < pieces; i++) {
        const int piece = largest(of, pieces);
        thread[piece] = smallest(load, parts);
        load[thread[piece]] += of[piece];
        of[piece] = -1;
    }
    for (int u = 0; u < w->elim->ntask; u++)
        part[u] = w->first[u] < w->first[u + 1] ? UNKNOWN : thread[part[u]];
    lwi_elim_assembled_above(w->elim, part);
}

// What a search for parts works with.
typedef struct search {
    int *thread, *found;      ///< [pieces] of a piece, [ntask] part of a task
    int *stage, *part;        ///< [ntask] of tasks above several parts
    bool *together;           ///< [ntask]
    double *of, *load, *time; ///< [pieces], [parts], [parts]
} search;

static lw_status make_search(int ntask, int pieces, int parts, lwi_arena *scratch, search *s)
{
    *s = (search){.thread = LWI_PUSH(scratch, int, pieces),
                  .found = LWI_PUSH(scratch, int, ntask),
                  .stage = LWI_PUSH(scratch, int, ntask),
                  .part = LWI_PUSH(scratch, int, ntask),
                  .together = LWI_PUSH(scratch, bool, ntask),
                  .of = LWI_PUSH(scratch, double, pieces),
                  .load = LWI_PUSH(scratch, double, parts),
                  .time = LWI_PUSH(scratch, double, parts)};
    const bool ok =
        s->thread && s->found && s->stage && s->part && s->together && s->of && s->load && s->time;
    return ok ? LW_OK : LW_ERR_MEMORY;
}

// What the busiest thread does with the parts found, those above them in stages.
static lw_status find_busiest(const walk *w, int parts, search *s, lwi_arena *scratch,
                              double *busiest)
{
    int count;
    add_work(w, parts, s->found, s->time);
    TRY(lwi_elim_assembled_stages(w->elim, parts, s->found, s->stage, s->part, s->together, &count,
                                  scratch));
    for (int u = 0; u < w->elim->ntask; u++) {
        const double work = lwi_elim_task_work(w->elim, u, false);
        if (s->found[u] >= 0) continue;
        for (int p = 0; s->together[u] && p < parts; p++) s->time[p] += work / parts;
        if (!s->together[u]) s->time[s->part[u]] += work;
    }
    *busiest = s->time[largest(s->time, parts)];
    return LW_OK;
}

// Cuts into pieces of an n-th of a thread's part for n = 1, 2, ...: subtrees of nets are so unequal that one piece for
// each thread leaves most of the work to one of them.
static lw_status find_parts(walk *w, int parts, int *part, lwi_arena *scratch)
{
    const int ntask = w->elim->ntask;
    const double even = lwi_elim_assembled_work(w->elim) / parts;
    double best = HUGE_VAL, busiest = 0;
    search s;
    TRY(make_search(ntask, FINEST * parts, parts, scratch, &s));
    for (int n = 1; n <= FINEST && best > EVEN * even; n *= 2) {
        cut_evenly(w, n * parts, s.found);
        add_work(w, n * parts, s.found, s.of);
        if (n > 1) deal(w, n * parts, parts, s.of, s.load, s.thread, s.found);
        TRY(find_busiest(w, parts, &s, scratch, &busiest));
        if (!(busiest < FINER * best)) continue;
        best = busiest;
        memcpy(part, s.found, (size_t)ntask * sizeof *part);
    }
    return LW_OK;
}

lw_status lwi_elim_assembled_parts(lwi_elim *elim, int parts, int *part, lwi_arena *arena)
{
    LWI_ASSERT(parts >= 1);
    walk w;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    lw_status status = make_walk(elim, &scratch, &w);
    if (status == LW_OK) status = find_parts(&w, parts, part, &scratch);
    lwi_arena_free(&scratch);
    return status == LW_OK ? lwi_elim_batch_updates(elim, false, arena) : status;
}

lw_status lwi_elim_assembled_stages(const lwi_elim *elim, int parts, const int *of, int *stage,
                                    int *part, bool *together, int *count, lwi_arena *scratch)
{
    lwi_elim_draft d = {.parts = parts, .stage = stage, .part = part, .ranks = false};
    double *above = LWI_PUSH(scratch, double, elim->ntask);
    if (!above) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++) above[u] = of[u] < 0, stage[u] = part[u] = 0;
    TRY(lwi_elim_add_levels(elim, above, 0, scratch, &d));
    for (int u = 0; u < elim->ntask; u++) together[u] = d.together[u];
    *count = d.nstage;
    return LW_OK;
}
