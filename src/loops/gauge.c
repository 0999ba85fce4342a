// gauge.c -- choice of the impulses of loops in the momenta.
//
// The impulse sigma of a cut may be any function of time; p follows it and the motion does not [chadaj2017,
// (68)-(69)].  The choice here is
//
//     sigmadot = lambda - l,    J' l = kappa J' sigma + the part of Jdot' sigma in the span of J'
//
// so that the wrench T = J' sigma obeys  Tdot = J' lambda - kappa T + the change that keeps it in the span of
// J'.
//
// First term.  With kappa = 0, the choice of [chadaj2017, (62)], sigma is the integral of lambda: a joint
// that carries weight accumulates impulse as long as the run lasts, and so do the momenta, until the
// tolerance, which is relative to them, no longer controls the motion.  With it |sigma| stays below |lambda|
// / kappa.  (The paper suggests to scale the constrained directions instead.  A constant scale changes sigma
// and neither T nor p; a scale that decays like exp(-kappa t) is this term.)
//
// Second term.  Rows rotate with a body, and impulses along them would rotate too.  A wrench must change by
// the part of Jdot' sigma across the span of J'; the remainder is a rotation within the span that the motion
// does not require and that momenta would have to follow.  Without it the impulse of a spherical joint keeps
// its direction in space, whichever body the rows belong to, and does not rotate with a fast link.  Parts are
// found by least squares about the joint's point, with torques divided by the length of the mechanism; for
// couplings about the mass centres.
#include "base/assert.h"
#include "base/linear.h"
#include "base/numbers.h"
#include "loops/gauge.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- the rate

// Points of joints and mass centres at the start.  Distances from the mean, not a bounding box: a rotated
// model has the same extent.
typedef struct cloud {
    double mean[3], n, radius; // radius: largest distance from the mean
} cloud;

static void joint_point(const lw_model *model, const lwi_joint *joint, int side, double p[3])
{
    const int b = side ? joint->body2 : joint->body1;
    double R[9];
    quat_matrix(R, model->body[b].quat0);
    m3_mul_v(p, R, side ? joint->r2 : joint->r1);
    v3_add(p, p, model->body[b].r0);
}

static void add_point(cloud *c, const double p[3])
{
    v3_add(c->mean, c->mean, p);
    c->n += 1;
}

static void add_distance(cloud *c, const double p[3])
{
    double d[3];
    v3_sub(d, p, c->mean);
    c->radius = fmax(c->radius, v3_norm(d));
}

static void for_points(const lw_model *model, cloud *c, void (*point)(cloud *, const double *))
{
    for (int j = 0; j < model->njoint; j++)
        for (int side = 0; side < 2 && !model->joint[j].merged; side++) {
            double p[3];
            joint_point(model, &model->joint[j], side, p);
            point(c, p);
        }
    for (int b = 1; b < model->nbody; b++) point(c, model->body[b].r0);
}

// Twice the largest distance from the mean of all points.
static double extent_at_start(const lw_model *model)
{
    cloud c = {.n = 0};
    for_points(model, &c, add_point);
    if (c.n > 0) v3_scale(c.mean, 1 / c.n, c.mean);
    for_points(model, &c, add_distance);
    return c.radius > 0 ? 2 * c.radius : 1;
}

// Twice the kinetic energy per mass: the square of a speed.
static double speed_squared(const lw_model *model)
{
    double square = 0, mass = 0;
    for (int b = 1; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        double Jw[3];
        s3_mul_v(Jw, body->inertia, body->w0);
        square += body->mass * v3_dot(body->v0, body->v0) + v3_dot(Jw, body->w0);
        mass += body->mass;
    }
    return mass > 0 ? square / mass : 0;
}

// A little less than the rate of a pendulum of the mechanism's extent.  The choice changes steps, never the
// motion; a factor of two changes few steps.
#define RATE 0.6
// Used if neither gravity nor speeds determine a rate [m/s^2].
#define NOMINAL_GRAVITY 9.81

lwi_gauge lwi_gauge_choose(const lw_model *model, const lw_options *options)
{
    const double kappa = options ? options->kappa : LW_KAPPA_AUTO;
    lwi_gauge gauge = {.extent = extent_at_start(model), .reason = LWI_GAUGE_NONE};
    if (kappa == LW_KAPPA_NONE) return gauge;
    if (kappa > 0) {
        gauge.reason = LWI_GAUGE_OPTION;
        gauge.kappa = kappa;
        return gauge;
    }
    double a = v3_norm(model->gravity);
    gauge.reason = LWI_GAUGE_GRAVITY;
    if (!(a > 0)) {
        gauge.reason = LWI_GAUGE_SPEED;
        a = speed_squared(model) / gauge.extent;
    }
    if (!(a > 0)) {
        gauge.reason = LWI_GAUGE_NOMINAL;
        a = NOMINAL_GRAVITY;
    }
    gauge.kappa = RATE * sqrt(a / gauge.extent);
    return gauge;
}

