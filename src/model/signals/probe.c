// probe.c -- what formulas read of bodies, markers and springs, in the axes of the columns of results.
//
//   point         r + R p,  velocity v + w x R p, world axes;  angular velocity in axes of the marker  A' R' w
//   two points    l = |r2 - r1|,  dl/dt = (v2 - v1) . (r2 - r1)/l;  0 where the points meet
#include "model/signals/probe.h"

#include "model/forces/points.h"

#include <string.h>

static double of_point(const lwi_probe *p, const lwi_kin *kin)
{
    const int b = p->body[0], k = p->component % 3;
    double arm[3], x[3], w[3];
    LWI_ASSERT_INDEX(p->component, LWI_FORMULA_COMPONENTS);
    switch (p->component / 3) {
    case 0:
        point_of(x, kin, b, p->point[0]);
        return x[k];
    case 1:
        m3_mul_v(arm, kin->R[b], p->point[0]);
        point_velocity(x, kin, b, arm);
        return x[k];
    default:
        m3_tmul_v(w, kin->R[b], kin->w[b]);
        m3_tmul_v(x, p->axes, w);
        return x[k];
    }
}

static double between(const lwi_probe *p, const lwi_kin *kin)
{
    double arm[2][3], v[2][3], d[3];
    for (int i = 0; i < 2; i++) m3_mul_v(arm[i], kin->R[p->body[i]], p->point[i]);
    v3_sub(d, kin->r[p->body[1]], kin->r[p->body[0]]);
    v3_add(d, d, arm[1]);
    v3_sub(d, d, arm[0]);
    const double length = v3_norm(d);
    if (!p->component || length == 0) return length;
    for (int i = 0; i < 2; i++) point_velocity(v[i], kin, p->body[i], arm[i]);
    v3_sub(v[1], v[1], v[0]);
    v3_scale(d, 1 / length, d); // in the order of the springs: the same bits
    return v3_dot(d, v[1]);
}

double lwi_probe_value(const lwi_probe *p, const lwi_kin *kin)
{
    if (!p || !kin || !kin->R || ((lwi_probe_needs(p) & LWI_NEEDS_TWIST) && !kin->v)) return NAN;
    return p->kind == LWI_READ_BODY || p->kind == LWI_READ_MARKER ? of_point(p, kin)
                                                                  : between(p, kin);
}

double lwi_probe_slope(const lwi_probe *p, const lwi_seed *seed)
{
    if (p && p == seed->probe) return 1;
    if (!p || p->spring < 0 || p->spring != seed->spring) return 0;
    return p->component ? seed->rate : seed->length;
}

// to += sign times the derivatives of n . v, of a point of a body and its velocity, at constant n.
static void add_velocity(const lwi_kin *kin, int body, const double arm[3], const double n[3],
                         double sign, double by_pose[6], double by_twist[6])
{
    double cross[3], rotated[3]; // n . (w x (theta x arm)) = theta . (arm x (n x w))
    v3_cross(cross, arm, n);
    v3_axpy(by_twist, sign, n);
    v3_axpy(by_twist + 3, sign, cross);
    v3_cross(rotated, n, kin->w[body]);
    v3_cross(cross, arm, rotated);
    v3_axpy(by_pose + 3, sign, cross);
}

// The same of n . x.
static void add_position(const double arm[3], const double n[3], double sign, double by_pose[6])
{
    double cross[3];
    v3_cross(cross, arm, n);
    v3_axpy(by_pose, sign, n);
    v3_axpy(by_pose + 3, sign, cross);
}

static void derive_point(const lwi_probe *p, const lwi_kin *kin, double by_pose[6],
                         double by_twist[6])
{
    const int b = p->body[0], k = p->component % 3;
    const double e[3] = {k == 0, k == 1, k == 2};
    double arm[3], n[3], cross[3];
    m3_mul_v(arm, kin->R[b], p->point[0]);
    switch (p->component / 3) {
    case 0:
        add_position(arm, e, 1, by_pose);
        return;
    case 1:
        add_velocity(kin, b, arm, e, 1, by_pose, by_twist);
        return;
    default: // n . w with n fixed in the body
        m3_mul_v(n, p->axes, e);
        m3_mul_v(n, kin->R[b], n);
        v3_cross(cross, n, kin->w[b]);
        v3_copy(by_pose + 3, cross);
        v3_copy(by_twist + 3, n);
        return;
    }
}

static void derive_between(const lwi_probe *p, const lwi_kin *kin, double by_pose[2][6],
                           double by_twist[2][6])
{
    double arm[2][3], v[2][3], d[3], across[3];
    for (int i = 0; i < 2; i++) {
        m3_mul_v(arm[i], kin->R[p->body[i]], p->point[i]);
        point_velocity(v[i], kin, p->body[i], arm[i]);
    }
    v3_sub(d, kin->r[p->body[1]], kin->r[p->body[0]]);
    v3_add(d, d, arm[1]);
    v3_sub(d, d, arm[0]);
    v3_sub(v[1], v[1], v[0]);
    const double length = v3_norm(d);
    if (length == 0) return;
    v3_scale(d, 1 / length, d);
    v3_copy(across, v[1]); // (v - n n.v) / l, by which the rate changes with the points
    v3_axpy(across, -v3_dot(d, v[1]), d);
    v3_scale(across, 1 / length, across);
    for (int i = 0; i < 2; i++) {
        add_position(arm[i], p->component ? across : d, i ? 1 : -1, by_pose[i]);
        if (p->component)
            add_velocity(kin, p->body[i], arm[i], d, i ? 1 : -1, by_pose[i], by_twist[i]);
    }
}

void lwi_probe_derivatives(const lwi_probe *p, const lwi_kin *kin, double by_pose[2][6],
                           double by_twist[2][6])
{
    memset(by_pose, 0, 12 * sizeof **by_pose);
    memset(by_twist, 0, 12 * sizeof **by_twist);
    if (p->kind == LWI_READ_BODY || p->kind == LWI_READ_MARKER)
        derive_point(p, kin, by_pose[0], by_twist[0]);
    else
        derive_between(p, kin, by_pose, by_twist);
}

unsigned lwi_probe_needs(const lwi_probe *p)
{
    const bool between = p->kind == LWI_READ_SPRING || p->kind == LWI_READ_DISTANCE;
    const bool moves = between ? p->component > 0 : p->component >= 3;
    return LWI_NEEDS_POSE | (moves ? LWI_NEEDS_TWIST : 0u);
}
