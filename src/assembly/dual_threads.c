// dual_threads.c -- sweeps over the nodes, on one thread or on several.
//
// A schedule is a list of stages; within a stage every thread has its own nodes, which need nothing
// of other threads' nodes of that stage, in the order of their numbers.  Between stages all threads
// meet. Down the stages and the nodes come in reverse.
//
//   by level    a level is a stage; levels too small to be worth a meeting are run together by one
//   thread by subtree  first whole subtrees, shared out so that every thread has about the same,
//   then what is
//               above them by one thread
//
// Everything is fixed when the threads are given.  What is computed at a node does not depend on
// it.
#include "assembly/dual_parts.h"

#include <sched.h>
#include <stdatomic.h>

/** Multiplications of each thread that make a meeting (about a microsecond) worth it. */
#define GRAIN 8000.0
/** Multiplications of a whole sweep that make waking the threads (some ten microseconds) worth it.
 */
#define WORTH 200000.0
/** Subtrees shared out are not larger than this part of what each thread has to do. */
#define PORTION 0.125

enum { SPINS = 2000 }; // some microseconds before the processor is offered to others

typedef struct lwi_dual_crew {
    lwi_pool *pool;
    int parts, nstage;
    int *node;  ///< [nnode] stage by stage, part by part
    int *first; ///< [nstage * parts + 1] in `node`
    // the meeting
    _Atomic int arrived;
    _Atomic unsigned round;
    // the task
    bool vectors;
    int refine;
    lwi_dual *dual;
} lwi_dual_crew;

// ----------------------------------------------------------------------------------------- sweeps

static void meet(lwi_dual_crew *crew)
{
    const unsigned round = atomic_load_explicit(&crew->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) == crew->parts - 1) {
        atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&crew->round, round + 1, memory_order_release);
        return;
    }
    for (int i = 0; atomic_load_explicit(&crew->round, memory_order_acquire) == round; i++)
        if (i >= SPINS) sched_yield();
}

static void sweep_up(lwi_dual_crew *crew, int part, void (*visit)(lwi_dual *dual, int node))
{
    for (int s = 0; s < crew->nstage; s++) {
        const int *first = crew->first + s * crew->parts + part;
        for (int i = first[0]; i < first[1]; i++) visit(crew->dual, crew->node[i]);
        meet(crew);
    }
}

static void sweep_down(lwi_dual_crew *crew, int part, void (*visit)(lwi_dual *dual, int node))
{
    for (int s = crew->nstage - 1; s >= 0; s--) {
        const int *first = crew->first + s * crew->parts + part;
        for (int i = first[1] - 1; i >= first[0]; i--) visit(crew->dual, crew->node[i]);
        meet(crew);
    }
}

static void task(void *user, int part)
{
    lwi_dual_crew *crew = user;
    if (!crew->vectors) {
        sweep_up(crew, part, lwi_dual_eliminate);
        return;
    }
    for (int i = 0; i <= crew->refine; i++) {
        if (part == 0) crew->dual->again = i > 0;
        meet(crew);
        sweep_up(crew, part, lwi_dual_up);
        sweep_down(crew, part, lwi_dual_down);
    }
}

void lwi_dual_sweep_matrix(lwi_dual *dual)
{
    if (dual->crew) {
        dual->crew->vectors = false;
        lwi_pool_run(dual->crew->pool, task, dual->crew);
        return;
    }
    for (int k = 0; k < dual->nnode; k++) lwi_dual_eliminate(dual, k);
}

void lwi_dual_sweep_vectors(lwi_dual *dual, int refine)
{
    if (dual->crew) {
        dual->crew->vectors = true;
        dual->crew->refine = refine;
        lwi_pool_run(dual->crew->pool, task, dual->crew);
        return;
    }
    for (int i = 0; i <= refine; i++) {
        dual->again = i > 0;
        for (int k = 0; k < dual->nnode; k++) lwi_dual_up(dual, k);
        for (int k = dual->nnode - 1; k >= 0; k--) lwi_dual_down(dual, k);
    }
}

// ---------------------------------------------------------------------------------------- schedule

// Multiplications at a node, near enough to share out.
static double load(const lwi_dual_front *N)
{
    const double c = N->nc, f = N->nc + N->no;
    return c * f * f / 2 + 6 * c * f;
}

// Where every node goes.
typedef struct draft {
    int parts, nstage;
    int *stage, *part; ///< [nnode]
    bool shared;       ///< more than one thread has something to do
} draft;

// The part that has the middle of a piece of work when all work in a row is cut into equal parts.
static int share(double done, double piece, double all, int parts)
{
    const int part = (int)((done + 0.5 * piece) / all * parts);
    return part < parts ? part : parts - 1;
}

