// test_transpose.c -- states into lanes and out: transposes, and accelerations of many states at once.
#include "tree/kernel_cases.h"

#include "tree/chain_cases.h"

#include <linkwork/dynamics.h>

enum { MAX = 21, EXACT = 8 * MAX };

// Any number of entries, in every width; nothing is written beyond.
static void squares_are_transposed_and_nothing_else_is_touched(void **state)
{
    (void)state;
    for (int w = 0; w < LWI_COUNT(widths); w++)
        for (int n = 1; n <= MAX && lwi_kernels_of(widths[w]); n++) {
            const lwi_kernels *kernels = lwi_kernels_of(widths[w]);
            // exactly this size, so that a sanitizer detects reads beyond
            double *states = lwt_reals(LWI_LANES * n), *rows = lwt_reals(LWI_LANES * n);
            double back[EXACT + 1];
            for (int i = 0; i < LWI_LANES * n; i++) states[i] = 1 + i;
            for (int i = 0; i <= EXACT; i++) back[i] = -1;
            kernels->to_rows(states, n, rows);
            for (int i = 0; i < n; i++)
                for (int l = 0; l < LWI_LANES; l++)
                    assert_true(rows[i * LWI_LANES + l] == states[l * n + i]);
            kernels->from_rows(rows, n, back);
            for (int i = 0; i <= EXACT; i++)
                assert_true(back[i] == (i < LWI_LANES * n ? states[i] : -1));
            free(states);
            free(rows);
        }
}

// Whole blocks and a remainder, with efforts and without: the bits of single states.
static void many_states_are_as_one_by_one(void **state)
{
    (void)state;
    for (int n = 1; n <= 12; n++) {
        lwt_chain c = lwt_chain_create(n, LWT_CHAIN_MIXED);
        lw_dynamics *dynamics;
        lw_error error;
        const int count = 5 + 2 * n, size = count * n;
        double *q = lwt_reals(5 * size), *v = q + size, *tau = v + size, *many = tau + size;
        double *one = many + size;
        uint64_t seed = 9;
        for (int i = 0; i < 3 * size; i++) q[i] = lwt_random(&seed, -1, 1);
        assert_int_equal(lw_dynamics_create(c.model, NULL, &dynamics, &error), LW_OK);
        for (int with = 0; with < 2; with++) {
            const double *efforts = with ? tau : NULL;
            assert_int_equal(
                lw_forward_dynamics_many(dynamics, count, 0, q, v, efforts, NULL, many), LW_OK);
            for (int i = 0; i < count; i++)
                assert_int_equal(lw_forward_dynamics(dynamics, 0, q + i * n, v + i * n,
                                                     with ? tau + i * n : NULL, NULL, one + i * n),
                                 LW_OK);
            assert_memory_equal(many, one, (size_t)size * sizeof *one);
        }
        lw_dynamics_destroy(dynamics);
        free(q);
        lwt_chain_destroy(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_transposed_and_nothing_else_is_touched),
        cmocka_unit_test(many_states_are_as_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
