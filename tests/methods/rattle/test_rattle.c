// test_rattle.c -- the formulation rattle: steps of an independent program to all digits, order, reversibility,
// momenta, the symplectic form, singular positions, dissipation, restarts, refusals.
//
// Models in tests/models/structure, numbers of an independent program that solves whole steps by root search.
#include "methods/rattle/rattle_cases.h"

#include "methods/rattle/rattle.h"
#include "simulate/simulation.h"
#include "support/given.h"
#include "support/mechanism.h"

static int body_of(const lw_model *model, const char *name)
{
    lw_body body;
    assert_int_equal(lw_model_find_body(model, name, &body), LW_OK);
    return body.index;
}

static void near(const char *what, double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance) return;
    fail_msg("%s: %.16g, expected %.16g (%.2e allowed, %.2e off)", what, a, b, tolerance, a - b);
}

static void is_at(const char *what, const track *k, int body, const double r[3], double tolerance)
{
    for (int i = 0; i < 3; i++) near(what, k->r[body][i], r[i], tolerance);
}

// -------------------------------------------------------------------------------------------- steps

static void steps_are_those_of_another_program(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body;
        double step;
        int steps, order;
        double r[3];
    } rows[] = {
        {"double_pendulum", "b0", 0.02, 100, 2, {0.12379999851257356, -0.4844311719618038, 0}},
        {"double_pendulum", "b1", 0.02, 100, 2, {0.4533048975824266, -1.4245875833900208, 0}},
        {"four_bar", "b0", 0.02, 100, 2, {0.23533681689885, 0.44115369499973, 0}},
        {"four_bar", "b1", 0.02, 100, 2, {1.4704600586548335, 1.34103073219101, 0}},
        {"four_bar", "b2", 0.02, 100, 2, {2.48512324175599, 0.89987703719128, 0}},
        {"heavy_top", "top", 0.01, 20, 2, {0.05062062957860, -0.17338356974847, 0.17284585503373}},
        {"floating_loop",
         "b4",
         0.05,
         10,
         2,
         {0.73330329812746, -0.37265504579653, -0.12599007595071}},
    };
    for (int i = 0; i < LWI_COUNT(rows); i++) {
        lw_model *model = lwt_structure(rows[i].name);
        const double end = rows[i].step * rows[i].steps;
        const track k = run_rattle(model, rows[i].step, end, end, rows[i].order);
        assert_int_equal(k.summary.steps, rows[i].steps);
        is_at(rows[i].name, &k, body_of(model, rows[i].body), rows[i].r, 1e-13);
        for (int n = 0; n < 2; n++) assert_true(k.summary.residual[n] < 1e-14);
        lw_model_destroy(model);
    }
}

// Numbers of bench/structure/chain_steps.py MODEL 0.01 5.
static void a_chain_in_a_loop_has_the_steps_of_another_program(void **state)
{
    (void)state;
    lw_model *model = lwt_read("bench/structure/models/chain8.yaml");
    const track k = run_rattle(model, 0.01, 0.05, 0.05, 2);
    const double r[3] = {1.9629648415264, -0.185558451379623, -0.0647800753197428};
    is_at("chain8", &k, body_of(model, "b7"), r, 1e-12);
    near("energy", k.summary.energy_error, 0.000469174411, 1e-9);
    lw_model_destroy(model);
}

// The error against the exact motion at the end.
static double error_of(const char *name, double step, double duration, int order,
                       const double (*exact)[3])
{
    lw_model *model = lwt_structure(name);
    const track k = run_rattle(model, step, duration, duration, order);
    const double e = largest(k.nbody - 1, (const double(*)[3])k.r + 1, exact);
    lw_model_destroy(model);
    return e;
}

// By DOP853 in minimal coordinates.
static const double pendulum_at_2[2][3] = {{0.1233696175055, -0.4845409554171, 0},
                                           {0.4526285493449, -1.4247238648322, 0}};
static const double top_at_1[1][3] = {{-0.0988628431918, 0.0826970301198, 0.2142133036144}};

static void errors_are_those_of_another_program(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double step, duration;
        int order;
        double error;
    } rows[] = {
        {"double_pendulum", 0.02, 2, 2, 6.76e-4}, {"double_pendulum", 0.04, 2, 4, 1.77e-6},
        {"double_pendulum", 0.04, 2, 6, 6.68e-8}, {"double_pendulum", 0.04, 2, 8, 2.48e-11},
        {"heavy_top", 0.005, 1, 2, 1.26e-5},      {"heavy_top", 0.01, 1, 4, 2.17e-8},
        {"heavy_top", 0.01, 1, 6, 5.85e-11},
    };
    for (int i = 0; i < LWI_COUNT(rows); i++) {
        const bool top = rows[i].name[0] == 'h';
        const double e = error_of(rows[i].name, rows[i].step, rows[i].duration, rows[i].order,
                                  top ? top_at_1 : pendulum_at_2);
        near(rows[i].name, e, rows[i].error, 0.01 * rows[i].error + 1e-12);
    }
}

