// test_closed.c -- generated code of closed mechanisms computes the same values as the library.
//
// At random consistent states: the projections satisfy the library's rows; accelerations are those of lw_forward_dynamics
// (recursive coordinate reduction), and satisfy J vdot + gamma = 0 and M vdot + h = tau + J' lambda with the library's
// M, h, J, gamma, which share nothing with either.
#include "generated.h"

#include "base/linear.h"
#include "support/random_loops.h"

enum { MOST = 96, NSTATES = 4 };

typedef int closed_forward(const double *, const double *, const double *, double *);
typedef int project_positions(double *);
typedef int project_velocities(const double *, double *);
typedef void constraints(const double *, const double *, double *, double *);

typedef struct code {
    const char *name;
    const lw_model *model;
    lw_dynamics *dynamics;
    lw_constraints *rows;
    int nq, nv, m;
    closed_forward *forward;
    project_positions *positions;
    project_velocities *velocities;
    constraints *residuals;
} code;

static void open_code(code *c, const lw_model *model, void *library, const char *name)
{
    lw_error error = {0};
    *c = (code){.name = name, .model = model};
    c->nq = lw_model_tree_nq(model), c->nv = lw_model_tree_nv(model);
    assert_true(c->nq < MOST);
    OK(lw_dynamics_create(model, NULL, &c->dynamics, &error));
    OK(lw_constraints_create(model, NULL, &c->rows, &error));
    c->m = lw_constraints_count(c->rows);
    find(library, name, "forward_dynamics", &c->forward);
    find(library, name, "project_positions", &c->positions);
    find(library, name, "project_velocities", &c->velocities);
    find(library, name, "constraints", &c->residuals);
}

static void close_code(code *c)
{
    lw_dynamics_destroy(c->dynamics);
    lw_constraints_destroy(c->rows);
}

// M vdot + h - tau is a combination of the rows J'.
static void check_balance(const code *c, const double *q, const double *v, const double *tau,
                          const double *vdot, double tolerance)
{
    static double M[MOST * MOST], J[4 * MOST * MOST], a[4 * MOST * MOST], rest[8 * MOST * MOST];
    double h[MOST], gamma[4 * MOST], phi[4 * MOST], rate[4 * MOST], b[4 * MOST], x[4 * MOST];
    int pivot[4 * MOST];
    lwi_cod cod;
    const int m = c->m, n = c->nv;
    assert_true(m < 4 * MOST && lwi_cod_doubles(n, m) < sizeof rest / sizeof *rest);
    OK(lw_constraints_evaluate(c->rows, 0, q, v, phi, rate, J, gamma));
    OK(lw_constraints_tree(c->rows, 0, q, v, NULL, M, h));
    const double scale = 1 + largest(gamma, m) + largest(vdot, n);
    for (int i = 0; i < m; i++) {
        double sum = gamma[i];
        for (int j = 0; j < n; j++) sum += J[i * n + j] * vdot[j];
        if (!(fabs(sum) <= tolerance * scale))
            fail_msg("%s: row %d has acceleration %.3g (scale %.3g)", c->name, i, sum, scale);
    }
    double force = 1;
    for (int i = 0; i < n; i++) {
        b[i] = h[i] - tau[i];
        for (int j = 0; j < n; j++) b[i] += M[i * n + j] * vdot[j];
        force = fmax(force, fabs(b[i]));
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) a[i * n + j] = J[i * n + j]; // columns of J'
    double left[MOST];
    memcpy(left, b, (size_t)n * sizeof *left);
    lwi_cod_init(&cod, n, m, a, rest, pivot);
    lwi_cod_factor(&cod, -1, 1e-6);
    lwi_cod_solve(&cod, b, x);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++) left[i] -= J[k * n + i] * x[k];
        if (!(fabs(left[i]) <= 10 * tolerance * force))
            fail_msg("%s: effort %.3g on speed %d is not one of the loops (scale %.3g)", c->name,
                     left[i], i, force);
    }
}

