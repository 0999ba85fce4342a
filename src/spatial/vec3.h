// vec3.h -- three-vectors and 3 x 3 matrices as plain arrays; destination first.
//
// Matrices are row-major [9].  A rotation R_ab takes b-components to a-components.  Destinations may
// not overlap sources unless a comment says so.  Symmetric matrices: [6] xx yy zz xy xz yz.
#ifndef LWI_SPATIAL_VEC3_H
#define LWI_SPATIAL_VEC3_H

#include <math.h>
#include <string.h>

// clang-format off
static inline void v3_set(double *r, double x, double y, double z) { r[0] = x, r[1] = y, r[2] = z; }
static inline void v3_copy(double *r, const double *a) { v3_set(r, a[0], a[1], a[2]); }
static inline double v3_dot(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static inline double v3_norm(const double *a) { return sqrt(v3_dot(a, a)); }
// r = a + b, a - b, s a, r + s a; r may be a or b
static inline void v3_add(double *r, const double *a, const double *b) { v3_set(r, a[0] + b[0], a[1] + b[1], a[2] + b[2]); }
static inline void v3_sub(double *r, const double *a, const double *b) { v3_set(r, a[0] - b[0], a[1] - b[1], a[2] - b[2]); }
static inline void v3_scale(double *r, double s, const double *a) { v3_set(r, s * a[0], s * a[1], s * a[2]); }
static inline void v3_axpy(double *r, double s, const double *a) { r[0] += s * a[0], r[1] += s * a[1], r[2] += s * a[2]; }
// clang-format on

// a = a/|a|; a vector of unit length to round-off is unchanged, so it is idempotent (as quat_normalize)
static inline void v3_normalize(double *a)
{
    const double n2 = v3_dot(a, a);
    if (!(fabs(n2 - 1) <= 2e-15)) v3_scale(a, 1 / sqrt(n2), a);
}

// r = a x b; r may be a or b
static inline void v3_cross(double *r, const double *a, const double *b)
{
    v3_set(r, a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}
// r += a x b; r must not be a or b
static inline void v3_cross_add(double *r, const double *a, const double *b)
{
    r[0] += a[1] * b[2] - a[2] * b[1];
    r[1] += a[2] * b[0] - a[0] * b[2];
    r[2] += a[0] * b[1] - a[1] * b[0];
}

// r = R a, r = R' a; r may be a
static inline void m3_mul_v(double *r, const double *R, const double *a)
{
    v3_set(r, R[0] * a[0] + R[1] * a[1] + R[2] * a[2], R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
           R[6] * a[0] + R[7] * a[1] + R[8] * a[2]);
}
static inline void m3_tmul_v(double *r, const double *R, const double *a)
{
    v3_set(r, R[0] * a[0] + R[3] * a[1] + R[6] * a[2], R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
           R[2] * a[0] + R[5] * a[1] + R[8] * a[2]);
}
static inline void m3_identity(double *R)
{
    memset(R, 0, 9 * sizeof *R);
    R[0] = R[4] = R[8] = 1;
}
// C = A B, A' B, A B'
static inline void m3_mul(double *C, const double *A, const double *B)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[3 * i] * B[j] + A[3 * i + 1] * B[3 + j] + A[3 * i + 2] * B[6 + j];
}
static inline void m3_tmul(double *C, const double *A, const double *B)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}
static inline void m3_mul_t(double *C, const double *A, const double *B)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) C[3 * i + j] = v3_dot(A + 3 * i, B + 3 * j);
}
static inline void m3_transpose(double *T, const double *A)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) T[3 * i + j] = A[3 * j + i];
}

// symmetric [6]: r = J a
static inline void s3_mul_v(double *r, const double *J, const double *a)
{
    v3_set(r, J[0] * a[0] + J[3] * a[1] + J[4] * a[2], J[3] * a[0] + J[1] * a[1] + J[5] * a[2],
           J[4] * a[0] + J[5] * a[1] + J[2] * a[2]);
}
static inline void s3_full(double *A, const double *J)
{
    A[0] = J[0], A[4] = J[1], A[8] = J[2];
    A[1] = A[3] = J[3], A[2] = A[6] = J[4], A[5] = A[7] = J[5];
}
// K = R J R' ; K must not be J
static inline void s3_rotate(double *K, const double *R, const double *J)
{
    double A[9], B[9];
    s3_full(A, J);
    m3_mul(B, R, A);
    K[0] = v3_dot(B, R), K[1] = v3_dot(B + 3, R + 3), K[2] = v3_dot(B + 6, R + 6);
    K[3] = v3_dot(B, R + 3), K[4] = v3_dot(B, R + 6), K[5] = v3_dot(B + 3, R + 6);
}
// J := the inertia about another point, from which the one of J is at r; of a mass m with the first moment h about that of J
static inline void s3_shift(double *J, double m, const double *h, const double *r)
{
    double u[3]; // r u' + u r' = r h' + h r' + m r r'
    for (int i = 0; i < 3; i++) u[i] = h[i] + 0.5 * m * r[i];
    J[0] += 2 * (r[1] * u[1] + r[2] * u[2]);
    J[1] += 2 * (r[0] * u[0] + r[2] * u[2]);
    J[2] += 2 * (r[0] * u[0] + r[1] * u[1]);
    J[3] -= r[0] * u[1] + u[0] * r[1];
    J[4] -= r[0] * u[2] + u[0] * r[2];
    J[5] -= r[1] * u[2] + u[1] * r[2];
}
// J += m (c.c 1 - c c'): inertia of a point mass at c
static inline void s3_add_point(double *J, double m, const double *c)
{
    J[0] += m * (c[1] * c[1] + c[2] * c[2]);
    J[1] += m * (c[0] * c[0] + c[2] * c[2]);
    J[2] += m * (c[0] * c[0] + c[1] * c[1]);
    J[3] -= m * c[0] * c[1];
    J[4] -= m * c[0] * c[2];
    J[5] -= m * c[1] * c[2];
}

#endif
