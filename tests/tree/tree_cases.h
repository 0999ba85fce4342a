// tree_cases.h -- loops over random trees and the numerical derivative, shared by the tree tests.
#ifndef LWT_TREE_CASES_H
#define LWT_TREE_CASES_H

#include "kinematics/formulation.h"
#include "support/mechanism.h"
#include "support/random_model.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** A random tree with a state that is not its start. */
typedef struct lwt_tree {
    uint64_t seed, state;
    lw_model *model;
    double t;
    double *q, *v; ///< [tree nq], [tree nv]
    double *input;
} lwt_tree;

static inline void *lwt_zeros(size_t count, size_t size)
{
    void *block = calloc(count + 1, size);
    assert_non_null(block);
    return block;
}
static inline double *lwt_reals(int n)
{
    return lwt_zeros((size_t)n, sizeof(double));
}

static inline lwt_tree lwt_tree_create(uint64_t seed, int nbody, unsigned flags)
{
    lwt_tree c = {.seed = seed, .state = seed ^ 0x5eed, .t = 0.4};
    assert_int_equal(lwt_random_tree(seed, nbody, flags, &c.model), LW_OK);
    c.q = lwt_reals(c.model->tree_nq);
    c.v = lwt_reals(c.model->tree_nv);
    c.input = lwt_reals(c.model->desc.ninput);
    memcpy(c.q, c.model->tree_q0, (size_t)c.model->tree_nq * sizeof *c.q);
    for (int i = 0; i < c.model->tree_nv; i++) c.v[i] = lwt_random(&c.state, -1, 1);
    for (int i = 0; i < c.model->desc.ninput; i++) c.input[i] = lwt_random(&c.state, -1, 1);
    return c;
}

static inline void lwt_tree_destroy(lwt_tree *c)
{
    lw_model_destroy(c->model);
    free(c->q);
    free(c->v);
    free(c->input);
}

/** Everything observed at the state, by aba; memory is in `arena`. */
static inline void lwt_tree_observe(const lwt_tree *c, lwi_arena *arena, lwi_snapshot *m)
{
    lwi_work *aba = lwt_work(c->model, &lwi_formulation_aba);
    double *x = lwt_reals(aba->layout.nx);
    memcpy(x, c->q, (size_t)c->model->tree_nq * sizeof *x);
    memcpy(x + c->model->tree_nq, c->v, (size_t)c->model->tree_nv * sizeof *x);
    lwt_observe(aba, c->t, x, c->input, arena, m);
    free(x);
    lwi_work_destroy(aba);
}

/** The seeds 1..count of trees with 1 to 12 bodies; prints the seed of a failure. */
#define LWT_FOR_TREES(c, count, flags)                                                             \
    for (uint64_t seed_ = 1; seed_ <= (count); seed_++)                                            \
        for (lwt_tree c = lwt_tree_create(seed_, 1 + (int)(seed_ % 12), (flags)); c.model != NULL; \
             lwt_tree_destroy(&c), c.model = NULL)

/** |a - b| within tol (1 + |b|), with a message. */
static inline void lwt_close(const lwt_tree *c, const char *what, int index, double a, double b,
                             double tol)
{
    if (fabs(a - b) <= tol * (1 + fabs(b))) return;
    fail_msg("seed %llu: %s %d: %.17g, expected %.17g (%.3g off)", (unsigned long long)c->seed,
             what, index, a, b, fabs(a - b));
}

// Central difference of order four with step h: f'(0) = (8 (f1 - f-1) - (f2 - f-2)) / 12h.  With h = 1e-3 the
// truncation is h^4 f'''''/30, about 1e-13 of the fifth derivative, and the rounding 1.5 eps |f| / h, about 1e-13.
// The motions here rotate at up to some 10 rad/s, so that the fifth derivatives reach 1e5: a tolerance of 1e-7.
#define LWT_STEP 1e-3
#define LWT_DERIVATIVE_TOLERANCE 1e-7
static const double lwt_offset[4] = {-2 * LWT_STEP, -LWT_STEP, LWT_STEP, 2 * LWT_STEP};
static const double lwt_weight[4] = {1 / (12 * LWT_STEP), -8 / (12 * LWT_STEP), 8 / (12 * LWT_STEP),
                                     -1 / (12 * LWT_STEP)};

#endif
