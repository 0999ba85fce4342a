// test_index3_long.c -- rows of thousands of loops with redundant rows converge as short ones do.
#include "methods/index3/index3_row_cases.h"

static void rows_of_two_thousand(void **state)
{
    (void)state;
    rows_converge(2000, 20);
}

static void rows_of_four_thousand(void **state)
{
    (void)state;
    row_converges("ladder", 4000, 1e-3, 40);
    row_converges("n_four_bar", 4000, 1e-4, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_two_thousand),
        cmocka_unit_test(rows_of_four_thousand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
