// test_rates.c -- the rates of all states of a run, in generated code, are those of the library.
#include "element_models.h"
#include "generated.h"

#include "support/given.h"
#include "support/random_loops.h"

enum { MOST = 96, LANES = 4, NSTATES = 4 };

// As the generated headers declare them.
typedef struct generated {
    int version, nq, nv, nx, nu;
    const double *q0, *v0, *x0;
    int (*rates)(double, const double *, const double *, const double *, const double *, double *,
                 double *, double *);
    int (*project)(double, double *, double *);
} generated;

typedef struct generated_lanes {
    int version, lanes;
    int (*rates)(const double *, const double *, const double *, const double *, const double *,
                 double *, double *, double *);
    int (*project)(const double *, double *, double *);
} generated_lanes;

typedef struct state {
    double t, q[MOST], v[MOST], x[MOST], u[MOST];
} state;

typedef struct code {
    const char *name;
    const lw_model *model;
    lw_sim *sim; ///< of rcr with speeds: x = (tree q, tree v, ..., states of signals)
    const generated *one;
    const generated_lanes *wide; ///< NULL: none
} code;

static void open_code(code *c, const lw_model *model, void *library, const char *name, bool lanes)
{
    double q[MOST], v[MOST];
    *c = (code){.name = name, .model = model};
    c->sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr"));
    find(library, name, "model", &c->one);
    if (lanes) find(library, name, "lanes_model", &c->wide);
    lw_model_tree_start(model, q, v);
    assert_int_equal(1, c->one->version);
    assert_int_equal(lw_model_tree_nq(model), c->one->nq);
    assert_int_equal(lw_model_tree_nv(model), c->one->nv);
    assert_int_equal(lw_model_signal_states(model), c->one->nx);
    assert_int_equal(lw_model_input_count(model), c->one->nu);
    assert_true(c->one->nq < MOST && c->one->nx < MOST && c->one->nu < MOST);
    for (int i = 0; i < c->one->nq; i++) assert_true(q[i] == c->one->q0[i]);
    for (int i = 0; i < c->one->nv; i++) assert_true(v[i] == c->one->v0[i]);
    assert_true((c->one->x0 != NULL) == (c->one->nx > 0));
    if (!lanes) return;
    assert_int_equal(1, c->wide->version);
    assert_int_equal(LANES, c->wide->lanes);
}

static void random_state(const code *c, uint64_t *seed, double spread, state *s)
{
    memset(s, 0, sizeof *s);
    lw_model_tree_start(c->model, s->q, s->v);
    if (spread > 0) s->t = lwt_random(seed, 0, 2);
    for (int i = 0; i < c->one->nq; i++) s->q[i] += spread * lwt_random(seed, -1, 1);
    for (int i = 0; i < c->one->nv; i++) s->v[i] += 10 * spread * lwt_random(seed, -1, 1);
    for (int i = 0; i < c->one->nu; i++) s->u[i] = lwt_random(seed, -2, 2);
    for (int i = 0; i < c->one->nx; i++)
        s->x[i] = c->one->x0[i] + (0.01 + 10 * spread) * lwt_random(seed, -1, 1);
}

// Where the states of signals are in the state of the simulation.
static int find_states(const double *x, int size, const double *states, int n)
{
    for (int i = size - n; i >= 0; i--)
        if (memcmp(x + i, states, (size_t)n * sizeof *x) == 0) return i;
    fail_msg("the states of signals are not in the state");
    return -1;
}

