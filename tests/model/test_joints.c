// test_joints.c -- joint types: pose, motion subspace, rates, coordinates from poses, efforts,
// complement.
#include "joint_cases.h"

#include <float.h>
#include <string.h>

// Fourth-order differences at step h: truncation h^4/30 |f^(5)|. With coordinates and speeds below
// 2 and frequencies below 4 (wave: 2 q) the fifth derivative is below 4^5 * 2^5 = 3e4. Rounding is
// eps/h.
static const double step = 5e-4;
static const double difference_tolerance = 1e-10 + 1e-11;

#define FOR_EACH_CASE(c, seed)                                                                     \
    joint_case cases_[JOINT_CASES];                                                                \
    uint64_t seed = 0x9E3779B97F4A7C15ULL;                                                         \
    joint_cases(cases_);                                                                           \
    for (const joint_case *c = cases_; c < cases_ + JOINT_CASES; c++)                              \
        for (int trial_ = 0; trial_ < 50; trial_++)

// Derivative at 0 from the values at -2h, -h, h, 2h.
static double slope(const double f[4])
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}
static const double stencil[4] = {-2, -1, 1, 2};

static void types_agree_with_the_public_list(void **state)
{
    (void)state;
#define X(NAME, text, n_q, n_v, n_c, help)                                                         \
    {                                                                                              \
        const lwi_joint_type *type = lwi_joint_type_of(LW_JOINT_##NAME);                           \
        assert_string_equal(type->name, text);                                                     \
        assert_int_equal(type->id, LW_JOINT_##NAME);                                               \
        assert_int_equal(type->nq, n_q);                                                           \
        assert_int_equal(type->nv, n_v);                                                           \
        assert_int_equal(type->nc, n_c);                                                           \
        if (type->scalar) assert_int_equal(type->nq, type->nv);                                    \
        assert_true(type->angles >> type->nq == 0);                                                \
        assert_true(type->sign != LWI_JOINT_UNSIGNED);                                             \
        assert_in_range(type->drawn[0].frame, 0, 2);                                               \
    }
    LW_JOINT_LIST(X)
#undef X
    assert_null(lwi_joint_type_of(LW_JOINT_COUNT));
    assert_null(lwi_joint_type_of((lw_joint_type)-1));
}

static int coordinates_of(lwi_factor_kind kind)
{
    return kind == LWI_FACTOR_PLACE ? 3 : kind == LWI_FACTOR_BALL ? 4 : 1;
}

// Redundant fields of a type descriptor are consistent, and all fields are set.
static void every_type_states_every_fact(void **state)
{
    (void)state;
    for (int id = 0; id < LW_JOINT_COUNT; id++) {
        const lwi_joint_type *type = lwi_joint_type_of((lw_joint_type)id);
        int nq = 0, points = 0, quaternion = -1;
        unsigned angles = 0;
        for (int i = 0; i < type->nfactor; i++) {
            const lwi_joint_factor *factor = &type->factor[i];
            assert_in_range(factor->kind, LWI_FACTOR_TURN, LWI_FACTOR_BALL);
            assert_int_equal(factor->coordinate, nq);
            if (factor->kind == LWI_FACTOR_BALL) quaternion = nq;
            if (factor->kind == LWI_FACTOR_TURN || factor->kind == LWI_FACTOR_SCREW)
                angles |= 1u << nq;
            nq += coordinates_of(factor->kind);
        }
        assert_true(type->nfactor >= 0 || type->callbacks || type->loop_only);
        if (type->nfactor >= 0) assert_int_equal(nq, type->nq);
        assert_int_equal(type->quaternion, quaternion);
        assert_int_equal(type->angles, angles);
        for (int k = 0; k < type->nc; k++) {
            assert_in_range(type->row[k].kind, LWI_ROW_POINT, LWI_ROW_LENGTH);
            if (type->row[k].kind == LWI_ROW_POINT) assert_int_equal(k, points++);
            if (type->row[k].kind == LWI_ROW_THREAD || type->row[k].kind == LWI_ROW_LENGTH)
                assert_non_null(type->rows);
        }
        assert_int_equal(type->points, points == 3);
        for (int k = 0; type->scalar && !type->callbacks && k < type->nv; k++)
            assert_in_range(type->coordinate[k].kind, LWI_COORDINATE_LENGTH, LWI_COORDINATE_ARC);
        assert_int_not_equal(type->sign, LWI_JOINT_UNSIGNED);
        assert_true(type->neutral && type->kinematics && type->read && type->subspace);
        assert_true(type->subspace_rate && type->effort);
        assert_true((type->pose && type->complement) || type->loop_only);
    }
}

static void factor_pose(const lwi_joint_factor *f, const joint_case *c, const double *q,
                        double R[9], double r[3])
{
    const double *x = q + f->coordinate;
    double axis[3] = {0, 0, 0};
    axis[(int)f->axis] = 1;
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    if (f->kind == LWI_FACTOR_TURN || f->kind == LWI_FACTOR_SCREW) rot_axis(R, axis, *x);
    if (f->kind == LWI_FACTOR_SLIDE) v3_scale(r, *x, axis);
    if (f->kind == LWI_FACTOR_SCREW) v3_scale(r, c->par.pitch * *x, axis);
    if (f->kind == LWI_FACTOR_PLACE) v3_copy(r, x);
    if (f->kind == LWI_FACTOR_BALL) quat_matrix(R, x);
}

static void pose_is_the_product_of_the_factors(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], R[9], r[3], P[9], p[3], F[9], f[3], next[9];
        if (c->type.nfactor < 0) continue;
        random_q(&seed, c, 3, q);
        c->type.pose(&c->par, q, R, r);
        m3_identity(P);
        v3_set(p, 0, 0, 0);
        for (int i = 0; i < c->type.nfactor; i++) {
            factor_pose(&c->type.factor[i], c, q, F, f);
            m3_mul_v(f, P, f);
            v3_add(p, p, f);
            m3_mul(next, P, F);
            memcpy(P, next, sizeof P);
        }
        for (int i = 0; i < 9; i++) assert_near(c->name, i, P[i], R[i], 16 * DBL_EPSILON);
        for (int i = 0; i < 3; i++) assert_near(c->name, i, p[i], r[i], 16 * DBL_EPSILON);
    }
}