static void halving_shows_the_order(void **state)
{
    (void)state;
    for (int order = 2; order <= 8; order += 2) {
        const double step = order == 8 ? 0.1 : 0.04;
        const double a = error_of("double_pendulum", step, 2, order, pendulum_at_2);
        const double b = error_of("double_pendulum", step / 2, 2, order, pendulum_at_2);
        const double found = log2(a / b);
        if (fabs(found - order) > 0.3) fail_msg("order %d: %.2f found", order, found);
    }
}

// ------------------------------------------------------------------------------ what a step keeps

// A workspace at a state, stepped without a simulation.
typedef struct stepper {
    lw_model *model;
    lw_options options;
    lwi_work *work;
    double t, *x;
    double *zeros;
} stepper;

static stepper begin(const char *name, int order)
{
    stepper s = {.model = lwt_structure(name)};
    lw_error error;
    lwi_arena arena;
    lwi_snapshot start;
    s.options = rattle_options(0.01, 1, 1, order);
    lwt_ok(lwi_work_create_options(s.model, &lwi_formulation_rattle, NULL, 0, &s.options, &s.work,
                                   &error),
           &error);
    s.x = calloc((size_t)s.work->layout.nx, sizeof *s.x);
    s.zeros = calloc(1, sizeof *s.zeros);
    assert_true(s.x && s.zeros);
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(s.model, &arena, &start), LW_OK);
    lwi_snapshot_start(s.model, &start);
    lwt_ok(s.work->formulation->enter(s.work, &start, s.x), &s.work->error);
    lwi_arena_free(&arena);
    return s;
}

static void end(stepper *s)
{
    free(s->x), free(s->zeros);
    lwi_work_destroy(s->work);
    lw_model_destroy(s->model);
}

static void advance(stepper *s, double h, int steps)
{
    for (int i = 0; i < steps; i++, s->t += h)
        lwt_ok(s->work->formulation->step(s->work, s->t, h, s->x, s->zeros), &s->work->error);
}

static lwi_rattle *data_of(const stepper *s)
{
    return s->work->data;
}

// The state of every body alone: poses and momenta.
static int state_size(const stepper *s)
{
    return data_of(s)->at_momentum + 6 * s->model->nnode;
}

// Forces of the second kick on bodies, energies, and positions after many steps of order 2 and 4.
static void forces_of_steps_are_those_of_another_program(void **state)
{
    (void)state;
    static const struct {
        const char *name, *body;
        double step;
        int steps, order;
        double force[3], r[3];
    } rows[] = {
        {"double_pendulum",
         "b0",
         0.02,
         100,
         2,
         {-0.5301040195104321, 11.028743094258958, 0},
         {0.12379999851257356, -0.4844311719618038, 0}},
        {"double_pendulum",
         "b1",
         0.02,
         100,
         2,
         {-4.006392610687249, 11.351984694666678, 0},
         {0.4533048975824266, -1.4245875833900208, 0}},
        {"floating_loop",
         "b4",
         0.05,
         100,
         2,
         {-0.06113478762134611, -0.024194133042996335, 0.01890115668518974},
         {0.9215377016885112, 0.6151932202575582, -0.5226937634345613}},
        {"floating_loop",
         "b4",
         0.05,
         20,
         4,
         {-0.07882652478917593, 0.016080174823852995, 0.037430123825807425},
         {0.797721716194512, -0.2637107255992751, -0.18671949124373902}},
    };
    for (int i = 0; i < LWI_COUNT(rows); i++) {
        stepper s = begin(rows[i].name, rows[i].order);
        const int k = s.model->body_node[body_of(s.model, rows[i].body)];
        double W[6];
        advance(&s, rows[i].step, rows[i].steps);
        lwi_rattle_wrench(data_of(&s), k, data_of(&s)->mu, W);
        for (int c = 0; c < 3; c++) near(rows[i].name, W[c], rows[i].force[c], 1e-9);
        for (int c = 0; c < 3; c++) near(rows[i].name, s.x[7 * k + c], rows[i].r[c], 1e-12);
        end(&s);
    }
    // of the top, with rows along constant axes: both kicks
    static const double lambda[3] = {2.84356316609, -0.37409824231, 5.16710883298},
                        mu[3] = {2.86884999153, -0.31904488030, 4.99369261084};
    stepper s = begin("heavy_top", 2);
    advance(&s, 0.01, 20);
    for (int c = 0; c < 3; c++) {
        near("first kick", data_of(&s)->lambda[c], lambda[c], 1e-9);
        near("second kick", data_of(&s)->mu[c], mu[c], 1e-9);
    }
    end(&s);
    lw_model *model = lwt_structure("double_pendulum");
    near("energy", run_rattle(model, 0.02, 2, 2, 2).energy, -16.213931314726537, 1e-12);
    lw_model_destroy(model);
}

