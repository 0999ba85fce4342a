// test_integrators.c -- orders, tolerances, stops, restarts and failures of every integrator.
#include "integrate/integrator.h"

#include "support/counted_malloc.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// ---------------------------------------------------------------------------------------- problems

// Kepler's ellipse with eccentricity e: x = (position, velocity), period 2 pi.
#define ECCENTRICITY 0.3
static lw_status kepler(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t;
    const double r2 = x[0] * x[0] + x[1] * x[1], r3 = r2 * sqrt(r2);
    xdot[0] = x[2], xdot[1] = x[3];
    xdot[2] = -x[0] / r3, xdot[3] = -x[1] / r3;
    return LW_OK;
}

static void kepler_at(double t, double x[4])
{
    const double e = ECCENTRICITY, s = sqrt(1 - e * e);
    double E = t; // E - e sin E = t by Newton's method
    for (int i = 0; i < 50; i++) E -= (E - e * sin(E) - t) / (1 - e * cos(E));
    const double rate = 1 / (1 - e * cos(E));
    x[0] = cos(E) - e, x[1] = s * sin(E);
    x[2] = -sin(E) * rate, x[3] = s * cos(E) * rate;
}

typedef struct run {
    double x[8], t;
    lwi_integrator_stats stats;
    lw_status status;
    lw_error error;
} run;

typedef struct setup {
    const char *name;
    double tolerance, step;
    long max_steps;
    bool dense;
} setup;

static lwi_integrator *make(const setup *s, lwi_problem *p, const double *atol, double t,
                            const double *x)
{
    const lwi_integrator_type *type = lwi_integrator_find(s->name);
    assert_non_null(type);
    p->rtol = s->tolerance, p->atol = atol, p->max_step = s->step;
    p->max_steps = s->max_steps, p->dense_output = s->dense;
    lwi_integrator *integrator = NULL;
    lw_error error = {0};
    assert_int_equal(type->create(type, p, t, x, NULL, &integrator, &error), LW_OK);
    return integrator;
}

static const double tight[8] = {1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300, 1e-300};

static void same(double *atol, double value)
{
    for (int i = 0; i < 8; i++) atol[i] = value;
}

// Kepler's problem to `end` in one call.
static run orbit(const setup *s, double end)
{
    run r = {0};
    double atol[8];
    same(atol, s->tolerance);
    kepler_at(0, r.x);
    lwi_problem p = {.n = 4, .rates = kepler};
    lwi_integrator *integrator = make(s, &p, atol, 0, r.x);
    r.status = integrator->type->advance(integrator, &r.t, r.x, end, end, false, &r.error);
    integrator->type->stats(integrator, &r.stats);
    integrator->type->destroy(integrator);
    return r;
}

static double orbit_error(const run *r)
{
    double x[4], max = 0;
    kepler_at(r->t, x);
    for (int i = 0; i < 4; i++) max = fmax(max, fabs(x[i] - r->x[i]));
    return max;
}

// ------------------------------------------------------------------------------- accuracy and cost

// With steps fixed at h by `max_step` and tolerances that accept every step, the error of an
// explicit method decreases with the power of h that is its order, or faster.
static void observed_order_is_nominal(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double step;
    } cases[] = {
        {"dopri5", 0.05}, {"dopri54", 0.05}, {"bs3", 0.02}, {"verner87", 0.2}, {"fehlberg8", 0.2}};
    for (int i = 0; i < LWI_COUNT(cases); i++) {
        const setup a = {.name = cases[i].name, .tolerance = 1e3, .step = cases[i].step};
        const setup b = {.name = cases[i].name, .tolerance = 1e3, .step = cases[i].step / 2};
        const run ra = orbit(&a, 5), rb = orbit(&b, 5);
        assert_int_equal(ra.status, LW_OK);
        assert_int_equal(rb.status, LW_OK);
        const double order = log2(orbit_error(&ra) / orbit_error(&rb));
        print_message("%-10s observed order %.2f, errors %.1e %.1e\n", a.name, order,
                      orbit_error(&ra), orbit_error(&rb));
        const double nominal = lwi_integrator_find(a.name)->order;
        // the leading error coefficient of verner87 is small: the observed order is higher
        if (!(order > 0.9 * nominal))
            fail_msg("%s: observed order %g, nominal %g", a.name, order, nominal);
    }
}

