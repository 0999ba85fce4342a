// test_heavy.c -- long chains, ropes with heavy loads and bodies of very different masses: all formulations of trees, by
// every plan, have the same accelerations and reactions, and planar chains and ropes have those of references with more
// digits.
#include "support/given.h"
#include "support/run.h"

#include <float.h>

typedef struct method {
    const lwi_formulation *formulation;
    const char *plan; // NULL: none
} method;

#define WITH_PLANS(f)                                                                              \
    {&(f), "comb"}, {&(f), "balanced"},                                                            \
    {                                                                                              \
        &(f), "mixed"                                                                              \
    }

static const method methods[] = {
    {&lwi_formulation_aba, NULL},    {&lwi_formulation_momenta, NULL},
    {&lwi_formulation_rcr, NULL},    WITH_PLANS(lwi_formulation_hdca),
    WITH_PLANS(lwi_formulation_dca),
};

// hdca and dca without kernels for long paths: by the elimination.
static lwt_run observed(const lw_model *model, const method *by)
{
    static lw_options options; // outlives the run
    lwi_work *work;
    lw_error error;
    lw_options_default(&options);
    if (by->plan) lwt_set(&options, "plan", by->plan);
    lwt_ok(lwi_work_create_options(model, by->formulation, NULL, by->plan ? LWI_NO_KERNEL : 0,
                                   &options, &work, &error),
           &error);
    lwt_run r = lwt_run_work(work, NULL);
    lwt_run_observe(&r);
    return r;
}

// ------------------------------------------------------------------------------------- comparison

// Largest differences by the largest values: accelerations, angular ones, forces, torques.
typedef struct errors {
    double off[4], size[4];
} errors;

static void add(errors *e, int kind, double x, double y)
{
    if (!(fabs(x - y) <= e->off[kind])) e->off[kind] = fabs(x - y); // also if not a number
    e->size[kind] = fmax(e->size[kind], fabs(y));
}

static double worst(errors *e)
{
    double largest = 0;
    e->size[3] =
        fmax(e->size[3], e->size[2]); // balls transmit no torque: forces at arms of a metre
    for (int i = 0; i < 4; i++)
        if (!(e->off[i] <= largest * e->size[i])) largest = e->off[i] / e->size[i];
    return largest;
}

static double difference(const lw_model *model, const lwi_snapshot *x, const lwi_snapshot *y)
{
    errors e = {0};
    for (int b = 1; b < model->nbody; b++)
        for (int i = 0; i < 3; i++) {
            add(&e, 0, x->a[b][i], y->a[b][i]);
            add(&e, 1, x->al[b][i], y->al[b][i]);
        }
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; i < 6; i++) add(&e, 2 + i / 3, x->reaction[j][i], y->reaction[j][i]);
    return worst(&e);
}

static void check(double off, double bound, const char *what, const method *by)
{
    if (!(off < bound))
        fail_msg("%s, %s %s: off by %.1e", what, by->formulation->name, by->plan ? by->plan : "",
                 off);
}

// All methods against aba, and hdca and dca by all plans against each other, where only the elimination differs.
// Destroys the model.
static void compare(lw_model *model, double bound, const char *what)
{
    enum { FIRST_PLAN = 3 };
    lwt_run aba = observed(model, &methods[0]), plan = observed(model, &methods[FIRST_PLAN]);
    for (int i = 1; i < LWI_COUNT(methods); i++) {
        lwt_run r = observed(model, &methods[i]);
        check(difference(model, &r.now, &aba.now), bound, what, &methods[i]);
        if (i > FIRST_PLAN) check(difference(model, &r.now, &plan.now), 1e-11, what, &methods[i]);
        lwt_run_end(&r);
    }
    lwt_run_end(&aba);
    lwt_run_end(&plan);
    lw_model_destroy(model);
}

// `joints`: "axes: xyz" of hinges, or "joint: spherical".
static lw_model *chain(int n, const char *joints, const char *gravity)
{
    char text[200];
    snprintf(text, sizeof text, "linkwork: 1\ngravity: %s\ngenerate: {chain: {n: %d, %s}}\n",
             gravity, n, joints);
    return lwt_yaml(text);
}

