// test_impulse.c -- velocities after impulses: closed forms, the dense equations, balance of momentum, work, rows.
#include "support/given.h"
#include "support/mechanism.h"

#include "methods/dense/dense.h"
#include "simulate/simulation.h"

static const char *const formulations[] = {"aba",  "momenta",  "dense", "dca",
                                           "hdca", "lagrange", "rcr",   "index3"};

#define PENDULUM                                                                                   \
    "linkwork: 1\n"                                                                                \
    "gravity: [0, -9.81, 0]\n"                                                                     \
    "bodies:\n"                                                                                    \
    "  rod1: {mass: 2, inertia: [0.02, 0.3, 0.3, 0, 0, 0], position: [0.6, 0, 0]}\n"               \
    "  rod2: {mass: 1.5, inertia: [0.01, 0.2, 0.2, 0, 0, 0], position: [1.6, 0, 0]}\n"             \
    "joints:\n"                                                                                    \
    "  j1: {type: revolute, between: [ground, rod1], at: [0, 0, 0], axis: [0, 0, 1], qd: [0.4]}\n" \
    "  j2: {type: revolute, between: [rod1, rod2], at: [1.2, 0, 0], axis: [0, 0, 1], qd: "         \
    "[-1.1]}\n"

// Bars in space with parallel hinges: three redundant constraints.
#define FOUR_BAR                                                                                   \
    "linkwork: 1\n"                                                                                \
    "gravity: [0, -9.81, 0]\n"                                                                     \
    "bodies:\n"                                                                                    \
    "  crank: {mass: 1, inertia: [0.02, 0.01, 0.02, 0, 0, 0], position: [0, 0.25, 0]}\n"           \
    "  coupler: {mass: 3, inertia: [0.01, 0.4, 0.4, 0, 0, 0], position: [0.6, 0.7, 0]}\n"          \
    "  rocker: {mass: 2, inertia: [0.1, 0.01, 0.1, 0, 0, 0], position: [1.2, 0.45, 0]}\n"          \
    "joints:\n"                                                                                    \
    "  a: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 0, 1], qd: [0.7]}\n" \
    "  b: {type: revolute, between: [crank, coupler], at: [0, 0.5, 0], axis: [0, 0, 1]}\n"         \
    "  c: {type: revolute, between: [coupler, rocker], at: [1.2, 0.9, 0], axis: [0, 0, 1]}\n"      \
    "  d: {type: revolute, between: [ground, rocker], at: [1.2, 0, 0], axis: [0, 0, 1]}\n"

static lw_impulse_desc on_body(lw_body body, lw_vec3 point, lw_vec3 impulse, lw_vec3 turn)
{
    return (lw_impulse_desc){
        .body = body, .point = point, .impulse = impulse, .angular_impulse = turn};
}

static lw_sim *simulate(const lw_model *model, const char *formulation)
{
    return lwt_simulate(model,
                        LWT_SETTINGS("formulation", formulation, "rtol", "1e-11", "atol", "1e-12",
                                     "step", strcmp(formulation, "index3") ? "0" : "1e-3"));
}

static const lw_observation *observe(lw_sim *sim)
{
    const lw_observation *o;
    if (lw_sim_observe(sim, LW_OBSERVE_REACTION, &o) != LW_OK) fail_msg("%s", sim->error.text);
    return o;
}

static void apply(lw_sim *sim, int n, const lw_impulse_desc *impulse, const lw_impact **impact)
{
    if (lw_sim_apply_impulse(sim, n, impulse, impact) != LW_OK) fail_msg("%s", sim->error.text);
}

static void close_to(const double *a, const double *b, int n, double tolerance)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance))
            fail_msg("entry %d: %.17g, expected %.17g", i, a[i], b[i]);
}

// --------------------------------------------------------------------------------- closed forms

