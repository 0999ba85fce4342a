// change.h -- how the loads of a force between bodies change with the motion of its bodies.
//
// A change of the motion of body b: displacement of its mass centre and rotation (`pose`), changes of the velocity of the
// mass centre and of the angular velocity (`twist`), world axes.  A point of the body, `arm` from its mass centre, changes
//     dp = dr + theta x arm,    dv = dv_c + dw x arm + w x (theta x arm)
#ifndef LWI_MODEL_FORCES_CHANGE_H
#define LWI_MODEL_FORCES_CHANGE_H

#include "model/forces/points.h"

static inline void arm_change(double darm[3], const lwi_motion_pair *m, int side,
                              const double arm[3])
{
    v3_cross(darm, m->pose[side] + 3, arm);
}

static inline void point_change(double dp[3], const lwi_motion_pair *m, int side,
                                const double arm[3])
{
    arm_change(dp, m, side, arm);
    v3_add(dp, dp, m->pose[side]);
}

/** @param darm  change of the arm: that of the body's material, or of another point */
static inline void velocity_change(double dv[3], const lwi_motion_pair *m, int side,
                                   const double w[3], const double arm[3], const double darm[3])
{
    v3_cross(dv, m->twist[side] + 3, arm);
    v3_add(dv, dv, m->twist[side]);
    v3_cross_add(dv, w, darm);
}

/** load += sign times the change of a force F at `arm`. */
static inline void add_load_change(double load[6], double sign, const double F[3],
                                   const double dF[3], const double arm[3], const double darm[3])
{
    double torque[3];
    v3_axpy(load, sign, dF);
    v3_cross(torque, arm, dF);
    v3_cross_add(torque, darm, F);
    v3_axpy(load + 3, sign, torque);
}

/** dn := change of the unit vector n = d / length. */
static inline void direction_change(double dn[3], const double n[3], double length,
                                    const double dd[3])
{
    v3_copy(dn, dd);
    v3_axpy(dn, -v3_dot(n, dd), n);
    v3_scale(dn, 1 / length, dn);
}

#endif
