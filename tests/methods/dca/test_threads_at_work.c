// test_threads_at_work.c -- option `threads` of hdca and dca: small mechanisms wake no thread, large ones are
// evaluated by all of them, with the same bits.
#include "methods/dca/hdca_cases.h"
#include "methods/dca/net_cases.h"

#include "support/run.h"
#include "tree/aba.h"

#include <stdatomic.h>

enum { LARGE = 2400 };

// What an evaluation calls of joints, each kind in a separate pass.
enum { POSE, SUBSPACE, RATE, KINDS };

// Threads that have done this for a joint, one bit each, and how often the busiest one did.
static _Atomic unsigned working[KINDS];
static _Atomic int numbers, calls[KINDS][32];

static void note_thread(int kind)
{
    static _Thread_local int number;
    if (number == 0) number = atomic_fetch_add(&numbers, 1) + 1;
    assert_true(number < 32);
    atomic_fetch_or(&working[kind], 1u << number);
    atomic_fetch_add(&calls[kind][number], 1);
}

// A hinge about z.
static void pose(const void *user, const double *q, double R[9], double r[3])
{
    const double c = cos(q[0]), s = sin(q[0]), turn[9] = {c, -s, 0, s, c, 0, 0, 0, 1};
    (void)user;
    note_thread(POSE);
    memcpy(R, turn, sizeof turn);
    r[0] = r[1] = r[2] = 0;
}

static void subspace(const void *user, const double *q, double S[][6])
{
    (void)user, (void)q;
    note_thread(SUBSPACE);
    for (int i = 0; i < 6; i++) S[0][i] = i == 5;
}

static void subspace_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    (void)user, (void)q, (void)u;
    note_thread(RATE);
    for (int i = 0; i < 6; i++) Sdot[0][i] = 0;
}

static void read(const void *user, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)user, (void)r;
    const double angle = atan2(R[3], R[0]);
    q[0] = near[0] + remainder(angle - near[0], 2 * 3.14159265358979323846);
}

static const lw_custom_joint hinge = {.name = "hinge",
                                      .nq = 1,
                                      .nv = 1,
                                      .pose = pose,
                                      .subspace = subspace,
                                      .subspace_rate = subspace_rate,
                                      .read = read};

// A chain of n rods of 1 m along x, hinged about z, with gravity along -y.
static lw_model *chain(int n)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    for (int i = 0; i < n; i++) {
        char body[24], joint[24];
        snprintf(body, sizeof body, "rod%d", i);
        snprintf(joint, sizeof joint, "hinge%d", i);
        const lw_body rod = lwt_body(b, &(lw_body_desc){.name = body,
                                                        .mass = 1,
                                                        .inertia = {0.01, 0.08, 0.08, 0, 0, 0},
                                                        .pose = {.position = {i + 0.5, 0, 0}}});
        lwt_add(b, &(lw_joint_desc){.name = joint,
                                    .type = LW_JOINT_CUSTOM,
                                    .custom = &hinge,
                                    .body1 = last,
                                    .body2 = rod,
                                    .at = {i, 0, 0},
                                    .axis = {0, 0, 1}});
        last = rod;
    }
    return lwt_model(b);
}

static lwi_work *with_threads(const lw_model *model, const lwi_formulation *formulation,
                              lw_options *options, int threads)
{
    lwi_work *work;
    lw_error error;
    lw_options_default(options);
    options->threads = threads;
    options->plan = LW_PLAN_BALANCED;
    lwt_ok(lwi_work_create_options(model, formulation, NULL, 0, options, &work, &error), &error);
    return work;
}

static void clear_counts(void)
{
    for (int kind = 0; kind < KINDS; kind++) {
        working[kind] = 0;
        for (int i = 0; i < 32; i++) calls[kind][i] = 0;
    }
}

// The rates near the start, the poses of which are known.
static void evaluate(lwi_work *work, double *xdot)
{
    double *x = lwt_start(work);
    x[0] += 1e-3;
    clear_counts();
    lwt_ok(work->formulation->rates(work, 0, x, NULL, xdot), &work->error);
    free(x);
}

