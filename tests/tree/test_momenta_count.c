// test_momenta_count.c -- number of operations of the momentum recursion on chains of pin joints.
//
// [naudet2003] states 363 n - 475 for n bodies, n >= 3.  Here the recursion is written for pin joints with every zero
// used, in numbers that record their operations.  Constants of the chain are folded, operations without effect on
// a result are not counted, a division counts as a multiplication, sines and cosines are free.  The results must
// equal those of the library.  Numbers (n) are those of [naudet2003].
//
// Angular part first, which shows the zeros: P = [n; f].  The frame of body k follows from that of body k-1 by a
// displacement a along x and a rotation alpha about it, then a displacement d along z and the joint's rotation theta
// about z.  With S = e3 the third row and column of M' vanish and D'_3 = p.
#include <linkwork/linkwork.h>

#include "support/random_model.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

// --------------------------------------------------------------------------- numbers with a record

typedef enum kind { CONSTANT, INPUT, SUM, DIFFERENCE, PRODUCT, QUOTIENT } kind;

typedef struct record {
    kind how;
    int a, b; // operands
    double value;
} record;

typedef int num; // index of a record

#define TAPE 20000
static record tape[TAPE];
static int length;

static num put(kind how, num a, num b, double value)
{
    assert_true(length < TAPE);
    tape[length] = (record){how, a, b, value};
    return length++;
}
static num constant(double value)
{
    return put(CONSTANT, 0, 0, value);
}
static num input(double value)
{
    return put(INPUT, 0, 0, value);
}
static bool is(num a, double value)
{
    return tape[a].how == CONSTANT && tape[a].value == value;
}
static bool both_constant(num a, num b)
{
    return tape[a].how == CONSTANT && tape[b].how == CONSTANT;
}
static num plus(num a, num b)
{
    const double value = tape[a].value + tape[b].value;
    if (both_constant(a, b)) return constant(value);
    return is(a, 0) ? b : is(b, 0) ? a : put(SUM, a, b, value);
}
static num minus(num a, num b)
{
    const double value = tape[a].value - tape[b].value;
    if (both_constant(a, b)) return constant(value);
    return is(b, 0) ? a : put(DIFFERENCE, a, b, value);
}
static num times(num a, num b)
{
    const double value = tape[a].value * tape[b].value;
    if (both_constant(a, b) || is(a, 0) || is(b, 0)) return constant(value);
    return is(a, 1) ? b : is(b, 1) ? a : put(PRODUCT, a, b, value);
}
static num over(num a, num b)
{
    const double value = tape[a].value / tape[b].value;
    return both_constant(a, b) ? constant(value) : put(QUOTIENT, a, b, value);
}

typedef struct count {
    int multiplications, additions;
} count;

// Operations that the results need.
static count operations(const num *result, int n)
{
    static char needed[TAPE];
    count c = {0, 0};
    for (int i = 0; i < length; i++) needed[i] = 0;
    for (int i = 0; i < n; i++) needed[result[i]] = 1;
    for (int i = length - 1; i >= 0; i--) {
        if (!needed[i] || tape[i].how == CONSTANT || tape[i].how == INPUT) continue;
        if (tape[i].how == SUM || tape[i].how == DIFFERENCE)
            c.additions++;
        else
            c.multiplications++;
        needed[tape[i].a] = needed[tape[i].b] = 1;
    }
    return c;
}

// ------------------------------------------------------------------------------- rotations and shifts

typedef struct turn {
    num c, s, cs, ss, cs2, k; // cos, sin, cos sin, sin^2, 2 cos sin, 1 - 2 sin^2
} turn;

