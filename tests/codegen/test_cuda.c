// test_cuda.c -- kernels for many instances, compiled for the processor, against the functions of NAME.c, against runs of the
// library, and against the same numbers in one launch and in several.
#include "generated.h"

#include "codegen/cuda.h"
#include "support/given.h"
#include "support/random_model.h"

enum { N = 5, MOST = 64, BODIES = 32, STATE = 2 * MOST, OBSERVED = STATE + 3 * BODIES };

typedef void kernel(lwi_cuda_run run);
typedef void two(const double *, double *);
typedef void three(const double *, const double *, double *);
typedef int fails_one(double *);
typedef int fails_two(const double *, double *);
typedef int four(const double *, const double *, const double *, double *);

typedef struct code {
    const char *name;
    const lw_model *model;
    bool closed;
    double effort, time; // of instances but the first [N m]; of a run
    int nq, nv, ns, nbody, rows;
    four *forward;
    three *rates;
    fails_one *positions;
    fails_two *velocities;
    void (*residuals)(const double *, const double *, double *, double *);
    void (*poses)(const double *, double *, double *);
    kernel *rk4, *dopri54, *close;
} code;

// Of N instances; floats only in `run`.
typedef struct arrays {
    double state[STATE * N], tau[4 * MOST * N], end[N], length[N], trajectory[4 * STATE * N],
        measure[3 * OBSERVED * N];
    int status[N], count[N], column[OBSERVED];
    lwi_cuda_run run;
} arrays;

static void write_cuda(const lw_model *model, const char *group, const char *name, bool single)
{
    const lw_codegen_desc desc = {.name = name, .cuda = true, .single_precision = single};
    write_code(model, group, &desc);
}

static void *compile_cuda(const char *group)
{
    return compile_with(group, "-x c */*.cu");
}

static code open_code(const lw_model *model, void *library, const char *name)
{
    code c = {.name = name, .model = model};
    lw_constraints *rows;
    lw_error error = {0};
    OK(lw_constraints_create(model, NULL, &rows, &error));
    c.rows = lw_constraints_count(rows), c.closed = c.rows > 0;
    assert_true(c.rows < STATE);
    lw_constraints_destroy(rows);
    c.nq = lw_model_tree_nq(model), c.nv = lw_model_tree_nv(model), c.ns = c.nq + c.nv;
    c.nbody = lw_model_body_count(model);
    assert_true(c.nq <= MOST && c.nbody <= BODIES);
    find(library, name, "forward_dynamics", &c.forward);
    find(library, name, "coordinate_rates", &c.rates);
    find(library, name, "kinematics", &c.poses);
    if (c.closed) find(library, name, "project_positions", &c.positions);
    if (c.closed) find(library, name, "project_velocities", &c.velocities);
    if (c.closed) find(library, name, "constraints", &c.residuals);
    find(library, name, "rk4", &c.rk4);
    find(library, name, "dopri54", &c.dopri54);
    find(library, name, "close", &c.close);
    return c;
}

// ------------------------------------------------------------------------------ a second integrator

static int slope(const code *c, const double *y, const double *u, double *k)
{
    double vdot[MOST];
    // its value is not defined for trees, where the function is void
    const int failed = c->forward(y, y + c->nq, u, vdot);
    if (c->closed && failed) return failed;
    c->rates(y, y + c->nq, k);
    for (int j = 0; j < c->nv; j++) k[c->nq + j] = vdot[j];
    return 0;
}

static int close_state(const code *c, double *y)
{
    if (!c->closed) return 0;
    const int failed = c->positions(y);
    return failed ? failed : c->velocities(y, y + c->nq);
}

