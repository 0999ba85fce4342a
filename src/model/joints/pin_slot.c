// pin_slot.c -- displacement along x1, angle about z1: a pin of body 2 in a straight slot of body 1.
//
//   R = Rz(q1), r = q0 e1;  with s, c of q1:
//   S = [(c, -s, 0); 0], [0; e3]          x1 in F2-components, and z
//   Sdot = q1dot [(-s, -c, 0); 0], 0
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    rot_z(R, cos(q[1]), sin(q[1]));
    v3_set(r, q[0], 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par;
    v6_zero(S[0]);
    S[0][0] = cos(q[1]);
    S[0][1] = -sin(q[1]);
    v6_unit(S[1], 5);
}

static void subspace_rate(const lwi_joint_par *par, const double *q, const double *u,
                          double Sdot[][6])
{
    (void)par;
    v6_zero(Sdot[0]);
    Sdot[0][0] = -u[1] * sin(q[1]);
    Sdot[0][1] = -u[1] * cos(q[1]);
    v6_zero(Sdot[1]);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par;
    q[0] = r[0];
    q[1] = angle_z(R, near[1]);
}

// y1 and z1, and rotations about x and y
static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par;
    v6_zero(D[0]);
    D[0][0] = sin(q[1]);
    D[0][1] = cos(q[1]);
    for (int i = 0; i < 3; i++) v6_unit(D[1 + i], 2 + i);
}

const lwi_joint_type lwi_joint_type_PIN_SLOT = {
    LWI_JOINT_LISTED(PIN_SLOT),
    .name = "pin_slot",
    .angles = 2,
    .axis2 = "the direction of the slot",
    LWI_JOINT_FACTS(
        LWI_MOTION(2, LWI_SLIDE(0, LWI_X), LWI_TURN(1, LWI_Z)), LWI_NO_QUATERNION,
        LWI_ROWS(LWI_ALONG(LWI_Y), LWI_ALONG(LWI_Z), LWI_AXES(LWI_X, LWI_Z),
                 LWI_AXES(LWI_Y, LWI_Z)),
        LWI_COORDINATES(LWI_LENGTH(LWI_X), LWI_TURN_ANGLE), LWI_CUT_COST(LWI_POINTS_SLIDE),
        LWI_SIGN(SLEEVE, true, LWI_SLIDE_AXIS(1, LWI_X), LWI_TURN_AXIS(2, LWI_Z)), LWI_NO_NAMES),
    .neutral = lwi_joint_zero_2,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = subspace_rate,
    .kinematics = lwi_joint_same_2,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
};