static turn turn_of(num c, num s)
{
    turn t = {.c = c, .s = s, .cs = times(c, s), .ss = times(s, s)};
    t.cs2 = plus(t.cs, t.cs);
    t.k = minus(constant(1), plus(t.ss, t.ss));
    return t;
}
// (x, y) = (c x - s y, s x + c y): child to parent
static void turn_vector(const turn *t, num *x, num *y)
{
    const num a = *x, b = *y;
    *x = minus(times(t->c, a), times(t->s, b));
    *y = plus(times(t->s, a), times(t->c, b));
}
// the inverse: parent to child
static void turn_back(const turn *t, num *x, num *y)
{
    const num a = *x, b = *y;
    *x = plus(times(t->c, a), times(t->s, b));
    *y = minus(times(t->c, b), times(t->s, a));
}
// [a b; b d] = R [a b; b d] R'
static void turn_symmetric(const turn *t, num *a, num *b, num *d)
{
    const num w = minus(*a, *d), y = plus(times(t->ss, w), times(t->cs2, *b));
    *a = minus(*a, y);
    *b = plus(times(t->cs, w), times(t->k, *b));
    *d = plus(*d, y);
}
// [a b; c d] = R [a b; c d] R'
static void turn_general(const turn *t, num *a, num *b, num *c, num *d)
{
    const num v = minus(*a, *d), w = plus(*b, *c);
    const num y = plus(times(t->ss, v), times(t->cs, w));
    const num x = minus(times(t->cs, v), times(t->ss, w));
    *a = minus(*a, y), *b = plus(*b, x), *c = plus(*c, x), *d = plus(*d, y);
}

// Symmetric inertia [J H; H' m] and one rotation or displacement along axis i; j, k follow it
// cyclically.
typedef struct inertia {
    num J[3][3], H[3][3], m[3][3]; // of J and m the entries with row <= column are used
} inertia;

static num *entry(num A[3][3], int i, int j)
{
    return i <= j ? &A[i][j] : &A[j][i];
}

static void turn_inertia(inertia *M, int i, const turn *t)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    turn_symmetric(t, entry(M->J, j, j), entry(M->J, j, k), entry(M->J, k, k));
    turn_vector(t, entry(M->J, i, j), entry(M->J, i, k));
    turn_general(t, &M->H[j][j], &M->H[j][k], &M->H[k][j], &M->H[k][k]);
    turn_vector(t, &M->H[i][j], &M->H[i][k]);
    turn_vector(t, &M->H[j][i], &M->H[k][i]);
    turn_symmetric(t, entry(M->m, j, j), entry(M->m, j, k), entry(M->m, k, k));
    turn_vector(t, entry(M->m, i, j), entry(M->m, i, k));
}

// r x . has the rows -r (.)_k in j and r (.)_j in k.  With r~ for it, H becomes Hn = H + r~ m and
// J becomes J + (r~ (H + Hn)' + its transpose) / 2.
static void shift_inertia(inertia *M, int i, num r)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const num Hjk = M->H[j][k], Hkj = M->H[k][j], Hkk = M->H[k][k];
    num rm[3][3];
    for (int a = 0; a < 3; a++)
        for (int b = a; b < 3; b++) rm[a][b] = times(r, M->m[a][b]);
    for (int b = 0; b < 3; b++) {
        M->H[j][b] = minus(M->H[j][b], *entry(rm, k, b));
        M->H[k][b] = plus(M->H[k][b], *entry(rm, j, b));
    }
    num *Jjj = entry(M->J, j, j), *Jkk = entry(M->J, k, k), *Jjk = entry(M->J, j, k);
    num *Jij = entry(M->J, i, j), *Jik = entry(M->J, i, k);
    *Jjj = minus(*Jjj, times(r, plus(Hjk, M->H[j][k])));
    *Jkk = plus(*Jkk, times(r, plus(Hkj, M->H[k][j])));
    *Jjk = plus(*Jjk, times(r, minus(M->H[j][j], Hkk))); // (H + Hn)_jj - (H + Hn)_kk is twice this
    *Jij = minus(*Jij, times(r, M->H[i][k]));
    *Jik = plus(*Jik, times(r, M->H[i][j]));
}

// ----------------------------------------------------------------------------------- the recursion

typedef struct link {
    turn alpha, theta;
    num a, d;
    inertia I, M;            // M* and then M'
    num Mj_inverse, g[6], w; // U / M_j, pi / M_j
    num D[6], T[6], p;       // D and then D', T*
    num V[6], u, pdot;
} link;

static num *of6(inertia *M, int i, int j)
{
    if (i > j) return of6(M, j, i);
    if (j < 3) return &M->J[i][j];
    return i < 3 ? &M->H[i][j - 3] : &M->m[i - 3][j - 3];
}

