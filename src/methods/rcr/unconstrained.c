// unconstrained.c -- the elimination of unconstrained nodes: no row determines their speeds, and their system has no
// other body than the parent.
//
// The step is that of the articulated-body recursion [anderson2003, (14), (15), (19), (27)], with K the inertia of
// the node and of its children's messages,
//
//     D = S'K S + rotors = L L',   Y = L^-1 S'K X,   H = X'K X - Y'Y
//
// Rows of loops that are open at the node are only moved to the parent's origin (43).  Numbers (n) are those of
// [anderson2003].
// K is a dense 6 x 6 matrix in world axes, as the messages of the elimination are; tree/articulated.h has link
// axes and packed inertias.
#include "methods/rcr/unconstrained.h"

#include "base/assert.h"
#include "methods/rcr/system.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- at a node

// Received rows, moved to the parent's origin (43).  False if a speed of the node occurs in one of them.
static bool carry_rows(const lwi_rcr *e, int k, double *G)
{
    const lwi_rcr_node *node = &e->node[k];
    const lwi_node *own = &e->model->node[k];
    for (int i = 0; i < node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[node->child[i]];
        for (int r = 0; r < child->nout; r++, G += 6) {
            const double *g = child->G + 6 * r;
            for (int j = own->iv; j < own->iv + own->nv; j++)
                if (fabs(v6_dot(g, e->S[j])) > LWI_RCR_ABSENT) return false;
            v6_copy(G, g);
            rcr_move_wrench(e->d[k], G);
        }
    }
    return true;
}

// Inertia K of node k and its children's messages, both triangles.
static void gather_inertia(const lwi_rcr *e, int k, double K[36])
{
    const lwi_rcr_node *node = &e->node[k];
    memcpy(K, e->I[k], sizeof e->I[k]);
    for (int i = 0; i < node->nchild; i++) {
        LWI_ASSERT(e->node[node->child[i]].up == k && e->front[node->child[i]].nb == 6);
        const double *H = e->front[node->child[i]].H;
        for (int a = 0; a < 6; a++)
            for (int b = a; b < 6; b++) K[6 * a + b] += H[6 * a + b];
    }
    for (int a = 1; a < 6; a++)
        for (int b = 0; b < a; b++) K[6 * a + b] = K[6 * b + a];
}

// L, Y about the node's origin, K := K - Y'Y.  Returns the first speed without inertia; -1: none.
static int eliminate_speeds(const lwi_rcr *e, int k, double *K, lwi_rcr_front *f)
{
    const lwi_node *own = &e->model->node[k];
    for (int i = 0; i < own->nv; i++) {
        const double *S = e->S[own->iv + i];
        double *Y = f->Y + 6 * i, *L = f->L + i * own->nv;
        // K is reduced by the speeds before i: this is the next row of the Cholesky factor
        for (int c = 0; c < 6; c++)
            Y[c] = S[0] * K[c] + S[1] * K[6 + c] + S[2] * K[12 + c] + S[3] * K[18 + c] +
                   S[4] * K[24 + c] + S[5] * K[30 + c];
        double before = 0; // part of the diagonal that earlier speeds took
        for (int l = 0; l < i; l++) {
            L[l] = v6_dot(f->Y + 6 * l, S);
            before += L[l] * L[l];
        }
        const double pivot = v6_dot(Y, S) + e->rotor[own->iv + i];
        // rounding of S'KS: a few units in the last place of its terms
        if (!(pivot > 64 * DBL_EPSILON * (pivot + before))) return i;
        LWI_ASSERT(pivot > 0);
        L[i] = sqrt(pivot);
        const double inverse = 1 / L[i];
        for (int c = 0; c < 6; c++) Y[c] *= inverse;
        for (int a = 0; a < 6; a++) {
            const double y = Y[a];
            for (int c = 0; c < 6; c++) K[6 * a + c] -= y * Y[c];
        }
    }
    return -1;
}

// H := X'K X
static void move_inertia(const double d[3], const double *K, double *H)
{
    memcpy(H, K, 36 * sizeof *H);
    for (int i = 0; i < 6; i++) rcr_move_wrench(d, H + 6 * i);
    for (int j = 0; j < 6; j++) {
        H[18 + j] += d[1] * H[12 + j] - d[2] * H[6 + j];
        H[24 + j] += d[2] * H[j] - d[0] * H[12 + j];
        H[30 + j] += d[0] * H[6 + j] - d[1] * H[j];
    }
}

// ----------------------------------------------------------------------------------------- matrices

