// prismatic.c -- displacement along z1.
//
//   R = 1, r = q0 e3;  S = [e3; 0], constant
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    m3_identity(R);
    v3_set(r, 0, 0, q[0]);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    v6_unit(S[0], 2);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)R, (void)near;
    q[0] = r[2];
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    static const int free_of[5] = {0, 1, 3, 4, 5};
    for (int i = 0; i < 5; i++) v6_unit(D[i], free_of[i]);
}

const lwi_joint_type lwi_joint_type_PRISMATIC = {
    LWI_JOINT_LISTED(PRISMATIC),
    .name = "prismatic",
    .constant_axis = true,
    LWI_JOINT_FACTS(
        LWI_MOTION(1, LWI_SLIDE(0, LWI_Z)), LWI_NO_QUATERNION,
        LWI_ROWS(LWI_ALONG(LWI_X), LWI_ALONG(LWI_Y), LWI_ATTITUDE),
        LWI_COORDINATES(LWI_LENGTH(LWI_Z)), LWI_CUT_COST(LWI_POINTS_SLIDE),
        LWI_SIGN(SLIDER, true, LWI_SLIDE_AXIS(2, LWI_Z)),
        LWI_NAMES([LWI_NAMES_URDF] = {"prismatic"}, [LWI_NAMES_URDF_LOOP] = {"prismatic"},
                  [LWI_NAMES_SDF] = {"prismatic"}, [LWI_NAMES_MJCF] = {"slide"})),
    .neutral = lwi_joint_zero_1,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_1,
    .kinematics = lwi_joint_same_1,
    .read = read,
    .effort = subspace, // S is a unit vector
    .complement = complement,
};
