// test_rotors.c -- rotor inertia on joint coordinates, kinetic energy I q'^2 / 2: every formulation
// does what absolute coordinates do, and these do what a geared body does.
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "support/random_loops.h"
#include "support/given.h"
#include "support/rotors.h"

#include <linkwork/dynamics.h>

static const char *const names[] = {"momenta", "aba", "dca", "hdca", "lagrange", "rcr"};

static double *inputs_of(const lw_model *model, uint64_t seed)
{
    double *input = lwt_vector(model->desc.ninput);
    for (int i = 0; i < model->desc.ninput; i++) input[i] = lwt_random(&seed, -1, 1);
    return input;
}

// Motion, accelerations, reactions and power of one formulation against those of `dense`.
static void compare(const lw_model *model, const char *name, uint64_t seed, double tolerance)
{
    const lwi_formulation *f = lwi_formulation_find(name);
    lwi_work *a = lwt_work(model, f), *b = lwt_work(model, DENSE);
    double *input = inputs_of(model, seed);
    lwi_snapshot ma, mb;
    lwt_run ra = lwt_run_work(a, NULL);
    lwt_observe(a, 0, ra.x, input, &ra.arena, &ma);
    lwt_run rb = lwt_run_work(b, &ma);
    lwt_observe(b, 0, rb.x, input, &rb.arena, &mb);
    lwt_near(name, (int)seed, lwt_acceleration_error(model, &ma, &mb), 0, tolerance);
    for (int i = 0; i < model->nv; i++) // the start that is given is the start
        lwt_near("speed", i, ma.qd[i], model->v0[i], 1e-9 * (1 + fabs(model->v0[i])));
    for (int i = 0; i < model->nv; i++)
        lwt_near("joint acceleration", i, ma.qdd[i], mb.qdd[i],
                 1e2 * tolerance * (1 + fabs(mb.qdd[i])));
    for (int j = 0; j < model->njoint; j++) {
        const double size = v3_norm(mb.reaction[j]) + v3_norm(mb.reaction[j] + 3);
        for (int i = 0; mb.unique[j] && i < 6; i++)
            lwt_near("reaction", j, ma.reaction[j][i], mb.reaction[j][i],
                     1e2 * tolerance * (1 + size));
    }
    double *xa = lwt_vector(a->layout.nx), *xb = lwt_vector(b->layout.nx);
    lwt_ok(f->rates(a, 0, ra.x, input, xa), &a->error);
    lwt_ok(DENSE->rates(b, 0, rb.x, input, xb), &b->error);
    if (model->carries_work) {
        const double P = xb[lwt_work_index(b)];
        lwt_near("power", (int)seed, lwt_power(a, 0, ra.x, input), P,
                 1e2 * tolerance * (1 + fabs(P)));
    }
    free(xa), free(xb), free(input);
    lwt_run_end(&ra);
    lwt_run_end(&rb);
}

// Accelerations and reactions of `index3` at the start.
static void compare_start(const lw_model *model)
{
    lwt_run a = lwt_run_start(model, &lwi_formulation_index3), b = lwt_run_start(model, DENSE);
    lwt_run_observe(&a);
    lwt_run_observe(&b);
    lwt_near("index3", 0, lwt_acceleration_error(model, &a.now, &b.now), 0, 1e-10);
    for (int j = 0; j < model->njoint; j++)
        for (int i = 0; b.now.unique[j] && i < 6; i++)
            lwt_near("reaction", j, a.now.reaction[j][i], b.now.reaction[j][i], 1e-8);
    lwt_run_end(&a);
    lwt_run_end(&b);
}

static void trees_agree(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_model *bare, *model;
        assert_int_equal(
            lwt_random_tree(seed, 1 + (int)(seed % 9), LWT_ALL & ~(unsigned)LWT_FIXED, &bare),
            LW_OK);
        model = lwt_with_rotors(bare, seed);
        for (int i = 0; i < LWI_COUNT(names); i++)
            if (lwi_formulation_accepts(lwi_formulation_find(names[i]), model, NULL) == LW_OK)
                compare(model, names[i], seed, 1e-10);
        lw_model_destroy(model);
        lw_model_destroy(bare);
    }
}

