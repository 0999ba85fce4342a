// test_rattle_random.c -- rattle on random mechanisms: trees, loops, redundant constraints, drives, mounts, forces,
// couplings, custom joints, rotors.  Halving the step divides the distance from the motion of `dense` by four, which has
// no rows, no elimination and no coordinates in common with it.
#include "methods/rattle/rattle_cases.h"

#include "support/random_loops.h"

// Dense at tight tolerances is exact to ten digits.
#define DURATION 0.1
#define STEP 0.002
#ifdef __SANITIZE_ADDRESS__ // fifty times slower
enum { TREES = 8, LOOPS = 8 };
#else
enum { TREES = 50, LOOPS = 50 };
#endif

static track run_dense(const lw_model *model)
{
    lw_options o;
    lw_options_default(&o);
    lwt_set(&o, "formulation", "dense");
    lwt_set(&o, "integrator", "verner87");
    o.duration = o.sample = DURATION, o.rtol = o.atol = 1e-12;
    return run(model, &o);
}

static void check(const char *kind, uint64_t seed, const lw_model *model)
{
    const track exact = run_dense(model);
    const track coarse = run_rattle(model, STEP, DURATION, DURATION, 2);
    const track fine = run_rattle(model, STEP / 2, DURATION, DURATION, 2);
    const double a = distance(&coarse, &exact), b = distance(&fine, &exact);
    const double c = speed_distance(&coarse, &exact), d = speed_distance(&fine, &exact);
    if (!(b < 1e-9 || (a / b > 3 && a / b < 5.5)) || !(d < 1e-8 || (c / d > 3 && c / d < 5.5)))
        fail_msg("%s %d: positions are off by %.3e and %.3e (%.2f), velocities by %.3e and %.3e "
                 "(%.2f)",
                 kind, (int)seed, a, b, a / b, c, d, c / d);
    const double lost = coarse.summary.energy_error, less = fine.summary.energy_error;
    if (!(less < 1e-8 || lost / less > 3))
        fail_msg("%s %d: E - Wnc is off by %.3e and %.3e", kind, (int)seed, lost, less);
    // constraints at round-off
    for (int k = 0; k < 2; k++)
        if (!(fine.summary.residual[k] < 1e-11))
            fail_msg("%s %d: residual %d is %.2e", kind, (int)seed, k, fine.summary.residual[k]);
}

static void trees_converge(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        lw_model *model;
        assert_int_equal(lwt_random_tree(seed, 2 + (int)(seed % 9), LWT_ALL, &model), LW_OK);
        check("tree", seed, model);
        lw_model_destroy(model);
    }
}

// Is some joint on the ground?
static bool is_held(const lw_model *model)
{
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].body1 || !model->joint[j].body2) return true;
    return false;
}

static void loops_converge(void **state)
{
    (void)state;
    int redundant = 0, floating = 0;
    LWT_FOR_LOOPS(c, LOOPS, LWT_LOOP_ALL)
    {
        check("loop", seed_, c.model);
        redundant += c.nredundant > 0;
        floating += !is_held(c.model);
    }
    assert_true(redundant >= LOOPS / 4); // of redundant constraints
    assert_true(floating >= LOOPS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_converge),
        cmocka_unit_test(loops_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
