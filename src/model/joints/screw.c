// screw.c -- angle about z1, displacement h q0 along it, h metres per radian.
//
//   R = Rz(q0), r = h q0 e3;  S = [h e3; e3], constant
//
// An effort on the angle is a torque about z1 that the thread turns into an axial force as well.
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    rot_z(R, cos(q[0]), sin(q[0]));
    v3_set(r, 0, 0, par->pitch * q[0]);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)q;
    v6_unit(S[0], 5);
    S[0][2] = par->pitch;
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3],
                 const double *near, double *q)
{
    (void)par, (void)r;
    q[0] = angle_z(R, near[0]);
}

static void effort(const lwi_joint_par *par, const double *q, double T[][6])
{
    (void)par, (void)q;
    v6_unit(T[0], 5);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)q;
    const double h = par->pitch, s = 1 / sqrt(1 + h * h);
    v6_unit(D[0], 0);
    v6_unit(D[1], 1);
    v6_unit(D[2], 3);
    v6_unit(D[3], 4);
    v6_zero(D[4]);
    D[4][2] = s;
    D[4][5] = -h * s;
}

// Angle from F1 to F2 about z as a row: atan2(B, A) with A = x1.x2 + y1.y2, B = y1.x2 - x1.y2.
//   n = A^2 + B^2;  angledot = (A Bdot - B Adot)/n
//   angleddot = (A Bddot - B Addot)/n - 2 angledot (A Adot + B Bdot)/n
static void row_angle(const lwi_rows_in *in, lwi_rows *out, double near)
{
    lwi_rows p; // the four products
    lwi_row_axes(in, &p, 0, 0, 0);
    lwi_row_axes(in, &p, 1, 1, 1);
    lwi_row_axes(in, &p, 2, 1, 0);
    lwi_row_axes(in, &p, 3, 0, 1);
    const double A = p.phi[0] + p.phi[1], B = p.phi[2] - p.phi[3];
    const double a = A / (A * A + B * B), b = B / (A * A + B * B);

    out->phi[0] = angle_continue(atan2(B, A), near);
    for (int i = 0; i < 6; i++) {
        out->J1[0][i] = a * (p.J1[2][i] - p.J1[3][i]) - b * (p.J1[0][i] + p.J1[1][i]);
        out->J2[0][i] = a * (p.J2[2][i] - p.J2[3][i]) - b * (p.J2[0][i] + p.J2[1][i]);
    }
    const double Ad = lwi_row_speed(in, &p, 0) + lwi_row_speed(in, &p, 1);
    const double Bd = lwi_row_speed(in, &p, 2) - lwi_row_speed(in, &p, 3);
    out->gamma[0] = a * (p.gamma[2] - p.gamma[3]) - b * (p.gamma[0] + p.gamma[1]) -
                    2 * (a * Bd - b * Ad) * (a * Ad + b * Bd);
}

// as cylindrical, and z1.(r2 - r1) = h angle
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    lwi_row_along(in, out, 0, 0);
    lwi_row_along(in, out, 1, 1);
    lwi_row_axes(in, out, 2, 0, 2);
    lwi_row_axes(in, out, 3, 1, 2);
    lwi_row_along(in, out, 4, 2);

    lwi_rows angle;
    row_angle(in, &angle, in->q[0]);
    const double h = par->pitch;
    out->phi[4] -= h * angle.phi[0];
    v6_axpy(out->J1[4], -h, angle.J1[0]);
    v6_axpy(out->J2[4], -h, angle.J2[0]);
    out->gamma[4] -= h * angle.gamma[0];
}

const lwi_joint_type lwi_joint_screw = {
    .name = "screw",
    .id = LW_JOINT_SCREW,
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
    .effort = effort,
    .complement = complement,
    .rows = rows,
};
