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

// r2 - r1 normal to x1 and y1, axes parallel
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_along(in, out, 0, 0);
    lwi_row_along(in, out, 1, 1);
    lwi_row_attitude(in, out, 2);
}

static void coordinates(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_along(in, out, 0, 2);
}

const lwi_joint_type lwi_joint_prismatic = {
    .name = "prismatic",
    .id = LW_JOINT_PRISMATIC,
    .sign = LWI_JOINT_SLIDER,
    .axes_drawn = 1,
    .separates = true,
    .nq = 1,
    .nv = 1,
    .nc = 5,
    .scalar = true,
    .constant_axis = true,
    .neutral = lwi_joint_zero_1,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_1,
    .kinematics = lwi_joint_same_1,
    .read = read,
    .effort = subspace, // S is a unit vector
    .complement = complement,
    .rows = rows,
    .coordinates = coordinates,
};
