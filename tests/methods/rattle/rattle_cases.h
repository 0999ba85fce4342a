// rattle_cases.h -- runs of rattle, and of others to compare with.
#ifndef LWT_RATTLE_CASES_H
#define LWT_RATTLE_CASES_H

#include "support/given.h"
#include "support/mechanism.h"

#include <inttypes.h>

enum { MAX_BODIES = 40 };

/** The last row of a run. */
typedef struct track {
    int nbody;
    double r[MAX_BODIES][3], v[MAX_BODIES][3], w[MAX_BODIES][3], energy;
    lw_summary summary;
} track;

static inline lw_status keep_row(void *user, const lw_observation *o)
{
    track *k = user;
    memcpy(k->r, o->position, (size_t)k->nbody * sizeof *k->r);
    memcpy(k->v, o->velocity, (size_t)k->nbody * sizeof *k->v);
    memcpy(k->w, o->angular_velocity, (size_t)k->nbody * sizeof *k->w);
    k->energy = o->kinetic + o->potential - o->work;
    return LW_OK;
}

/** Runs a simulation and destroys it. */
static inline track run_to_end(lw_sim *sim)
{
    track k = {.nbody = lw_model_body_count(lw_sim_model(sim))};
    assert_true(k.nbody <= MAX_BODIES);
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_ENERGY, keep_row, &k, NULL, NULL), lw_sim_error(sim));
    lw_sim_summary(sim, &k.summary);
    lw_sim_destroy(sim);
    return k;
}

static inline track run(const lw_model *model, const lw_options *options)
{
    return run_to_end(lwt_sim(model, options));
}

static inline lw_options rattle_options(double step, double duration, double sample, int order)
{
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", "rattle");
    o.step = step, o.duration = duration, o.sample = sample, o.order = order;
    return o;
}

static inline track run_rattle(const lw_model *model, double step, double duration, double sample,
                               int order)
{
    const lw_options o = rattle_options(step, duration, sample, order);
    return run(model, &o);
}

static inline double largest(int n, const double (*a)[3], const double (*b)[3])
{
    double max = 0;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 3; i++)
            if (!(fabs(a[k][i] - b[k][i]) <= max)) max = fabs(a[k][i] - b[k][i]);
    return max;
}

static inline double distance(const track *a, const track *b)
{
    return largest(a->nbody, (const double(*)[3])a->r, (const double(*)[3])b->r);
}

static inline double speed_distance(const track *a, const track *b)
{
    return fmax(largest(a->nbody, (const double(*)[3])a->v, (const double(*)[3])b->v),
                largest(a->nbody, (const double(*)[3])a->w, (const double(*)[3])b->w));
}

/** Gives all velocities the opposite sign. */
static inline void reverse(lw_sim *sim)
{
    const lw_observation *now;
    double v[MAX_BODIES][3], w[MAX_BODIES][3], qd[6 * MAX_BODIES];
    const int n = lw_model_body_count(lw_sim_model(sim)), nv = lw_sim_model(sim)->nv;
    assert_true(n <= MAX_BODIES && nv <= 6 * MAX_BODIES);
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_TWIST, &now), lw_sim_error(sim));
    lw_observation back = *now;
    for (int i = 0; i < 3 * n; i++) {
        v[i / 3][i % 3] = -now->velocity[i / 3][i % 3];
        w[i / 3][i % 3] = -now->angular_velocity[i / 3][i % 3];
    }
    for (int i = 0; i < nv; i++) qd[i] = -now->qd[i];
    back.velocity = (const double(*)[3])v, back.angular_velocity = (const double(*)[3])w;
    back.qd = qd;
    lwt_ok(lw_sim_set_motion(sim, &back), lw_sim_error(sim));
}

#endif
