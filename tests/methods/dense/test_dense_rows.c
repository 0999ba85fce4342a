// test_dense_rows.c -- constraint rows and coordinates of one joint between two frames: against the
// joint library and against numerical derivatives.
#include "tree/tree_cases.h"
#include "model/joint_cases.h"

#include "methods/dense/dense.h"

/** Two frames in uniformly accelerated motion. */
typedef struct pair {
    lwi_dense_frame f[2];
    double a[2][6], length[3];
} pair;

static void set_axes(lwi_dense_frame *f)
{
    m3_transpose(&f->axis[0][0], f->R);
}

static pair moved(const pair *p, double t)
{
    pair n = *p;
    for (int k = 0; k < 2; k++) {
        double x[3] = {0}, turn[9];
        v3_axpy(x, t, p->f[k].w);
        v3_axpy(x, 0.5 * t * t, p->a[k] + 3);
        const double angle = v3_norm(x);
        if (angle > 0) v3_scale(x, 1 / angle, x);
        rot_axis(turn, x, angle);
        m3_mul(n.f[k].R, turn, p->f[k].R);
        set_axes(&n.f[k]);
        v3_axpy(n.f[k].p, t, p->f[k].v);
        v3_axpy(n.f[k].p, 0.5 * t * t, p->a[k]);
    }
    n.length[0] += t * p->length[1] + 0.5 * t * t * p->length[2];
    return n;
}

// F1 anywhere in any motion, F2 at the joint's coordinates q.
static pair random_pair(uint64_t *seed, const joint_case *c, const double *q)
{
    pair p = {.length = {0.8, 0.3, -0.4}};
    double R[9], r[3] = {0.5, -0.6, 0.4};
    random_rotation(seed, p.f[0].R);
    random_fill(seed, 1, p.f[0].p, 3);
    if (c->type.pose)
        c->type.pose(&c->par, q, R, r);
    else
        random_rotation(seed, R);
    m3_mul(p.f[1].R, p.f[0].R, R);
    m3_mul_v(p.f[1].p, p.f[0].R, r);
    v3_add(p.f[1].p, p.f[1].p, p.f[0].p);
    for (int k = 0; k < 2; k++) {
        set_axes(&p.f[k]);
        random_fill(seed, 1, p.f[k].v, 3);
        random_fill(seed, 1, p.f[k].w, 3);
        random_fill(seed, 1, p.a[k], 6);
    }
    return p;
}

// Velocity and acceleration of F2 from those of F1, and V, Vdot, the velocity of F2 relative to F1
// in F2-components and its derivative: the inverse of
//   V = R2'[v2 - v1 - w1 x d; w2 - w1],
//   Vdot = R2'[a2 - a1 - al1 x d - w1 x (v2 - v1) - w2 x R2 V_v; al2 - al1 - w2 x R2 V_w]
static void follow(pair *p, const double V[6], const double Vdot[6])
{
    double d[3], dd[3], v[3], w[3], c[3];
    v3_sub(d, p->f[1].p, p->f[0].p);
    m3_mul_v(v, p->f[1].R, V);
    m3_mul_v(w, p->f[1].R, V + 3);
    v3_add(p->f[1].w, p->f[0].w, w);
    v3_cross(dd, p->f[0].w, d);
    v3_add(dd, dd, v);
    v3_add(p->f[1].v, p->f[0].v, dd);

    m3_mul_v(p->a[1], p->f[1].R, Vdot);
    m3_mul_v(p->a[1] + 3, p->f[1].R, Vdot + 3);
    v6_add(p->a[1], p->a[1], p->a[0]);
    v3_cross_add(p->a[1], p->a[0] + 3, d);
    v3_cross_add(p->a[1], p->f[0].w, dd);
    v3_cross_add(p->a[1], p->f[1].w, v);
    v3_cross(c, p->f[1].w, w);
    v3_add(p->a[1] + 3, p->a[1] + 3, c);
}

