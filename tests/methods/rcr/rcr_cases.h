// rcr_cases.h -- mechanisms with numbers in the specification of coordinate reduction: bars of square section along x
// from their joint, gravity along -y.
#ifndef LWT_RCR_CASES_H
#define LWT_RCR_CASES_H

#include "methods/rcr/rcr.h"
#include "support/run.h"

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

static inline double lwt_wrapped(double angle)
{
    return angle - 6.283185307179586 * rint(angle / 6.283185307179586);
}

/** A five-bar with one closing leg, or with two. */
static inline lw_model *lwt_five_bar(int legs)
{
    static const double leg[2][3] = {{11.100991634, -26.416001598, 14.615009964},
                                     {-15.077475128, 32.755956895, -18.378481767}};
    lw_builder *b = lwt_builder();
    const lw_body one = lwt_bar(b, NULL, 0.5, 1), two = lwt_bar(b, NULL, 0.6, 0.8);
    lwt_pin(b, lwt_ground, (lw_vec3){0}, one, (lw_vec3){0}, 1.9, 0, LW_CUT_NEVER);
    lwt_pin(b, one, (lw_vec3){0.5, 0, 0}, two, (lw_vec3){0}, -1.2, 0, LW_CUT_NEVER);
    for (int i = 0; i < legs; i++) {
        const lw_body upper = lwt_bar(b, NULL, 0.6, 0.7), lower = lwt_bar(b, NULL, 0.5, 0.6);
        lwt_pin(b, two, (lw_vec3){0.6, 0, 0}, upper, (lw_vec3){0}, lwt_wrapped(leg[i][0]), 0,
                LW_CUT_NEVER);
        lwt_pin(b, upper, (lw_vec3){0.6, 0, 0}, lower, (lw_vec3){0}, lwt_wrapped(leg[i][1]), 0,
                LW_CUT_NEVER);
        lwt_pin(b, lwt_ground, (lw_vec3){0.5 + 0.1 * i, 0.05 * i, 0}, lower, (lw_vec3){0.5, 0, 0},
                lwt_wrapped(-leg[i][2]), 0, LW_CUT_PREFER);
    }
    return lwt_model(b);
}

/** Legs on Hooke joints at (0.6 i, 0, 0) with rungs between their feet: equivalent to a pendulum
 *  for any number. */
static inline lw_model *lwt_ladder(int clusters)
{
    const double l = 1, w = 0.6, q1 = 0.4, q2 = -0.7, u1 = 1, u2 = 0.5;
    const double mr = 0.42 / clusters, ir = 0.02 * mr, ml = 2.58 / (clusters + 1);
    const double c = 0.63 / 2.58; // Md = 1.05 = 0.42 l + 2.58 c
    const double J[3] = {(1.3 - 0.42 - 0.0084) / (clusters + 1), (1.1 - 0.42) / (clusters + 1),
                         (0.25 - 0.0084) / (clusters + 1)};
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0, 0, -9.81});
    lw_body foot = lwt_ground;
    for (int i = 0; i <= clusters; i++) {
        const lw_body leg =
            lwt_body(b, &(lw_body_desc){.mass = ml,
                                        .inertia = {J[0] - ml * c * c, J[1] - ml * c * c, J[2]},
                                        .com = {0, 0, -c},
                                        .pose = {.position = {i * w, 0, 0}}});
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_UNIVERSAL,
                                    .body2 = leg,
                                    .at = {i * w, 0, 0},
                                    .axis = {1, 0, 0},
                                    .axis2 = {0, 1, 0},
                                    .has_q = 1,
                                    .q = {q1, q2},
                                    .has_qd = 1,
                                    .qd = {u1, u2}});
        for (int side = 0; side < 2; side++) {
            if (side == 1 && i == clusters) break;
            if (side == 0 && i == 0) continue;
            const lw_body rung =
                side ? lwt_body(b, &(lw_body_desc){.mass = mr,
                                                   .inertia = {ir, ir, ir},
                                                   .pose = {.position = {(i + 0.5) * w, 0, -l}}})
                     : foot;
            if (side) foot = rung;
            lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                        .body1 = leg,
                                        .body2 = rung,
                                        .at = {i * w, 0, -l},
                                        .axis = {0, 1, 0},
                                        .has_q = 1,
                                        .q = {-q2},
                                        .has_qd = 1,
                                        .qd = {-u2}});
        }
    }
    return lwt_model(b);
}

