// threads.c -- sweeps over the tasks, on one thread or several.
//
// A schedule is a list of stages.  Within a stage every thread has its own tasks, which do not depend on the
// tasks of other threads in that stage, in the order of their numbers.  Between stages all threads wait at a
// barrier.  Downward sweeps take stages and tasks in reverse.
//
//   by level    a level is a stage; levels too small to be worth a barrier are joined and run by one thread
//   by subtree  first whole subtrees in about equal shares, then the tasks above them by level
//
// A single node that is large, compared with what a thread has to do, is eliminated by several threads together, in a separate
// stage: by all of them, or where a level has several such nodes by groups of about equal size, side by side.
//
// The schedule is fixed when the threads are set.  Results at a node do not depend on it.
#include "elimination/lanes.h"
#include "base/flush.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include <stdlib.h>

/** Multiplications that take as long as a barrier (about a microsecond). */
#define BARRIER 8000.0
/** Multiplications of a whole sweep that are worth waking the threads (some ten microseconds). */
#define WORTH 200000.0
/** A multiplication where loops are closed takes as many others: rows are exchanged, null vectors found. */
#define PIVOTING 5.0
/** Distributed subtrees are not larger than this share of one thread's work. */
#define PORTION 0.125

/** Multiplications of a node, without PIVOTING, that are worth two barriers for each of its rows. */
#define WORTH_TOGETHER 1e6
/** Nodes above distributed subtrees are shared by several threads if they are larger than this share of one thread's work. */
#define TOGETHER 0.03
/** Of such a node one thread does about this share alone. */
#define BY_ONE 0.05

// On separate cache lines.
typedef struct subteam_barrier {
    lwi_barrier barrier;
    char apart[128 - sizeof(lwi_barrier)];
} subteam_barrier;

typedef struct lwi_elim_team {
    lwi_pool *pool;
    int parts, nstage;
    int *task;  ///< [ntask] by stage and part
    int *first; ///< [nstage * parts + 1] in `task`
    bool *
        together; ///< [nstage] groups of threads compute the tasks of their leaders, in matrix passes
    int *leader; ///< [nstage * parts] of such stages: the first thread of each one's group
    int *size;   ///< [nstage * parts] threads of this group
    lwi_barrier barrier;
    subteam_barrier *subteam; ///< [parts] of the group of each leader
    // current sweep
    bool vectors;
    uint64_t mode; ///< treatment of subnormal numbers (flush.h)
    int first_pass, last_pass;
    lwi_elim *elim;
} lwi_elim_team;

// ----------------------------------------------------------------------------------------- sweeps

static void meet(lwi_elim_team *team)
{
    lwi_barrier_wait(&team->barrier, team->parts);
}

// The group that a thread belongs to in a stage.
static lwi_team subteam_of(lwi_elim_team *team, int stage, int part)
{
    const int at = stage * team->parts + part;
    if (!team->together[stage]) return LWI_ALONE;
    const int leader = team->leader[at];
    return (lwi_team){
        .part = part - leader, .parts = team->size[at], .barrier = &team->subteam[leader].barrier};
}

static void eliminate(lwi_elim_team *team, int part)
{
    for (int s = 0; s < team->nstage; s++) {
        const lwi_team some = subteam_of(team, s, part);
        const int *first = team->first + s * team->parts + part - some.part;
        for (int i = first[0]; i < first[1]; i++) {
            lwi_elim_task_eliminate(team->elim, team->task[i], &some);
            lwi_team_meet(&some);
        }
        meet(team);
    }
}

static void sweep_up(lwi_elim_team *team, int part, void (*visit)(lwi_elim *elim, int task))
{
    for (int s = 0; s < team->nstage; s++) {
        const int *first = team->first + s * team->parts + part;
        for (int i = first[0]; i < first[1]; i++) visit(team->elim, team->task[i]);
        meet(team);
    }
}

static void sweep_down(lwi_elim_team *team, int part, void (*visit)(lwi_elim *elim, int task))
{
    for (int s = team->nstage - 1; s >= 0; s--) {
        const int *first = team->first + s * team->parts + part;
        for (int i = first[1] - 1; i >= first[0]; i--) visit(team->elim, team->task[i]);
        meet(team);
    }
}

void lwi_elim_begin_pass(lwi_elim *elim, int i)
{
    elim->refining = i > 0;
    elim->reread_J =
        i == 0 && atomic_exchange_explicit(&elim->J_changed, false, memory_order_relaxed);
}

