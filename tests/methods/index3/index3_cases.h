// index3_cases.h -- runs of index3 compared with exact ones, and the mechanisms of its specification.
#ifndef LWT_INDEX3_CASES_H
#define LWT_INDEX3_CASES_H

#include "methods/loop_cases.h"
#include "support/given.h"

#define PI 3.14159265358979323846

// ------------------------------------------------------------------------------------------- runs

// Rows of a run: positions, velocities, reactions.
typedef struct track {
    int nrow, nbody, njoint;
    double *r, *v, *f;                    // [nrow][nbody][3], [nrow][nbody][3], [nrow][njoint][6]
    double energy_min, energy_end, first; // of E - Wnc, against the first row
    lw_summary summary;
    char notice[512];
} track;

enum { MAX_ROWS = 4000 };

static inline lw_status record(void *user, const lw_observation *o)
{
    track *k = user;
    const size_t nb = (size_t)k->nbody, nj = (size_t)k->njoint, row = (size_t)k->nrow;
    assert_true(k->nrow < MAX_ROWS);
    memcpy(k->r + 3 * nb * row, o->position, 3 * nb * sizeof(double));
    memcpy(k->v + 3 * nb * row, o->velocity, 3 * nb * sizeof(double));
    memcpy(k->f + 6 * nj * row, o->reaction, 6 * nj * sizeof(double));
    const double energy = o->kinetic + o->potential - o->work;
    if (k->nrow == 0) k->first = energy;
    k->energy_end = energy - k->first;
    k->energy_min = fmin(k->energy_min, k->energy_end);
    k->nrow++;
    return LW_OK;
}

static inline track run(const lw_model *model, const lw_options *options)
{
    lw_sim *sim = lwt_sim(model, options);
    track k = {.nbody = model->nbody, .njoint = model->njoint};
    k.r = calloc((size_t)MAX_ROWS * 3 * (size_t)k.nbody, sizeof *k.r);
    k.v = calloc((size_t)MAX_ROWS * 3 * (size_t)k.nbody, sizeof *k.v);
    k.f = calloc((size_t)MAX_ROWS * 6 * (size_t)k.njoint + 1, sizeof *k.f);
    assert_true(k.r && k.v && k.f);
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_REACTION, record, &k, NULL, NULL), lw_sim_error(sim));
    lw_sim_summary(sim, &k.summary);
    snprintf(k.notice, sizeof k.notice, "%.500s", lw_sim_notice(sim));
    lw_sim_destroy(sim);
    return k;
}

static inline void drop(track *k)
{
    free(k->r), free(k->v), free(k->f);
}

static inline lw_options index3(double step, double duration, const char *sample)
{
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", "index3");
    lwt_set(&o, "sample", sample);
    o.step = step, o.duration = duration;
    return o;
}

static inline track run_index3(const lw_model *model, double step, double duration,
                               const char *sample)
{
    const lw_options o = index3(step, duration, sample);
    return run(model, &o);
}

// The same rows by a formulation of minimal coordinates, exact to ten digits and more.
static inline track run_exact(const lw_model *model, double duration, const char *sample)
{
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", model->nloop || model->ncoupling ? "hdca" : "aba");
    lwt_set(&o, "integrator", "fehlberg8");
    lwt_set(&o, "sample", sample);
    o.duration = duration, o.rtol = o.atol = 1e-11;
    return run(model, &o);
}

static inline double largest(const double *a, const double *b, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= max)) max = fabs(a[i] - b[i]);
    return max;
}

// Largest component errors of all rows: positions, velocities, reactions.
typedef struct errors {
    double r, v, f, norm; // norm: 2-norm of a position
} errors;

static inline errors between(const track *a, const track *b)
{
    assert_int_equal(a->nrow, b->nrow);
    const size_t nb = (size_t)a->nbody, nj = (size_t)a->njoint, n = (size_t)a->nrow;
    double norm = 0;
    for (size_t i = 0; i < nb * n; i++)
        norm =
            fmax(norm, hypot(a->r[3 * i] - b->r[3 * i], hypot(a->r[3 * i + 1] - b->r[3 * i + 1],
                                                              a->r[3 * i + 2] - b->r[3 * i + 2])));
    return (errors){largest(a->r, b->r, 3 * nb * n), largest(a->v, b->v, 3 * nb * n),
                    largest(a->f, b->f, 6 * nj * n), norm};
}

static inline void near(const char *what, double a, double b, double tolerance)
{
    if (fabs(a - b) <= tolerance) return;
    fail_msg("%s: %.10g, expected %.10g (%.2e allowed)", what, a, b, tolerance);
}