static void motion_reverses(void **state)
{
    (void)state;
    static const char *const name[] = {"double_pendulum", "four_bar", "heavy_top", "floating_loop"};
    for (int i = 0; i < LWI_COUNT(name); i++)
        for (int order = 2; order <= 4; order += 2) {
            stepper s = begin(name[i], order);
            const int n = state_size(&s), at = data_of(&s)->at_momentum;
            double *x0 = malloc((size_t)n * sizeof *x0);
            assert_non_null(x0);
            memcpy(x0, s.x, (size_t)n * sizeof *x0);
            advance(&s, 0.01, 200);
            for (int k = at; k < n; k++) s.x[k] = -s.x[k];
            advance(&s, 0.01, 200);
            for (int k = 0; k < n; k++) near(name[i], s.x[k], k < at ? x0[k] : -x0[k], 1e-11);
            free(x0);
            end(&s);
        }
}

static void momenta(const stepper *s, double p[6])
{
    const lw_model *model = s->model;
    v6_zero(p);
    for (int k = 0; k < model->nnode; k++) {
        const double *pose = s->x + 7 * k, *u = s->x + data_of(s)->at_momentum + 6 * k;
        double R[9], L[3];
        quat_matrix(R, pose + 3);
        m3_mul_v(L, R, u + 3);
        v3_add(p, p, u);
        v3_add(p + 3, p + 3, L);
        v3_cross_add(p + 3, pose, u);
    }
}

static void momenta_are_kept(void **state)
{
    (void)state;
    double before[6], after[6];
    stepper s = begin("floating_loop", 2);
    momenta(&s, before);
    advance(&s, 0.05, 2000);
    momenta(&s, after);
    // positions are about 500 m away by then
    for (int i = 0; i < 6; i++) near("momentum", after[i], before[i], i < 3 ? 1e-14 : 1e-11);
    end(&s);
    s = begin("heavy_top", 4);
    momenta(&s, before);
    advance(&s, 0.01, 500);
    momenta(&s, after);
    near("moment about the vertical", after[5], before[5], 1e-14);
    end(&s);
}

// dr ^ dP + theta1 . pi2 - theta2 . pi1 + Pi . (theta1 x theta2) of two variations of a top's Hamiltonian state; the
// derivative of the step by differences of five points.
enum { TOP_STATE = 6 }; // rotation vector and Pi: the tip holds the rest

static void vary(const stepper *s, const double *x0, const double variation[TOP_STATE], double by,
                 double *x)
{
    // tip at the origin: r = R s, P = m w x r
    const lwi_body *body = &s->model->body[s->model->node[0].body];
    const double arm[3] = {0, 0, 0.25};
    double theta[3], dq[4], R[9], w[3], v[3], wr[3];
    memcpy(x, x0, (size_t)s->work->layout.nx * sizeof *x);
    v3_scale(theta, by, variation);
    lwi_rattle_turn(x0 + 3, theta, dq);
    for (int i = 0; i < 4; i++) x[3 + i] = x0[3 + i] + dq[i];
    double *Pi = x + data_of(s)->at_momentum + 3, *P = Pi - 3;
    v3_axpy(Pi, by, variation + 3);
    quat_matrix(R, x + 3);
    m3_mul_v(x, R, arm);
    for (int i = 0; i < 3; i++) w[i] = Pi[i] / body->inertia[i];
    v3_cross(v, w, arm);
    m3_mul_v(wr, R, v);
    v3_scale(P, body->mass, wr);
}

// Variations [r, theta, P, Pi] of the state along one, at x.
typedef struct variation {
    double r[3], theta[3], P[3], Pi[3];
} variation;