// Largest residuals by the library's rows.
static void residuals(const code *c, const double *q, const double *v, double *position,
                      double *speed)
{
    double phi[4 * MOST], rate[4 * MOST];
    OK(lw_constraints_evaluate(c->rows, 0, q, v, phi, rate, NULL, NULL));
    *position = largest(phi, c->m);
    *speed = largest(rate, c->m);
}

// How many of the random states were used: the projection may end at a singular position.
static int check_states(const code *c, double spread, double tolerance)
{
    uint64_t seed = 11;
    int used = 0;
    for (int s = 0; s < NSTATES; s++) {
        double q[MOST], v[MOST], tau[MOST], expected[MOST], got[MOST], position, speed;
        lw_model_tree_start(c->model, q, v);
        for (int i = 0; i < c->nv; i++) tau[i] = lwt_random(&seed, -2, 2);
        if (s > 0) {
            for (int i = 0; i < c->nv; i++) v[i] = lwt_random(&seed, -1, 1);
            for (int i = 0; i < c->nq; i++) q[i] += spread * lwt_random(&seed, -1, 1);
        }
        if (c->positions(q) != 0 || c->velocities(q, v) != 0) continue;
        residuals(c, q, v, &position, &speed);
        if (!(position < 1e-11)) fail_msg("%s: positions are off by %.3g", c->name, position);
        if (!(speed < 1e-11 * (1 + largest(v, c->nv))))
            fail_msg("%s: speeds are off by %.3g", c->name, speed);
        if (lw_forward_dynamics(c->dynamics, 0, q, v, tau, NULL, expected) != LW_OK) continue;
        if (c->forward(q, v, tau, got) != 0) continue;
        expect_close(c->name, "acceleration", got, expected, c->nv, tolerance);
        check_balance(c, q, v, tau, got, 100 * tolerance);
        double phi[4 * MOST], rate[4 * MOST];
        c->residuals(q, v, phi, rate);
        assert_true(largest(phi, c->m) < 1e-11);
        used++;
    }
    return used;
}

// -------------------------------------------------------------------------------------- mechanisms

