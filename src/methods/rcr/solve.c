// solve.c -- the vector passes with the factors of an elimination: velocities, accelerations, multipliers.
//
// Inward, forces and known parts pass through the row operations and eliminations of sweep.c   (15), (60), (64):
//
//     h_b += P'(h_D - H_DD p) - H_bD p,   z = L^-1 h_I,   h -= Y'z
//
// and outward, with b known,
//
//     y_I = L'^-1 (z - Y b)                                                               (67), (70)
//     y_D = P b + p                                              (34), (35), (40), (47), (51), (55)
//     x_k = X x_parent + S y                                                    (8), (9), (68), (71)
//
// A row that determines a dependent speed has the multiplier that follows from the speed's equation of motion,
// R' mu = h_D - (H v)_D; remaining rows have theirs from above.  The paper has no multipliers.  Numbers (n) are those
// of [anderson2003].  Cost: linear in the size of the factors.
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "methods/rcr/unconstrained.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ inward

// Known parts of the rows at node k through its row operations: row [kept], p [nd].
static void transform_rows(lwi_rcr *e, int k, double *scratch)
{
    lwi_rcr_front *f = &e->front[k];
    const lwi_rcr_node *node = &e->node[k];
    int at = 0;
    for (int i = 0; i < node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[node->child[i]];
        for (int r = 0; r < child->nout; r++) f->row[at++] = child->row[child->nd + r];
    }
    for (int i = 0; i < node->nclosure; i++) {
        const int c = node->closure[i], first = e->cut->first[c];
        for (int r = 0; r < e->cut->closure[c].n; r++) f->row[at++] = e->a[first + r];
    }
    LWI_ASSERT(at == f->nin);
    if (f->kept == 0 || f->rows_unchanged) return;
    lwi_rcr_mix(f->nin, f->kept, f->mix, f->norm, f->pick, f->row, scratch);
    for (int i = 0; i < f->nd; i++)
        lwi_rcr_reflect_vector(f->kept, i, f->reflect + (size_t)i * (size_t)(f->kept + 1), f->row);
    for (int i = f->nd - 1; i >= 0; i--) {
        double p = -f->row[i];
        for (int l = i + 1; l < f->nd; l++) p -= f->R[i * f->nd + l] * f->p[l];
        LWI_ASSERT(f->R[i * f->nd + i] != 0);
        f->p[i] = p / f->R[i * f->nd + i];
    }
}

// v [ny + 6 nbody] in the order of the system: forces on its speeds and bodies.      (12), (64)
static void collect_forces(const lwi_rcr *e, int k, double *v)
{
    const lwi_rcr_front *f = &e->front[k];
    const lwi_rcr_node *node = &e->node[k];
    const lwi_node *own = &e->model->node[k];
    double F[6];
    memset(v, 0, (size_t)(f->ny + 6 * node->nbody) * sizeof *v);
    v6_copy(F, e->F[k]);
    int z = own->nv;
    for (int i = 0; i < node->nchild; i++) {
        const lwi_rcr_front *child = &e->front[node->child[i]];
        const lwi_rcr_node *below = &e->node[node->child[i]];
        LWI_ASSERT(z + child->nz <= f->ny);
        for (int j = 0; j < child->nz; j++) v[z++] = child->h[j];
        for (int b = 0; b < below->nbody; b++) {
            double *to = below->slot[b] == node->nbody ? F : v + f->ny + 6 * below->slot[b];
            v6_add(to, to, child->h + child->nz + 6 * b);
        }
    }
    for (int j = 0; j < own->nv; j++) v[j] = e->Q[own->iv + j] + v6_dot(e->S[own->iv + j], F);
    if (node->parent_at < 0) return;
    double *to = v + f->ny + 6 * node->parent_at;
    v3_cross_add(F + 3, e->d[k], F);
    v6_add(to, to, F);
}