static void names_of_other_formats_are_of_one_type(void **state)
{
    (void)state;
    for (int format = 0; format < LWI_NAMES_FORMATS; format++) {
        const char *names[LW_JOINT_COUNT * LWI_MAX_NAMES], *found;
        const int n = lwi_joint_known_names((lwi_joint_format)format, names);
        assert_true(n > 0);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
        assert_null(lwi_joint_named((lwi_joint_format)format, "no such joint", &found));
    }
}

static void pose_is_a_rotation_and_neutral_is_the_identity(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], R[9], r[3], RR[9];
        random_q(&seed, c, 20, q);
        c->type.pose(&c->par, q, R, r);
        m3_mul_t(RR, R, R);
        for (int i = 0; i < 9; i++) assert_near(c->name, i, RR[i], i % 4 == 0, 16 * DBL_EPSILON);
        double cross[3];
        v3_cross(cross, R, R + 3);
        for (int i = 0; i < 3; i++) assert_near(c->name, i, cross[i], R[6 + i], 16 * DBL_EPSILON);
        if (c->custom && c->quaternion < 0) continue; // at zero their pose need not be the identity
        c->type.neutral(&c->par, q);
        c->type.pose(&c->par, q, R, r);
        for (int i = 0; i < 9; i++) assert_near(c->name, i, R[i], i % 4 == 0, 0);
        for (int i = 0; i < 3; i++) assert_near(c->name, i, r[i], 0, 0);
    }
}