// The number of threads that worked in the last evaluation; none did more than its share.
static void worked(int threads)
{
    for (int kind = 0; kind < KINDS; kind++) {
        int n = 0, all = 0, largest = 0;
        for (unsigned set = working[kind]; set; set &= set - 1) n++;
        for (int i = 0; i < 32; i++) {
            all += calls[kind][i];
            largest = calls[kind][i] > largest ? calls[kind][i] : largest;
        }
        assert_int_equal(n, threads);
        assert_true(largest <= all / threads + all / 50 + 1);
    }
}

static void small_mechanisms_wake_no_thread(void **state)
{
    (void)state;
    lw_options options;
    lw_model *model = chain(8);
    for (int which = 0; which < 2; which++) {
        lwi_work *work = with_threads(model, which ? &lwi_formulation_dca : HDCA, &options, 8);
        double *xdot = lwt_vector(work->layout.nx);
        if (!which) assert_null(lwi_hdca_system(work)->pool); // none is started
        evaluate(work, xdot);
        worked(1);
        lwi_work_destroy(work);
        free(xdot);
    }
    lw_model_destroy(model);
}

static void all_threads_work_on_large_mechanisms(void **state)
{
    (void)state;
    static const int threads[] = {2, 3, 8};
    lw_options options;
    lw_model *model = chain(LARGE);
    for (int which = 0; which < 2; which++) {
        const lwi_formulation *formulation = which ? &lwi_formulation_dca : HDCA;
        lwi_work *one = with_threads(model, formulation, &options, 1);
        double *alone = lwt_vector(one->layout.nx), *shared = lwt_vector(one->layout.nx);
        evaluate(one, alone);
        worked(1);
        for (int i = 0; i < LWI_COUNT(threads); i++) {
            lwi_work *all = with_threads(model, formulation, &options, threads[i]);
            evaluate(all, shared);
            worked(threads[i]);
            if (!which) { // positions, poses, momenta, rows, G, factors, solution, sums, rates
                const lwi_pool *pool = lwi_hdca_system(all)->pool;
                const unsigned long before = lwi_pool_rounds(pool);
                evaluate(all, shared);
                assert_true(lwi_pool_rounds(pool) - before >= 16);
            }
            assert_memory_equal(shared, alone, (size_t)one->layout.nx * sizeof *alone);
            lwi_work_destroy(all);
        }
        lwi_work_destroy(one);
        free(alone);
        free(shared);
    }
    lw_model_destroy(model);
}

// A row of the start.
static lwt_run row_of(const lw_model *model, const lwi_formulation *formulation, int threads)
{
    lw_options options;
    lwt_run run = lwt_run_work(with_threads(model, formulation, &options, threads), NULL);
    lwt_run_observe(&run);
    return run;
}

static void rows_have_the_bits_of_one_thread(const lw_model *model,
                                             const lwi_formulation *formulation)
{
    const size_t nbody = (size_t)model->nbody, nv = (size_t)model->nv;
    lwt_run one = row_of(model, formulation, 1), all = row_of(model, formulation, 8);
    const lwi_snapshot *a = &all.now, *b = &one.now;
    assert_true(all.work->threads);
    assert_memory_equal(a->quat, b->quat, nbody * sizeof *a->quat);
    assert_memory_equal(a->w, b->w, nbody * sizeof *a->w);
    assert_memory_equal(a->al, b->al, nbody * sizeof *a->al);
    assert_memory_equal(a->qdd, b->qdd, nv * sizeof *a->qdd);
    assert_memory_equal(a->reaction, b->reaction, (size_t)model->njoint * sizeof *a->reaction);
    lwt_run_end(&one);
    lwt_run_end(&all);
}

static lw_model *generated(lw_mechanism kind, int n)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){1, 2, -9.81});
    lwt_add_mechanism(b, (lw_mechanism_desc){.mechanism = kind, .n = n, .seed = 1});
    return lwt_model(b);
}

// A floating hub with paths of n rods that branch twice, which are evaluated in segments.
static lw_model *branches(int n)
{
    lwt_net net = lwt_net_begin(3);
    const lw_vec3 origin = {1, 2, 3};
    const lw_body hub = lwt_net_hub(&net, lwt_ground, LW_JOINT_FREE, origin);
    lwt_net_branches(&net, hub, origin, n, 3, 2);
    return lwt_model(net.builder);
}

