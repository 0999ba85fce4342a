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

// r2 - r1 and z2 normal to x1 and y1
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_along(in, out, 0, 0);
    lwi_row_along(in, out, 1, 1);
    lwi_row_axes(in, out, 2, 0, 2);
    lwi_row_axes(in, out, 3, 1, 2);
}

static void coordinates(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_along(in, out, 0, 2);
    lwi_row_angle(in, in->q[1], out, 1);
}

const lwi_joint_type lwi_joint_cylindrical = {
    .name = "cylindrical",
    .id = LW_JOINT_CYLINDRICAL,
    .sign = LWI_JOINT_SLEEVE,
    .axes_drawn = 1,
    .separates = true,
    .nq = 2,
    .nv = 2,
    .nc = 4,
    .scalar = true,
    .angles = 2,
    .neutral = lwi_joint_zero_2,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_2,
    .kinematics = lwi_joint_same_2,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
    .rows = rows,
    .coordinates = coordinates,
};
