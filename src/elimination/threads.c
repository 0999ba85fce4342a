// threads.c -- sweeps over the units (nodes, or groups of equal ones), on one thread or on several.
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
#include "elimination/lanes.h"
#include "base/flush.h"

#include <math.h>
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

typedef struct lwi_elim_crew {
    lwi_pool *pool;
    int parts, nstage;
    int *unit;  ///< [nunit] stage by stage, part by part
    int *first; ///< [nstage * parts + 1] in `unit`
    // the meeting
    _Atomic int arrived;
    _Atomic unsigned round;
    // the task
    bool vectors;
    uint64_t mode; ///< what is done with the smallest numbers (flush.h)
    int refine;
    lwi_elim *dual;
} lwi_elim_crew;

// ----------------------------------------------------------------------------------------- sweeps

static void meet(lwi_elim_crew *crew)
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

static void sweep_up(lwi_elim_crew *crew, int part, void (*visit)(lwi_elim *dual, int unit))
{
    for (int s = 0; s < crew->nstage; s++) {
        const int *first = crew->first + s * crew->parts + part;
        for (int i = first[0]; i < first[1]; i++) visit(crew->dual, crew->unit[i]);
        meet(crew);
    }
}

static void sweep_down(lwi_elim_crew *crew, int part, void (*visit)(lwi_elim *dual, int unit))
{
    for (int s = crew->nstage - 1; s >= 0; s--) {
        const int *first = crew->first + s * crew->parts + part;
        for (int i = first[1] - 1; i >= first[0]; i--) visit(crew->dual, crew->unit[i]);
        meet(crew);
    }
}

// Number i of the passes over the vectors.
static void begin(lwi_elim *dual, int i)
{
    dual->again = i > 0;
    dual->reread = i == 0 && atomic_exchange_explicit(&dual->touched, false, memory_order_relaxed);
}

static void sweeps(lwi_elim_crew *crew, int part)
{
    if (!crew->vectors) {
        sweep_up(crew, part, lwi_elim_unit_eliminate);
        return;
    }
    for (int i = 0; i <= crew->refine; i++) {
        if (part == 0) begin(crew->dual, i);
        meet(crew);
        sweep_up(crew, part, lwi_elim_unit_up);
        sweep_down(crew, part, lwi_elim_unit_down);
    }
}

// In the mode of who asked, whatever it is: the same bits for any number of threads.
static void task(void *user, int part)
{
    lwi_elim_crew *crew = user;
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(crew->mode);
    sweeps(crew, part);
    lwi_flush_set(mode);
}

void lwi_elim_sweep_matrix(lwi_elim *dual)
{
    if (dual->crew) {
        dual->crew->vectors = false;
        dual->crew->mode = lwi_flush_get();
        lwi_pool_run(dual->crew->pool, task, dual->crew);
        return;
    }
    for (int u = 0; u < dual->nunit; u++) lwi_elim_unit_eliminate(dual, u);
}

void lwi_elim_sweep_vectors(lwi_elim *dual, int refine)
{
    if (dual->crew) {
        dual->crew->vectors = true;
        dual->crew->mode = lwi_flush_get();
        dual->crew->refine = refine;
        lwi_pool_run(dual->crew->pool, task, dual->crew);
        return;
    }
    for (int i = 0; i <= refine; i++) {
        begin(dual, i);
        for (int u = 0; u < dual->nunit; u++) lwi_elim_unit_up(dual, u);
        for (int u = dual->nunit - 1; u >= 0; u--) lwi_elim_unit_down(dual, u);
    }
}

// ---------------------------------------------------------------------------------------- schedule

double lwi_elim_unit_work(const lwi_elim *dual, int unit)
{
    const lwi_elim_front *N = &dual->front[dual->unit[unit].node[0]];
    const double c = N->nc, f = N->nc + N->no;
    return c * f * f / 2 + 6 * c * f;
}

// Where every unit goes.
typedef struct draft {
    int parts, nstage;
    int *stage, *part; ///< [nunit]
    bool shared;       ///< more than one thread has something to do
} draft;

// The part that has the middle of a piece of work when all work in a row is cut into equal parts.
static int share(double done, double piece, double all, int parts)
{
    const int part = (int)((done + 0.5 * piece) / all * parts);
    return part < parts ? part : parts - 1;
}

int lwi_elim_unit_parent(const lwi_elim *dual, int unit, int l)
{
    const int parent = dual->front[dual->unit[unit].node[l]].parent;
    return parent < 0 ? -1 : dual->unit_of[parent];
}

// Longest way down to a unit without children; returns how many levels there are.
static int find_levels(const lwi_elim *dual, int *level)
{
    int count = 0;
    for (int u = 0; u < dual->nunit; u++) {
        if (count <= level[u]) count = level[u] + 1;
        for (int l = 0; l < dual->unit[u].lanes; l++) {
            const int parent = lwi_elim_unit_parent(dual, u, l);
            if (parent >= 0 && level[parent] <= level[u]) level[parent] = level[u] + 1;
        }
    }
    return count;
}

