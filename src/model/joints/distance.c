// distance.c -- the distance of the two origins is l(t), one constraint and no coordinates.
//
//   phi = (d.d - l^2)/(2 l),  d = r2 - r1: about the error of the distance, smooth also at d = 0
//   phidot = d.ddot/l - (d.d/l^2 + 1) ldot/2
//   phiddot = (d.dddot + ddot.ddot)/l - 2 d.ddot ldot/l^2 + d.d ldot^2/l^3 - (d.d/l^2 + 1) lddot/2
//
// l must not be zero.  The joint has no coordinates that determine the pose of F2: it always closes a
// loop, and has no pose and no constant set of constrained directions.
#include "model/joints/shared.h"

static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    const double l = in->length[0], ld = in->length[1], ldd = in->length[2];
    double d[3], dd[3];
    v3_sub(d, in->r2, in->r1);
    const double square = v3_dot(d, d) / (l * l);
    out->phi[0] = 0.5 * l * (square - 1);
    v6_zero(out->J[0]);
    v3_scale(out->J[0], 1 / l, d);
    out->b[0] = -0.5 * (square + 1) * ld;
    if (!in->v1) return;
    v3_sub(dd, in->v2, in->v1);
    const double closing = v3_dot(d, dd) / (l * l);
    out->gamma[0] =
        v3_dot(dd, dd) / l - 2 * closing * ld + square * ld * ld / l - 0.5 * (square + 1) * ldd;
    v6_zero(out->Jdot[0]);
    v3_scale(out->Jdot[0], 1 / l, dd);
    v3_axpy(out->Jdot[0], -ld / (l * l), d);
}

const lwi_joint_type lwi_joint_type_DISTANCE = {
    LWI_JOINT_LISTED(DISTANCE),
    .name = "distance",
    .loop_only = true,
    .has_length = true,
    LWI_JOINT_FACTS(LWI_MOTION_UNKNOWN, LWI_NO_QUATERNION, LWI_ROWS({LWI_ROW_LENGTH, 0, 0}),
                    LWI_NO_COORDINATES, LWI_CUT_COST(LWI_POINTS_STAY),
                    LWI_SIGN(BAR, true, LWI_NO_AXIS), LWI_NO_NAMES),
    .neutral = lwi_joint_zero_0,
    .pose = NULL,
    .subspace = lwi_joint_none,
    .subspace_rate = lwi_joint_still_0,
    .kinematics = lwi_joint_same_0,
    .read = lwi_joint_read_none,
    .effort = lwi_joint_none,
    .complement = NULL,
    .rows = rows,
};