// M (qd+ - qd-) = Q with the mass matrix of both rods straight along x, absolute rates.
static void a_struck_double_pendulum_has_the_rates_of_its_mass_matrix(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(PENDULUM);
    const double m1 = 2, m2 = 1.5, l1 = 1.2, c1 = 0.6, c2 = 0.4, J1 = 0.3, J2 = 0.2;
    const double fx = 5, fy = -3, n = 0.25, at = 0.4 + 0.3; // on rod2 0.3 m beyond its centre
    const double M[2][2] = {{J1 + m1 * c1 * c1 + m2 * l1 * l1, m2 * l1 * c2},
                            {m2 * l1 * c2, J2 + m2 * c2 * c2}};
    const double Q[2] = {l1 * fy, at * fy + n}, det = M[0][0] * M[1][1] - M[0][1] * M[1][0];
    const double dw1 = (M[1][1] * Q[0] - M[0][1] * Q[1]) / det;
    const double dw2 = (M[0][0] * Q[1] - M[1][0] * Q[0]) / det;
    const double qd[2] = {0.4 + dw1, -1.1 + dw2 - dw1};
    const lw_impulse_desc f =
        on_body((lw_body){2}, (lw_vec3){.x = 0.3}, (lw_vec3){fx, fy, 0}, (lw_vec3){.z = n});
    for (int k = 0; k < (int)LWI_COUNT(formulations); k++) {
        lw_sim *sim = simulate(model, formulations[k]);
        const lw_impact *impact;
        apply(sim, 1, &f, &impact);
        const lw_observation *o = observe(sim);
        close_to(o->qd, qd, 2, 1e-12);
        // reaction of the first hinge: the momentum that is missing
        const double vy = 0.6 * m1 * dw1 + m2 * (l1 * dw1 + c2 * dw2);
        const double reaction[3] = {-fx, vy - fy, 0};
        close_to(impact->reaction[0], reaction, 3, 1e-12);
        close_to(o->impulse[0], reaction, 3, 1e-12);
        assert_int_equal(o->impact, LW_IMPACT_AFTER);
        assert_true(fabs(impact->kinetic_after - impact->kinetic_before - impact->work) < 1e-12);
        assert_true(fabs(o->kinetic - impact->kinetic_after) < 1e-12);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// The same impulse on a coordinate: that of the joint between the rods.
static void an_impulse_on_a_coordinate_is_an_opposite_pair(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(PENDULUM);
    const lw_impulse_desc effort = {.on_joint = true, .joint = {1}, .effort = 0.8};
    const lw_impulse_desc pair[2] = {
        on_body((lw_body){1}, (lw_vec3){0}, (lw_vec3){0}, (lw_vec3){.z = -0.8}),
        on_body((lw_body){2}, (lw_vec3){0}, (lw_vec3){0}, (lw_vec3){.z = 0.8})};
    lw_sim *a = simulate(model, "aba"), *b = simulate(model, "dense");
    apply(a, 1, &effort, NULL);
    apply(b, 2, pair, NULL);
    close_to(observe(a)->qd, observe(b)->qd, 2, 1e-13);
    lw_sim_destroy(a);
    lw_sim_destroy(b);
    lw_model_destroy(model);
}

// One degree of freedom: (sum of inertias by the square of velocities at unit rate) dqd = generalised impulse.
static void a_struck_four_bar_has_the_rate_of_its_reduced_inertia(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(FOUR_BAR);
    // crank rate 1: b moves with -0.5 along x; c with -0.9 times the rocker's rate: translation along x
    const double coupler = 0, rocker = 0.5 / 0.9;
    const double inertia = 0.02 + 1 * 0.25 * 0.25 + 3 * 0.5 * 0.5 + 0.4 * coupler +
                           (0.1 + 2 * 0.45 * 0.45) * rocker * rocker;
    const lw_impulse_desc f = on_body((lw_body){2}, (lw_vec3){0.1, 0.2, 0.3}, (lw_vec3){2, 1, 0.5},
                                      (lw_vec3){0.1, 0.2, 0.3});
    const double rate = 0.7 - 0.5 * 2 / inertia;
    for (int k = 2; k < (int)LWI_COUNT(formulations); k++) { // with loops
        lw_sim *sim = simulate(model, formulations[k]);
        const lw_impact *impact;
        double before[6], after[6], outside[6] = {2, 1, 0.5, 0.1, 0.2, 0.3};
        const lw_observation *o = observe(sim);
        memcpy(before, o->momentum, sizeof o->momentum);
        memcpy(before + 3, o->angular_momentum, sizeof o->angular_momentum);
        apply(sim, 1, &f, &impact);
        o = observe(sim);
        close_to(o->qd, &rate, 1, 1e-12);
        assert_true(fabs(impact->kinetic_after - impact->kinetic_before - impact->work) < 1e-12);
        // balance: impulses of the strike and of both hinges on the ground, about the origin
        const double at[3] = {0.7, 0.9, 0.3}, d[3] = {1.2, 0, 0};
        v3_cross_add(outside + 3, at, outside);
        v6_axpy(outside, 1, impact->reaction[0]);
        v6_axpy(outside, 1, impact->reaction[3]);
        v3_cross_add(outside + 3, d, impact->reaction[3]);
        memcpy(after, o->momentum, sizeof o->momentum);
        memcpy(after + 3, o->angular_momentum, sizeof o->angular_momentum);
        v6_axpy(after, -1, before);
        close_to(after, outside, 6, 1e-12);
        assert_true(impact->reaction_undetermined[0] != 0); // redundant: of minimum norm
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// A cart that a drive pushes off: its pendulum stays behind, and the drive carries the momentum of both.
static void a_rate_that_jumps_is_an_impact(void **unused)
{
    (void)unused;
    lw_model *model =
        lwt_yaml("linkwork: 1\n"
                 "gravity: [0, -9.81, 0]\n"
                 "functions:\n"
                 "  on: {type: ramp, rate: 2, from: 0.5}\n"
                 "  off: {type: ramp, rate: -2, from: 0.75}\n"
                 "  drive: {type: sum, terms: [on, off]}\n"
                 "bodies:\n"
                 "  cart: {mass: 2, inertia: [1, 1, 1, 0, 0, 0]}\n"
                 "  rod: {mass: 1, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [0, -0.5, 0]}\n"
                 "joints:\n"
                 "  rail: {type: prismatic, between: [ground, cart], at: [0, 0, 0], "
                 "axis: [1, 0, 0], motion: {q0: drive}, rotor: {q0: 0.5}}\n"
                 "  pin: {type: revolute, between: [cart, rod], at: [0, 0, 0], axis: [0, 0, 1]}\n");
    const double rate = -1 * 0.5 * 2 / (0.1 + 0.25), impulse = 2.5 * 2 + 1 * (2 + 0.5 * rate);
    for (int k = 0; k < (int)LWI_COUNT(formulations); k++) {
        lw_sim *sim = simulate(model, formulations[k]);
        lw_summary summary;
        assert_int_equal(lw_sim_step(sim, 0.5), LW_OK);
        const lw_observation *o = observe(sim);
        assert_int_equal(o->impact, LW_IMPACT_AFTER);
        assert_true(o->time == 0.5);
        assert_true(fabs(o->qd[0] - 2) < 1e-12 && fabs(o->qd[1] - rate) < 1e-10);
        assert_true(fabs(o->impulse[0][0] - impulse) < 1e-10);
        assert_int_equal(lw_sim_step(sim, 1), LW_OK);
        o = observe(sim);
        assert_true(fabs(o->qd[0]) < 1e-12 && fabs(o->q[0] - 0.5) < 1e-12);
        lw_sim_summary(sim, &summary);
        assert_int_equal(summary.impulses, 2);
        assert_true(summary.energy_error < (strcmp(formulations[k], "index3") ? 1e-9 : 1e-4));
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------- against the dense equations

// The same motion by the elimination and by the dense equations, which share no rows.
static void compare_routes(const lw_model *model, int n, const lw_impulse_desc *impulse,
                           double tolerance)
{
    lwi_work *work = lwt_work(model, &lwi_formulation_dense);
    lw_sim *sim = simulate(model, "auto");
    const lw_impact *impact;
    lwi_snapshot after;
    lwi_arena arena;
    double drives, scale = 0;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &after), LW_OK);
    apply(sim, n, impulse, &impact);
    assert_non_null(sim->impacts.system);
    assert_int_equal(
        lwi_dense_impact(work, &sim->impacts.before, sim->t, &sim->impacts.loads, &after, &drives),
        LW_OK);
    const lwi_snapshot *m = &sim->impacts.after;
    for (int b = 1; b < model->nbody; b++) {
        if (model->body[b].carrier != b) continue;
        close_to(m->v[b], after.v[b], 3, tolerance);
        close_to(m->w[b], after.w[b], 3, tolerance);
    }
    for (int k = 0; k < model->nv; k++) scale = fmax(scale, fabs(after.qd[k]));
    close_to(m->qd, after.qd, model->nv, tolerance * (1 + scale));
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged) close_to(m->reaction[j], after.reaction[j], 6, 10 * tolerance);
    lwi_arena_free(&arena);
    lw_sim_destroy(sim);
    lwi_work_destroy(work);
}

static void the_dense_equations_agree_on_a_four_bar(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(FOUR_BAR);
    const lw_impulse_desc f[2] = {on_body((lw_body){2}, (lw_vec3){0.1, 0.2, 0.3},
                                          (lw_vec3){2, 1, 0.5}, (lw_vec3){0.1, 0.2, 0.3}),
                                  {.on_joint = true, .joint = {2}, .effort = 1.5}};
    compare_routes(model, 2, f, 1e-12);
    lw_model_destroy(model);
}

// A platform on six legs of a universal joint, a slider and a ball; each slider has a motor.
static lw_model *stewart(void)
{
    char text[8192];
    size_t at = 0;
#define ADD(...) at += (size_t)snprintf(text + at, sizeof text - at, __VA_ARGS__)
    ADD("linkwork: 1\nbodies:\n  top: {mass: 20, inertia: [1, 1.2, 2, 0.1, 0, 0], "
        "position: [0.05, -0.03, 1]}\n");
    for (int i = 0; i < 6; i++) {
        const double a = 1.0471975511965976 * i, b = a + (i % 2 ? -0.35 : 0.35);
        const double p[3] = {cos(a), sin(a), 0}, q[3] = {0.5 * cos(b) + 0.05, 0.5 * sin(b), 1};
        ADD("  low%d: {mass: 1, inertia: [0.1, 0.1, 0.02, 0, 0, 0], position: [%.17g, %.17g, "
            "%.17g]}\n",
            i, p[0] + 0.2 * (q[0] - p[0]), p[1] + 0.2 * (q[1] - p[1]), 0.2);
        ADD("  high%d: {mass: 0.8, inertia: [0.08, 0.08, 0.01, 0, 0, 0], position: [%.17g, "
            "%.17g, %.17g]}\n",
            i, p[0] + 0.7 * (q[0] - p[0]), p[1] + 0.7 * (q[1] - p[1]), 0.7);
    }
    ADD("joints:\n");
    for (int i = 0; i < 6; i++) {
        const double a = 1.0471975511965976 * i, b = a + (i % 2 ? -0.35 : 0.35);
        const double p[3] = {cos(a), sin(a), 0}, q[3] = {0.5 * cos(b) + 0.05, 0.5 * sin(b), 1};
        ADD("  u%d: {type: universal, between: [ground, low%d], at: [%.17g, %.17g, 0], axis: [1, "
            "0, 0], axis2: [0, 1, 0]}\n",
            i, i, p[0], p[1]);
        ADD("  p%d: {type: prismatic, between: [low%d, high%d], at: [%.17g, %.17g, 0], axis: "
            "[%.17g, %.17g, 1], rotor: {q0: 0.3}, qd: [0.1]}\n",
            i, i, i, p[0], p[1], q[0] - p[0], q[1] - p[1]);
        ADD("  s%d: {type: spherical, between: [high%d, top], at: [%.17g, %.17g, 1]}\n", i, i, q[0],
            q[1]);
    }
#undef ADD
    assert_true(at < sizeof text);
    return lwt_yaml(text);
}

static void the_dense_equations_agree_on_a_stewart_platform(void **unused)
{
    (void)unused;
    lw_model *model = stewart();
    const lw_impulse_desc f[3] = {
        on_body((lw_body){1}, (lw_vec3){0.1, 0.2, 0.05}, (lw_vec3){3, -2, 10},
                (lw_vec3){0.5, 0, 1}),
        {.body = {3}, .point = {0.1, 0, 0}, .impulse = {0.3, 0.2, 0.1}, .body_axes = true},
        {.on_joint = true, .joint = {4}, .effort = 2}};
    compare_routes(model, 3, f, 1e-12);
    // all formulations, by their own states
    double qd[64] = {0};
    for (int k = 2; k < (int)LWI_COUNT(formulations); k++) {
        lw_sim *sim = simulate(model, formulations[k]);
        const lw_impact *impact;
        apply(sim, 3, f, &impact);
        assert_true(fabs(impact->kinetic_after - impact->kinetic_before - impact->work) < 1e-12);
        const lw_observation *o = observe(sim);
        if (k == 2) memcpy(qd, o->qd, (size_t)model->nv * sizeof *qd);
        close_to(o->qd, qd, model->nv, 1e-12);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// Bodies without mass, and the fixed joint of a merged body balances what acts on it.
static void bodies_without_mass_are_struck_too(void **unused)
{
    (void)unused;
    lw_model *model =
        lwt_yaml("linkwork: 1\n"
                 "bodies:\n"
                 "  fork: {mass: 0}\n"
                 "  bob: {mass: 2, inertia: [0.1, 0.1, 0.1, 0, 0, 0], position: [1, 0, 0]}\n"
                 "  tip: {mass: 0, position: [1.5, 0, 0]}\n"
                 "joints:\n"
                 "  a: {type: revolute, between: [ground, fork], at: [0, 0, 0], axis: [0, 0, 1]}\n"
                 "  b: {type: revolute, between: [fork, bob], at: [0, 0, 0], axis: [0, 1, 0]}\n"
                 "  c: {type: fixed, between: [bob, tip], at: [1.5, 0, 0]}\n");
    const lw_impulse_desc f =
        on_body((lw_body){3}, (lw_vec3){0}, (lw_vec3){0, 4, -2}, (lw_vec3){0.5, 0, 0});
    const double rate[2] = {1.5 * 4 / 2.1, 1.5 * 2 / 2.1}, held[6] = {0, -4, 2, -0.5, 0, 0};
    static const char *const able[] = {"aba",      "momenta", "dense", "rcr",
                                       "lagrange", "dca",     "hdca",  "index3"};
    for (int k = 0; k < (int)LWI_COUNT(able); k++) {
        lw_sim *sim = simulate(model, able[k]);
        const lw_impact *impact;
        apply(sim, 1, &f, &impact);
        close_to(observe(sim)->qd, rate, 2, 1e-12);
        close_to(impact->reaction[2], held, 6, 1e-12);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// ------------------------------------------------------------------------------------- in a run

typedef struct rows {
    int n, before, after;
    double time[64], rate[64], kinetic[64], work[64];
} rows;

static lw_status take_row(void *user, const lw_observation *o)
{
    rows *r = user;
    assert_true(r->n < 64);
    r->before += o->impact == LW_IMPACT_BEFORE;
    r->after += o->impact == LW_IMPACT_AFTER;
    r->time[r->n] = o->time;
    r->kinetic[r->n] = o->kinetic;
    r->work[r->n] = o->work;
    r->rate[r->n++] = o->qd[0];
    return LW_OK;
}

#define STRIKES                                                                                    \
    "impulses:\n"                                                                                  \
    "  one: {time: 0.5, body: coupler, impulse: [-2, 0, 0]}\n"                                     \
    "  two: {time: 0.5, joint: a, coordinate: q0, effort: 0.3}\n"                                  \
    "  late: {time: 0.7, body: rocker, at: [1.2, 0.9, 0], impulse: [-1, 0, 0]}\n"                  \
    "  never: {time: 5, body: rocker, impulse: [-1, 0, 0]}\n"

// Two rows at each time, with every integrator; the audit closes.
static void a_run_has_rows_before_and_after_its_impulses(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(FOUR_BAR STRIKES);
    double last = 0;
    for (int k = 0; k < lw_integrator_count(); k++) {
        const char *name = lw_integrator_info(k).name;
        const bool rattle = !strcmp(name, "rattle"), own = rattle || !strcmp(name, "index3"),
                   fixed = own || !strcmp(name, "rk4");
        if (!strcmp(name, "gauss")) continue; // for trees
        lw_sim *sim =
            rattle ? lwt_simulate(model, LWT_SETTINGS("formulation", "rattle", "step", "1e-3",
                                                      "sample", "0.25", "duration", "1"))
                   : lwt_simulate(model, LWT_SETTINGS("formulation", own ? "index3" : "hdca",
                                                      "integrator", name, "rtol", "1e-10", "atol",
                                                      "1e-10", "step", fixed ? "1e-3" : "0",
                                                      "sample", "0.25", "duration", "1"));
        rows r = {0};
        lw_summary summary;
        if (lw_sim_run(sim, LW_OBSERVE_ENERGY, take_row, &r, NULL, NULL) != LW_OK)
            fail_msg("%s: %s", name, sim->error.text);
        const double times[] = {0, 0.25, 0.5, 0.5, 0.7, 0.7, 0.75, 1};
        assert_int_equal(r.n, 8);
        close_to(r.time, times, 8, 0);
        assert_true(r.before == 2 && r.after == 2);
        assert_true(fabs(r.kinetic[3] - r.kinetic[2] - (r.work[3] - r.work[2])) < 1e-9);
        lw_sim_summary(sim, &summary);
        assert_int_equal(summary.impulses, 2);
        if (!(summary.energy_error < (own ? 1e-2 : 1e-6)))
            fail_msg("%s: energy off by %g J", name, summary.energy_error);
        assert_true(fabs(summary.impulse_work - r.work[7]) < 1e-12);
        if (k == 0) last = r.rate[7];
        if (fabs(r.rate[7] - last) > (own ? 1e-2 : 2e-6))
            fail_msg("%s: %.17g, expected %.17g", name, r.rate[7], last);
        lw_sim_destroy(sim);
    }
    lw_model_destroy(model);
}

// What an instance shows is what a single run shows, bit for bit.
static void shows_the_same(lw_sim *sim, lw_batch *batch, int i)
{
    const lw_model *model = sim->model;
    const lw_observation *a = observe(sim), *b;
    double x[64], y[64];
    assert_int_equal(lw_batch_observe(batch, i, LW_OBSERVE_REACTION, &b), LW_OK);
    if (a->impact != b->impact || a->time != b->time ||
        memcmp(a->qd, b->qd, (size_t)model->nv * sizeof *a->qd) != 0 ||
        memcmp(a->reaction, b->reaction, (size_t)model->njoint * sizeof *a->reaction) != 0)
        fail_msg("instance %d differs at %g s: impact %d, %d", i, a->time, a->impact, b->impact);
    if (a->impact && memcmp(a->impulse, b->impulse, (size_t)model->njoint * sizeof *a->impulse))
        fail_msg("instance %d has other impulses at %g s", i, a->time);
    lw_sim_get_state(sim, NULL, x);
    lw_batch_get_state(batch, i, NULL, y);
    if (memcmp(x, y, (size_t)lw_sim_state_size(sim) * sizeof *x))
        fail_msg("instance %d has another state at %g s", i, a->time);
}

static lw_batch *batch_of(lw_sim *sim, int instances, int threads, int lanes)
{
    const lw_batch_desc desc = {
        .options = lw_sim_options(sim), .instances = instances, .threads = threads, .lanes = lanes};
    lw_batch *batch;
    lw_error error;
    if (lw_batch_create(sim->model, &desc, &batch, &error) != LW_OK) fail_msg("%s", error.text);
    return batch;
}

// The impulses of the model at their times.
static void batches_have_the_impulses_of_single_runs(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(FOUR_BAR STRIKES);
    lw_sim *sim = lwt_simulate(
        model, LWT_SETTINGS("formulation", "hdca", "integrator", "dopri54", "project", "never"));
    lw_batch *batch = batch_of(sim, 3, 2, 0);
    const double times[] = {0.25, 0.5, 0.6, 0.7, 1};
    for (int k = 0; k < (int)LWI_COUNT(times); k++) {
        assert_int_equal(lw_sim_step(sim, times[k]), LW_OK);
        assert_int_equal(lw_batch_step(batch, times[k]), LW_OK);
        for (int i = 0; i < 3; i++) shows_the_same(sim, batch, i);
        for (int i = 2; i >= 0; i--) shows_the_same(sim, batch, i); // a second time
    }
    lw_summary summary;
    lw_batch_summary(batch, 2, &summary);
    assert_int_equal(summary.impulses, 2);
    lw_batch_destroy(batch);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Instance i is struck i times at 0.1 s, by other impulses than the others, and not at 0.2 s unless i % 2 is 1.
static void strike_instance(lw_sim *sim, lw_batch *batch, int i, double t)
{
    const lw_model *model = sim->model;
    const lw_body last = {model->nbody - 1};
    const int times = t < 0.15 ? i : i % 2;
    for (int k = 0; k < times; k++) {
        const lw_impulse_desc f[2] = {on_body(last, (lw_vec3){0.1, 0.1 * k, 0},
                                              (lw_vec3){0.2 * i, -0.3, 0},
                                              (lw_vec3){.z = 0.02 * (k + 1)}),
                                      {.on_joint = true, .joint = {1}, .effort = 0.05 * (i + 1)}};
        const lw_impact *one, *other;
        apply(sim, 2, f, &one);
        if (lw_batch_apply_impulse(batch, i, 2, f, &other) != LW_OK)
            fail_msg("%s", lw_batch_error(batch)->text);
        assert_true(one->time == other->time && one->work == other->work &&
                    one->kinetic_before == other->kinetic_before &&
                    one->kinetic_after == other->kinetic_after);
        assert_memory_equal(one->reaction, other->reaction,
                            (size_t)model->njoint * sizeof *one->reaction);
    }
}

static void compare_instances(const lw_model *model, const char *formulation,
                              const char *integrator, int threads, int lanes)
{
    enum { INSTANCES = 5 };
    lw_sim *sim[INSTANCES];
    for (int i = 0; i < INSTANCES; i++)
        sim[i] =
            lwt_simulate(model, LWT_SETTINGS("formulation", formulation, "integrator", integrator,
                                             "step", strcmp(integrator, "rk4") ? "0" : "1e-2"));
    lw_batch *batch = batch_of(sim[0], INSTANCES, threads, lanes);
    for (int k = 1; k <= 3; k++) {
        const double t = 0.1 * k;
        assert_int_equal(lw_batch_step(batch, t), LW_OK);
        for (int i = 0; i < INSTANCES; i++) {
            assert_int_equal(lw_sim_step(sim[i], t), LW_OK);
            strike_instance(sim[i], batch, i, t);
        }
        for (int i = 0; i < INSTANCES; i++) shows_the_same(sim[i], batch, i);
    }
    for (int i = 0; i < INSTANCES; i++) {
        lw_summary one, other;
        lw_sim_summary(sim[i], &one);
        lw_batch_summary(batch, i, &other);
        assert_true(one.impulses == other.impulses && one.impulse_work == other.impulse_work &&
                    one.steps == other.steps && one.restarts == other.restarts &&
                    one.energy_error == other.energy_error);
        lw_sim_destroy(sim[i]);
    }
    lw_batch_destroy(batch);
}

static void instances_are_struck_like_single_runs(void **unused)
{
    (void)unused;
    lw_model *pendulum = lwt_yaml(PENDULUM), *four_bar = lwt_yaml(FOUR_BAR);
    static const char *const trees[] = {"aba", "momenta", "hdca"};
    for (int k = 0; k < (int)LWI_COUNT(trees); k++)
        for (int lanes = 1; lanes <= 8; lanes += 7) {
            compare_instances(pendulum, trees[k], "dopri54", 2, lanes);
            compare_instances(pendulum, trees[k], "rk4", 1, lanes);
        }
    static const char *const loops[] = {"dense", "dca", "hdca", "lagrange", "rcr"};
    for (int k = 0; k < (int)LWI_COUNT(loops); k++)
        compare_instances(four_bar, loops[k], k % 2 ? "rk4" : "dopri54", 2, 0);
    lw_model_destroy(four_bar);
    lw_model_destroy(pendulum);
}

// Another state, also at the same time, is not the one after an impact; neither is a later one.
static void an_impact_ends_with_its_state(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(PENDULUM);
    lw_sim *sim = lwt_simulate(model, LWT_SETTINGS("formulation", "aba", "integrator", "dopri54"));
    lw_batch *batch = batch_of(sim, 2, 1, 0);
    const lw_impulse_desc f = on_body((lw_body){1}, (lw_vec3){0}, (lw_vec3){.y = 2}, (lw_vec3){0});
    const lw_observation *o;
    double x[16];
    lw_batch_get_state(batch, 0, NULL, x);
    assert_int_equal(lw_batch_apply_impulse(batch, 0, 1, &f, NULL), LW_OK);
    assert_int_equal(lw_batch_observe(batch, 1, LW_OBSERVE_REACTION, &o), LW_OK);
    assert_int_equal(o->impact, LW_IMPACT_NONE);
    assert_null(o->impulse); // also where another instance is struck
    assert_int_equal(lw_batch_observe(batch, 0, LW_OBSERVE_REACTION, &o), LW_OK);
    assert_int_equal(o->impact, LW_IMPACT_AFTER);
    assert_true(o->impulse[0][1] != 0);
    assert_int_equal(lw_batch_set_state(batch, 0, 0, x), LW_OK);
    assert_int_equal(lw_batch_observe(batch, 0, LW_OBSERVE_REACTION, &o), LW_OK);
    assert_int_equal(o->impact, LW_IMPACT_NONE);
    assert_null(o->impulse);
    assert_int_equal(lw_batch_apply_impulse(batch, 0, 1, &f, NULL), LW_OK);
    assert_int_equal(lw_batch_step(batch, 0.1), LW_OK);
    assert_int_equal(lw_batch_observe(batch, 0, LW_OBSERVE_REACTION, &o), LW_OK);
    assert_int_equal(o->impact, LW_IMPACT_NONE);
    lw_batch_destroy(batch);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// -------------------------------------------------------------------------------------- refusals

static void refuses(const char *item, const char *expected)
{
    char text[4096];
    lw_model *model;
    lw_error error;
    const lw_read_desc yaml = {.format = "yaml"};
    snprintf(text, sizeof text, "%simpulses:\n  hit: %s\n", PENDULUM, item);
    assert_true(lw_model_parse(text, strlen(text), "m.yaml", &yaml, &model, NULL, &error) != LW_OK);
    if (!strstr(error.text, expected)) fail_msg("'%s', expected '%s'", error.text, expected);
    assert_int_equal(error.line, 10);
}

static void bad_impulses_are_refused_with_the_reason(void **unused)
{
    (void)unused;
    refuses("{time: 0, body: rod1, impulse: [1, 0, 0]}", "impulse 'hit': time is 0, expected");
    refuses("{time: 1, impulse: [1, 0, 0]}", "expected `body` or `joint`");
    refuses("{time: 1, body: ground, impulse: [1, 0, 0]}", "acts on the ground");
    refuses("{time: 1, body: rod3}", "there is no body 'rod3'");
    refuses("{time: 1, joint: j1, coordinate: q1, effort: 1}",
            "coordinate is q1; joint 'j1' has 1");
    refuses("{time: 1, joint: j1, impulse: [1, 0, 0]}", "expected `effort` alone");
    refuses("{time: 1, body: rod1, effort: 1}", "effort is 1, but it acts on body 'rod1'");
    refuses("{body: rod1}", "time");

    lw_model *model = lwt_yaml(PENDULUM);
    lw_sim *sim = simulate(model, "aba");
    lw_impulse_desc f = on_body((lw_body){1}, (lw_vec3){0}, (lw_vec3){NAN, 0, 0}, (lw_vec3){0});
    double x[8], y[8];
    lw_sim_get_state(sim, NULL, x);
    assert_int_equal(lw_sim_apply_impulse(sim, 1, &f, NULL), LW_ERR_MODEL);
    f.body.index = 9;
    assert_int_equal(lw_sim_apply_impulse(sim, 1, &f, NULL), LW_ERR_MODEL);
    assert_int_equal(lw_sim_apply_impulse(sim, 1, NULL, NULL), LW_ERR_ARGUMENT);
    lw_sim_get_state(sim, NULL, y);
    assert_memory_equal(x, y, (size_t)lw_sim_state_size(sim) * sizeof *x);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// Instances that have failed or that are not there, and impulses that are none; nothing changes.
static void bad_impulses_on_instances_are_refused(void **unused)
{
    (void)unused;
    lw_model *model = lwt_yaml(PENDULUM);
    lw_sim *sim = lwt_simulate(
        model, LWT_SETTINGS("formulation", "aba", "integrator", "dopri54", "max_steps", "3"));
    lw_batch *batch = batch_of(sim, 2, 1, 0);
    lw_impulse_desc f = on_body((lw_body){9}, (lw_vec3){0}, (lw_vec3){.y = 1}, (lw_vec3){0});
    double x[16], y[16];
    assert_int_equal(lw_batch_apply_impulse(NULL, 0, 1, &f, NULL), LW_ERR_ARGUMENT);
    assert_int_equal(lw_batch_apply_impulse(batch, 2, 1, &f, NULL), LW_ERR_ARGUMENT);
    lw_batch_get_state(batch, 1, NULL, x);
    assert_int_equal(lw_batch_apply_impulse(batch, 1, 1, &f, NULL), LW_ERR_MODEL);
    assert_non_null(strstr(lw_batch_error(batch)->text, "instance 1: "));
    f.body.index = 1;
    assert_true(lw_batch_step(batch, 5) != LW_OK); // three steps do not reach it
    double t;
    lw_batch_get_state(batch, 1, &t, y);
    assert_int_equal(lw_batch_apply_impulse(batch, 1, 1, &f, NULL), LW_ERR_ARGUMENT);
    assert_non_null(strstr(lw_batch_error(batch)->text, "instance 1: it has failed"));
    double z[16];
    lw_batch_get_state(batch, 1, NULL, z);
    assert_memory_equal(y, z, (size_t)lw_sim_state_size(sim) * sizeof *y);
    assert_int_equal(lw_batch_set_state(batch, 1, 0, x), LW_OK);
    assert_int_equal(lw_batch_apply_impulse(batch, 1, 1, &f, NULL), LW_OK);
    lw_batch_destroy(batch);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_struck_double_pendulum_has_the_rates_of_its_mass_matrix),
        cmocka_unit_test(an_impulse_on_a_coordinate_is_an_opposite_pair),
        cmocka_unit_test(a_struck_four_bar_has_the_rate_of_its_reduced_inertia),
        cmocka_unit_test(a_rate_that_jumps_is_an_impact),
        cmocka_unit_test(the_dense_equations_agree_on_a_four_bar),
        cmocka_unit_test(the_dense_equations_agree_on_a_stewart_platform),
        cmocka_unit_test(bodies_without_mass_are_struck_too),
        cmocka_unit_test(a_run_has_rows_before_and_after_its_impulses),
        cmocka_unit_test(batches_have_the_impulses_of_single_runs),
        cmocka_unit_test(instances_are_struck_like_single_runs),
        cmocka_unit_test(an_impact_ends_with_its_state),
        cmocka_unit_test(bad_impulses_are_refused_with_the_reason),
        cmocka_unit_test(bad_impulses_on_instances_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
