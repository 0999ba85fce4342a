// test_compiled_threads.c -- several threads take partitions of one compiled model on demand, the same and others.
#include "compile.h"

#include <dirent.h>
#include <pthread.h>

enum { CRANKS = 2, CASES = 1 << CRANKS, SPEEDS = 3 * CRANKS, THREADS = 4, TIMES = 3 };

// A crank of 10 m at 60 degrees, which drives a slider: in the plane at y.
static const char crank[] =
    "  crank%d: {mass: 3, inertia: [30, 30, 30, 0, 0, 0], position: [5*cos(a), %d, 5*sin(a)]}\n"
    "  rod%d: {mass: 2, inertia: [60, 60, 60, 0, 0, 0], position: [5*cos(a) + x/2, %d, 5*sin(a)]}\n"
    "  piston%d: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [x, %d, 0]}\n";
static const char joints[] =
    "  A%d: {type: revolute, between: [ground, crank%d], at: [0, %d, 0], axis: [0, 1, 0]}\n"
    "  B%d: {type: revolute, between: [crank%d, rod%d], at: [10*cos(a), %d, 10*sin(a)], axis: [0, "
    "1, 0]}\n"
    "  C%d: {type: revolute, between: [rod%d, piston%d], at: [x, %d, 0], axis: [0, 1, 0], cut: "
    "prefer}\n"
    "  D%d: {type: prismatic, between: [ground, piston%d], at: [0, %d, 0], axis: [1, 0, 0]}\n";

static lw_model *slider_cranks(void)
{
    char text[4000];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "linkwork: 1\n"
                                "parameters: {a: 60 deg, x: 10*cos(a) + sqrt(400 - 100*sin(a)^2)}\n"
                                "bodies:\n");
    for (int i = 0; i < CRANKS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, crank, i, i, i, i, i, i);
    n += (size_t)snprintf(text + n, sizeof text - n, "joints:\n");
    for (int i = 0; i < CRANKS; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, joints, i, i, i, i, i, i, i, i, i, i, i, i,
                              i, i);
    return lwt_yaml(text);
}

/** States with some cranks at their dead points, and accelerations by one thread. */
typedef struct expectation {
    const lw_compiled *compiled;
    double q[CASES][SPEEDS], v[CASES][SPEEDS], a[CASES][SPEEDS];
} expectation;

static void set_state(const lw_model *model, int dead, double *q, double *v)
{
    lw_model_tree_start(model, q, v);
    for (int i = 0; i < CRANKS; i++) {
        int iq[3], iv[3], n;
        for (int k = 0; k < 3; k++)
            OK(lw_model_joint_tree(model, (lw_joint){4 * i + (k < 2 ? k : 3)}, &iq[k], &n, &iv[k],
                                   &n));
        if (!(dead >> i & 1)) continue;
        q[iq[0]] = THIRD;
        q[iq[1]] = -THIRD - asin(0.5 * sin(THIRD));
        q[iq[2]] = 30 - 5 - sqrt(400 - 75);
        v[iv[0]] = 2, v[iv[1]] = -3;
    }
}

typedef struct caller {
    const expectation *expected;
    int first, times, wrong;
} caller;

static void *call(void *argument)
{
    caller *c = argument;
    const expectation *e = c->expected;
    for (int i = 0; i < c->times; i++) {
        const int k = (c->first + i) % CASES;
        double a[SPEEDS];
        c->wrong += lw_compiled_forward_dynamics(e->compiled, e->q[k], e->v[k], NULL, a) != LW_OK ||
                    memcmp(a, e->a[k], sizeof a) != 0;
    }
    return NULL;
}

static void threads_take_partitions_on_demand(void **state)
{
    (void)state;
    static expectation e;
    char where[200], caches[2][256];
    pthread_t thread[THREADS];
    caller callers[THREADS];
    lw_compiled *c[2] = {NULL, NULL};
    lw_error error = {0};
    skip_without_compiler();
    assert_non_null(getcwd(where, sizeof where));
    lw_model *model = slider_cranks();
    assert_int_equal(SPEEDS, lw_model_tree_nv(model));
    for (int i = 0; i < 2; i++) { // nothing is found
        snprintf(caches[i], sizeof caches[i], "%.150s/%s/%d", where, folder, i);
        const lw_compiled_desc desc = {
            .compiler = LW_C_COMPILER, .cache = caches[i], .lanes = 1, .on_demand = true};
        if (lw_compiled_create(model, &desc, &c[i], &error) != LW_OK) fail_msg("%s", error.text);
    }
    for (int k = 0; k < CASES; k++) {
        set_state(model, k, e.q[k], e.v[k]);
        OK(lw_compiled_forward_dynamics(c[0], e.q[k], e.v[k], NULL, e.a[k]));
    }
    assert_int_equal(CASES, lw_compiled_about(c[0]).partitions);
    e.compiled = c[1];
    for (int i = 0; i < THREADS; i++) { // two of them begin with the same
        callers[i] = (caller){.expected = &e, .first = 1 + i / 2, .times = TIMES * CASES};
        assert_int_equal(0, pthread_create(&thread[i], NULL, call, &callers[i]));
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(0, pthread_join(thread[i], NULL));
        assert_int_equal(0, callers[i].wrong);
    }
    assert_int_equal(CASES, lw_compiled_about(c[1]).partitions);
    lw_compiled_destroy(c[0]);
    lw_compiled_destroy(c[1]);
    lw_model_destroy(model);
}

