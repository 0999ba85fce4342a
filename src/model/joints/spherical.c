// spherical.c -- unit quaternion of F2 in F1; speeds: angular velocity in F2.
//
//   R = R(q), r = 0;  S = [0; 1], constant
#include "model/joints/shared.h"

static void neutral(const lwi_joint_par *par, double *q)
{
    (void)par;
    q[0] = 1;
    q[1] = q[2] = q[3] = 0;
}

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    quat_matrix(R, q);
    v3_set(r, 0, 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 3; i++) v6_unit(S[i], 3 + i);
}

static void kinematics(const lwi_joint_par *par, const double *q, const double *u, double *qdot)
{
    (void)par;
    quat_rate(qdot, q, u);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)r;
    double next[4]; // near and q may be the same array
    quat_from_matrix(next, R);
    quat_continue(next, near);
    memcpy(q, next, sizeof next);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 3; i++) v6_unit(D[i], i);
}

const lwi_joint_type lwi_joint_type_SPHERICAL = {
    LWI_JOINT_LISTED(SPHERICAL),
    .name = "spherical",
    LWI_JOINT_FACTS(LWI_MOTION(1, LWI_BALL(0)), LWI_QUATERNION_AT(0), LWI_ROWS(LWI_POINTS),
                    LWI_NO_COORDINATES, LWI_CUT_COST(LWI_POINTS_STAY),
                    LWI_SIGN(BALL, false, LWI_NO_AXIS),
                    LWI_NAMES([LWI_NAMES_URDF_LOOP] = {"spherical", "ball", "3d", "3D"},
                              [LWI_NAMES_SDF] = {"ball"}, [LWI_NAMES_MJCF] = {"ball"})),
    .neutral = neutral,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_3,
    .kinematics = kinematics,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
    .points = true,
};
