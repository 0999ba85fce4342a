// test_rcr_momenta.c -- coordinate reduction with momenta as state: the motion equals that with speeds, for any
// impulses in the momenta; conservation, order, drift; the numbers of the specification.
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/random_loops.h"

#include "simulate/simulation.h"

// Poses, speeds and accelerations of a snapshot, for either kind of state.
static void same_snapshot(const char *what, const lw_model *model, const lwi_snapshot *a,
                          const lwi_snapshot *b, double tol)
{
    for (int i = 0; i < model->nq; i++) lwt_near(what, i, a->q[i], b->q[i], tol);
    for (int i = 0; i < model->nv; i++)
        lwt_near(what, 100 + i, a->qd[i], b->qd[i], tol * (1 + fabs(b->qd[i])));
    lwt_near(what, 1000, lwt_acceleration_error(model, a, b), 0, tol);
}

// Speeds of the tree at momenta near those of x: x + s xdot at t + s.
static void speeds_along(lwt_run *r, const double *input, const double *xdot, double s, double *v)
{
    const int n = r->work->layout.nx, nv = r->model->tree_nv;
    double *x = lwt_vector(n), *ignored = lwt_vector(n);
    for (int i = 0; i < n; i++) x[i] = r->x[i] + s * xdot[i];
    lwt_ok(r->work->formulation->rates(r->work, r->t + s, x, input, ignored), &r->work->error);
    for (int i = 0; i < nv; i++) v[i] = lwt_rcr(r)->v[i];
    free(x);
    free(ignored);
}

// Along the rates of the state the speeds change by the observed accelerations, and these are those of absolute
// coordinates: random mechanisms of all kinds, at momenta with impulses.
static void rates_make_the_accelerations(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 60, LWT_LOOP_ALL)
    {
        const double h = 1e-5; // error h^2 and round-off 1e-16 / h
        double *input = lwt_vector(c.model->desc.ninput);
        for (int i = 0; i < c.model->desc.ninput; i++) input[i] = 0.3 * (i + 1);
        lwt_run r = lwt_run_momenta(c.model, "auto", NULL), d;
        const int nv = c.model->tree_nv;
        double *xdot = lwt_vector(r.work->layout.nx), *before = lwt_vector(nv),
               *after = lwt_vector(nv), *noise = lwt_vector(nv);
        lwt_observe(r.work, 0, r.x, input, &r.arena, &r.now);
        d = lwt_run_from(c.model, DENSE, &r.now);
        lwt_observe(d.work, 0, d.x, input, &d.arena, &d.now);
        lwt_near("accelerations, seed", (int)seed_, lwt_acceleration_error(c.model, &r.now, &d.now),
                 0, 1e-10);
        lwi_cut_scatter(nv, (int)(seed_ % 97), noise);
        for (int i = 0; i < nv; i++) r.x[c.model->tree_nq + i] += 0.3 * noise[i];
        lwt_ok(r.work->formulation->rates(r.work, 0, r.x, input, xdot), &r.work->error);
        speeds_along(&r, input, xdot, -h, before);
        speeds_along(&r, input, xdot, h, after);
        lwt_observe(r.work, 0, r.x, input, &r.arena, &r.now);
        double max = 1;
        for (int i = 0; i < nv; i++) max = fmax(max, fabs(lwt_rcr(&r)->vdot[i]));
        for (int i = 0; i < nv; i++)
            lwt_near("acceleration, seed", (int)seed_, (after[i] - before[i]) / (2 * h),
                     lwt_rcr(&r)->vdot[i], 1e-5 * max);
        free(xdot);
        free(before);
        free(after);
        free(noise);
        free(input);
        lwt_run_end(&d);
        lwt_run_end(&r);
    }
}

// The work at x + s xdot, t + s.
static double work_along(const lwt_run *r, const double *input, const double *xdot, double s)
{
    const int n = r->work->layout.nx;
    double *x = lwt_vector(n);
    lwi_snapshot now;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    for (int i = 0; i < n; i++) x[i] = r->x[i] + s * xdot[i];
    lwt_observe(r->work, r->t + s, x, input, &arena, &now);
    lwi_arena_free(&arena);
    free(x);
    return now.work;
}

