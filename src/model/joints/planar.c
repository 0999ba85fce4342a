// planar.c -- displacements along x1, y1, angle about z1.
//
//   R = Rz(q2), r = (q0, q1, 0);  with s, c of q2:
//   S = [(c, -s, 0); 0], [(s, c, 0); 0], [0; e3]     x1 and y1 in F2-components, and z
//   Sdot = q2dot [(-s, -c, 0); 0], q2dot [(c, -s, 0); 0], 0
//
// Efforts on the displacements are forces along x1 and y1 at the origin of F2.
#include "model/joints/shared.h"

static void pose(const lwi_joint_par *par, const double *q, double R[9], double r[3])
{
    (void)par;
    rot_z(R, cos(q[2]), sin(q[2]));
    v3_set(r, q[0], q[1], 0);
}

static void subspace(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par;
    const double s = sin(q[2]), c = cos(q[2]);
    v6_zero(S[0]);
    v6_zero(S[1]);
    S[0][0] = c, S[0][1] = -s;
    S[1][0] = s, S[1][1] = c;
    v6_unit(S[2], 5);
}

static void subspace_rate(const lwi_joint_par *par, const double *q, const double *u,
                          double Sdot[][6])
{
    (void)par;
    const double sd = u[2] * cos(q[2]), cd = -u[2] * sin(q[2]);
    for (int i = 0; i < 3; i++) v6_zero(Sdot[i]);
    Sdot[0][0] = cd, Sdot[0][1] = -sd;
    Sdot[1][0] = sd, Sdot[1][1] = cd;
}

static void read(const lwi_joint_par *par, const double R[9], const double r[3], const double *near,
                 double *q)
{
    (void)par;
    q[0] = r[0];
    q[1] = r[1];
    q[2] = angle_z(R, near[2]);
}

static void complement(const lwi_joint_par *par, const double *q, double D[][6])
{
    (void)par, (void)q;
    for (int i = 0; i < 3; i++) v6_unit(D[i], 2 + i);
}

const lwi_joint_type lwi_joint_type_PLANAR = {
    LWI_JOINT_LISTED(PLANAR),
    .name = "planar",
    .angles = 4,
    LWI_JOINT_FACTS(LWI_MOTION(3, LWI_SLIDE(0, LWI_X), LWI_SLIDE(1, LWI_Y), LWI_TURN(2, LWI_Z)),
                    LWI_NO_QUATERNION,
                    LWI_ROWS(LWI_ALONG(LWI_Z), LWI_AXES(LWI_X, LWI_Z), LWI_AXES(LWI_Y, LWI_Z)),
                    LWI_COORDINATES(LWI_LENGTH(LWI_X), LWI_LENGTH(LWI_Y), LWI_TURN_ANGLE),
                    LWI_CUT_COST(LWI_POINTS_SLIDE), LWI_SIGN(PLATE, false, LWI_TURN_AXIS(2, LWI_Z)),
                    LWI_NAMES([LWI_NAMES_URDF] = {"planar"}, [LWI_NAMES_URDF_LOOP] = {"planar"})),
    .neutral = lwi_joint_zero_3,
    .pose = pose,
    .subspace = subspace,
    .subspace_rate = subspace_rate,
    .kinematics = lwi_joint_same_3,
    .read = read,
    .effort = subspace, // S is orthonormal
    .complement = complement,
};