// -------------------------------------------------------------------------------- planar reference

// Four times as many digits where the compiler has them, else long double.
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 real;
#define REAL_EPSILON 1e-34
#else
typedef long double real;
#define REAL_EPSILON LDBL_EPSILON
#endif

// A horizontal chain of n rods of 1 m and 1 kg at rest on hinges: the vertical forces F in the hinges make the
// accelerations of both bodies at a hinge equal, which is a tridiagonal system.  A rod has a = F_i -
// F_i+1 - g in its middle, al = -h (F_i + F_i+1) / J and a -+ h al at its ends.
static void reference(int n, double J, real *a, real *al, real *F)
{
    const real g = 9.81L, h = 0.5L, stiff = h * h / J;
    real *d = calloc((size_t)n + 1, sizeof *d), *b = calloc((size_t)n + 1, sizeof *b);
    const real own = 1 + stiff, other = stiff - 1; // of the near and of the far force at an end
    assert_true(d && b);
    for (int i = n - 1; i >= 0; i--) { // inward; row i: hinge i
        d[i] = i ? 2 * own : own;
        b[i] = i ? 0 : g;
        if (i == n - 1) continue;
        const real f = other / d[i + 1];
        d[i] -= f * other;
        b[i] -= f * b[i + 1];
    }
    for (int i = 0; i < n; i++) F[i] = (b[i] - (i ? other * F[i - 1] : 0)) / d[i];
    F[n] = 0;
    for (int i = 0; i < n; i++) a[i] = F[i] - F[i + 1] - g, al[i] = -h * (F[i] + F[i + 1]) / J;
    free(d);
    free(b);
}

static void check_planar(int n, const method *by)
{
    lw_model *model = chain(n, "axes: z", "[0, -9.81, 0]");
    lwt_run r = observed(model, by);
    real *a = calloc(3 * (size_t)n + 3, sizeof *a), *al = a + n + 1, *F = al + n + 1;
    errors e = {0};
    assert_non_null(a);
    reference(n, model->body[1].inertia[2], a, al, F);
    for (int i = 0; i < n; i++) {
        add(&e, 0, r.now.a[i + 1][1], (double)a[i]);
        add(&e, 1, r.now.al[i + 1][2], (double)al[i]);
        add(&e, 2, r.now.reaction[i][1], (double)F[i]);
    }
    check(worst(&e), 1e-12, "planar", by);
    free(a);
    lwt_run_end(&r);
    lw_model_destroy(model);
}

static void straight_chains_are_those_of_a_reference(void **state)
{
    (void)state;
    if (REAL_EPSILON > 1e-18) skip(); // the reference would be no better
    enum { HDCA_MIXED = 5, DCA_BALANCED = 7 };
    for (int i = 0; i < LWI_COUNT(methods); i++) {
        check_planar(1000, &methods[i]);
        if (i % 2) check_planar(12000, &methods[i]); // every plan once
    }
    check_planar(30000, &methods[HDCA_MIXED]);
    check_planar(30000, &methods[DCA_BALANCED]);
    check_planar(100000, &methods[0]);
    check_planar(100000, &methods[1]);
}

// Out of their plane, hinges with parallel axes carry the whole chain: the compliance of a part of n rods is 1/n^3 of
// that of one.
static void chains_carry_loads_out_of_their_plane(void **state)
{
    (void)state;
    compare(chain(300, "axes: z", "[1, -9.81, 3]"), 1e-12, "300 parallel hinges");
    compare(chain(3000, "axes: z", "[1, -9.81, 3]"), 1e-12, "3000 parallel hinges");
    compare(chain(3000, "axes: xyz", "[1, -9.81, 3]"), 1e-12, "3000 hinges across");
    compare(chain(3000, "joint: spherical", "[1, -9.81, 3]"), 1e-12, "3000 balls");
}

// dca evaluates long paths in segments: their accelerations, and reactions that do not add up the round-off of these.
static void long_paths_in_segments(void **state)
{
    (void)state;
    lw_model *model = chain(3000, "axes: xyz", "[1, -9.81, 3]");
    lwt_run aba = observed(model, &methods[0]), dca = lwt_run_start(model, &lwi_formulation_dca);
    lwt_run_observe(&dca);
    check(difference(model, &dca.now, &aba.now), 1e-12, "segments", &methods[6]);
    lwt_run_end(&aba);
    lwt_run_end(&dca);
    lw_model_destroy(model);
}

