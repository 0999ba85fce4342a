// test_hdca_random.c -- Hamiltonian form of random mechanisms with loops: against absolute coordinates, and
// momentum rates against accelerations.
#include "methods/dca/hdca_cases.h"
#include "support/random_loops.h"

static double *inputs_of(const lw_model *model, uint64_t seed)
{
    double *input = lwt_vector(model->desc.ninput);
    for (int i = 0; i < model->desc.ninput; i++) input[i] = lwt_random(&seed, -1, 1);
    return input;
}

// Coupled and nested loops of every joint type, driven, mounted, coupled by polynomials, redundant
// ones too: motion, accelerations and reactions at the start and after steps of both.
static void random_loops_move_as_in_absolute_coordinates(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 36, LWT_LOOP_ALL)
    {
        const lw_model *model = c.model;
        lwi_work *a = lwt_work(model, HDCA), *b = lwt_work(model, DENSE);
        double *x = lwt_start(a), *y = lwt_start(b), *input = inputs_of(model, seed_), t = 0, s = 0;
        assert_int_equal(lwi_hdca_system(a)->generic_rank, c.rank);
        for (int pass = 0; pass < 2; pass++) {
            lwi_arena arena;
            lwi_snapshot ma, mb;
            lwi_arena_init(&arena, NULL);
            lwt_observe(a, t, x, input, &arena, &ma);
            lwt_observe(b, s, y, input, &arena, &mb);
            lwt_same(model, &ma, &mb, pass ? 1e-8 : 1e-10);
            lwi_arena_free(&arena);
            lwt_integrate(a, &t, x, input, 1e-4, 25);
            lwt_integrate(b, &s, y, input, 1e-4, 25);
        }
        lwi_work_destroy(a);
        lwi_work_destroy(b);
        free(x), free(y), free(input);
    }
}

// The decisive test of the rates: any momenta are admissible, and the resulting speeds change by the
// accelerations, which do not depend on momenta and impulses.
static void speeds_of_random_loops_change_as_accelerations_say(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 36, LWT_LOOP_ALL)
    {
        lwi_work *work = lwt_work(c.model, HDCA);
        double *x = lwt_start(work), *input = inputs_of(c.model, seed_);
        double t = 0;
        lwt_integrate(work, &t, x, input, 1e-4, 40); // until drives and mounts move
        lwt_kick(work, seed_, 0.3, x);
        lwt_check_flow(work, t, x, input, 1e-8);
        lwi_work_destroy(work);
        free(x), free(input);
    }
}

// The rate of the work needs no reaction: it is the power of forces, drives and mounts, in the tree and at cuts,
// for any impulses of loops.
static void work_of_random_loops_is_that_of_reactions(void **state)
{
    (void)state;
    int driven = 0;
    LWT_FOR_LOOPS(c, 36, LWT_LOOP_ALL)
    {
        if (!c.model->driven) continue;
        lwi_work *a = lwt_work(c.model, HDCA), *b = lwt_work(c.model, &lwi_formulation_dca);
        double *x = lwt_start(a), *y = lwt_vector(b->layout.nx), *ydot = lwt_vector(b->layout.nx);
        double *input = inputs_of(c.model, seed_), t = 0;
        lwi_arena arena;
        lwi_snapshot m;
        lwi_arena_init(&arena, NULL);
        lwt_integrate(a, &t, x, input, 1e-4, 40); // until drives and mounts move
        lwt_kick(a, seed_, 0.3, x);
        lwt_observe(a, t, x, input, &arena, &m);
        lwt_ok(b->formulation->enter(b, &m, y), &b->error);
        lwt_ok(b->formulation->rates(b, t, y, input, ydot), &b->error);
        const double P = ydot[lwt_work_index(b)];
        lwt_near("power, seed", (int)seed_, lwt_power(a, t, x, input), P, 1e-8 * (1 + fabs(P)));
        driven++;
        lwi_arena_free(&arena);
        lwi_work_destroy(a);
        lwi_work_destroy(b);
        free(x), free(y), free(ydot), free(input);
    }
    assert_true(driven > 10);
}

// A row of results has one matrix pass, that of the velocities, and so has an evaluation with drives; at the state of
// the evaluation before it it has none.  gamma of tree joints from the links is that of their rows, and residuals are
// those of the snapshot.
static void rows_of_results_reuse_the_factors(void **state)
{
    (void)state;
    LWT_FOR_LOOPS(c, 36, LWT_LOOP_ALL)
    {
        const lw_model *model = c.model;
        lwi_work *work = lwt_work(model, HDCA);
        lwi_system *system = (lwi_system *)lwi_hdca_system(work);
        double *x = lwt_start(work), *xdot = lwt_vector(work->layout.nx);
        double *input = inputs_of(model, seed_), *gamma = lwt_vector(system->nrow), t = 0;
        double residual[3];
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals totals;
        lwi_arena_init(&arena, NULL);
        lwt_integrate(work, &t, x, input, 1e-4, 40);
        long passes = lwi_elim_matrix_passes(system->elim);
        lwt_ok(HDCA->rates(work, t, x, input, xdot), &work->error);
        assert_int_equal(lwi_elim_matrix_passes(system->elim) - passes, 1);
        for (int row = 0; row < 2; row++) {
            passes = lwi_elim_matrix_passes(system->elim);
            lwt_observe(work, t, x, input, &arena, &m);
            assert_int_equal(lwi_elim_matrix_passes(system->elim) - passes, row);
        }
        memcpy(gamma, system->gamma, (size_t)system->nrow * sizeof *gamma);
        lwi_system_gammas(system, t);
        for (int i = 0; i < system->nrow; i++)
            lwt_near("gamma", i, gamma[i], system->gamma[i], 1e-11 * (1 + fabs(gamma[i])));
        memcpy(system->gamma, gamma, (size_t)system->nrow * sizeof *gamma);
        assert_true(HDCA->residuals(work, LW_OBSERVE_REACTION, residual));
        lwi_observe_system(model, LW_OBSERVE_REACTION, &m, &totals);
        for (int i = 0; i < 3; i++) lwt_near("residual", i, residual[i], totals.residual[i], 1e-11);
        lwi_arena_free(&arena);
        lwi_work_destroy(work);
        free(x), free(xdot), free(input), free(gamma);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_loops_move_as_in_absolute_coordinates),
        cmocka_unit_test(speeds_of_random_loops_change_as_accelerations_say),
        cmocka_unit_test(work_of_random_loops_is_that_of_reactions),
        cmocka_unit_test(rows_of_results_reuse_the_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