// Number of rows that are kept; -1: the node is not unconstrained.
static int rows_kept(const lwi_rcr *e, int k, lwi_rcr_mode mode)
{
    const lwi_rcr_node *node = &e->node[k];
    const lwi_rcr_front *f = &e->front[k];
    const lwi_node *own = &e->model->node[k];
    if (f->nin == 0) return 0;
    if (!lwi_rcr_is_fixed(mode) || node->nclosure) return -1;
    for (int j = own->iv; j < own->iv + own->nv; j++)
        if (e->dependent[j]) return -1;
    const int want = node->rank - f->below;
    if (want <= 0) return want == 0 ? 0 : -1;
    return want >= f->nin && node->up >= 0 ? f->nin : -1;
}

bool lwi_rcr_unconstrained(lwi_rcr *e, int k, lwi_rcr_mode mode, int *fails)
{
    const lwi_rcr_node *node = &e->node[k];
    const int nv = e->model->node[k].nv;
    lwi_rcr_front *f = &e->front[k];
    double K[36];
    f->unconstrained = false;
    if (!node->plain || lwi_rcr_rotors_at(e, k)) return false;
    lwi_rcr_count_front(e, k);
    if (f->ny != nv) return false;
    const int kept = rows_kept(e, k, mode);
    if (kept < 0) return false;
    const int nb = node->parent_at < 0 ? 0 : 6;
    const size_t n = (size_t)nv, rows = (size_t)f->nin;
    const size_t need = (n + 1) / 2 + rows + 6 * (size_t)kept + n * n + 6 * n + 36 + 6 + n;
    if (e->used + need > e->need) e->need = e->used + need;
    if (e->used + need > e->room) return false; // the general elimination reports it
    double *G = e->pool + e->used;
    if (kept && !carry_rows(e, k, G)) return false;
    f->G = lwi_rcr_push(e, 6 * (size_t)kept);
    f->y = lwi_rcr_push(e, (n + 1) / 2);
    for (int j = 0; j < nv; j++) f->y[j] = e->model->node[k].iv + j;
    f->row = lwi_rcr_push(e, rows);
    f->L = lwi_rcr_push(e, n * n);
    f->Y = lwi_rcr_push(e, 6 * n);
    f->H = lwi_rcr_push(e, 36);
    f->h = lwi_rcr_push(e, 6);
    f->z = lwi_rcr_push(e, n);
    if (mode == LWI_RCR_FIND_RANKS) e->node[k].rank = f->below;
    f->unconstrained = f->rows_unchanged = true;
    f->nd = f->nz = 0;
    f->ni = nv;
    f->nb = nb;
    f->kept = kept;
    f->nout = node->up >= 0 ? kept : 0;
    LWI_ASSERT(f->nout <= f->nin && node->nbody <= 1);
    LWI_ASSERT(e->used <= e->room);
    *fails = -1;
    if (mode != LWI_RCR_FIXED) return true; // no inertia is needed
    gather_inertia(e, k, K);
    *fails = eliminate_speeds(e, k, K, f);
    for (int i = 0; i < nv; i++) rcr_move_wrench(e->d[k], f->Y + 6 * i);
    if (nb) move_inertia(e->d[k], K, f->H);
    return true;
}

// ------------------------------------------------------------------------------------------ vectors

void lwi_rcr_unconstrained_inward(lwi_rcr *e, int k)
{
    const lwi_rcr_node *node = &e->node[k];
    const lwi_node *own = &e->model->node[k];
    lwi_rcr_front *f = &e->front[k];
    const int nv = own->nv;
    double F[6];
    v6_copy(F, e->F[k]);
    for (int i = 0; i < node->nchild; i++) v6_add(F, F, e->front[node->child[i]].h);
    for (int i = 0; i < nv; i++) {
        double z = e->Q[own->iv + i] + v6_dot(e->S[own->iv + i], F);
        for (int l = 0; l < i; l++) z -= f->L[i * nv + l] * f->z[l];
        LWI_ASSERT(f->L[i * nv + i] > 0);
        f->z[i] = z / f->L[i * nv + i];
    }
    if (node->parent_at < 0) return;
    rcr_move_wrench(e->d[k], F);
    for (int i = 0; i < nv; i++) v6_axpy(F, -f->z[i], f->Y + 6 * i);
    v6_copy(f->h, F);
}

void lwi_rcr_unconstrained_outward(lwi_rcr *e, int k)
{
    const lwi_node *own = &e->model->node[k];
    const lwi_rcr_front *f = &e->front[k];
    const int nv = own->nv;
    double *y = e->y + own->iv;
    LWI_ASSERT(own->parent < k && f->unconstrained);
    for (int i = nv - 1; i >= 0; i--) {
        double s = f->z[i];
        if (own->parent >= 0) s -= v6_dot(f->Y + 6 * i, e->x[own->parent]);
        for (int l = i + 1; l < nv; l++) s -= f->L[l * nv + i] * y[l];
        y[i] = s / f->L[i * nv + i];
    }
}