static int rows_of(const joint_case *c, const pair *p, const double *q, lwi_dense_scalar row[6])
{
    const lwi_joint joint = {.type = &c->type, .par = c->par};
    return lwi_dense_joint_rows(&joint, &p->f[0], &p->f[1], q, p->length, row);
}

static void speeds_of(const joint_case *c, const pair *p, double *q, lwi_dense_scalar speed[6])
{
    const lwi_joint joint = {.type = &c->type, .par = c->par};
    lwi_dense_joint_speeds(&joint, &p->f[0], &p->f[1], q, speed);
}

static double acceleration(const lwi_dense_scalar *s, const pair *p)
{
    return v6_dot(s->J1, p->a[0]) + v6_dot(s->J2, p->a[1]) + s->bias;
}

// The motions have speeds and accelerations of order one, so the sixth derivatives stay below 1e5:
// truncation 1e5 h^4/30, rounding eps/h and 10 eps/h^2 with h = 1e-3.
#define FIRST_TOLERANCE 4e-9
#define SECOND_TOLERANCE 1e-8

static void check_derivatives(const char *name, int k, const double s[5], double rate,
                              double second)
{
    const double h = LWT_STEP;
    assert_near(name, k, rate, (8 * (s[3] - s[1]) - (s[4] - s[0])) / (12 * h), FIRST_TOLERANCE);
    assert_near(name, k, second, (16 * (s[3] + s[1]) - (s[4] + s[0]) - 30 * s[2]) / (12 * h * h),
                SECOND_TOLERANCE);
}

#define FOR_EACH_CASE(c, seed, n)                                                                  \
    joint_case cases_[JOINT_CASES + 1];                                                            \
    uint64_t seed = 0x9E3779B97F4A7C15ULL;                                                         \
    joint_cases(cases_);                                                                           \
    cases_[JOINT_CASES] = (joint_case){                                                            \
        .name = "distance", .type = *lwi_joint_type_of(LW_JOINT_DISTANCE), .quaternion = -1};      \
    for (const joint_case *c = cases_; c < cases_ + (n); c++)                                      \
        for (int trial_ = 0; trial_ < 50; trial_++)

// Rows of the standard types: rate and acceleration are the derivatives of the value along any
// motion, on the joint and off it.
static void rows_differentiate_themselves(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed, JOINT_CASES + 1)
    {
        double q[LW_JOINT_MAX_NQ] = {0}, s[5][6];
        lwi_dense_scalar row[6], there[6];
        if (c->custom) continue; // the library's own rows, promised on the joint only
        random_q(&seed, c, 1, q);
        pair p = random_pair(&seed, c, q);
        if (trial_ % 2) { // off the joint
            double x[4] = {1}, turn[9], R[9];
            random_fill(&seed, 0.1, x + 1, 3);
            quat_matrix(turn, x);
            memcpy(R, p.f[1].R, sizeof R);
            m3_mul(p.f[1].R, turn, R);
            set_axes(&p.f[1]);
            random_fill(&seed, 0.2, x, 3);
            v3_add(p.f[1].p, p.f[1].p, x);
        }
        const int n = rows_of(c, &p, q, row);
        assert_int_equal(n, c->type.nc);
        for (int i = 0; i < 5; i++) {
            const pair at = moved(&p, (i - 2) * LWT_STEP);
            rows_of(c, &at, q, there);
            for (int k = 0; k < n; k++) s[i][k] = there[k].value;
        }
        for (int k = 0; k < n; k++) {
            const double J_V = v3_dot(row[k].J1, p.f[0].v) + v3_dot(row[k].J1 + 3, p.f[0].w) +
                               v3_dot(row[k].J2, p.f[1].v) + v3_dot(row[k].J2 + 3, p.f[1].w);
            const double second = acceleration(&row[k], &p);
            assert_near(c->name, k, row[k].rate, J_V + row[k].own, 1e-14);
            const double values[5] = {s[0][k], s[1][k], s[2][k], s[3][k], s[4][k]};
            check_derivatives(c->name, k, values, row[k].rate, second);
        }
    }
}