static void mechanisms_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    static const source mechanism[] = {
        {"examples/models/four_bar.yaml", "four_bar", LW_BASE_AUTO},
        {"examples/index3-2019/reference/P5-single-loop.yaml", "single_loop", LW_BASE_AUTO},
        {"examples/index3-2019/reference/P7-double-loop.yaml", "double_loop", LW_BASE_AUTO},
        {"examples/index3-2019/reference/P10-slider-crank.yaml", "slider_crank", LW_BASE_AUTO},
        {"tests/models/parallel/5bar_linkage/robot.urdf", "five_bar", LW_BASE_AUTO},
        {"tests/models/parallel/robot_delta/robot.urdf", "delta", LW_BASE_AUTO},
        {"tests/models/parallel/cassie_like/robot.urdf", "cassie", LW_BASE_AUTO},
        {"tests/models/jansen_leg.urdf", "jansen", LW_BASE_FIXED},
        {"examples/models/wishbone_corner.yaml", "corner", LW_BASE_AUTO},
    };
    enum { N = sizeof mechanism / sizeof *mechanism };
    lw_model *model[N];
    void *library = compile_models("loops", N, mechanism, model);
    for (int i = 0; i < N; i++) {
        code c;
        open_code(&c, model[i], library, mechanism[i].name);
        const int used = check_states(&c, 0.1, 1e-11);
        if (used < NSTATES - 1) fail_msg("%s: only %d states were compared", c.name, used);
        close_code(&c);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// Loops of all elements that can be generated, coupled and nested, with and without the ground.
static void random_mechanisms_agree(void **state)
{
    (void)state;
    skip_without_compiler();
    enum {
        COUNT = 16,
        FLAGS = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING | LWT_COUPLINGS |
                LWT_REDUNDANT
    };
    lw_model *model[COUNT];
    char name[COUNT][24];
    int n = 0, refused = 0, used = 0;
    for (uint64_t seed = 1; n < COUNT && seed < 400; seed++) {
        lw_error error = {0};
        const lwt_loops loops = lwt_loops_create(seed, 4 + (int)(seed % 9), FLAGS);
        model[n] = loops.model;
        snprintf(name[n], sizeof name[n], "loops%d", (int)seed);
        lw_constraints *rows;
        OK(lw_constraints_create(model[n], NULL, &rows, &error));
        const bool open = lw_constraints_count(rows) == 0;
        lw_constraints_destroy(rows);
        const lw_codegen_desc desc = {.name = name[n]};
        const bool written = try_code(model[n], "random", &desc, &error);
        if (written && lw_model_tree_nq(model[n]) < MOST && !open) {
            n++;
            continue;
        }
        refused += !written;
        lw_model_destroy(model[n]);
    }
    void *library = compile("random");
    for (int i = 0; i < n; i++) {
        code c;
        open_code(&c, model[i], library, name[i]);
        used += check_states(&c, 0.02, 1e-11);
        close_code(&c);
        lw_model_destroy(model[i]);
    }
    assert_int_equal(COUNT, n);
    assert_true(refused > 0);
    assert_true(used > 3 * COUNT);
    dlclose(library);
}

// ------------------------------------------------------------------------------------------- a run

typedef void coordinate_rates(const double *, const double *, double *);

typedef struct rk4 {
    const code *c;
    coordinate_rates *rates;
    double x[2 * MOST];
} rk4;

static void slope(const rk4 *r, const double *x, double *xdot)
{
    const double tau[MOST] = {0};
    r->rates(x, x + r->c->nq, xdot);
    assert_int_equal(0, r->c->forward(x, x + r->c->nq, tau, xdot + r->c->nq));
}

// The classical Runge-Kutta method, with the loops closed after every step.
static void step(rk4 *r, double h)
{
    enum { N = 2 * MOST };
    double k[4][N] = {{0}}, y[N];
    const int n = r->c->nq + r->c->nv;
    slope(r, r->x, k[0]);
    for (int stage = 1; stage < 4; stage++) {
        for (int i = 0; i < n; i++) y[i] = r->x[i] + (stage < 3 ? h / 2 : h) * k[stage - 1][i];
        slope(r, y, k[stage]);
    }
    for (int i = 0; i < n; i++) r->x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    assert_int_equal(0, r->c->positions(r->x));
    assert_int_equal(0, r->c->velocities(r->x, r->x + r->c->nq));
}

static void run_beside_library(const char *file, const char *name, double duration)
{
    lw_model *model = read_model(file, LW_BASE_AUTO);
    write_model(model, name, name);
    void *library = compile(name);
    code c;
    rk4 r = {.c = &c};
    double q[MOST], v[MOST];
    lw_sim *sim;
    lw_error error = {0};
    lw_options options;
    lw_options_default(&options);
    options.rtol = options.atol = 1e-12;
    open_code(&c, model, library, name);
    find(library, name, "coordinate_rates", &r.rates);
    lw_model_tree_start(model, r.x, r.x + c.nq);
    assert_int_equal(0, c.positions(r.x));
    for (int i = 0; i < 1000; i++) step(&r, duration / 1000);
    OK(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error));
    OK(lw_sim_step(sim, duration));
    OK(lw_sim_get_tree(sim, q, v));
    expect_close(c.name, "coordinate after a run", r.x, q, c.nq, 1e-9);
    expect_close(c.name, "speed after a run", r.x + c.nq, v, c.nv, 1e-9);
    assert_true(largest(v, c.nv) > 0.1);
    lw_sim_destroy(sim);
    close_code(&c);
    lw_model_destroy(model);
    dlclose(library);
}