static lw_status by_level(const lwi_elim *dual, lwi_arena *scratch, draft *d)
{
    int *level = LWI_PUSH(scratch, int, dual->nunit), count = dual->nunit;
    if (!level) return LW_ERR_MEMORY;
    count = find_levels(dual, level);
    double *work = LWI_PUSH(scratch, double, count);
    double *done = LWI_PUSH(scratch, double, count);
    int *stage = LWI_PUSH(scratch, int, count);
    if (!work || !done || !stage) return LW_ERR_MEMORY;
    for (int u = 0; u < dual->nunit; u++) work[level[u]] += lwi_elim_unit_work(dual, u);
    bool alone = false; // the stage before is of one thread
    for (int l = 0; l < count; l++) {
        const bool small = work[l] < GRAIN * d->parts;
        if (!small || !alone) d->nstage++;
        stage[l] = d->nstage - 1;
        alone = small;
        d->shared |= !small;
    }
    for (int u = 0; u < dual->nunit; u++) {
        const int l = level[u];
        const double piece = lwi_elim_unit_work(dual, u);
        d->stage[u] = stage[l];
        if (work[l] >= GRAIN * d->parts) d->part[u] = share(done[l], piece, work[l], d->parts);
        done[l] += piece;
    }
    return LW_OK;
}

// Work of whole subtrees; infinite above groups whose lanes have parents of their own.
static double subtree_work(const lwi_elim *dual, double *work)
{
    double all = 0;
    for (int u = 0; u < dual->nunit; u++) {
        const int parent = dual->unit[u].parent;
        work[u] += lwi_elim_unit_work(dual, u);
        all += lwi_elim_unit_work(dual, u);
        if (parent >= 0) work[parent] += work[u];
        for (int l = 0; l < dual->unit[u].lanes && parent < 0; l++)
            if (lwi_elim_unit_parent(dual, u, l) >= 0)
                work[lwi_elim_unit_parent(dual, u, l)] = HUGE_VAL;
    }
    return all;
}

static lw_status by_subtree(const lwi_elim *dual, lwi_arena *scratch, draft *d)
{
    double *work = LWI_PUSH(scratch, double, dual->nunit), below = 0, done = 0;
    if (!work) return LW_ERR_MEMORY;
    const double most = PORTION * subtree_work(dual, work) / d->parts;
    for (int u = 0; u < dual->nunit; u++)
        if (work[u] <= most) below += lwi_elim_unit_work(dual, u);
    d->nstage = 2;
    int user = -1; // the first thread that gets something
    for (int u = dual->nunit - 1; u >= 0; u--) {
        const int parent = dual->unit[u].parent;
        if (work[u] > most) {
            d->stage[u] = 1;
        } else if (parent >= 0 && work[parent] <= most) {
            d->part[u] = d->part[parent];
        } else {
            d->part[u] = share(done, work[u], below, d->parts);
            done += work[u];
            if (user < 0) user = d->part[u];
            d->shared |= d->part[u] != user;
        }
    }
    return LW_OK;
}

// Units by stage and part, in their order.
static lw_status arrange(const lwi_elim *dual, const draft *d, lwi_arena *arena,
                         lwi_elim_crew *crew)
{
    const size_t cells = (size_t)d->nstage * (size_t)d->parts;
    crew->first = LWI_PUSH(arena, int, cells + 1);
    crew->unit = LWI_PUSH(arena, int, dual->nunit);
    if (!crew->first || !crew->unit) return LW_ERR_MEMORY;
    for (int u = 0; u < dual->nunit; u++) crew->first[d->stage[u] * d->parts + d->part[u]]++;
    for (size_t i = 1; i <= cells; i++) crew->first[i] += crew->first[i - 1]; // ends
    for (int u = dual->nunit - 1; u >= 0; u--)
        crew->unit[--crew->first[d->stage[u] * d->parts + d->part[u]]] = u;
    return LW_OK;
}

static lw_status make(const lwi_elim *dual, lwi_strategy strategy, lwi_arena *scratch,
                      lwi_arena *arena, draft *d, lwi_elim_crew **crew)
{
    double all = 0;
    for (int u = 0; u < dual->nunit; u++) all += lwi_elim_unit_work(dual, u);
    if (all < WORTH) return LW_OK;
    d->stage = LWI_PUSH(scratch, int, dual->nunit);
    d->part = LWI_PUSH(scratch, int, dual->nunit);
    if (!d->stage || !d->part) return LW_ERR_MEMORY;
    TRY((strategy == LWI_BY_LEVEL ? by_level : by_subtree)(dual, scratch, d));
    if (!d->shared) return LW_OK;
    *crew = LWI_PUSH(arena, lwi_elim_crew, 1);
    if (!*crew) return LW_ERR_MEMORY;
    (*crew)->parts = d->parts;
    (*crew)->nstage = d->nstage;
    return arrange(dual, d, arena, *crew);
}

lw_status lwi_elim_threads(lwi_elim *dual, lwi_pool *pool, lwi_strategy strategy, lwi_arena *arena)
{
    dual->crew = NULL;
    draft d = {.parts = pool ? lwi_pool_count(pool) : 1};
    if (d.parts == 1) return LW_OK;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    lwi_elim_crew *crew = NULL;
    const lw_status status = make(dual, strategy, &scratch, arena, &d, &crew);
    lwi_arena_free(&scratch);
    if (status != LW_OK || !crew) return status;
    crew->pool = pool;
    crew->dual = dual;
    dual->crew = crew;
    return lwi_elim_batch_leave(dual, false, arena);
}
