// joint_cases.h -- a test case for each joint type with a pose, three custom types, random motions.
#ifndef JOINT_CASES_H
#define JOINT_CASES_H

#include "model/joints/joint.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

// ---- custom joints

// Wavy helix: R = Rz(q), r = (a cos q, a sin q, b sin 2q); one degree of freedom, S not constant.
typedef struct wave {
    double a, b;
} wave;

static inline void wave_pose(const void *user, const double *q, double R[9], double r[3])
{
    const wave *w = user;
    rot_z(R, cos(q[0]), sin(q[0]));
    v3_set(r, w->a * cos(q[0]), w->a * sin(q[0]), w->b * sin(2 * q[0]));
}
static inline void wave_subspace(const void *user, const double *q, double S[][6])
{
    const wave *w = user;
    const double s[6] = {0, w->a, 2 * w->b * cos(2 * q[0]), 0, 0, 1};
    v6_copy(S[0], s);
}
static inline void wave_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    const wave *w = user;
    v6_zero(Sdot[0]);
    Sdot[0][2] = -4 * w->b * sin(2 * q[0]) * u[0];
}
static inline void wave_read(const void *user, const double R[9], const double r[3],
                             const double *near, double *q)
{
    (void)user, (void)r;
    q[0] = angle_continue(atan2(R[3] - R[1], R[0] + R[4]), near[0]);
}

// Cam: R = Rz(q0) Ry(q1), r = Rz(q0) (a + q1^2, b q1, 0); S0 and S1 are not orthogonal.
typedef struct cam {
    double a, b;
} cam;

static inline void cam_pose(const void *user, const double *q, double R[9], double r[3])
{
    const cam *p = user;
    const double c = cos(q[1]), s = sin(q[1]);
    const double Y[9] = {c, 0, s, 0, 1, 0, -s, 0, c};
    double Z[9];
    rot_z(Z, cos(q[0]), sin(q[0]));
    m3_mul(R, Z, Y);
    v3_set(r, p->a + q[1] * q[1], p->b * q[1], 0);
    m3_mul_v(r, Z, r);
}
static inline void cam_subspace(const void *user, const double *q, double S[][6])
{
    const cam *p = user;
    const double c = cos(q[1]), s = sin(q[1]), y = p->b * q[1];
    const double S0[6] = {-y * c, p->a + q[1] * q[1], -y * s, -s, 0, c};
    const double S1[6] = {2 * q[1] * c, p->b, 2 * q[1] * s, 0, 1, 0};
    v6_copy(S[0], S0);
    v6_copy(S[1], S1);
}
static inline void cam_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    const cam *p = user;
    const double c = cos(q[1]), s = sin(q[1]), w = u[1], b = p->b;
    const double S0[6] = {
        b * w * (q[1] * s - c), 2 * q[1] * w, -b * w * (q[1] * c + s), -c * w, 0, -s * w};
    const double S1[6] = {2 * w * (c - q[1] * s), 0, 2 * w * (s + q[1] * c), 0, 0, 0};
    v6_copy(Sdot[0], S0);
    v6_copy(Sdot[1], S1);
}
static inline void cam_read(const void *user, const double R[9], const double r[3],
                            const double *near, double *q)
{
    (void)user, (void)r;
    q[0] = angle_continue(atan2(-R[1], R[4]), near[0]); // y2 = (-sin q0, cos q0, 0)
    q[1] = angle_continue(atan2(-R[6], R[8]), near[1]);
}

// Ball on a unit quaternion: four coordinates, three speeds.
static inline void ball_pose(const void *user, const double *q, double R[9], double r[3])
{
    (void)user;
    quat_matrix(R, q);
    v3_set(r, 0, 0, 0);
}
static inline void ball_subspace(const void *user, const double *q, double S[][6])
{
    (void)user, (void)q;
    for (int i = 0; i < 3; i++) v6_zero(S[i]), S[i][3 + i] = 1;
}
static inline void ball_rate(const void *user, const double *q, const double *u, double Sdot[][6])
{
    (void)user, (void)q, (void)u;
    for (int i = 0; i < 3; i++) v6_zero(Sdot[i]);
}
static inline void ball_kinematics(const void *user, const double *q, const double *u, double *qdot)
{
    (void)user;
    quat_rate(qdot, q, u);
}
static inline void ball_read(const void *user, const double R[9], const double r[3],
                             const double *near, double *q)
{
    (void)user, (void)r;
    quat_from_matrix(q, R);
    quat_continue(q, near);
}