// The classical method as in books: k1 ... k4.
static int step(const code *c, double h, const double *u, double *y)
{
    double k[4][STATE], x[STATE];
    for (int s = 0; s < 4; s++) {
        for (int j = 0; j < c->ns; j++)
            x[j] = y[j] + (s == 0 ? 0 : s == 3 ? h * k[2][j] : h / 2 * k[s - 1][j]);
        const int failed = slope(c, x, u, k[s]);
        if (failed) return failed;
    }
    for (int j = 0; j < c->ns; j++)
        x[j] = y[j] + h / 6 * (k[0][j] + 2 * k[1][j] + 2 * k[2][j] + k[3][j]);
    const int failed = close_state(c, x);
    if (!failed) memcpy(y, x, (size_t)c->ns * sizeof *y);
    return failed;
}

static void observed(const code *c, const double *y, double *o)
{
    double R[9 * BODIES];
    memcpy(o, y, (size_t)c->ns * sizeof *o);
    c->poses(y, R, o + c->ns);
}

// ------------------------------------------------------------------------------------------ states

// Instance 0 at the start of the model without efforts, others near it with some.
static void fill(const code *c, arrays *a)
{
    uint64_t seed = 5;
    memset(a, 0, sizeof *a);
    for (int i = 0; i < N; i++) {
        double y[STATE];
        lw_model_tree_start(c->model, y, y + c->nq);
        for (int j = 0; i > 0 && j < c->nq; j++) y[j] += lwt_random(&seed, -0.05, 0.05);
        for (int j = c->nq; i > 0 && j < c->ns; j++) y[j] += lwt_random(&seed, -0.2, 0.2);
        for (int j = 0; j < c->ns; j++) a->state[j * N + i] = y[j];
        for (int j = 0; i > 0 && j < 4 * c->nv; j++)
            a->tau[j * N + i] = c->effort * lwt_random(&seed, -1, 1);
    }
    a->run = (lwi_cuda_run){.instances = N,
                            .intervals = 3,
                            .steps = 4,
                            .max_steps = 1000,
                            .interval = 0.01,
                            .rtol = 1e-9,
                            .atol = 1e-9,
                            .tau = a->tau,
                            .state = a->state,
                            .end = a->end,
                            .status = a->status,
                            .count = a->count,
                            .length = a->length,
                            .column = a->column,
                            .measure = a->measure};
    if (!c->closed) return;
    c->close(a->run);
    for (int i = 0; i < N; i++) assert_int_equal(0, a->status[i]);
}

static void state_of(const code *c, const double *packed, int i, double *y)
{
    for (int j = 0; j < c->ns; j++) y[j] = packed[j * N + i];
}

// ------------------------------------------------------------------------------------------ claims

// States at the ends of intervals with other inputs in each, and minimum, maximum and integral of all entries.
static void rk4_is_that_of_the_functions(const code *c)
{
    static arrays a, start;
    fill(c, &a);
    start = a;
    const int no = c->ns + 3 * c->nbody;
    a.run.ncolumn = no, a.run.nposition = 1, a.run.fresh = 1, a.run.trajectory = a.trajectory;
    for (int j = 0; j < no; j++) a.column[j] = no - 1 - j;
    c->rk4(a.run);
    for (int i = 0; i < N; i++) {
        double y[STATE], o[OBSERVED], low[OBSERVED], high[OBSERVED],
            sum[OBSERVED] = {0}, u[MOST], got[OBSERVED], before[OBSERVED];
        const double h = a.run.interval / a.run.steps;
        state_of(c, start.state, i, y);
        observed(c, y, o);
        memcpy(low, o, sizeof o), memcpy(high, o, sizeof o);
        for (int k = 0; k < a.run.intervals; k++) {
            for (int j = 0; j < c->nv; j++) u[j] = a.tau[(k * c->nv + j) * N + i];
            for (int s = 0; s < a.run.steps; s++) {
                memcpy(before, o, sizeof o);
                assert_int_equal(0, step(c, h, u, y));
                observed(c, y, o);
                for (int j = 0; j < no; j++) {
                    low[j] = fmin(low[j], o[j]), high[j] = fmax(high[j], o[j]);
                    sum[j] += h / 2 * (before[j] + o[j]);
                }
            }
            state_of(c, a.trajectory + k * c->ns * N, i, got);
            expect_close(c->name, "state", got, y, c->ns, 1e-11);
        }
        assert_int_equal(0, a.status[i]);
        assert_int_equal(a.run.intervals * a.run.steps, a.count[i]);
        assert_true(a.end[i] == 0.02 + 0.01);
        state_of(c, a.state, i, got);
        expect_close(c->name, "last state", got, y, c->ns, 1e-11);
        const double *expected[] = {low, high, sum};
        for (int m = 0; m < 3; m++) {
            for (int j = 0; j < no; j++) got[no - 1 - j] = a.measure[(3 * j + m) * N + i];
            expect_close(c->name, "measure", got, expected[m], no, 1e-11);
        }
    }
}

