// schedule.c -- passes over groups and joins by threads (schedule.h).
#include "methods/dca/segments/schedule.h"

#include "base/assert.h"

#include <string.h>

// Fewer bodies than these in all: barriers would cost more than they save.  A thread has about one group of the
// shortest segments at least; all threads of a pool wait at each barrier, also those without groups.
enum { MIN_BODIES = 1024, MIN_SHARE = 240 };

// ------------------------------------------------------------------------------------------ create

// A join with the thread that has all of its groups, or -1 and its level above such joins.
typedef struct planned {
    lwi_path_join join;
    int owner, level, from, middle; // groups from ... of a, middle ... of b
} planned;

typedef struct planner {
    const lwi_path_schedule *schedule;
    planned *join; // [groups - 1] parts before compounds
    int count;
} planner;

static int owner_of(const lwi_path_schedule *s, int from, int to)
{
    for (int t = 0; t < s->threads; t++)
        if (from >= lwi_path_first_group(s, t) && to <= lwi_path_first_group(s, t + 1)) return t;
    return -1;
}

// Halves groups from .. to - 1; returns the number of their compound.  *level: 0 for joins of one thread.
static int halve(planner *p, int from, int to, int *level)
{
    *level = 0;
    if (to - from == 1) return from;
    const int middle = (from + to + 1) / 2;
    int left, right;
    const int a = halve(p, from, middle, &left), b = halve(p, middle, to, &right);
    const int owner = owner_of(p->schedule, from, to), i = p->count++;
    if (owner < 0) *level = (left > right ? left : right) + 1;
    p->join[i] = (planned){{a, b, p->schedule->groups + i}, owner, *level, from, middle};
    return p->schedule->groups + i;
}

static int thread_of(const lwi_path_schedule *s, int group)
{
    int t = 0;
    while (group >= lwi_path_first_group(s, t + 1)) t++;
    return t;
}

static void put(const planned *from, lwi_path_schedule *s, int at)
{
    s->join[at] = from->join;
    if (!s->ranks) return;
    s->left[at] = thread_of(s, from->from);
    s->right[at] = thread_of(s, from->middle);
}

// Joins of each thread, then of each level, in the order in which they were made.
static void sort(const planner *p, lwi_path_schedule *s)
{
    int n = 0;
    for (int t = 0; t < s->threads; t++) {
        s->own[t] = n;
        for (int i = 0; i < p->count; i++)
            if (p->join[i].owner == t) put(&p->join[i], s, n++);
    }
    s->own[s->threads] = n;
    s->level[0] = n;
    while (n < p->count) {
        s->nlevel++;
        for (int i = 0; i < p->count; i++)
            if (p->join[i].level == s->nlevel) put(&p->join[i], s, n++);
        s->level[s->nlevel] = n;
    }
}

int lwi_path_share(int threads, int groups, int bodies)
{
    if (bodies < MIN_BODIES) return 1;
    if (threads > bodies / MIN_SHARE) threads = bodies / MIN_SHARE;
    if (threads > groups) threads = groups;
    return threads > 1 ? threads : 1;
}

// Lists for s->threads shares.
static lw_status plan_shares(lwi_arena *arena, lwi_path_schedule *s)
{
    enum { MAX_LEVELS = 32 };
    const int threads = s->threads, joins = s->groups - 1;
    int level;
    planner p = {.schedule = s, .join = LWI_PUSH(arena, planned, joins)};
    s->join = LWI_PUSH(arena, lwi_path_join, joins);
    s->own = LWI_PUSH(arena, int, threads + 1);
    s->level = LWI_PUSH(arena, int, MAX_LEVELS + 1);
    s->done = LWI_PUSH(arena, long, threads);
    s->left = LWI_PUSH(arena, int, joins);
    s->right = LWI_PUSH(arena, int, joins);
    if (!p.join || !s->join || !s->own || !s->level || !s->done || !s->left || !s->right)
        return LW_ERR_MEMORY;
    s->nlevel = 0;
    halve(&p, 0, s->groups, &level);
    LWI_ASSERT(p.count == joins && level <= MAX_LEVELS);
    sort(&p, s);
    return LW_OK;
}

lw_status lwi_path_schedule_create(int groups, int bodies, lwi_pool *pool, lwi_arena *arena,
                                   lwi_path_schedule *s)
{
    const int threads = lwi_path_share(pool ? lwi_pool_count(pool) : 1, groups, bodies);
    *s = (lwi_path_schedule){
        .pool = threads > 1 ? pool : NULL, .threads = threads, .groups = groups};
    return plan_shares(arena, s);
}

