// screw.c -- angle about z1, displacement h q0 along it, h metres per radian.
//
//   R = Rz(q0), r = h q0 e3;  S = [h e3; e3], constant
//
// An effort on the angle is a torque about z1 that the thread converts into an axial force as well.
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

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
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

// as cylindrical, and z1.(r2 - r1) = h angle
static void rows(const lwi_joint_par *par, const lwi_rows_in *in, lwi_rows *out)
{
    lwi_row_along(in, out, 0, 0);
    lwi_row_along(in, out, 1, 1);
    lwi_row_axes(in, out, 2, 0, 2);
    lwi_row_axes(in, out, 3, 1, 2);
    lwi_row_along(in, out, 4, 2);

    lwi_rows angle;
    lwi_row_angle(in, in->q[0], &angle, 0);
    const double h = par->pitch;
    out->phi[4] -= h * angle.phi[0];
    v6_axpy(out->J[4], -h, angle.J[0]);
    if (!in->v1) return;
    out->gamma[4] -= h * angle.gamma[0];
    v6_axpy(out->Jdot[4], -h, angle.Jdot[0]);
}

const lwi_joint_type lwi_joint_type_SCREW = {
    LWI_JOINT_LISTED(SCREW),
    .name = "screw",
    .angles = 1,
    .constant_axis = true,
    .has_pitch = true,
    LWI_JOINT_FACTS(LWI_MOTION(1, LWI_SCREW(0, LWI_Z)), LWI_NO_QUATERNION,
                    LWI_ROWS(LWI_ALONG(LWI_X), LWI_ALONG(LWI_Y), LWI_AXES(LWI_X, LWI_Z),
                             LWI_AXES(LWI_Y, LWI_Z), {LWI_ROW_THREAD, LWI_Z, 0}),
                    LWI_COORDINATES(LWI_TURN_ANGLE), LWI_CUT_COST(LWI_POINTS_SLIDE),
                    LWI_SIGN(THREAD, true, LWI_TURN_AXIS(2, LWI_Z)),
                    LWI_NAMES([LWI_NAMES_SDF] = {"screw"})),
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
