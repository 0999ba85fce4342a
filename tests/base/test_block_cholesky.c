// test_block_cholesky.c -- sparse Cholesky in blocks against the dense one.
#include "base/block_cholesky.h"
#include "base/linear.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 30, NPAIR = 70, SIZE = 6, WIDTH = SIZE * MOST };

static uint64_t seed;
static double uniform(void) // xorshift64*
{
    seed ^= seed >> 12, seed ^= seed << 25, seed ^= seed >> 27;
    return (double)((seed * 2685821657736338717u) >> 11) / 4503599627370496.0 - 1;
}

typedef struct fixture {
    int n, npair, pair[NPAIR][2];
    double dense[WIDTH * WIDTH], x[MOST][SIZE], expected[WIDTH];
    lwi_arena arena;
    lwi_block_cholesky A;
} fixture;

static int below(int n)
{
    return (int)((uniform() + 1) / 2 * n) % n;
}

// A path with random pairs, some of them twice.
static void choose_pairs(fixture *f, int n)
{
    f->n = n;
    f->npair = 0;
    for (int k = 1; k < n; k++, f->npair++) f->pair[f->npair][0] = k, f->pair[f->npair][1] = k - 1;
    for (int i = 0; i < n; i++) {
        const int a = below(n), b = below(n);
        if (a == b) continue;
        f->pair[f->npair][0] = a > b ? a : b;
        f->pair[f->npair++][1] = a > b ? b : a;
    }
}

static void create(fixture *f)
{
    lwi_arena_init(&f->arena, NULL);
    assert_int_equal(
        lwi_block_cholesky_create(f->n, f->npair, (const int(*)[2])f->pair, &f->arena, &f->A),
        LW_OK);
    lwi_block_cholesky_clear(&f->A);
}

// Entries of the pairs, several of one add up; a diagonal that makes the matrix positive definite, `pivot` in one place.
static void put_numbers(fixture *f, int place, double pivot)
{
    const int width = SIZE * f->n;
    for (int i = 0; i < width * width; i++) f->dense[i] = 0;
    for (int p = 0; p < f->npair; p++) {
        const int row = f->pair[p][0], column = f->pair[p][1];
        double *block = f->A.below[lwi_block_cholesky_find(&f->A, row, column)];
        for (int c = 0; c < SIZE; c++)
            for (int r = 0; r < SIZE; r++) {
                const double a = uniform();
                block[SIZE * c + r] += a;
                f->dense[(SIZE * row + r) * width + SIZE * column + c] += a;
            }
    }
    for (int i = 0; i < width; i++) {
        const double a = i == place ? pivot : 40 + uniform();
        f->A.diagonal[i / SIZE][7 * (i % SIZE)] = a;
        f->dense[i * width + i] = a;
    }
    for (int i = 0; i < width; i++) f->x[i / SIZE][i % SIZE] = f->expected[i] = uniform();
}

static void solutions_are_those_of_the_dense_factorisation(void **state)
{
    (void)state;
    static fixture f;
    seed = 12345;
    for (int n = 1; n <= MOST; n++) {
        choose_pairs(&f, n);
        create(&f);
        for (int twice = 0; twice < 2; twice++) { // a second time with other numbers
            lwi_block_cholesky_clear(&f.A);
            put_numbers(&f, -1, 0);
            assert_true(lwi_block_cholesky_factor(&f.A));
            lwi_block_cholesky_solve(&f.A, f.x);
            assert_int_equal(lwi_cholesky(SIZE * n, f.dense, 0), -1);
            lwi_lower_solve(SIZE * n, f.dense, f.expected);
            lwi_lower_tsolve(SIZE * n, f.dense, f.expected);
            for (int i = 0; i < SIZE * n; i++)
                if (!(fabs(f.x[i / SIZE][i % SIZE] - f.expected[i]) < 1e-14))
                    fail_msg("%d blocks, entry %d: %.17g, expected %.17g", n, i,
                             f.x[i / SIZE][i % SIZE], f.expected[i]);
        }
        lwi_arena_free(&f.arena);
    }
}

// The components of the halves of blocks, and where their blocks lie.
static const int component[2][3] = {{0, 1, 5}, {2, 3, 4}};

