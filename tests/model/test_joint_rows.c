// test_joint_rows.c -- constraint rows of joints: zero on the joint, exact J, b and gamma, full
// rank.
#include "joint_cases.h"

#include <float.h>
#include <string.h>

/** Two frames in motion with constant accelerations, world axes. */
typedef struct motion {
    double R[2][9], r[2][3], v[2][3], w[2][3], a[2][3], alpha[2][3];
    double length[3]; ///< of a distance joint: value, rate, acceleration
} motion;

// Poses at time t: r + v t + a t^2/2 and R = exp(w t + alpha t^2/2) R(0), with angular velocity w
// and angular acceleration alpha at t = 0.
static motion moved(const motion *m, double t)
{
    motion n = *m;
    for (int k = 0; k < 2; k++) {
        double x[3] = {0}, turn[9];
        v3_axpy(x, t, m->w[k]);
        v3_axpy(x, 0.5 * t * t, m->alpha[k]);
        v3_axpy(n.r[k], t, m->v[k]);
        v3_axpy(n.r[k], 0.5 * t * t, m->a[k]);
        const double angle = v3_norm(x);
        if (angle > 0) {
            v3_scale(x, 1 / angle, x);
            rot_axis(turn, x, angle);
            m3_mul(n.R[k], turn, m->R[k]);
        }
    }
    n.length[0] += t * m->length[1] + 0.5 * t * t * m->length[2];
    return n;
}

static lwi_rows rows_of(const joint_case *c, const motion *m, const double *q)
{
    const lwi_rows_in in = {
        m->R[0], m->r[0], m->R[1], m->r[1], m->v[0],
        m->w[0], m->v[1], m->w[1], q,       {m->length[0], m->length[1], m->length[2]}};
    lwi_rows rows;
    memset(&rows, 0xff, sizeof rows); // an unset row shows as a NaN
    lwi_joint_rows(&c->type, &c->par, &in, &rows);
    return rows;
}

// x = [v2 - v1 - w1 x d; w2 - w1] of velocities or accelerations
static void between(const motion *m, const double (*v)[3], const double (*w)[3], double *x)
{
    double d[3];
    v3_sub(d, m->r[1], m->r[0]);
    v3_sub(x, v[1], v[0]);
    v3_cross_add(x, d, w[0]);
    v3_sub(x + 3, w[1], w[0]);
}

// F1 in a random motion; F2 at the joint coordinates q, in a random motion.
static motion random_motion(uint64_t *seed, const joint_case *c, const double *q)
{
    motion m;
    double R[9], r[3];
    random_rotation(seed, m.R[0]);
    random_fill(seed, 1, m.r[0], 3);
    c->type.pose(&c->par, q, R, r);
    m3_mul(m.R[1], m.R[0], R);
    m3_mul_v(m.r[1], m.R[0], r);
    v3_add(m.r[1], m.r[1], m.r[0]);
    random_fill(seed, 1, &m.v[0][0], 6);
    random_fill(seed, 1, &m.w[0][0], 6);
    random_fill(seed, 1, &m.a[0][0], 6);
    random_fill(seed, 1, &m.alpha[0][0], 6);
    m.length[0] = m.length[1] = m.length[2] = 0;
    return m;
}

// Velocity of F2 from that of F1 and the relative velocity V in components of F2.
static void follow(motion *m, const double V[6])
{
    double d[3], x[3];
    v3_sub(d, m->r[1], m->r[0]);
    m3_mul_v(m->v[1], m->R[1], V);
    v3_cross(x, m->w[0], d);
    v3_add(m->v[1], m->v[1], x);
    v3_add(m->v[1], m->v[1], m->v[0]);
    m3_mul_v(m->w[1], m->R[1], V + 3);
    v3_add(m->w[1], m->w[1], m->w[0]);
}

// Displaces and rotates F2 by up to `most` in each direction.
static void push_off(uint64_t *seed, motion *m, double max)
{
    double x[3], e[4] = {1, 0, 0, 0}, turn[9], R[9];
    random_fill(seed, max, x, 3);
    v3_add(m->r[1], m->r[1], x);
    random_fill(seed, max / 2, e + 1, 3);
    quat_matrix(turn, e);
    memcpy(R, m->R[1], sizeof R);
    m3_mul(m->R[1], turn, R);
}

// Fourth-order first and second derivatives of phi(t) sampled at multiples of h. The sixth
// derivative of phi is of order 1e3 (speeds of the wave's coordinate up to 4, frequency 2), so
// truncation is below 1e5 h^4/90 = 1e-9; rounding is eps/h and 10 eps/h^2.
static const double step = 1e-3;
#define FIRST_TOLERANCE 2e-9
#define SECOND_TOLERANCE 5e-9