// h_b += P'(h_D - H_DD p) - H_bD p, then the independent speeds.              (15), (60), (64)
static void reduce_forces(lwi_rcr *e, int k, const double *v, double *hI)
{
    lwi_rcr_front *f = &e->front[k];
    const int nd = f->nd, ni = f->ni, nb = f->nb, m = ni + nb;
    LWI_ASSERT(nd + ni + f->nz == f->ny && nb >= f->nz);
    for (int i = 0; i < nd; i++) f->hD[i] = v[f->from[i]];
    for (int i = 0; i < ni; i++) hI[i] = v[f->from[nd + i]];
    for (int i = 0; i < f->nz; i++) f->h[i] = v[f->from[nd + ni + i]];
    if (nb > f->nz) memcpy(f->h + f->nz, v + f->ny, (size_t)(nb - f->nz) * sizeof *v);
    for (int d = 0; d < nd; d++) {
        const double *HD = f->HD + d * (nd + m), *P = f->P + d * m;
        double force = f->hD[d];
        for (int l = 0; l < nd; l++) force -= HD[l] * f->p[l];
        for (int i = 0; i < ni; i++) hI[i] += P[i] * force - HD[nd + i] * f->p[d];
        for (int b = 0; b < nb; b++) f->h[b] += P[ni + b] * force - HD[nd + ni + b] * f->p[d];
    }
    for (int i = 0; i < ni; i++) {
        double z = hI[i];
        for (int l = 0; l < i; l++) z -= f->L[i * ni + l] * f->z[l];
        LWI_ASSERT(f->L[i * ni + i] > 0);
        f->z[i] = z / f->L[i * ni + i];
        for (int b = 0; b < nb; b++) f->h[b] -= f->Y[i * nb + b] * f->z[i];
    }
}

// ----------------------------------------------------------------------------------------- outward

// b [nb]: delayed speeds, then motions of other bodies.
static void gather(const lwi_rcr *e, int k, double *b)
{
    const lwi_rcr_front *f = &e->front[k];
    const lwi_rcr_node *node = &e->node[k];
    for (int i = 0; i < f->nz; i++) b[i] = e->y[f->y[f->nd + f->ni + i]];
    for (int i = 0; i < node->nbody; i++) LWI_ASSERT(node->body[i] < k); // its motion is known
    for (int i = 0; i < node->nbody; i++) v6_copy(b + f->nz + 6 * i, e->x[node->body[i]]);
}

// y_I = L'^-1 (z - Y b)                                                                (67), (70)
static void independent_speeds(lwi_rcr *e, int k, const double *b)
{
    lwi_rcr_front *f = &e->front[k];
    const int *y = f->y + f->nd;
    for (int i = f->ni - 1; i >= 0; i--) {
        double s = f->z[i];
        for (int j = 0; j < f->nb; j++) s -= f->Y[i * f->nb + j] * b[j];
        for (int l = i + 1; l < f->ni; l++) s -= f->L[l * f->ni + i] * e->y[y[l]];
        e->y[y[i]] = s / f->L[i * f->ni + i];
    }
}

// y_D = P b + p: speeds (34), (40), (47); accelerations (35), (55)
static void dependent_speeds(lwi_rcr *e, int k, const double *b, bool known)
{
    const lwi_rcr_front *f = &e->front[k];
    const int m = f->ni + f->nb;
    for (int d = 0; d < f->nd; d++) {
        const double *P = f->P + d * m;
        double s = known ? f->p[d] : 0;
        for (int i = 0; i < f->ni; i++) s += P[i] * e->y[f->y[f->nd + i]];
        for (int j = 0; j < f->nb; j++) s += P[f->ni + j] * b[j];
        e->y[f->y[d]] = s;
    }
}

// x = X x_parent + S y, zero for the ground         (8), (9), (46), (68), (69), (71)
static void move_node(lwi_rcr *e, int k)
{
    const lwi_node *own = &e->model->node[k];
    double *x = e->x[k];
    LWI_ASSERT(own->parent < k);
    if (own->parent < 0) {
        v6_zero(x);
    } else {
        v6_copy(x, e->x[own->parent]);
        v3_cross_add(x, x + 3, e->d[k]);
    }
    for (int j = 0; j < own->nv; j++) v6_axpy(x, e->y[own->iv + j], e->S[own->iv + j]);
}

void lwi_rcr_move_nodes(lwi_rcr *e)
{
    for (int k = 0; k < e->model->nnode; k++) move_node(e, k);
}

// ---------------------------------------------------------------------------------------- sweeps