/** Two loops with different bases and a common joint: on the ground and on the rocker. */
static inline lw_model *lwt_six_bar(void)
{
    lw_builder *b = lwt_builder();
    lwt_four_bar f = lwt_standard_bars();
    const double angle[4] = {1, lwt_wrapped(29.135026338), lwt_wrapped(-16.539308773),
                             lwt_wrapped(-13.595717565)};
    memcpy(f.q, angle, sizeof angle);
    memset(f.u, 0, sizeof f.u);
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    const lw_body one = lwt_bar(b, NULL, 0.4, 0.7), two = lwt_bar(b, NULL, 0.45, 0.9);
    lwt_pin(b, f.bar[2], (lw_vec3){0.25, 0.1, 0}, one, (lw_vec3){0}, lwt_wrapped(52.421090435), 0,
            LW_CUT_NEVER);
    lwt_pin(b, one, (lw_vec3){0.4, 0, 0}, two, (lw_vec3){0}, lwt_wrapped(-33.947410544), 0,
            LW_CUT_NEVER);
    lwt_pin(b, f.bar[1], (lw_vec3){0.3, 0.15, 0}, two, (lw_vec3){0.45, 0, 0},
            lwt_wrapped(1.934371117), 0, LW_CUT_PREFER);
    return lwt_model(b);
}

/** A floating body with a four-bar on it. */
static inline lw_body lwt_add_floating_base(lw_builder *b)
{
    const lw_body base = lwt_body(b, &(lw_body_desc){.name = "base",
                                                     .mass = 3,
                                                     .com = {0.1, -0.05, 0.2},
                                                     .inertia = {0.3, 0.4, 0.5, 0, 0, 0}});
    // speeds (v, w) of the origin, in its axes
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_FREE,
                                .body2 = base,
                                .placement = LW_PLACED_FRAMES,
                                .has_q = 1,
                                .q = {0, 0, 0, 1, 0, 0, 0},
                                .has_qd = 1,
                                .qd = {0.4, -0.5, 0.6, 0.1, 0.2, -0.3}});
    return base;
}

static inline lw_model *lwt_floating_four_bar(lw_vec3 gravity)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, gravity);
    lwt_four_bar f = lwt_standard_bars();
    lwt_add_four_bar(b, lwt_add_floating_base(b), 0, 0, &f);
    return lwt_model(b);
}

/** No bar of this one can rotate fully. */
static inline lw_model *lwt_non_grashof(void)
{
    const double l[4] = {0.5, 0.6, 0.55, 0.8}, q0 = 1, u0 = 9;
    const double x = l[0] * cos(q0), y = l[0] * sin(q0), dx = l[3] - x, dy = -y, D = hypot(dx, dy);
    const double a = (l[1] * l[1] - l[2] * l[2] + D * D) / (2 * D), h = sqrt(l[1] * l[1] - a * a);
    const double ex = x + (a * dx - h * dy) / D, ey = y + (a * dy + h * dx) / D;
    const double A = atan2(ey - y, ex - x),
                 B = atan2(-ey, l[3] - ex); // directions of coupler, rocker
    // velocities: l0 u0 n0 + l1 wA nA + l2 wB nB = 0 across the closed loop
    const double det = l[1] * l[2] * sin(B - A);
    const double wA = -u0 * l[0] * l[2] * sin(B - q0) / det,
                 wB = u0 * l[0] * l[1] * sin(A - q0) / det;
    lwt_four_bar f = {
        .m = {1, 2, 1.5}, .q = {q0, A - q0, B - A, -B}, .u = {u0, wA - u0, wB - wA, -wB}};
    memcpy(f.l, l, sizeof l);
    lw_builder *b = lwt_builder();
    lwt_add_four_bar(b, lwt_ground, 0, 0, &f);
    return lwt_model(b);
}

/** `rcr` with momenta as state. */
static inline lwt_run lwt_run_momenta(const lw_model *model, const char *kappa,
                                      const lwi_snapshot *snapshot)
{
    lw_options options;
    lw_error error;
    lwi_work *work;
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "state", "momenta", &error), &error);
    lwt_ok(lw_options_set(&options, "kappa", kappa, &error), &error);
    lwt_ok(lwi_work_create_options(model, RCR, NULL, 0, &options, &work, &error), &error);
    work->options = NULL; // read at creation
    return lwt_run_work(work, snapshot);
}

