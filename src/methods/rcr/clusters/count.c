// count.c -- counts of operations of the clusters of a plan, for the table of costs.
//
// A block of lanes is evaluated once for all its clusters, so it counts once: steps, and multiplications of the rows of its
// closing joints, of the factor of W_y'W_y and its solutions, of the projected inertia and of forces.  The sweeps over the
// clusters go one by one, which is their number.
#include "methods/rcr/clusters/clusters.h"

// Of a product of columns, a motion and its projection: in a plane; in space.
typedef struct numbers {
    double column, motion, inertia, product;
} numbers;

static int moving(const lwi_cluster_step *step)
{
    int n = 0;
    for (int j = 0; j < LWI_CLUSTER_KNOWN; j++) n += step->moved_by >> j & 1;
    return n;
}

static double count_rows(const lwi_cluster_shape *s, double column)
{
    double n = 0;
    for (int g = 0; g < s->nclosing; g++) {
        const lwi_cluster_closing *closing = &s->closing[g];
        n += column * closing->ny * (closing->n - 0.5 * (closing->ny - 1));
    }
    return n;
}

// The factor, and as many solutions as there are columns of K, and k.
static double count_factor(const lwi_cluster_shape *s)
{
    double n = 0, below = 0;
    for (int i = 0; i < s->ny; i++) {
        for (int j = s->first[i]; j < i; j++)
            n += 2 + j - (s->first[i] > s->first[j] ? s->first[i] : s->first[j]);
        below += i - s->first[i];
    }
    return n + (s->nx + 1) * (2 * below + s->ny);
}

static double count_bodies(const lwi_cluster_shape *s, const numbers *of)
{
    double n = 0;
    for (int i = 0; i < s->nstep; i++) {
        const int m = moving(&s->step[i]);
        n += of->motion * m;
        if (s->step[i].body >= 0) n += of->inertia * m + of->product * m * (0.5 * (m + 1) + 1);
    }
    return n;
}

void lwi_clusters_count(const lwi_clusters *c, double *steps, double *products)
{
    static const numbers plane = {2, 3, 6, 3}, space = {6, 12, 27, 6};
    *steps = *products = 0;
    for (int i = 0; i < c->nblock; i++) {
        const lwi_cluster_shape *s = c->block[i].shape;
        const numbers *of = s->planar ? &plane : &space;
        *steps += s->nstep;
        *products += count_rows(s, of->column) + count_factor(s) + count_bodies(s, of);
    }
}
