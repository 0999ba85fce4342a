// points.h -- forces at points of bodies, `arm` away from the mass centre in world axes.
#ifndef LWI_MODEL_FORCES_POINTS_H
#define LWI_MODEL_FORCES_POINTS_H

#include "model/forces/force.h"
#include "spatial/motion.h"

// v + w x arm
static inline void point_velocity(double v[3], const lwi_kin *kin, int body, const double arm[3])
{
    v3_cross(v, kin->w[body], arm);
    v3_add(v, v, kin->v[body]);
}

// The force f n, with its moment arm x (f n) about the mass centre.
static inline void push_along(lwi_loads *loads, int body, const double arm[3], double f,
                              const double n[3])
{
    double force[3];
    v3_scale(force, f, n);
    v3_axpy(loads->wrench[body], 1, force);
    v3_cross_add(loads->wrench[body] + 3, arm, force);
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

#endif