// U, M_j, pi; M' and D'.  The third row and column of M' vanish, D'_3 = p.      (46), (47), (48)
static void reduce(link *l)
{
    num U[6];
    for (int i = 0; i < 6; i++) U[i] = *of6(&l->M, i, 2);
    l->Mj_inverse = over(constant(1), U[2]);
    for (int i = 0; i < 6; i++) l->g[i] = i == 2 ? constant(1) : times(U[i], l->Mj_inverse);
    l->w = times(minus(l->p, l->D[2]), l->Mj_inverse);
    for (int i = 0; i < 6; i++) {
        for (int j = i; j < 6; j++) {
            num *m = of6(&l->M, i, j);
            *m = i == 2 || j == 2 ? constant(0) : minus(*m, times(U[i], l->g[j]));
        }
        l->D[i] = i == 2 ? l->p : plus(l->D[i], times(U[i], l->w));
    }
}

// Force of a child in the parent's frame: theta, d, alpha, a one after the other.
static void force_to_parent(const link *l, num F[6])
{
    for (int half = 0; half < 6; half += 3) turn_vector(&l->theta, &F[half], &F[half + 1]);
    F[0] = minus(F[0], times(l->d, F[4]));
    F[1] = plus(F[1], times(l->d, F[3]));
    for (int half = 0; half < 6; half += 3) turn_vector(&l->alpha, &F[half + 1], &F[half + 2]);
    F[1] = minus(F[1], times(l->a, F[5]));
    F[2] = plus(F[2], times(l->a, F[4]));
}

static void motion_to_child(const link *l, num V[6])
{
    V[4] = plus(V[4], times(V[2], l->a)); // w x r
    V[5] = minus(V[5], times(V[1], l->a));
    for (int half = 0; half < 6; half += 3) turn_back(&l->alpha, &V[half + 1], &V[half + 2]);
    V[3] = plus(V[3], times(V[1], l->d));
    V[4] = minus(V[4], times(V[0], l->d));
    for (int half = 0; half < 6; half += 3) turn_back(&l->theta, &V[half], &V[half + 1]);
}

// What body l adds to its parent.                                           (27), (43), (44)
static void pass_inward(const link *l, link *parent)
{
    inertia M = l->M;
    num D[6], T[6];
    turn_inertia(&M, 2, &l->theta);
    shift_inertia(&M, 2, l->d);
    turn_inertia(&M, 0, &l->alpha);
    shift_inertia(&M, 0, l->a);
    for (int i = 0; i < 6; i++) {
        for (int j = i; j < 6; j++)
            *of6(&parent->M, i, j) = plus(*of6(&parent->M, i, j), *of6(&M, i, j));
        D[i] = l->D[i], T[i] = l->T[i];
    }
    force_to_parent(l, D);
    force_to_parent(l, T);
    for (int i = 0; i < 6; i++) {
        parent->D[i] = plus(parent->D[i], D[i]);
        parent->T[i] = plus(parent->T[i], T[i]);
    }
}

// v, u, V, P* = M' v + D' and pdot = T_3 - (V x* P*)_3.                         (35), (42), (45)
static void outward(link *l, const num *V_parent)
{
    num v[6], P[6];
    for (int i = 0; i < 6; i++) v[i] = V_parent[i];
    motion_to_child(l, v);
    num turning = l->w; // V_3 = pi / M_j - sum of the others
    for (int i = 0; i < 6; i++)
        if (i != 2) turning = minus(turning, times(l->g[i], v[i]));
    l->u = minus(turning, v[2]);
    for (int i = 0; i < 6; i++) {
        l->V[i] = i == 2 ? turning : v[i];
        P[i] = l->D[i];
        for (int j = 0; j < 6; j++) P[i] = plus(P[i], times(*of6(&l->M, i, j), v[j]));
    }
    num rotated = minus(times(l->V[0], P[1]), times(l->V[1], P[0]));
    rotated = plus(rotated, minus(times(l->V[3], P[4]), times(l->V[4], P[3])));
    l->pdot = minus(l->T[2], rotated);
}