// One launch of three intervals and three of one have the same bits, measures included.
static void launches_continue(const code *c, kernel *integrate)
{
    static arrays one, many;
    fill(c, &one);
    one.run.ncolumn = c->ns, one.run.fresh = 1;
    for (int j = 0; j < c->ns; j++) one.column[j] = j;
    many = one;
    many.run.state = many.state, many.run.end = many.end, many.run.status = many.status;
    many.run.count = many.count, many.run.length = many.length, many.run.column = many.column;
    many.run.measure = many.measure;
    integrate(one.run);
    many.run.intervals = 1;
    for (int k = 0; k < 3; k++) {
        many.run.tau = many.tau + k * c->nv * N;
        many.run.time = k * many.run.interval;
        many.run.fresh = k == 0;
        integrate(many.run);
    }
    assert_memory_equal(one.state, many.state, sizeof one.state);
    assert_memory_equal(one.measure, many.measure, sizeof one.measure);
    assert_memory_equal(one.count, many.count, sizeof one.count);
    assert_memory_equal(one.length, many.length, sizeof one.length);
    for (int i = 0; i < N; i++) assert_int_equal(integrate == c->dopri54, one.length[i] > 0);
}

static void centres(const code *c, kernel *integrate, int steps, double *r)
{
    static arrays a;
    double y[STATE], o[OBSERVED];
    fill(c, &a);
    a.run.instances = 1;
    for (int j = 0; j < c->ns; j++) a.state[j] = a.state[j * N];
    a.run.tau = NULL, a.run.intervals = 1, a.run.interval = c->time, a.run.steps = steps;
    a.run.rtol = a.run.atol = 1e-12;
    integrate(a.run);
    assert_int_equal(0, a.status[0]);
    memcpy(y, a.state, sizeof y);
    observed(c, y, o);
    memcpy(r, o + c->ns, (size_t)(3 * c->nbody) * sizeof *r);
}

// Mass centres after some time are those of a run of the library, which has another method and other equations.
static void runs_are_those_of_the_library(const code *c)
{
    double got[3 * BODIES], y[STATE], start[OBSERVED], moved = 0;
    const int n = 3 * c->nbody - 3; // not of the ground
    lw_sim *sim;
    lw_options options;
    lw_error error = {0};
    const lw_observation *seen;
    lw_options_default(&options);
    OK(lw_options_set(&options, "integrator", "verner87", &error));
    options.rtol = options.atol = 1e-12;
    const lw_sim_desc desc = {.options = &options};
    if (lw_sim_create(c->model, &desc, &sim, &error) != LW_OK) fail_msg("%s", error.text);
    OK(lw_sim_step(sim, c->time));
    OK(lw_sim_observe(sim, LW_OBSERVE_TWIST, &seen));
    const double *expected = &seen->position[1][0];
    centres(c, c->rk4, 400, got);
    expect_close(c->name, "mass centre by rk4", got + 3, expected, n, 1e-11);
    centres(c, c->dopri54, 0, got);
    expect_close(c->name, "mass centre by dopri54", got + 3, expected, n, 1e-10);
    lw_model_tree_start(c->model, y, y + c->nq);
    observed(c, y, start);
    for (int j = 0; j < n; j++) moved = fmax(moved, fabs(got[3 + j] - start[c->ns + 3 + j]));
    if (!(moved > 1e-4)) fail_msg("%s: moved by %g only", c->name, moved);
    lw_sim_destroy(sim);
}

