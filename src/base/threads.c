// threads.c -- the thread pool.  A waiting thread polls for a while before it sleeps, so that consecutive
// tasks cost some cache lines and no system calls.
//
// No wake-up is lost: the sleeper sets its flag under the lock and then reads the condition once more; the
// waker sets the condition and then reads the flag.  All four are seq_cst, so at least one of the two
// threads reads what the other one has written.
#define _GNU_SOURCE      // sched_getaffinity
#define _DARWIN_C_SOURCE // _SC_NPROCESSORS_ONLN
#include "base/threads.h"

#include "base/assert.h"
#include "base/flush.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Polls before a thread sleeps, some tens of microseconds, and at a barrier before the processor is yielded. */
enum { POLLS = 1000, BARRIER_POLLS = 2000 };

typedef struct member {
    lwi_pool *pool;
    int part;
    pthread_t thread;
} member;

struct lwi_pool {
    lw_allocator allocator;
    int count;
    unsigned forks; // of the process when the members were started
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    _Atomic unsigned long round; // of tasks begun; the members wait for the next one
    _Atomic int working;         // members that have not finished this round
    _Atomic int asleep;          // members that may be asleep
    _Atomic bool waits;          // the caller may be asleep
    _Atomic bool leave;
    int polls; // 0 with more threads than processors
    void (*task)(void *user, int part);
    void *user;
    int nmember; // threads that were started: count - 1, fewer when creation fails half way
    member member[];
};

static void pause_a_little(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Not inlined, as wait_for_end: counts of instructions leave waiting out (bench/depth).
__attribute__((noinline)) static void wait_for_task(lwi_pool *pool, unsigned long done)
{
    for (int i = 0; i < pool->polls; i++) {
        if (pool->round != done || pool->leave) return;
        pause_a_little();
    }
    pthread_mutex_lock(&pool->lock);
    pool->asleep++;
    while (pool->round == done && !pool->leave) pthread_cond_wait(&pool->begin, &pool->lock);
    pool->asleep--;
    pthread_mutex_unlock(&pool->lock);
}

__attribute__((noinline)) static void wait_for_end(lwi_pool *pool)
{
    for (int i = 0; i < pool->polls; i++) {
        if (!pool->working) return;
        pause_a_little();
    }
    pthread_mutex_lock(&pool->lock);
    pool->waits = true;
    while (pool->working) pthread_cond_wait(&pool->end, &pool->lock);
    pool->waits = false;
    pthread_mutex_unlock(&pool->lock);
}

// Wakes the members, or the caller.
static void notify(lwi_pool *pool, pthread_cond_t *what)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(what);
    pthread_mutex_unlock(&pool->lock);
}

static void *work(void *user)
{
    member *me = user;
    lwi_pool *pool = me->pool;
    for (unsigned long done = 0;; done++) {
        wait_for_task(pool, done);
        if (pool->leave) return NULL;
        pool->task(pool->user, me->part);
        if (--pool->working == 0 && pool->waits) notify(pool, &pool->end);
    }
}

// Forks of this process: a child has none of its parent's threads.
static _Atomic unsigned forks;

static void count_fork(void)
{
    forks++;
}

static void register_forks(void)
{
    pthread_atfork(NULL, NULL, count_fork);
}