static void recursion(link *l, int n)
{
    const num base[6] = {constant(0), constant(0), constant(0),
                         constant(0), constant(0), constant(0)};
    for (int k = n - 1; k >= 0; k--) {
        reduce(&l[k]);
        if (k > 0) pass_inward(&l[k], &l[k - 1]);
    }
    for (int k = 0; k < n; k++) outward(&l[k], k ? l[k - 1].V : base);
}

// ------------------------------------------------------------------------------- a chain, two ways

#define MAX_LINKS 16

typedef struct chain {
    int n;
    double a[MAX_LINKS], d[MAX_LINKS], alpha[MAX_LINKS];
    double mass[MAX_LINKS], com[MAX_LINKS][3], J[MAX_LINKS][6]; // about the mass centre
    double T[MAX_LINKS][6];                                     // torque, force; body axes
    double q[MAX_LINKS], p[MAX_LINKS];
} chain;

static void random_chain(chain *c, int n)
{
    uint64_t seed = (uint64_t)n;
    c->n = n;
    for (int k = 0; k < n; k++) {
        c->a[k] = lwt_random(&seed, 0.2, 0.6), c->d[k] = lwt_random(&seed, 0.1, 0.3);
        c->alpha[k] = lwt_random(&seed, 0.5, 1.5);
        c->mass[k] = lwt_random(&seed, 1, 2);
        for (int i = 0; i < 3; i++) c->com[k][i] = lwt_random(&seed, 0.1, 0.4);
        for (int i = 0; i < 3; i++) c->J[k][i] = lwt_random(&seed, 0.2, 0.3);
        for (int i = 3; i < 6; i++) c->J[k][i] = lwt_random(&seed, 0.01, 0.05);
        for (int i = 0; i < 6; i++) c->T[k][i] = lwt_random(&seed, -1, 1);
        c->q[k] = lwt_random(&seed, -3, 3), c->p[k] = lwt_random(&seed, -1, 1);
    }
}

