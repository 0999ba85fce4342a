// error.c -- local error of a step.
//
// Positions.  The trapezoidal rule for velocities and accelerations gives r + h v + h^2/2 a + h^3/4 a', the
// motion has h^3/6 a':
//     error = h^3/12 a' = (end - predictor)/3,    predictor = r + h v + h^2/2 a
// Velocities are off by h^3/12 a''; a'' is the second difference of the accelerations at the ends of three
// steps, so it is not available in the first step of a run.  Rotations count by the mechanism's length L.
//
// Accelerations are differences of positions over h^2, with 4/h^2 of their round-off.  The contribution of
// that to the second difference grows as steps become short; it is subtracted, otherwise steps would only
// become shorter where a force jumps (dry friction of a tiny speed, at a stop).
//
// Tolerances: atol + rtol L for positions, atol + rtol V for velocities, V the largest of any body.
#include "methods/index3/index3.h"

#include "spatial/rotation.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Round-off of a position after some iterations of Newton, relative to its size.
#define ROUND_OFF (4 * DBL_EPSILON)

// Rotation vector from the attitude p to q, body axes.
static void rotation_between(const double p[4], const double q[4], double theta[3])
{
    double back[4], r[4];
    static const double identity[4] = {1, 0, 0, 0};
    quat_conjugate(back, p);
    quat_mul(r, back, q);
    quat_continue(r, identity);
    const double sine = v3_norm(r + 1);
    // below this sine and angle are equal to round-off
    v3_scale(theta, sine > 1e-8 ? 2 * atan2(sine, r[0]) / sine : 2 / r[0], r + 1);
}

void lwi_index3_acceleration_of(const lwi_index3 *d, const double *x, int k, double a[3],
                                double al[3])
{
    const double *m = x + d->at_acceleration + d->nmemory * k;
    v3_copy(a, m);
    if (d->euler)
        lwi_index3_euler_angular_acceleration(d, x, k, al);
    else
        v3_copy(al, m + 3);
}

static double position_error(const lwi_index3 *d, int k, double h, const double *before,
                             const double *after)
{
    const double *r = before + 7 * k, *end = after + 7 * k, *u = before + d->at_speed + 6 * k;
    double a[3], al[3], dr[3], theta[3];
    lwi_index3_acceleration_of(d, before, k, a, al);
    rotation_between(r + 3, end + 3, theta);
    for (int i = 0; i < 3; i++) {
        dr[i] = end[i] - r[i] - h * (u[i] + 0.5 * h * a[i]);
        theta[i] -= h * (u[3 + i] + 0.5 * h * al[i]);
    }
    return (v3_norm(dr) + d->system.length * v3_norm(theta)) / 3;
}

// h^3/12 a'',  a'' = 2 ((a2 - a1)/h - (a1 - a0)/h0) / (h + h0)
static double velocity_error(const lwi_index3 *d, int k, double h, const double *before,
                             const double *after, double h0, const double *last)
{
    double a[3][3], al[3][3], dv[3], dw[3];
    const double *x[3] = {last, before, after};
    const double f = h * h * h / (6 * (h + h0));
    for (int i = 0; i < 3; i++) lwi_index3_acceleration_of(d, x[i], k, a[i], al[i]);
    for (int i = 0; i < 3; i++) {
        dv[i] = f * ((a[2][i] - a[1][i]) / h - (a[1][i] - a[0][i]) / h0);
        dw[i] = f * ((al[2][i] - al[1][i]) / h - (al[1][i] - al[0][i]) / h0);
    }
    // four accelerations, of translations and of rotations: each 4/h^2 of a position
    const double size = v3_norm(after + 7 * k) + d->system.length, H = fmin(h, h0);
    const double unknown = f * 8 * (4 / (H * H)) * ROUND_OFF * size / H;
    return fmax(0, v3_norm(dv) + d->system.length * v3_norm(dw) - unknown);
}

// Of the states of signals: the trapezoidal rule is off by h^3/12 of their third derivative, which follows from the values
// at the ends of two steps and the rate between them, known in the last step.
static double signals_error(const lwi_work *work, double h, const double *before,
                            const double *after, double h0, const double *last, double rtol,
                            double atol)
{
    const lwi_index3 *d = work->data;
    const int n = d->signals.n, at = work->layout.nx - n;
    double largest = 0;
    for (int i = 0; i < n && h0 > 0; i++) {
        const double c = before[at + i], next = after[at + i], g = d->signals.g0[i];
        const double forward = (next - c - h * g) / (h * h),
                     back = (last[at + i] - c + h0 * g) / (h0 * h0);
        const double sixth = (forward - back) / (h + h0);
        largest = fmax(largest, 0.5 * h * h * h * fabs(sixth) / (atol + rtol * fabs(next)));
    }
    return largest;
}

double lwi_index3_error(lwi_work *work, double h, const double *before, const double *after,
                        double last_h, const double *last, double rtol, double atol)
{
    const lwi_index3 *d = work->data;
    const double length = d->system.length;
    LWI_ASSERT(h > 0 && length > 0);
    double position = 0, velocity = 0, fastest = 0;
    for (int k = 0; k < work->model->nnode; k++) {
        const double *u = after + d->at_speed + 6 * k;
        fastest = fmax(fastest, v3_norm(u) + length * v3_norm(u + 3));
        position = fmax(position, position_error(d, k, h, before, after));
        if (last_h > 0)
            velocity = fmax(velocity, velocity_error(d, k, h, before, after, last_h, last));
    }
    const double signals = signals_error(work, h, before, after, last_h, last, rtol, atol);
    return fmax(signals,
                fmax(position / (atol + rtol * length), velocity / (atol + rtol * fastest)));
}