static void loops_agree(void **state)
{
    (void)state;
    int on_cuts = 0; // by `rcr` too
    LWT_FOR_LOOPS(c, 60, LWT_LOOP_ALL)
    {
        lw_model *model = lwt_with_rotors(c.model, seed_);
        for (int i = 0; i < model->nloop && lwi_formulation_accepts(RCR, model, NULL) == LW_OK; i++)
            on_cuts += model->joint[model->loop[i]].nrotor;
        for (int i = 0; i < LWI_COUNT(names); i++)
            if (lwi_formulation_accepts(lwi_formulation_find(names[i]), model, NULL) == LW_OK)
                compare(model, names[i], seed_, 1e-9);
        lw_model_destroy(model);
    }
    assert_true(on_cuts > 10);
}

// A small loop far from the ground, with a rotor on the cut joint: the rows that close the loop are small
// compared with the rotor's, and must not be taken for dependent ones.
static void a_small_loop_on_a_long_beam(void **state)
{
    (void)state;
    lw_model *model = lwt_yaml(
        "linkwork: 1\nbodies:\n"
        "  beam: {mass: 6, inertia: [0.5, 60, 60, 0, 0, 0]}\n"
        "  crank: {mass: 1, inertia: [0.01, 0.02, 0.02, 0, 0, 0], position: [20.1, 0.1, 0]}\n"
        "  coupler: {mass: 2, inertia: [0.01, 0.04, 0.04, 0, 0, 0], position: [20.4, 0.4, 0]}\n"
        "  rocker: {mass: 1, inertia: [0.01, 0.03, 0.03, 0, 0, 0], position: [20.7, 0.2, 0]}\n"
        "joints:\n"
        "  A: {type: revolute, between: [beam, crank], at: [20, 0, 0]}\n"
        "  B: {type: revolute, between: [crank, coupler], at: [20.1, 0.3, 0]}\n"
        "  C: {type: revolute, between: [coupler, rocker], at: [20.8, 0.5, 0], rotor: {q0: 0.2}, "
        "cut: always}\n"
        "  D: {type: revolute, between: [beam, rocker], at: [20.6, 0, 0]}\n"
        "forces: {push: {type: wrench, body: crank, force: [1, 2, 0]}}\n");
    compare(model, "lagrange", 1, 1e-10);
    lw_model_destroy(model);
}

// With momenta as state `rcr` moves as with speeds, rotors on cut joints included.
static void momenta_move_as_speeds(void **state)
{
    (void)state;
    int on_cuts = 0;
    lw_options options;
    lw_options_default(&options);
    lwt_set(&options, "state", "momenta");
    lwt_set(&options, "kappa", "none");
    LWT_FOR_LOOPS(c, 24, LWT_LOOP_ALL)
    {
        lw_model *model = lwt_with_rotors(c.model, seed_);
        double *input = inputs_of(model, seed_);
        lwt_run a = lwt_run_start(model, RCR), b = lwt_run_options(model, RCR, &options, NULL);
        for (int i = 0; i < model->nloop; i++) on_cuts += model->joint[model->loop[i]].nrotor;
        lwt_integrate(a.work, &a.t, a.x, input, 2.5e-4, 100);
        lwt_integrate(b.work, &b.t, b.x, input, 2.5e-4, 100);
        lwt_observe(a.work, a.t, a.x, input, &a.arena, &a.now);
        lwt_observe(b.work, b.t, b.x, input, &b.arena, &b.now);
        for (int i = 1; i < model->nbody; i++)
            for (int k = 0; k < 3; k++) {
                lwt_near("position", i, b.now.r[i][k], a.now.r[i][k], 1e-7);
                lwt_near("velocity", i, b.now.v[i][k], a.now.v[i][k],
                         1e-5 * (1 + fabs(a.now.v[i][k])));
            }
        lwt_run_end(&a);
        lwt_run_end(&b);
        free(input);
        lw_model_destroy(model);
    }
    assert_true(on_cuts > 10);
}

