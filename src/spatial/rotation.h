// rotation.h -- unit quaternions and rotation matrices.
//
// Quaternions are scalar first, q = [w x y z]; R(q) takes body components to reference components
// and is evaluated at q/|q|, so that |q| is a gauge.  Angular velocity w is in body components.
#ifndef LWI_SPATIAL_ROTATION_H
#define LWI_SPATIAL_ROTATION_H

#include "spatial/vec3.h"

// R = R(q/|q|); q must not be zero
static inline void quat_matrix(double *R, const double *q)
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double s = 2 / (w * w + x * x + y * y + z * z);
    R[0] = 1 - s * (y * y + z * z), R[1] = s * (x * y - w * z), R[2] = s * (x * z + w * y);
    R[3] = s * (x * y + w * z), R[4] = 1 - s * (x * x + z * z), R[5] = s * (y * z - w * x);
    R[6] = s * (x * z - w * y), R[7] = s * (y * z + w * x), R[8] = 1 - s * (x * x + y * y);
}
// c = a b (first b, then a); c must not be a or b
static inline void quat_mul(double *c, const double *a, const double *b)
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}
static inline void quat_conjugate(double *r, const double *q)
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    r[0] = w, r[1] = -x, r[2] = -y, r[3] = -z;
}
// clang-format off
static inline double quat_norm2(const double *q) { return q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]; }
// clang-format on

// r = q/|q|; a quaternion of unit length to round-off is unchanged, so it is idempotent
static inline void quat_normalize(double *r, const double *q)
{
    const double n2 = quat_norm2(q);
    const double s = fabs(n2 - 1) <= 2e-15 ? 1 : 1 / sqrt(n2);
    for (int i = 0; i < 4; i++) r[i] = s * q[i];
}
// qdot = q w / 2 + (1 - q.q) q: the second term drives |q| to 1 and does not rotate the body
static inline void quat_rate(double *qdot, const double *q, const double *w)
{
    const double pull = 1 - quat_norm2(q);
    qdot[0] = 0.5 * (-q[1] * w[0] - q[2] * w[1] - q[3] * w[2]) + pull * q[0];
    qdot[1] = 0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) + pull * q[1];
    qdot[2] = 0.5 * (q[0] * w[1] - q[1] * w[2] + q[3] * w[0]) + pull * q[2];
    qdot[3] = 0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) + pull * q[3];
}
// unit quaternion of a rotation matrix; largest component positive (Shepperd)
static inline void quat_from_matrix(double *q, const double *R)
{
    const double trace = R[0] + R[4] + R[8];
    int i = 0; // component with the largest square
    double largest = trace;
    for (int k = 0; k < 3; k++)
        if (R[4 * k] > largest) largest = R[4 * k], i = k + 1;
    if (i == 0) {
        q[0] = 1 + trace;
        q[1] = R[7] - R[5], q[2] = R[2] - R[6], q[3] = R[3] - R[1];
    } else {
        const int a = i - 1, b = i % 3, c = (i + 1) % 3;
        q[1 + a] = 1 + R[4 * a] - R[4 * b] - R[4 * c];
        q[0] = R[3 * c + b] - R[3 * b + c];
        q[1 + b] = R[3 * a + b] + R[3 * b + a];
        q[1 + c] = R[3 * a + c] + R[3 * c + a];
    }
    const double s = 1 / sqrt(quat_norm2(q));
    for (int k = 0; k < 4; k++) q[k] *= s;
}
// chooses the sign of q nearest to `near`
static inline void quat_continue(double *q, const double *near)
{
    if (q[0] * near[0] + q[1] * near[1] + q[2] * near[2] + q[3] * near[3] < 0)
        for (int k = 0; k < 4; k++) q[k] = -q[k];
}
// the angle equal to a modulo 2 pi that is nearest to `near`
static inline double angle_continue(double a, double near)
{
    const double full_turn = 6.283185307179586476925286766559;
    return a + full_turn * rint((near - a) / full_turn);
}
// rotation by the angle with cosine c and sine s about z, x
static inline void rot_z(double *R, double c, double s)
{
    R[0] = c, R[1] = -s, R[2] = 0, R[3] = s, R[4] = c, R[5] = 0, R[6] = 0, R[7] = 0, R[8] = 1;
}
static inline void rot_x(double *R, double c, double s)
{
    R[0] = 1, R[1] = 0, R[2] = 0, R[3] = 0, R[4] = c, R[5] = -s, R[6] = 0, R[7] = s, R[8] = c;
}
// rotation by `angle` about the unit vector a
static inline void rot_axis(double *R, const double *a, double angle)
{
    const double c = cos(angle), s = sin(angle), k = 1 - c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) R[3 * i + j] = k * a[i] * a[j] + (i == j ? c : 0);
    R[1] -= s * a[2], R[2] += s * a[1], R[3] += s * a[2];
    R[5] -= s * a[0], R[6] -= s * a[1], R[7] += s * a[0];
}
// c of T^-1(theta) = 1 + theta~/2 + c theta~^2, T the rate of a rotation vector theta:
// c = 1/theta^2 - (1 + cos)/(2 theta sin) -> 1/12; cot(theta/2) in place of (1 + cos)/sin
static inline double rotation_vector_factor(const double theta[3])
{
    const double square = theta[0] * theta[0] + theta[1] * theta[1] + theta[2] * theta[2];
    const double angle = sqrt(square);
    // below this the series' next term, theta^2/720, is round-off of 1/12
    const double limit = 1.0 / 12;
    return angle < 1e-4 ? limit : 1 / square - 1 / (2 * angle * tan(angle / 2));
}

#endif