static variation difference(const double *const x[4], const double *at, int at_momentum, double by)
{
    static const double weight[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    variation d = {0};
    double dq[4] = {0}, back[4], turn[4];
    for (int n = 0; n < 4; n++) {
        const double k = weight[n] / by;
        const double *p = x[n] + at_momentum;
        v3_axpy(d.r, k, x[n]), v3_axpy(d.P, k, p), v3_axpy(d.Pi, k, p + 3);
        for (int i = 0; i < 4; i++) dq[i] += k * x[n][3 + i];
    }
    quat_conjugate(back, at + 3);
    quat_mul(turn, back, dq);
    v3_scale(d.theta, 2, turn + 1);
    return d;
}

static double form(const variation *a, const variation *b, const double Pi[3])
{
    double c[3];
    v3_cross(c, a->theta, b->theta);
    return v3_dot(a->r, b->P) - v3_dot(b->r, a->P) + v3_dot(a->theta, b->Pi) -
           v3_dot(b->theta, a->Pi) + v3_dot(Pi, c);
}

static void the_symplectic_form_is_kept(void **state)
{
    (void)state;
    static const double direction[2][TOP_STATE] = {{0.3, -0.2, 0.5, 0.02, 0.01, -0.03},
                                                   {-0.1, 0.4, 0.2, -0.01, 0.03, 0.02}};
    static const double at[4] = {-2, -1, 1, 2};
    const double by = 1e-3;
    for (int order = 2; order <= 4; order += 2) {
        stepper s = begin("heavy_top", order);
        const size_t bytes = (size_t)s.work->layout.nx * sizeof(double);
        const int at_momentum = data_of(&s)->at_momentum;
        double *x0 = malloc(bytes), *x1 = malloc(bytes), *x[4];
        const double still[TOP_STATE] = {0};
        variation before[2], after[2];
        assert_true(x0 && x1);
        vary(&s, s.x, still, 0, x0);
        memcpy(s.x, x0, bytes);
        s.t = 0, advance(&s, 0.02, 20);
        memcpy(x1, s.x, bytes);
        for (int i = 0; i < 2; i++) {
            for (int n = 0; n < 4; n++) {
                x[n] = malloc(bytes);
                assert_non_null(x[n]);
                vary(&s, x0, direction[i], at[n] * by, x[n]);
            }
            before[i] = difference((const double *const *)x, x0, at_momentum, by);
            for (int n = 0; n < 4; n++) {
                memcpy(s.x, x[n], bytes);
                s.t = 0, advance(&s, 0.02, 20);
                memcpy(x[n], s.x, bytes);
            }
            after[i] = difference((const double *const *)x, x1, at_momentum, by);
            for (int n = 0; n < 4; n++) free(x[n]);
        }
        const double a = form(&before[0], &before[1], x0 + at_momentum + 3);
        const double b = form(&after[0], &after[1], x1 + at_momentum + 3);
        assert_true(fabs(a) > 1e-3);
        near("2-form", b, a, 1e-8 * fabs(a));
        free(x0), free(x1);
        end(&s);
    }
}

// Many periods: the energy oscillates by a part of h^2, and its mean stays.
static void energy_does_not_drift(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double step, range, mean; // largest distance from the start, mean of a tenth [J]
        int steps;
    } rows[] = {{"double_pendulum", 0.025, 5.9e-3, 2.04e-3, 20000},
                {"heavy_top", 0.005, 1.05e-3, 1.8e-4, 20000},
                {"floating_loop", 0.05, 3e-5, 1e-5, 10000}};
    for (int i = 0; i < LWI_COUNT(rows); i++) {
        stepper s = begin(rows[i].name, 2);
        const int tenth = rows[i].steps / 10;
        double mean[10] = {0}, range = 0, start = 0;
        for (int n = 0; n <= rows[i].steps; n++) {
            double energy = 0;
            for (int k = 0; k < s.model->nnode; k++) {
                const lwi_body *body = &s.model->body[s.model->node[k].body];
                const double *u = s.x + data_of(&s)->at_momentum + 6 * k;
                double w[3];
                s3_mul_v(w, data_of(&s)->system.mobility[k], u + 3);
                energy += 0.5 * (v3_dot(u, u) / body->mass + v3_dot(w, u + 3)) -
                          body->mass * v3_dot(s.model->gravity, s.x + 7 * k);
            }
            if (n == 0) start = energy;
            range = fmax(range, fabs(energy - start));
            if (n == rows[i].steps) break;
            mean[n / tenth] += (energy - start) / tenth;
            advance(&s, rows[i].step, 1);
        }
        assert_true(range < rows[i].range);
        near(rows[i].name, mean[9], mean[0], 0.1 * rows[i].mean);
        end(&s);
    }
}

