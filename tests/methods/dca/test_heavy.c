// test_heavy.c -- long chains, ropes with heavy loads and bodies of very different masses: all formulations of trees, by
// every plan, have the same accelerations and reactions, and a planar chain has those of a reference in long double.
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

typedef long double real;

// A horizontal chain of n rods of 1 m and 1 kg at rest on hinges: the vertical forces F in the hinges make the
// accelerations of both bodies at a hinge equal, which is a tridiagonal system in long double.  A rod has a = F_i -
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
    if (LDBL_EPSILON > 1e-18L) skip(); // the reference would be no better
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

static void ropes_carry_ten_thousand_times_their_weight(void **state)
{
    (void)state;
    enum { LINKS = 1000 };
    static const struct {
        double length, mass, load;
    } of[] = {{0.02, 0.01, 20e3}, {0.01, 0.001, 20e3}};
    for (int k = 0; k < LWI_COUNT(of); k++)
        for (int across = 0; across < 2; across++) {
            double mass[LINKS + 1];
            for (int i = 0; i <= LINKS; i++) mass[i] = i < LINKS ? of[k].mass : of[k].load;
            compare(rope(LINKS + 1, of[k].length, mass, across), 1e-7, "rope");
        }
}

static void masses_from_1e_minus_6_to_1e6(void **state)
{
    (void)state;
    enum { BODIES = 60 };
    double mass[BODIES];
    for (int i = 0; i < BODIES; i++) mass[i] = i % 2 ? 1e-6 : 1e6;
    compare(rope(BODIES, 1, mass, true), 1e-12, "alternating");
    for (int i = 0; i < BODIES; i++) mass[i] = pow(10, 6 * sin(7 * i + 1));
    compare(rope(BODIES, 1, mass, true), 1e-6, "mixed");
    compare(rope(BODIES, 1, mass, false), 1e-7, "mixed, parallel hinges");
}

// A thin rod between heavy ones on balls: its inertia about its axis is small against the others, and the model says
// how many digits are left.
static void lost_digits_are_reported(void **state)
{
    (void)state;
    static const struct {
        double about;
        int warnings;
    } of[] = {{0.05, 1}, {1e-3, 1}};
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
            strstr(lw_model_warning(model, 0), "joint 'A': against one of its motions"));
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