static void sweeps(lwi_elim_team *team, int part)
{
    if (!team->vectors) {
        eliminate(team, part);
        return;
    }
    for (int i = team->first_pass; i <= team->last_pass; i++) {
        if (part == 0) lwi_elim_begin_pass(team->elim, i);
        meet(team);
        sweep_up(team, part, lwi_elim_task_up);
        sweep_down(team, part, lwi_elim_task_down);
    }
}

// In the floating-point mode of the calling thread: the same bits for any number of threads.
static void run_task(void *user, int part)
{
    lwi_elim_team *team = user;
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(team->mode);
    sweeps(team, part);
    lwi_flush_set(mode);
}

void lwi_elim_sweep_matrix(lwi_elim *elim)
{
    if (lwi_elim_ranks_matrix(elim)) return;
    if (elim->team) {
        elim->team->vectors = false;
        elim->team->mode = lwi_flush_get();
        lwi_pool_run(elim->team->pool, run_task, elim->team);
        return;
    }
    for (int u = 0; u < elim->ntask; u++) lwi_elim_task_eliminate(elim, u, &LWI_ALONE);
}

void lwi_elim_sweep_vectors(lwi_elim *elim, int first, int last)
{
    if (lwi_elim_on_ranks(elim)) {
        lwi_elim_ranks_vectors(elim, first, last);
        return;
    }
    if (elim->team) {
        elim->team->vectors = true;
        elim->team->mode = lwi_flush_get();
        elim->team->first_pass = first;
        elim->team->last_pass = last;
        lwi_pool_run(elim->team->pool, run_task, elim->team);
        return;
    }
    for (int i = first; i <= last; i++) {
        lwi_elim_begin_pass(elim, i);
        for (int u = 0; u < elim->ntask; u++) lwi_elim_task_up(elim, u);
        for (int u = elim->ntask - 1; u >= 0; u--) lwi_elim_task_down(elim, u);
    }
}

// ---------------------------------------------------------------------------------------- schedule

static double node_work(const lwi_elim_front *N)
{
    const double c = N->nc, f = N->nc + N->no;
    return c * f * f / 2 + 6 * c * f;
}

double lwi_elim_task_work(const lwi_elim *elim, int task, bool ranks)
{
    const lwi_elim_front *N = &elim->front[elim->task[task].node[0]];
    const double lanes = elim->task[task].lanes > 4 ? 2 : 1; // registers of four
    return node_work(N) * lanes * (ranks && N->loop ? PIVOTING : 1);
}

// Marks the nodes that are too large for one thread.
static lw_status find_together(const lwi_elim *elim, lwi_arena *scratch, lwi_elim_draft *d)
{
    double all = 0;
    d->together = LWI_PUSH(scratch, bool, elim->ntask);
    if (!d->together) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++) all += lwi_elim_task_work(elim, u, d->ranks);
    for (int u = 0; u < elim->ntask && d->parts > 1; u++) {
        const lwi_elim_task *task = &elim->task[u];
        d->together[u] = task->lanes == 1 && !task->single &&
                         node_work(&elim->front[task->node[0]]) >= WORTH_TOGETHER &&
                         lwi_elim_task_work(elim, u, d->ranks) > TOGETHER * all / d->parts;
    }
    return LW_OK;
}

// Part of a piece of work when the total is cut into equal parts: that of the middle of the piece.
static int share(double done, double piece, double all, int parts)
{
    const int part = (int)((done + 0.5 * piece) / all * parts);
    LWI_ASSERT(all > 0 && part >= 0);
    return part < parts ? part : parts - 1;
}

int lwi_elim_task_parent(const lwi_elim *elim, int task, int l)
{
    const int parent = elim->front[elim->task[task].node[l]].parent;
    return parent < 0 ? -1 : elim->task_of[parent];
}

// Longest path down to a leaf task; returns the number of levels.
static int find_levels(const lwi_elim *elim, int *level)
{
    int count = 0;
    for (int u = 0; u < elim->ntask; u++) {
        if (count <= level[u]) count = level[u] + 1;
        for (int l = 0; l < elim->task[u].lanes; l++) {
            const int parent = lwi_elim_task_parent(elim, u, l);
            if (parent >= 0 && level[parent] <= level[u]) level[parent] = level[u] + 1;
        }
    }
    return count;
}