// Moves a block without entries between the halves to where these are.
static void divide(double block[36])
{
    double half[2][9];
    for (int h = 0; h < 2; h++)
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++)
                half[h][3 * c + r] = block[SIZE * component[h][c] + component[h][r]];
    memcpy(block, half, sizeof half);
}

static void divide_blocks(fixture *f)
{
    for (int i = 0; i < f->A.first[f->n]; i++) divide(f->A.below[i]);
    for (int k = 0; k < f->n; k++) divide(f->A.diagonal[k]);
}

static bool in_one_half(int i, int k)
{
    return (i == 0 || i == 1 || i == 5) == (k == 0 || k == 1 || k == 5);
}

// The same numbers as those of the whole matrix except for round-off; each half alone.
static void halves_are_solved_on_their_own(void **state)
{
    (void)state;
    static fixture f;
    seed = 4711;
    for (int n = 1; n <= MOST; n++) {
        choose_pairs(&f, n);
        create(&f);
        put_numbers(&f, -1, 0);
        const int width = SIZE * n;
        for (int r = 0; r < width; r++)
            for (int c = 0; c < width; c++)
                if (!in_one_half(r % SIZE, c % SIZE)) f.dense[r * width + c] = 0;
        divide_blocks(&f);
        assert_int_equal(lwi_cholesky(width, f.dense, 0), -1);
        lwi_lower_solve(width, f.dense, f.expected);
        lwi_lower_tsolve(width, f.dense, f.expected);
        for (int h = 0; h < 2; h++) {
            assert_true(lwi_block_cholesky_factor_half(&f.A, h));
            lwi_block_cholesky_solve_half(&f.A, h, component[h], f.x);
        }
        for (int i = 0; i < width; i++)
            if (!(fabs(f.x[i / SIZE][i % SIZE] - f.expected[i]) < 1e-14))
                fail_msg("%d blocks, entry %d: %.17g, expected %.17g", n, i,
                         f.x[i / SIZE][i % SIZE], f.expected[i]);
        lwi_arena_free(&f.arena);
    }
}

// Of the whole matrix, and of the half that the pivot is in.
static void pivots_that_are_not_positive_are_reported(void **state)
{
    (void)state;
    static fixture f;
    static const double bad[] = {0, -1, NAN, INFINITY};
    seed = 777;
    choose_pairs(&f, 5);
    create(&f);
    for (int i = 0; i < LWI_COUNT(bad); i++)
        for (int place = 0; place < SIZE * f.n; place++) {
            lwi_block_cholesky_clear(&f.A);
            put_numbers(&f, place, bad[i]);
            assert_false(lwi_block_cholesky_factor(&f.A));
            lwi_block_cholesky_clear(&f.A);
            put_numbers(&f, place, bad[i]);
            divide_blocks(&f);
            const bool second = !in_one_half(place % SIZE, 0);
            assert_int_equal(lwi_block_cholesky_factor_half(&f.A, 0), second);
            assert_int_equal(lwi_block_cholesky_factor_half(&f.A, 1), !second);
        }
    lwi_arena_free(&f.arena);
}

// The rows of the Cholesky factor of a path numbered from one end: none fills in; numbered from the middle of a star: all.
static void only_what_fills_in_is_stored(void **state)
{
    (void)state;
    static fixture f;
    enum { N = 20 };
    f.n = N, f.npair = N - 1;
    for (int k = 1; k < N; k++) f.pair[k - 1][0] = k, f.pair[k - 1][1] = k - 1;
    create(&f);
    assert_int_equal(f.A.first[N], N - 1);
    lwi_arena_free(&f.arena);
    for (int k = 1; k < N; k++) f.pair[k - 1][0] = N - 1, f.pair[k - 1][1] = k - 1;
    create(&f);
    assert_int_equal(f.A.first[N], N - 1);
    lwi_arena_free(&f.arena);
    for (int k = 1; k < N; k++) f.pair[k - 1][0] = k, f.pair[k - 1][1] = 0;
    create(&f);
    assert_int_equal(f.A.first[N], N * (N - 1) / 2);
    lwi_arena_free(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_of_the_dense_factorisation),
        cmocka_unit_test(halves_are_solved_on_their_own),
        cmocka_unit_test(pivots_that_are_not_positive_are_reported),
        cmocka_unit_test(only_what_fills_in_is_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