static void chains_of_1e5_bodies_in_space(void **state)
{
    (void)state;
    static const char *const joints[] = {"axes: xyz", "joint: spherical"};
    for (int k = 0; k < LWI_COUNT(joints); k++) {
        lw_model *model = chain(100000, joints[k], "[1, -9.81, 3]");
        lwt_run first = observed(model, &methods[0]), r = observed(model, &methods[8]);
        check(difference(model, &r.now, &first.now), 1e-12, joints[k], &methods[8]);
        lwt_run_end(&first);
        lwt_run_end(&r);
        lw_model_destroy(model);
    }
}

// --------------------------------------------------------------------------------- ropes and masses

// Rods of the given length end to end along x from the ground, hinges about y or about directions across; mass [n], the
// last body a ball.
static lw_model *rope(int n, double length, const double *mass, bool across)
{
    lw_builder *b = lwt_builder();
    lw_body last = lwt_ground;
    lw_builder_gravity(b, (lw_vec3){0.3, 1, -9.81});
    for (int i = 0; i < n; i++) {
        char name[32];
        const double m = mass[i], J = m * length * length / 12;
        snprintf(name, sizeof name, "k%d", i);
        const lw_body body =
            lwt_body(b, &(lw_body_desc){.name = name,
                                        .mass = m,
                                        .inertia = {i == n - 1 ? J : 0.03 * J, J, J},
                                        .pose = {.position = {(i + 0.5) * length, 0, 0}}});
        snprintf(name, sizeof name, "j%d", i);
        lwt_add(b, &(lw_joint_desc){.name = name,
                                    .type = LW_JOINT_REVOLUTE,
                                    .body1 = last,
                                    .body2 = body,
                                    .at = {i * length, 0, 0},
                                    .axis = {0, across ? cos(i) : 1, across ? sin(i) : 0}});
        last = body;
    }
    return lwt_model(b);
}

// --------------------------------------------------------------------------------- rope reference
//
// At rest and straight, A = M^-1 (f + J' lambda) and J A = 0 make S lambda = -J M^-1 f, which is tridiagonal in blocks of
// the five rows of a hinge: three forces and two torques across its axis.  From the ground outward.

enum { ROWS = 5 };

// Row r of hinge i on body i (side 0) or on body i - 1 (1): [f; n] about the mass centre.
static void rope_row(int i, int r, int side, double length, bool across, real J[6])
{
    const real sign = side ? -1 : 1, arm = (real)(side ? 0.5 : -0.5) * length;
    const real y = across ? (real)cos(i) : 1, z = across ? (real)sin(i) : 0; // the axis
    for (int k = 0; k < 6; k++) J[k] = 0;
    if (r < 3) {
        J[r] = sign;
        if (r == 1) J[5] = sign * arm; // (arm, 0, 0) x e_y, e_z
        if (r == 2) J[4] = -sign * arm;
    } else if (r == 3) {
        J[3] = sign;
    } else {
        J[4] = -sign * z, J[5] = sign * y;
    }
}

static void rope_masses(int i, int n, double length, const double *mass, real M[6])
{
    const double J = mass[i] * length * length / 12;
    for (int k = 0; k < 3; k++) M[k] = mass[i], M[3 + k] = J;
    if (i < n - 1) M[3] = 0.03 * J;
}

// S += J M^-1 J' of rows of the hinges i and j on body b.
static void rope_block(int i, int j, int b, int n, double length, const double *mass, bool across,
                       real S[ROWS][ROWS])
{
    real M[6], x[6], y[6];
    rope_masses(b, n, length, mass, M);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < ROWS; c++) {
            rope_row(i, r, i > b, length, across, x);
            rope_row(j, c, j > b, length, across, y);
            for (int k = 0; k < 6; k++) S[r][c] += x[k] * y[k] / M[k];
        }
}