// Numbers of the stages of each level: the tasks of threads, then those computed together.
typedef struct level_stages {
    double *sum; ///< work of the tasks of threads
    int *own, *together;
} level_stages;

// A task of a level, to be given to a thread.
typedef struct piece {
    int level, task;
    double work;
} piece;

// By level, the largest first.
static int by_size(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    if (x->level != y->level) return x->level < y->level ? -1 : 1;
    if (x->work != y->work) return x->work > y->work ? -1 : 1;
    return x->task < y->task ? -1 : 1;
}

// Work that a thread has of this level, and of all so far.
typedef struct load {
    double level, all;
} load;

// Whether the threads save at least a barrier if they share so much work.
static bool worth_barrier(double work, int parts)
{
    return work - work / parts >= BARRIER;
}

static int smallest_load(const load *x, int n)
{
    int at = 0;
    for (int i = 1; i < n; i++)
        if (x[i].level < x[at].level || (x[i].level <= x[at].level && x[i].all < x[at].all)) at = i;
    return at;
}

// Each task of a level to the thread that has the smallest load so far, the largest tasks first.
static void share_levels(piece *list, int n, const level_stages *l, load *of, lwi_elim_draft *d)
{
    qsort(list, (size_t)n, sizeof *list, by_size);
    for (int i = 0; i < n; i++) {
        const int level = list[i].level;
        const bool small = !worth_barrier(l->sum[level], d->parts); // all on the first thread
        for (int p = 0; p < d->parts && (i == 0 || level != list[i - 1].level); p++)
            of[p].level = 0;
        const int part = small ? 0 : smallest_load(of, d->parts);
        d->part[list[i].task] = part;
        of[part].level += list[i].work, of[part].all += list[i].work;
    }
}

static lw_status make_stages(const lwi_elim *elim, const double *work, double above,
                             const int *level, int count, lwi_arena *scratch, lwi_elim_draft *d,
                             level_stages *l)
{
    *l = (level_stages){LWI_PUSH(scratch, double, count), LWI_PUSH(scratch, int, count),
                        LWI_PUSH(scratch, int, count)};
    if (!l->sum || !l->own || !l->together) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++) {
        if (!(work[u] > above)) continue;
        if (d->together[u])
            l->together[level[u]]++;
        else
            l->sum[level[u]] += lwi_elim_task_work(elim, u, d->ranks);
    }
    bool alone = false; // the previous stage runs on one thread
    for (int i = 0; i < count; i++) {
        const bool small = !worth_barrier(l->sum[i], d->parts);
        if (l->sum[i] > 0) {
            if (!small || !alone) d->nstage++;
            l->own[i] = d->nstage - 1;
            alone = small;
            d->shared |= !small;
        }
        if (!l->together[i]) continue;
        l->together[i] = d->nstage++;
        alone = false, d->shared = true;
    }
    return LW_OK;
}

lw_status lwi_elim_add_levels(const lwi_elim *elim, const double *work, double above,
                              lwi_arena *scratch, lwi_elim_draft *d)
{
    int *level = LWI_PUSH(scratch, int, elim->ntask), n = 0;
    piece *list = LWI_PUSH(scratch, piece, elim->ntask);
    load *of = LWI_PUSH(scratch, load, d->parts);
    level_stages l;
    if (!level || !list || !of) return LW_ERR_MEMORY;
    TRY(find_together(elim, scratch, d));
    TRY(make_stages(elim, work, above, level, find_levels(elim, level), scratch, d, &l));
    for (int u = 0; u < elim->ntask; u++) {
        const int at = level[u];
        d->together[u] = d->together[u] && work[u] > above;
        if (!(work[u] > above)) continue;
        d->stage[u] = d->together[u] ? l.together[at] : l.own[at];
        if (!d->together[u]) list[n++] = (piece){at, u, lwi_elim_task_work(elim, u, d->ranks)};
    }
    share_levels(list, n, &l, of, d);
    return LW_OK;
}

static lw_status by_level(const lwi_elim *elim, lwi_arena *scratch, lwi_elim_draft *d)
{
    double *work = LWI_PUSH(scratch, double, elim->ntask);
    return work ? lwi_elim_add_levels(elim, work, -1, scratch, d) : LW_ERR_MEMORY;
}

