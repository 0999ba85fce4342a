// friction.c -- dry friction -C tanh(v / v0) in Newton's equations, for any v0.
//
// If v0 is far below the change of speed in a step, Newton on tanh cycles: at a speed beyond v0 the law is
// flat, within it nearly vertical.  The compliance of the coordinate is known: an effort f changes the speed
// at the step's end by rho f / C, rho = h/2 C w.  So the speed v and the share y of C at the end of an
// iteration determine the speed without the friction,
//     p = v + rho y,
// and the next iteration linearises where friction of that compliance would end,
//     v* + rho tanh(v* / v0) = p:                     one root, the law is monotone
// sliding for |p| > rho, otherwise sticking, for any v.  If w is exact, the equations of one coordinate are
// solved in one iteration from there; a larger w needs another one.  From y* = tanh(v* / v0) and its slope
// y', with J x for the increment of the coordinate:
//     effort now  -C y*,    J x = -h/2 (v - v*) - dlambda / k,    k = 2/h C y'
//
// A coordinate that friction stops faster than the step would oscillate in the trapezoidal rule: v = 0 needs a = -a_bar.
// The projections damp it.  With kappa = h/2 C y' J M^-1 J', of the whole mechanism, they set its acceleration to
//     (a + kappa m) / (1 + kappa),      m = (v - v_bar) / h,   the mean acceleration of the step,
// by a row of the compliance 2/h / (C y').  m is off by h/2 of the rate of a, and speeds of stiff coordinates by 1 / (C y')
// of that: order two for any kappa, and a power series in h where h resolves the law.  m is no acceleration of the end
// if friction has stopped the coordinate within the step: it counts by 2 y'_bar y' / (y'_bar^2 + y'^2), one in
// steady creep.
#include "methods/index3/index3.h"

#include "spatial/motion.h"

#include <math.h>
#include <string.h>

// These rows are softer than joints by at least this share of their compliance, so that joints prevail where both cannot be
// satisfied; this share of an oscillation remains in each step.
#define HOLD 1e-4

// Newton from the left of the root of a concave function increases monotonically; far out on the tail of tanh
// a step adds 1/2 to v / v0, and 1e-15 of rho is at 17.
enum { ROOT_STEPS = 60 };

// v + rho tanh(v / v0) = p
static double sticking_point(double p, double rho, double v0)
{
    LWI_ASSERT(rho >= 0 && v0 > 0);
    const double size = fabs(p);
    double v = fmax(0, size - rho);
    for (int i = 0; i < ROOT_STEPS; i++) {
        const double y = tanh(v / v0);
        const double step = (size - v - rho * y) / (1 + rho / v0 * (1 - y * y));
        v += step;
        if (!(step > 1e-15 * v)) break; // round-off
    }
    return copysign(v, p);
}

double lwi_index3_row_mobility(const lwi_index3 *d, const lwi_index3_coupler *c,
                               double wrench[2][6])
{
    const lwi_system *s = &d->system;
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        const int b = c->body[side];
        if (!b) continue;
        const double *f = wrench[side];
        double K[6], theta[3], x[6];
        const int node = s->model->body_node[b];
        if (lwi_index3_is_borrowed(d, node)) {
            const double *full = s->transfer->body[s->transfer->of[node]].K;
            for (int i = 0; i < 6; i++) x[i] = v6_dot(full + 6 * i, f);
            sum += v6_dot(f, x) / lwi_system_parts_of(s, node);
            continue;
        }
        s3_rotate(K, s->R[b], s->mobility[node]);
        s3_mul_v(theta, K, f + 3);
        sum += v3_dot(f, f) / s->model->body[b].mass + v3_dot(theta, f + 3);
    }
    return sum;
}

double lwi_index3_slip(lwi_index3_coupler *c, double h, double mobility, double v)
{
    const lwi_joint_friction_par *p = c->dry;
    lwi_index3_slipping *s = &c->slip;
    const double rho = 0.5 * h * p->coulomb * mobility;
    LWI_ASSERT(h > 0 && mobility >= 0);
    const double y = s->known ? s->y + s->slope * (v - s->v) : tanh(v / p->speed);
    s->v = sticking_point(v + rho * y, rho, p->speed);
    s->y = tanh(s->v / p->speed);
    s->slope = (1 - s->y * s->y) / p->speed;
    s->known = true;
    s->sticks = rho * s->slope > 1;
    return 2 / h * p->coulomb * s->slope;
}

void lwi_index3_add_effort(lwi_index3 *d, const lwi_index3_coupler *c, double wrench[2][6],
                           double effort)
{
    lwi_system *s = &d->system;
    for (int side = 0; side < 2; side++)
        if (c->body[side]) v6_axpy(s->x[s->model->body_node[c->body[side]]], effort, wrench[side]);
}

// qdd of a coordinate at zero accelerations of the bodies.
static double bias_of(lwi_index3 *d, const lwi_index3_coupler *c, double t)
{
    lwi_system *s = &d->system;
    double qdd[LW_JOINT_MAX_NV];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 3; i++) s->a[c->body[side]][i] = s->al[c->body[side]][i] = 0;
    lwi_joint_read_acceleration(s->model, c->joint, t, &s->motion, (const double(*)[3])s->a,
                                (const double(*)[3])s->al, qdd);
    return qdd[c->coordinate];
}

void lwi_index3_friction_begins(lwi_index3 *d)
{
    for (int i = 0; i < d->ncoupler; i++) {
        lwi_index3_coupler *c = &d->coupler[i];
        c->slip = (lwi_index3_slipping){.began = c->dry ? d->system.qd[c->iv] : 0};
    }
}

// m of a coordinate, by the share that is the acceleration of the end.
static double mean_acceleration(const lwi_index3_coupler *c, double v, double h)
{
    const double y = tanh(c->slip.began / c->dry->speed), end = c->slip.slope,
                 begin = (1 - y * y) / c->dry->speed, larger = fmax(begin, end);
    const double b = begin / larger, e = end / larger;
    return 2 * b * e / (b * b + e * e) * (v - c->slip.began) / h;
}

void lwi_index3_friction_rows(lwi_index3 *d, double t, double h, double unit)
{
    lwi_system *s = &d->system;
    LWI_ASSERT(h > 0);
    for (int i = 0; i < d->ncoupler; i++) {
        const lwi_index3_coupler *c = &d->coupler[i];
        const double resistance = c->dry ? 0.5 * h * c->dry->coulomb * c->slip.slope : 0;
        if (!c->slip.known || !(resistance > 0) || !(1 / resistance < HUGE_VAL)) continue;
        const int e = s->nedge - d->ncoupler + i, row = s->plan.row[e];
        double wrench[2][6];
        lwi_index3_unit_effort(d, c, t, wrench);
        for (int side = 0, slot = s->plan.slot[e]; side < 2; side++)
            if (c->body[side]) v6_copy(lwi_elim_J(s->elim)[6 * slot++], wrench[side]);
        d->compliance[row - d->first_compliance] =
            unit * fmax(1 / resistance, HOLD * lwi_index3_row_mobility(d, c, wrench));
        s->b[row] = -s->qd[c->iv];
        s->gamma[row] = bias_of(d, c, t) - mean_acceleration(c, s->qd[c->iv], h);
    }
}