// x := S^-1 x of n columns, by elimination with pivots on the diagonal.
static void rope_solve(real S[ROWS][ROWS], int n, real x[ROWS][ROWS + 1])
{
    real a[ROWS][ROWS];
    memcpy(a, S, sizeof a);
    for (int p = 0; p < ROWS; p++)
        for (int r = 0; r < ROWS; r++) {
            if (r == p) continue;
            const real f = a[r][p] / a[p][p];
            for (int c = p; c < ROWS; c++) a[r][c] -= f * a[p][c];
            for (int c = 0; c < n; c++) x[r][c] -= f * x[p][c];
        }
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < n; c++) x[r][c] /= a[r][r];
}

static const double rope_gravity[3] = {0.3, 1, -9.81};

// Accelerations A [n][6] and wrenches F [n][6] of hinge i on body i about its point.
static void rope_reference(int n, double length, const double *mass, bool across, real (*A)[6],
                           real (*F)[6])
{
    real(*S)[ROWS][ROWS] = calloc((size_t)n, sizeof *S), (*b)[ROWS] = calloc((size_t)n, sizeof *b);
    real J[6], M[6], lambda[ROWS], x[ROWS][ROWS + 1];
    assert_true(S && b);
    for (int i = 0; i < n; i++) { // outward: S[i], b[i] of hinge i without those before it
        rope_block(i, i, i, n, length, mass, across, S[i]);
        if (i) rope_block(i, i, i - 1, n, length, mass, across, S[i]);
        if (i == 0)
            for (int k = 0; k < 3; k++) b[0][k] = -rope_gravity[k];
        if (i == 0) continue;
        real C[ROWS][ROWS] = {{0}}; // hinge i - 1 and i on body i - 1
        rope_block(i - 1, i, i - 1, n, length, mass, across, C);
        for (int r = 0; r < ROWS; r++) {
            for (int c = 0; c < ROWS; c++) x[r][c] = C[r][c];
            x[r][ROWS] = b[i - 1][r];
        }
        rope_solve(S[i - 1], ROWS + 1, x);
        for (int r = 0; r < ROWS; r++)
            for (int k = 0; k < ROWS; k++) {
                for (int c = 0; c < ROWS; c++) S[i][r][c] -= C[k][r] * x[k][c];
                b[i][r] -= C[k][r] * x[k][ROWS];
            }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int r = 0; r < ROWS; r++) x[r][0] = b[i][r];
        if (i < n - 1) {
            real C[ROWS][ROWS] = {{0}};
            rope_block(i, i + 1, i, n, length, mass, across, C);
            for (int r = 0; r < ROWS; r++)
                for (int c = 0; c < ROWS; c++) x[r][0] -= C[r][c] * lambda[c];
        }
        rope_solve(S[i], 1, x);
        rope_masses(i, n, length, mass, M);
        for (int k = 0; k < 6; k++) A[i][k] = k < 3 ? rope_gravity[k] : 0;
        for (int r = 0; i < n - 1 && r < ROWS; r++) {
            rope_row(i + 1, r, 1, length, across, J);
            for (int k = 0; k < 6; k++) A[i][k] += J[k] * lambda[r] / M[k];
        }
        for (int k = 0; k < 6; k++) F[i][k] = 0;
        for (int r = 0; r < ROWS; r++) {
            lambda[r] = x[r][0];
            rope_row(i, r, 0, length, across, J);
            for (int k = 0; k < 6; k++) A[i][k] += J[k] * lambda[r] / M[k];
            rope_row(i, r, 0, 0, across, J);
            for (int k = 0; k < 6; k++) F[i][k] += J[k] * lambda[r];
        }
    }
    free(S);
    free(b);
}

// Bounds of aba and momenta, of rcr, and of hdca and dca, which recover their digits (lwi_system_choose_digits).
typedef struct bounds {
    double tree, rcr, elimination;
} bounds;

