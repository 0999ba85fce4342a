// cylindrical.c -- displacement along z1, angle about z1.
//
//   R = Rz(q1), r = q0 e3;  S = [e3; 0], [0; e3], constant
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    rot_z(R, cos(q[1]), sin(q[1]));
    v3_set(r, 0, 0, q[0]);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    v6_unit(S[0], 2);
    v6_unit(S[1], 5);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par;
    q[0] = r[2];
    q[1] = angle_z(R, near[1]);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    v6_unit(D[0], 0);
    v6_unit(D[1], 1);
    v6_unit(D[2], 3);
    v6_unit(D[3], 4);
}

const lwi_joint_type lwi_joint_type_CYLINDRICAL = {
    LWI_JOINT_LISTED(CYLINDRICAL),
    .name = "cylindrical",
    .angles = 2,
    LWI_JOINT_FACTS(LWI_MOTION(2, LWI_SLIDE(0, LWI_Z), LWI_TURN(1, LWI_Z)), LWI_NO_QUATERNION,
                    LWI_ROWS(LWI_ALONG(LWI_X), LWI_ALONG(LWI_Y), LWI_AXES(LWI_X, LWI_Z),
                             LWI_AXES(LWI_Y, LWI_Z)),
                    LWI_COORDINATES(LWI_LENGTH(LWI_Z), LWI_TURN_ANGLE),
                    LWI_CUT_COST(LWI_POINTS_SLIDE), LWI_SIGN(SLEEVE, true, LWI_TURN_AXIS(2, LWI_Z)),
                    LWI_NAMES([LWI_NAMES_URDF_LOOP] = {"cylindrical"})),
    .neutral = lwi_joint_zero_2,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_2,
    .kinematics = lwi_joint_same_2,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
};
