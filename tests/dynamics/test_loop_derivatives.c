// test_loop_derivatives.c -- derivatives of the dynamics of mechanisms with loops and of trees along their constraints,
// against differences of forward dynamics at neighbours that satisfy all joints.
//
// usage: test_loop_derivatives            all tests
//        test_loop_derivatives MODELS     compares so many random models, half of them trees, and prints what they were
#include "analysis/state.h"
#include "kinematics/displacement.h"
#include "support/mechanism.h"
#include "support/random_loops.h"
#include "support/rotors.h"

#include <linkwork/dynamics.h>

enum { NLOOPS = 40, SIDES = 3 };
static const double weight[SIDES] = {45.0 / 60, -9.0 / 60, 1.0 / 60};

/** A mechanism at its start, and its derivatives there. */
typedef struct bench {
    lw_model *model; // with rotors, on cut joints too
    lwi_arena arena;
    lwi_analysis_state s;
    lw_dynamics *d;
    int n, f;
    double *tau, *dtau, *vdot, *by_q, *by_v, *by_tau;
    double *y, *z, *near_y, *near_z;       // a direction, and a neighbour along it
    double *dq, *dv, *da, *expected, *out; // [n]
    double *near_tau;
} bench;

static void fill_direction(bench *b, uint64_t *seed)
{
    for (int k = 0; k < b->f; k++) {
        const double step = 0.1 * lwi_analysis_step(&b->s, k);
        b->y[k] = lwt_random(seed, -1, 1) * step;
        b->z[k] = lwt_random(seed, -1, 1) * step * 3;
    }
    for (int i = 0; i < b->n; i++) b->dtau[i] = 1e-3 * lwt_random(seed, -1, 1);
}

static bench bench_create(const lw_model *model, uint64_t *seed)
{
    bench b = {.model = lwt_with_rotors(model, *seed | 1)};
    lw_error error;
    lwi_arena_init(&b.arena, NULL);
    lwt_ok(lwi_analysis_state_create(b.model, 0, NULL, b.model->tree_v0, NULL, NULL, &b.arena, &b.s,
                                     &error),
           &error);
    lwt_ok(lw_dynamics_create(b.model, NULL, &b.d, &error), &error);
    b.n = b.s.manifold.n;
    b.f = b.s.manifold.f;
    double **const vector[] = {&b.tau, &b.vdot, &b.dq,     &b.dv,     &b.da,   &b.expected, &b.out,
                               &b.y,   &b.z,    &b.near_y, &b.near_z, &b.dtau, &b.near_tau};
    for (size_t i = 0; i < sizeof vector / sizeof *vector; i++) *vector[i] = lwt_vector(b.n);
    double **const square[] = {&b.by_q, &b.by_v, &b.by_tau};
    for (size_t i = 0; i < sizeof square / sizeof *square; i++) *square[i] = lwt_vector(b.n * b.n);
    for (int i = 0; i < b.n; i++) b.tau[i] = lwt_random(seed, -2, 2);
    lwt_ok(lw_forward_dynamics_derivatives(b.d, 0, b.s.q, b.s.v, b.tau, NULL, b.vdot, b.by_q,
                                           b.by_v, b.by_tau),
           lw_dynamics_error(b.d));
    return b;
}

static void bench_destroy(bench *b)
{
    double *const all[] = {b->tau,    b->vdot,   b->dq,   b->dv,      b->da,   b->expected,
                           b->out,    b->y,      b->z,    b->by_q,    b->by_v, b->by_tau,
                           b->near_y, b->near_z, b->dtau, b->near_tau};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    lw_dynamics_destroy(b->d);
    lwi_analysis_state_destroy(&b->s);
    lwi_arena_free(&b->arena);
    lw_model_destroy(b->model);
}