// The work changes by the power of forces, drives and mounts in absolute coordinates, and its rate needs no
// acceleration: random mechanisms, at momenta with impulses.
static void work_is_a_quadrature(void **state)
{
    (void)state;
    int count = 0;
    LWT_FOR_LOOPS(c, 80, LWT_LOOP_ALL)
    {
        const double h = 1e-5; // error h^2 and round-off 1e-16 / h
        if (!c.model->driven) continue;
        double *input = lwt_vector(c.model->desc.ninput);
        for (int i = 0; i < c.model->desc.ninput; i++) input[i] = 0.3 * (i + 1);
        lwt_run r = lwt_run_momenta(c.model, "auto", NULL), d;
        const int nv = c.model->tree_nv, at_work = lwt_rcr(&r)->auxiliary.at_work;
        double *xdot = lwt_vector(r.work->layout.nx), *noise = lwt_vector(nv);
        lwi_cut_scatter(nv, (int)(seed_ % 97), noise);
        for (int i = 0; i < nv; i++) r.x[c.model->tree_nq + i] += 0.3 * noise[i];
        lwt_observe(r.work, 0, r.x, input, &r.arena, &r.now);
        d = lwt_run_from(c.model, DENSE, &r.now);
        double *dense = lwt_vector(d.work->layout.nx);
        lwt_ok(DENSE->rates(d.work, 0, d.x, input, dense), &d.work->error);
        for (int i = 0; i < nv; i++) lwt_rcr(&r)->vdot[i] = NAN;
        lwt_ok(r.work->formulation->rates(r.work, 0, r.x, input, xdot), &r.work->error);
        for (int i = 0; i < nv; i++) assert_true(isnan(lwt_rcr(&r)->vdot[i]));
        assert_true(isfinite(xdot[at_work]));
        const double power = dense[d.work->layout.nx - 1];
        const double rate =
            (work_along(&r, input, xdot, h) - work_along(&r, input, xdot, -h)) / (2 * h);
        lwt_near("power, seed", (int)seed_, rate, power, 1e-5 * (1 + fabs(power)));
        count++;
        free(dense);
        free(xdot);
        free(noise);
        free(input);
        lwt_run_end(&d);
        lwt_run_end(&r);
    }
    assert_true(count > 20);
}

// Drives, mounts, lengths, couplings, springs: motion and work are those of the speeds.
static void motions_are_those_of_speeds(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind);
        lwt_run p = lwt_run_momenta(model, "auto", NULL), u = lwt_run_start(model, RCR);
        lwt_integrate(p.work, &p.t, p.x, NULL, 5e-4, 1000);
        lwt_integrate(u.work, &u.t, u.x, NULL, 5e-4, 1000);
        lwt_run_observe(&p);
        lwt_run_observe(&u);
        same_snapshot("motion", model, &p.now, &u.now, 1e-7);
        lwt_near("work", kind, p.now.work, u.now.work, 1e-7);
        lwt_near("velocity of rows", kind, lwt_rows_rate(&p), 0, 1e-13);
        lwt_run_end(&p);
        lwt_run_end(&u);
        lw_model_destroy(model);
    }
}