// [R' rdot; vee(R' Rdot)] = sum S_j u_j when the coordinates move with qdot = kinematics(u).
static void velocity_of_the_pose_is_S_u(void **state)
{
    (void)state;
    const double none[LW_JOINT_MAX_NV] = {0};
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], S[6][6] = {{0}}, V[6] = {0};
        double R0[9], r0[3], R[4][9], r[4][3], Rdot[9], rdot[3], W[9], v[3];
        random_q(&seed, c, 2, q);
        random_fill(&seed, 1, u, c->type.nv);
        c->type.pose(&c->par, q, R0, r0);
        for (int s = 0; s < 4; s++) {
            double moved[LW_JOINT_MAX_NQ];
            flow(c, q, u, none, stencil[s] * step, moved);
            c->type.pose(&c->par, moved, R[s], r[s]);
        }
        for (int i = 0; i < 9; i++)
            Rdot[i] = slope((double[4]){R[0][i], R[1][i], R[2][i], R[3][i]});
        for (int i = 0; i < 3; i++)
            rdot[i] = slope((double[4]){r[0][i], r[1][i], r[2][i], r[3][i]});
        m3_tmul(W, R0, Rdot);
        m3_tmul_v(v, R0, rdot);
        c->type.subspace(&c->par, q, S);
        for (int j = 0; j < c->type.nv; j++) v6_axpy(V, u[j], S[j]);
        const double w[3] = {W[7], W[2], W[3]};
        for (int i = 0; i < 3; i++) {
            assert_near(c->name, i, V[i], v[i], difference_tolerance);
            assert_near(c->name, 3 + i, V[3 + i], w[i], difference_tolerance);
        }
    }
}

static void subspace_rate_is_the_derivative_of_S(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], a[LW_JOINT_MAX_NV];
        double S[4][6][6], Sdot[6][6];
        random_q(&seed, c, 2, q);
        random_fill(&seed, 1, u, c->type.nv);
        random_fill(&seed, 1, a, c->type.nv); // must have no effect
        for (int s = 0; s < 4; s++) {
            double moved[LW_JOINT_MAX_NQ];
            flow(c, q, u, a, stencil[s] * step, moved);
            c->type.subspace(&c->par, moved, S[s]);
        }
        c->type.subspace_rate(&c->par, q, u, Sdot);
        for (int j = 0; j < c->type.nv; j++)
            for (int i = 0; i < 6; i++)
                assert_near(c->name, 6 * j + i, Sdot[j][i],
                            slope((double[4]){S[0][j][i], S[1][j][i], S[2][j][i], S[3][j][i]}),
                            difference_tolerance);
    }
}

static void scalar_speeds_are_coordinate_rates(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], qdot[LW_JOINT_MAX_NQ];
        if (!c->type.scalar) continue;
        random_q(&seed, c, 2, q);
        random_fill(&seed, 1, u, c->type.nv);
        c->type.kinematics(&c->par, q, u, qdot);
        for (int i = 0; i < c->type.nq; i++) assert_near(c->name, i, qdot[i], u[i], 0);
    }
}

// The norm of the quaternion is stabilized at 1 without a change of the pose.
static void quaternion_length_is_a_gauge(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        if (c->quaternion < 0) continue;
        double q[LW_JOINT_MAX_NQ], u[LW_JOINT_MAX_NV], qdot[LW_JOINT_MAX_NQ], R[9], r[3], R2[9];
        random_q(&seed, c, 2, q);
        random_fill(&seed, 1, u, c->type.nv);
        double *e = q + c->quaternion, *edot = qdot + c->quaternion;
        c->type.pose(&c->par, q, R, r);
        const double length = 1 + 0.5 * random_unit(&seed);
        for (int i = 0; i < 4; i++) e[i] *= length;
        c->type.pose(&c->par, q, R2, r);
        for (int i = 0; i < 9; i++) assert_near(c->name, i, R2[i], R[i], 16 * DBL_EPSILON);
        c->type.kinematics(&c->par, q, u, qdot);
        const double n2 = quat_norm2(e);
        const double rate = e[0] * edot[0] + e[1] * edot[1] + e[2] * edot[2] + e[3] * edot[3];
        assert_near(c->name, 0, rate, (1 - n2) * n2, 32 * DBL_EPSILON);
    }
}