// ---- cases

typedef struct joint_case {
    const char *name;
    lwi_joint_type type;
    lwi_joint_par par;
    int quaternion; ///< first index of a quaternion among the coordinates, or -1
    bool custom;
} joint_case;

enum { JOINT_CASES = LW_JOINT_COUNT - 2 + 3 };

static inline joint_case custom_case(const lw_custom_joint *custom, int quaternion)
{
    joint_case c = {.name = custom->name, .quaternion = quaternion, .custom = true};
    c.par.custom = *custom;
    lwi_joint_custom_type(custom, &c.type);
    return c;
}

/** All types with a pose map (all except distance), and three custom types. */
static inline void joint_cases(joint_case cases[JOINT_CASES])
{
    static const wave helix = {0.7, 0.3};
    static const cam plate = {0.4, 0.6};
    static const lw_custom_joint custom[3] = {
        {"wave", 1, 1, wave_pose, wave_subspace, wave_rate, NULL, wave_read, &helix},
        {"cam", 2, 2, cam_pose, cam_subspace, cam_rate, NULL, cam_read, &plate},
        {"ball", 4, 3, ball_pose, ball_subspace, ball_rate, ball_kinematics, ball_read, NULL}};
    int n = 0;
    for (int id = 0; id < LW_JOINT_COUNT; id++) {
        if (id == LW_JOINT_DISTANCE || id == LW_JOINT_CUSTOM) continue;
        joint_case c = {.type = *lwi_joint_type_of((lw_joint_type)id), .quaternion = -1};
        c.name = c.type.name;
        c.par.pitch = 0.35;
        if (id == LW_JOINT_SPHERICAL) c.quaternion = 0;
        if (id == LW_JOINT_FREE) c.quaternion = 3;
        cases[n++] = c;
    }
    cases[n++] = custom_case(&custom[0], -1);
    cases[n++] = custom_case(&custom[1], -1);
    cases[n++] = custom_case(&custom[2], 0);
    assert_int_equal(n, JOINT_CASES);
}

// random numbers and states

/** Uniform in [-1, 1); xorshift64*. */
static inline double random_unit(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (double)((*seed * 0x2545F4914F6CDD1DULL) >> 11) * 0x1p-52 - 1;
}
static inline void random_fill(uint64_t *seed, double scale, double *x, int n)
{
    for (int i = 0; i < n; i++) x[i] = scale * random_unit(seed);
}
/** Coordinates up to `scale`; unit quaternions. */
static inline void random_q(uint64_t *seed, const joint_case *c, double scale, double *q)
{
    random_fill(seed, scale, q, c->type.nq);
    if (c->quaternion >= 0) {
        random_fill(seed, 1, q + c->quaternion, 4);
        quat_normalize(q + c->quaternion, q + c->quaternion);
    }
}
static inline void random_rotation(uint64_t *seed, double R[9])
{
    double q[4];
    random_fill(seed, 1, q, 4);
    quat_matrix(R, q);
}

/** Coordinates after a time h at speeds u + a t: one classical Runge-Kutta step. */
static inline void flow(const joint_case *c, const double *q, const double *u, const double *a,
                        double h, double *end)
{
    static const double at[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double k[LW_JOINT_MAX_NQ] = {0}, x[LW_JOINT_MAX_NQ], v[LW_JOINT_MAX_NV];
    for (int i = 0; i < c->type.nq; i++) end[i] = q[i];
    for (int s = 0; s < 4; s++) {
        for (int i = 0; i < c->type.nq; i++) x[i] = q[i] + at[s] * h * k[i];
        for (int i = 0; i < c->type.nv; i++) v[i] = u[i] + at[s] * h * a[i];
        c->type.kinematics(&c->par, x, v, k);
        for (int i = 0; i < c->type.nq; i++) end[i] += weight[s] * h * k[i];
    }
}

static inline void assert_near(const char *what, int index, double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%s[%d]: %.17g and %.17g differ by %g > %g", what, index, a, b, fabs(a - b),
                 tolerance);
}

#endif