static void fixed_step_order_is_four(void **state)
{
    (void)state;
    const setup a = {.name = "rk4", .step = 0.02}, b = {.name = "rk4", .step = 0.01};
    const run ra = orbit(&a, 6), rb = orbit(&b, 6);
    const double order = log2(orbit_error(&ra) / orbit_error(&rb));
    print_message("rk4        observed order %.3f\n", order);
    assert_true(fabs(order - 4) < 0.15);
    assert_int_equal(rb.stats.steps, 600);
    assert_int_equal(rb.stats.evaluations, 2400);
}

// The global error is within a moderate multiple of the tolerance, down to 1e-12.
static void error_is_proportional_to_tolerance(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        if (!type->adaptive) continue;
        double last = INFINITY;
        for (double tolerance = 1e-6; tolerance > 3e-13; tolerance *= 1e-2) {
            if (!strcmp(type->name, "bs3") && tolerance < 1e-9) break; // too expensive
            if (!strcmp(type->name, "bdf") && tolerance < 1e-11) break;
            const setup s = {.name = type->name, .tolerance = tolerance};
            const run r = orbit(&s, 20);
            assert_int_equal(r.status, LW_OK);
            const double error = orbit_error(&r);
            print_message("%-10s tolerance %.0e: error %.1e, %6ld evaluations, %5ld steps\n",
                          type->name, tolerance, error, r.stats.evaluations, r.stats.steps);
            // three orbits amplify local errors; multistep methods control them per step
            if (error > 2e4 * tolerance)
                fail_msg("%s at %g: error %g", type->name, tolerance, error);
            assert_true(error < 0.3 * last);
            last = error;
        }
    }
}

// The order-8 pair of this library needs fewer evaluations than that of SUNDIALS.
static void verner_is_cheaper_than_fehlberg(void **state)
{
    (void)state;
    const setup v = {.name = "verner87", .tolerance = 1e-12};
    const setup f = {.name = "fehlberg8", .tolerance = 1e-12};
    const run rv = orbit(&v, 20), rf = orbit(&f, 20);
    assert_true(rv.stats.evaluations < rf.stats.evaluations);
    assert_true(orbit_error(&rv) < 10 * orbit_error(&rf));
}

// x' = lambda (cos t - x) - sin t with lambda = 1e6: x = cos t.
static lw_status stiff(void *user, double t, const double *x, double *xdot)
{
    (void)user;
    xdot[0] = 1e6 * (cos(t) - x[0]) - sin(t);
    xdot[1] = x[0];
    return LW_OK;
}

// bdf integrates a stiff problem in few steps, an explicit method in the number that stability
// requires.
static void bdf_solves_stiff(void **state)
{
    (void)state;
    double atol[8], x[2] = {2, 0}, t = 0; // initial state off the slow solution
    same(atol, 1e-8);
    lwi_problem p = {.n = 2, .rates = stiff};
    const setup s = {.name = "bdf", .tolerance = 1e-8};
    lwi_integrator *integrator = make(&s, &p, atol, 0, x);
    assert_int_equal(integrator->type->advance(integrator, &t, x, 10, 10, false, NULL), LW_OK);
    lwi_integrator_stats stats;
    integrator->type->stats(integrator, &stats);
    integrator->type->destroy(integrator);
    assert_true(fabs(x[0] - cos(10)) < 1e-7 && fabs(x[1] - sin(10)) < 3e-6);
    assert_true(stats.evaluations < 5000);
}

// ------------------------------------------------------------------------------------------- stops

typedef struct monitor {
    double latest; ///< largest time of an evaluation of rates
    long count;
} monitor;

static lw_status watched(void *user, double t, const double *x, double *xdot)
{
    monitor *w = user;
    w->latest = fmax(w->latest, t);
    w->count++;
    return kepler(NULL, t, x, xdot);
}

static double round_off(double t)
{
    return 8 * DBL_EPSILON * fabs(t);
}