// Moves the state by `by` times the direction; the accelerations there in b->out.
static void neighbour(bench *b, double by)
{
    lw_error error;
    for (int k = 0; k < b->f; k++) b->near_y[k] = by * b->y[k];
    for (int k = 0; k < b->f; k++) b->near_z[k] = b->s.z[k] + by * b->z[k];
    lwt_ok(lwi_analysis_near(&b->s, b->near_y, b->near_z, false, b->out, &error), &error);
    for (int i = 0; i < b->n; i++) b->near_tau[i] = b->tau[i] + by * b->dtau[i];
    lwt_ok(lw_forward_dynamics(b->d, 0, b->s.near_q, b->s.near_v, b->near_tau, NULL, b->out),
           lw_dynamics_error(b->d));
}

// The derivatives of speeds and accelerations along the direction, by differences of order six.
static void by_differences(bench *b)
{
    memset(b->dv, 0, (size_t)b->n * sizeof *b->dv);
    memset(b->expected, 0, (size_t)b->n * sizeof *b->expected);
    for (int far = 0; far < SIDES; far++)
        for (int side = -1; side <= 1; side += 2) {
            neighbour(b, side * (far + 1));
            for (int i = 0; i < b->n; i++) b->dv[i] += side * weight[far] * b->s.near_v[i];
            for (int i = 0; i < b->n; i++) b->expected[i] += side * weight[far] * b->out[i];
        }
}

static void by_matrices(bench *b)
{
    const int n = b->n;
    for (int i = 0; i < n; i++) {
        b->dq[i] = 0;
        for (int k = 0; k < b->f; k++) b->dq[i] += b->y[k] * b->s.B[k * n + i];
    }
    for (int i = 0; i < n; i++) {
        b->da[i] = 0;
        for (int j = 0; j < n; j++)
            b->da[i] += b->by_q[i * n + j] * b->dq[j] + b->by_v[i * n + j] * b->dv[j] +
                        b->by_tau[i * n + j] * b->dtau[j];
    }
}

static double largest(const double *x, int n)
{
    double max = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(x[i]));
    return max;
}

/** What was compared. */
typedef struct tally {
    int trees, closed, redundant, driven, floating;
    double worst; ///< relative to the largest derivative along the direction
} tally;

static void count(const lw_model *m, int nredundant, tally *t)
{
    bool floating = false;
    for (int k = 0; k < m->nnode; k++) floating = floating || m->node[k].joint < 0;
    if (m->nloop + m->ncoupling > 0)
        t->closed++;
    else
        t->trees++;
    t->redundant += nredundant > 0;
    t->driven += m->driven;
    t->floating += floating;
}

// Along three directions at the start of a model.
static void check_along(const lw_model *model, int id, uint64_t *seed, tally *t)
{
    bench b = bench_create(model, seed);
    for (int way = 0; way < 3; way++) {
        fill_direction(&b, seed);
        by_differences(&b);
        by_matrices(&b);
        // rounding of accelerations, some 1e-13, divided by the step
        const double size = largest(b.expected, b.n) + 1e-4 * largest(b.vdot, b.n) + 1e-6;
        for (int i = 0; i < b.n; i++) {
            const double off = fabs(b.da[i] - b.expected[i]) / size;
            t->worst = fmax(t->worst, off);
            if (!(off <= 1e-8))
                fail_msg("seed %d, way %d, speed %d of %d: %.15g, expected %.15g (size %g)", id,
                         way, i, b.n, b.da[i], b.expected[i], size);
        }
    }
    bench_destroy(&b);
}

static int nmodels = 2 * NLOOPS; // half of them trees