// A compiler that waits for another one to run: only where the folder is there.
static const char waiting[] =
    "meet=\"$(dirname \"$0\")/meet\"\n"
    "if [ -d \"$meet\" ]; then\n"
    "    touch \"$meet/$$\"; n=0\n"
    "    while [ $(ls \"$meet\" | wc -l) -lt 2 ]; do\n"
    "        n=$((n + 1)); if [ $n -gt 400 ]; then echo 'error: alone' >&2; exit 1; fi\n"
    "        sleep 0.05\n"
    "    done\n"
    "fi";

static int count_files(const char *path)
{
    int n = 0;
    DIR *list = opendir(path);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) n += entry->d_name[0] != '.';
    closedir(list);
    return n;
}

// Two partitions are needed by two threads each: two compilers run, at the same time.
static void threads_compile_different_partitions_at_a_time(void **state)
{
    (void)state;
    enum { CALLERS = 4 };
    static expectation e;
    char script[300], meet[300];
    pthread_t thread[CALLERS];
    caller callers[CALLERS];
    skip_without_compiler();
    write_compiler("waiting", waiting, script);
    snprintf(meet, sizeof meet, "%s/meet", folder);
    new_cache("at-a-time");
    lw_model *model = slider_cranks();
    lw_compiled_desc desc = desc_of(1, false);
    desc.on_demand = true;
    lw_compiled *alone = compiled(model, desc);
    desc.compiler = script;
    lw_compiled *c = compiled(model, desc);
    for (int k = 0; k < CASES; k++) {
        set_state(model, k, e.q[k], e.v[k]);
        OK(lw_compiled_forward_dynamics(alone, e.q[k], e.v[k], NULL, e.a[k]));
    }
    assert_int_equal(0, mkdir(meet, 0700));
    e.compiled = c;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (caller){.expected = &e, .first = 1 + i / 2, .times = 1};
        assert_int_equal(0, pthread_create(&thread[i], NULL, call, &callers[i]));
    }
    for (int i = 0; i < CALLERS; i++) {
        assert_int_equal(0, pthread_join(thread[i], NULL));
        assert_int_equal(0, callers[i].wrong);
    }
    assert_int_equal(2, count_files(meet));
    assert_null(lw_compiled_about(c).refused);
    assert_int_equal(3, lw_compiled_about(c).partitions);
    lw_compiled_destroy(alone);
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

/** States at which rates are compared with those of single calls. */
typedef struct long_chain {
    const lw_compiled *compiled;
    int n;
    double *q, *v, *qdot, *vdot; ///< [STATES][n]
    lw_status status;
} long_chain;

static void *call_with_little_stack(void *of)
{
    static const double t[STATES];
    long_chain *c = of;
    c->status = lw_compiled_rates_many(c->compiled, STATES, t, c->q, c->v, NULL, NULL, c->qdot,
                                       c->vdot, NULL, NULL);
    return NULL;
}

// Arrays of lanes of a long model are larger than the stack of this thread.
static void many_states_of_long_models_need_little_stack(void **state)
{
    (void)state;
    skip_without_compiler();
    new_cache("stack");
    enum { N = 1200, STACK = 1 << 17 };
    static double q[STATES * N], v[STATES * N], qdot[STATES * N], vdot[STATES * N], one[2][N];
    lw_model *model = lwt_yaml("linkwork: 1\ngenerate: {chain: {n: 1200, seed: 1}}\n");
    lw_compiled *c = compiled(model, desc_of(8, true));
    long_chain chain = {c, N, q, v, qdot, vdot, LW_ERR_ARGUMENT};
    pthread_attr_t little;
    pthread_t thread;
    states(c, model, STATES, q, v);
    assert_int_equal(0, pthread_attr_init(&little));
    assert_int_equal(0, pthread_attr_setstacksize(&little, STACK));
    assert_int_equal(0, pthread_create(&thread, &little, call_with_little_stack, &chain));
    assert_int_equal(0, pthread_join(thread, NULL));
    OK(pthread_attr_destroy(&little));
    OK(chain.status);
    for (int k = 0; k < STATES; k++) {
        OK(lw_compiled_rates(c, 0, q + k * N, v + k * N, NULL, NULL, one[0], one[1], NULL));
        assert_memory_equal(one[0], qdot + k * N, sizeof one[0]);
        assert_memory_equal(one[1], vdot + k * N, sizeof one[1]);
    }
    lw_compiled_destroy(c);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_take_partitions_on_demand),
        cmocka_unit_test(threads_compile_different_partitions_at_a_time),
        cmocka_unit_test(many_states_of_long_models_need_little_stack),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