// Steps that are not accurate do not open the loops.
static void loops_stay_closed(const code *c, kernel *integrate)
{
    static arrays a;
    double y[STATE], phi[STATE], rate[STATE];
    if (!c->closed) return;
    fill(c, &a);
    a.run.intervals = 1, a.run.interval = 0.02, a.run.steps = 4, a.run.rtol = a.run.atol = 1e-3;
    integrate(a.run);
    for (int i = 0; i < N; i++) {
        assert_int_equal(0, a.status[i]);
        state_of(c, a.state, i, y);
        c->residuals(y, y + c->nq, phi, rate);
        const double speed = 1 + largest(y + c->nq, c->nv);
        for (int j = 0; j < c->rows; j++)
            if (!(fabs(phi[j]) < 1e-11 && fabs(rate[j]) < 1e-11 * speed))
                fail_msg("%s: row %d is off by %g, %g", c->name, j, phi[j], rate[j]);
    }
}

// Each instance has its own steps, and numbers do not depend on the others.
static void adaptive_instances_are_alone(const code *c)
{
    static arrays all, one;
    fill(c, &all);
    all.run.ncolumn = 0;
    for (int j = 0; j < c->nv; j++)
        for (int k = 0; k < 3; k++) all.tau[(k * c->nv + j) * N + 1] *= 200;
    const arrays start = all;
    c->dopri54(all.run);
    for (int i = 0; i < N; i++) {
        fill(c, &one);
        one.run.instances = 1, one.run.ncolumn = 0;
        for (int j = 0; j < c->ns; j++) one.state[j] = start.state[j * N + i];
        for (int j = 0; j < 3 * c->nv; j++) one.tau[j] = start.tau[j * N + i];
        c->dopri54(one.run);
        assert_int_equal(one.status[0], all.status[i]);
        assert_int_equal(one.count[0], all.count[i]);
        for (int j = 0; j < c->ns; j++) assert_true(one.state[j] == all.state[j * N + i]);
    }
    assert_true(all.count[1] > all.count[0]);
}

// What is not possible concerns one instance: it keeps its last state, and its status says why.
static void failures_stay_alone(const code *c)
{
    static arrays good, bad;
    fill(c, &good);
    bad = good;
    bad.run.state = bad.state, bad.run.end = bad.end, bad.run.status = bad.status,
    bad.run.count = bad.count;
    bad.status[2] = 7;
    bad.end[2] = 0.5;
    bad.state[c->nq * N + 3] = NAN;
    bad.run.intervals = 3, bad.run.trajectory = bad.trajectory;
    good.run.intervals = 3;
    for (int j = 0; j < 3 * c->ns * N; j++) bad.trajectory[j] = 77;
    const arrays start = bad;
    c->rk4(good.run);
    c->rk4(bad.run);
    assert_int_equal(7, bad.status[2]);
    assert_true(bad.status[3] != 0);
    assert_int_equal(0, bad.count[2]);
    assert_int_equal(0, bad.count[3]);
    assert_true(bad.end[2] == 0.5);
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < c->ns; j++)
            for (int i = 2; i < 4; i++)
                assert_memory_equal(&start.state[j * N + i],
                                    &bad.trajectory[(k * c->ns + j) * N + i], sizeof(double));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < c->ns; j++) {
            const double *expected =
                i == 2 || i == 3 ? &start.state[j * N + i] : &good.state[j * N + i];
            assert_memory_equal(expected, &bad.state[j * N + i], sizeof *expected);
        }
    fill(c, &bad);
    bad.run.max_steps = 3, bad.run.rtol = bad.run.atol = 1e-13;
    c->dopri54(bad.run);
    for (int i = 0; i < N; i++) {
        assert_int_equal(-3, bad.status[i]);
        assert_true(bad.end[i] < 0.03);
    }
}