lw_status lwi_path_schedule_ranks(lwi_path_schedule *s, int bodies, lwi_ranks *ranks,
                                  lwi_arena *arena)
{
    LWI_ASSERT(!s->pool);
    s->threads = lwi_path_share(ranks->of.count, s->groups, bodies);
    s->ranks = ranks;
    return plan_shares(arena, s);
}

// --------------------------------------------------------------------------------------------- run

typedef struct task {
    lwi_path_schedule *schedule;
    const lwi_path_work *work;
    void *path;
    void (*act)(void *path, const lwi_path_join *join); // on the joins first .. end - 1 of a level
    int first, end;
    _Atomic bool invalid;
} task;

// A thread's own joins down, groups, joins up.
static void own_part(void *user, int thread)
{
    task *run = user;
    lwi_path_schedule *s = run->schedule;
    const lwi_path_work *work = run->work;
    if (thread >= s->threads) return;
    const int first = lwi_path_first_group(s, thread), end = lwi_path_first_group(s, thread + 1);
    for (int i = s->own[thread + 1] - 1; work->down && i >= s->own[thread]; i--)
        work->down(run->path, &s->join[i]);
    bool valid = true;
    for (int g = first; g < end; g++) valid = work->group(run->path, g) && valid;
    for (int i = s->own[thread]; work->up && i < s->own[thread + 1]; i++)
        work->up(run->path, &s->join[i]);
    if (!valid) run->invalid = true;
    s->done[thread] += end - first;
}

static void level_part(void *user, int thread)
{
    task *run = user;
    const int n = run->end - run->first, threads = run->schedule->threads;
    if (thread >= threads) return;
    for (int i = n * thread / threads; i < n * (thread + 1) / threads; i++)
        run->act(run->path, &run->schedule->join[run->first + i]);
}

// The other end of a join that two ranks share; all ranks take the joins in the same order, so none waits for ever.
static void pass(const task *run, int at, bool up)
{
    const lwi_path_schedule *s = run->schedule;
    lwi_ranks *ranks = s->ranks;
    const int me = ranks->of.rank, left = s->left[at], right = s->right[at];
    if (left == right || (me != left && me != right)) return;
    size_t count;
    double *numbers = run->work->numbers(run->path, s->join[at].b, up, &count);
    if ((me == left) == up)
        lwi_ranks_receive(ranks, up ? right : left, numbers, count * sizeof *numbers);
    else
        lwi_ranks_send(ranks, up ? left : right, numbers, count * sizeof *numbers);
}

static bool run_on_ranks(task *run)
{
    const lwi_path_schedule *s = run->schedule;
    const lwi_path_work *work = run->work;
    const int me = s->ranks->of.rank;
    for (int i = s->nlevel - 1; work->down && i >= 0; i--)
        for (int k = s->level[i]; k < s->level[i + 1]; k++) {
            if (me == s->left[k]) work->down(run->path, &s->join[k]);
            pass(run, k, false);
        }
    own_part(run, me);
    for (int i = 0; work->up && i < s->nlevel; i++)
        for (int k = s->level[i]; k < s->level[i + 1]; k++) {
            pass(run, k, true);
            if (me == s->left[k]) work->up(run->path, &s->join[k]);
        }
    return me >= s->threads || !run->invalid;
}

// The joins of a level; a single one is not worth a barrier.
static void run_level(task *run, int level, void (*act)(void *, const lwi_path_join *))
{
    lwi_path_schedule *s = run->schedule;
    run->act = act;
    run->first = s->level[level];
    run->end = s->level[level + 1];
    if (s->pool && run->end - run->first > 1)
        lwi_pool_run(s->pool, level_part, run);
    else
        for (int k = run->first; k < run->end; k++) act(run->path, &s->join[k]);
}

bool lwi_path_run(lwi_path_schedule *s, const lwi_path_work *work, void *path)
{
    task run = {.schedule = s, .work = work, .path = path};
    if (lwi_ranks_share(s->ranks)) return run_on_ranks(&run);
    for (int i = s->nlevel - 1; work->down && i >= 0; i--) run_level(&run, i, work->down);
    if (s->pool)
        lwi_pool_run(s->pool, own_part, &run);
    else
        for (int t = 0; t < s->threads; t++) own_part(&run, t);
    for (int i = 0; work->up && i < s->nlevel; i++) run_level(&run, i, work->up);
    return !run.invalid;
}