// Every integrator ends exactly at the stop and evaluates no rates beyond it; many stops do not
// reduce the accuracy.
static void stops_are_exact(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const setup s = {.name = lwi_integrator_type_at(i)->name, .tolerance = 1e-8, .step = 0.01};
        monitor w = {0};
        run r = {0};
        double atol[8];
        same(atol, 1e-8);
        kepler_at(0, r.x);
        lwi_problem p = {.n = 4, .rates = watched, .user = &w};
        lwi_integrator *integrator = make(&s, &p, atol, 0, r.x);
        for (int k = 1; k <= 500; k++) {
            const double stop = k * 0.0137;
            assert_int_equal(
                integrator->type->advance(integrator, &r.t, r.x, stop, stop, false, NULL), LW_OK);
            assert_true(r.t == stop);
            assert_true(w.latest <= stop + round_off(stop));
        }
        integrator->type->stats(integrator, &r.stats);
        assert_int_equal(r.stats.evaluations, w.count);
        if (!(orbit_error(&r) < 3e-5)) fail_msg("%s: %g", s.name, orbit_error(&r));
        // stops within round-off of the current time
        double stop = r.t;
        for (int k = 0; k < 40; k++) {
            stop = nextafter(stop, INFINITY);
            assert_int_equal(
                integrator->type->advance(integrator, &r.t, r.x, stop, stop, false, NULL), LW_OK);
            assert_true(r.t == stop);
        }
        assert_int_equal(integrator->type->advance(integrator, &r.t, r.x, 8, 8, false, NULL),
                         LW_OK);
        if (!(orbit_error(&r) < 3e-5)) fail_msg("%s: %g", s.name, orbit_error(&r));
        integrator->type->destroy(integrator);
    }
}

// With a limit beyond the stop, rows are interpolated: the steps are those of a run without rows.
static void dense_output_interpolates(void **state)
{
    (void)state;
    static const char *const names[] = {"dopri5", "dopri54", "adams", "bdf"};
    for (int i = 0; i < LWI_COUNT(names); i++) {
        const setup s = {.name = names[i], .tolerance = 1e-7, .dense = true};
        monitor w = {0};
        run r = {0}, free_run = orbit(&s, 6);
        double atol[8];
        same(atol, 1e-7);
        kepler_at(0, r.x);
        lwi_problem p = {.n = 4, .rates = watched, .user = &w};
        lwi_integrator *integrator = make(&s, &p, atol, 0, r.x);
        for (int k = 1; k <= 600; k++) {
            const double row = k == 600 ? 6 : k * 0.01;
            assert_int_equal(integrator->type->advance(integrator, &r.t, r.x, row, 6, false, NULL),
                             LW_OK);
            assert_true(r.t == row && w.latest <= 6 + round_off(6));
            if (!(orbit_error(&r) < 1e-4)) fail_msg("%s at %g: %g", s.name, r.t, orbit_error(&r));
        }
        integrator->type->stats(integrator, &r.stats);
        // the size of the first step depends on the first stop
        assert_true(labs(r.stats.steps - free_run.stats.steps) <= 12);
        integrator->type->destroy(integrator);
    }
}

static void steps_come_one_by_one(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const setup s = {.name = lwi_integrator_type_at(i)->name, .tolerance = 1e-6, .step = 0.1};
        run r = {0}, whole = orbit(&s, 3);
        double atol[8];
        same(atol, 1e-6);
        kepler_at(0, r.x);
        lwi_problem p = {.n = 4, .rates = kepler};
        lwi_integrator *integrator = make(&s, &p, atol, 0, r.x);
        long count = 0;
        for (double last = 0; r.t < 3; last = r.t) {
            assert_int_equal(integrator->type->advance(integrator, &r.t, r.x, 3, 3, true, NULL),
                             LW_OK);
            assert_true(r.t > last && r.t - last <= 0.1 * (1 + 1e-12));
            count++;
        }
        integrator->type->stats(integrator, &r.stats);
        assert_int_equal(count, r.stats.steps);
        assert_int_equal(count, whole.stats.steps);
        assert_memory_equal(r.x, whole.x, sizeof r.x); // the same steps, the same bits
        integrator->type->destroy(integrator);
    }
}

// rk4 divides every interval into equal steps, none longer than the prescribed step.
static void fixed_steps_are_equal(void **state)
{
    (void)state;
    const setup s = {.name = "rk4", .step = 0.03};
    run r = {0};
    kepler_at(0, r.x);
    lwi_problem p = {.n = 4, .rates = kepler};
    lwi_integrator *integrator = make(&s, &p, tight, 0, r.x);
    for (int k = 1; k <= 20; k++) {
        const double row = k * 0.1, before = r.t;
        for (int j = 1; j <= 4; j++) { // 0.1 / 0.03 -> 4 steps of 0.025
            integrator->type->advance(integrator, &r.t, r.x, row, row, true, NULL);
            assert_true(fabs(r.t - before - j * 0.025) < 1e-14);
        }
        assert_true(r.t == row);
    }
    integrator->type->destroy(integrator);
}

