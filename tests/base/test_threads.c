// test_threads.c -- thread pool: each part runs exactly once, on its assigned thread, in every
// round.
#include "base/threads.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

enum { MOST = 9, ROUNDS = 300 };

typedef struct rounds {
    int count[MOST];
    pthread_t thread[MOST];
    bool moved[MOST]; // a part ran on another thread than before
} rounds;

static void task(void *user, int part)
{
    rounds *r = user;
    if (r->count[part] && !pthread_equal(r->thread[part], pthread_self())) r->moved[part] = true;
    r->thread[part] = pthread_self();
    r->count[part]++;
}

static void every_part_on_its_thread(void **state)
{
    (void)state;
    for (int n = 1; n <= MOST; n++) {
        lwi_pool *pool;
        rounds r = {.count = {0}};
        lw_error error;
        assert_int_equal(lwi_pool_create(n, NULL, &pool, &error), LW_OK);
        assert_int_equal(lwi_pool_count(pool), n);
        for (int k = 0; k < ROUNDS; k++) lwi_pool_run(pool, task, &r);
        for (int i = 0; i < MOST; i++) assert_int_equal(r.count[i], i < n ? ROUNDS : 0);
        for (int i = 0; i < n; i++) {
            assert_false(r.moved[i]);
            for (int j = 0; j < i; j++) assert_false(pthread_equal(r.thread[i], r.thread[j]));
        }
        assert_true(pthread_equal(r.thread[0], pthread_self()));
        lwi_pool_destroy(pool);
    }
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000},
              NULL); // longer than a busy wait
}

static void slow_task(void *user, int part)
{
    if (part == 1) nap();
    task(user, part);
}

// Sleeping threads are woken, both the workers and the caller.
static void who_sleeps_is_woken(void **state)
{
    (void)state;
    lwi_pool *pool;
    rounds r = {.count = {0}};
    assert_int_equal(lwi_pool_create(3, NULL, &pool, NULL), LW_OK);
    for (int k = 0; k < 40; k++) {
        lwi_pool_run(pool, k % 2 ? slow_task : task, &r);
        if (k % 3) nap();
    }
    for (int i = 0; i < 3; i++) assert_int_equal(r.count[i], 40);
    lwi_pool_destroy(pool);
}

static void an_idle_pool_ends(void **state)
{
    (void)state;
    lwi_pool *pool;
    for (int k = 0; k < 50; k++) {
        assert_int_equal(lwi_pool_create(1 + k % 4, NULL, &pool, NULL), LW_OK);
        lwi_pool_destroy(pool);
    }
    lwi_pool_destroy(NULL);
}

static void *refuse(void *user, size_t bytes)
{
    (void)user, (void)bytes;
    return NULL;
}
static void release(void *user, void *block)
{
    (void)user, (void)block;
}

static void wrong_counts_are_refused(void **state)
{
    (void)state;
    const lw_allocator none = {.allocate = refuse, .release = release};
    lwi_pool *pool = NULL;
    lw_error error;
    assert_int_equal(lwi_pool_create(0, NULL, &pool, &error), LW_ERR_ARGUMENT);
    assert_int_equal(lwi_pool_create(LWI_MAX_THREADS + 1, NULL, &pool, &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "256"));
    assert_int_equal(lwi_pool_create(2, &none, &pool, &error), LW_ERR_MEMORY);
    assert_null(pool);
    assert_true(lwi_processors() >= 1);
}

// A forked process has none of the threads: they are started again, when the parent's poll and when they sleep.
static void a_forked_process_has_its_threads(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__ // "starting new threads after multi-threaded fork is not supported"
    skip();
#endif
    for (int k = 0; k < 6; k++) {
        lwi_pool *pool;
        rounds r = {.count = {0}};
        assert_int_equal(lwi_pool_create(3, NULL, &pool, NULL), LW_OK);
        lwi_pool_run(pool, task, &r);
        if (k % 2) nap(); // the others sleep, or still poll
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(20);
            rounds mine = {.count = {0}};
            if (k < 4)
                for (int i = 0; i < 100; i++) lwi_pool_run(pool, task, &mine);
            lwi_pool_destroy(pool);
            const int expected = k < 4 ? 100 : 0;
            const bool good = mine.count[0] == expected && mine.count[1] == expected &&
                              mine.count[2] == expected && !mine.moved[1] && !mine.moved[2];
            _exit(good ? 0 : 1);
        }
        int how;
        assert_int_equal(waitpid(child, &how, 0), child);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
        lwi_pool_run(pool, task, &r); // the parent's are untouched
        for (int i = 0; i < 3; i++) assert_int_equal(r.count[i], 2);
        lwi_pool_destroy(pool);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_part_on_its_thread),
        cmocka_unit_test(who_sleeps_is_woken),
        cmocka_unit_test(an_idle_pool_ends),
        cmocka_unit_test(wrong_counts_are_refused),
        cmocka_unit_test(a_forked_process_has_its_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