static void a_run_is_that_of_the_library(void **state)
{
    (void)state;
    skip_without_compiler();
    run_beside_library("examples/models/four_bar.yaml", "four_bar_run", 0.4);
    run_beside_library("examples/index3-2019/reference/P7-double-loop.yaml", "double_run", 0.4);
    run_beside_library("tests/models/parallel/cassie_like/robot.urdf", "cassie_run", 0.1);
}

// ----------------------------------------------------------------------------------------- refusal

// Where the dependent speeds do not follow from the independent ones the function returns the number of one of them,
// and writes nothing.
static void a_small_pivot_is_reported(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    write_model(model, "pivot", "pivot");
    void *library = compile("pivot");
    code c;
    open_code(&c, model, library, "pivot");
    double q[3], v[3] = {0.1, 0.2, 0.3}, tau[3] = {0}, vdot[3];
    const int *dependent = dlsym(library, "pivot_dependent");
    assert_non_null(dependent);
    lw_model_tree_start(model, q, v);
    // the columns of two angles are parallel twice in a revolution of one of them, within 1e-4 rad for this purpose
    int failed = 0;
    for (int i = 0; i < 63000 && !failed; i++) {
        vdot[0] = vdot[1] = vdot[2] = 7;
        q[dependent[0]] += 1e-4;
        failed = c.forward(q, v, tau, vdot);
    }
    assert_true(failed == 1 + dependent[0] || failed == 1 + dependent[1]);
    for (int i = 0; i < 3; i++) assert_true(vdot[i] == 7);
    assert_int_equal(failed, c.velocities(q, v));
    close_code(&c);
    lw_model_destroy(model);
    dlclose(library);
}

static lw_model *parse(const char *text)
{
    lw_model *model;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "m.yaml", &(lw_read_desc){.format = "yaml"}, &model,
                       NULL, &error) != LW_OK)
        fail_msg("%s", error.text);
    return model;
}

#define INERTIA "mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0]"

static const char cranks[] =
    "linkwork: 1\nbodies:\n"
    "  a: {" INERTIA ", position: [0.3, 0.4, 0]}\n"
    "  b: {" INERTIA ", position: [1.3, 0.4, 0]}\n"
    "  c: {" INERTIA ", position: [2.3, 0.4, 0]}\n"
    "  rod: {" INERTIA ", position: [1.6, 0.8, 0]}\n"
    "joints:\n"
    "  A: {type: revolute, between: [ground, a], at: [0, 0, 0]}\n"
    "  B: {type: revolute, between: [ground, b], at: [1, 0, 0]}\n"
    "  C: {type: revolute, between: [ground, c], at: [2, 0, 0]}\n"
    "  D: {type: revolute, between: [a, rod], at: [0.6, 0.8, 0]}\n"
    "  E: {type: revolute, between: [b, rod], at: [1.6, 0.8, 0], cut: always}\n"
    "  F: {type: revolute, between: [c, rod], at: [2.6, 0.8, 0], cut: always}\n";

// Three parallel cranks of one rod: a row more than it needs.  In the other branch, with crossed outer cranks, the middle one
// does not reach the rod, and the sum of squares has a minimum there.
static void loops_that_stay_open_are_reported(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model = parse(cranks);
    write_lanes(model, "open", "open", 4);
    void *library = compile("open");
    code c;
    open_code(&c, model, library, "open");
    assert_int_equal(NSTATES, check_states(&c, 0.1, 1e-11));
    project_positions *wide;
    find(library, "open", "lanes_project_positions", &wide);
    double start[4], v[4], phi[10], rate[10];
    _Alignas(32) double packed[16];
    int open = 0, closed = 0;
    lw_model_tree_start(model, start, v);
    for (int b = 0; b < 12; b++) {
        int failed = 0;
        for (int l = 0; l < 4; l++) {
            double q[4];
            memcpy(q, start, sizeof q);
            q[1] += 0.5 * b - 3; // where they depend on the others, the guesses of Newton's method
            q[2] += 1.5 * l - 2.5;
            q[3] += 1;
            for (int i = 0; i < 4; i++) packed[4 * i + l] = q[i];
            const bool bad = c.positions(q) != 0;
            failed |= bad << l;
            c.residuals(q, v, phi, rate);
            if (bad == (largest(phi, 10) < 1e-9))
                fail_msg("%d %d: %s, and open by %.3g", b, l, bad ? "failed" : "closed",
                         largest(phi, 10));
            open += bad, closed += !bad;
        }
        assert_int_equal(failed, wide(packed));
    }
    assert_true(open > 0 && closed > 0);
    close_code(&c);
    lw_model_destroy(model);
    dlclose(library);
}

