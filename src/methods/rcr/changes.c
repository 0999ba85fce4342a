// changes.c -- changes of the partition of `rcr` between steps, and its numbers in checkpoints.
//
// Input: the smallest pivot of a step.  Output: another partition where that has become small, consistent speeds.
// Cost: that of an elimination, of some more where a partition is chosen.
#include "methods/rcr/state.h"

#include "base/assert.h"
#include "methods/rcr/clusters/evaluate.h"
#include "methods/rcr/dense_path.h"
#include "methods/rcr/independent.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Numbers of a stored discrete state: made + 2 used_partition, pivots, then dependent speeds as bits.
enum { KEPT_FLAGS, KEPT_PIVOT, KEPT_LAST, KEPT_REJECTED, KEPT_DEPENDENT, KEPT_BITS = 32 };

// Speeds of a state are moved onto the rows, if they are off by so many tolerances; more where the history of a multistep
// method is lost: it would restart in every few steps.
#define FARTHEST 10
#define FARTHEST_MULTISTEP 100

int lwi_rcr_kept_numbers(const lw_model *model)
{
    return KEPT_DEPENDENT + (model->tree_nv + KEPT_BITS - 1) / KEPT_BITS;
}

// A new partition must have a smallest pivot larger by BETTER than the old one.  If there is none, the search is
// repeated when the old pivot has decreased by WORSE.
#define BETTER 1.5
#define WORSE 0.5

static void swap_bytes(size_t n, unsigned char *a, unsigned char *b)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned char x = a[i];
        a[i] = b[i], b[i] = x;
    }
}

// The smallest pivots of the present partition, in the elimination and in the clusters (0: none); after
// lwi_rcr_factor.
typedef struct pivots {
    double min_pivot, clusters;
} pivots;

static pivots check_pivots(const lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    const double clusters = d->clusters ? lwi_rcr_clusters_pivot(work, t, x, d->e.dependent) : 0;
    return (pivots){d->e.min_pivot, clusters};
}

// Compares pivots of the same kind: those of clusters do not depend on the length that relates rotations to
// displacements.
static bool is_better(pivots now, pivots before)
{
    if (now.clusters > 0 && before.clusters > 0) return now.clusters >= BETTER * before.clusters;
    return now.min_pivot >= BETTER * before.min_pivot;
}

// Whether the dense path can evaluate the state again.  Where it cannot, the state stays as it is: a change in every
// step would make methods that have a history begin again each time.
static bool returns_to_dense_path(lwi_work *work, double t, const double *x)
{
    lwi_rcr_work *d = work->data;
    lwi_rcr_place_tree(work, t, x);
    return d->dense && lwi_rcr_dense_factor(d->dense, d, t);
}

// Whether dense_at.off is that of the state, of multistep methods up to a part of a tolerance.
static bool has_off(const lwi_work *work, double t, const double *x)
{
    const lwi_rcr_work *d = work->data;
    return d->dense_at.valid && t == d->dense_at.t &&
           (work->multistep || !memcmp(x, d->dense_at.x, (size_t)work->layout.nx * sizeof *x));
}

// The dense path takes the speeds v = P u nearest to those of the state, and integrates udot = a: vdot = a + Pdot d with
// d = u - v, where errors of the steps add up and do work (docs/theory/rcr.md).  Sets u = v where d is large.
static lw_status close_speeds(lwi_work *work, double t, double *x, bool *changed)
{
    lwi_rcr_work *d = work->data;
    double *u = x + work->model->tree_nq;
    const double limit = work->multistep ? FARTHEST_MULTISTEP : FARTHEST;
    if (has_off(work, t, x) && !(d->dense_at.off > limit)) return LW_OK;
    TRY(lwi_rcr_check_finite(work, t, x));
    lwi_rcr_place_tree(work, t, x);
    d->by_dense = lwi_rcr_dense_factor(d->dense, d, t);
    if (!d->by_dense) return LW_OK;
    lwi_rcr_take_dense_speeds(work, t, x);
    if (d->dense_at.off > limit) {
        memcpy(u, d->v, (size_t)work->model->tree_nv * sizeof *u);
        lwi_rcr_take_dense_speeds(work, t, x); // the bits that rates would find
        *changed = true;
    }
    lwi_rcr_move(work, t, work->model->nforce > 0 ? LWI_RCR_READ_ALL : LWI_RCR_READ_NEEDED);
    lwi_rcr_note_solved(work, t, x);
    d->last.purpose = LWI_RCR_FOR_STEP;
    return LW_OK;
}