// ------------------------------------------------------------------------------------------- tests

static const char chain[] = "linkwork: 1\ngenerate: {chain: {n: 9}}\n";

static const struct {
    const char *file, *name;
    lw_base base;
    double effort, time;
} cases[] = {
    {"examples/models/ur5.urdf", "ur5", LW_BASE_FIXED, 1, 0.1},
    {"examples/models/ur5.urdf", "floating", LW_BASE_FLOATING, 1, 0.1},
    {NULL, "chain", LW_BASE_AUTO, 1, 0.1},
    {"examples/models/four_bar.yaml", "four_bar", LW_BASE_AUTO, 1, 0.1},
    {"examples/models/wishbone_corner.yaml", "corner", LW_BASE_AUTO, 1, 0.1},
    {"tests/models/parallel/robot_delta/robot.urdf", "delta", LW_BASE_AUTO, 1e-4, 0.03},
};
enum { CASES = sizeof cases / sizeof *cases };

static void kernels_integrate(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model[CASES];
    for (int i = 0; i < CASES; i++) {
        model[i] = cases[i].file ? read_model(cases[i].file, cases[i].base) : lwt_yaml(chain);
        write_cuda(model[i], "double", cases[i].name, false);
    }
    void *library = compile_cuda("double");
    for (int i = 0; i < CASES; i++) {
        code c = open_code(model[i], library, cases[i].name);
        c.effort = cases[i].effort, c.time = cases[i].time;
        rk4_is_that_of_the_functions(&c);
        launches_continue(&c, c.rk4);
        launches_continue(&c, c.dopri54);
        runs_are_those_of_the_library(&c);
        loops_stay_closed(&c, c.rk4);
        loops_stay_closed(&c, c.dopri54);
        adaptive_instances_are_alone(&c);
        failures_stay_alone(&c);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// A driven carriage with a pendulum and a servo with a lag, and a loop of which the crank is driven.
static const char timed[] =
    "linkwork: 1\ninputs: [u1]\n"
    "bodies:\n"
    "  a: {mass: 1.3, inertia: [0.02, 0.03, 0.04, 0, 0, 0], position: [0.15, 0, 0.2]}\n"
    "  b: {mass: 0.9, inertia: [0.03, 0.02, 0.03, 0, 0, 0], position: [0.55, 0, 0.3]}\n"
    "  c: {mass: 0.6, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [0.8, 0, 0.1]}\n"
    "  carriage: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, 0, 2]}\n"
    "  bob: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 2]}\n"
    "functions: {angle: {type: formula, of: 0.4*(1 - cos(1.3*t))}, push: {type: polynomial, "
    "coefficients: [0, 0, 2]}}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0], motion: {q0: "
    "angle}, cut: always}\n"
    "  B: {type: revolute, between: [a, b], at: [0.3, 0, 0.4], axis: [0, 1, 0]}\n"
    "  C: {type: revolute, between: [b, c], at: [0.8, 0, 0.2], axis: [0, 1, 0]}\n"
    "  D: {type: prismatic, between: [ground, c], at: [0.9, 0, 0], axis: [1, 0, 0]}\n"
    "  rail: {type: prismatic, between: [ground, carriage], at: [0, 0, 2], axis: [1, 0, 0], "
    "motion: {q0: push}}\n"
    "  hinge: {type: revolute, between: [carriage, bob], at: [0, 0, 2], axis: [0, 1, 0]}\n"
    "forces: {f: {type: servo, joint: hinge, target: u1, kp: 3, kd: 1, lag: 20 ms}}\n";

// As the generated headers declare it.
typedef struct start {
    int version, nq, nv, nx, nu;
    const double *q0, *v0, *x0;
} start;

static void run_timed(const lw_model *model, void *library, bool adaptive)
{
    static arrays a;
    static const double u[2] = {0.7, -0.4};
    const start *from;
    const lw_observation *seen;
    kernel *integrate;
    double q[MOST], v[MOST];
    find(library, "timed", "model", &from);
    find(library, "timed", adaptive ? "dopri54" : "rk4", &integrate);
    const int nq = from->nq, nv = from->nv;
    assert_int_equal(1, from->nx);
    memset(&a, 0, sizeof a);
    memcpy(a.state, from->q0, (size_t)nq * sizeof *q);
    memcpy(a.state + nq, from->v0, (size_t)nv * sizeof *v);
    a.state[nq + nv] = from->x0[0];
    a.column[0] = nq + nv + 1 + 3 * 4; // x of the carriage
    a.run = (lwi_cuda_run){.instances = 1, .intervals = 2, .steps = 200, .max_steps = 100000};
    a.run.interval = 0.1, a.run.rtol = a.run.atol = 1e-12;
    a.run.u = u, a.run.state = a.state, a.run.end = a.end, a.run.status = a.status;
    a.run.count = a.count, a.run.length = a.length;
    a.run.ncolumn = a.run.nposition = a.run.fresh = 1;
    a.run.column = a.column, a.run.measure = a.measure;
    integrate(a.run);
    assert_int_equal(0, a.status[0]);
    lw_sim *sim =
        lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "rtol", "1e-12", "atol", "1e-12"));
    for (int k = 0; k < 2; k++) {
        OK(lw_sim_set_input(sim, 0, u[k]));
        OK(lw_sim_step(sim, 0.1 * (k + 1)));
    }
    OK(lw_sim_get_tree(sim, q, v));
    OK(lw_sim_observe(sim, LW_OBSERVE_TWIST, &seen));
    expect_close("timed", "coordinate", a.state, q, nq, 1e-8);
    expect_close("timed", "speed", a.state + nq, v, nv, 1e-8);
    expect_close("timed", "state of the servo", a.state + nq + nv, seen->states, 1, 1e-8);
    expect_close("timed", "path of the carriage", a.measure, (double[]){0, 2 * 0.2 * 0.2}, 2,
                 1e-12);
    lw_sim_destroy(sim);
}

