// free.c -- six degrees of freedom: position of F2 in F1 axes, quaternion; speeds in F2-components.
//
//   q = (r, e), u = (v, w);  R = R(e);  S = 1;  rdot = R v, edot = e w / 2
#include "model/joints/shared.h"

static void neutral(const lwi_joint_par *par, double *q)
{
    (void)par;
    memset(q, 0, 7 * sizeof *q);
    q[3] = 1;
}

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    quat_matrix(R, q + 3);
    v3_copy(r, q);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 6; i++) v6_unit(S[i], i);
}

static void kinematics(const lwi_joint_par *par, const double *q, const double *u, double *qdot)
{
    (void)par;
    double R[9];
    quat_matrix(R, q + 3);
    m3_mul_v(qdot, R, u);
    quat_rate(qdot + 3, q + 3, u + 3);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par;
    double next[4]; // near and q may be the same array
    quat_from_matrix(next, R);
    quat_continue(next, near + 3);
    v3_copy(q, r);
    memcpy(q + 3, next, sizeof next);
}

const lwi_joint_type lwi_joint_type_FREE = {
    LWI_JOINT_LISTED(FREE),
    .name = "free",
    LWI_JOINT_FACTS(LWI_MOTION(2, LWI_PLACE(0), LWI_BALL(3)), LWI_QUATERNION_AT(3), LWI_NO_ROWS,
                    LWI_NO_COORDINATES, LWI_CUT_COST(LWI_POINTS_STAY),
                    LWI_SIGN(HIDDEN, false, LWI_NO_AXIS),
                    LWI_NAMES([LWI_NAMES_URDF] = {"floating"}, [LWI_NAMES_URDF_LOOP] = {"floating"},
                              [LWI_NAMES_MJCF] = {"free"})),
    .neutral = neutral,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_6,
    .kinematics = kinematics,
    .read = read,
    .effort = subspace,
    .complement = lwi_joint_none,
};