// Newton's and Euler's equations of every body hold with the effort -I q'' of each rotor.
static void bodies_are_in_balance(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 24, LWT_LOOP_ALL & ~(unsigned)LWT_COUPLINGS) // which are no joint's reaction
    {
        lw_model *model = lwt_with_rotors(c.model, seed_);
        double *input = inputs_of(model, seed_);
        lwt_run r = lwt_run_start(model, DENSE);
        lwt_observe(r.work, 0, r.x, input, &r.arena, &r.now);
        lwt_near("imbalance", (int)seed_, lwt_imbalance(model, input, &r.now), 0, 1e-7);
        lwt_run_end(&r);
        free(input);
        lw_model_destroy(model);
    }
}

// ------------------------------------------------------------------------------------ closed forms

// A rod on a hinge, its mass centre l from it: (J + m l^2 + I) q'' = -m g l sin q.
static lw_model *pendulum(double rotor, double angle)
{
    lw_builder *b = lwt_builder();
    const lw_body rod = lwt_rod(b, "rod", 0, 0, 0.8 * sin(angle), -0.8 * cos(angle), 1.5);
    lw_joint_desc desc = {
        .name = "hinge", .type = LW_JOINT_REVOLUTE, .body2 = rod, .axis = {0, 0, 1}};
    desc.coordinate[0].rotor = rotor;
    lwt_add(b, &desc);
    return lwt_model(b);
}

