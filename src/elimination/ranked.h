// ranked.h -- a node with rank decisions, and what nodes with many rows do in another way (rank.c, rank_large.c).
#ifndef LWI_ELIMINATION_RANKED_H
#define LWI_ELIMINATION_RANKED_H

#include "elimination/dense.h"
#include "elimination/parts.h"

typedef struct lwi_elim_ranked {
    bool large;
    int n, no, ld; ///< closed rows, open rows, row length
    double *R, *v;
    double *S, *scale;
    double *C; ///< [no][no] scratch until the compliance is assembled; NULL where no loop is closed
    double *null; ///< [n - kept][n]; of large nodes factors and scratch [n][n]
    int *swap;    ///< [n] row k was exchanged with this one before step k
    bool factors; ///< are wanted, not pivots only
    lwi_elim_state *state;
    const lwi_elim_kernels *kernels; ///< of large nodes
} lwi_elim_ranked;

static inline void lwi_elim_swap_rows(int n, const int *swap, double *v)
{
    for (int k = 0; k < n; k++) {
        LWI_ASSERT(swap[k] >= k);
        lwi_elim_exchange(&v[k], &v[swap[k]]);
    }
}

static inline void lwi_elim_swap_back(int n, const int *swap, double *v)
{
    for (int k = n - 1; k >= 0; k--) lwi_elim_exchange(&v[k], &v[swap[k]]);
}

// Of large nodes, after the pivots: the null space; Z and U; right sides and solutions; null vector q, of unit length in
// scaled rows.
void lwi_elim_large_null(const lwi_elim_ranked *t, const lwi_team *team);
void lwi_elim_large_columns(const lwi_elim_ranked *t, double *U, int lu, const lwi_team *team);
void lwi_elim_large_up(const lwi_elim_ranked *t);
void lwi_elim_large_down(const lwi_elim_ranked *t);
void lwi_elim_large_vector(const lwi_elim_ranked *t, int q, double *null);

#endif
