// points.h -- forces at points of bodies, `arm` away from the mass centre in world axes.
#ifndef LWI_MODEL_FORCES_POINTS_H
#define LWI_MODEL_FORCES_POINTS_H

#include "model/forces/force.h"
#include "base/assert.h"
#include "spatial/motion.h"

#include <math.h>

// v + w x arm
static inline void point_velocity(double v[3], const lwi_kin *kin, int body, const double arm[3])
{
    v3_cross(v, kin->w[body], arm);
    v3_add(v, v, kin->v[body]);
}

// a + w' x arm + w x (w x arm); NAN: unknown
static inline void point_acceleration(double a[3], const lwi_kin *kin, int body,
                                      const double arm[3])
{
    double v[3];
    if (!kin->a) {
        a[0] = a[1] = a[2] = NAN;
        return;
    }
    v3_cross(v, kin->w[body], arm);
    v3_cross(a, kin->w[body], v);
    v3_cross_add(a, kin->al[body], arm);
    v3_add(a, a, kin->a[body]);
}

// The force f n, with its torque arm x (f n) about the mass centre.
static inline void push_along(lwi_loads *loads, int body, const double arm[3], double f,
                              const double n[3])
{
    double force[3], *wrench = lwi_load_on(loads, body);
    v3_scale(force, f, n);
    v3_axpy(wrench, 1, force);
    v3_cross_add(wrench + 3, arm, force);
}

static inline void point_of(double point[3], const lwi_kin *kin, int body, const double local[3])
{
    m3_mul_v(point, kin->R[body], local);
    v3_add(point, point, kin->r[body]);
}

static inline void unit_force(lwi_force_row *row, const double point1[3], const double point2[3],
                              const double n[3], double rate)
{
    row->couple = false;
    row->rate = rate;
    v3_copy(row->n, n);
    v3_copy(row->point1, point1);
    v3_copy(row->point2, point2);
}

static inline void act(lwi_force_action *action, int side, lwi_force_follows follows,
                       const double point[3], const double F[3])
{
    action->side = side;
    action->follows = follows;
    v3_copy(action->point, point);
    v3_copy(action->F, F);
}

// Squares of shorter vectors have too few digits to find a direction by.
#define SHORTEST 1e-150

// The unit vector n along d; unchanged, and false, where d has no direction: it is too short, or not finite.
static inline bool along(double n[3], const double d[3])
{
    const double length = v3_norm(d);
    if (!(length > SHORTEST && length < HUGE_VAL)) return false;
    v3_scale(n, 1 / length, d);
    return true;
}

// Two unit vectors across the unit vector n.
static inline void across(const double n[3], double a[3], double b[3])
{
    LWI_ASSERT(fabs(v3_dot(n, n) - 1) < 1e-6);
    const int smallest = fabs(n[0]) < fabs(n[1]) ? (fabs(n[0]) < fabs(n[2]) ? 0 : 2)
                                                 : (fabs(n[1]) < fabs(n[2]) ? 1 : 2);
    const double e[3] = {smallest == 0, smallest == 1, smallest == 2};
    v3_cross(a, n, e);
    v3_scale(a, 1 / v3_norm(a), a);
    v3_cross(b, n, a);
}

#endif