// The pivot below which another partition is searched for.  Where those of clusters are small everywhere, for some coordinates
// move much faster than others, it is a part of that at the model's start.
static double kept_pivot(lwi_work *work, double min_pivot)
{
    static const double part = 0.5;
    const lwi_rcr_work *d = work->data;
    if (!(min_pivot < d->keep) || d->keep != LWI_RCR_KEEP || !lwi_rcr_start_partition(work))
        return d->keep;
    return fmin(d->keep, part * d->start.pivot);
}

// Chooses another partition close to a singular position.  The speeds of x are made consistent first, so that the
// new independent ones are right to rounding.  Momenta are unchanged.
lw_status lwi_rcr_pre_step(lwi_work *work, double t, double *x, bool *changed)
{
    const lw_model *model = work->model;
    const size_t n = (size_t)model->tree_nv;
    lwi_rcr_work *d = work->data;
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    const double min_pivot = choice->min_pivot;
    *changed = false;
    // methods with first stage as last evaluate the state at the beginning of a step before or after this: the same
    choice->min_pivot = choice->last_pivot;
    if (!choice->made) return LW_OK;
    if (d->e.independent) { // kept; the smallest pivot is reported
        const double before = choice->rejected_pivot > 0 ? choice->rejected_pivot : d->keep;
        if (min_pivot < before) choice->rejected_pivot = min_pivot, choice->entry = t;
        return LW_OK;
    }
    if (!choice->used_partition && lwi_rcr_takes_dense_path(d, choice))
        TRY(close_speeds(work, t, x, changed));
    const double kept = kept_pivot(work, min_pivot);
    if (!(min_pivot < kept) && !choice->used_partition) return LW_OK;
    const bool returns = choice->used_partition && returns_to_dense_path(work, t, x);
    lwi_rcr_place_state(work, t, x);
    TRY(lwi_rcr_factor(&d->e, LWI_RCR_FIXED, t, &work->error));
    if (returns) { // the dense path reads all speeds
        lwi_rcr_complete_speeds(work, x + model->tree_nq);
        memcpy(x + model->tree_nq, d->v, n * sizeof *x);
        choice->used_partition = false;
        *changed = true;
    }
    if (!(min_pivot < kept)) return LW_OK;
    const pivots before = check_pivots(work, t, x);
    const double now = before.clusters > 0 ? before.clusters : before.min_pivot;
    if (!(now < kept)) {
        choice->rejected_pivot = 0;
        return LW_OK;
    }
    // no new search until the pivot has become much worse, or has been better
    if (choice->rejected_pivot > 0 && now > WORSE * choice->rejected_pivot) return LW_OK;
    if (!d->momenta) lwi_rcr_complete_speeds(work, x + model->tree_nq);
    choice->rejected_pivot = now;
    LWI_ASSERT(!(now >= kept));
    if (lwi_rcr_choose(&d->e, d->theta, t, &work->error) != LW_OK) return LW_OK;
    if (d->clusters) lwi_rcr_clusters_prefer(work, t, x, d->e.fresh);
    swap_bytes(n, choice->dependent, d->e.fresh);
    if (lwi_rcr_factor(&d->e, LWI_RCR_FIXED, t, &work->error) != LW_OK ||
        !is_better(check_pivots(work, t, x), before)) {
        swap_bytes(n, choice->dependent, d->e.fresh);
        return LW_OK;
    }
    choice->rejected_pivot = 0;
    if (!d->momenta) memcpy(x + model->tree_nq, d->v, n * sizeof *x);
    if (!choice->switches++) choice->entry = t;
    *changed = *changed || !d->momenta;
    return LW_OK;
}