// Warnings of a drift of the mean, and of an energy that stays beyond that of the beginning.  The audit of a run is changed here:
// a step that is too long shows itself after hours only.
static void a_drift_is_named(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("heavy_top");
    const lw_options o = rattle_options(0.005, 50, 0.05, 2);
    lw_sim *sim = lwt_sim(model, &o);
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL), lw_sim_error(sim));
    lwi_audit *a = &sim->audit;
    const lwi_audit found = *a;
    assert_null(strstr(lw_sim_notice(sim), "drifts"));
    a->last_high = a->sum[0] / (double)a->rows[0] - 1e-6;
    lwi_sim_add_warnings(sim);
    assert_non_null(strstr(lw_sim_notice(sim), "all rows of the last tenth are below the mean"));
    *a = found;
    a->sum[9] -= 0.2 * (a->high - a->low) * (double)a->rows[9];
    lwi_sim_add_warnings(sim);
    assert_non_null(strstr(lw_sim_notice(sim), "more than a tenth of its range"));
    *a = found;
    lwi_sim_add_warnings(sim);
    assert_null(strstr(lw_sim_notice(sim), "drifts"));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------- singular positions

// A parallelogram swings through the position in line: phi'' = 2 g cos(phi) / 3.5, by RK4 here.
static double swing(double duration)
{
    const double pi = 3.14159265358979323846;
    const int n = 20000;
    double phi = pi / 4, w = 0, h = duration / n;
    for (int i = 0; i < n; i++) {
        const double k = 2 * 9.81 / 3.5;
        const double a1 = k * cos(phi), w2 = w + h / 2 * a1, a2 = k * cos(phi + h / 2 * w);
        const double w3 = w + h / 2 * a2, a3 = k * cos(phi + h / 2 * w2);
        const double w4 = w + h * a3, a4 = k * cos(phi + h * w3);
        phi += h / 6 * (w + 2 * w2 + 2 * w3 + w4);
        w += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
    }
    return phi;
}