void lwi_gauge_about(const lwi_gauge *gauge, char *text, size_t size)
{
    static const char *const formula[] = {
        "0.6 sqrt(g/L)", "0.6 v/L with the speed v at the start",
        "0.6 sqrt(9.81 m/s^2 / L), for want of gravity and speeds"};
    if (gauge->reason == LWI_GAUGE_NONE)
        snprintf(text, size, "kappa none: impulses of loops stay in the momenta");
    else if (gauge->reason == LWI_GAUGE_OPTION)
        snprintf(text, size, "kappa %.4g 1/s, as given", gauge->kappa);
    else
        snprintf(text, size, "kappa %.4g 1/s: %s, L = %.4g m the extent at the start", gauge->kappa,
                 formula[gauge->reason], gauge->extent);
}

// ---------------------------------------------------------------------------------- the directions

enum { STACK = 6 * LWI_CLOSURE_BODIES };

// For squares of lengths: half of the digits are lost in the normal equations.
#define INDEPENDENT 1e-8

// From the point of a joint to the mass centre of the body that its rows are taken of.
static void arm_of(const lw_model *model, const lwi_motion *motion, int j, const lwi_closure *rows,
                   double arm[3])
{
    const lwi_joint *joint = &model->joint[j];
    m3_mul_v(arm, motion->R[joint->body2], joint->r2);
    v3_add(arm, arm, motion->r[joint->body2]);
    v3_sub(arm, motion->r[rows->body[0]], arm);
}

// The wrenches of a row as one vector: of a joint on one of its bodies about the joint's point, which
// determines the other one; of a coupling on all bodies about their mass centres.
static void stack(int bodies, const double arm[3], double shorten,
                  const double (*J)[LWI_CLOSURE_ROWS][6], int r, double *x)
{
    for (int b = 0; b < bodies; b++) {
        double *to = x + 6 * b;
        v6_copy(to, J[b][r]);
        v3_cross_add(to + 3, arm, J[b][r]);
        v3_scale(to + 3, shorten, to + 3);
    }
}

void lwi_gauge_leak(const lw_model *model, const lwi_motion *motion, double length,
                    const lwi_gauge *gauge, int joint, const lwi_closure *rows, const double *sigma,
                    double *leak)
{
    double W[LWI_CLOSURE_ROWS][STACK], rotated[STACK] = {0},
                                       gram[LWI_CLOSURE_ROWS * LWI_CLOSURE_ROWS];
    const int m = rows->n, bodies = joint >= 0 ? 1 : rows->nbody, n = 6 * bodies;
    double arm[3] = {0};
    LWI_ASSERT(m >= 0 && m <= LWI_CLOSURE_ROWS && rows->nbody >= 1 && length > 0);
    LWI_ASSERT(gauge->kappa >= 0);
    if (joint >= 0) arm_of(model, motion, joint, rows, arm);
    for (int r = 0; r < m; r++) {
        double x[STACK];
        stack(bodies, arm, 1 / length, rows->Jdot, r, x);
        for (int i = 0; i < n; i++) rotated[i] += sigma[r] * x[i];
        stack(bodies, arm, 1 / length, rows->J, r, W[r]);
    }
    for (int r = 0; r < m; r++) {
        leak[r] = 0;
        for (int i = 0; i < n; i++) leak[r] += W[r][i] * rotated[i];
        for (int s = 0; s <= r; s++) {
            gram[m * r + s] = 0;
            for (int i = 0; i < n; i++) gram[m * r + s] += W[r][i] * W[s][i];
        }
    }
    // Rows of one joint are independent of each other.  If those of a custom joint are not, the second term
    // is omitted: any choice is valid.
    double trace = 0;
    for (int r = 0; r < m; r++) trace += gram[m * r + r];
    if (lwi_cholesky(m, gram, INDEPENDENT * trace) < 0) {
        lwi_lower_solve(m, gram, leak);
        lwi_lower_tsolve(m, gram, leak);
    } else {
        memset(leak, 0, (size_t)m * sizeof *leak);
    }
    for (int r = 0; r < m; r++) leak[r] += gauge->kappa * sigma[r];
}
