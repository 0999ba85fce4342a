// controller_cases.h -- a cart with a force by a signal, its simulations, and the closed form of linear systems.
#ifndef LWT_CONTROLLER_CASES_H
#define LWT_CONTROLLER_CASES_H

#include "model/model.h"
#include "simulate/simulation.h"
#include "support/mechanism.h"

static const char cart[] =
    "linkwork: 1\n"
    "gravity: [0, 0, 0]\n"
    "signals:\n%s"
    "bodies:\n"
    "  cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
    "joints:\n"
    "  rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], axis: "
    "[1, 0, 0], q: [0.1], qd: [-0.2], effort: {q0: force}}\n";

static const lw_read_desc native = {.format = "yaml"};

static inline lw_model *parse(const char *text)
{
    lw_model *m;
    lw_error error = {0};
    lwt_ok(lw_model_parse(text, strlen(text), "test", &native, &m, NULL, &error), &error);
    return m;
}

// The cart with these signals, of which one is `force`.
static inline lw_model *cart_with(const char *signals)
{
    char text[4000];
    snprintf(text, sizeof text, cart, signals);
    return parse(text);
}

static inline lw_status try_create(const lw_model *m, const char *formulation,
                                   const char *integrator, double tolerance, lw_sim **sim,
                                   lw_error *error)
{
    lw_options o;
    lw_options_default(&o);
    snprintf(o.formulation, sizeof o.formulation, "%s", formulation);
    snprintf(o.integrator, sizeof o.integrator, "%s", integrator);
    o.rtol = o.atol = tolerance;
    o.duration = 100;
    return lw_sim_create(m, &(lw_sim_desc){.options = &o}, sim, error);
}

static inline lw_sim *create(const lw_model *m, const char *formulation, const char *integrator,
                             double tolerance)
{
    lw_sim *sim;
    lw_error error = {0};
    lwt_ok(try_create(m, formulation, integrator, tolerance, &sim, &error), &error);
    return sim;
}

static inline const lw_observation *at(lw_sim *sim, double t)
{
    const lw_observation *o;
    lwt_ok(lw_sim_step(sim, t), lw_sim_error(sim));
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_FORCE, &o), lw_sim_error(sim));
    return o;
}

static inline double signal_of(const lw_model *m, const lw_observation *o, const char *name)
{
    for (int i = 0; i < lw_model_output_count(m); i++) {
        const lw_output_info info = lw_model_output(m, i);
        if (!strcmp(info.kind, "signal") && !strcmp(info.item, name)) return o->output[i];
    }
    fail_msg("no signal %s", name);
    return NAN;
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g within %g", value, expected, tolerance);
}

enum { N = 6 }; // at most so many states of a linear system

// y := exp(A t) y, by the series of exp in equal parts of t.
static inline void propagate(int n, double A[N][N], double t, double y[N])
{
    enum { STEPS = 1024, TERMS = 24 };
    for (int s = 0; s < STEPS; s++) {
        double term[N], next[N];
        memcpy(term, y, sizeof term);
        for (int k = 1; k <= TERMS; k++) {
            for (int i = 0; i < n; i++) {
                next[i] = 0;
                for (int j = 0; j < n; j++) next[i] += A[i][j] * term[j] * t / STEPS / k;
            }
            memcpy(term, next, sizeof term);
            for (int i = 0; i < n; i++) y[i] += term[i];
        }
    }
}

#endif