static void a_rhombus_passes_the_position_in_line(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("rhombus");
    const double phi = swing(10), steps[3] = {0.02, 0.01, 0.005};
    const double range[3] = {3.3e-3, 8.3e-4, 2.1e-4}, expected[3] = {1.49e-3, 3.71e-4, 9.28e-5};
    for (int i = 0; i < 3; i++) {
        const track k = run_rattle(model, steps[i], 10, 0.02, 2);
        const double *r = k.r[body_of(model, "B")];
        const double error = hypot(r[0] - cos(phi), r[1] + sin(phi) + 0.5);
        near("position", error, expected[i], 0.01 * expected[i]);
        near("energy", k.summary.energy_error, range[i], 0.02 * range[i]);
        assert_true(k.summary.residual[0] < 1e-14 && k.summary.residual[1] < 1e-13);
        for (int c = 0; c < 3; c++) near("coupler rotates", k.w[body_of(model, "B")][c], 0, 1e-9);
    }
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- dissipation

// Drag of 0.3 v and 0.3 w on each rod of the double pendulum, exact values by DOP853.
static lw_model *damped_pendulum(void)
{
    lw_builder *b = lwt_builder();
    const double a = 3.14159265358979323846 / 6, c = 3.14159265358979323846 / 4;
    const double x1 = sin(a), y1 = -cos(a), x2 = x1 + sin(c), y2 = y1 - cos(c);
    lw_body rod[2];
    for (int i = 0; i < 2; i++) {
        const double half = 0.5 * (i ? c : a) - 3.14159265358979323846 / 4;
        rod[i] =
            lwt_body(b, &(lw_body_desc){.mass = 1,
                                        .inertia = {1e-3, 1.0 / 12, 1.0 / 12, 0, 0, 0},
                                        .pose = {.position = {i ? (x1 + x2) / 2 : x1 / 2,
                                                              i ? (y1 + y2) / 2 : y1 / 2, 0},
                                                 .orientation = {cos(half), 0, 0, sin(half)}}});
        lw_error error;
        lwt_ok(lw_builder_add_drag(
                   b, &(lw_drag_desc){.body = rod[i], .linear = 0.3, .angular = 0.3}, &error),
               &error);
    }
    lwt_joint(b, LW_JOINT_REVOLUTE, "pivot", lwt_ground, rod[0], 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "knee", rod[0], rod[1], x1, y1);
    return lwt_model(b);
}

static void damping_is_of_order_two(void **state)
{
    (void)state;
    static const double exact[2][3] = {{0.06888662366, -0.49523189827, 0},
                                       {0.22622062639, -1.48257868270, 0}};
    static const double error[4] = {1.80e-3, 4.50e-4, 1.12e-4, 2.81e-5};
    lw_model *model = damped_pendulum();
    for (int i = 0; i < 4; i++) {
        const track k = run_rattle(model, 0.04 / (1 << i), 2, 2, 2);
        near("damped", largest(2, (const double(*)[3])k.r + 1, exact), error[i], 0.02 * error[i]);
        assert_true(k.summary.energy_error < 0.02 / (1 << (2 * i)));
    }
    lw_model_destroy(model);
}

// Dampers with rates of 10^6/s on a light last link, and friction that sticks: the loads at the end of a step are no
// limit of repeated evaluations.
static void stiff_damping_is_of_order_two(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(
        "linkwork: 1\n"
        "gravity: [0, -9.81, 0]\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [0.5, 0, 0]}\n"
        "  b: {mass: 0.5, inertia: [0.01, 0.1, 0.1, 0, 0, 0], position: [1.5, 0, 0]}\n"
        "  c: {mass: 1.0e-3, inertia: [1.0e-6, 1.0e-6, 1.0e-6, 0, 0, 0], position: [2.005, 0, 0]}\n"
        "joints:\n"
        "  p: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1], "
        "friction: {q0: {viscous: 0.5}}}\n"
        "  k: {type: revolute, between: [a, b], at: [1, 0, 0], axis: [0, 0, 1], "
        "friction: {q0: {coulomb: 0.2, viscous: 0.1, speed: 0.5}}}\n"
        "  l: {type: revolute, between: [b, c], at: [2, 0, 0], axis: [0, 0, 1], "
        "friction: {q0: {viscous: 2}}}\n");
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", "rcr");
    lwt_set(&o, "integrator", "bdf");
    o.duration = o.sample = 1, o.rtol = o.atol = 1e-11;
    const track exact = run(model, &o);
    double error[3];
    for (int i = 0; i < 3; i++) {
        const track k = run_rattle(model, 0.01 / (1 << i), 1, 1, 2);
        error[i] = distance(&k, &exact);
        assert_true(k.summary.residual[0] < 1e-14 && k.summary.residual[1] < 1e-12);
    }
    for (int i = 0; i < 2; i++) near("order with stiff damping", error[i] / error[i + 1], 4, 0.4);
    assert_true(error[2] < 1e-3);
    lw_model_destroy(model);
}

// Increments of a robot with light last links fall slowly, far below round-off, until they are ended.
static void iterations_end_at_round_off(void **state)
{
    (void)state;
    static const double steps[] = {1e-3, 1e-4, 1e-5};
    lw_model *model;
    lw_error error;
    lwt_ok(lw_model_read(LW_SOURCE_DIR "/examples/models/ur5.urdf", NULL, &model, NULL, &error),
           &error);
    for (int i = 0; i < LWI_COUNT(steps); i++) {
        const track k = run_rattle(model, steps[i], 50 * steps[i], 50 * steps[i], 2);
        assert_int_equal(k.summary.steps, 50);
        assert_true(k.summary.residual[0] < 1e-15);
        assert_true(k.summary.energy_error < 10 * steps[i] * steps[i]);
    }
    lw_model_destroy(model);
}

// Long steps of a chaotic motion: increments of the modified iteration rise for once in some of them, far above round-off.
static void joints_close_in_every_step(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("double_pendulum");
    const track k = run_rattle(model, 0.15, 300, 0.15, 2);
    assert_int_equal(k.summary.steps, 2000);
    assert_true(k.summary.residual[0] < 1e-14 && k.summary.residual[1] < 1e-13);
    lw_model_destroy(model);
}

// Two rods at rest in a horizontal plane: increments of the multipliers, which carry the weight, are below their own
// round-off.
static void rest_stays(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, -9.81});
    const lw_body first = lwt_body(b, &(lw_body_desc){.name = "a",
                                                      .mass = 1,
                                                      .inertia = {0.01, 0.01, 0.01},
                                                      .pose.position = {0.25, 0, 0}}),
                  second = lwt_body(b, &(lw_body_desc){.name = "b",
                                                       .mass = 1,
                                                       .inertia = {0.01, 0.01, 0.01},
                                                       .pose.position = {1, 0.3, 0}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "A", lwt_ground, first, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", first, second, 0.5, 0);
    lw_model *model = lwt_model(b);
    const track k = run_rattle(model, 0.01, 3, 3, 2);
    assert_int_equal(k.summary.steps, 300);
    assert_true(k.summary.energy_error < 1e-25 && k.summary.valid_until == 3);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------------- gauss

// Energy errors of an independent program over 10^4 periods; they are the same after a hundred.
static void gauss_keeps_the_energy_of_trees(void **state)
{
    (void)state;
    static const struct {
        int order;
        double step, error;
    } rows[] = {{4, 0.1, 2.3e-4}, {4, 0.05, 1.2e-5}, {6, 0.2, 9.6e-4}, {6, 0.1, 7.0e-6},
                {8, 0.3, 1.7e-3}, {8, 0.2, 5.4e-5},  {8, 0.1, 2.5e-7}};
    lw_model *model = lwt_structure("double_pendulum");
    for (int i = 0; i < LWI_COUNT(rows); i++) {
        lw_options o;
        lw_options_default(&o);
        lwt_set(&o, "integrator", "gauss");
        o.order = rows[i].order, o.step = o.sample = rows[i].step, o.duration = 150;
        const track k = run(model, &o);
        near("energy", k.summary.energy_error, rows[i].error, 0.15 * rows[i].error);
    }
    lw_model_destroy(model);
}

// A motion that is reversed goes back by the same steps: iterations that end early show here first.
static void gauss_reverses(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("double_pendulum");
    for (int order = 4; order <= 8; order += 2) {
        lw_options o;
        lw_options_default(&o);
        lwt_set(&o, "integrator", "gauss");
        o.order = order, o.step = 0.1;
        lw_sim *sim = lwt_sim(model, &o);
        const lw_observation *end;
        double start[2][3];
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &end), lw_sim_error(sim));
        memcpy(start, end->position + 1, sizeof start);
        lwt_ok(lw_sim_step(sim, 100), lw_sim_error(sim));
        reverse(sim);
        lwt_ok(lw_sim_step(sim, 200), lw_sim_error(sim));
        lwt_ok(lw_sim_observe(sim, LW_OBSERVE_POSE, &end), lw_sim_error(sim));
        assert_true(largest(2, end->position + 1, (const double(*)[3])start) < 1e-12);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// ----------------------------------------------------------------------------------------- refusals

static void is_refused(const lw_model *model, const lw_options *o, const char *why)
{
    lw_sim *sim;
    lw_error error;
    lw_status status = lw_sim_create(model, &(lw_sim_desc){.options = o}, &sim, &error);
    if (status == LW_OK) {
        status = lw_sim_run(sim, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL);
        error = *lw_sim_error(sim);
        lw_sim_destroy(sim);
    }
    assert_int_not_equal(status, LW_OK);
    if (!strstr(error.text, why)) fail_msg("'%s', expected '%s'", error.text, why);
}

static void refusals_name_what_is_wrong(void **state)
{
    (void)state;
    lw_model *model = lwt_structure("heavy_top");
    lw_options o = rattle_options(0.2, 1, 1, 2);
    is_refused(model, &o, "body 'top' rotates by");
    is_refused(model, &o, "try --step");
    o = rattle_options(0.01, 1, 1, 2);
    o.rtol = 1e-6;
    is_refused(model, &o, "rtol: steps of rattle are equal");
    o = rattle_options(0.01, 1, 1, 2);
    lwt_set(&o, "integrator", "dopri5");
    is_refused(model, &o, "`integrator` must be rattle or auto");
    lw_options_default(&o);
    lwt_set(&o, "integrator", "gauss"), lwt_set(&o, "formulation", "aba");
    is_refused(model, &o, "expected formulation momenta, not aba");
    lwt_set(&o, "formulation", "auto"), lwt_set(&o, "order", "2");
    is_refused(model, &o, "order: 2 is none of integrator gauss");
    lwt_set(&o, "order", "4"), lwt_set(&o, "step", "1"), lwt_set(&o, "sample", "1");
    is_refused(model, &o, "the iteration does not converge, step too long: largest rate");
    lw_model_destroy(model);
    model = damped_pendulum();
    o = rattle_options(0.01, 1, 1, 4);
    is_refused(model, &o, "order: 4, but the model has forces that are not conservative");
    lw_model_destroy(model);
}

// Bricard's linkage without gravity: its redundant row lets multipliers that do nothing grow from step to step, by which Newton's
// iteration ended after 2.5 s.  With gravity it passes singular positions at 0.34, 1.53 and 5.94 s, behind which extrapolated multipliers
// led to positions with a loop open by 0.57 m, or to another branch.  Errors of the energy are those of steps of order two.
static void overconstrained_loops_keep_their_branch(void **state)
{
    (void)state;
    static const char *const step[] = {"0.01", "0.005", "0.0025"};
    for (int heavy = 0; heavy < 2; heavy++) {
        double off[LWI_COUNT(step)];
        for (int i = 0; i < LWI_COUNT(step); i++) {
            lw_model *model = lwt_structure("bricard");
            lw_summary summary;
            if (!heavy) v3_set(model->gravity, 0, 0, 0);
            lw_sim *sim = lwt_simulate(
                model, LWT_SETTINGS("formulation", "rattle", "step", step[i], "duration", "6"));
            if (lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL) != LW_OK)
                fail_msg("step %s: %s", step[i], lw_sim_error(sim)->text);
            lw_sim_summary(sim, &summary);
            off[i] = summary.energy_error;
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
        if (!(off[0] < 0.05 && off[1] < 0.3 * off[0] && off[2] < 0.3 * off[1])) // of 73 J
            fail_msg("gravity %d: %.2e, %.2e, %.2e J", heavy, off[0], off[1], off[2]);
    }
}

// Steps across a singular position that are too long may leave its branch: what is said then names a joint where the loop is
// open, and where it is closed on a branch of another energy a run warns of that.
static void steps_that_leave_the_branch_are_reported(void **state)
{
    (void)state;
    static const char *const step[] = {"0.0118", "0.0193", "0.0241", "0.019"};
    int open = 0, warned = 0;
    for (int i = 0; i < LWI_COUNT(step); i++) {
        lw_model *model = lwt_structure("bricard");
        lw_summary summary;
        lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rattle", "step", step[i],
                                                       "duration", "7", "sample", "7"));
        const lw_status status = lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL);
        const char *text = status == LW_OK ? "" : lw_sim_error(sim)->text;
        const char *notice = lw_sim_notice(sim);
        lw_sim_summary(sim, &summary);
        if (strstr(text, "next to a singular position leaves")) {
            open++;
            if (!strstr(text, "leaves joint 'j")) fail_msg("%s", text);
        }
        if (summary.energy_error > 5) { // of 73 J
            warned++;
            if (!strstr(notice, "energy: E - Wnc is off by")) fail_msg("%s: %s", step[i], notice);
        }
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
    assert_true(open > 0 && warned > 0);
}