// -------------------------------------------------------- small problems, empty problems, failures

static lw_status decay(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t;
    xdot[0] = -x[0];
    return LW_OK;
}

static lw_status nothing(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t, (void)x, (void)xdot;
    return LW_OK;
}

static void none_and_one_state(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const setup s = {.name = lwi_integrator_type_at(i)->name, .tolerance = 1e-9, .step = 0.01};
        double x[1] = {1}, atol[8], t = 0;
        same(atol, 1e-9);
        lwi_problem none = {.rates = nothing}, one = {.n = 1, .rates = decay};
        lwi_integrator *integrator = make(&s, &none, atol, 0, x);
        assert_int_equal(integrator->type->advance(integrator, &t, x, 2, 2, false, NULL), LW_OK);
        assert_true(t == 2);
        assert_int_equal(integrator->type->restart(integrator, 1, x, LWI_JUMP_STATE, NULL), LW_OK);
        t = 1;
        assert_int_equal(integrator->type->advance(integrator, &t, x, 3, 4, true, NULL), LW_OK);
        assert_true(t > 1 && t <= 3);
        integrator->type->destroy(integrator);

        integrator = make(&s, &one, atol, t = 0, x);
        assert_int_equal(integrator->type->advance(integrator, &t, x, 1, 1, false, NULL), LW_OK);
        assert_true(fabs(x[0] - exp(-1)) < 1e-7);
        integrator->type->destroy(integrator);
    }
}

// The same bits after a restart with the same state; a restart is counted where it discards
// history.
static void restarts_discard_history_and_are_counted(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        const setup s = {.name = type->name, .tolerance = 1e-7, .step = 0.05};
        const bool history = !strcmp(type->name, "adams") || !strcmp(type->name, "bdf") ||
                             !strcmp(type->name, "gauss");
        run r = {0}, first = orbit(&s, 2);
        double atol[8];
        same(atol, 1e-7);
        kepler_at(0, r.x);
        lwi_problem p = {.n = 4, .rates = kepler};
        lwi_integrator *integrator = make(&s, &p, atol, 0, r.x);
        assert_int_equal(type->advance(integrator, &r.t, r.x, 5, 5, false, NULL), LW_OK);
        kepler_at(0, r.x);
        r.t = 0;
        assert_int_equal(type->restart(integrator, r.t, r.x, LWI_JUMP_STATE, NULL), LW_OK);
        assert_int_equal(type->advance(integrator, &r.t, r.x, 2, 2, false, NULL), LW_OK);
        assert_memory_equal(r.x, first.x, sizeof r.x);
        type->stats(integrator, &r.stats);
        assert_int_equal(r.stats.restarts, 1);
        assert_true(r.stats.steps > first.stats.steps); // the steps of both intervals are counted
        assert_int_equal(type->restart(integrator, r.t, r.x, LWI_JUMP_RATES, NULL), LW_OK);
        type->stats(integrator, &r.stats);
        assert_int_equal(r.stats.restarts, history ? 2 : 1);
        assert_int_equal(type->advance(integrator, &r.t, r.x, 4, 4, false, NULL), LW_OK);
        assert_true(orbit_error(&r) < 1e-4);
        type->destroy(integrator);
    }
}

// A force with a switch at t = 1: x'' = 0, then 1. `user` is the current force.
static lw_status switched(void *user, double t, const double *x, double *xdot)
{
    (void)t;
    xdot[0] = x[1], xdot[1] = *(const double *)user;
    return LW_OK;
}

// A jump of the rates between two calls takes effect from the first stage of the next step.
static void jump_of_rates_is_seen(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        const setup s = {.name = type->name, .tolerance = 1e-9, .step = 0.5};
        double force = 0, atol[8], x[2] = {0, 0}, t = 0;
        same(atol, 1e-9);
        lwi_problem p = {.n = 2, .rates = switched, .user = &force};
        lwi_integrator *integrator = make(&s, &p, atol, 0, x);
        assert_int_equal(type->advance(integrator, &t, x, 1, 1, false, NULL), LW_OK);
        force = 1;
        assert_int_equal(type->restart(integrator, t, x, LWI_JUMP_RATES, NULL), LW_OK);
        assert_int_equal(type->advance(integrator, &t, x, 2, 2, false, NULL), LW_OK);
        if (!(fabs(x[0] - 0.5) < 1e-7 && fabs(x[1] - 1) < 1e-7))
            fail_msg("%s: %.12g %.12g", type->name, x[0], x[1]);
        type->destroy(integrator);
    }
}