// The members block all signals, so that the caller's threads get them.
static bool start(lwi_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    pool->forks = forks;
    bool ok = true;
    for (int i = 0; i < pool->count - 1 && ok; i++) {
        pool->member[i] = (member){.pool = pool, .part = i + 1};
        ok = pthread_create(&pool->member[i].thread, NULL, work, &pool->member[i]) == 0;
        pool->nmember += ok;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

lw_status lwi_pool_create(int count, const lw_allocator *allocator, lwi_pool **out, lw_error *error)
{
    if (count < 1 || count > LWI_MAX_THREADS)
        return lwi_fail(error, LW_ERR_ARGUMENT, "threads: %d, expected 1 to %d", count,
                        LWI_MAX_THREADS);
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, register_forks);
    const size_t size = sizeof(lwi_pool) + (size_t)(count - 1) * sizeof(member);
    lwi_pool *pool = lwi_allocate(allocator, size);
    if (!pool) return lwi_fail(error, LW_ERR_MEMORY, "no memory for %d threads", count);
    memset(pool, 0, size);
    if (allocator) pool->allocator = *allocator;
    pool->count = count;
    pool->polls = lwi_processors() < count ? 0 : POLLS;
    if (!start(pool)) {
        const int started = pool->nmember;
        lwi_pool_destroy(pool);
        return lwi_fail(error, LW_ERR_MEMORY,
                        "threads: %d asked for, the system gives %d: no memory, or a limit of it",
                        count, started + 1);
    }
    *out = pool;
    return LW_OK;
}

void lwi_pool_destroy(lwi_pool *pool)
{
    if (!pool) return;
    if (pool->forks == forks) { // else there are no members to wait for
        pool->leave = true;
        notify(pool, &pool->begin);
        for (int i = 0; i < pool->nmember; i++) pthread_join(pool->member[i].thread, NULL);
        pthread_cond_destroy(&pool->end);
        pthread_cond_destroy(&pool->begin);
        pthread_mutex_destroy(&pool->lock);
    }
    const lw_allocator allocator = pool->allocator;
    lwi_release(&allocator, pool);
}

int lwi_pool_count(const lwi_pool *pool)
{
    return pool->count;
}

unsigned long lwi_pool_rounds(const lwi_pool *pool)
{
    return pool->round;
}

// In a forked process the members are started again.  Without them the parts of a task would wait for each other
// for ever.
static void start_again(lwi_pool *pool)
{
    pool->round = 0;
    pool->working = pool->asleep = pool->nmember = 0;
    pool->waits = pool->leave = false;
    if (!start(pool)) abort();
}

void lwi_pool_run(lwi_pool *pool, void (*task)(void *user, int part), void *user)
{
    if (!pool->nmember) {
        task(user, 0);
        return;
    }
    if (pool->forks != forks) start_again(pool);
    LWI_ASSERT(pool->working == 0); // one task at a time
    pool->task = task;
    pool->user = user;
    pool->working = pool->nmember;
    pool->round++;
    if (pool->asleep) notify(pool, &pool->begin);
    task(user, 0);
    wait_for_end(pool);
}

void lwi_barrier_init(const lwi_pool *pool, lwi_barrier *barrier)
{
    *barrier = (lwi_barrier){.polls = pool->polls ? BARRIER_POLLS : 0};
}

// Not inlined, as wait_for_end.
__attribute__((noinline)) void lwi_barrier_wait(lwi_barrier *barrier, int parts)
{
    const unsigned round = atomic_load_explicit(&barrier->round, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&barrier->arrived, 1, memory_order_acq_rel) == parts - 1) {
        atomic_store_explicit(&barrier->arrived, 0, memory_order_relaxed);
        atomic_store_explicit(&barrier->round, round + 1, memory_order_release);
        return;
    }
    for (int i = 0; atomic_load_explicit(&barrier->round, memory_order_acquire) == round; i++)
        if (i >= barrier->polls) sched_yield();
}

typedef struct ranges {
    int count, parts;
    uint64_t mode;
    void (*range)(void *user, int first, int end);
    void *user;
} ranges;

static void run_range(void *user, int part)
{
    const ranges *all = user;
    const int first = (int)((long)all->count * part / all->parts);
    const int end = (int)((long)all->count * (part + 1) / all->parts);
    LWI_ASSERT(0 <= first && first <= end && end <= all->count);
    if (first == end) return;
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(all->mode);
    all->range(all->user, first, end);
    lwi_flush_set(mode);
}

void lwi_pool_for(lwi_pool *pool, int count, void (*range)(void *user, int first, int end),
                  void *user)
{
    LWI_ASSERT(count >= 0);
    if (!pool) {
        if (count > 0) range(user, 0, count);
        return;
    }
    ranges all = {.count = count,
                  .parts = pool->count,
                  .mode = lwi_flush_get(),
                  .range = range,
                  .user = user};
    lwi_pool_run(pool, run_range, &all);
}

int lwi_processors(void)
{
#ifdef __linux__ // those that this process may use
    cpu_set_t set;
    const long count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
#else
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count > 0 ? (int)count : 1;
}
