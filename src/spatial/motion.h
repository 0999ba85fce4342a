// motion.h -- spatial vectors, linear part first: motion [v; w], force [f; n].
//
// A motion vector is the velocity of the frame's origin and the angular velocity; a force vector is
// the force and its moment about the origin.  A frame b has the pose (R, r) in a frame a: R takes
// b-components to a-components, r is b's origin in a-components.
#ifndef LWI_SPATIAL_MOTION_H
#define LWI_SPATIAL_MOTION_H

#include "spatial/vec3.h"

// clang-format off
static inline void v6_zero(double *r) { memset(r, 0, 6 * sizeof *r); }
static inline void v6_copy(double *r, const double *a) { memcpy(r, a, 6 * sizeof *r); }
static inline void v6_add(double *r, const double *a, const double *b) { for (int i = 0; i < 6; i++) r[i] = a[i] + b[i]; }
static inline void v6_axpy(double *r, double s, const double *a) { for (int i = 0; i < 6; i++) r[i] += s * a[i]; }
// clang-format on

static inline double v6_dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}
// motion of a, in b's components at b's origin: vb = R'(va + wa x r), wb = R' wa
static inline void motion_to(double *b, const double *R, const double *r, const double *a)
{
    double v[3];
    v3_cross(v, a + 3, r);
    v3_add(v, v, a);
    m3_tmul_v(b + 3, R, a + 3);
    m3_tmul_v(b, R, v);
}
// motion of b in a's components at a's origin: wa = R wb, va = R vb + r x wa
static inline void motion_from(double *a, const double *R, const double *r, const double *b)
{
    double v[3];
    m3_mul_v(v, R, b);
    m3_mul_v(a + 3, R, b + 3);
    v3_cross(a, r, a + 3);
    v3_add(a, a, v);
}
// force on b (components and moment at b's origin) in a's components about a's origin, X' b; may not overlap
//                                                  [anderson2003, (10); naudet2003, (22), (24)]
static inline void force_from(double *a, const double *R, const double *r, const double *b)
{
    m3_mul_v(a, R, b);
    m3_mul_v(a + 3, R, b + 3);
    v3_cross_add(a + 3, r, a);
}
// a += X' b: a force on b added to one on a
static inline void force_add_from(double *a, const double *R, const double *r, const double *b)
{
    double f[6];
    force_from(f, R, r, b);
    for (int i = 0; i < 6; i++) a[i] += f[i];
}
// force on a in b's components about b's origin
static inline void force_to(double *b, const double *R, const double *r, const double *a)
{
    double n[3];
    v3_cross(n, a, r); // n - r x f
    v3_add(n, n, a + 3);
    m3_tmul_v(b, R, a);
    m3_tmul_v(b + 3, R, n);
}
// c = a x b for motions: [wa x vb + va x wb; wa x wb]
static inline void motion_cross(double *c, const double *a, const double *b)
{
    v3_cross(c, a + 3, b);
    v3_cross_add(c, a, b + 3);
    v3_cross(c + 3, a + 3, b + 3);
}
// c = a x* f for a motion and a force: [wa x f; wa x n + va x f]        [naudet2003, (15), (16)]
static inline void force_cross(double *c, const double *a, const double *f)
{
    v3_cross(c, a + 3, f);
    v3_cross(c + 3, a + 3, f + 3);
    v3_cross_add(c + 3, a, f);
}
// momentum of a rigid body about the frame's origin: mass m, first moment h = m c, J about the origin
static inline void inertia_mul(double *P, double m, const double *h, const double *J,
                               const double *V)
{
    v3_cross(P, V + 3, h);
    v3_axpy(P, m, V);
    s3_mul_v(P + 3, J, V + 3);
    v3_cross_add(P + 3, h, V);
}

#endif