// x' = -sqrt x, approximately: rates are not finite where a trial stage overshoots x = 0.
static lw_status edge(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t;
    xdot[0] = -sqrt(x[0]) - 1e-3 * x[0] + 1e-6; // NaN for x < 0; tends to x = 1e-12
    return LW_OK;
}

// After a trial stage with non-finite rates the integrator continues with smaller steps.
static void not_finite_is_recovered(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        if (!type->adaptive) continue;
        const setup s = {.name = type->name, .tolerance = 1e-4};
        double atol[8], x[1] = {1}, t = 0;
        same(atol, 1e-9);
        lw_error error = {0};
        lwi_problem p = {.n = 1, .rates = edge};
        lwi_integrator *integrator = make(&s, &p, atol, 0, x);
        const lw_status status = type->advance(integrator, &t, x, 1.99, 1.99, false, &error);
        if (status != LW_OK) fail_msg("%s: %s", type->name, error.text);
        assert_true(fabs(sqrt(x[0]) - 0.005) < 2e-3); // sqrt x = 1 - t/2, approximately
        type->destroy(integrator);
    }
}

// x' = 1 + x^2 has a pole at pi/2: every adaptive integrator stops there, reports the time, and
// returns the last accepted state.
static lw_status pole(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t;
    xdot[0] = 1 + x[0] * x[0];
    return LW_OK;
}

static void pole_ends_the_integration(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        const setup s = {.name = type->name, .tolerance = 1e-9, .step = 0.01};
        double atol[8], x[1] = {0}, t = 0;
        same(atol, 1e-9);
        lw_error error = {0};
        lwi_problem p = {.n = 1, .rates = pole};
        lwi_integrator *integrator = make(&s, &p, atol, 0, x);
        const lw_status status = type->advance(integrator, &t, x, 3, 3, false, &error);
        print_message("%-10s t = %.6f x = %.2e: %s\n", type->name, t, x[0], error.text);
        assert_true(status == LW_ERR_INTEGRATOR || status == LW_ERR_NOT_FINITE);
        assert_int_equal(error.status, status);
        assert_non_null(strstr(error.text, "integration stops at t = 1."));
        assert_true(isfinite(x[0]) && x[0] > 10);
        if (type->adaptive) {
            assert_true(fabs(t - 1.5707963267948966) < 1e-6);
            assert_true(fabs(atan(x[0]) - t) < 1e-6);
        }
        type->destroy(integrator);
    }
}

// Rates that are not finite from some time on: that of the present step plus a few units in its last place, or 0.
typedef struct barrier {
    bool moves; ///< with the steps
    double at;
} barrier;

static lw_status move_barrier(void *user, double t, double *x, bool *changed)
{
    barrier *b = user;
    (void)x, (void)changed;
    if (b->moves) b->at = t * (1 + 1e-15);
    return LW_OK;
}

static lw_status up_to_barrier(void *user, double t, const double *x, double *xdot)
{
    const barrier *b = user;
    xdot[0] = t > b->at ? (double)NAN : 1 - x[0];
    return LW_OK;
}

// Steps as short as the resolution of time end.
static void short_steps_end_the_integration(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        if (type->steps || !type->adaptive) continue;
        const setup s = {.name = type->name, .tolerance = 1e-6};
        double atol[8], x[1] = {0}, t = 1;
        same(atol, 1e-6);
        lw_error error = {0};
        barrier b = {.moves = true};
        lwi_problem p = {.n = 1, .rates = up_to_barrier, .pre_step = move_barrier, .user = &b};
        lwi_integrator *integrator = make(&s, &p, atol, 1, x);
        assert_int_equal(LW_ERR_NOT_FINITE, type->advance(integrator, &t, x, 2, 2, false, &error));
        assert_non_null(strstr(error.text, "integration stops at t = 1 with step "));
        assert_true(t >= 1 && t < 1 + 1e-9);
        lwi_integrator_stats stats;
        type->stats(integrator, &stats);
        if (stats.evaluations > 200000) fail_msg("%s: %ld", type->name, stats.evaluations);
        type->destroy(integrator);
    }
}