// Number of bodies that is no multiple of the lanes.
static void rows_of_trees_have_the_bits_of_one_thread(void **state)
{
    (void)state;
    lw_model *line = generated(LW_MECHANISM_CHAIN, 2405),
             *tree = generated(LW_MECHANISM_TREE, 4001), *rope = branches(100);
    rows_have_the_bits_of_one_thread(line, HDCA);
    rows_have_the_bits_of_one_thread(line, &lwi_formulation_dca);
    rows_have_the_bits_of_one_thread(rope, HDCA);
    rows_have_the_bits_of_one_thread(rope, &lwi_formulation_dca);
    rows_have_the_bits_of_one_thread(tree, &lwi_formulation_aba);
    rows_have_the_bits_of_one_thread(tree, &lwi_formulation_momenta);
    lw_model_destroy(line);
    lw_model_destroy(tree);
    lw_model_destroy(rope);
}

// Start, subtrees towards the ground, and away from it.
static void threads_share_the_articulated_recursion(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_tree_work work;
    lwi_pool *pool;
    lw_error error;
    lw_model *model = generated(LW_MECHANISM_TREE, 4001);
    const int nv = model->tree_nv;
    double *x = lwt_vector(model->tree_nq + nv), *vdot[2] = {lwt_vector(nv), lwt_vector(nv)};
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_tree_work_create(model, &arena, &work), LW_OK);
    lwi_articulated *node = LWI_PUSH(&arena, lwi_articulated, model->nnode);
    lwt_ok(lwi_pool_create(4, NULL, &pool, &error), &error);
    lwi_tree_evaluate(model, &work, 0, x, x + model->tree_nq, NULL);
    lwt_ok(lwi_aba(model, &work, node, 0, x + model->tree_nq, NULL, vdot[0], &error), &error);
    work.pool = pool;
    assert_int_equal(lwi_subtrees_create(model, pool, &arena, &work.subtrees), LW_OK);
    lwt_ok(lwi_aba(model, &work, node, 0, x + model->tree_nq, NULL, vdot[1], &error), &error);
    assert_int_equal(lwi_pool_rounds(pool), 3);
    assert_memory_equal(vdot[0], vdot[1], (size_t)nv * sizeof *x);
    x[model->tree_nq - 1] = NAN; // of the last node: the message is that of one thread
    lwi_tree_evaluate(model, &work, 0, x, x + model->tree_nq, NULL);
    const lw_status status =
        lwi_aba(model, &work, node, 0, x + model->tree_nq, NULL, vdot[1], &error);
    assert_int_equal(status, LW_ERR_NOT_FINITE);
    assert_non_null(strstr(error.text, "its position is not finite"));
    lwi_pool_destroy(pool);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(x), free(vdot[0]), free(vdot[1]);
}

// Poses, screws and their rates; a row of a chain in segments wakes the threads 35 times more than the speeds and
// accelerations of segments do, 27: for the motion of bodies, wrenches and what corrects them.
static void threads_share_rows_of_trees(void **state)
{
    (void)state;
    lwi_arena arena;
    lwi_tree_work work;
    lw_error error;
    lwi_pool *pool;
    lw_model *model = chain(LARGE);
    double *x = lwt_vector(model->tree_nq + model->tree_nv);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_tree_work_create(model, &arena, &work), LW_OK);
    lwt_ok(lwi_pool_create(4, NULL, &pool, &error), &error);
    work.pool = pool;
    clear_counts();
    lwi_tree_evaluate(model, &work, 0, x, x + model->tree_nq, NULL);
    worked(4);
    lwi_pool_destroy(pool);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
    free(x);
    model = generated(LW_MECHANISM_CHAIN, 2405);
    lwt_run run = row_of(model, HDCA, 4);
    const unsigned long before = lwi_pool_rounds(lwi_hdca_system(run.work)->pool);
    lwt_run_observe(&run);
    assert_int_equal(lwi_pool_rounds(lwi_hdca_system(run.work)->pool) - before, 27 + 35);
    lwt_run_end(&run);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_mechanisms_wake_no_thread),
        cmocka_unit_test(all_threads_work_on_large_mechanisms),
        cmocka_unit_test(rows_of_trees_have_the_bits_of_one_thread),
        cmocka_unit_test(threads_share_rows_of_trees),
        cmocka_unit_test(threads_share_the_articulated_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