double lwi_elim_subtree_work(const lwi_elim *elim, double *work)
{
    double all = 0;
    for (int u = 0; u < elim->ntask; u++) {
        const int parent = elim->task[u].parent;
        const double own = lwi_elim_task_work(elim, u, true);
        work[u] += own;
        all += own;
        if (parent >= 0) work[parent] += work[u];
        for (int l = 0; l < elim->task[u].lanes && parent < 0; l++)
            if (lwi_elim_task_parent(elim, u, l) >= 0)
                work[lwi_elim_task_parent(elim, u, l)] = HUGE_VAL;
    }
    return all;
}

static lw_status by_subtree(const lwi_elim *elim, lwi_arena *scratch, lwi_elim_draft *d)
{
    double *work = LWI_PUSH(scratch, double, elim->ntask), below = 0, done = 0;
    if (!work) return LW_ERR_MEMORY;
    const double max_work = PORTION * lwi_elim_subtree_work(elim, work) / d->parts;
    for (int u = 0; u < elim->ntask; u++)
        if (work[u] <= max_work) below += lwi_elim_task_work(elim, u, d->ranks);
    d->nstage = 1;
    int user = -1; // the first thread with tasks
    for (int u = elim->ntask - 1; u >= 0; u--) {
        const int parent = elim->task[u].parent;
        if (work[u] > max_work) continue;
        if (parent >= 0 && work[parent] <= max_work) {
            d->part[u] = d->part[parent];
        } else {
            d->part[u] = share(done, work[u], below, d->parts);
            done += work[u];
            if (user < 0) user = d->part[u];
            d->shared |= d->part[u] != user;
        }
    }
    return lwi_elim_add_levels(elim, work, max_work, scratch, d);
}

// Threads first ... first + n - 1 are group g of several.
typedef struct subteam {
    int first, n;
} subteam;

static subteam subteam_range(int g, int groups, int parts)
{
    const int first = parts * g / groups;
    return (subteam){first, parts * (g + 1) / groups - first};
}

// Gives every task to the group that has it done first; returns when the last group has done all of its tasks.
static double deal(const piece *list, int n, int groups, double *time, lwi_elim_draft *d)
{
    double last = 0;
    for (int g = 0; g < groups; g++) time[g] = 0;
    for (int i = 0; i < n; i++) {
        double first = HUGE_VAL;
        int to = 0;
        for (int g = 0; g < groups; g++) {
            const int threads = subteam_range(g, groups, d->parts).n;
            const double t = time[g] + list[i].work * (BY_ONE + (1 - BY_ONE) / threads);
            if (t < first) first = t, to = g;
        }
        time[to] = first;
        last = fmax(last, first);
        d->part[list[i].task] = subteam_range(to, groups, d->parts).first;
    }
    return last;
}

// Groups of threads for the n tasks of a stage that several threads eliminate together, the largest first.
static void form_subteams(const piece *list, int n, double *time, lwi_elim_draft *d,
                          lwi_elim_team *team)
{
    int groups = 1;
    double smallest = HUGE_VAL;
    for (int g = 1; g <= n && g <= d->parts; g++) {
        const double t = deal(list, n, g, time, d);
        if (t < smallest) smallest = t, groups = g;
    }
    deal(list, n, groups, time, d);
    for (int g = 0; g < groups; g++) {
        const subteam of = subteam_range(g, groups, d->parts);
        for (int p = of.first; p < of.first + of.n; p++) {
            team->leader[list->level * d->parts + p] = of.first;
            team->size[list->level * d->parts + p] = of.n;
        }
    }
}

static lw_status form_all_subteams(const lwi_elim *elim, lwi_arena *scratch, lwi_arena *arena,
                                   lwi_elim_draft *d, lwi_elim_team *team)
{
    const size_t places = (size_t)d->nstage * (size_t)d->parts;
    int n = 0;
    piece *list = LWI_PUSH(scratch, piece, elim->ntask);
    double *time = LWI_PUSH(scratch, double, d->parts);
    team->leader = LWI_PUSH(arena, int, places);
    team->size = LWI_PUSH(arena, int, places);
    team->subteam = LWI_PUSH(arena, subteam_barrier, d->parts);
    if (!list || !time || !team->leader || !team->size || !team->subteam) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++)
        if (d->together[u])
            list[n++] = (piece){d->stage[u], u, lwi_elim_task_work(elim, u, d->ranks)};
    qsort(list, (size_t)n, sizeof *list, by_size);
    for (int i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].level == list[i].level;) end++;
        form_subteams(list + i, end - i, time, d, team);
    }
    return LW_OK;
}