// Time, inputs and states of signals reach the rates, the projections and the positions.
static void functions_of_time_are_those_of_the_library(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model = lwt_yaml(timed);
    write_cuda(model, "timed", "timed", false);
    void *library = compile_cuda("timed");
    run_timed(model, library, false);
    run_timed(model, library, true);
    dlclose(library);
    lw_model_destroy(model);
}

// Floats: within their accuracy of doubles, and loops close.
static void single_precision_is_close(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model[CASES];
    static arrays a;
    static float y[STATE * N], tau[4 * MOST * N];
    for (int i = 0; i < CASES; i++) {
        model[i] = cases[i].file ? read_model(cases[i].file, cases[i].base) : lwt_yaml(chain);
        write_cuda(model[i], "single", cases[i].name, true);
    }
    void *library = compile_cuda("single");
    for (int i = 0; i < CASES; i++) {
        code c = open_code(model[i], library, cases[i].name);
        kernel *closing = c.close;
        c.effort = cases[i].effort, c.closed = false; // `fill` calls kernels for doubles
        fill(&c, &a);
        a.run.interval = 0.002, a.run.state = y, a.run.tau = tau;
        for (int j = 0; j < c.ns * N; j++) y[j] = (float)a.state[j];
        for (int j = 0; j < 4 * c.nv * N; j++) tau[j] = (float)a.tau[j];
        closing(a.run);
        for (int k = 0; k < N; k++) assert_int_equal(0, a.status[k]);
        double before[STATE], got[STATE];
        for (int j = 0; j < c.ns; j++) before[j] = (double)y[j * N + 1];
        c.rk4(a.run);
        for (int k = 0; k < N; k++) assert_int_equal(0, a.status[k]);
        c.closed = c.positions != NULL;
        for (int s = 0; s < 12; s++) {
            double u[MOST];
            for (int j = 0; j < c.nv; j++) u[j] = (double)tau[((s / 4) * c.nv + j) * N + 1];
            assert_int_equal(0, step(&c, 0.0005, u, before));
        }
        for (int j = 0; j < c.ns; j++) got[j] = (double)y[j * N + 1];
        expect_close(c.name, "state in single precision", got, before, c.nq, 1e-4);
        expect_close(c.name, "speed in single precision", got + c.nq, before + c.nq, c.nv, 1e-3);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// NAME.c has doubles only.
static void single_precision_needs_kernels(void **state)
{
    (void)state;
    char path[200];
    lw_error error = {0};
    lw_model *model = lwt_yaml(chain);
    snprintf(path, sizeof path, "%s/refused", folder);
    const lw_codegen_desc desc = {.name = "m", .single_precision = true};
    assert_int_equal(LW_ERR_ARGUMENT, lw_codegen_write(model, &desc, path, NULL, &error));
    assert_non_null(strstr(error.text, "expected with CUDA only"));
    assert_int_not_equal(0, access(path, F_OK)); // no file was written
    lw_model_destroy(model);
}

// One instance is where the columns of two angles are parallel: it ends there, with the number that forward_dynamics returns.
static void small_pivots_end_an_instance(void **state)
{
    (void)state;
    skip_without_compiler();
    static arrays a, before;
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    write_cuda(model, "pivot", "pivot", false);
    void *library = compile_cuda("pivot");
    code c = open_code(model, library, "pivot");
    kernel *const integrate[] = {c.rk4, c.dopri54};
    const int *dependent = dlsym(library, "pivot_dependent");
    assert_non_null(dependent);
    for (int m = 0; m < 2; m++) {
        double y[STATE], vdot[MOST], zeros[MOST] = {0};
        int failed = 0;
        fill(&c, &a);
        a.run.tau = NULL;
        state_of(&c, a.state, 2, y);
        for (int i = 0; i < 63000 && !failed; i++) {
            y[dependent[0]] += 1e-4;
            failed = c.forward(y, y + c.nq, zeros, vdot);
        }
        assert_true(failed > 0);
        for (int j = 0; j < c.ns; j++) a.state[j * N + 2] = y[j];
        before = a;
        integrate[m](a.run);
        for (int i = 0; i < N; i++) {
            assert_int_equal(i == 2 ? failed : 0, a.status[i]);
            assert_true(a.end[i] == (i == 2 ? 0 : 0.03));
            for (int j = 0; j < c.ns; j++)
                assert_int_equal(i == 2, a.state[j * N + i] == before.state[j * N + i]);
        }
    }
    lw_model_destroy(model);
    dlclose(library);
}

// The source is C++, too, where there is a compiler for it.
static void kernels_are_cpp(void **state)
{
    (void)state;
    char command[400];
    if (system("c++ --version >/dev/null 2>&1") != 0) {
        print_message("SKIPPED: no C++ compiler 'c++' here\n");
        skip();
    }
    for (int i = 0; i < 2; i++) {
        lw_model *model =
            i ? read_model("examples/models/four_bar.yaml", LW_BASE_AUTO) : lwt_yaml(chain);
        write_cuda(model, "cpp", i ? "loop" : "tree", i);
        lw_model_destroy(model);
        snprintf(command, sizeof command,
                 "c++ -x c++ -std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Werror "
                 "'%s/cpp/%s/%s.cu'",
                 folder, i ? "loop" : "tree", i ? "loop" : "tree");
        assert_int_equal(0, system(command));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_integrate),
        cmocka_unit_test(functions_of_time_are_those_of_the_library),
        cmocka_unit_test(single_precision_is_close),
        cmocka_unit_test(single_precision_needs_kernels),
        cmocka_unit_test(small_pivots_end_an_instance),
        cmocka_unit_test(kernels_are_cpp),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