static void test_along_constraints(void **state)
{
    (void)state;
    uint64_t seed = 11;
    tally t = {0};
    LWT_FOR_LOOPS(c, (uint64_t)(nmodels / 2), LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        count(c.model, c.nredundant, &t);
        check_along(c.model, (int)seed_, &seed, &t);
    }
    for (int i = 1; i <= nmodels / 2; i++) {
        lw_model *tree;
        assert_int_equal(lwt_random_tree((uint64_t)i, 1 + i % 20, LWT_ALL & ~LWT_CUSTOM, &tree),
                         LW_OK);
        count(tree, 0, &t);
        check_along(tree, i, &seed, &t);
        lw_model_destroy(tree);
    }
    print_message("%d trees, %d with loops or couplings, %d of them redundant; %d driven, %d "
                  "floating; largest difference %.3g\n",
                  t.trees, t.closed, t.redundant, t.driven, t.floating, t.worst);
    assert_true(t.trees > 0 && t.closed > 0 && t.redundant > 0 && t.driven > 0 && t.floating > 0);
}

// Springs and dampers on all joints of a four-bar, that of the loop too.
static void test_springs_in_a_loop(void **state)
{
    (void)state;
    uint64_t seed = 2;
    lw_builder *builder = lwt_builder();
    const lw_body crank = lwt_rod(builder, "crank", 0, 0, 0.2, 0.3, 1),
                  coupler = lwt_rod(builder, "coupler", 0.2, 0.3, 1.1, 0.7, 1),
                  rocker = lwt_rod(builder, "rocker", 1, 0, 1.1, 0.7, 1);
    const struct {
        lw_body a, b;
        double x, y;
    } joint[] = {{lwt_ground, crank, 0, 0},
                 {crank, coupler, 0.2, 0.3},
                 {coupler, rocker, 1.1, 0.7},
                 {lwt_ground, rocker, 1, 0}};
    for (int i = 0; i < 4; i++)
        lwt_add(builder, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                          .body1 = joint[i].a,
                                          .body2 = joint[i].b,
                                          .axis = {0, 0, 1},
                                          .at = {joint[i].x, joint[i].y, 0},
                                          .coordinate[0] = {.stiffness = 3 + i, .damping = 1 + i}});
    lwt_loops c = {.model = lwt_model(builder)};
    bench b = bench_create(c.model, &seed);
    for (int way = 0; way < 3; way++) {
        fill_direction(&b, &seed);
        by_differences(&b);
        by_matrices(&b);
        const double size = largest(b.expected, b.n) + 1e-4 * largest(b.vdot, b.n);
        for (int i = 0; i < b.n; i++) assert_true(fabs(b.da[i] - b.expected[i]) <= 1e-9 * size);
    }
    bench_destroy(&b);
    lw_model_destroy(c.model);
}

// Accelerations are linear in the efforts, redundant rows or not.
static void test_by_efforts(void **state)
{
    (void)state;
    uint64_t seed = 3;
    LWT_FOR_LOOPS(c, NLOOPS / 2, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        bench b = bench_create(c.model, &seed);
        for (int j = 0; j < b.n; j++) {
            b.tau[j] += 1;
            lwt_ok(lw_forward_dynamics(b.d, 0, b.s.q, b.s.v, b.tau, NULL, b.out),
                   lw_dynamics_error(b.d));
            b.tau[j] -= 1;
            const double size = 1 + largest(b.out, b.n) + largest(b.vdot, b.n);
            for (int i = 0; i < b.n; i++)
                if (!(fabs(b.by_tau[i * b.n + j] - (b.out[i] - b.vdot[i])) <= 1e-10 * size))
                    fail_msg("seed %d, %d by %d: %.15g, expected %.15g", (int)seed_, i, j,
                             b.by_tau[i * b.n + j], b.out[i] - b.vdot[i]);
        }
        bench_destroy(&b);
    }
}