static void check_rates(const joint_case *c, const motion *m, const double *q, bool second)
{
    const lwi_rows now = rows_of(c, m, q);
    double phi[5][6], J[5][6][6], V[6], A[6];
    between(m, m->v, m->w, V);
    between(m, m->a, m->alpha, A);
    for (int s = 0; s < 5; s++) {
        const motion n = moved(m, (s - 2) * step);
        const lwi_rows there = rows_of(c, &n, q);
        memcpy(phi[s], there.phi, sizeof phi[s]);
        memcpy(J[s], there.J, sizeof J[s]);
    }
    for (int k = 0; k < c->type.nc; k++) {
        const double rate = (8 * (phi[3][k] - phi[1][k]) - (phi[4][k] - phi[0][k])) / (12 * step);
        const double J_V = v6_dot(now.J[k], V) + now.b[k];
        assert_near(c->name, k, J_V, rate, FIRST_TOLERANCE);
        if (!second) continue;
        const double bend =
            (16 * (phi[3][k] + phi[1][k]) - (phi[4][k] + phi[0][k]) - 30 * phi[2][k]) /
            (12 * step * step);
        const double J_A = v6_dot(now.J[k], A) + now.gamma[k];
        assert_near(c->name, k, J_A, bend, SECOND_TOLERANCE);
        for (int i = 0; i < 6 && !c->custom; i++) // custom: up to recombination
            assert_near(c->name, k, now.Jdot[k][i],
                        (8 * (J[3][k][i] - J[1][k][i]) - (J[4][k][i] - J[0][k][i])) / (12 * step),
                        FIRST_TOLERANCE);
    }
}

#define FOR_EACH_CASE(c, seed)                                                                     \
    joint_case cases_[JOINT_CASES];                                                                \
    uint64_t seed = 0xD1B54A32D192ED03ULL;                                                         \
    joint_cases(cases_);                                                                           \
    for (const joint_case *c = cases_; c < cases_ + JOINT_CASES; c++)                              \
        for (int trial_ = 0; trial_ < 50; trial_++)

static void rows_vanish_on_the_joint(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ];
        random_q(&seed, c, 10, q);
        const motion m = random_motion(&seed, c, q);
        const lwi_rows rows = rows_of(c, &m, q);
        for (int k = 0; k < c->type.nc; k++) assert_near(c->name, k, rows.phi[k], 0, 1e-14 * 10);
    }
}

// On the joint, at any velocities: J and b are the derivatives of phi, and gamma that of J. For a
// custom joint, gamma is defined only for velocities that the joint admits, V = S u.
static void rows_differentiate_phi_on_the_joint(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], S[6][6], V[6] = {0};
        random_q(&seed, c, 2, q);
        motion m = random_motion(&seed, c, q);
        check_rates(c, &m, q, !c->custom);
        if (!c->custom) continue;
        random_fill(&seed, 1, u, c->type.nv);
        c->type.subspace(&c->par, q, S);
        for (int j = 0; j < c->type.nv; j++) v6_axpy(V, u[j], S[j]);
        follow(&m, V);
        check_rates(c, &m, q, true);
    }
}

// The rows of built-in types are exact functions of the poses: the same holds off the joint.
static void rows_differentiate_phi_off_the_joint(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        if (c->custom) continue;
        double q[LW_JOINT_MAX_NQ];
        random_q(&seed, c, 2, q);
        motion m = random_motion(&seed, c, q);
        push_off(&seed, &m, 0.4);
        check_rates(c, &m, q, true);
    }
}

static joint_case distance_case(void)
{
    return (joint_case){.name = "distance", .type = *lwi_joint_type_of(LW_JOINT_DISTANCE)};
}

static void distance_rows_differentiate_phi_with_moving_length(void **state)
{
    (void)state;
    const joint_case c = distance_case();
    const joint_case free_case = {.type = *lwi_joint_type_of(LW_JOINT_FREE), .quaternion = 3};
    uint64_t seed = 77;
    for (int trial = 0; trial < 200; trial++) {
        double q[7];
        random_q(&seed, &free_case, 1, q);
        motion m = random_motion(&seed, &free_case, q);
        m.length[0] = 1.5 + 0.5 * random_unit(&seed);
        m.length[1] = random_unit(&seed);
        m.length[2] = random_unit(&seed);
        check_rates(&c, &m, NULL, true);
        // phi is the error of the distance to first order
        double d[3];
        v3_sub(d, m.r[1], m.r[0]);
        m.length[0] = v3_norm(d) * (1 - 1e-6);
        assert_near("distance", 0, rows_of(&c, &m, NULL).phi[0], 1e-6 * m.length[0],
                    2e-12 * m.length[0]); // its square/2
    }
}