void lwi_rcr_velocities(lwi_rcr *e, bool rheonomic)
{
    const int n = e->model->nnode;
    double *scratch = e->pool + e->used;
    for (int k = n - 1; k >= 0 && rheonomic; k--) transform_rows(e, k, scratch);
    for (int k = 0; k < n; k++) {
        if (e->front[k].nd) {
            gather(e, k, scratch);
            dependent_speeds(e, k, scratch, rheonomic);
        }
        move_node(e, k);
    }
}

void lwi_rcr_solve(lwi_rcr *e)
{
    const int n = e->model->nnode;
    double *scratch = e->pool + e->used;
    for (int k = n - 1; k >= 0; k--) {
        const lwi_rcr_front *f = &e->front[k];
        if (f->nin) transform_rows(e, k, scratch);
        if (f->unconstrained) {
            lwi_rcr_unconstrained_inward(e, k);
            continue;
        }
        collect_forces(e, k, scratch);
        reduce_forces(e, k, scratch, scratch + f->ny + 6 * e->node[k].nbody);
    }
    for (int k = 0; k < n; k++) {
        if (e->front[k].unconstrained) {
            lwi_rcr_unconstrained_outward(e, k);
            move_node(e, k);
            continue;
        }
        gather(e, k, scratch);
        independent_speeds(e, k, scratch);
        dependent_speeds(e, k, scratch, true);
        move_node(e, k);
    }
}

// Multipliers mu [nin] of the rows received by node k, from those of the rows that it sent.
static void transform_multipliers(lwi_rcr *e, int k, double *mu, double *scratch)
{
    const lwi_rcr_front *f = &e->front[k];
    const int nd = f->nd, m = f->ni + f->nb;
    gather(e, k, scratch);
    for (int i = 0; i < nd; i++) {
        const double *HD = f->HD + i * (nd + m);
        double s = f->hD[i];
        for (int l = 0; l < nd + f->ni; l++) s -= HD[l] * e->y[f->y[l]];
        for (int b = 0; b < f->nb; b++) s -= HD[nd + f->ni + b] * scratch[b];
        for (int l = 0; l < i; l++) s -= f->R[l * nd + i] * mu[l];
        LWI_ASSERT(f->R[i * nd + i] != 0);
        mu[i] = s / f->R[i * nd + i];
    }
    for (int i = nd; i < f->kept; i++) mu[i] = i < nd + f->nout ? f->row[i] : 0;
    for (int i = nd - 1; i >= 0; i--)
        lwi_rcr_reflect_vector(f->kept, i, f->reflect + (size_t)i * (size_t)(f->kept + 1), mu);
    lwi_rcr_mix_t(f->nin, f->kept, f->mix, f->norm, f->pick, mu, scratch);
    lwi_rcr_minimum_norm(f->nin, f->kept, f->mix, f->norm, f->pick, mu, scratch + f->nin, scratch);
}

// Returns the multipliers of node k to the senders of its rows and to the closures.
static void send_multipliers(lwi_rcr *e, int k, double *mu, double *scratch)
{
    const lwi_rcr_front *f = &e->front[k];
    const lwi_rcr_node *node = &e->node[k];
    if (f->rows_unchanged)
        for (int i = 0; i < f->nin; i++) mu[i] = i < f->nout ? f->row[i] : 0;
    else
        transform_multipliers(e, k, mu, scratch);
    int at = 0;
    for (int i = 0; i < node->nchild; i++) {
        lwi_rcr_front *child = &e->front[node->child[i]];
        for (int r = 0; r < child->nout; r++) child->row[child->nd + r] = mu[at++];
    }
    for (int i = 0; i < node->nclosure; i++) {
        const int c = node->closure[i], first = e->cut->first[c];
        for (int r = 0; r < e->cut->closure[c].n; r++) e->mu[first + r] = mu[at++];
    }
    LWI_ASSERT(at == f->nin);
}

void lwi_rcr_multipliers(lwi_rcr *e)
{
    for (int k = 0; k < e->model->nnode; k++) {
        const lwi_rcr_front *f = &e->front[k];
        double *mu = e->pool + e->used;
        if (f->nin) send_multipliers(e, k, mu, mu + f->nin);
    }
}