// M vdot + h at q and v moved by `by` times the directions b->dq and b->dv.
static void effort_at(bench *b, double by)
{
    const int n = b->n;
    double *q = lwt_vector(b->model->tree_nq), *v = lwt_vector(n), *M = lwt_vector(n * n);
    memcpy(q, b->s.q, (size_t)b->model->tree_nq * sizeof *q);
    for (int i = 0; i < n; i++) b->out[i] = by * b->dq[i];
    lwi_displace(b->model, q, b->out);
    for (int i = 0; i < n; i++) v[i] = b->s.v[i] + by * b->dv[i];
    lwt_ok(lw_constraints_tree(b->s.manifold.constraints, 0, q, v, NULL, M, b->out), NULL);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) b->out[i] += M[i * n + j] * b->vdot[j];
    free(q), free(v), free(M);
}

// Of the tree's efforts, by directions that open the loops too.
static void test_efforts_of_the_tree(void **state)
{
    (void)state;
    uint64_t seed = 7;
    LWT_FOR_LOOPS(c, NLOOPS / 2, LWT_LOOP_ALL & ~LWT_CUSTOM)
    {
        bench b = bench_create(c.model, &seed);
        lwt_ok(lw_inverse_dynamics_derivatives(b.d, 0, b.s.q, b.s.v, b.vdot, NULL, b.by_q, b.by_v,
                                               b.by_tau),
               lw_dynamics_error(b.d));
        for (int i = 0; i < b.n; i++) b.dq[i] = lwt_random(&seed, -1e-3, 1e-3);
        for (int i = 0; i < b.n; i++) b.dv[i] = lwt_random(&seed, -3e-3, 3e-3);
        memset(b.expected, 0, (size_t)b.n * sizeof *b.expected);
        for (int far = 0; far < SIDES; far++)
            for (int side = -1; side <= 1; side += 2) {
                effort_at(&b, side * (far + 1));
                for (int i = 0; i < b.n; i++) b.expected[i] += side * weight[far] * b.out[i];
            }
        const double size = 1e-3 * (largest(b.by_q, b.n * b.n) + largest(b.by_v, b.n * b.n));
        for (int i = 0; i < b.n; i++) {
            double da = 0;
            for (int j = 0; j < b.n; j++)
                da += b.by_q[i * b.n + j] * b.dq[j] + b.by_v[i * b.n + j] * b.dv[j];
            if (!(fabs(da - b.expected[i]) <= 1e-8 * size))
                fail_msg("seed %d, speed %d: %.15g, expected %.15g (size %g)", (int)seed_, i, da,
                         b.expected[i], size);
        }
        bench_destroy(&b);
    }
}

// Rows of a caller's joint are not known.
static void test_joints_of_callers(void **state)
{
    (void)state;
    int refused = 0;
    LWT_FOR_LOOPS(c, 20, LWT_LOOP_ALL)
    {
        lw_dynamics *d;
        lw_error error;
        const int n = lw_model_tree_nv(c.model);
        lwt_ok(lw_dynamics_create(c.model, NULL, &d, &error), &error);
        double *q = lwt_vector(c.model->tree_nq), *v = lwt_vector(n),
               *out = lwt_vector(4 * n * n + n);
        lw_model_tree_start(c.model, q, v);
        const lw_status status = lw_forward_dynamics_derivatives(
            d, 0, q, v, NULL, NULL, out, out + n, out + n + n * n, out + n + 2 * n * n);
        if (status == LW_ERR_UNSUPPORTED) {
            assert_non_null(
                strstr(lw_dynamics_error(d)->text, "defined by functions of the caller"));
            refused++;
        } else {
            lwt_ok(status, lw_dynamics_error(d));
        }
        free(q), free(v), free(out);
        lw_dynamics_destroy(d);
    }
    assert_true(refused > 0 && refused < 20);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest along[] = {cmocka_unit_test(test_along_constraints)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_along_constraints), cmocka_unit_test(test_by_efforts),
        cmocka_unit_test(test_springs_in_a_loop), cmocka_unit_test(test_efforts_of_the_tree),
        cmocka_unit_test(test_joints_of_callers)};
    if (argc > 1) {
        nmodels = atoi(argv[1]);
        return nmodels < 2 ? 2 : cmocka_run_group_tests(along, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
