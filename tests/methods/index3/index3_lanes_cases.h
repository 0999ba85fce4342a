// index3_lanes_cases.h -- steps of index3 in lanes compared with those of the scalar code.
#ifndef LWT_INDEX3_LANES_CASES_H
#define LWT_INDEX3_LANES_CASES_H

#include "methods/index3/index3_cases.h"

#include "methods/index3/lanes.h"
#include "simulate/simulation.h"

// Of models that have inputs.
static const double lwt_inputs[4] = {0.7, -0.2, 0.3, 0.1};

typedef struct pair {
    lw_sim *sim;
    lwi_index3 *d;
    int n;
    double *general, *lanes;
} pair;

static inline pair pair_of(const lw_model *model, double h, const char *method)
{
    lw_options o = index3(h, 1, "1");
    lwt_set(&o, "index3", method);
    pair p = {.sim = lwt_sim(model, &o)};
    p.d = p.sim->work->data;
    p.n = p.sim->work->layout.nx;
    p.general = calloc((size_t)p.n, sizeof *p.general);
    p.lanes = calloc((size_t)p.n, sizeof *p.lanes);
    assert_true(p.general && p.lanes);
    return p;
}

static inline void done(pair *p, lw_model *model)
{
    free(p->general), free(p->lanes);
    lw_sim_destroy(p->sim);
    lw_model_destroy(model);
}

static inline void step_by(pair *p, bool in_lanes, double t, double h, const double *from,
                           double *to)
{
    lwi_index3 *d = p->d;
    struct lwi_index3_lanes *lanes = d->lanes;
    memcpy(to, from, (size_t)p->n * sizeof *to);
    if (!in_lanes) d->lanes = NULL;
    lwt_ok(lwi_index3_step(p->sim->work, t, h, to, lwt_inputs), &p->sim->work->error);
    assert_int_equal(d->in_lanes, in_lanes);
    d->lanes = lanes;
}

// Largest difference in a part of x, against the part's own size.
static inline double off(const pair *p, int first, int n)
{
    double largest = 0, size = 1;
    for (int i = first; i < first + n; i++) {
        size = fmax(size, fabs(p->general[i]));
        if (!(fabs(p->general[i] - p->lanes[i]) <= largest))
            largest = fabs(p->general[i] - p->lanes[i]);
    }
    return largest / size;
}

// Both from the states of a run of the scalar code.  Parts of x: positions, velocities with auxiliary states,
// accelerations, multipliers.  Round-off of a position, 1e-16 times a condition of 1e4, makes 2/h of it in
// velocities, 4/h^2 in accelerations and forces.
static inline void compare(const char *name, lw_model *model, double h, int steps,
                           const char *method)
{
    char with_output[256]; // and with the multipliers that are observed
    snprintf(with_output, sizeof with_output, "%s,output=step", method);
    pair p = pair_of(model, h, with_output);
    const lwi_index3 *d = p.d;
    // with redundant rows their multipliers contain round-off over eps
    const int parts = d->plain->start_rank < d->plain->nrow ? 3 : 4;
    if (!d->lanes) fail_msg("%s: not in lanes", name);
    const int part[5] = {0, d->at_speed, d->at_acceleration, d->at_lambda, p.n};
    const double allowed[4] = {1e-12, 2e-12 / h, 4e-12 / (h * h), 4e-12 / (h * h)};
    double *x = calloc((size_t)p.n, sizeof *x);
    assert_non_null(x);
    memcpy(x, p.sim->x, (size_t)p.n * sizeof *x);
    for (int i = 0; i < steps; i++) {
        step_by(&p, false, i * h, h, x, p.general);
        step_by(&p, true, i * h, h, x, p.lanes);
        for (int k = 0; k < parts; k++) {
            const double largest = off(&p, part[k], part[k + 1] - part[k]);
            if (!(largest <= allowed[k]))
                fail_msg("%s, step %d: part %d is off by %.2e", name, i, k, largest);
        }
        memcpy(x, p.general, (size_t)p.n * sizeof *x);
    }
    free(x);
    done(&p, model);
}

// `x`: the state after so many steps in lanes.
static inline void some_steps(const pair *p, double *x, double h, int steps)
{
    memcpy(x, p->sim->x, (size_t)p->n * sizeof *x);
    for (int i = 0; i < steps; i++) {
        lwt_ok(lwi_index3_step(p->sim->work, h * i, h, x, lwt_inputs), &p->sim->work->error);
        assert_true(p->d->in_lanes);
    }
}

// One thread, and several that share the work: the same bits.  A plan in sequential order has no parallel
// work.
static inline void same_bits_of_threads(lw_model *model, const char *plan, double h, int steps)
{
    static const char *const threads[] = {"1", "2", "3", "5"};
    double *first = NULL;
    for (int i = 0; i < LWI_COUNT(threads); i++) {
        lw_options o = index3(h, 1, "1");
        lwt_set(&o, "index3", "mode=real-time");
        lwt_set(&o, "threads", threads[i]);
        lwt_set(&o, "plan", plan);
        pair p = {.sim = lwt_sim(model, &o)};
        p.d = p.sim->work->data;
        p.n = p.sim->work->layout.nx;
        double *x = calloc((size_t)p.n, sizeof *x);
        assert_non_null(x);
        some_steps(&p, x, h, steps);
        assert_int_equal(p.d->lanes->parts > 1, i > 0);
        if (i > 0) assert_true(lwi_pool_rounds(p.d->pool) >= 8ul * (unsigned long)steps);
        if (first) assert_memory_equal(x, first, (size_t)p.n * sizeof *x);
        lw_sim_destroy(p.sim);
        if (first)
            free(x);
        else
            first = x;
    }
    free(first);
    lw_model_destroy(model);
}

#endif
