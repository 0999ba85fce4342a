// fixed.c -- no freedom: F2 stays in F1.
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

static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_points(in, out, 0);
    lwi_row_attitude(in, out, 3);
}

const lwi_joint_type lwi_joint_fixed = {
    .name = "fixed",
    .id = LW_JOINT_FIXED,
    .sign = LWI_JOINT_SQUARE,
    .nc = 6,
    .scalar = true,
    .neutral = lwi_joint_zero_0,
    .pose = pose,
    .subspace = lwi_joint_none,
    .subspace_rate = lwi_joint_still_0,
    .kinematics = lwi_joint_same_0,
    .read = lwi_joint_read_none,
    .effort = lwi_joint_none,
    .complement = complement,
    .points = true,
    .rows = rows,
};
