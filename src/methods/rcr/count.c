// count.c -- sizes that determine the cost of an evaluation of `rcr`, for each kind of evaluation.
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "base/simd/lanes.h"
#include "methods/rcr/clusters/evaluate.h"

#include <math.h>

int lwi_rcr_bodies_below(const lw_model *model, int n, const int *node, int limit)
{
    int at[LWI_CLOSURE_BODIES], count = 0;
    LWI_ASSERT(n <= LWI_CLOSURE_BODIES);
    for (int s = 0; s < n; s++) at[s] = node[s];
    while (count < limit) {
        int top = -1; // parents have lower numbers than their children
        for (int s = 0; s < n; s++)
            if (at[s] > top) top = at[s];
        if (top < 0) break;
        for (int s = 0; s < n; s++)
            if (at[s] == top) at[s] = model->node[top].parent;
        count++;
    }
    return count;
}

// Multiplications of lwi_cod_factor for n x m numbers at rank r and of one lwi_cod_nearest.  Rows beyond the rank are
// mostly zeros (those that hold a planar mechanism in its plane) and are skipped.
double lwi_rcr_reflections(double n, double m, double r)
{
    double count = r * r;
    for (double k = 0; k < r; k++) // a column: dot, axpy and norm for each later column
        count += 3 * (n - k) * (m - k - 1) + 4 * (n - k);
    return count;
}

void lwi_rcr_count_rows(double rows, bool redundant, lwi_cost_features *f)
{
    // in lanes (row_factor.h): one of eight rows in units of one row of a path, and of a product of reflectors, which is more
    // where the rows do not fit into near caches; from times of nets of balls with 3 x 3 to 8 x 8 meshes
    const double path = 0.6, near = 2.6e5, blocks = ceil(rows / (double)LWI_LANES);
    const double bytes = blocks * f->speeds * (double)sizeof(lwi_lanes);
    const double product = 2.3 * fmax(1, 0.5 + 0.5 * bytes / near);
    f->row_paths = redundant ? f->paths : path * blocks * f->bodies;
    f->row_products = redundant ? f->reflections : product * blocks * rows * f->speeds;
}

int lwi_rcr_rank(const lwi_rcr *e)
{
    int rank = 0;
    for (int k = 0; k < e->model->nnode; k++)
        if (e->node[k].up < 0) rank += e->node[k].rank;
    return rank;
}

void lwi_rcr_count(const lwi_rcr_work *d, lwi_cost_features *f)
{
    const lw_model *model = d->e.model;
    const lwi_cut *cut = &d->cut;
    f->one = 1;
    f->bodies = model->nnode;
    f->speeds = model->tree_nv;
    f->closures = cut->count;
    f->clusters = d->clusters ? lwi_rcr_clusters_count(d->clusters) : 0;
    f->steps = f->lane_products = 0;
    if (d->clusters) lwi_rcr_clusters_cost(d->clusters, &f->steps, &f->lane_products);
    f->nodes = f->plain = f->unconstrained = f->fronts = f->cubes = f->paths = 0;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_rcr_front *front = &d->e.front[k];
        const double n = front->ny + front->nb + front->nin;
        if (front->unconstrained) {
            f->unconstrained++;
            continue;
        }
        f->nodes++;
        f->plain += d->e.node[k].plain;
        f->fronts += n * n;
        f->cubes += n * n * n;
    }
    for (int i = 0; i < cut->count; i++) {
        int node[LWI_CLOSURE_BODIES];
        const int n = lwi_rcr_closure_nodes(model, i, node);
        f->paths += cut->closure[i].n * lwi_rcr_bodies_below(model, n, node, model->nnode);
    }
    const int rank = lwi_rcr_rank(&d->e);
    f->redundant = cut->m - rank;
    f->reflections = lwi_rcr_reflections(cut->n, cut->m, rank);
    lwi_rcr_count_rows(cut->m, rank < cut->m, f);
}

const char *lwi_rcr_evaluation_name(const lwi_rcr_work *d)
{
    const bool fits = d->clusters && lwi_rcr_clusters_count(d->clusters) > 0;
    if (fits && d->in_clusters) return LWI_RCR_CLUSTERS;
    return d->dense && !fits ? LWI_RCR_DENSE_PATH : LWI_RCR_ELIMINATION;
}
