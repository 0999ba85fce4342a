// inactive_rows.c -- rows that rest while a mechanism passes through a singular position.
//
// At a singular position rows depend on each other that are independent all around.  A motion that
// goes through it asks nothing of their null vector n, S n = mu n with mu -> 0: what it asks, n' c,
// goes to zero like the angle s by which the rows miss depending on each other, and mu like s^2. So
// the multiplier along n is round-off and drift over s^2; close to the position it is noise, which
// an integrator that controls its error follows with ever shorter steps, until one of them ends
// where the pivot is round-off.  And positions that are off the constraints by d have no crossing
// of two branches at all, but a sharp turn from one to the other within s^2 = d.
//
// Therefore rows are given up for the moment within an angle of 1e-5: rank and multipliers (of
// minimum norm) are those of the position itself, the other freedom that opens there is left alone
// for a time in which nothing moves it, and the motion goes straight on.  (What the null vector
// carried, in multipliers that are impulses, is lost for that time: that is why it must be short.
// To let it fade in and out instead takes longer, and loses more.)
//
// What is small depends on masses (a light body between heavy ones makes pivots of their ratio), so
// pivots are compared with those of an ordinary position, noted when ranks are learnt.
//
// A mechanism that is driven into such a position cannot go on, though: there n' c is not small.
#include "elimination/lanes.h"
#include "elimination/parts.h"

#include <math.h>

void lwi_elim_set_reference(lwi_elim *elim)
{
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++)
        elim->reference_pivot[k] =
            elim->front[k].loop && elim->state[k].max_ratio > 0 ? 1 / elim->state[k].max_ratio : 0;
}

void lwi_elim_allow_inactive(lwi_elim *elim, bool may)
{
    elim->inactive_allowed = may;
    for (int u = 0; u < elim->nbatch; u++) {
        lwi_elim_batch *g = elim->task[u].batch;
        g->min_pivot = LWI_ELIM_ROUND;
        for (int l = 0; l < g->lanes && may; l++)
            g->min_pivot = fmax(g->min_pivot,
                                LWI_ELIM_INACTIVE * elim->reference_pivot[elim->task[u].node[l]]);
    }
}

double lwi_elim_inactive_below(const lwi_elim *elim, int node)
{
    const bool may = elim->inactive_allowed && !elim->find_ranks && !elim->unsymmetric &&
                     !lwi_elim_regular(elim, &elim->front[node]);
    return may ? LWI_ELIM_INACTIVE * elim->reference_pivot[node] : 0;
}

// ------------------------------------------------------------------------------- what drives ask

static int inactive_rows(const lwi_elim *elim, int node)
{
    const int generic_rank = elim->generic_rank[node];
    return (generic_rank < 0 ? elim->front[node].nc : generic_rank) - elim->state[node].kept;
}

int lwi_elim_inactive_count(const lwi_elim *elim)
{
    int sum = 0;
    for (int k = 0; k < elim->nnode; k++) sum += inactive_rows(elim, k);
    return sum;
}

// Length of c in scaled rows.
static double length(const lwi_elim *elim, const double *c)
{
    double sum = 0;
    for (int k = 0; k < elim->nnode; k++) {
        const lwi_elim_front *N = &elim->front[k];
        const lwi_elim_edge *e = elim->edge + N->edge.first;
        for (int r = 0, at = 0; r < N->nc; r++) {
            if (r - at == e->m) at = r, e++;
            const double S = elim->S[N->row + r], own = c[e->row + r - at];
            sum += own * own / (S > 0 ? S : 1);
        }
    }
    return sqrt(sum);
}

double lwi_elim_unmet(lwi_elim *elim, const double *c, double *n)
{
    double largest = 0;
    int i = 0; // number of the node's first null vector
    for (int k = 0; k < elim->nnode; k++) {
        const int count = elim->front[k].nc - elim->state[k].kept;
        for (int q = i; q < i + count && inactive_rows(elim, k) > 0; q++) {
            double sum = 0;
            lwi_elim_null(elim, q, n);
            for (int row = 0; row < elim->plan->nrow; row++) sum += n[row] * c[row];
            largest = fmax(largest, fabs(sum));
        }
        i += count;
    }
    return largest > 0 ? largest / length(elim, c) : 0;
}
