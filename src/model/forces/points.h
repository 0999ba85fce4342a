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

#endif