// Speeds and coordinates of the standard scalar types off the joint: the same.
static void coordinates_differentiate_themselves(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed, JOINT_CASES)
    {
        double q[LW_JOINT_MAX_NQ] = {0}, near[LW_JOINT_MAX_NQ], s[6][5];
        lwi_dense_scalar speed[6], there[6];
        if (c->custom || !c->type.scalar) continue;
        random_q(&seed, c, 1, q);
        pair p = random_pair(&seed, c, q);
        random_fill(&seed, 1, p.f[1].p, 3);
        memcpy(near, q, sizeof near);
        speeds_of(c, &p, near, speed);
        for (int i = 0; i < 5; i++) {
            const pair at = moved(&p, (i - 2) * LWT_STEP);
            speeds_of(c, &at, near, there);
            for (int k = 0; k < c->type.nv; k++) s[k][i] = there[k].value;
        }
        for (int k = 0; k < c->type.nv; k++)
            check_derivatives(c->name, k, s[k], speed[k].rate, acceleration(&speed[k], &p));
    }
}

// Two routes: frames that the joint library places at coordinates q, speeds u and accelerations
// udot satisfy the rows at all three levels, and q, u, udot are read from them.
static void rows_and_coordinates_are_those_of_the_joint_library(void **state)
{
    (void)state;
    FOR_EACH_CASE(c, seed, JOINT_CASES)
    {
        double q[LW_JOINT_MAX_NQ] = {0}, near[LW_JOINT_MAX_NQ], u[6], udot[6];
        double S[6][6], Sdot[6][6], V[6] = {0}, Vdot[6] = {0};
        lwi_dense_scalar row[6], speed[6];
        const int nv = c->type.nv;
        random_q(&seed, c, 3, q); // more than 180 degrees either way
        random_fill(&seed, 1, u, nv);
        random_fill(&seed, 1, udot, nv);
        c->type.subspace(&c->par, q, S);
        c->type.subspace_rate(&c->par, q, u, Sdot);
        for (int j = 0; j < nv; j++) {
            v6_axpy(V, u[j], S[j]);
            v6_axpy(Vdot, udot[j], S[j]);
            v6_axpy(Vdot, u[j], Sdot[j]);
        }
        pair p = random_pair(&seed, c, q);
        follow(&p, V, Vdot);
        // positions, speeds and accelerations up to some tens, a dozen operations each
        const double tol = 1e-13 * (1 + v3_norm(p.a[1]) + v3_norm(V) * v3_norm(V));
        const int n = rows_of(c, &p, q, row);
        for (int k = 0; k < n; k++) {
            assert_near(c->name, k, row[k].value, 0, tol);
            assert_near(c->name, k, row[k].rate, 0, tol);
            assert_near(c->name, k, acceleration(&row[k], &p), 0, 10 * tol);
        }
        memcpy(near, q, sizeof near);
        for (int k = 0; k < c->type.nq && c->quaternion < 0; k++) near[k] += 0.3;
        speeds_of(c, &p, near, speed);
        for (int k = 0; k < c->type.nq; k++) assert_near(c->name, k, near[k], q[k], tol);
        for (int k = 0; k < nv; k++) {
            assert_near(c->name, k, speed[k].rate, u[k], tol);
            assert_near(c->name, k, acceleration(&speed[k], &p), udot[k], 10 * tol);
            for (int j = 0; j < nv; j++) { // efforts: J2 is dual to S
                double s[6];
                m3_mul_v(s, p.f[1].R, S[j]);
                m3_mul_v(s + 3, p.f[1].R, S[j] + 3);
                assert_near(c->name, k, v6_dot(speed[k].J2, s), k == j, tol);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_differentiate_themselves),
        cmocka_unit_test(coordinates_differentiate_themselves),
        cmocka_unit_test(rows_and_coordinates_are_those_of_the_joint_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