// A disc in the plane on n legs of two links, all hinges parallel: three of the five rows of each leg depend.
static lw_model *planar_platform(int n)
{
    lw_builder *b = lwt_builder();
    const lw_body disc = lwt_body(b, &(lw_body_desc){.mass = 3, .inertia = {1, 1, 1, 0, 0, 0}});
    lw_builder_gravity(b, (lw_vec3){1, -9, 0});
    for (int i = 0; i < n; i++) {
        const double turn = 6.283185307179586 * (i + 0.1 * (i % 3)) / n, c = cos(turn),
                     s = sin(turn);
        const double kx = 1.5 * c - 0.4 * s, ky = 1.5 * s + 0.4 * c;
        lw_body link[2];
        for (int k = 0; k < 2; k++)
            link[k] = lwt_body(b, &(lw_body_desc){.mass = 0.5 + 0.1 * (i % 4),
                                                  .inertia = {0.02, 0.02, 0.03, 0, 0, 0},
                                                  .pose.position = {(kx + (2 - k) * c) / 2,
                                                                    (ky + (2 - k) * s) / 2, 0}});
        lwt_joint(b, LW_JOINT_REVOLUTE, NULL, lwt_ground, link[0], 2 * c, 2 * s);
        lwt_joint(b, LW_JOINT_REVOLUTE, NULL, link[0], link[1], kx, ky);
        lwt_joint(b, LW_JOINT_REVOLUTE, NULL, link[1], disc, c, s);
    }
    return lwt_model(b);
}

// Multiplications of the multipliers of minimum norm at all nodes.
static double norm_work(const lwt_run *r)
{
    double work = 0;
    for (int k = 0; k < r->model->nnode; k++) {
        const lwi_rcr_front *f = &lwt_rcr(r)->e.front[k];
        const double basis = lwi_rcr_minimum_norm_basis(f->nin, f->kept);
        work += f->nin * basis * basis;
    }
    return work;
}

// Many loops that meet in one body: the motion is that of speeds, the work is proportional to their number.
static void platforms_have_linear_cost(void **state)
{
    (void)state;
    double work[3];
    for (int i = 0; i < 3; i++) {
        lw_model *model = planar_platform(20 << i);
        lwt_run p = lwt_run_momenta(model, "auto", NULL), u = lwt_run_start(model, RCR);
        lwt_run_observe(&p);
        work[i] = norm_work(&p);
        if (i == 0) {
            lwt_integrate(p.work, &p.t, p.x, NULL, 1e-3, 100);
            lwt_integrate(u.work, &u.t, u.x, NULL, 1e-3, 100);
            lwt_run_observe(&p);
            lwt_run_observe(&u);
            same_snapshot("platform", model, &p.now, &u.now, 1e-8);
        }
        lwt_run_end(&p);
        lwt_run_end(&u);
        lw_model_destroy(model);
    }
    if (!(work[0] < 1e4 &&
          work[2] < 6 * work[0])) // a basis of all null vectors: 2e5, and 64 times that
        fail_msg("20, 40, 80 legs: %g, %g, %g multiplications", work[0], work[1], work[2]);
}

// Momenta of impulses along the rows: S' of their sum over the outboard bodies.
static void add_impulses(lwt_run *r, const double *sigma, double *p)
{
    lwi_rcr_work *d = r->work->data;
    const lw_model *model = r->model;
    const size_t n = (size_t)model->nnode;
    lwt_run_observe(r); // links and rows
    double(*f)[6] = calloc(n, sizeof *f);
    lwi_cut_wrenches(&d->cut, &d->tree, sigma, f);
    for (int k = model->nnode - 1; k >= 0; k--) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &d->tree.link[k];
        double up[6];
        for (int j = 0; j < node->nv; j++) p[node->iv + j] += v6_dot(link->S[j], f[k]);
        if (node->parent < 0) continue;
        force_from(up, link->R, link->r, f[k]);
        v6_add(f[node->parent], f[node->parent], up);
    }
    free(f);
}