static inline lw_model *read_golden(const char *name)
{
    char path[512];
    lw_model *model;
    lw_error error;
    lw_options options;
    snprintf(path, sizeof path, "%s/tests/golden/%s.yaml", LW_SOURCE_DIR, name);
    lwt_ok(lw_model_read(path, NULL, &model, &options, &error), &error);
    return model;
}

// -------------------------------------------------------------------------------------- mechanisms

// Rods of 1 kg and J = 1: A along x, B along z from its end (section 8.1).
static inline lw_model *double_pendulum(void)
{
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_body(
        b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}, .pose.position = {0.5, 0, 0}});
    const lw_body B = lwt_body(
        b, &(lw_body_desc){.mass = 1, .inertia = {1, 1, 1, 0, 0, 0}, .pose.position = {1, 0, 0.5}});
    lwt_joint(b, LW_JOINT_SPHERICAL, "one", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_SPHERICAL, "two", A, B, 1, 0);
    return lwt_model(b);
}

// Points in the bodies' axes: the links are of equal length to the last bit.  Lengths off by 1e-16
// would separate the branches by the root of that.
static inline void hinge(lw_builder *b, lw_body body1, lw_body body2, lw_vec3 at1, double x2)
{
    lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                .body1 = body1,
                                .body2 = body2,
                                .placement = LW_PLACED_FRAMES,
                                .frame1.position = at1,
                                .frame2.position = {x2, 0, 0}});
}

// Section 8.2, geometry I: a rhombus with the pivots one above the other, phi measured downwards;
// all links in one line at 90 degrees.
// up: geometry I (-1) or II (1).
static inline lw_model *rhombus_at(double phi, double phidot, int up)
{
    const double c = cos(phi), s = up * sin(phi), half = 0.5 * phi, w = up * phidot;
    const double u[2] = {c, s}, ud[2] = {-s * w, c * w};
    const lw_quat to_world = {cos(half), 0, 0, up * sin(half)},
                  along = {sqrt(.5), 0, 0, up * sqrt(.5)};
    lw_builder *b = lwt_builder();
    lw_body link[3];
    const double at[3][2] = {
        {u[0] / 2, u[1] / 2}, {u[0], u[1] + 0.5 * up}, {u[0] / 2, u[1] / 2 + up}};
    for (int i = 0; i < 3; i++) {
        const double part_of = i == 1 ? 1 : 0.5;
        link[i] = lwt_body(b, &(lw_body_desc){.mass = 1,
                                              .inertia = {1, 1, 1, 0, 0, 0},
                                              .pose = {.position = {at[i][0], at[i][1], 0},
                                                       .orientation = i == 1 ? along : to_world},
                                              .has_velocity = 1,
                                              .velocity = {part_of * ud[0], part_of * ud[1], 0},
                                              .angular_velocity = {0, 0, i == 1 ? 0 : w}});
    }
    hinge(b, lwt_ground, link[0], (lw_vec3){0, 0, 0}, -0.5);
    hinge(b, link[0], link[1], (lw_vec3){0.5, 0, 0}, -0.5);
    hinge(b, link[1], link[2], (lw_vec3){0.5, 0, 0}, 0.5);
    hinge(b, lwt_ground, link[2], (lw_vec3){0, up, 0}, -0.5);
    return lwt_model(b);
}

static inline lw_model *rhombus(double phi, double phidot)
{
    return rhombus_at(phi, phidot, -1);
}

// Distance of the coupler from the vertical between the cranks.
static inline double branch_at(const track *k, int up)
{
    double max = 0;
    for (int i = 0; i < k->nrow; i++) {
        const double *r = k->r + 12 * i;
        max = fmax(max, fabs(r[6] - 2 * r[3]));
        max = fmax(max, fabs(r[7] - 2 * r[4] - 0.5 * up));
    }
    return max;
}

static inline double branch(const track *k)
{
    return branch_at(k, -1);
}

static inline lw_model *chain(int n)
{
    lw_builder *b = lwt_builder();
    lw_body before = lwt_ground;
    for (int i = 0; i < n; i++) {
        const lw_body link = lwt_body(b, &(lw_body_desc){.mass = 1,
                                                         .inertia = {1, 1, 1, 0, 0, 0},
                                                         .pose.position = {i + 0.5, 0, 0}});
        lwt_joint(b, LW_JOINT_SPHERICAL, NULL, before, link, i, 0);
        before = link;
    }
    return lwt_model(b);
}

#endif