static void a_pendulum_is_slower(void **state)
{
    (void)state;
    static const char *const all[] = {"momenta", "aba", "dense", "dca", "hdca", "lagrange", "rcr"};
    const double I = 0.7, angle = 0.6, J = 1.5 * (0.64 / 12 + 0.16);
    const double expected = -1.5 * 9.81 * 0.4 * sin(angle) / (J + I);
    lw_model *model = pendulum(I, angle);
    for (int i = 0; i < LWI_COUNT(all); i++) {
        const lwi_formulation *f = lwi_formulation_find(all[i]);
        if (!(f->flags & LWI_CAN_ROTORS)) continue;
        lwt_run r = lwt_run_start(model, f);
        lwt_run_observe(&r);
        lwt_near(all[i], i, r.now.qdd[0], expected, 1e-14 * (1 + fabs(expected)));
        lwt_near("torque about the axis", i, r.now.reaction[0][5], 0, 1e-12); // free: none
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

// A massless body slides with a rotor on a spring, and on it along the same line a body: the rotor alone resists
// the spring, I q1'' = -c q1, and the body stays where it is, q2'' = -q1''.
static void a_rotor_resists_where_bodies_do_not(void **state)
{
    (void)state;
    static const char *const all[] = {"momenta", "aba", "dense", "lagrange", "rcr"};
    const double I = 0.8, c = 4, q = 0.5;
    lw_builder *b = lwt_builder();
    const lw_body rider = lwt_rod(b, "rider", q, 0, q + 1, 0, 1.5);
    const lw_body carrier =
        lwt_body(b, &(lw_body_desc){.name = "carrier", .pose = {.orientation = {1, 0, 0, 0}}});
    lw_joint_desc desc = {
        .name = "first", .type = LW_JOINT_PRISMATIC, .body2 = carrier, .axis = {1, 0, 0}};
    desc.coordinate[0] = (lw_coordinate_desc){.rotor = I, .stiffness = c, .at = -q};
    lwt_add(b, &desc);
    lwt_add(b, &(lw_joint_desc){.name = "second",
                                .type = LW_JOINT_PRISMATIC,
                                .body1 = carrier,
                                .body2 = rider,
                                .axis = {1, 0, 0}});
    lw_model *model = lwt_model(b);
    for (int i = 0; i < LWI_COUNT(all); i++) {
        lwt_run r = lwt_run_start(model, lwi_formulation_find(all[i]));
        lwt_run_observe(&r);
        lwt_near(all[i], 1, r.now.qdd[0], -c * q / I, 1e-13);
        lwt_near(all[i], 2, r.now.qdd[1], c * q / I, 1e-13);
        lwt_run_end(&r);
    }
    lw_model_destroy(model);
}

// A wheel geared to a hinge, q_w = n q, is a rotor of n^2 J_w in the plane.
static void a_geared_wheel_is_a_rotor(void **state)
{
    (void)state;
    const double gear = 3, wheel = 0.02, angle = 0.4;
    lw_builder *b = lwt_builder();
    const lw_body rod = lwt_rod(b, "rod", 0, 0, 0.8 * sin(angle), -0.8 * cos(angle), 1.5);
    const lw_body w = lwt_body(
        b, &(lw_body_desc){.name = "wheel", .mass = 1, .inertia = {wheel, wheel, wheel, 0, 0, 0}});
    const lw_joint hinge = lwt_joint(b, LW_JOINT_REVOLUTE, "hinge", lwt_ground, rod, 0, 0);
    const lw_joint axle = lwt_joint(b, LW_JOINT_REVOLUTE, "axle", lwt_ground, w, 0, 0);
    const double polynomial[] = {0, gear};
    lw_error error;
    lwt_ok(lw_builder_add_coupling(
               b,
               &(lw_coupling_desc){
                   .joint = axle, .of = hinge, .polynomial = polynomial, .npolynomial = 2},
               &error),
           &error);
    lw_model *geared = lwt_model(b), *plain = pendulum(gear * gear * wheel, angle);
    lwt_run a = lwt_run_start(geared, DENSE), c = lwt_run_start(plain, DENSE);
    lwt_integrate(a.work, &a.t, a.x, NULL, 1e-3, 400);
    lwt_integrate(c.work, &c.t, c.x, NULL, 1e-3, 400);
    lwt_run_observe(&a);
    lwt_run_observe(&c);
    lwt_near("angle", 0, a.now.q[0], c.now.q[0], 1e-12);
    lwt_near("speed", 0, a.now.qd[0], c.now.qd[0], 1e-12);
    lwt_near("acceleration", 0, a.now.qdd[0], c.now.qdd[0], 1e-11);
    lwi_totals sa, sc;
    lwi_observe_system(geared, LW_OBSERVE_ENERGY, &a.now, &sa);
    lwi_observe_system(plain, LW_OBSERVE_ENERGY, &c.now, &sc);
    lwt_near("kinetic energy", 0, sa.kinetic, sc.kinetic, 1e-12);
    lwt_run_end(&a);
    lwt_run_end(&c);
    lw_model_destroy(geared);
    lw_model_destroy(plain);
}

// A drive accelerates its rotor too: its torque is that of the bare joint and I q'' more.
static void a_drive_turns_its_rotor(void **state)
{
    (void)state;
    static const char *const all[] = {"aba", "momenta", "dense", "dca", "hdca", "lagrange", "rcr"};
    double torque[2] = {0}, I = 0.3;
    for (int i = 0; i < LWI_COUNT(all); i++) {
        for (int with = 0; with < 2; with++) {
            lw_builder *b = lwt_builder();
            const lw_signal f =
                lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                    .coefficients = (double[]){0, 0, 2},
                                                    .ncoefficient = 3});
            const lw_body rod = lwt_rod(b, "rod", 0, 0, 0.8, 0, 1.5);
            lw_joint_desc desc = {
                .name = "hinge", .type = LW_JOINT_REVOLUTE, .body2 = rod, .axis = {0, 0, 1}};
            desc.coordinate[0].motion = f;
            desc.coordinate[0].rotor = with ? I : 0;
            lwt_add(b, &desc);
            lw_model *model = lwt_model(b);
            lwt_run r = lwt_run_start(model, lwi_formulation_find(all[i]));
            lwt_run_observe(&r);
            torque[with] = r.now.reaction[0][5];
            lwt_run_end(&r);
            lw_model_destroy(model);
        }
        lwt_near(all[i], i, torque[1] - torque[0], 4 * I, 1e-12); // q'' = 4
    }
}

// ------------------------------------------------------------------------------------------ matrix