static void record_chain(const chain *c, bool loaded, link *l)
{
    for (int k = 0; k < c->n; k++) {
        const double m = c->mass[k], *r = c->com[k], *J = c->J[k];
        const double h[3] = {m * r[0], m * r[1], m * r[2]};
        const double rr = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        const double full[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
        const double cross[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                l[k].M.J[i][j] = constant(full[i][j] + m * ((i == j ? rr : 0) - r[i] * r[j]));
                l[k].M.H[i][j] = constant(cross[i][j]);
                l[k].M.m[i][j] = constant(i == j ? m : 0);
            }
        for (int i = 0; i < 6; i++) {
            l[k].D[i] = constant(0);
            l[k].T[i] = loaded ? input(c->T[k][i]) : constant(0);
        }
        l[k].a = constant(c->a[k]), l[k].d = constant(c->d[k]);
        l[k].alpha = turn_of(constant(cos(c->alpha[k])), constant(sin(c->alpha[k])));
        l[k].theta = turn_of(input(cos(c->q[k])), input(sin(c->q[k])));
        l[k].p = input(c->p[k]);
    }
}

// u and pdot by the library, where wrenches act at the origins of the link frames.
static void by_library(const chain *c, bool loaded, double *u, double *pdot)
{
    lw_builder *b;
    lw_model *model;
    lw_dynamics *dynamics;
    lw_error error = {0};
    lw_body body = {0};
    double qdot[MAX_LINKS];
    assert_int_equal(lw_builder_create(NULL, &b), LW_OK);
    lw_builder_gravity(b, (lw_vec3){0, 0, 0});
    for (int k = 0; k < c->n; k++) {
        const double half = c->alpha[k] / 2, *T = c->T[k], *r = c->com[k];
        lw_body_desc d = {.mass = c->mass[k], .com = {r[0], r[1], r[2]}};
        for (int i = 0; i < 6; i++) d.inertia[i] = c->J[k][i];
        // out along x by a, and by d along the rotated z
        lw_joint_desc j = {
            .type = LW_JOINT_REVOLUTE, .body1 = body, .placement = LW_PLACED_FRAMES, .has_q = 1};
        j.frame1.orientation = (lw_quat){cos(half), sin(half), 0, 0};
        j.frame1.position =
            (lw_vec3){c->a[k], -c->d[k] * sin(c->alpha[k]), c->d[k] * cos(c->alpha[k])};
        lw_joint added;
        assert_int_equal(lw_builder_add_body(b, &d, &body, &error), LW_OK);
        j.body2 = body;
        assert_int_equal(lw_builder_add_joint(b, &j, &added, &error), LW_OK);
        const lw_wrench_desc w = {.body = body,
                                  .torque = {T[0], T[1], T[2]},
                                  .force = {T[3], T[4], T[5]},
                                  .body_axes = 1};
        if (loaded) assert_int_equal(lw_builder_add_wrench(b, &w, &error), LW_OK);
    }
    if (lw_model_create(b, &model, &error) != LW_OK) fail_msg("%s", error.text);
    assert_int_equal(lw_dynamics_create(model, NULL, &dynamics, &error), LW_OK);
    assert_int_equal(lw_momenta_rates(dynamics, 0, c->q, c->p, NULL, NULL, u, qdot, pdot), LW_OK);
    lw_dynamics_destroy(dynamics);
    lw_model_destroy(model);
    lw_builder_destroy(b);
}

static count counted(int n, bool loaded)
{
    static link l[MAX_LINKS];
    chain c = {0};
    num result[2 * MAX_LINKS];
    double u[MAX_LINKS], pdot[MAX_LINKS];
    length = 0;
    random_chain(&c, n);
    record_chain(&c, loaded, l);
    recursion(l, n);
    by_library(&c, loaded, u, pdot);
    for (int k = 0; k < n; k++) {
        result[k] = l[k].u, result[n + k] = l[k].pdot;
        // both solve the same equations; a chain this short loses two or three digits
        if (!(fabs(tape[l[k].u].value - u[k]) <= 1e-12 * (1 + fabs(u[k]))) ||
            !(fabs(tape[l[k].pdot].value - pdot[k]) <= 1e-12 * (1 + fabs(pdot[k]))))
            fail_msg("%d links, joint %d: u %.15g, library %.15g; pdot %.15g, library %.15g", n, k,
                     tape[l[k].u].value, u[k], tape[l[k].pdot].value, pdot[k]);
    }
    return operations(result, 2 * n);
}

// The count grows by the same number with every body from three on, with a given wrench on each.
static void the_papers_count_is_reached(void **state)
{
    (void)state;
    static const int size[] = {3, 4, 10, 11, 16};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        const int n = size[i];
        const count c = counted(n, true);
        print_message("%d links: %d multiplications, %d additions\n", n, c.multiplications,
                      c.additions);
        assert_int_equal(c.multiplications, 178 * n - 270); // paper: 185 n - 245
        assert_int_equal(c.additions, 173 * n - 281);       // paper: 178 n - 230
        assert_true(c.multiplications + c.additions <= 363 * n - 475);
    }
}

// Without wrenches: the remaining operations if gravity is an acceleration of the frame of
// reference.
static void a_falling_frame_takes_no_wrenches(void **state)
{
    (void)state;
    for (int n = 4; n <= 16; n += 4) {
        const count c = counted(n, false);
        print_message("%d links: %d multiplications, %d additions\n", n, c.multiplications,
                      c.additions);
        assert_int_equal(c.multiplications, 158 * n - 242);
        assert_int_equal(c.additions, 155 * n - 253);
    }
}

// The wrenches' share: a transform to the parent and a sum.
static void wrenches_take_a_tenth(void **state)
{
    (void)state;
    for (int n = 4; n <= 16; n += 4) {
        const count with = counted(n, true), without = counted(n, false);
        const count before = counted(n - 1, true), before_without = counted(n - 1, false);
        assert_int_equal((with.multiplications - before.multiplications) -
                             (without.multiplications - before_without.multiplications),
                         20);
        assert_in_range((with.additions - before.additions) -
                            (without.additions - before_without.additions),
                        18, 19);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_papers_count_is_reached),
                                       cmocka_unit_test(a_falling_frame_takes_no_wrenches),
                                       cmocka_unit_test(wrenches_take_a_tenth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