static void rope_check(int n, double length, const double *mass, bool across, bounds bound,
                       const char *what)
{
    real(*A)[6] = calloc((size_t)n, sizeof *A), (*F)[6] = calloc((size_t)n, sizeof *F);
    lw_model *model = rope(n, length, mass, across);
    assert_true(A && F);
    rope_reference(n, length, mass, across, A, F);
    for (int i = 0; i < LWI_COUNT(methods); i++) {
        lwt_run r = observed(model, &methods[i]);
        errors e = {0};
        for (int k = 0; k < n; k++)
            for (int c = 0; c < 3; c++) {
                add(&e, 0, r.now.a[k + 1][c], (double)A[k][c]);
                add(&e, 1, r.now.al[k + 1][c], (double)A[k][3 + c]);
                add(&e, 2, r.now.reaction[k][c], (double)F[k][c]);
                add(&e, 3, r.now.reaction[k][3 + c], (double)F[k][3 + c]);
            }
        const bool rcr = methods[i].formulation == &lwi_formulation_rcr;
        check(worst(&e),
              methods[i].plan ? bound.elimination
              : rcr           ? bound.rcr
                              : bound.tree,
              what, &methods[i]);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
    free(A);
    free(F);
}

static void ropes_carry_ten_thousand_times_their_weight(void **state)
{
    (void)state;
    if (REAL_EPSILON > 1e-30) skip(); // masses take up to 13 digits
    enum { LINKS = 1000 };
    static const struct {
        double length, mass, load;
    } of[] = {{0.02, 0.01, 20e3}, {0.01, 0.001, 20e3}};
    for (int k = 0; k < LWI_COUNT(of); k++)
        for (int across = 0; across < 2; across++) {
            double mass[LINKS + 1];
            for (int i = 0; i <= LINKS; i++) mass[i] = i < LINKS ? of[k].mass : of[k].load;
            const bounds bound = {1e-12, 2e-8, 1e-14};
            rope_check(LINKS + 1, of[k].length, mass, across, bound, "rope");
        }
}

static void masses_from_1e_minus_6_to_1e6(void **state)
{
    (void)state;
    if (REAL_EPSILON > 1e-30) skip(); // masses take up to 13 digits
    enum { BODIES = 60 };
    double mass[BODIES];
    for (int i = 0; i < BODIES; i++) mass[i] = i % 2 ? 1e-6 : 1e6;
    rope_check(BODIES, 1, mass, true, (bounds){1e-13, 1e-13, 1e-14}, "alternating");
    for (int i = 0; i < BODIES; i++) mass[i] = pow(10, 6 * sin(7 * i + 1));
    rope_check(BODIES, 1, mass, true, (bounds){2e-7, 2e-7, 1e-13}, "mixed");
    rope_check(BODIES, 1, mass, false, (bounds){1e-11, 2e-7, 1e-14}, "mixed, parallel hinges");
}

// A thin rod between heavy ones on balls: its inertia about its axis is small against the others, and the model says
// how many digits are left.
static void lost_digits_are_reported(void **state)
{
    (void)state;
    static const struct {
        double about;
        int warnings;
    } of[] = {{0.05, 2}, {1e-3, 1}}; // no material has a rod of 1e6 kg, either
    for (int k = 0; k < LWI_COUNT(of); k++) {
        lw_builder *b = lwt_builder();
        lw_body last = lwt_ground;
        for (int i = 0; i < 2; i++) {
            const double m = i ? k ? 1e3 : 1e6 : 1e-6, J = m / 12;
            const lw_body rod = lwt_body(b, &(lw_body_desc){.mass = m,
                                                            .inertia = {of[k].about * m, J, J},
                                                            .pose.position = {i + 0.5, 0, 0}});
            lwt_joint(b, LW_JOINT_SPHERICAL, i ? "B" : "A", last, rod, i, 0);
            last = rod;
        }
        lw_model *model = lwt_model(b);
        assert_int_equal(lw_model_warning_count(model), of[k].warnings);
        assert_non_null(
            strstr(lw_model_warning(model, of[k].warnings - 1), "joint 'A': against one of its"));
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(straight_chains_are_those_of_a_reference),
        cmocka_unit_test(chains_carry_loads_out_of_their_plane),
        cmocka_unit_test(long_paths_in_segments),
        cmocka_unit_test(chains_of_1e5_bodies_in_space),
        cmocka_unit_test(ropes_carry_ten_thousand_times_their_weight),
        cmocka_unit_test(masses_from_1e_minus_6_to_1e6),
        cmocka_unit_test(lost_digits_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