// The mass matrix is that of the tree and the rotors on its diagonal; inverse dynamics, momenta and
// forward dynamics are those of this matrix.
static void dynamics_have_rotors(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        lw_model *bare, *model;
        lw_dynamics *d[2];
        lw_error error;
        assert_int_equal(lwt_random_tree(seed, 6, LWT_MULTI | LWT_QUASI | LWT_REVERSED, &bare),
                         LW_OK);
        model = lwt_with_rotors(bare, seed);
        lwt_ok(lw_dynamics_create(bare, NULL, &d[0], &error), &error);
        lwt_ok(lw_dynamics_create(model, NULL, &d[1], &error), &error);
        const int n = model->tree_nv;
        const size_t square = (size_t)n * (size_t)n;
        double *M = calloc(2 * square, sizeof *M), *v = lwt_vector(n), *a = lwt_vector(n);
        double *tau = lwt_vector(n), *p = lwt_vector(n), *again = lwt_vector(n);
        double *pd = lwt_vector(n), *qd = lwt_vector(model->tree_nq);
        for (int i = 0; i < n; i++)
            v[i] = lwt_random(&seed, -1, 1), a[i] = lwt_random(&seed, -1, 1);
        for (int w = 0; w < 2; w++)
            assert_int_equal(lw_mass_matrix(d[w], 0, model->tree_q0, M + (size_t)w * square),
                             LW_OK);
        assert_int_equal(lw_momenta(d[1], 0, model->tree_q0, v, p), LW_OK);
        for (int i = 0; i < n; i++) {
            double sum = 0;
            for (int j = 0; j < n; j++) {
                const double *Mij = M + i * n + j;
                lwt_near("mass matrix", i, Mij[square] - Mij[0], i == j ? model->tree_rotor[i] : 0,
                         1e-12);
                sum += Mij[square] * v[j];
            }
            lwt_near("momentum", i, p[i], sum, 1e-12 * (1 + fabs(sum)));
        }
        assert_int_equal(lw_inverse_dynamics(d[1], 0, model->tree_q0, v, a, NULL, tau), LW_OK);
        assert_int_equal(lw_forward_dynamics(d[1], 0, model->tree_q0, v, tau, NULL, again), LW_OK);
        for (int i = 0; i < n; i++) lwt_near("acceleration", i, again[i], a[i], 1e-9);
        assert_int_equal(lw_momenta_rates(d[1], 0, model->tree_q0, p, NULL, NULL, again, qd, pd),
                         LW_OK);
        for (int i = 0; i < n; i++) lwt_near("speed", i, again[i], v[i], 1e-9);
        free(M), free(v), free(a), free(tau), free(p), free(again), free(pd), free(qd);
        for (int w = 0; w < 2; w++) lw_dynamics_destroy(d[w]);
        lw_model_destroy(model);
        lw_model_destroy(bare);
    }
}

// ------------------------------------------------------------------------------------------ energy

static double energy(lwt_run *r)
{
    lwi_totals s;
    lwt_run_observe(r);
    lwi_observe_system(r->model, LW_OBSERVE_ENERGY, &r->now, &s);
    return s.kinetic + s.potential - r->now.work;
}

// T + V - Wnc stays: a four-bar with a rotor on each hinge, one of them on the cut one, and a drive.
static void energy_stays(void **state)
{
    (void)state;
    static const char *const all[] = {"dense", "dca", "hdca", "lagrange", "rcr"};
    static const int kinds[] = {LWT_SPATIAL, LWT_DRIVEN_LOOP, LWT_MOUNTED_LOOP, LWT_COUPLED};
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        lw_model *bare = lwt_loop(kinds[k]), *model = lwt_with_rotors(bare, 5);
        for (int i = 0; i < LWI_COUNT(all); i++) {
            if (lwi_formulation_accepts(lwi_formulation_find(all[i]), model, NULL)) continue;
            lwt_run r = lwt_run_start(model, lwi_formulation_find(all[i]));
            const double first = energy(&r);
            lwt_integrate(r.work, &r.t, r.x, NULL, 5e-4, 400);
            lwt_near(all[i], kinds[k], energy(&r), first, 1e-8 * (1 + fabs(first)));
            lwt_run_end(&r);
        }
        lw_model_destroy(model);
        lw_model_destroy(bare);
    }
}