static lw_status by_level(const lwi_dual *dual, lwi_arena *scratch, draft *d)
{
    const lwi_plan *plan = dual->plan;
    double *work = LWI_PUSH(scratch, double, plan->nlevel);
    double *done = LWI_PUSH(scratch, double, plan->nlevel);
    int *stage = LWI_PUSH(scratch, int, plan->nlevel);
    if (!work || !done || !stage) return LW_ERR_MEMORY;
    for (int k = 0; k < dual->nnode; k++) work[plan->node[k].level] += load(&dual->front[k]);
    bool alone = false; // the stage before is of one thread
    for (int l = 0; l < plan->nlevel; l++) {
        const bool small = work[l] < GRAIN * d->parts;
        if (!small || !alone) d->nstage++;
        stage[l] = d->nstage - 1;
        alone = small;
        d->shared |= !small;
    }
    for (int k = 0; k < dual->nnode; k++) {
        const int l = plan->node[k].level;
        const double piece = load(&dual->front[k]);
        d->stage[k] = stage[l];
        if (work[l] >= GRAIN * d->parts) d->part[k] = share(done[l], piece, work[l], d->parts);
        done[l] += piece;
    }
    return LW_OK;
}

static lw_status by_subtree(const lwi_dual *dual, lwi_arena *scratch, draft *d)
{
    double *work = LWI_PUSH(scratch, double, dual->nnode), all = 0, below = 0, done = 0;
    if (!work) return LW_ERR_MEMORY;
    for (int k = 0; k < dual->nnode; k++) {
        const int parent = dual->front[k].parent;
        work[k] += load(&dual->front[k]);
        if (parent >= 0)
            work[parent] += work[k];
        else
            all += work[k];
    }
    const double most = PORTION * all / d->parts;
    for (int k = 0; k < dual->nnode; k++)
        if (work[k] <= most) below += load(&dual->front[k]);
    d->nstage = 2;
    int user = -1; // the first thread that gets something
    for (int k = dual->nnode - 1; k >= 0; k--) {
        const int parent = dual->front[k].parent;
        if (work[k] > most) {
            d->stage[k] = 1;
        } else if (parent >= 0 && work[parent] <= most) {
            d->part[k] = d->part[parent];
        } else {
            d->part[k] = share(done, work[k], below, d->parts);
            done += work[k];
            if (user < 0) user = d->part[k];
            d->shared |= d->part[k] != user;
        }
    }
    return LW_OK;
}

// Nodes by stage and part, in their order.
static lw_status arrange(const lwi_dual *dual, const draft *d, lwi_arena *arena,
                         lwi_dual_crew *crew)
{
    const size_t cells = (size_t)d->nstage * (size_t)d->parts;
    crew->first = LWI_PUSH(arena, int, cells + 1);
    crew->node = LWI_PUSH(arena, int, dual->nnode);
    if (!crew->first || !crew->node) return LW_ERR_MEMORY;
    for (int k = 0; k < dual->nnode; k++) crew->first[d->stage[k] * d->parts + d->part[k]]++;
    for (size_t i = 1; i <= cells; i++) crew->first[i] += crew->first[i - 1]; // ends
    for (int k = dual->nnode - 1; k >= 0; k--)
        crew->node[--crew->first[d->stage[k] * d->parts + d->part[k]]] = k;
    return LW_OK;
}

static lw_status make(const lwi_dual *dual, lwi_strategy strategy, lwi_arena *scratch,
                      lwi_arena *arena, draft *d, lwi_dual_crew **crew)
{
    double all = 0;
    for (int k = 0; k < dual->nnode; k++) all += load(&dual->front[k]);
    if (all < WORTH) return LW_OK;
    d->stage = LWI_PUSH(scratch, int, dual->nnode);
    d->part = LWI_PUSH(scratch, int, dual->nnode);
    if (!d->stage || !d->part) return LW_ERR_MEMORY;
    TRY((strategy == LWI_BY_LEVEL ? by_level : by_subtree)(dual, scratch, d));
    if (!d->shared) return LW_OK;
    *crew = LWI_PUSH(arena, lwi_dual_crew, 1);
    if (!*crew) return LW_ERR_MEMORY;
    (*crew)->parts = d->parts;
    (*crew)->nstage = d->nstage;
    return arrange(dual, d, arena, *crew);
}

lw_status lwi_dual_threads(lwi_dual *dual, lwi_pool *pool, lwi_strategy strategy, lwi_arena *arena)
{
    dual->crew = NULL;
    draft d = {.parts = pool ? lwi_pool_count(pool) : 1};
    if (d.parts == 1) return LW_OK;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    lwi_dual_crew *crew = NULL;
    const lw_status status = make(dual, strategy, &scratch, arena, &d, &crew);
    lwi_arena_free(&scratch);
    if (status != LW_OK || !crew) return status;
    crew->pool = pool;
    crew->dual = dual;
    dual->crew = crew;
    return LW_OK;
}
