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

// r2 = r1, z2 normal to x1 and y1
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_points(in, out, 0);
    lwi_row_axes(in, out, 3, 0, 2);
    lwi_row_axes(in, out, 4, 1, 2);
}

static void coordinates(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_angle(in, in->q[0], out, 0);
}

const lwi_joint_type lwi_joint_revolute = {
    .name = "revolute",
    .id = LW_JOINT_REVOLUTE,
    .sign = LWI_JOINT_CIRCLE,
    .axes_drawn = 1,
    .nq = 1,
    .nv = 1,
    .nc = 5,
    .scalar = true,
    .angles = 1,
    .constant_axis = true,
    .neutral = lwi_joint_zero_1,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = lwi_joint_still_1,
    .kinematics = lwi_joint_same_1,
    .read = read,
    .effort = subspace, // S is a unit vector
    .complement = complement,
    .points = true,
    .rows = rows,
    .coordinates = coordinates,
};
