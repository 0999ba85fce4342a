// test_compiled_work.c -- the work of forces and of prescribed motions: its rate by compiled code is that of the library.
#include "codegen/element_models.h"
#include "support/random_loops.h"

#include "compile.h"

#include "simulate/simulation.h"

enum { LANES = 4, SIZE = 4 * MOST };

typedef struct state {
    double t, x[SIZE], xdot[SIZE]; // rates by compiled code alone
} state;

typedef struct code {
    const char *name;
    const lw_model *model;
    lw_compiled *compiled;
    lw_sim *sim; // of rcr with speeds, with compiled rates
} code;

static void open_code(code *c, const lw_model *model, const char *name, const char *compiler)
{
    lw_compiled_desc desc = desc_of(LANES, true);
    desc.compiler = compiler;
    *c = (code){.name = name, .model = model, .compiled = compiled(model, desc)};
    c->sim = lwt_simulate(model, LWT_SETTINGS("formulation", "rcr"));
    for (int i = 0; i < lw_model_input_count(model); i++)
        OK(lw_sim_set_input(c->sim, i, 0.7 - 1.1 * i));
    OK(lw_sim_use_compiled(c->sim, c->compiled));
    assert_int_equal(model->carries_work, c->compiled->calls->works);
    assert_true(lw_sim_state_size(c->sim) < SIZE);
}

static void close_code(code *c)
{
    lw_sim_destroy(c->sim);
    lw_compiled_destroy(c->compiled);
}

// A state near the start.  false: its loops cannot be closed, or one of both cannot evaluate it.
static bool random_state(const code *c, uint64_t *seed, double spread, state *s, double *by_library)
{
    double q[MOST], v[MOST];
    lw_model_tree_start(c->model, q, v);
    s->t = lwt_random(seed, 0, 2);
    for (int i = 0; i < lw_model_tree_nq(c->model); i++) q[i] += spread * lwt_random(seed, -1, 1);
    for (int i = 0; i < lw_model_tree_nv(c->model); i++)
        v[i] += 10 * spread * lwt_random(seed, -1, 1);
    if (lw_compiled_project(c->compiled, s->t, q, v) != LW_OK) return false;
    if (lw_sim_set_tree(c->sim, s->t, q, v) != LW_OK) return false;
    lw_sim_get_state(c->sim, NULL, s->x);
    if (lw_sim_rates(c->sim, by_library) != LW_OK) return false;
    lwi_work *work = c->sim->work;
    return work->source.rates(work->source.user, work, s->t, s->x, c->sim->inputs, s->xdot);
}

// All lanes are done, with the bits of one state alone.
static void expect_lanes(const code *c, const state s[LANES])
{
    static double x[SIZE * LANES], xdot[SIZE * LANES];
    double t[LANES];
    const double *inputs[LANES];
    lwi_work *work = c->sim->work;
    const int n = work->layout.nx;
    for (int l = 0; l < LANES; l++) {
        t[l] = s[l].t;
        inputs[l] = c->sim->inputs;
        for (int i = 0; i < n; i++) x[i * LANES + l] = s[l].x[i];
    }
    const unsigned all = (1u << LANES) - 1;
    assert_int_equal(all, work->source.rates_in_lanes(work->source.user, work, LANES, t, x, inputs,
                                                      xdot, all, NULL));
    for (int l = 0; l < LANES; l++)
        for (int i = 0; i < n; i++)
            if (memcmp(&xdot[i * LANES + l], &s[l].xdot[i], sizeof *xdot) != 0)
                fail_msg("%s: rate %d of lane %d: %.17g, alone %.17g", c->name, i, l,
                         xdot[i * LANES + l], s[l].xdot[i]);
}

// Returns how many states were compared.
static int expect_work(const lw_model *model, const char *name, const char *compiler, double spread)
{
    code c;
    state s[LANES];
    uint64_t seed = 11;
    int n = 0;
    open_code(&c, model, name, compiler);
    for (int k = 0; k < 3 * LANES && n < LANES; k++) {
        double expected[SIZE];
        if (!random_state(&c, &seed, spread, &s[n], expected)) continue;
        expect_close(name, "rate", s[n].xdot, expected, c.sim->work->layout.nx, 1e-11);
        const int work = lw_model_tree_nq(model) + lw_model_tree_nv(model);
        if (model->carries_work)
            expect_close(name, "power", &s[n].xdot[work], &expected[work], 1, 1e-10);
        n++;
    }
    if (n == LANES) expect_lanes(&c, s);
    close_code(&c);
    return n;
}