void lwi_rcr_keep(const lwi_work *work, double *kept)
{
    const lwi_rcr_choice *choice = work->discrete;
    for (int i = 0; i < work->nkept; i++) kept[i] = 0;
    if (!choice->made) return;
    kept[KEPT_FLAGS] = 1 + 2 * choice->used_partition;
    kept[KEPT_PIVOT] = choice->min_pivot;
    kept[KEPT_LAST] = choice->last_pivot;
    kept[KEPT_REJECTED] = choice->rejected_pivot;
    for (int i = 0; i < work->model->tree_nv; i++)
        if (choice->dependent[i])
            kept[KEPT_DEPENDENT + i / KEPT_BITS] += (double)((uint32_t)1 << i % KEPT_BITS);
}

static bool is_partition(const lwi_work *work, const double *kept)
{
    const lwi_rcr_work *d = work->data;
    const double flags = kept[KEPT_FLAGS];
    const int spare = (work->nkept - KEPT_DEPENDENT) * KEPT_BITS - work->model->tree_nv;
    int dependent = 0;
    if (!(flags == 1 || flags == 3) || !(kept[KEPT_PIVOT] >= 0) || !(kept[KEPT_LAST] >= 0) ||
        !(kept[KEPT_REJECTED] >= 0))
        return false;
    for (int i = KEPT_DEPENDENT; i < work->nkept; i++) {
        const double end = ldexp(1, KEPT_BITS - (i == work->nkept - 1 ? spare : 0));
        if (!(kept[i] >= 0 && kept[i] < end && kept[i] == floor(kept[i]))) return false;
        for (uint32_t bits = (uint32_t)kept[i]; bits; bits &= bits - 1) dependent++;
    }
    return dependent == lwi_rcr_rank(&d->e);
}

lw_status lwi_rcr_recall(lwi_work *work, double t, const double *x, const double *kept)
{
    lwi_rcr_choice *choice = lwi_rcr_choice_of(work);
    lwi_rcr_work *d = work->data;
    memset(choice, 0, work->ndiscrete);
    if (kept[KEPT_FLAGS] == 0) return LW_OK; // the next evaluation chooses
    if (!is_partition(work, kept))
        return lwi_fail(&work->error, LW_ERR_ARGUMENT,
                        "the independent coordinates of the state are not those of this mechanism");
    choice->made = true;
    choice->used_partition = kept[KEPT_FLAGS] == 3;
    choice->min_pivot = kept[KEPT_PIVOT];
    choice->last_pivot = kept[KEPT_LAST];
    choice->rejected_pivot = kept[KEPT_REJECTED];
    for (int i = 0; i < work->model->tree_nv; i++)
        choice->dependent[i] = (uint32_t)kept[KEPT_DEPENDENT + i / KEPT_BITS] >> i % KEPT_BITS & 1u;
    for (int i = 0; i < work->model->tree_nv; i++) // of a run with other names: chosen again
        if (choice->dependent[i] && lwi_rcr_is_independent(&d->e, i)) {
            memset(choice, 0, work->ndiscrete);
            return LW_OK;
        }
    lwi_rcr_place_state(work, t, x);
    const lw_status status = lwi_rcr_factor(&d->e, LWI_RCR_FIXED, t, &work->error);
    if (status != LW_OK) memset(choice, 0, work->ndiscrete);
    return status == LW_ERR_MEMORY ? LW_ERR_ARGUMENT : status;
}

void lwi_rcr_notice(const lwi_work *work, char *text, size_t size)
{
    const lwi_rcr_choice *choice = work->discrete;
    const lwi_rcr_work *d = work->data;
    text[0] = 0;
    if (d->e.independent && choice->rejected_pivot > 0 && !d->momenta)
        snprintf(text, size,
                 "independent coordinates %.100s came close to a singular position at t = %.6g s "
                 "(pivot %.1e), where errors of a step grow by its reciprocal; name others, or "
                 "auto",
                 work->options->independent, choice->entry, choice->rejected_pivot);
    if (!choice->switches) return;
    snprintf(text, size, "independent coordinates were changed, first at t = %.6g s (changes: %d)",
             choice->entry, choice->switches);
}
