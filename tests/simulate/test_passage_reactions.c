// test_passage_reactions.c -- reactions of a rhombus while its bars pass through a line, against the closed form.
#include "support/singular.h"
#include "support/given.h"

#define MASS LWT_RHOMBUS_MASS
#define INERTIA LWT_RHOMBUS_INERTIA
#define GRAVITY 9.81

// Round-off of the states that reactions are continued from, times the weights of the polynomial through them
// (examples/singular/reactions.py): 1.8e-6 of the largest force, 34 N.
#define LARGEST_ERROR 6e-5

// The coupler of lwt_rhombus does not rotate: both bars have the angle q,
//     (2 (I + m/4) + m) q'' = -2 m g cos q
// and the coupler is held by two equal forces (m a + m g)/2, a that of the tips.

typedef struct rows {
    const char *what;
    long continued;
    double worst, largest; // errors of the continued rows, of all [N]
} rows;

// The forces of both bars on the coupler, from the position and speed of the lower bar.
static lw_status check_row(void *user, const lw_observation *o)
{
    rows *r = user;
    const double *p = o->position[1], w = o->angular_velocity[1][2];
    const double q = atan2(p[1], p[0]), mass = 2 * (INERTIA + MASS / 4) + MASS;
    const double alpha = -2 * MASS * GRAVITY * cos(q) / mass;
    const double a[2] = {-alpha * sin(q) - w * w * cos(q), alpha * cos(q) - w * w * sin(q)};
    const double force[2] = {MASS * a[0] / 2, MASS * (a[1] + GRAVITY) / 2};
    double error = 0;
    for (int j = 1; j <= 2; j++)
        for (int k = 0; k < 2; k++) error = fmax(error, fabs(o->reaction[j][k] - force[k]));
    if (o->reactions_continued) r->continued++, r->worst = fmax(r->worst, error);
    r->largest = fmax(r->largest, error);
    return LW_OK;
}

static rows run(lw_model *model, lw_row row, const char *const *settings)
{
    lw_sim *sim = lwt_simulate(model, settings), *plain = lwt_simulate(model, settings);
    rows r = {.what = settings[1]};
    lwt_ok(lw_sim_run(sim, LW_OBSERVE_REACTION, row, &r, NULL, NULL), lw_sim_error(sim));
    lwt_ok(lw_sim_run(plain, LW_OBSERVE_POSE, NULL, NULL, NULL, NULL), lw_sim_error(plain));
    // the motion does not depend on it
    const int n = lw_sim_state_size(sim);
    double t[2], *x = lwt_vector(n), *y = lwt_vector(n);
    lw_sim_get_state(sim, &t[0], x);
    lw_sim_get_state(plain, &t[1], y);
    assert_memory_equal(x, y, (size_t)n * sizeof *x);
    free(x);
    free(y);
    lw_sim_destroy(sim);
    lw_sim_destroy(plain);
    lw_model_destroy(model);
    return r;
}

static void forces_are_those_of_the_closed_form(void **state)
{
#define ROWS "duration", "1.1", "sample", "0.001" // in line at 1.0137 s
    static const char *const settings[][14] = {
        {"formulation", "hdca", ROWS, "rtol", "1e-6", "atol", "1e-6"},
        {"formulation", "hdca", ROWS, "rtol", "1e-9", "atol", "1e-9"},
        {"formulation", "hdca", ROWS, "integrator", "verner87", "rtol", "1e-12", "atol", "1e-12"},
        {"formulation", "rcr", ROWS, "rtol", "1e-6", "atol", "1e-6"},
        {"formulation", "index3", ROWS, "step", "0.001"},
    };
    (void)state;
    for (int i = 0; i < LWI_COUNT(settings); i++) {
        const rows r = run(lwt_rhombus(0), check_row, settings[i]);
        print_message("%s: %ld rows, off by %.2g N, all rows %.2g N\n", r.what, r.continued,
                      r.worst, r.largest);
        if (!(r.continued > 0)) fail_msg("%s: no row within the band", r.what);
        if (!(r.largest < LARGEST_ERROR)) fail_msg("%s: forces off by %g N", r.what, r.largest);
    }
}

static lw_status count_row(void *user, const lw_observation *o)
{
    rows *r = user;
    for (int k = 0; k < 2; k++) r->largest = fmax(r->largest, fabs(o->reaction[0][k]));
    r->continued += o->reactions_continued;
    return LW_OK;
}

static void forces_that_grow_are_those_solved_for(void **state)
{
    (void)state;
    // unequal loads on the upright bars pass through the level ones: these forces grow as one over the sine
    const rows r = run(lwt_four_bars(2), count_row,
                       LWT_SETTINGS("formulation", "hdca", "rtol", "1e-6", "atol", "1e-6",
                                    "duration", "0.8", "sample", "0.001"));
    assert_int_equal(r.continued, 0); // in line at 0.714356 s
    assert_true(r.largest > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_that_grow_are_those_solved_for),
        cmocka_unit_test(forces_are_those_of_the_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
