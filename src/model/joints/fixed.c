// fixed.c -- no degree of freedom: F2 stays in F1.
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par, (void)q;
    m3_identity(R);
    v3_set(r, 0, 0, 0);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 6; i++) v6_unit(D[i], i);
}

const lwi_joint_type lwi_joint_type_FIXED = {
    LWI_JOINT_LISTED(FIXED),
    .name = "fixed",
    LWI_JOINT_FACTS(
        LWI_MOTION(0), LWI_NO_QUATERNION, LWI_ROWS(LWI_POINTS, LWI_ATTITUDE), LWI_NO_COORDINATES,
        LWI_CUT_COST(LWI_POINTS_STAY), LWI_SIGN(SQUARE, false, LWI_NO_AXIS),
        LWI_NAMES([LWI_NAMES_URDF] = {"fixed"}, [LWI_NAMES_URDF_LOOP] = {"fixed", "6d", "6D"},
                  [LWI_NAMES_SDF] = {"fixed"})),
    .neutral = lwi_joint_zero_0,
    .pose = pose,
    .subspace = lwi_joint_none,
    .subspace_rate = lwi_joint_still_0,
    .kinematics = lwi_joint_same_0,
    .read = lwi_joint_read_none,
    .effort = lwi_joint_none,
    .complement = complement,
    .points = true,
};