// Sorts the tasks by stage and part.
static lw_status arrange(const lwi_elim *elim, const lwi_elim_draft *d, lwi_arena *arena,
                         lwi_elim_team *team)
{
    const size_t places = (size_t)d->nstage * (size_t)d->parts;
    team->first = LWI_PUSH(arena, int, places + 1);
    team->task = LWI_PUSH(arena, int, elim->ntask);
    team->together = LWI_PUSH(arena, bool, d->nstage);
    if (!team->first || !team->task || !team->together) return LW_ERR_MEMORY;
    for (int u = 0; u < elim->ntask; u++) {
        LWI_ASSERT_INDEX(d->stage[u], d->nstage);
        LWI_ASSERT_INDEX(d->part[u], d->parts);
        team->first[d->stage[u] * d->parts + d->part[u]]++;
        team->together[d->stage[u]] |= d->together[u];
    }
    for (size_t i = 1; i <= places; i++) team->first[i] += team->first[i - 1]; // ends of the lists
    for (int u = elim->ntask - 1; u >= 0; u--)
        team->task[--team->first[d->stage[u] * d->parts + d->part[u]]] = u;
    return LW_OK;
}

bool lwi_elim_worth_threads_with(const lwi_elim *elim, double besides)
{
    double all = besides;
    for (int u = 0; u < elim->ntask; u++) all += lwi_elim_task_work(elim, u, true);
    return all >= WORTH;
}

bool lwi_elim_worth_threads(const lwi_elim *elim)
{
    return lwi_elim_worth_threads_with(elim, 0);
}

static lw_status make(const lwi_elim *elim, lwi_elim_strategy strategy, lwi_arena *scratch,
                      lwi_arena *arena, lwi_elim_draft *d, lwi_elim_team **team)
{
    if (!lwi_elim_worth_threads(elim)) return LW_OK;
    d->stage = LWI_PUSH(scratch, int, elim->ntask);
    d->part = LWI_PUSH(scratch, int, elim->ntask);
    if (!d->stage || !d->part) return LW_ERR_MEMORY;
    TRY((strategy == LWI_ELIM_BY_LEVEL ? by_level : by_subtree)(elim, scratch, d));
    if (!d->shared) return LW_OK;
    *team = LWI_PUSH(arena, lwi_elim_team, 1);
    if (!*team) return LW_ERR_MEMORY;
    (*team)->parts = d->parts;
    (*team)->nstage = d->nstage;
    TRY(form_all_subteams(elim, scratch, arena, d, *team));
    return arrange(elim, d, arena, *team);
}

int lwi_elim_together(const lwi_elim *elim)
{
    const lwi_elim_team *team = elim->team;
    int count = 0;
    for (int s = 0; team && s < team->nstage; s++)
        if (team->together[s])
            count += team->first[(s + 1) * team->parts] - team->first[s * team->parts];
    return count;
}

int lwi_elim_subteams(const lwi_elim *elim)
{
    const lwi_elim_team *team = elim->team;
    int largest = 0;
    for (int s = 0; team && s < team->nstage; s++) {
        int count = 0;
        for (int p = 0; p < team->parts && team->together[s]; p++)
            count += team->leader[s * team->parts + p] == p;
        largest = count > largest ? count : largest;
    }
    return largest;
}

lw_status lwi_elim_threads(lwi_elim *elim, lwi_pool *pool, lwi_elim_strategy strategy,
                           lwi_arena *arena)
{
    LWI_ASSERT(strategy == LWI_ELIM_BY_SUBTREE || strategy == LWI_ELIM_BY_LEVEL);
    elim->team = NULL;
    lwi_elim_draft d = {.parts = pool ? lwi_pool_count(pool) : 1, .ranks = true};
    if (d.parts == 1) return LW_OK;
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    lwi_elim_team *team = NULL;
    const lw_status status = make(elim, strategy, &scratch, arena, &d, &team);
    lwi_arena_free(&scratch);
    if (status != LW_OK || !team) return status;
    team->pool = pool;
    lwi_barrier_init(pool, &team->barrier);
    for (int p = 0; p < team->parts; p++) lwi_barrier_init(pool, &team->subteam[p].barrier);
    team->elim = elim;
    elim->team = team;
    return lwi_elim_batch_updates(elim, false, arena);
}
