// inactive_rows.c -- rows that are inactive while a mechanism passes through a singular position.
//
// At a singular position rows depend on each other that are independent in its neighbourhood.  Along a motion
// through it, their null vector n, S n = mu n with mu -> 0, gets no load: n' c vanishes like the angle s from
// dependence, and mu like s^2.  The multiplier along n is therefore round-off and drift over s^2: close to
// the position it is noise, which an integrator with error control follows with ever shorter steps, until the
// pivot is round-off. Positions that are off the constraints by d have no crossing of two branches at all,
// but a sharp change from one to the other within s^2 = d.
//
// Therefore rows are inactive within an angle of 1e-5: rank and multipliers (of minimum norm) are those of
// the position itself, the degree of freedom that opens there is not excited in that short time, and the
// motion continues on its branch.  (Impulse multipliers lose their component along the null vector there,
// which is why the time must be short.  A gradual transition takes longer and loses more.)
//
// The size of pivots depends on masses (a light body between heavy ones has pivots of their ratio), so they
// are compared with the reference pivots of an ordinary position, noted when generic ranks are found.
//
// A mechanism that is driven into such a position cannot continue: there n' c is not small (lwi_elim_unmet).
#include "elimination/lanes.h"
#include "elimination/parts.h"

#include <math.h>
#include <string.h>

void lwi_elim_set_reference(lwi_elim *elim)
{
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++)
        elim->reference_pivot[k] =
            elim->front[k].loop && elim->state[k].max_ratio > 0 ? 1 / elim->state[k].max_ratio : 0;
}

void lwi_elim_get_reference(const lwi_elim *elim, double *pivot)
{
    memcpy(pivot, elim->reference_pivot, (size_t)elim->nnode * sizeof *pivot);
}

void lwi_elim_put_reference(lwi_elim *elim, const double *pivot)
{
    memcpy(elim->reference_pivot, pivot, (size_t)elim->nnode * sizeof *pivot);
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
    LWI_ASSERT_INDEX(node, elim->nnode);
    LWI_ASSERT(elim->reference_pivot[node] >= 0);
    const bool may = elim->inactive_allowed && !elim->find_ranks && !elim->unsymmetric &&
                     !lwi_elim_regular(elim, &elim->front[node]);
    return may ? LWI_ELIM_INACTIVE * elim->reference_pivot[node] : 0;
}

bool lwi_elim_near_inactive(const lwi_elim *elim)
{
    bool near = false;
    lwi_elim_note_batches(elim);
    for (int k = 0; k < elim->nnode; k++)
        near |= elim->state[k].max_ratio * LWI_ELIM_INACTIVE * elim->reference_pivot[k] >= 0.5;
    return near;
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
    int i = 0; // number of the first null vector of the node
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
