// row_derivatives.h -- constraint rows of a joint with their derivatives to the third order.
//
// Problem: derivatives of the dynamics of mechanisms with loops need those of J, J v + b and J vdot + gamma.  A row is a
// function phi of the pose (R, d) of F2 in F1.  All motions are those of F2 relative to F1, components in axes of F1
// about its origin, linear part first: a displacement eta moves d by eta_v + eta_w x d and R by eta_w x; a velocity
// U; its rate Udot.  With K[a][b] = dJ_a/d eta_b,
//
//     phidot = J.U (+ partial derivatives by time)
//     phiddot = J.Udot + U'K U (+ ...)
//
// Every row of the library is a function of entries of R and d.
#ifndef LWI_KINEMATICS_ROW_DERIVATIVES_H
#define LWI_KINEMATICS_ROW_DERIVATIVES_H

#include "model/model.h"

typedef struct lwi_relative_motion {
    double R[9], d[3]; ///< pose of F2 in F1
    double U[6], Udot[6];
} lwi_relative_motion;

typedef struct lwi_row_derivatives {
    double phi, rate, second; ///< phi and its derivatives by time, without those of drives
    double J[6], K[6][6];
    double rate_by_pose[6];                      ///< of phidot by eta, at fixed U
    double second_by_pose[6], second_by_rate[6]; ///< of phiddot by eta, and by U
} lwi_row_derivatives;

/** Are the rows of this joint known?  Those of callers' joints are not. */
bool lwi_joint_rows_known(const lwi_joint *joint);
/** The rows of the type.  @param length  of a distance: length and its two derivatives by time
 *  @return how many */
int lwi_joint_row_derivatives(const lwi_joint *joint, const lwi_relative_motion *motion,
                              const double length[3], lwi_row_derivatives row[6]);
/** Coordinate k as a row: phi = q_k, up to whole rotations. */
void lwi_coordinate_derivatives(const lwi_joint_type *type, int k,
                                const lwi_relative_motion *motion, lwi_row_derivatives *row);
/** f(phi) with f, f', f'', f''' at phi. */
void lwi_row_derivatives_of(const double f[4], const lwi_row_derivatives *phi,
                            lwi_row_derivatives *out);

#endif
