// system.h -- the system of one node during its elimination: between system.c and sweep.c.
#ifndef LWI_METHODS_RCR_SYSTEM_H
#define LWI_METHODS_RCR_SYSTEM_H

#include "methods/rcr/rcr.h"

#include "base/assert.h"

// The system under construction, in scratch; symmetric matrices have their upper triangle.
typedef struct lwi_rcr_system {
    lwi_rcr_front *f;
    const lwi_rcr_node *node;
    int k, ny, nc, n; // node; speeds; columns without and with x_k
    double *H;        // [nc][nc]
    double *K;        // [6][n] rows of x_k
    double *G;        // [nin][n]
    double *B;        // [nc][nc]
    double *scratch;  // [n]
    int *at, *map;    // [n] column of the system for a column of the result; [ny]
    bool *taken;      // [ny] the column is a dependent speed
    lwi_rcr_mode mode;
    double pivot, rank;
    bool plain; // x_k has been substituted
    bool form; // the quadratic form, too: ranks and the choice of speeds follow from the rows alone
} lwi_rcr_system;

/** A wrench [f; n] from the node's origin to the parent's: n + d x f.                   [anderson2003, (10)] */
static inline void rcr_move_wrench(const double d[3], double w[6])
{
    v3_cross_add(w + 3, d, w);
}

/** Speeds, rows and dependent speeds below of node k: ny, nin, below of its front; after its children. */
void lwi_rcr_count_front(lwi_rcr *e, int k);

/** Permanent memory from the lower end of the pool. */
static inline void *lwi_rcr_push(lwi_rcr *e, size_t n)
{
    double *at = e->pool + e->used;
    e->used += n;
    LWI_ASSERT(e->used <= e->room);
    return at;
}

/** The node's own inertia, messages and closures, with x_k substituted.  @return false if the pool
 *  is too small */
bool lwi_rcr_fill(lwi_rcr *e, lwi_rcr_system *s);

#endif
