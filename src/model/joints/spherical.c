// spherical.c -- unit quaternion of F2 in F1; speeds: angular velocity in F2.
//
//   R = R(q), r = 0;  S = [0; 1], constant
#include "model/joints/shared.h"

static void neutral(const lwi_joint_par *par, double *q)
{
    (void)par;
    q[0] = 1;
    q[1] = q[2] = q[3] = 0;
}

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    quat_matrix(R, q);
    v3_set(r, 0, 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 3; i++) v6_unit(S[i], 3 + i);
}

static void kinematics(const lwi_joint_par *par, const double *q, const double *u, double *qdot)
{
    (void)par;
    quat_rate(qdot, q, u);
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)r;
    double next[4]; // near and q may be the same array
    quat_from_matrix(next, R);
    quat_continue(next, near);
    memcpy(q, next, sizeof next);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 3; i++) v6_unit(D[i], i);
}

// r2 = r1
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_points(in, out, 0);
}

const lwi_joint_type lwi_joint_spherical = {
    .name = "spherical",
    .id = LW_JOINT_SPHERICAL,
    .sign = LWI_JOINT_BALL,
    .nq = 4,
    .nv = 3,
    .nc = 3,
    .neutral = neutral,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_3,
    .kinematics = kinematics,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
    .points = true,
    .rows = rows,
};