// A door on two hinges with one axis: no speed depends on another, and the damper of the second hinge acts.
static void rows_may_all_vanish(void **state)
{
    (void)state;
    skip_without_compiler();
    lw_model *model =
        parse("linkwork: 1\nbodies:\n  door: {" INERTIA ", com: [0.3, 0.1, 0]}\njoints:\n"
              "  A: {type: revolute, between: [ground, door], at: [0, 0, 0], axis: [1, 5, 7]}\n"
              "  B: {type: revolute, between: [ground, door], at: [0.1, 0.5, 0.7], "
              "axis: [1, 5, 7], cut: always, spring: {q0: {damping: 0.4}}}\n");
    write_lanes(model, "door", "door", 4);
    void *library = compile("door");
    code c;
    open_code(&c, model, library, "door");
    assert_int_equal(NSTATES, check_states(&c, 0.1, 1e-11));
    assert_null(dlsym(library, "door_dependent"));
    close_code(&c);
    lw_model_destroy(model);
    dlclose(library);
}

static void what_loops_cannot_have_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *joint, *text;
    } cases[] = {
        {"type: screw, pitch: 0.1", "screw joint 'C' closes a loop"},
        {"type: revolute, spring: {q0: {stiffness: 3}}",
         "joint 'C' closes a loop and has a spring"},
        {"type: revolute, rotor: {q0: 0.1}", "joint 'C' closes a loop and has a rotor"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[900], path[200];
        lw_error error = {0};
        snprintf(text, sizeof text,
                 "linkwork: 1\nbodies:\n  a: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, "
                 "0, 0]}\n"
                 "  b: {mass: 1, inertia: [1, 1, 1, 0, 0, 0], position: [1, 1, 0]}\njoints:\n"
                 "  A: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                 "  B: {type: spherical, between: [ground, b], at: [0, 1, 0]}\n"
                 "  C: {%s, between: [a, b], at: [1, 0.5, 0], axis: [0, 0, 1], cut: always}\n",
                 cases[i].joint);
        lw_model *model = parse(text);
        snprintf(path, sizeof path, "%s/refused", folder);
        const lw_codegen_desc desc = {.name = "m"};
        assert_int_equal(LW_ERR_UNSUPPORTED, lw_codegen_write(model, &desc, path, NULL, &error));
        if (!strstr(error.text, cases[i].text))
            fail_msg("'%s' is not in '%s'", cases[i].text, error.text);
        assert_int_not_equal(0, access(path, F_OK));
        lw_model_destroy(model);
    }
}

static void every_failed_allocation_is_reported(void **state)
{
    (void)state;
    lw_model *model = read_model("examples/models/four_bar.yaml", LW_BASE_AUTO);
    fail_each_allocation(model, true);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mechanisms_agree),
        cmocka_unit_test(random_mechanisms_agree),
        cmocka_unit_test(a_run_is_that_of_the_library),
        cmocka_unit_test(a_small_pivot_is_reported),
        cmocka_unit_test(loops_that_stay_open_are_reported),
        cmocka_unit_test(rows_may_all_vanish),
        cmocka_unit_test(what_loops_cannot_have_is_named),
        cmocka_unit_test(every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