// `index3` begins with the accelerations of `dense`, and comes to where `dense` comes with the square of
// the step, with and without the tangent of forces, and for all projections.
static double distance_after(const lw_model *model, const char *method, double h, int steps,
                             const lwi_snapshot *wanted, double *energies)
{
    lw_options options;
    lw_error error;
    lwi_work *work;
    double off = 0;
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "index3", method, &error), &error);
    lwt_ok(
        lwi_work_create_options(model, &lwi_formulation_index3, NULL, 0, &options, &work, &error),
        &error);
    lwt_run r = lwt_run_work(work, NULL);
    const double first = energy(&r);
    for (int i = 0; i < steps; i++)
        lwt_ok(work->formulation->step(work, i * h, h, r.x, NULL), &work->error);
    r.t = steps * h;
    *energies = fabs(energy(&r) - first);
    for (int i = 0; i < model->nv; i++) off = fmax(off, fabs(r.now.qd[i] - wanted->qd[i]));
    for (int i = 0; i < model->nv; i++) off = fmax(off, 1e-2 * fabs(r.now.qdd[i] - wanted->qdd[i]));
    lwt_run_end(&r);
    return off;
}

static void implicit_steps_have_rotors(void **state)
{
    (void)state;
    static const int kinds[] = {LWT_SPATIAL, LWT_DRIVEN_LOOP, LWT_MOUNTED_LOOP, LWT_COUPLED};
    static const char *const methods[] = {"auto", "tangent=0", "tangent=2", "projection=tangent"};
    for (int k = 0; k < LWI_COUNT(kinds); k++) {
        lw_model *bare = lwt_loop(kinds[k]), *model = lwt_with_rotors(bare, 5);
        compare_start(model);
        lwt_run d = lwt_run_start(model, DENSE);
        lwt_integrate(d.work, &d.t, d.x, NULL, 2.5e-4, 400);
        lwt_run_observe(&d);
        for (int i = 0; i < LWI_COUNT(methods); i++) {
            double E[2];
            const double coarse = distance_after(model, methods[i], 2e-3, 50, &d.now, &E[0]);
            const double fine = distance_after(model, methods[i], 1e-3, 100, &d.now, &E[1]);
            print_message("%d %s: off by %.1e, %.1e; energy %.1e, %.1e\n", kinds[k], methods[i],
                          coarse, fine, E[0], E[1]);
            assert_true(coarse < 1e-2 && fine < 0.35 * coarse + 1e-8);
            assert_true(E[1] < 0.35 * E[0] + 1e-8);
        }
        lwt_run_end(&d);
        lw_model_destroy(model);
        lw_model_destroy(bare);
    }
}

// What a formulation cannot do it says, with its name and the joint.
static void what_cannot_refuses(void **state)
{
    (void)state;
    lw_model *model = pendulum(0.5, 0.3);
    static const char *const all[] = {
#define X(name) #name,
        LWI_FORMULATION_LIST(X)
#undef X
    };
    for (int i = 0; i < LWI_COUNT(all); i++) {
        const lwi_formulation *f = lwi_formulation_find(all[i]);
        lw_error error;
        if (f->flags & LWI_CAN_ROTORS) continue;
        assert_int_equal(lwi_formulation_accepts(f, model, &error), LW_ERR_UNSUPPORTED);
        assert_non_null(strstr(error.text, all[i]));
        assert_non_null(strstr(error.text, "joint 'hinge' has rotor inertia"));
    }
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_is_slower),
        cmocka_unit_test(a_rotor_resists_where_bodies_do_not),
        cmocka_unit_test(a_geared_wheel_is_a_rotor),
        cmocka_unit_test(a_drive_turns_its_rotor),
        cmocka_unit_test(dynamics_have_rotors),
        cmocka_unit_test(trees_agree),
        cmocka_unit_test(bodies_are_in_balance),
        cmocka_unit_test(loops_agree),
        cmocka_unit_test(a_small_loop_on_a_long_beam),
        cmocka_unit_test(momenta_move_as_speeds),
        cmocka_unit_test(energy_stays),
        cmocka_unit_test(what_cannot_refuses),
        cmocka_unit_test(implicit_steps_have_rotors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
