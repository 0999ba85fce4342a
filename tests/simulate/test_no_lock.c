// test_no_lock.c -- a step in real-time mode on one thread takes no lock and makes no system call:
// no other thread or process can delay it.
//
// Locks: this program has functions of the names of the system's own, which count and call those; the
// linker takes the first it finds.  Calls of the system: a process that the kernel kills for any but
// its end.  Both are shown to detect what they search for.
#define _GNU_SOURCE // RTLD_NEXT, syscall
#include "methods/index3/index3_cases.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <unistd.h>
#ifdef __linux__
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

// ------------------------------------------------------------------------------------------- locks

static _Thread_local long locks; // of this thread

// A function of that name: counts, and does what the next one does.
#define COUNTED(name, parameters, arguments)                                                       \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        static int(*next) parameters;                                                              \
        if (!next) *(void **)&next = dlsym(RTLD_NEXT, #name);                                      \
        locks++;                                                                                   \
        return next arguments;                                                                     \
    }

COUNTED(pthread_mutex_lock, (pthread_mutex_t * m), (m))
COUNTED(pthread_mutex_trylock, (pthread_mutex_t * m), (m))
COUNTED(pthread_rwlock_rdlock, (pthread_rwlock_t * m), (m))
COUNTED(pthread_rwlock_wrlock, (pthread_rwlock_t * m), (m))
COUNTED(pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), (c, m))
COUNTED(pthread_cond_signal, (pthread_cond_t * c), (c))
COUNTED(pthread_cond_broadcast, (pthread_cond_t * c), (c))
COUNTED(sem_wait, (sem_t * s), (s))
COUNTED(sem_post, (sem_t * s), (s))
COUNTED(sched_yield, (void), ())
#ifdef __linux__ // not everywhere
COUNTED(pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *t), (m, t))
COUNTED(pthread_spin_lock, (pthread_spinlock_t * m), (m))
COUNTED(pthread_barrier_wait, (pthread_barrier_t * b), (b))
#endif

static lw_sim *real_time(const lw_model *model, const char *threads)
{
    lw_options o = index3(0.01, 1, "1");
    lwt_set(&o, "index3", "mode=real-time");
    lwt_set(&o, "threads", threads);
    return lwt_sim(model, &o);
}

// Steps, and the other calls in the loop of a program.
static bool some_steps(lw_sim *sim, int first, int end)
{
    const lw_observation *o;
    lw_step_times times;
    bool done = true;
    for (int i = first; i < end; i++) {
        done &= lw_sim_step(sim, (i + 1) * 0.01) == LW_OK;
        done &= lw_sim_observe(sim, LW_OBSERVE_REACTION, &o) == LW_OK;
        lw_sim_times(sim, &times);
    }
    return done;
}

static long locks_of(lw_sim *sim, int first, int end)
{
    const long before = locks;
    assert_true(some_steps(sim, first, end));
    return locks - before;
}

// For the general text alone.
static lw_model *geared(void)
{
    lw_builder *b = lwt_builder();
    lw_joint_desc joint = {.type = LW_JOINT_REVOLUTE,
                           .body2 = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                                .inertia = {1, 1, 1, 0, 0, 0},
                                                                .pose.position = {0.5, 0, 0}})};
    joint.coordinate[0].rotor = 0.2;
    lwt_add(b, &joint);
    return lwt_model(b);
}

// In lanes alone, with joins above them, with the general text for some of it (springs, other joints), and
// the general text alone.
static lw_model *model_of(int kind)
{
    return kind == 0   ? rhombus(0.6, 2)
           : kind == 1 ? chain(300)
           : kind == 2 ? read_golden("P8_mixed_joint_arm")
                       : geared();
}
enum { KINDS = 4 };

static void no_step_takes_a_lock(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        lw_model *model = model_of(kind);
        lw_sim *sim = real_time(model, "1");
        assert_int_equal(locks_of(sim, 0, 20), 0);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// Long enough to be worth two threads.
static void locks_of_two_threads_are_seen(void **state)
{
    (void)state;
    lw_model *model = chain(1500);
    lw_sim *sim = real_time(model, "2");
    assert_true(locks_of(sim, 0, 3) > 0);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------- calls of the system

#ifdef __linux__
static void read_clock(void *user)
{
    (void)user;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
}

static void ask(void *user)
{
    (void)user;
    syscall(SYS_getppid);
}

static void step_on(void *user)
{
    if (!some_steps(user, 3, 20)) syscall(SYS_exit, 1);
}

// From now on the process may ask for its end (SYS_exit) alone.
static bool leave_the_system(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL),
    };
    struct sock_fprog program = {.len = LWI_COUNT(filter), .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Does a process live through it that may ask the system for nothing?  -1: such a process cannot be had.
static int alone(void (*what)(void *), void *user)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        if (!leave_the_system()) _exit(77);
        what(user);
        syscall(SYS_exit, 0); // _exit ends with another call, exit_group
    }
    if (child < 0 || waitpid(child, &status, 0) != child) return -1;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void no_step_calls_the_system(void **state)
{
    (void)state;
    // some machines ask for the time that way
    if (alone(read_clock, NULL) != 1 || alone(ask, NULL) != 0) {
        print_message("left out: no such process here, or the clock is the system's\n");
        skip();
    }
    for (int kind = 0; kind < KINDS; kind++) {
        lw_model *model = model_of(kind);
        lw_sim *sim = real_time(model, "1");
        assert_true(some_steps(sim, 0, 3)); // pages and symbols are there
        assert_int_equal(alone(step_on, sim), 1);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}
#else
static void no_step_calls_the_system(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_takes_a_lock),
        cmocka_unit_test(locks_of_two_threads_are_seen),
        cmocka_unit_test(no_step_calls_the_system),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