// Impulses of loops change momenta, not the motion: neither at once, to rounding, nor later.
static void impulses_do_not_move_anything(void **state)
{
    static const double sigma[5] = {0.7, -1.3, 0.4, 2.1, -0.6};
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        lw_model *model = kind ? lwt_six_bar() : lwt_standard_four_bar();
        double all[16];
        for (int i = 0; i < 16; i++) all[i] = sigma[i % 5];
        lwt_run a = lwt_run_momenta(model, "none", NULL), b = lwt_run_momenta(model, "none", NULL);
        add_impulses(&b, all, b.x + model->tree_nq);
        assert_true(fabs(a.x[model->tree_nq + 1] - b.x[model->tree_nq + 1]) > 0.1);
        lwt_run_observe(&a);
        lwt_run_observe(&b);
        for (int i = 0; i < model->nv; i++) lwt_near("u", i, a.now.qd[i], b.now.qd[i], 2e-14);
        lwt_integrate(a.work, &a.t, a.x, NULL, 1e-3, 200);
        lwt_integrate(b.work, &b.t, b.x, NULL, 1e-3, 200);
        lwt_run_observe(&a);
        lwt_run_observe(&b);
        same_snapshot("later", model, &a.now, &b.now, 1e-8);
        lwt_run_end(&a);
        lwt_run_end(&b);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------- the numbers

// Difference to the form with accelerations after RK4 steps: of the fourth order.
static double difference(const lw_model *model, double step, double duration)
{
    lwt_run p = lwt_run_momenta(model, "auto", NULL), u = lwt_run_start(model, RCR);
    const int steps = (int)rint(duration / step);
    double max = 0;
    lwt_integrate(p.work, &p.t, p.x, NULL, step, steps);
    lwt_integrate(u.work, &u.t, u.x, NULL, step, steps);
    for (int i = 0; i < model->tree_nq; i++) max = fmax(max, fabs(p.x[i] - u.x[i]));
    lwt_run_end(&p);
    lwt_run_end(&u);
    return max;
}

static void converges_to_the_motion_of_speeds(void **state)
{
    (void)state;
    lw_model *model = lwt_floating_four_bar((lw_vec3){0, -9.81, 0});
    const double coarse = difference(model, 0.005, 2), fine = difference(model, 0.0025, 2);
    print_message("floating four-bar, 2 s: %.2e, %.2e\n", coarse, fine);
    if (!(coarse < 1e-4 && fine < coarse / 12)) fail_msg("differences %g, %g", coarse, fine);
    lw_model_destroy(model);
    model = lwt_five_bar(2);
    const double five = difference(model, 0.0025, 0.3);
    print_message("five-bar with two legs, 0.3 s: %.2e\n", five);
    lwt_near("five-bar", 0, five, 0, 1e-8);
    lw_model_destroy(model);
}

static void ladders_are_one_pendulum(void **state)
{
    static const int clusters[] = {1, 3, 8};
    double first[2] = {0};
    (void)state;
    for (int i = 0; i < LWI_COUNT(clusters); i++) {
        lw_model *model = lwt_ladder(clusters[i]);
        lwt_run p = lwt_run_momenta(model, "auto", NULL), u = lwt_run_start(model, RCR);
        lwt_integrate(p.work, &p.t, p.x, NULL, 0.01, 200);
        lwt_integrate(u.work, &u.t, u.x, NULL, 0.001, 2000);
        for (int k = 0; k < 2; k++) lwt_near("q at 2 s", clusters[i], p.x[k], u.x[k], 5e-8);
        if (i == 0) memcpy(first, p.x, sizeof first);
        lwt_run_end(&p);
        lwt_run_end(&u);
        lw_model_destroy(model);
    }
}

typedef struct drift {
    double exponent, error, energy, impulse;
} drift;

static double energy_of(lwt_run *r)
{
    lwi_totals s;
    lwi_observe_system(r->model, LW_OBSERVE_ENERGY, &r->now, &s);
    return s.kinetic + s.potential;
}

static drift four_bar_drift(const char *kappa)
{
    lw_model *model = lwt_standard_four_bar();
    lwt_run r = lwt_run_momenta(model, kappa, NULL);
    drift d = {0};
    lwt_run_observe(&r);
    const double E = energy_of(&r);
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    int n = 0;
    for (int step = 1; step <= 4000; step++) {
        lwt_integrate(r.work, &r.t, r.x, NULL, 0.01, 1);
        if (step % 50) continue;
        lwt_run_observe(&r);
        const lwi_rcr_work *work = lwt_rcr(&r);
        d.error = fmax(d.error, hypot(work->cut.phi[0], work->cut.phi[1]));
        for (int i = 0; i < work->cut.m; i++) d.impulse = fmax(d.impulse, fabs(work->sigma[i]));
        lwt_near("velocity of rows", step, lwt_rows_rate(&r), 0, 1e-13);
        if (r.t < 2) continue;
        sx += log(r.t), sy += log(d.error), sxx += log(r.t) * log(r.t),
            sxy += log(r.t) * log(d.error), n++;
    }
    d.exponent = (n * sxy - sx * sy) / (n * sxx - sx * sx);
    d.energy = energy_of(&r) - E;
    lwt_run_end(&r);
    lw_model_destroy(model);
    print_message("kappa %s: exponent %.2f, closure %.2e m, energy %.2e J, impulse %.3g\n", kappa,
                  d.exponent, d.error, d.energy, d.impulse);
    return d;
}

// Without decay impulses grow with time and multiply the position error: drift with the square of time.  With decay
// they remain small, and drift grows in proportion to time.
static void the_leak_keeps_drift_linear(void **state)
{
    (void)state;
    const drift never = four_bar_drift("none"), leak = four_bar_drift("auto");
    lwt_near("exponent without", 0, never.exponent, 1.99, 0.1);
    lwt_near("closure without", 0, never.error, 2.0e-3, 0.1e-3);
    lwt_near("impulse without", 0, never.impulse, 851, 10);
    lwt_near("energy without", 0, never.energy, -9.3, 0.1);
    lwt_near("exponent", 0, leak.exponent, 1.08, 0.15);
    // reset every 100 steps: 9.1e-5 and 3.9e-2 are printed
    assert_true(leak.error < 9.1e-5 && fabs(leak.energy) < 4.5e-2);
    assert_true(leak.impulse < 100);
}

// A free mechanism conserves its momenta to rounding, its angular momentum and energy by the order
// of the method.
static void free_mechanisms_keep_their_momenta(void **state)
{
    (void)state;
    double error[2];
    lw_model *model = lwt_floating_four_bar((lw_vec3){0, 0, 0});
    for (int i = 0; i < 2; i++) {
        lwt_run r = lwt_run_momenta(model, "auto", NULL);
        lwi_totals a, b;
        lwt_run_observe(&r);
        lwi_observe_system(model, LW_OBSERVE_ENERGY, &r.now, &a);
        lwt_integrate(r.work, &r.t, r.x, NULL, 0.004 / (1 << i), 500 << i);
        lwt_run_observe(&r);
        lwi_observe_system(model, LW_OBSERVE_ENERGY, &r.now, &b);
        for (int k = 0; k < 3; k++) {
            lwt_near("momentum", k, b.momentum[k], a.momentum[k], 1e-12);
            lwt_near("angular momentum", k, b.angular_momentum[k], a.angular_momentum[k],
                     i ? 2e-8 : 3e-7);
        }
        error[i] = fabs(b.kinetic - a.kinetic);
        lwt_run_end(&r);
    }
    print_message("energy errors %.1e, %.1e\n", error[0], error[1]);
    assert_true(error[1] < error[0] / 10);
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------- integrators

// The partition is not part of the state: it changes near singular positions, and no integrator
// restarts.
static void dead_points_without_restarts(void **state)
{
    static const char *const names[] = {"dopri5", "adams", "bdf"};
    double q[LWI_COUNT(names)];
    (void)state;
    lw_model *model = lwt_non_grashof();
    for (int i = 0; i < LWI_COUNT(names); i++) {
        lw_options o;
        lw_error error;
        lw_sim *sim;
        lw_summary s;
        lw_options_default(&o);
        lwi_copy_text(o.formulation, sizeof o.formulation, "rcr");
        o.state = LW_STATE_MOMENTA;
        lwi_copy_text(o.integrator, sizeof o.integrator, names[i]);
        o.project = LW_PROJECT_NEVER;
        lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &o}, &sim, &error), &error);
        lwt_ok(lw_sim_step(sim, 1.5), lw_sim_error(sim));
        lw_sim_summary(sim, &s);
        assert_true(((const lwi_rcr_choice *)sim->work->discrete)->switches > 1);
        assert_int_equal(s.restarts, 0);
        q[i] = sim->x[0];
        lwt_near(names[i], 0, q[i], q[0], i < 1 ? 0 : 1e-3);
        lw_sim_destroy(sim);
    }
    lwt_near("q", 0, q[0], -0.43887, 1e-4);
    lw_model_destroy(model);
}

