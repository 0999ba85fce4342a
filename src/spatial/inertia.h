// inertia.h -- symmetric 6 x 6 inertias, rigid or articulated, linear part first.
//
//     [f]   [A  B] [v]
//     [n] = [B' C] [w]        A, C symmetric [6] xx yy zz xy xz yz, B full [9]
//
// Only 21 numbers are stored, so an inertia is symmetric exactly: the antisymmetric part of the
// rounding error of a full matrix would grow along chains of spherical and universal joints.
#ifndef LWI_SPATIAL_INERTIA_H
#define LWI_SPATIAL_INERTIA_H

#include "base/pair.h"
#include "spatial/motion.h"

typedef struct lwi_inertia {
    double A[6], B[9], C[6];
} lwi_inertia;

// rigid body: mass m, first moment h = m c and inertia J about the frame's origin
static inline void inertia_rigid(lwi_inertia *M, double m, const double *h, const double *J)
{
    M->A[0] = M->A[1] = M->A[2] = m;
    M->A[3] = M->A[4] = M->A[5] = 0;
    M->B[0] = 0, M->B[1] = h[2], M->B[2] = -h[1]; // -(h x)
    M->B[3] = -h[2], M->B[4] = 0, M->B[5] = h[0];
    M->B[6] = h[1], M->B[7] = -h[0], M->B[8] = 0;
    memcpy(M->C, J, sizeof M->C);
}
// P = M V; may not overlap
static inline void inertia_apply(double *P, const lwi_inertia *M, const double *V)
{
    double a[3];
    s3_mul_v(P, M->A, V);
    m3_mul_v(a, M->B, V + 3);
    v3_add(P, P, a);
    s3_mul_v(P + 3, M->C, V + 3);
    m3_tmul_v(a, M->B, V);
    v3_add(P + 3, P + 3, a);
}
// M -= s y y'
static inline void inertia_reduce(lwi_inertia *M, double s, const double *y)
{
    const double v[3] = {s * y[0], s * y[1], s * y[2]}, w[3] = {s * y[3], s * y[4], s * y[5]};
    M->A[0] -= v[0] * y[0], M->A[1] -= v[1] * y[1], M->A[2] -= v[2] * y[2];
    M->A[3] -= v[0] * y[1], M->A[4] -= v[0] * y[2], M->A[5] -= v[1] * y[2];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) M->B[3 * i + j] -= v[i] * y[3 + j];
    M->C[0] -= w[0] * y[3], M->C[1] -= w[1] * y[4], M->C[2] -= w[2] * y[5];
    M->C[3] -= w[0] * y[4], M->C[4] -= w[0] * y[5], M->C[5] -= w[1] * y[5];
}
// C = R B R', two columns side by side, with the bits of m3_mul and m3_mul_t.
static inline void m3_rotate(double *C, const double *R, const double *B)
{
    const lwi_pair b0 = lwi_pair_load(B), b1 = lwi_pair_load(B + 3), b2 = lwi_pair_load(B + 6);
    const lwi_pair r0 = {R[0], R[3]}, r1 = {R[1], R[4]}, r2 = {R[2], R[5]};
    for (int i = 0; i < 9; i += 3) {
        const lwi_pair k = R[i] * b0 + R[i + 1] * b1 + R[i + 2] * b2;
        const double last = R[i] * B[2] + R[i + 1] * B[5] + R[i + 2] * B[8];
        lwi_pair_store(C + i, k[0] * r0 + k[1] * r1 + last * r2);
        C[i + 2] = k[0] * R[6] + k[1] * R[7] + last * R[8];
    }
}
// C = r x B for a vector r and a matrix B, column by column; may not overlap
static inline void cross_m3(double *C, const double *r, const double *B)
{
    for (int j = 0; j < 3; j++) {
        C[j] = r[1] * B[6 + j] - r[2] * B[3 + j];
        C[3 + j] = r[2] * B[j] - r[0] * B[6 + j];
        C[6 + j] = r[0] * B[3 + j] - r[1] * B[j];
    }
}
// A = R Ja R', C = R Jc R': both side by side, with the bits of s3_rotate.
static inline void s3_rotate_two(double *A, double *C, const double *R, const double *Ja,
                                 const double *Jc)
{
    static const unsigned char place[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2}; // of s3_full
    static const unsigned char row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    lwi_pair J[9], B[9], r[9];
    for (int i = 0; i < 9; i++) {
        J[i] = (lwi_pair){Ja[place[i]], Jc[place[i]]};
        r[i] = (lwi_pair){R[i], R[i]};
    }
    for (int i = 0; i < 9; i += 3)
        for (int j = 0; j < 3; j++)
            B[i + j] = r[i] * J[j] + r[i + 1] * J[3 + j] + r[i + 2] * J[6 + j];
    for (int i = 0; i < 6; i++) {
        const lwi_pair *b = B + 3 * row[i], *c = r + 3 * column[i];
        const lwi_pair k = b[0] * c[0] + b[1] * c[1] + b[2] * c[2];
        A[i] = k[0], C[i] = k[1];
    }
}
// Ma += X' Mb X: the inertia Mb of frame b, which has the pose (R, r) in a, about a's origin.
// With a bar for the rotated blocks: B = Bbar - Abar r~, C = Cbar + sym(r~ (Bbar + B)).
static inline void inertia_add_from(lwi_inertia *Ma, const double *R, const double *r,
                                    const lwi_inertia *Mb)
{
    double A[6], B[9], C[6], AR[9], K[9], rK[9];
    s3_rotate_two(A, C, R, Mb->A, Mb->C);
    m3_rotate(B, R, Mb->B);
    s3_full(AR, A);
    cross_m3(K, r, AR); // r~ A = (-A r~)'
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double b = B[3 * i + j] + K[3 * j + i];
            AR[3 * i + j] = B[3 * i + j] + b;
            Ma->B[3 * i + j] += b;
        }
    cross_m3(rK, r, AR);
    for (int i = 0; i < 6; i++) Ma->A[i] += A[i];
    Ma->C[0] += C[0] + rK[0], Ma->C[1] += C[1] + rK[4], Ma->C[2] += C[2] + rK[8];
    Ma->C[3] += C[3] + 0.5 * (rK[1] + rK[3]);
    Ma->C[4] += C[4] + 0.5 * (rK[2] + rK[6]);
    Ma->C[5] += C[5] + 0.5 * (rK[5] + rK[7]);
}

// Cholesky factor of a symmetric n x n matrix with rows of length 6, n <= 6, in its lower triangle;
// the diagonal of the factor is stored inverted.  Returns the first row with a pivot not above
// `small` times the diagonal (the matrix is singular in that direction), or -1.
static inline int cholesky6(double (*L)[6], int n, double small)
{
    for (int j = 0; j < n; j++) {
        double d = L[j][j];
        const double limit = small * d;
        for (int k = 0; k < j; k++) d -= L[j][k] * L[j][k];
        if (!(d > limit) || !(d > 0)) return j;
        const double inverse = 1 / sqrt(d);
        L[j][j] = inverse;
        for (int i = j + 1; i < n; i++) {
            double s = L[i][j];
            for (int k = 0; k < j; k++) s -= L[i][k] * L[j][k];
            L[i][j] = s * inverse;
        }
    }
    return -1;
}
// x = L^-1 x
static inline void cholesky6_forward(double (*L)[6], int n, double *x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
        x[i] *= L[i][i];
    }
}
// x = L'^-1 x
static inline void cholesky6_backward(double (*L)[6], int n, double *x)
{
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[k][i] * x[k];
        x[i] *= L[i][i];
    }
}

#endif
