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

void lwi_elim_usual(lwi_elim *dual)
{
    lwi_elim_note_groups(dual);
    for (int k = 0; k < dual->nnode; k++)
        dual->usual[k] =
            dual->front[k].loop && dual->state[k].most > 0 ? 1 / dual->state[k].most : 0;
}

void lwi_elim_let_rest(lwi_elim *dual, bool may)
{
    dual->may_rest = may;
    for (int u = 0; u < dual->ngroup; u++) {
        lwi_elim_batch *g = dual->unit[u].group;
        g->least = LWI_ELIM_ROUND;
        for (int l = 0; l < g->lanes && may; l++)
            g->least = fmax(g->least, LWI_ELIM_REST * dual->usual[dual->unit[u].node[l]]);
    }
}

double lwi_elim_inactive_below(const lwi_elim *dual, int node)
{
    const bool may =
        dual->may_rest && !dual->learn && !dual->two && !lwi_elim_regular(dual, &dual->front[node]);
    return may ? LWI_ELIM_REST * dual->usual[node] : 0;
}

// ------------------------------------------------------------------------------- what drives ask

static int resting(const lwi_elim *dual, int node)
{
    const int learnt = dual->learnt[node];
    return (learnt < 0 ? dual->front[node].nc : learnt) - dual->state[node].kept;
}

int lwi_elim_resting(const lwi_elim *dual)
{
    int sum = 0;
    for (int k = 0; k < dual->nnode; k++) sum += resting(dual, k);
    return sum;
}

// Length of c in scaled rows.
static double length(const lwi_elim *dual, const double *c)
{
    double sum = 0;
    for (int k = 0; k < dual->nnode; k++) {
        const lwi_elim_front *N = &dual->front[k];
        const lwi_elim_edge *e = dual->edge + N->edge.first;
        for (int r = 0, at = 0; r < N->nc; r++) {
            if (r - at == e->m) at = r, e++;
            const double S = dual->S[N->row + r], own = c[e->row + r - at];
            sum += own * own / (S > 0 ? S : 1);
        }
    }
    return sqrt(sum);
}

double lwi_elim_unmet(lwi_elim *dual, const double *c, double *n)
{
    double most = 0;
    int i = 0; // number of the node's first null vector
    for (int k = 0; k < dual->nnode; k++) {
        const int count = dual->front[k].nc - dual->state[k].kept;
        for (int q = i; q < i + count && resting(dual, k) > 0; q++) {
            double sum = 0;
            lwi_elim_null(dual, q, n);
            for (int row = 0; row < dual->plan->nrow; row++) sum += n[row] * c[row];
            most = fmax(most, fabs(sum));
        }
        i += count;
    }
    return most > 0 ? most / length(dual, c) : 0;
}
