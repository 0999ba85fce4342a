// rcr_cases.h -- the mechanisms whose numbers the specification of coordinate reduction gives: bars
// of square section along x from their joint, gravity along -y.
#ifndef LWT_RCR_CASES_H
#define LWT_RCR_CASES_H

#include "formulation/rcr.h"
#include "support/mechanism.h"

#define RCR (&lwi_formulation_rcr)
#define DENSE (&lwi_formulation_dense)

static inline lw_body lwt_bar(lw_builder *b, const char *name, double length, double mass)
{
    const double w = 0.02, across = mass * (length * length + w * w) / 12;
    return lwt_body(b, &(lw_body_desc){.name = name,
                                       .mass = mass,
                                       .inertia = {mass * w * w / 6, across, across, 0, 0, 0},
                                       .com = {length / 2, 0, 0}});
}

/** A revolute about z from the point p1 of body1 to the point p2 of body2, frames parallel to
 * theirs. */
static inline lw_joint lwt_pin(lw_builder *b, lw_body body1, lw_vec3 p1, lw_body body2, lw_vec3 p2,
                               double q, double qd, lw_cut cut)
{
    return lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                       .body1 = body1,
                                       .body2 = body2,
                                       .placement = LW_PLACED_FRAMES,
                                       .frame1 = {.position = p1},
                                       .frame2 = {.position = p2},
                                       .has_q = 1,
                                       .q = {q},
                                       .has_qd = 1,
                                       .qd = {qd},
                                       .cut = cut});
}

typedef struct lwt_four_bar {
    double l[4], m[3], q[4], u[4];
    lw_body bar[3];
} lwt_four_bar;

/** Crank, coupler, rocker from (x, y) of the base to (x + l3, y); the last joint is cut, its rows
 * are in the base's axes. */
static inline void lwt_add_four_bar(lw_builder *b, lw_body base, double x, double y,
                                    lwt_four_bar *f)
{
    for (int i = 0; i < 3; i++) f->bar[i] = lwt_bar(b, NULL, f->l[i], f->m[i]);
    lwt_pin(b, base, (lw_vec3){x, y, 0}, f->bar[0], (lw_vec3){0}, f->q[0], f->u[0], LW_CUT_NEVER);
    for (int i = 1; i < 3; i++)
        lwt_pin(b, f->bar[i - 1], (lw_vec3){f->l[i - 1], 0, 0}, f->bar[i], (lw_vec3){0}, f->q[i],
                f->u[i], LW_CUT_NEVER);
    lwt_pin(b, base, (lw_vec3){x + f->l[3], y, 0}, f->bar[2], (lw_vec3){f->l[2], 0, 0}, -f->q[3],
            -f->u[3], LW_CUT_PREFER);
}

static inline lwt_four_bar lwt_standard_bars(void)
{
    return (lwt_four_bar){.l = {0.3, 0.8, 0.6, 0.7},
                          .m = {1, 2, 1.5},
                          .q = {1, -0.596675966, -2.310247148, 1.906923114},
                          .u = {4, -4.472068354, 1.993092836, -1.521024482}};
}

static inline lw_model *lwt_standard_four_bar(void)
{
    lw_builder *b = lwt_builder();
    lwt_four_bar f = lwt_standard_bars();
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    return lwt_model(b);
}

/** A formulation at a state of a mechanism. */
typedef struct lwt_run {
    const lw_model *model;
    lwi_work *work;
    lwi_arena arena;
    double *x, t;
    lwi_moment now;
} lwt_run;

static inline lwt_run lwt_run_from(const lw_model *model, const lwi_formulation *formulation,
                                   const lwi_moment *moment)
{
    lwt_run r = {.model = model, .t = moment->t, .work = lwt_work(model, formulation)};
    lwi_arena_init(&r.arena, NULL);
    r.x = lwt_vector(r.work->layout.nx);
    lwt_ok(formulation->enter(r.work, moment, r.x), &r.work->error);
    return r;
}

static inline lwt_run lwt_run_start(const lw_model *model, const lwi_formulation *formulation)
{
    lwi_arena arena;
    lwi_moment start;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_moment_create(model, &arena, &start), LW_OK);
    lwi_moment_start(model, &start);
    const lwt_run r = lwt_run_from(model, formulation, &start);
    lwi_arena_free(&arena);
    return r;
}

/** Makes the last joints of loops dependent wherever their pivots allow it: the published choice.
 */
static inline void lwt_run_last_dependent(lwt_run *r)
{
    lwi_moment start;
    lwi_rcr_work *d = r->work->data;
    d->theta = 1e-3;
    assert_int_equal(lwi_moment_create(r->model, &r->arena, &start), LW_OK);
    lwi_moment_start(r->model, &start);
    lwt_ok(r->work->formulation->enter(r->work, &start, r->x), &r->work->error);
}

static inline void lwt_run_observe(lwt_run *r)
{
    lwt_observe(r->work, r->t, r->x, NULL, &r->arena, &r->now);
}

static inline void lwt_run_end(lwt_run *r)
{
    free(r->x);
    lwi_work_destroy(r->work);
    lwi_arena_free(&r->arena);
}

static inline const lwi_rcr_work *lwt_rcr(const lwt_run *r)
{
    return r->work->data;
}

static inline void lwt_near(const char *what, int index, double a, double b, double tol)
{
    if (fabs(a - b) <= tol) return;
    fail_msg("%s %d: %.12g, expected %.12g (%.3g off, %.1g allowed)", what, index, a, b,
             fabs(a - b), tol);
}

/** The largest |J V + b| of the rows of cut joints, as observed last. */
static inline double lwt_rows_rate(const lwt_run *r)
{
    const lwi_rcr_work *d = lwt_rcr(r);
    double most = 0;
    for (int i = 0; i < d->cut.count; i++) {
        const lwi_closure *c = &d->cut.closure[i];
        for (int k = 0; k < c->n; k++) {
            double rate = c->b[k];
            for (int s = 0; s < c->nbody; s++)
                rate += v3_dot(c->J[s][k], d->tree.body_v[c->body[s]]) +
                        v3_dot(c->J[s][k] + 3, d->tree.body_w[c->body[s]]);
            most = fmax(most, fabs(rate));
        }
    }
    return most;
}

/** Largest difference of the accelerations of two moments relative to the largest of them. */
static inline double lwt_acceleration_error(const lw_model *model, const lwi_moment *a,
                                            const lwi_moment *b)
{
    double most = 1, off = 0;
    for (int i = 1; i < model->nbody; i++) {
        if (model->body[i].host != i) continue;
        for (int k = 0; k < 3; k++) {
            most = fmax(most, fmax(fabs(b->a[i][k]), fabs(b->al[i][k])));
            off = fmax(off, fabs(a->a[i][k] - b->a[i][k]));
            off = fmax(off, fabs(a->al[i][k] - b->al[i][k]));
        }
    }
    return off / most;
}

#endif