/** Makes the last joints of loops dependent if their pivots allow it: the published choice. */
static inline void lwt_run_last_dependent(lwt_run *r)
{
    lwi_snapshot start;
    lwi_rcr_work *d = r->work->data;
    d->theta = 1e-3;
    d->dense = NULL; // the dense path has no partition
    assert_int_equal(lwi_snapshot_create(r->model, &r->arena, &start), LW_OK);
    lwi_snapshot_start(r->model, &start);
    lwt_ok(r->work->formulation->enter(r->work, &start, r->x), &r->work->error);
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

/** A line of the table that examples/rcr-2003/report.py makes: printed by the specification,
 *  computed here. */
static inline void lwt_report(const char *check, const char *what, const char *printed,
                              const char *measured)
{
    print_message("table| %s | %s | %s | %s\n", check, what, printed, measured);
}

static inline void lwt_list(int n, const double *x, char text[200])
{
    const int max = 3; // numbers in an entry of the table
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < n && i < max; i++)
        used += (size_t)snprintf(text + used, 200 - used, "%s%.10g", i ? ", " : "", x[i]);
    if (n > max) snprintf(text + used, 200 - used, ", ... (%d)", n);
}

/** Numbers of the specification and computed ones: within tol. */
static inline void lwt_numbers(const char *check, const char *what, int n, const double *printed,
                               const double *measured, double tol)
{
    char a[200], b[200], text[240];
    double off = 0;
    for (int i = 0; i < n; i++) {
        lwt_near(what, i, measured[i], printed[i], tol);
        off = fmax(off, fabs(measured[i] - printed[i]));
    }
    lwt_list(n, printed, a);
    lwt_list(n, measured, b);
    snprintf(text, sizeof text, "%s; off by %.1e", b, off);
    lwt_report(check, what, a, text);
}

/** An error that the specification prints, and the computed one: at most `max` of it. */
static inline void lwt_error(const char *check, const char *what, double printed, double measured,
                             double max)
{
    char a[24], b[24];
    snprintf(a, sizeof a, "%.1e", printed);
    snprintf(b, sizeof b, "%.1e", measured);
    lwt_report(check, what, a, b);
    if (!(measured <= max * printed))
        fail_msg("%s, %s: %g, %g printed", check, what, measured, printed);
}

/** Speeds or accelerations [n] with the sign of the last one, of the cut joint, reversed. */
static inline void lwt_rotated(int n, const double *from, double *to)
{
    for (int i = 0; i < n; i++) to[i] = i == n - 1 ? -from[i] : from[i];
}

/** The largest |J V + b| of the rows of cut joints, as observed last. */
static inline double lwt_rows_rate(const lwt_run *r)
{
    const lwi_rcr_work *d = lwt_rcr(r);
    double max = 0;
    for (int i = 0; i < d->cut.count; i++) {
        const lwi_closure *c = &d->cut.closure[i];
        for (int k = 0; k < c->n; k++) {
            double rate = c->b[k];
            for (int s = 0; s < c->nbody; s++)
                rate += v3_dot(c->J[s][k], d->tree.body_v[c->body[s]]) +
                        v3_dot(c->J[s][k] + 3, d->tree.body_w[c->body[s]]);
            max = fmax(max, fabs(rate));
        }
    }
    return max;
}

/** Largest difference of the accelerations of two snapshots, relative to the largest acceleration. */
static inline double lwt_acceleration_error(const lw_model *model, const lwi_snapshot *a,
                                            const lwi_snapshot *b)
{
    double max = 1, off = 0;
    for (int i = 1; i < model->nbody; i++) {
        if (model->body[i].carrier != i) continue;
        for (int k = 0; k < 3; k++) {
            max = fmax(max, fmax(fabs(b->a[i][k]), fabs(b->al[i][k])));
            off = fmax(off, fabs(a->a[i][k] - b->a[i][k]));
            off = fmax(off, fabs(a->al[i][k] - b->al[i][k]));
        }
    }
    return off / max;
}

#endif