typedef struct push {
    double by; // tolerances, before every step
    long calls;
} push;

static lw_status push_state(void *user, double t, double *x, bool *changed)
{
    push *p = user;
    (void)t;
    x[0] += p->by * 1e-6 * (1 + fabs(x[0]));
    p->calls++;
    *changed = true;
    return LW_OK;
}

static lw_status swing(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)t;
    xdot[0] = x[1], xdot[1] = -x[0];
    return LW_OK;
}

// A pre-step that changes the state by less than the tolerances, before every step: multistep methods keep their
// history.  Larger changes are made.
static void small_changes_keep_the_history(void **state)
{
    static const char *const names[] = {"bdf", "adams"};
    (void)state;
    for (int i = 0; i < 4; i++) {
        const setup s = {.name = names[i % 2], .tolerance = 1e-6};
        double atol[8], x[2] = {1, 0}, t = 0;
        same(atol, 1e-6);
        lw_error error = {0};
        push p = {.by = i < 2 ? 1 : 100};
        lwi_problem problem = {.n = 2, .rates = swing, .pre_step = push_state, .user = &p};
        lwi_integrator *integrator = make(&s, &problem, atol, 0, x);
        assert_int_equal(LW_OK, integrator->type->advance(integrator, &t, x, 1, 1, false, &error));
        lwi_integrator_stats stats;
        integrator->type->stats(integrator, &stats);
        assert_true(p.calls > 5 && stats.restarts == (i < 2 ? 0 : p.calls));
        if (i < 2) assert_true(fabs(x[0] - cos(1)) < 1e-4);
        integrator->type->destroy(integrator);
    }
}

// Where a step begins with rates that are not finite, no shorter step helps.
static void rates_not_finite_at_the_start_end_it(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        if (type->steps) continue;
        const setup s = {.name = type->name, .tolerance = 1e-6, .step = 0.1};
        double atol[8], x[1] = {0}, t = 0;
        same(atol, 1e-6);
        lw_error error = {0};
        barrier b = {.at = 10};
        lwi_problem p = {.n = 1, .rates = up_to_barrier, .user = &b};
        lwi_integrator *integrator = make(&s, &p, atol, 0, x);
        lwi_integrator_stats before, after;
        assert_int_equal(LW_OK, type->advance(integrator, &t, x, 1, 1, false, &error));
        type->stats(integrator, &before);
        b.at = -1;
        assert_int_equal(LW_OK, type->restart(integrator, t, x, LWI_JUMP_RATES, &error));
        assert_int_equal(LW_ERR_NOT_FINITE, type->advance(integrator, &t, x, 2, 2, false, &error));
        assert_non_null(strstr(error.text, "integration stops at t = 1 with step "));
        assert_true(t == 1);
        type->stats(integrator, &after);
        if (after.evaluations - before.evaluations > 3)
            fail_msg("%s: %ld evaluations", type->name, after.evaluations - before.evaluations);
        type->destroy(integrator);
    }
}

static lw_error why = {.text = "joint 'knee': no inertia about its axis"};
static lw_status fails_late(void *user, double t, const double *x, double *xdot)
{
    (void)user, (void)x;
    xdot[0] = 1;
    return t > 1 ? LW_ERR_SINGULAR : LW_OK;
}

// Other failures are returned at once, with the time, the step and the message of the formulation.
static void failures_are_reported(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        const setup s = {.name = type->name, .tolerance = 1e-6, .step = 0.3};
        double atol[8], x[1] = {0}, t = 0;
        same(atol, 1e-6);
        lw_error error = {0};
        lwi_problem p = {.n = 1, .rates = fails_late, .why = &why};
        lwi_integrator *integrator = make(&s, &p, atol, 0, x);
        const lw_status status = type->advance(integrator, &t, x, 3, 3, false, &error);
        if (status != LW_ERR_SINGULAR) fail_msg("%s: %d %s", type->name, status, error.text);
        assert_non_null(strstr(error.text, "joint 'knee': no inertia"));
        assert_non_null(strstr(error.text, "integration stops at t = "));
        assert_true(t <= 1 && fabs(x[0] - t) < 1e-12);
        type->destroy(integrator);
    }
}