// read(pose(q)) = q: angles over many revolutions, continued from values less than pi away.
static void read_inverts_pose(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], near[LW_JOINT_MAX_NQ], R[9], r[3];
        random_q(&seed, c, 60, q);
        for (int i = 0; i < c->type.nq; i++) near[i] = q[i] + 3 * random_unit(&seed);
        if (c->quaternion >= 0) {
            const double flip = random_unit(&seed) < 0 ? -1 : 1;
            for (int i = 0; i < 4; i++) q[c->quaternion + i] *= flip;
            for (int i = 0; i < 4; i++)
                near[c->quaternion + i] = q[c->quaternion + i] + 0.4 * random_unit(&seed);
        }
        c->type.pose(&c->par, q, R, r);
        c->type.read(&c->par, R, r, near, near); // in place
        for (int i = 0; i < c->type.nq; i++)     // rounding of angles up to 60
            assert_near(c->name, i, near[i], q[i], 4 * 60 * DBL_EPSILON);
    }
}

// A pose displaced off the joint by e along constrained directions reads the same to first order:
// read is the orthogonal projection. (Except where the coordinate directions are not orthogonal:
// screw, custom.)
static void read_projects_poses_near_the_joint(void **state)
{
    (void)state;
    const double e = 1e-5;
    FOR_EACH_CASE(c, seed)
    {
        if (c->custom || c->type.id == LW_JOINT_SCREW) continue;
        double q[LW_JOINT_MAX_NQ], D[6][6], x[6] = {0}, R[9], r[3], shift[3], turn[9], off[9];
        random_q(&seed, c, 2, q);
        c->type.pose(&c->par, q, R, r);
        c->type.complement(&c->par, q, D);
        for (int k = 0; k < c->type.nc; k++) v6_axpy(x, e * random_unit(&seed), D[k]);
        const double half[4] = {1, x[3] / 2, x[4] / 2, x[5] / 2};
        quat_matrix(turn, half);
        m3_mul(off, R, turn);
        m3_mul_v(shift, R, x);
        v3_add(r, r, shift);
        double read[LW_JOINT_MAX_NQ];
        c->type.read(&c->par, off, r, q, read);
        for (int i = 0; i < c->type.nq; i++) assert_near(c->name, i, read[i], q[i], 10 * e * e);
    }
}

static void efforts_times_subspace_are_the_identity(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], S[6][6] = {{0}}, T[6][6] = {{0}};
        random_q(&seed, c, 2, q);
        c->type.subspace(&c->par, q, S);
        c->type.effort(&c->par, q, T);
        for (int i = 0; i < c->type.nv; i++)
            for (int j = 0; j < c->type.nv; j++)
                assert_near(c->name, 6 * i + j, v6_dot(S[i], T[j]), i == j, 1e-13);
    }
    // a motor on the angle of a screw is a torque about z
    const lwi_joint_par par = {.pitch = 0.1};
    double T[1][6];
    lwi_joint_type_of(LW_JOINT_SCREW)->effort(&par, (double[]){0.3}, T);
    for (int i = 0; i < 6; i++) assert_near("screw", i, T[0][i], i == 5, 0);
}

// D is orthonormal and normal to S; together they span all six directions.
static void complement_is_orthonormal_and_normal_to_S(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        double q[LW_JOINT_MAX_NQ], S[6][6] = {{0}}, D[6][6] = {{0}};
        random_q(&seed, c, 2, q);
        c->type.subspace(&c->par, q, S);
        c->type.complement(&c->par, q, D);
        assert_int_equal(c->type.nc + c->type.nv, 6);
        for (int i = 0; i < c->type.nc; i++) {
            for (int j = 0; j < c->type.nc; j++)
                assert_near(c->name, 6 * i + j, v6_dot(D[i], D[j]), i == j, 1e-14);
            for (int j = 0; j < c->type.nv; j++)
                assert_near(c->name, 6 * i + j, v6_dot(D[i], S[j]), 0, 1e-14);
        }
    }
}

