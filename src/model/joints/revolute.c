// revolute.c -- angle about z1.
//
//   R = Rz(q0), r = 0;  S = [0; e3], constant
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    rot_z(R, cos(q[0]), sin(q[0]));
    v3_set(r, 0, 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    v6_unit(S[0], 5);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)r;
    q[0] = angle_z(R, near[0]);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 5; i++) v6_unit(D[i], i);
}

const lwi_joint_type lwi_joint_type_REVOLUTE = {
    LWI_JOINT_LISTED(REVOLUTE),
    .name = "revolute",
    .angles = 1,
    .constant_axis = true,
    LWI_JOINT_FACTS(
        LWI_MOTION(1, LWI_TURN(0, LWI_Z)), LWI_NO_QUATERNION,
        LWI_ROWS(LWI_POINTS, LWI_AXES(LWI_X, LWI_Z), LWI_AXES(LWI_Y, LWI_Z)),
        LWI_COORDINATES(LWI_TURN_ANGLE), LWI_CUT_COST(LWI_POINTS_STAY),
        LWI_SIGN(CIRCLE, false, LWI_TURN_AXIS(2, LWI_Z)),
        LWI_NAMES([LWI_NAMES_URDF] = {"revolute", "continuous"},
                  [LWI_NAMES_URDF_LOOP] = {"revolute", "continuous"},
                  [LWI_NAMES_SDF] = {"revolute", "continuous"}, [LWI_NAMES_MJCF] = {"hinge"})),
    .neutral = lwi_joint_zero_1,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_1,
    .kinematics = lwi_joint_same_1,
    .read = read,
    .effort = subspace, // S is a unit vector
    .complement = complement,
    .points = true,
};