// The rates of one state are those of the library.  false: the library cannot take the state.
static bool check_library(const code *c, const state *s, double tolerance)
{
    static double x[8 * MOST], rates[8 * MOST];
    const int nq = c->one->nq, nv = c->one->nv, nx = c->one->nx;
    double qdot[MOST], vdot[MOST], xdot[MOST];
    const lw_observation *seen;
    for (int i = 0; i < c->one->nu; i++) OK(lw_sim_set_input(c->sim, i, s->u[i]));
    if (lw_sim_set_tree(c->sim, s->t, s->q, s->v) != LW_OK) return false;
    OK(lw_sim_observe(c->sim, LW_OBSERVE_TWIST, &seen));
    lw_observation motion = *seen;
    motion.states = s->x;
    OK(lw_sim_set_motion(c->sim, &motion));
    const int size = lw_sim_state_size(c->sim);
    assert_true(size < 8 * MOST);
    lw_sim_get_state(c->sim, NULL, x);
    if (lw_sim_rates(c->sim, rates) != LW_OK) return false;
    if (c->one->rates(s->t, x, x + nq, s->x, s->u, qdot, vdot, xdot) != 0) return false;
    expect_close(c->name, "rate of coordinate", qdot, rates, nq, tolerance);
    expect_close(c->name, "acceleration", vdot, rates + nq, nv, tolerance);
    if (nx > 0)
        expect_close(c->name, "rate of a state", xdot, rates + find_states(x, size, s->x, nx), nx,
                     tolerance);
    return true;
}

// Lanes side by side.
static void pack(const state *s, size_t offset, int n, double *packed)
{
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < n; i++)
            packed[i * LANES + l] = ((const double *)((const char *)&s[l] + offset))[i];
}

static void same_bits(const code *c, const char *what, int lane, int n, const double *one,
                      const double *packed)
{
    for (int i = 0; i < n; i++)
        if (memcmp(&one[i], &packed[i * LANES + lane], sizeof *one) != 0)
            fail_msg("%s: %s %d of lane %d: %.17g, alone %.17g", c->name, what, i, lane,
                     packed[i * LANES + lane], one[i]);
}

static void check_lanes(const code *c, const state *s)
{
    static double t[LANES], q[MOST * LANES], v[MOST * LANES], x[MOST * LANES], u[MOST * LANES];
    static double qdot[MOST * LANES], vdot[MOST * LANES], xdot[MOST * LANES];
    pack(s, offsetof(state, t), 1, t);
    pack(s, offsetof(state, q), c->one->nq, q);
    pack(s, offsetof(state, v), c->one->nv, v);
    pack(s, offsetof(state, x), c->one->nx, x);
    pack(s, offsetof(state, u), c->one->nu, u);
    const int open = c->wide->project(t, q, v);
    const int failed = c->wide->rates(t, q, v, x, u, qdot, vdot, xdot);
    for (int l = 0; l < LANES; l++) {
        state own = s[l];
        double one[3][MOST];
        assert_int_equal(open >> l & 1, c->one->project(own.t, own.q, own.v) != 0);
        if (open >> l & 1) continue;
        same_bits(c, "coordinate", l, c->one->nq, own.q, q);
        same_bits(c, "speed", l, c->one->nv, own.v, v);
        const int alone = c->one->rates(own.t, own.q, own.v, own.x, own.u, one[0], one[1], one[2]);
        assert_int_equal(failed >> l & 1, alone != 0);
        if (alone) continue;
        same_bits(c, "rate of coordinate", l, c->one->nq, one[0], qdot);
        same_bits(c, "acceleration", l, c->one->nv, one[1], vdot);
        same_bits(c, "rate of state", l, c->one->nx, one[2], xdot);
    }
}

// How many states were compared.
static int check(const lw_model *model, void *library, const char *name, bool lanes, double spread,
                 double tolerance)
{
    code c;
    state s[NSTATES];
    uint64_t seed = 17;
    int used = 0;
    open_code(&c, model, library, name, lanes);
    for (int i = 0; i < NSTATES; i++) random_state(&c, &seed, i == 0 ? 0 : spread, &s[i]);
    if (lanes) check_lanes(&c, s);
    for (int i = 0; i < NSTATES; i++)
        used += c.one->project(s[i].t, s[i].q, s[i].v) == 0 && check_library(&c, &s[i], tolerance);
    lw_sim_destroy(c.sim);
    return used;
}

// --------------------------------------------------------------------------------- models of files

