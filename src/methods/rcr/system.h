// system.h -- the system of one node while it is put together and divided: between system.c
// and sweep.c.
#ifndef LWI_METHODS_RCR_SYSTEM_H
#define LWI_METHODS_RCR_SYSTEM_H

#include "methods/rcr/rcr.h"

// The system under construction, in scratch: of symmetric matrices the upper triangle counts.
typedef struct lwi_rcr_system {
    lwi_rcr_front *f;
    const lwi_rcr_node *node;
    int k, ny, nc, n; // speeds; columns without and with x_k
    double *H;        // [nc][nc]
    double *K;        // [6][n] rows of x_k
    double *G;        // [nin][n]
    double *B;        // [nc][nc]
    double *scratch;  // [n]
    int *at, *map;    // [n] column of the system that a column of the result is; [ny]
    bool *taken;      // [ny]
    lwi_rcr_mode mode;
    double pivot, rank;
    bool plain; // x_k is replaced already
} lwi_rcr_system;

/** Memory of the pool, from below: what stays. */
static inline void *lwi_rcr_push(lwi_rcr *e, size_t n)
{
    double *at = e->pool + e->used;
    e->used += n;
    return at;
}

/** The node's own inertia, messages and closures, x_k replaced; false where the pool is too small.
 */
bool lwi_rcr_fill(lwi_rcr *e, lwi_rcr_system *s);

#endif
