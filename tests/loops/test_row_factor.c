// test_row_factor.c -- rows of cut joints in lanes and their decomposition: the nearest speeds and the multipliers against
// those of the complete orthogonal decomposition, row after row; the bits of every build.
#include "methods/rcr/rcr_cases.h"

#include "base/cpu.h"
#include "loops/row_factor.h"
#include "support/given.h"
#include "support/random_loops.h"

typedef struct rows_case {
    lwi_arena arena;
    lwt_run run;
    lwi_articulated *node;
    lwi_cut cut;
} rows_case;

static double drawn(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0 * 2 - 1;
}

// Rows, and factors of the tree, at the start of a model; false if rows are redundant, or a cut joint has a rotor.
static bool begin(const lw_model *model, rows_case *c)
{
    lw_error error;
    lwi_arena_init(&c->arena, NULL);
    c->run = lwt_run_start(model, RCR);
    lwi_rcr_work *d = c->run.work->data;
    c->node = LWI_PUSH(&c->arena, lwi_articulated, model->nnode);
    assert_non_null(c->node);
    lwt_ok(lwi_cut_create(model, LWI_CUT_RANK, &c->arena, &d->tree, c->node, &c->cut, &error),
           &error);
    lwi_cut_place(&c->cut, &d->tree, 0, c->run.x, c->run.x + model->tree_nq);
    for (int k = 0; k < model->nnode; k++)
        inertia_rigid(&c->node[k].M, model->node[k].mass, model->node[k].h, model->node[k].J);
    lwt_ok(lwi_cut_factor_tree(model, &d->tree, c->node, 0, model->tree_rotor, &error), &error);
    lwi_cut_rows(&c->cut, &d->tree, 0, LWI_CLOSURE_POSITION);
    return c->cut.m > 0 && c->cut.rank == c->cut.m && c->cut.nrotor == 0;
}

static void end(rows_case *c)
{
    lwt_run_end(&c->run);
    lwi_arena_free(&c->arena);
}

// y [n] and lambda [m] by a build.
static double solve(rows_case *c, int isa, const double *target, const double *from, double *y,
                    double *lambda)
{
    lwi_row_factor rows;
    assert_int_equal(lwi_row_factor_create(&c->cut, &c->arena, &rows), LW_OK);
    rows.kernels = lwi_row_kernels_of(isa);
    const double pivot = lwi_row_factor_place(&rows, &c->cut, &lwt_rcr(&c->run)->tree, c->node);
    memcpy(y, from, (size_t)c->cut.n * sizeof *y);
    lwi_row_factor_nearest(&rows, target, y);
    lwi_row_factor_multipliers(&rows, lambda);
    return pivot;
}

static double off(int n, const double *a, const double *b)
{
    double max = 1, far = 0;
    for (int i = 0; i < n; i++) max = fmax(max, fabs(b[i])), far = fmax(far, fabs(a[i] - b[i]));
    return far / max;
}

static void solutions_agree(void **state)
{
    (void)state;
    int taken = 0, wide = 0;
    LWT_FOR_LOOPS(l, 80, LWT_LOOP_ALL & ~(unsigned)LWT_REDUNDANT)
    {
        rows_case c;
        if (begin(l.model, &c)) {
            const int n = c.cut.n, m = c.cut.m, widest = lwi_isa_of(0);
            uint64_t seed = seed_;
            double *from = lwt_vector(n), *target = lwt_vector(m), *y = lwt_vector(n),
                   *lambda = lwt_vector(m), *other = lwt_vector(n), *impulse = lwt_vector(m);
            for (int i = 0; i < n; i++) from[i] = drawn(&seed);
            for (int i = 0; i < m; i++) impulse[i] = target[i] = drawn(&seed);
            const double pivot = solve(&c, widest, target, from, y, lambda);
            for (int isa = 0; isa < widest; isa++) {
                if (!lwi_row_kernels_of(isa)) continue;
                double *again = lwt_vector(n), *more = lwt_vector(m);
                assert_true(solve(&c, isa, target, from, again, more) == pivot);
                assert_memory_equal(y, again, (size_t)n * sizeof *y);
                assert_memory_equal(lambda, more, (size_t)m * sizeof *more);
                free(again), free(more);
            }
            lwi_cut_factor(&c.cut, &lwt_rcr(&c.run)->tree, c.node, m, 0);
            memcpy(other, from, (size_t)n * sizeof *other);
            lwi_cod_nearest(&c.cut.cod, other, impulse);
            // modified Gram-Schmidt and triangles lose the digits of the pivot, multipliers its square
            const double lost = 256 * DBL_EPSILON / pivot;
            lwt_near("y", (int)seed_, off(n, y, other), 0, lost);
            lwt_near("multipliers", (int)seed_, off(m, lambda, impulse), 0, lost / pivot);
            taken++, wide += m > LWI_LANES;
            free(from), free(target), free(y), free(lambda), free(other), free(impulse);
        }
        end(&c);
    }
    assert_true(taken > 40 && wide > 10);
}

// A pivot of the size of round-off, or none, where a row is twice in the cut.
static void dependent_rows_are_found(void **state)
{
    (void)state;
    int taken = 0;
    LWT_FOR_LOOPS(l, 20, LWT_LOOP_ALL & ~(unsigned)LWT_REDUNDANT)
    {
        rows_case c;
        if (begin(l.model, &c) && c.cut.closure[0].n > 1) {
            double *y = lwt_vector(c.cut.n), *lambda = lwt_vector(c.cut.m);
            for (int s = 0; s < c.cut.closure[0].nbody; s++)
                memcpy(c.cut.closure[0].J[s][1], c.cut.closure[0].J[s][0],
                       sizeof c.cut.closure[0].J[s][0]);
            assert_true(solve(&c, lwi_isa_of(0), lambda, y, y, lambda) < 1e-10);
            taken++;
            free(y), free(lambda);
        }
        end(&c);
    }
    assert_true(taken > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solutions_agree),
        cmocka_unit_test(dependent_rows_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
