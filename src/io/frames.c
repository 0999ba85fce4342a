// frames.c -- rotations and poses in the notations of XML robot formats.
#include "io/frames.h"

#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

void lwi_frame_rpy(double *R, const double *rpy)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    double Rx[9], Ry[9], Rz[9], Ryx[9];
    rot_axis(Rx, x, rpy[0]);
    rot_axis(Ry, y, rpy[1]);
    rot_axis(Rz, z, rpy[2]);
    m3_mul(Ryx, Ry, Rx);
    m3_mul(R, Rz, Ryx);
}

bool lwi_frame_normalize(double *a)
{
    const double largest = fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
    if (!(largest > 0)) return false;
    v3_set(a, a[0] / largest, a[1] / largest, a[2] / largest);
    v3_scale(a, 1 / v3_norm(a), a);
    return true;
}

bool lwi_frame_to_axis(double *R, const double *axis)
{
    static const double half[4] = {0, 1, 0, 0};
    double a[3], q[4], turn[4];
    v3_copy(a, axis);
    if (!lwi_frame_normalize(a)) return false;
    if (a[2] >= 0) {
        q[0] = 1 + a[2], q[1] = -a[1], q[2] = a[0], q[3] = 0;
    } else {
        turn[0] = 1 - a[2], turn[1] = a[1], turn[2] = -a[0], turn[3] = 0;
        quat_mul(q, turn, half);
    }
    quat_matrix(R, q);
    return true;
}

lw_pose lwi_frame_pose(const double *R, const double *r)
{
    double q[4];
    quat_from_matrix(q, R);
    return (lw_pose){{r[0], r[1], r[2]}, {q[0], q[1], q[2], q[3]}};
}

void lwi_frame_mul(double *R, double *r, const double *R1, const double *r1, const double *R2,
                   const double *r2)
{
    double Q[9], d[3];
    m3_mul_v(d, R1, r2);
    v3_add(d, d, r1);
    m3_mul(Q, R1, R2);
    memcpy(R, Q, sizeof Q);
    v3_copy(r, d);
}

void lwi_frame_between(double *R, double *r, const double *R1, const double *r1, const double *R2,
                       const double *r2)
{
    double Q[9], d[3];
    v3_sub(d, r2, r1);
    m3_tmul_v(d, R1, d);
    m3_tmul(Q, R1, R2);
    memcpy(R, Q, sizeof Q);
    v3_copy(r, d);
}
