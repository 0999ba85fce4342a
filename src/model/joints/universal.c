// universal.c -- angle q0 about z1, then q1 about x2.
//
//   R = Rz(q0) Rx(q1), r = 0;  with s, c of q1:
//   S = [0; (0, s, c)], [0; e1]      z1 in F2-components, and x2
//   Sdot = q1dot [0; (0, c, -s)], 0
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    double Z[9], X[9];
    rot_z(Z, cos(q[0]), sin(q[0]));
    rot_x(X, cos(q[1]), sin(q[1]));
    m3_mul(R, Z, X);
    v3_set(r, 0, 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par;
    v6_zero(S[0]);
    S[0][4] = sin(q[1]);
    S[0][5] = cos(q[1]);
    v6_unit(S[1], 3);
}

static void subspace_rate(const lwi_joint_par *par, const double *q, const double *u,
                          double Sdot[][6])
{
    (void)par;
    v6_zero(Sdot[0]);
    Sdot[0][4] = u[1] * cos(q[1]);
    Sdot[0][5] = -u[1] * sin(q[1]);
    v6_zero(Sdot[1]);
}

// x2 = (cos q0, sin q0, 0) in F1, z1 = (0, sin q1, cos q1) in F2
static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)r;
    q[0] = angle_continue(atan2(R[3], R[0]), near[0]);
    q[1] = angle_continue(atan2(R[7], R[8]), near[1]);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par;
    for (int i = 0; i < 3; i++) v6_unit(D[i], i);
    v6_zero(D[3]);
    D[3][4] = cos(q[1]);
    D[3][5] = -sin(q[1]);
}

const lwi_joint_type lwi_joint_type_UNIVERSAL = {
    LWI_JOINT_LISTED(UNIVERSAL),
    .name = "universal",
    .angles = 3,
    .axis2 = "the axis fixed in body2",
    LWI_JOINT_FACTS(
        LWI_MOTION(2, LWI_TURN(0, LWI_Z), LWI_TURN(1, LWI_X)), LWI_NO_QUATERNION,
        LWI_ROWS(LWI_POINTS, LWI_AXES(LWI_Z, LWI_X)),
        LWI_COORDINATES(LWI_ARC(LWI_X, LWI_X, LWI_Y, LWI_X), LWI_ARC(LWI_Z, LWI_Z, LWI_Z, LWI_Y)),
        LWI_CUT_COST(LWI_POINTS_STAY),
        LWI_SIGN(CIRCLE, false, LWI_TURN_AXIS(1, LWI_Z), LWI_TURN_AXIS(2, LWI_X)),
        LWI_NAMES([LWI_NAMES_SDF] = {"universal", "revolute2"})),
    .neutral = lwi_joint_zero_2,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = subspace_rate,
    .kinematics = lwi_joint_same_2,
    .read = read,
    .effort = subspace, // S is orthonormal: torques about z1 and about x2
    .complement = complement,
    .points = true,
};
