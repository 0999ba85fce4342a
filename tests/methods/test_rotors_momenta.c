// test_rotors_momenta.c -- rotors in the formulations with joint momenta: their rates at random momenta.
#include "methods/dca/hdca_cases.h"
#include "support/random_loops.h"
#include "support/rotors.h"

// Speeds that follow from momenta change as accelerations say, which know nothing of momenta: trees by
// `momenta`, mechanisms with loops, rotors on cut joints too, by `hdca`.
static void speeds_change_as_accelerations_say(const lwi_formulation *f, const lw_model *bare,
                                               uint64_t seed)
{
    lw_model *model = lwt_with_rotors(bare, seed);
    double *input = lwt_vector(model->desc.ninput), t = 0;
    for (int i = 0; i < model->desc.ninput; i++) input[i] = lwt_random(&seed, -1, 1);
    lwi_work *work = lwt_work(model, f);
    double *x = lwt_start(work);
    lwt_integrate(work, &t, x, input, 1e-4, 40); // to where drives and mounts are under way
    lwt_kick(work, seed, 0.3, x);
    lwt_check_flow(work, t, x, input, 1e-8);
    lwi_work_destroy(work);
    free(x), free(input);
    lw_model_destroy(model);
}

static void loops(void **state)
{
    int rotors_on_cuts = 0;
    (void)state;
    LWT_FOR_LOOPS(c, 30, LWT_LOOP_ALL)
    {
        speeds_change_as_accelerations_say(HDCA, c.model, seed_);
        lw_model *model = lwt_with_rotors(c.model, seed_);
        for (int i = 0; i < model->nloop; i++)
            rotors_on_cuts += model->joint[model->loop[i]].nrotor;
        lw_model_destroy(model);
    }
    assert_true(rotors_on_cuts > 10);
}

static void trees(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        lw_model *bare;
        assert_int_equal(
            lwt_random_tree(seed, 2 + (int)(seed % 7), LWT_ALL & ~(unsigned)LWT_FIXED, &bare),
            LW_OK);
        speeds_change_as_accelerations_say(&lwi_formulation_momenta, bare, seed);
        lw_model_destroy(bare);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees),
        cmocka_unit_test(loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
