// rank.c -- rank of the constraint equations at the start and near it.
//
// A mechanism that starts in a singular position has fewer independent rows there than in its neighbourhood:
// its generic rank is found by steps along the degrees of freedom, closed again by Gauss-Newton.
#include "methods/dense/dense.h"

#include <math.h>
#include <string.h>

// Rows at t = 0; returns their rank.
static int rank_here(lwi_dense *s, double threshold)
{
    lwi_dense_place(s, 0);
    lwi_dense_equations(s, 0);
    lwi_dense_scale(s);
    lwi_cod_factor(&s->cod, -1, threshold);
    return s->cod.rank;
}

static double largest(int n, const double *x)
{
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
    return size;
}

// x := a step of the given size along the degrees of freedom; `seed` selects the direction.
static void step_along_motion(lwi_dense *s, int seed, double size, double *x)
{
    memset(x, 0, (size_t)s->n * sizeof *x);
    // multiples of an irrational number, modulo 1: no direction is omitted or repeated
    for (int k = s->cod.rank; k < s->n; k++) {
        const double turns = 0.6180339887498949 * (k + 1) * (2 * seed + 1);
        x[k] = turns - floor(turns) - 0.5;
    }
    lwi_cod_q(&s->cod, false, x);
    const double moved = largest(s->n, x);
    for (int k = 0; k < s->n; k++) x[k] *= moved > 0 ? size / moved : 0;
    lwi_dense_from_metric(s, x);
}

// Gauss-Newton to the constraints, on the shortest way: K^1/2 x = -J'^+ phi.
//
// A step of size h along the degrees of freedom leaves the constraints by h^2 and tilts redundant rows by as
// much, while rows that become independent there have angles of order h: `steep` lies between and excludes
// the first.
static bool close_positions(lwi_dense *s, double steep, double *x)
{
    const int max_steps = 20;                      // quadratic convergence: six are common
    const double closed = 1e-11 * (1 + s->length); // far below the angles that decide the rank
    for (int i = 0; i < max_steps; i++) {
        rank_here(s, steep);
        if (largest(s->m, s->phi) < closed) return true;
        for (int k = 0; k < s->m; k++) s->phi[k] /= -s->len[k];
        lwi_cod_solve_t(&s->cod, s->phi, x);
        lwi_dense_from_metric(s, x);
        lwi_dense_move(s, x);
    }
    return false;
}

lwi_dense_ranks lwi_dense_rank(lwi_dense *s, double threshold, double *x)
{
    LWI_ASSERT(threshold > 0 && threshold < 1);
    // Radians, or lengths of the mechanism: large enough to leave a singular position, where pivots grow with
    // the step, small enough that h^2 is well below h.
    static const double sizes[] = {0.02, 0.03, 0.05};
    const int full_rank = s->n < s->m ? s->n : s->m;
    lwi_dense_ranks ranks = {.start = s->m, .generic = s->m};
    if (s->model->nloop == 0 && s->model->ncoupling == 0)
        return ranks; // rows of a tree are independent
    lwi_dense_geometric(s);
    lwi_dense_start(s);
    ranks.start = ranks.generic = rank_here(s, threshold);
    if (ranks.start == s->n) return ranks; // nothing moves
    for (int i = 0; i < LWI_COUNT(sizes) && ranks.generic < full_rank; i++) {
        lwi_dense_start(s);
        rank_here(s, threshold);
        step_along_motion(s, i, sizes[i] * s->length, x);
        lwi_dense_move(s, x);
        if (!close_positions(s, 0.2 * sizes[i], x)) continue; // 0.2: between h and 1
        const int rank = rank_here(s, threshold);
        if (rank > ranks.generic) ranks.generic = rank;
    }
    return ranks;
}