// A link without mass has no momentum, and its joint only that of the impulses.
static void links_without_mass(void **state)
{
    (void)state;
    for (int link = 1; link < 3; link++) {
        lw_builder *b = lwt_builder();
        lwt_four_bar f = lwt_standard_bars();
        f.m[link] = 0;
        lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
        lw_model *model = lwt_model(b);
        lwt_run p = lwt_run_momenta(model, "auto", NULL), u = lwt_run_start(model, RCR);
        double *scale = lwt_vector(p.work->layout.nx);
        lwt_integrate(p.work, &p.t, p.x, NULL, 1e-3, 500);
        lwt_integrate(u.work, &u.t, u.x, NULL, 1e-3, 500);
        lwt_run_observe(&p);
        lwt_run_observe(&u);
        same_snapshot("massless", model, &p.now, &u.now, 1e-7);
        lwt_ok(p.work->formulation->scale(p.work, p.t, p.x, scale), &p.work->error);
        for (int i = 0; i < p.work->layout.nx; i++) assert_true(scale[i] > 0 && isfinite(scale[i]));
        free(scale);
        lwt_run_end(&p);
        lwt_run_end(&u);
        lw_model_destroy(model);
    }
}

// Formulations report the kind of their state.
static void other_states_are_refused(void **state)
{
    static const char *const pairs[][3] = {
        {"dense", "momenta", "dense has speeds as state, not momenta"},
        {"lagrange", "momenta", "lagrange has speeds"},
        {"hdca", "speeds", "hdca has momenta as state, not speeds"},
        {"index3", "momenta", "index3 has speeds"},
        {"rcr", "speeds", NULL},
        {"rcr", "momenta", NULL},
        {"hdca", "momenta", NULL},
        {"dca", "speeds", NULL}};
    (void)state;
    lw_model *model = lwt_standard_four_bar();
    for (int i = 0; i < LWI_COUNT(pairs); i++) {
        lw_options o;
        lw_error error;
        lw_sim *sim = NULL;
        lw_options_default(&o);
        lwi_copy_text(o.formulation, sizeof o.formulation, pairs[i][0]);
        lwt_ok(lw_options_set(&o, "state", pairs[i][1], &error), &error);
        const lw_status status = lw_sim_create(model, &(lw_sim_desc){.options = &o}, &sim, &error);
        if (!pairs[i][2]) {
            lwt_ok(status, &error);
            lw_sim_destroy(sim);
            continue;
        }
        assert_int_equal(status, LW_ERR_ARGUMENT);
        if (!strstr(error.text, pairs[i][2])) fail_msg("%s", error.text);
    }
    lw_options o;
    lw_error error;
    lw_options_default(&o);
    assert_int_equal(lw_options_set(&o, "state", "impulses", &error), LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "none of auto, speeds, momenta"));
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_make_the_accelerations),
        cmocka_unit_test(work_is_a_quadrature),
        cmocka_unit_test(motions_are_those_of_speeds),
        cmocka_unit_test(platforms_have_linear_cost),
        cmocka_unit_test(impulses_do_not_move_anything),
        cmocka_unit_test(converges_to_the_motion_of_speeds),
        cmocka_unit_test(ladders_are_one_pendulum),
        cmocka_unit_test(the_leak_keeps_drift_linear),
        cmocka_unit_test(free_mechanisms_keep_their_momenta),
        cmocka_unit_test(dead_points_without_restarts),
        cmocka_unit_test(links_without_mass),
        cmocka_unit_test(other_states_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