// Constant axis: S does not depend on q and is invariant under the motion of the joint: X S = S for
// the motion transform X of its pose.
static void constant_axis_means_invariant_under_own_motion(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed)
    {
        const bool expected = c->type.id == LW_JOINT_REVOLUTE || c->type.id == LW_JOINT_SCREW ||
                              c->type.id == LW_JOINT_PRISMATIC;
        assert_int_equal(c->type.constant_axis, expected);
        if (!expected) continue;
        double q[LW_JOINT_MAX_NQ], zero[LW_JOINT_MAX_NQ] = {0}, S[1][6], S0[1][6], X[6], R[9], r[3];
        random_q(&seed, c, 2, q);
        c->type.subspace(&c->par, q, S);
        c->type.subspace(&c->par, zero, S0);
        c->type.pose(&c->par, q, R, r);
        motion_from(X, R, r, S[0]);
        for (int i = 0; i < 6; i++) {
            assert_near(c->name, i, S[0][i], S0[0][i], 0);
            assert_near(c->name, i, X[i], S[0][i], 8 * DBL_EPSILON);
        }
    }
}

// The coordinates of the documented table, compared with values computed by hand.
static void coordinates_are_the_documented_ones(void **state)
{
    (void)state;
    const lwi_joint_par par = {.pitch = 0.5};
    const double third = 1.04719755119659775, c = 0.5, s = 0.866025403784438647; // 60 degrees
    double R[9], r[3];

    lwi_joint_type_of(LW_JOINT_CYLINDRICAL)->pose(&par, (double[]){2, third}, R, r);
    assert_near("cylindrical", 0, r[2], 2, 0);
    assert_near("cylindrical", 1, R[3], s, 4 * DBL_EPSILON); // x2 rotated towards y1
    lwi_joint_type_of(LW_JOINT_SCREW)->pose(&par, (double[]){third}, R, r);
    assert_near("screw", 0, r[2], 0.5 * third, 0); // metres per radian
    lwi_joint_type_of(LW_JOINT_UNIVERSAL)->pose(&par, (double[]){third, third}, R, r);
    const double universal[9] = {c, -s * c, s * s, s, c * c, -c * s, 0, s, c};
    for (int i = 0; i < 9; i++) assert_near("universal", i, R[i], universal[i], 4 * DBL_EPSILON);
    lwi_joint_type_of(LW_JOINT_PLANAR)->pose(&par, (double[]){1, 2, third}, R, r);
    assert_near("planar", 0, r[0], 1, 0);
    assert_near("planar", 1, r[1], 2, 0);
    assert_near("planar", 2, R[0], c, 4 * DBL_EPSILON);
    lwi_joint_type_of(LW_JOINT_FREE)->pose(&par, (double[]){1, 2, 3, c, 0, 0, s}, R, r);
    assert_near("free", 2, r[2], 3, 0);
    assert_near("free", 3, R[0], c * c - s * s, 4 * DBL_EPSILON); // 120 degrees about z
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_agree_with_the_public_list),
        cmocka_unit_test(every_type_states_every_fact),
        cmocka_unit_test(pose_is_the_product_of_the_factors),
        cmocka_unit_test(names_of_other_formats_are_of_one_type),
        cmocka_unit_test(pose_is_a_rotation_and_neutral_is_the_identity),
        cmocka_unit_test(velocity_of_the_pose_is_S_u),
        cmocka_unit_test(subspace_rate_is_the_derivative_of_S),
        cmocka_unit_test(scalar_speeds_are_coordinate_rates),
        cmocka_unit_test(quaternion_length_is_a_gauge),
        cmocka_unit_test(read_inverts_pose),
        cmocka_unit_test(read_projects_poses_near_the_joint),
        cmocka_unit_test(efforts_times_subspace_are_the_identity),
        cmocka_unit_test(complement_is_orthonormal_and_normal_to_S),
        cmocka_unit_test(constant_axis_means_invariant_under_own_motion),
        cmocka_unit_test(coordinates_are_the_documented_ones),
    };
    return cmocka_run_group_tests_name("joints", tests, NULL, NULL);
}