static void models_agree(void **unused)
{
    (void)unused;
    skip_without_compiler();
    static const source cases[] = {
        {"examples/models/ur5.urdf", "floating", LW_BASE_FLOATING},
        {"examples/models/wishbone_axle.yaml", "axle", LW_BASE_AUTO},
        {"examples/models/kapitza.yaml", "kapitza", LW_BASE_AUTO},
        {"examples/models/crane.yaml", "crane", LW_BASE_AUTO},
        {"examples/models/cart_arm.yaml", "cart_arm", LW_BASE_AUTO},
        {"examples/stewart/stewart.yaml", "stewart", LW_BASE_AUTO},
        {"examples/delta/delta.yaml", "delta", LW_BASE_AUTO},
        {"examples/suspension/quarter_car.yaml", "quarter_car", LW_BASE_AUTO},
        {"examples/signals/cylinder.yaml", "cylinder", LW_BASE_AUTO},
        {"examples/signals/suspension.yaml", "suspension", LW_BASE_AUTO},
        {"examples/hil/linkage.yaml", "hil_linkage", LW_BASE_AUTO},
        {"examples/design/linkage.yaml", "linkage", LW_BASE_AUTO},
        {"examples/design/platform.yaml", "platform", LW_BASE_AUTO},
        {"examples/design/swingup.yaml", "swingup", LW_BASE_AUTO},
        {"examples/controllers/arm.yaml", "arm", LW_BASE_AUTO},
    };
    enum { N = sizeof cases / sizeof *cases };
    lw_model *model[N];
    void *library = compile_models("models", N, cases, model);
    for (int i = 0; i < N; i++) {
        const int used = check(model[i], library, cases[i].name, false, 0.05, 1e-11);
        if (used < NSTATES - 1) fail_msg("%s: only %d states were compared", cases[i].name, used);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// ---------------------------------------------------------------------------------------- elements

// Compiling lanes takes long: of elements with selections and functions of libm, and of rows that depend on time.
static bool in_lanes(const char *name)
{
    static const char *const wide[] = {"bushing", "stop",   "servo",    "limits",
                                       "curves",  "states", "formulas", "loop_turn"};
    bool found = false;
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) found |= !strcmp(name, wide[i]);
    return found;
}

static void elements_agree(void **unused)
{
    (void)unused;
    skip_without_compiler();
    lw_model *model[ELEMENTS];
    for (int i = 0; i < ELEMENTS; i++) {
        const element *e = &elements[i];
        char name[40];
        model[i] = element_model(e);
        snprintf(name, sizeof name, "m_%s", e->name);
        write_lanes(model[i], "elements", name, in_lanes(e->name) ? LANES : 0);
    }
    void *library = compile("elements");
    for (int i = 0; i < ELEMENTS; i++) {
        char name[40];
        snprintf(name, sizeof name, "m_%s", elements[i].name);
        const bool lanes = in_lanes(elements[i].name);
        const int used = check(model[i], library, name, lanes, 0.1, 1e-11);
        check(model[i], library, name, false, 0.005, 1e-11); // series for small angles
        if (used < NSTATES - 1) fail_msg("%s: only %d states were compared", name, used);
        lw_model_destroy(model[i]);
    }
    dlclose(library);
}

// ----------------------------------------------------------------------------------- random models

enum { COUNT = 16 };

// Mixtures of everything: joints, drives, mounts, forces, signals, an input, loops.
static void random_models_agree(void **unused)
{
    (void)unused;
    skip_without_compiler();
    enum {
        FLAGS = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING | LWT_DRIVES |
                LWT_MOUNTS | LWT_FORCES
    };
    lw_model *model[COUNT];
    char name[COUNT][24];
    int n = 0, refused = 0, used = 0;
    for (uint64_t seed = 1; n < COUNT && seed < 400; seed++) {
        lw_error error = {0};
        if (seed % 2)
            OK(lwt_random_tree(seed, 2 + (int)(seed % 7), FLAGS, &model[n]));
        else
            model[n] = lwt_loops_create(seed, 4 + (int)(seed % 7),
                                        FLAGS | LWT_DISTANCE | LWT_COUPLINGS | LWT_REDUNDANT)
                           .model;
        snprintf(name[n], sizeof name[n], "random%d", (int)seed);
        const lw_codegen_desc desc = {.name = name[n], .lanes = seed % 9 ? 0 : LANES};
        if (try_code(model[n], "random", &desc, &error)) {
            assert_true(lw_model_tree_nq(model[n]) < MOST);
            n++;
            continue;
        }
        if (getenv("LWT_SEEDS")) printf("seed %d: %s\n", (int)seed, error.text);
        refused++;
        lw_model_destroy(model[n]);
    }
    assert_int_equal(COUNT, n);
    void *library = compile("random");
    for (int i = 0; i < n; i++) {
        const bool lanes = atoi(name[i] + strlen("random")) % 9 == 0;
        const int here = check(model[i], library, name[i], lanes, 0.02, 1e-11);
        if (getenv("LWT_SEEDS")) printf("%s: %d states\n", name[i], here);
        used += here;
        lw_model_destroy(model[i]);
    }
    assert_true(refused < 2 * COUNT);
    assert_true(used > 3 * COUNT);
    dlclose(library);
}

// ------------------------------------------------------------------------------------------- runs

enum { STATES = 3 * MOST };

static void slope(const generated *g, double t, const double *x, double *xdot)
{
    static const double u[MOST];
    assert_int_equal(0, g->rates(t, x, x + g->nq, x + g->nq + g->nv, u, xdot, xdot + g->nq,
                                 xdot + g->nq + g->nv));
}

// The classical Runge-Kutta method, with the loops closed after every step.
static void step(const generated *g, double t, double h, double *x)
{
    double k[4][STATES] = {{0}}, y[STATES];
    const int n = g->nq + g->nv + g->nx;
    slope(g, t, x, k[0]);
    for (int stage = 1; stage < 4; stage++) {
        const double ahead = stage < 3 ? h / 2 : h;
        for (int i = 0; i < n; i++) y[i] = x[i] + ahead * k[stage - 1][i];
        slope(g, t + ahead, y, k[stage]);
    }
    for (int i = 0; i < n; i++) x[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    assert_int_equal(0, g->project(t + h, x, x + g->nq));
}

static void run_beside_library(const char *file, const char *name, double duration)
{
    enum { STEPS = 2000 };
    const double tolerance = 1e-9;
    const source from = {file, name, LW_BASE_AUTO};
    lw_model *model;
    void *library = compile_models(name, 1, &from, &model);
    const generated *g;
    double x[STATES], q[MOST], v[MOST];
    const lw_observation *seen;
    find(library, name, "model", &g);
    memcpy(x, g->q0, (size_t)g->nq * sizeof *x);
    memcpy(x + g->nq, g->v0, (size_t)g->nv * sizeof *x);
    if (g->nx > 0) memcpy(x + g->nq + g->nv, g->x0, (size_t)g->nx * sizeof *x);
    assert_int_equal(0, g->project(0, x, x + g->nq));
    lw_sim *sim =
        lwt_simulate(model, LWT_SETTINGS("formulation", "rcr", "rtol", "1e-12", "atol", "1e-12"));
    OK(lw_sim_set_tree(sim, 0, x, x + g->nq)); // runs keep how far the loops of the file are open
    for (int i = 0; i < STEPS; i++) step(g, duration * i / STEPS, duration / STEPS, x);
    OK(lw_sim_step(sim, duration));
    OK(lw_sim_get_tree(sim, q, v));
    OK(lw_sim_observe(sim, LW_OBSERVE_TWIST, &seen));
    expect_close(name, "coordinate after a run", x, q, g->nq, tolerance);
    expect_close(name, "speed after a run", x + g->nq, v, g->nv, tolerance);
    expect_close(name, "state after a run", x + g->nq + g->nv, seen->states, g->nx, tolerance);
    if (!(largest(v, g->nv) > 0.01)) fail_msg("%s does not move", name);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    dlclose(library);
}

static void runs_agree(void **unused)
{
    (void)unused;
    skip_without_compiler();
    run_beside_library("examples/models/kapitza.yaml", "run_kapitza", 0.1);
    run_beside_library("examples/signals/cylinder.yaml", "run_cylinder", 0.05);
    run_beside_library("examples/stewart/stewart.yaml", "run_stewart", 0.3);
    run_beside_library("examples/delta/delta.yaml", "run_delta", 0.2);
    run_beside_library("examples/suspension/quarter_car.yaml", "run_quarter_car", 0.02);
    run_beside_library("examples/controllers/arm.yaml", "run_arm", 0.2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_agree),
        cmocka_unit_test(models_agree),
        cmocka_unit_test(elements_agree),
        cmocka_unit_test(random_models_agree),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
