// momenta.c -- coordinate reduction with joint momenta as state.
//
// The speeds make
//
//     sum_k V_k' I_k V_k / 2 - p' u    under    J V + b = 0
//
// stationary [naudet2003, (7)]: the problem of the accelerations with p in place of the efforts, and the momenta
// I V_t of the prescribed motion in place of inertial forces.  One elimination and one vector pass give all
// speeds, with velocities that satisfy the rows to rounding, and the impulses sigma of the rows,
//
//     M V = b(p) + J' sigma
//
// Rates of p with sigma [naudet2003, (8)]: cut_momenta.h.  The result does not depend on the partition.
#include "methods/rcr/rcr.h"

#include "base/assert.h"

#include <string.h>

// [naudet2003, (7)]
void lwi_rcr_momenta_speeds(lwi_rcr_work *d, const double *state)
{
    const lw_model *model = d->cut.model;
    const lwi_cut *cut = &d->cut;
    const lwi_tree_work *tree = &d->tree;
    lwi_rcr *e = &d->e;
    const double unit = 1 / e->length;
    LWI_ASSERT(d->momenta && !d->by_dense);
    lwi_cut_momenta_to_links(d->momenta, state, d->p);
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double P[6] = {0};
        if (model->driven) {
            inertia_mul(P, node->mass, node->h, node->J, tree->V[k]);
            for (int i = 0; i < 6; i++) P[i] = -P[i];
        }
        lwi_rcr_force(e, tree, k, P);
    }
    for (int i = 0; i < model->tree_nv; i++) e->Q[i] = d->p[i] * unit * unit / e->scale[i];
    for (int r = 0; r < cut->m; r++)
        e->a[r] = model->driven ? cut->rate[r] / (cut->len[r] * e->length) : 0;
    if (model->driven)
        lwi_rcr_rotors_force(e, (const double(*)[3])tree->body_v, (const double(*)[3])tree->body_w,
                             false);
    lwi_rcr_solve(e);
    for (int i = 0; i < model->tree_nv; i++) d->v[i] = e->y[i] / e->scale[i];
    lwi_rcr_lambda(d, d->sigma);
}

bool lwi_rcr_state_impulses(const lwi_work *work, int i, int n, double *sigma)
{
    const lwi_rcr_work *d = work->data;
    LWI_ASSERT_INDEX(i, d->cut.count);
    LWI_ASSERT(n <= d->cut.first[i + 1] - d->cut.first[i]);
    if (!d->momenta) return false;
    memcpy(sigma, d->sigma + d->cut.first[i], (size_t)n * sizeof *sigma);
    return true;
}

void lwi_rcr_momenta_impulses(lwi_rcr_work *d, double t)
{
    const lwi_cut *cut = &d->cut;
    const lwi_motion motion = lwi_cut_motion(&d->tree);
    for (int i = 0; i < cut->count; i++) {
        const int n = cut->first[i + 1] - cut->first[i];
        LWI_ASSERT(n >= 0 && n <= LWI_CLOSURE_ROWS);
        double sigma[2 * LWI_CLOSURE_ROWS] = {0}; // rows of the joint, then those of its rotors
        for (int r = 0; r < n; r++) sigma[r] = d->sigma[cut->first[i] + r];
        lwi_rcr_rotors_impulses(&d->e, i, d->tree.joint_qd, sigma + n);
        lwi_cut_momenta_add(d->momenta, i, t, &motion, sigma);
    }
    lwi_cut_momenta_transmit(d->momenta);
}
