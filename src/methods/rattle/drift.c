// drift.c -- the free body: rotation vector of a step from its angular momentum.
//
// Discrete Lagrangian theta' J theta / (2 h), R1 = R exp(theta~) [lee2007].  With y = J theta, t = theta' theta,
// s = theta' y, b = |theta|/2 cot(|theta|/2), c = (1 - b) / t
//     G(theta) = b y + theta x y / 2 + c s theta = h Pi                                        (1)
//     G' = b J + (theta~ J - y~) / 2 + c (s 1 + 2 theta y') + (2 b_t y + 2 c_t s theta) theta'  (2)
// Derivatives by t.  About a principal axis (1) is theta = h w, so that rotations in a plane are exact.
#include "methods/rattle/rattle.h"

#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// pi: beyond, the rotation vector is not unique.
#define MAX_ANGLE 3.14159265358979323846

typedef struct coefficients {
    double b, c, bt, ct;
} coefficients;

// Below this square of the angle by series: from the closed forms several digits cancel there.
#define SMALL 0.25

static coefficients coefficients_of(double t)
{
    static const double series[] = {1.0 / 12,         1.0 / 720,      1.0 / 30240,
                                    1.0 / 1209600,    1.0 / 47900160, 691 / 1307674368000.0,
                                    1 / 74724249600.0};
    coefficients k = {0};
    if (t < SMALL) {
        for (int i = LWI_COUNT(series) - 1; i >= 0; i--) {
            k.ct = k.ct * t + k.c;
            k.c = k.c * t + series[i];
        }
        k.b = 1 - k.c * t;
        k.bt = -k.c - k.ct * t;
        return k;
    }
    const double angle = sqrt(t), half = 0.5 * angle, cot = 1 / tan(half);
    k.b = half * cot;
    k.c = (1 - k.b) / t;
    k.bt = (cot - half * (1 + cot * cot)) / (4 * angle);
    k.ct = -(k.bt + k.c) / t;
    return k;
}

// G (1) and, unless NULL, G' (2).
static void evaluate(const double J[6], const double x[3], double G[3], double dG[9])
{
    double y[3], z[3];
    s3_mul_v(y, J, x);
    const double t = v3_dot(x, x), s = v3_dot(x, y);
    const coefficients k = coefficients_of(t);
    v3_cross(z, x, y);
    for (int i = 0; i < 3; i++) G[i] = k.b * y[i] + 0.5 * z[i] + k.c * s * x[i];
    if (!dG) return;
    const double X[9] = {0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0};
    const double Y[9] = {0, -y[2], y[1], y[2], 0, -y[0], -y[1], y[0], 0};
    double full[9], XJ[9];
    s3_full(full, J);
    m3_mul(XJ, X, full);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int at = 3 * i + j;
            dG[at] = k.b * full[at] + 0.5 * (XJ[at] - Y[at]) + 2 * k.c * x[i] * y[j] +
                     (2 * k.bt * y[i] + 2 * k.ct * s * x[i]) * x[j];
            if (i == j) dG[at] += k.c * s;
        }
}

void lwi_rattle_momentum(const double J[6], const double theta[3], double G[3])
{
    evaluate(J, theta, G, NULL);
}

// A := A^-1 by cofactors; false: singular.
static bool invert(const double A[9], double B[9])
{
    B[0] = A[4] * A[8] - A[5] * A[7], B[1] = A[2] * A[7] - A[1] * A[8];
    B[2] = A[1] * A[5] - A[2] * A[4], B[3] = A[5] * A[6] - A[3] * A[8];
    B[4] = A[0] * A[8] - A[2] * A[6], B[5] = A[2] * A[3] - A[0] * A[5];
    B[6] = A[3] * A[7] - A[4] * A[6], B[7] = A[1] * A[6] - A[0] * A[7];
    B[8] = A[0] * A[4] - A[1] * A[3];
    const double determinant = A[0] * B[0] + A[1] * B[3] + A[2] * B[6], inverse = 1 / determinant;
    for (int i = 0; i < 9; i++) B[i] *= inverse;
    return isfinite(inverse);
}

enum { MAX_ITERATIONS = 20 };

bool lwi_rattle_rotation(const double J[6], const double inverse[6], const double a[3], double x[3])
{
    double last = INFINITY;
    s3_mul_v(x, inverse, a);
    for (int i = 0; i < MAX_ITERATIONS; i++) {
        double G[3], dG[9], B[9], gap[3], dx[3];
        if (!(v3_dot(x, x) < MAX_ANGLE * MAX_ANGLE)) return false;
        evaluate(J, x, G, dG);
        v3_sub(gap, a, G);
        if (!invert(dG, B)) return false;
        m3_mul_v(dx, B, gap);
        const double size = v3_norm(dx);
        if (!(size < last)) return true;
        v3_add(x, x, dx);
        if (size == 0) return true;
        last = size;
    }
    return true;
}

// T(theta) = 1 - (1 - cos) / t theta~ + (angle - sin) / angle^3 theta~^2
static void tangent(const double x[3], double T[9])
{
    const double t = v3_dot(x, x), angle = sqrt(t);
    const double X[9] = {0, -x[2], x[1], x[2], 0, -x[0], -x[1], x[0], 0};
    double XX[9];
    const double half = sin(0.5 * angle);
    const double a = angle > 1e-4 ? 2 * half * half / t : 0.5;
    const double b = angle > 1e-2 ? (angle - sin(angle)) / (t * angle) : 1.0 / 6 - t / 120;
    m3_mul(XX, X, X);
    for (int i = 0; i < 9; i++) T[i] = (i % 4 == 0) - a * X[i] + b * XX[i];
}

bool lwi_rattle_tangent(const double J[6], const double x[3], double D[9])
{
    double G[3], dG[9], B[9], T[9];
    evaluate(J, x, G, dG);
    if (!invert(dG, B)) return false;
    tangent(x, T);
    m3_mul(D, T, B);
    return true;
}

void lwi_rattle_turn(const double q[4], const double x[3], double dq[4])
{
    const double angle = v3_norm(x), quarter = sin(0.25 * angle);
    const double k = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    const double turn[4] = {-2 * quarter * quarter, k * x[0], k * x[1], k * x[2]};
    quat_mul(dq, q, turn);
}
