// threads.c -- the pool: threads sleep between tasks; a round is begun and ended under one lock.
#define _GNU_SOURCE      // sched_getaffinity
#define _DARWIN_C_SOURCE // _SC_NPROCESSORS_ONLN
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

typedef struct member {
    lwi_pool *pool;
    int part;
    pthread_t thread;
} member;

struct lwi_pool {
    lw_allocator allocator;
    int count;
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    unsigned long round; // of tasks begun; the members wait for the next one
    int working;         // members that have not finished this round
    bool leave;
    void (*task)(void *user, int part);
    void *user;
    int nmember; // threads that were started: count - 1, fewer when creation fails half way
    member member[];
};

static void *work(void *user)
{
    member *me = user;
    lwi_pool *pool = me->pool;
    unsigned long done = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == done && !pool->leave) pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->leave) break;
        done = pool->round;
        pthread_mutex_unlock(&pool->lock);
        pool->task(pool->user, me->part);
        pthread_mutex_lock(&pool->lock);
        if (--pool->working == 0) pthread_cond_signal(&pool->end);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

// Signals of the process are the caller's: its threads take none.
static bool start(lwi_pool *pool)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
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
    if (count < 1 || count > LWI_MOST_THREADS)
        return lwi_fail(error, LW_ERR_ARGUMENT, "threads: %d, expected 1 to %d", count,
                        LWI_MOST_THREADS);
    const size_t size = sizeof(lwi_pool) + (size_t)(count - 1) * sizeof(member);
    lwi_pool *pool = lwi_allocate(allocator, size);
    if (!pool) return lwi_fail(error, LW_ERR_MEMORY, "no memory for %d threads", count);
    memset(pool, 0, size);
    if (allocator) pool->allocator = *allocator;
    pool->count = count;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->end, NULL);
    if (!start(pool)) {
        const int started = pool->nmember;
        lwi_pool_destroy(pool);
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "threads: %d asked for, the system gives %d",
                        count, started + 1);
    }
    *out = pool;
    return LW_OK;
}

void lwi_pool_destroy(lwi_pool *pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->leave = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->nmember; i++) pthread_join(pool->member[i].thread, NULL);
    pthread_cond_destroy(&pool->end);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    const lw_allocator allocator = pool->allocator;
    lwi_release(&allocator, pool);
}

int lwi_pool_count(const lwi_pool *pool)
{
    return pool->count;
}

void lwi_pool_run(lwi_pool *pool, void (*task)(void *user, int part), void *user)
{
    if (pool->nmember) {
        pthread_mutex_lock(&pool->lock);
        pool->task = task;
        pool->user = user;
        pool->working = pool->nmember;
        pool->round++;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }
    task(user, 0);
    if (!pool->nmember) return;
    pthread_mutex_lock(&pool->lock);
    while (pool->working) pthread_cond_wait(&pool->end, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
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
