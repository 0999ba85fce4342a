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
        for (int twice = 0; twice < 2; twice++) { // a second time with other numbers, and divided
            if (twice) assert_int_equal(lwi_block_cholesky_divide(&f.arena, &f.A), LW_OK);
            lwi_block_cholesky_clear(&f.A);
            put_numbers(&f, -1, 0);
            assert_true(lwi_block_cholesky_factor(&f.A, &LWI_ALONE));
            lwi_block_cholesky_solve(&f.A, &LWI_ALONE, f.x);
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
        if (n % 2) assert_int_equal(lwi_block_cholesky_divide(&f.arena, &f.A), LW_OK);
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
            assert_true(lwi_block_cholesky_factor_half(&f.A, h, &LWI_ALONE));
            lwi_block_cholesky_solve_half(&f.A, h, component[h], &LWI_ALONE, f.x);
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
            assert_false(lwi_block_cholesky_factor(&f.A, &LWI_ALONE));
            lwi_block_cholesky_clear(&f.A);
            put_numbers(&f, place, bad[i]);
            divide_blocks(&f);
            const bool second = !in_one_half(place % SIZE, 0);
            assert_int_equal(lwi_block_cholesky_factor_half(&f.A, 0, &LWI_ALONE), second);
            assert_int_equal(lwi_block_cholesky_factor_half(&f.A, 1, &LWI_ALONE), !second);
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

// ------------------------------------------------------------------------------------------ threads

enum { LONG = 3000, WIDE = 4 };

// A band of WIDE blocks, numbered by dissection: its ends, and last what is between them.
typedef struct band {
    int at[LONG], numbered; // number of each block
    int npair, (*pair)[2];
    lwi_arena arena;
    lwi_block_cholesky A;
    double (*x)[SIZE];
} band;

static void number(band *b, int first, int end)
{
    const int middle = first + (end - first - WIDE) / 2;
    const bool small = end - first <= 8 * WIDE;
    if (!small) number(b, first, middle), number(b, middle + WIDE, end);
    for (int i = small ? first : middle; i < (small ? end : middle + WIDE); i++)
        b->at[i] = b->numbered++;
}

static void create_band(band *b)
{
    *b = (band){0};
    lwi_arena_init(&b->arena, NULL);
    number(b, 0, LONG);
    assert_int_equal(b->numbered, LONG);
    b->pair = lwi_arena_push(&b->arena, LONG * WIDE, sizeof *b->pair);
    b->x = lwi_arena_push(&b->arena, LONG, sizeof *b->x);
    for (int i = 0; i < LONG; i++)
        for (int k = i + 1; k <= i + WIDE && k < LONG; k++, b->npair++) {
            const int row = b->at[i], column = b->at[k];
            b->pair[b->npair][0] = row > column ? row : column;
            b->pair[b->npair][1] = row > column ? column : row;
        }
    assert_int_equal(
        lwi_block_cholesky_create(LONG, b->npair, (const int(*)[2])b->pair, &b->arena, &b->A),
        LW_OK);
}

// The same numbers each time.
static void fill_band(band *b)
{
    seed = 99;
    lwi_block_cholesky_clear(&b->A);
    for (int p = 0; p < b->npair; p++) {
        double *block = b->A.below[lwi_block_cholesky_find(&b->A, b->pair[p][0], b->pair[p][1])];
        for (int i = 0; i < 36; i++) block[i] = uniform();
    }
    for (int k = 0; k < LONG; k++)
        for (int i = 0; i < SIZE; i++)
            b->A.diagonal[k][7 * i] = 40 + uniform(), b->x[k][i] = uniform();
}

typedef struct job {
    band *b;
    lwi_pool *pool;
    lwi_barrier barrier;
    bool halves, positive[LWI_MAX_THREADS];
} job;

static void factor_and_solve(void *user, int part)
{
    job *of = user;
    band *b = of->b;
    const lwi_team team = {
        .part = part, .parts = lwi_pool_count(of->pool), .barrier = &of->barrier};
    of->positive[part] = true;
    if (!of->halves) {
        of->positive[part] = lwi_block_cholesky_factor(&b->A, &team);
        lwi_block_cholesky_solve(&b->A, &team, b->x);
        return;
    }
    for (int h = 0; h < 2; h++) {
        of->positive[part] = lwi_block_cholesky_factor_half(&b->A, h, &team) && of->positive[part];
        lwi_block_cholesky_solve_half(&b->A, h, component[h], &team, b->x);
    }
}

static void solve_band(band *b, bool halves, int threads)
{
    lw_error error;
    job of = {.b = b, .halves = halves};
    assert_int_equal(lwi_pool_create(threads, NULL, &of.pool, &error), LW_OK);
    lwi_barrier_init(of.pool, &of.barrier);
    fill_band(b);
    for (int i = 0; i < b->A.first[LONG] && halves; i++) divide(b->A.below[i]);
    for (int k = 0; k < LONG && halves; k++) divide(b->A.diagonal[k]);
    lwi_pool_run(of.pool, factor_and_solve, &of);
    for (int i = 0; i < threads; i++) assert_true(of.positive[i]);
    lwi_pool_destroy(of.pool);
}

// Divided, the same solution except for round-off; on several threads the same bits.
static void threads_share_with_the_same_bits(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 3, 8};
    static double whole[LONG][SIZE], alone[LONG][SIZE];
    static band b;
    for (int halves = 0; halves < 2; halves++) {
        create_band(&b);
        solve_band(&b, halves, 1);
        memcpy(whole, b.x, sizeof whole);
        solve_band(&b, halves, 2); // not divided: on one of them
        assert_memory_equal(b.x, whole, sizeof whole);
        assert_int_equal(lwi_block_cholesky_divide(&b.arena, &b.A), LW_OK);
        for (int i = 0; i < LWI_COUNT(threads); i++) {
            solve_band(&b, halves, threads[i]);
            if (i == 0) memcpy(alone, b.x, sizeof alone);
            assert_memory_equal(b.x, alone, sizeof alone);
        }
        for (int i = 0; i < SIZE * LONG; i++)
            assert_true(fabs(alone[i / SIZE][i % SIZE] - whole[i / SIZE][i % SIZE]) < 1e-14);
        lwi_arena_free(&b.arena);
    }
}

static void every_thread_has_its_share(void **state)
{
    (void)state;
    static band b;
    create_band(&b);
    const double all = lwi_block_cholesky_work(&b.A);
    assert_true(lwi_block_cholesky_share(&b.A, &(lwi_team){.part = 0, .parts = 2}) == all);
    assert_int_equal(lwi_block_cholesky_divide(&b.arena, &b.A), LW_OK);
    for (int parts = 1; parts <= 16; parts *= 2) {
        double sum = 0;
        for (int i = 0; i < parts; i++) {
            const double one = lwi_block_cholesky_share(&b.A, &(lwi_team){i, parts, NULL});
            assert_true(one < (1.0 / parts + 0.06) * all);
            sum += one;
        }
        assert_true(fabs(sum - all) < 1e-9 * all);
    }
    lwi_arena_free(&b.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_are_those_of_the_dense_factorisation),
        cmocka_unit_test(halves_are_solved_on_their_own),
        cmocka_unit_test(pivots_that_are_not_positive_are_reported),
        cmocka_unit_test(only_what_fills_in_is_stored),
        cmocka_unit_test(threads_share_with_the_same_bits),
        cmocka_unit_test(every_thread_has_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