// A parallelogram from rest, through positions with its rods in a line, with axes that are tilted.
static lw_model *tilted_parallelogram(double tilt)
{
    const double crank = 0.6, x = crank * cos(1), y = crank * sin(1);
    const double at[4][2] = {{0, 0}, {x, y}, {x + 1, y}, {1, 0}}, by[5] = {1, -0.6, 0.3, 0.8, 1};
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, -9.81, 0});
    const lw_body rod[] = {lwt_ground, lwt_rod(b, "crank", 0, 0, x, y, 1),
                           lwt_rod(b, "coupler", x, y, x + 1, y, 1),
                           lwt_rod(b, "rocker", 1, 0, x + 1, y, 1)};
    for (int i = 0; i < 4; i++)
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body1 = rod[i],
                                    .body2 = rod[(i + 1) % 4],
                                    .at = {at[i][0], at[i][1], 0},
                                    .axis = {tilt * by[i], tilt * by[i + 1], 1}});
    return lwt_model(b);
}

// Redundant rows of a geometry given to seven digits are met to as many: a loop that moves like an exact one is not open.
static void inexact_loops_are_not_open(void **state)
{
    (void)state;
    static const double tilts[] = {0, 1e-8, 1e-7, 2e-7};
    for (int i = 0; i < LWI_COUNT(tilts); i++) {
        lw_model *model = tilted_parallelogram(tilts[i]);
        lw_summary summary;
        lw_sim *sim = lwt_simulate(
            model, LWT_SETTINGS("formulation", "rattle", "step", "0.005", "duration", "3"));
        if (lw_sim_run(sim, LW_OBSERVE_ENERGY, NULL, NULL, NULL, NULL) != LW_OK)
            fail_msg("tilted by %g: %s", tilts[i], lw_sim_error(sim)->text);
        lw_sim_summary(sim, &summary);
        if (!(summary.energy_error < 6e-3)) // of 22 J; exact: 4.8e-3 J
            fail_msg("tilted by %g: %.1e J", tilts[i], summary.energy_error);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overconstrained_loops_keep_their_branch),
        cmocka_unit_test(steps_that_leave_the_branch_are_reported),
        cmocka_unit_test(inexact_loops_are_not_open),
        cmocka_unit_test(steps_are_those_of_another_program),
        cmocka_unit_test(a_chain_in_a_loop_has_the_steps_of_another_program),
        cmocka_unit_test(errors_are_those_of_another_program),
        cmocka_unit_test(halving_shows_the_order),
        cmocka_unit_test(forces_of_steps_are_those_of_another_program),
        cmocka_unit_test(motion_reverses),
        cmocka_unit_test(momenta_are_kept),
        cmocka_unit_test(the_symplectic_form_is_kept),
        cmocka_unit_test(energy_does_not_drift),
        cmocka_unit_test(a_drift_is_named),
        cmocka_unit_test(a_rhombus_passes_the_position_in_line),
        cmocka_unit_test(damping_is_of_order_two),
        cmocka_unit_test(stiff_damping_is_of_order_two),
        cmocka_unit_test(iterations_end_at_round_off),
        cmocka_unit_test(joints_close_in_every_step),
        cmocka_unit_test(rest_stays),
        cmocka_unit_test(gauss_keeps_the_energy_of_trees),
        cmocka_unit_test(gauss_reverses),
        cmocka_unit_test(refusals_name_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
