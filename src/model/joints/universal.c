// universal.c -- angle q0 about z1, then q1 about x2.
//
//   R = Rz(q0) Rx(q1), r = 0;  with s, c of q1:
//   S = [0; (0, s, c)], [0; e1]      z1 in F2-components, and x2
//   Sdot = q1dot [0; (0, c, -s)], 0
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    double Z[9], X[9];
    rot_z(Z, cos(q[0]), sin(q[0]));
    rot_x(X, cos(q[1]), sin(q[1]));
    m3_mul(R, Z, X);
    v3_set(r, 0, 0, 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par;
    v6_zero(S[0]);
    S[0][4] = sin(q[1]);
    S[0][5] = cos(q[1]);
    v6_unit(S[1], 3);
}

static void subspace_rate(const lwi_joint_par *par, const double *q, const double *u,
                          double Sdot[][6])
{
    (void)par;
    v6_zero(Sdot[0]);
    Sdot[0][4] = u[1] * cos(q[1]);
    Sdot[0][5] = -u[1] * sin(q[1]);
    v6_zero(Sdot[1]);
}

// x2 = (cos q0, sin q0, 0) in F1, z1 = (0, sin q1, cos q1) in F2
static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par, (void)r;
    q[0] = angle_continue(atan2(R[3], R[0]), near[0]);
    q[1] = angle_continue(atan2(R[7], R[8]), near[1]);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par;
    for (int i = 0; i < 3; i++) v6_unit(D[i], i);
    v6_zero(D[3]);
    D[3][4] = cos(q[1]);
    D[3][5] = -sin(q[1]);
}

// r2 = r1, z1 normal to x2
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_row_points(in, out, 0);
    lwi_row_axes(in, out, 3, 2, 0);
}

static void coordinates(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    (void)par;
    lwi_rows arc; // as `read` reads them
    lwi_row_axes(in, &arc, 0, 0, 0);
    lwi_row_axes(in, &arc, 1, 1, 0);
    lwi_row_arc(in, &arc, in->q[0], out, 0);
    lwi_row_axes(in, &arc, 0, 2, 2);
    lwi_row_axes(in, &arc, 1, 2, 1);
    lwi_row_arc(in, &arc, in->q[1], out, 1);
}

const lwi_joint_type lwi_joint_universal = {
    .name = "universal",
    .id = LW_JOINT_UNIVERSAL,
    .sign = LWI_JOINT_CIRCLE,
    .axes_drawn = 2,
    .nq = 2,
    .nv = 2,
    .nc = 4,
    .scalar = true,
    .angles = 3,
    .neutral = lwi_joint_zero_2,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = subspace_rate,
    .kinematics = lwi_joint_same_2,
    .read = read,
    .effort = subspace, // S is orthonormal: torques about z1 and about x2
    .complement = complement,
    .points = true,
    .rows = rows,
    .coordinates = coordinates,
};
