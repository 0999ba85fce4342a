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
    int owner, level;
} planned;

typedef struct planner {
    const lwi_path_schedule *schedule;
    planned *join; // [groups - 1] parts before compounds
    int count;
} planner;

static int first_group(const lwi_path_schedule *s, int thread)
{
    return (int)((long)s->groups * thread / s->threads);
}

static int owner_of(const lwi_path_schedule *s, int from, int to)
{
    for (int t = 0; t < s->threads; t++)
        if (from >= first_group(s, t) && to <= first_group(s, t + 1)) return t;
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
    p->join[i] = (planned){{a, b, p->schedule->groups + i}, owner, *level};
    return p->schedule->groups + i;
}

// Joins of each thread, then of each level, in the order in which they were made.
static void sort(const planner *p, lwi_path_schedule *s)
{
    int n = 0;
    for (int t = 0; t < s->threads; t++) {
        s->own[t] = n;
        for (int i = 0; i < p->count; i++)
            if (p->join[i].owner == t) s->join[n++] = p->join[i].join;
    }
    s->own[s->threads] = n;
    s->level[0] = n;
    while (n < p->count) {
        s->nlevel++;
        for (int i = 0; i < p->count; i++)
            if (p->join[i].level == s->nlevel) s->join[n++] = p->join[i].join;
        s->level[s->nlevel] = n;
    }
}

int lwi_path_share(const lwi_pool *pool, int groups, int bodies)
{
    int threads = pool && bodies >= MIN_BODIES ? lwi_pool_count(pool) : 1;
    if (threads > bodies / MIN_SHARE) threads = bodies / MIN_SHARE;
    if (threads > groups) threads = groups;
    return threads > 1 ? threads : 1;
}

lw_status lwi_path_schedule_create(int groups, int bodies, lwi_pool *pool, lwi_arena *arena,
                                   lwi_path_schedule *s)
{
    enum { MAX_LEVELS = 32 };
    const int threads = lwi_path_share(pool, groups, bodies);
    int level;
    *s = (lwi_path_schedule){
        .pool = threads > 1 ? pool : NULL, .threads = threads, .groups = groups};
    planner p = {.schedule = s, .join = LWI_PUSH(arena, planned, groups - 1)};
    s->join = LWI_PUSH(arena, lwi_path_join, groups - 1);
    s->own = LWI_PUSH(arena, int, threads + 1);
    s->level = LWI_PUSH(arena, int, MAX_LEVELS + 1);
    s->done = LWI_PUSH(arena, long, threads);
    if (!p.join || !s->join || !s->own || !s->level || !s->done) return LW_ERR_MEMORY;
    halve(&p, 0, groups, &level);
    LWI_ASSERT(p.count == groups - 1 && level <= MAX_LEVELS);
    sort(&p, s);
    return LW_OK;
}

// --------------------------------------------------------------------------------------------- run

typedef struct task {
    lwi_path_schedule *schedule;
    const lwi_path_work *work;
    void *path;
    void (*act)(void *path, const lwi_path_join *join); // on the joins first .. end - 1 of a level
    int first, end;
    bool invalid[LWI_MAX_THREADS];
} task;

// A thread's own joins down, groups, joins up.
static void own_part(void *user, int thread)
{
    task *run = user;
    lwi_path_schedule *s = run->schedule;
    const lwi_path_work *work = run->work;
    if (thread >= s->threads) return;
    const int first = first_group(s, thread), end = first_group(s, thread + 1);
    for (int i = s->own[thread + 1] - 1; work->down && i >= s->own[thread]; i--)
        work->down(run->path, &s->join[i]);
    bool valid = true;
    for (int g = first; g < end; g++) valid = work->group(run->path, g) && valid;
    for (int i = s->own[thread]; work->up && i < s->own[thread + 1]; i++)
        work->up(run->path, &s->join[i]);
    run->invalid[thread] = !valid;
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

// The joins of a level; a single one is not worth a barrier.
static void run_level(task *run, int level, void (*act)(void *, const lwi_path_join *))
{
    lwi_path_schedule *s = run->schedule;
    run->act = act;
    run->first = s->level[level];
    run->end = s->level[level + 1];
    if (run->end - run->first > 1)
        lwi_pool_run(s->pool, level_part, run);
    else
        act(run->path, &s->join[run->first]);
}

bool lwi_path_run(lwi_path_schedule *s, const lwi_path_work *work, void *path)
{
    task run = {.schedule = s, .work = work, .path = path};
    for (int i = s->nlevel - 1; work->down && i >= 0; i--) run_level(&run, i, work->down);
    if (s->pool)
        lwi_pool_run(s->pool, own_part, &run);
    else
        own_part(&run, 0);
    for (int i = 0; work->up && i < s->nlevel; i++) run_level(&run, i, work->up);
    bool valid = true;
    for (int t = 0; t < s->threads; t++) valid = valid && !run.invalid[t];
    return valid;
}