static void limits_are_kept(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        setup s = {.name = lwi_integrator_type_at(i)->name,
                   .tolerance = 1e-6,
                   .step = 0.01,
                   .max_steps = 25};
        const run r = orbit(&s, 100);
        assert_int_equal(r.status, LW_ERR_INTEGRATOR);
        assert_int_equal(r.stats.steps, 25);
        assert_non_null(strstr(r.error.text, "max_steps"));
        assert_true(r.t > 0 && orbit_error(&r) < 1e-4);
    }
    const setup impossible = {.name = "dopri5", .tolerance = 1e-18};
    const run r = orbit(&impossible, 1);
    assert_int_equal(r.status, LW_ERR_INTEGRATOR);
    assert_non_null(strstr(r.error.text, "loosen"));
}

// ------------------------------------------------------------------------------------------ memory

// No allocation after create: not in steps, stops, interpolation, restarts and recoveries.
static void steps_do_not_allocate(void **state)
{
    (void)state;
    if (!COUNTS_ALLOCATIONS) skip();
    for (int dense = 0; dense < 2; dense++)
        for (int i = 0; i < lwi_integrator_type_count(); i++) {
            if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
            const lwi_integrator_type *type = lwi_integrator_type_at(i);
            const setup s = {.name = type->name, .tolerance = 1e-6, .step = 0.05, .dense = dense};
            run r = {0};
            double atol[8];
            same(atol, 1e-6);
            kepler_at(0, r.x);
            lwi_problem p = {.n = 4, .rates = kepler};
            lwi_integrator *integrator = make(&s, &p, atol, 0, r.x);
            const long before = counted_allocations;
            lw_status status = LW_OK;
            for (int k = 1; k <= 60 && !status; k++) {
                const double row = k * 0.1;
                status = type->advance(integrator, &r.t, r.x, row, dense ? 10 : row, false, NULL);
                if (k % 7 == 0 && !status)
                    status = type->restart(integrator, r.t, r.x,
                                           k % 2 ? LWI_JUMP_RATES : LWI_JUMP_STATE, NULL);
            }
            const long after = counted_allocations;
            assert_int_equal(status, LW_OK);
            if (after != before)
                fail_msg("%s%s: %ld allocations", type->name, dense ? " (dense)" : "",
                         after - before);
            type->destroy(integrator);
        }
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

static void no_memory_is_a_status(void **state)
{
    (void)state;
    const lw_allocator none = {.allocate = refuse, .release = release};
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        if (lwi_integrator_type_at(i)->steps) continue; // evaluates no rates
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        double x[4] = {0};
        lw_error error = {0};
        lwi_integrator *integrator = NULL;
        lwi_problem p = {.n = 4, .rates = kepler, .rtol = 1e-6, .atol = tight, .max_step = 1};
        assert_int_equal(type->create(type, &p, 0, x, &none, &integrator, &error), LW_ERR_MEMORY);
        assert_null(integrator);
    }
}

static void list_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < lwi_integrator_type_count(); i++) {
        const lwi_integrator_type *type = lwi_integrator_type_at(i);
        assert_ptr_equal(lwi_integrator_find(type->name), type);
        assert_true(type->summary[0] && type->cite[0] && type->order > 0);
    }
    assert_null(lwi_integrator_find("euler"));
    assert_null(lwi_integrator_type_at(-1));
    assert_null(lwi_integrator_type_at(lwi_integrator_type_count()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_is_complete),
        cmocka_unit_test(observed_order_is_nominal),
        cmocka_unit_test(fixed_step_order_is_four),
        cmocka_unit_test(error_is_proportional_to_tolerance),
        cmocka_unit_test(verner_is_cheaper_than_fehlberg),
        cmocka_unit_test(bdf_solves_stiff),
        cmocka_unit_test(stops_are_exact),
        cmocka_unit_test(dense_output_interpolates),
        cmocka_unit_test(steps_come_one_by_one),
        cmocka_unit_test(fixed_steps_are_equal),
        cmocka_unit_test(none_and_one_state),
        cmocka_unit_test(restarts_discard_history_and_are_counted),
        cmocka_unit_test(jump_of_rates_is_seen),
        cmocka_unit_test(not_finite_is_recovered),
        cmocka_unit_test(pole_ends_the_integration),
        cmocka_unit_test(short_steps_end_the_integration),
        cmocka_unit_test(small_changes_keep_the_history),
        cmocka_unit_test(rates_not_finite_at_the_start_end_it),
        cmocka_unit_test(failures_are_reported),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(steps_do_not_allocate),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
