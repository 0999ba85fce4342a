// callback_check.c -- a Jacobian of inputs against central differences of the callback, number by number.
//
// Each number that the callback may read is moved alone by d, so that the derivative is the partial one that a Jacobian
// gives:  (u(x + d) - u(x - d)) / 2d.  With d the cube root of the machine epsilon truncation and round-off are some 1e-10
// of inputs of ordinary curvature.
#include "simulate/simulation.h"

#include "model/model.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define TOLERANCE 1e-5
// Of the inputs over the step of the difference: what round-off leaves of a derivative that is zero.
#define ROUND_OFF 1e-13

typedef struct comparison {
    lw_input_callback function;
    void *user;
    lwi_input_slopes *slopes;
    lwi_snapshot motion; ///< with one number moved
    double *plus, *minus;
    double *difference; ///< [ninput][readings]
    int readings;
} comparison;

static lw_status create(comparison *c, lwi_arena *arena)
{
    const lw_model *model = c->slopes->model;
    const int n = model->desc.ninput;
    c->readings = lwi_input_slopes_readings(model);
    c->plus = LWI_PUSH(arena, double, n);
    c->minus = LWI_PUSH(arena, double, n);
    c->difference = LWI_PUSH(arena, double, (size_t)n *(size_t)c->readings);
    if (!c->plus || !c->minus || !c->difference) return LW_ERR_MEMORY;
    return lwi_snapshot_create(model, arena, &c->motion);
}

static lw_status values(comparison *c, lwi_observed r, double by, double *value, lw_error *error)
{
    const lwi_input_slopes *s = c->slopes;
    lwi_snapshot_copy(s->model, &s->motion, &c->motion);
    lwi_observed_move(s->model, r, by, &c->motion);
    const lw_observation seen = lwi_callback_observation(&c->motion);
    memcpy(value, s->inputs, (size_t)s->by.ninput * sizeof *value);
    const lw_status status = c->function(c->user, &seen, value);
    if (status != LW_OK) return lwi_callback_fail(status, s->motion.t, error);
    return lwi_callback_check(s->model, value, s->motion.t, error);
}

static double size_of(const comparison *c, lwi_observed r)
{
    const lw_model *model = c->slopes->model;
    const lwi_snapshot *m = &c->slopes->motion;
    switch (r.kind) {
    case LWI_OBSERVED_Q:
        return model->joint[r.item].type->angles >> r.component & 1u ? 1 : model->length;
    case LWI_OBSERVED_QD:
        return fmax(1, fabs(m->qd[r.index]));
    case LWI_OBSERVED_STATE:
        return fmax(1, fabs(m->states[r.index]));
    case LWI_OBSERVED_POSE:
        return r.component < 3 ? model->length : 1;
    case LWI_OBSERVED_TWIST:
        return fmax(1, fabs((r.component < 3 ? m->v : m->w)[r.item][r.component % 3]));
    }
    return 1;
}

// Half of the distance of a difference.
static double step_of(const comparison *c, lwi_observed r)
{
    return cbrt(DBL_EPSILON) * size_of(c, r);
}

// One column of `difference`.
static lw_status differ(comparison *c, int k, lw_error *error)
{
    const lwi_observed r = lwi_input_slopes_reading(c->slopes->model, k);
    const double h = step_of(c, r);
    TRY(values(c, r, h, c->plus, error));
    TRY(values(c, r, -h, c->minus, error));
    for (int i = 0; i < c->slopes->by.ninput; i++)
        c->difference[i * c->readings + k] = (c->plus[i] - c->minus[i]) / (2 * h);
    return LW_OK;
}

// The largest entry of an input by numbers of one kind; translations and rotations of bodies are two.
static double scale_of(const comparison *c, int i, lwi_observed of)
{
    double largest = 0;
    for (int k = 0; k < c->readings; k++) {
        const lwi_observed r = lwi_input_slopes_reading(c->slopes->model, k);
        if (r.kind != of.kind) continue;
        if (of.kind >= LWI_OBSERVED_POSE && (r.component < 3) != (of.component < 3)) continue;
        const double given = fabs(*lwi_input_slopes_entry(c->slopes, i, r)),
                     found = fabs(c->difference[i * c->readings + k]);
        largest = fmax(largest, fmax(given, found));
    }
    return largest;
}

static lw_status refuse(const comparison *c, int i, int k, lw_error *error)
{
    const lwi_input_slopes *s = c->slopes;
    const lwi_observed r = lwi_input_slopes_reading(s->model, k);
    char name[300];
    lwi_observed_name(s->model, r, name, sizeof name);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "input '%s' by %s: the Jacobian gives %.10g, differences of the callback "
                    "%.10g, at t = %.10g s; they differ too where the callback has a corner",
                    s->model->desc.input[i], name, *lwi_input_slopes_entry(s, i, r),
                    c->difference[i * c->readings + k], s->motion.t);
}

static lw_status compare(comparison *c, double tolerance, double *largest, lw_error *error)
{
    const lwi_input_slopes *s = c->slopes;
    double worst = 0;
    int input = 0, reading = 0;
    for (int k = 0; k < c->readings; k++) TRY(differ(c, k, error));
    for (int k = 0; k < c->readings; k++) {
        const lwi_observed r = lwi_input_slopes_reading(s->model, k);
        const double h = step_of(c, r);
        for (int i = 0; i < s->by.ninput; i++) {
            const double noise = ROUND_OFF * (1 + fabs(s->inputs[i])) / h;
            const double given = *lwi_input_slopes_entry(s, i, r);
            const double apart = fabs(given - c->difference[i * c->readings + k]) - noise;
            const double deviation = apart > 0 ? apart / scale_of(c, i, r) : 0;
            if (deviation > worst) worst = deviation, input = i, reading = k;
        }
    }
    if (largest) *largest = worst;
    return worst > (tolerance > 0 ? tolerance : TOLERANCE) ? refuse(c, input, reading, error)
                                                           : LW_OK;
}

lw_status lwi_callback_compare(lw_input_callback function, void *user, lwi_input_slopes *s,
                               double tolerance, double *largest, lw_error *error)
{
    comparison c = {.function = function, .user = user, .slopes = s};
    lwi_arena arena;
    lwi_arena_init(&arena, &s->model->arena.allocator);
    lw_status status = create(&c, &arena);
    if (status != LW_OK) lwi_fail(error, status, "no memory for the check of a Jacobian");
    if (status == LW_OK) status = compare(&c, tolerance, largest, error);
    lwi_arena_free(&arena);
    return status;
}
