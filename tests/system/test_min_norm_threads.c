// test_min_norm_threads.c -- reactions of minimum norm on several threads: all of them work, with the same bits.
#include "support/run.h"

#include "methods/dca/hdca.h"
#include "system/min_norm.h"
#include "system/system.h"

// A ladder of size n, or a net of n x n; gravity in no plane, or in that of the motion.
static lw_model *mechanism(lw_mechanism kind, int n, bool in_plane)
{
    lw_builder *b = lwt_builder();
    lw_builder_gravity(b, (lw_vec3){0.3, -9.81, in_plane ? 0 : 2});
    lwt_add_mechanism(b, (lw_mechanism_desc){.mechanism = kind,
                                             .n = n,
                                             .q = {0.3, kind == LW_MECHANISM_LADDER ? 0.2 : 0}});
    return lwt_model(b);
}

static lwi_work *with_threads(const lw_model *model, lw_options *options, int threads)
{
    lwi_work *work;
    lw_error error;
    lw_options_default(options);
    options->threads = threads;
    lwt_ok(lwi_work_create_options(model, &lwi_formulation_hdca, NULL, 0, options, &work, &error),
           &error);
    return work;
}

static lwt_run row_of(const lw_model *model, int threads)
{
    lw_options options;
    lwt_run run = lwt_run_work(with_threads(model, &options, threads), NULL);
    lwt_run_observe(&run);
    return run;
}

static void rows_have_the_same_bits(const lw_model *model)
{
    static const int threads[] = {2, 3, 8};
    const size_t njoint = (size_t)model->njoint, nbody = (size_t)model->nbody;
    lwt_run one = row_of(model, 1);
    for (int i = 0; i < LWI_COUNT(threads); i++) {
        lwt_run run = row_of(model, threads[i]);
        const lwi_snapshot *now = &run.now, *first = &one.now;
        assert_memory_equal(now->reaction, first->reaction, njoint * sizeof *now->reaction);
        assert_memory_equal(now->undetermined, first->undetermined, njoint);
        assert_memory_equal(now->quat, first->quat, nbody * sizeof *now->quat);
        assert_memory_equal(now->a, first->a, nbody * sizeof *now->a);
        assert_memory_equal(now->qdd, first->qdd, (size_t)model->nv * sizeof *now->qdd);
        lwt_run_end(&run);
    }
    lwt_run_end(&one);
}

static void bits_do_not_depend_on_threads(void **state)
{
    (void)state;
    lw_model *const model[] = {
        mechanism(LW_MECHANISM_LADDER, 700, false), mechanism(LW_MECHANISM_LADDER, 700, true),
        mechanism(LW_MECHANISM_NET, 24, true), mechanism(LW_MECHANISM_NET, 24, false)};
    for (int i = 0; i < LWI_COUNT(model); i++) {
        rows_have_the_same_bits(model[i]);
        lw_model_destroy(model[i]);
    }
}

// The reactions of a row wake the threads for rows, factors, wrenches and solution; those of a small mechanism, with the
// same pool, do not wake them for the latter.
static void the_threads_of_a_row_share_its_reactions(void **state)
{
    (void)state;
    static const int sizes[] = {700, 300};
    static const unsigned long rounds[] = {4, 1};
    for (int i = 0; i < LWI_COUNT(sizes); i++) {
        lw_model *model = mechanism(LW_MECHANISM_LADDER, sizes[i], false);
        lwt_run run = row_of(model, 4);
        lwi_system *s = (lwi_system *)lwi_hdca_system(run.work);
        assert_non_null(s->pool);
        double *lambda = lwt_vector(s->nrow);
        memcpy(lambda, s->lambda, (size_t)s->nrow * sizeof *lambda);
        const unsigned long before = lwi_pool_rounds(s->pool);
        lwi_system_minimum_norm(s, lambda);
        assert_int_equal(lwi_pool_rounds(s->pool) - before, rounds[i]);
        free(lambda);
        lwt_run_end(&run);
        lw_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(the_threads_of_a_row_share_its_reactions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