// The statements have the same bits whether or not a compiler optimises them, and that takes long.
static void find_compiler(char path[300])
{
    write_compiler("plain", "set -- \"$@\" -O0", path);
}

static void each_force_and_motion_has_the_power_of_the_library(void **unused)
{
    (void)unused;
    char compiler[300];
    skip_without_compiler();
    new_cache("power");
    find_compiler(compiler);
    for (int i = 0; i < ELEMENTS; i++) {
        lw_model *model = element_model(&elements[i]);
        const int n = expect_work(model, elements[i].name, compiler, 0.1);
        if (n < LANES) fail_msg("%s: only %d states were compared", elements[i].name, n);
        lw_model_destroy(model);
    }
}

static void random_models_have_the_power_of_the_library(void **unused)
{
    (void)unused;
    enum {
        FLAGS = LWT_MULTI | LWT_QUASI | LWT_FIXED | LWT_REVERSED | LWT_FLOATING | LWT_DRIVES |
                LWT_MOUNTS | LWT_FORCES,
        COUNT = 8
    };
    char compiler[300], name[40];
    int used = 0, n = 0;
    skip_without_compiler();
    new_cache("random");
    find_compiler(compiler);
    for (uint64_t seed = 1; n < COUNT && seed < 100; seed++) {
        lw_model *model;
        lw_compiled_info info;
        const lw_compiled_desc desc = desc_of(LANES, true);
        if (seed % 2)
            OK(lwt_random_tree(seed, 2 + (int)(seed % 7), FLAGS, &model));
        else
            model = lwt_loops_create(seed, 4 + (int)(seed % 7),
                                     FLAGS | LWT_DISTANCE | LWT_COUPLINGS | LWT_REDUNDANT)
                        .model;
        snprintf(name, sizeof name, "random %d", (int)seed);
        if (model->carries_work && lw_compiled_predict(model, &desc, &info, NULL) == LW_OK)
            used += expect_work(model, name, compiler, 0.02), n++;
        lw_model_destroy(model);
    }
    assert_int_equal(COUNT, n);
    assert_true(used > 3 * COUNT);
}

// Letters of the rates of a chain of hinges, one of them with a prescribed motion; driven < 0: none.
static double letters_of_chain(int driven)
{
    enum { BODIES = 10 };
    char bodies[2000] = "", joints[2000] = "", text[5000], before[8] = "ground";
    size_t n = 0, m = 0;
    for (int i = 0; i < BODIES; i++) {
        n += (size_t)snprintf(bodies + n, sizeof bodies - n,
                              "  b%d: {mass: 1, inertia: [0.01, 0.011, 0.012, 0, 0, 0], position: "
                              "[%d.5, 0, 0]}\n",
                              i, i);
        m += (size_t)snprintf(
            joints + m, sizeof joints - m,
            "  j%d: {type: revolute, between: [%s, b%d], at: [%d, 0, 0], axis: [0, "
            "%d, %d]%s}\n",
            i, before, i, i, i % 2, 1 - i % 2, i == driven ? ", motion: {q0: shake}" : "");
        snprintf(before, sizeof before, "b%d", i);
    }
    snprintf(text, sizeof text,
             "linkwork: 1\nfunctions:\n  shake: {type: sine, amplitude: 0.3, omega: 8}\nbodies:\n%s"
             "joints:\n%s",
             bodies, joints);
    lw_model *model = lwt_yaml(text);
    const lw_compiled_desc desc = desc_of(1, true);
    lw_compiled_info info;
    OK(lw_compiled_predict(model, &desc, &info, NULL));
    lw_model_destroy(model);
    return (double)info.letters;
}

// Of a tree the work is that of the efforts, which the accelerations leave: it takes no sweep over the bodies.
static void a_drive_adds_little_code(void **unused)
{
    (void)unused;
    skip_without_compiler();
    new_cache("letters");
    const double free = letters_of_chain(-1);
    for (int driven = 0; driven < 10; driven += 3) {
        const double its = letters_of_chain(driven);
        if (its > 1.08 * free)
            fail_msg("drive of joint %d: %.0f letters, without it %.0f", driven, its, free);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_force_and_motion_has_the_power_of_the_library),
        cmocka_unit_test(random_models_have_the_power_of_the_library),
        cmocka_unit_test(a_drive_adds_little_code),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