// On the joint: J S = 0.
static void rows_do_not_see_motions_the_joint_admits(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], S[6][6];
        random_q(&seed, c, 2, q);
        const motion m = random_motion(&seed, c, q);
        const lwi_rows rows = rows_of(c, &m, q);
        c->type.subspace(&c->par, q, S);
        for (int k = 0; k < c->type.nc; k++)
            for (int j = 0; j < c->type.nv; j++) {
                double x[6];
                m3_mul_v(x, m.R[1], S[j]);
                m3_mul_v(x + 3, m.R[1], S[j] + 3);
                assert_near(c->name, k, v6_dot(rows.J[k], x), 0, 1e-14);
            }
    }
}

// nc rows of rank nc on the joint: no row vanishes or becomes dependent anywhere along it
// (Gram-Schmidt on J).
static void rows_are_independent_on_the_joint(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ];
        random_q(&seed, c, 10, q);
        const motion m = random_motion(&seed, c, q);
        lwi_rows rows = rows_of(c, &m, q);
        for (int k = 0; k < c->type.nc; k++) {
            for (int i = 0; i < k; i++)
                v6_axpy(rows.J[k], -v6_dot(rows.J[k], rows.J[i]), rows.J[i]);
            const double size = sqrt(v6_dot(rows.J[k], rows.J[k]));
            if (size < 0.5) fail_msg("%s: row %d depends on those before: %g", c->name, k, size);
            for (int i = 0; i < 6; i++) rows.J[k][i] /= size;
        }
    }
}

// The rows that keep F1 and F2 parallel have no second zero: a rotation by 180 degrees about any
// axis gives |phi| = 2.
static void attitude_rows_have_no_false_zero(void **state)
{
    (void)state;
    const joint_case c = {.name = "fixed", .type = *lwi_joint_type_of(LW_JOINT_FIXED)};
    uint64_t seed = 5;
    for (int trial = 0; trial < 100; trial++) {
        motion m = random_motion(&seed, &c, NULL);
        double half[4] = {0}, R[9], turn[9];
        random_fill(&seed, 1, half + 1, 3);
        quat_matrix(turn, half);
        memcpy(R, m.R[1], sizeof R);
        m3_mul(m.R[1], turn, R);
        const lwi_rows rows = rows_of(&c, &m, NULL);
        assert_near("fixed", 0, v3_norm(rows.phi + 3), 2, 1e-14);
    }
}

// A custom joint that copies a built-in type constrains the same directions: both J have the same
// row space.
static void custom_ball_has_the_rows_of_spherical(void **state)
{
    (void)state;
    joint_case cases[JOINT_CASES];
    joint_cases(cases);
    const joint_case *ball = &cases[JOINT_CASES - 1];
    const joint_case spherical = {.name = "spherical",
                                  .type = *lwi_joint_type_of(LW_JOINT_SPHERICAL)};
    uint64_t seed = 11;
    for (int trial = 0; trial < 50; trial++) {
        double q[4];
        random_q(&seed, ball, 1, q);
        const motion m = random_motion(&seed, ball, q);
        const lwi_rows a = rows_of(ball, &m, q), b = rows_of(&spherical, &m, q);
        for (int k = 0; k < 3; k++) { // rows of b are orthonormal: projection of the rows of a
            double rest[6];
            v6_copy(rest, a.J[k]);
            for (int i = 0; i < 3; i++) v6_axpy(rest, -v6_dot(a.J[k], b.J[i]), b.J[i]);
            assert_near("ball", k, sqrt(v6_dot(rest, rest)), 0, 1e-14);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_vanish_on_the_joint),
        cmocka_unit_test(rows_differentiate_phi_on_the_joint),
        cmocka_unit_test(rows_differentiate_phi_off_the_joint),
        cmocka_unit_test(distance_rows_differentiate_phi_with_moving_length),
        cmocka_unit_test(rows_do_not_see_motions_the_joint_admits),
        cmocka_unit_test(rows_are_independent_on_the_joint),
        cmocka_unit_test(attitude_rows_have_no_false_zero),
        cmocka_unit_test(custom_ball_has_the_rows_of_spherical),
    };
    return cmocka_run_group_tests_name("joint rows", tests, NULL, NULL);
}
