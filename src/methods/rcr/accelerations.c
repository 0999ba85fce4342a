// accelerations.c -- accelerations and multipliers by the elimination, from the forces of an instant.
//
// Forces at zero free accelerations enter the sweep (7), (12), with known parts of the rows J A + gamma = 0; vdot,
// multipliers and the wrenches that joints transmit come out.  Numbers (n) are those of [anderson2003]; units of the
// sweep: rcr.h.  The sweep itself: solve.c.
#include "methods/rcr/rcr.h"

#include "base/assert.h"
#include "methods/rcr/dense_path.h"

void lwi_rcr_force(lwi_rcr *e, const lwi_tree_work *tree, int k, const double wrench[6])
{
    const double unit = 1 / e->length;
    m3_mul_v(e->F[k], tree->R[k], wrench);
    m3_mul_v(e->F[k] + 3, tree->R[k], wrench + 3);
    v3_scale(e->F[k], unit, e->F[k]);
    v3_scale(e->F[k] + 3, unit * unit, e->F[k] + 3);
}

// A_t, the accelerations at zero free accelerations, and the forces F that remain then.      (7), (12)
void lwi_rcr_residual_forces(lwi_rcr_work *d)
{
    const lw_model *model = d->e.model;
    lwi_tree_work *tree = &d->tree;
    const double base[6] = {-model->gravity[0], -model->gravity[1], -model->gravity[2]};
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        const lwi_link *link = &tree->link[k];
        double *A = tree->A[k], c[6], P[6], F[6];
        motion_to(A, link->R, link->r, node->parent < 0 ? base : tree->A[node->parent]);
        lwi_tree_bias(model, k, tree, d->v, c);
        v6_add(A, A, c);
        inertia_mul(F, node->mass, node->h, node->J, A);
        inertia_mul(P, node->mass, node->h, node->J, tree->V[k]);
        force_cross(c, tree->V[k], P);
        for (int i = 0; i < 6; i++) d->residual[k][i] = tree->wrench[k][i] - F[i] - c[i];
    }
}

// F, Q of the sweep: (12) at zero free accelerations.
static void bias(lwi_rcr_work *d)
{
    const lw_model *model = d->e.model;
    const double unit = 1 / d->e.length;
    lwi_rcr_residual_forces(d);
    for (int k = 0; k < model->nnode; k++) lwi_rcr_force(&d->e, &d->tree, k, d->residual[k]);
    for (int j = 0; j < model->tree_nv; j++)
        d->e.Q[j] = d->tree.effort[j] * unit * unit / d->e.scale[j];
}

void lwi_rcr_gamma(lwi_cut *cut, const lwi_tree_work *tree, double t)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    for (int i = 0; i < model->nloop; i++)
        lwi_joint_closure_gamma(model, model->loop[i], t, &motion, cut->gamma + cut->first[i]);
    lwi_cut_gamma_at_rest(cut, tree);
    for (int i = 0; i < model->ncoupling; i++) {
        lwi_closure c;
        lwi_coupling_closure(model, i, t, &motion, LWI_CLOSURE_RATES, &c);
        LWI_ASSERT(c.n == 1);
        cut->gamma[cut->first[model->nloop + i]] = c.gamma[0];
    }
}

void lwi_rcr_accelerations(lwi_rcr_work *d, double t)
{
    lwi_rcr *e = &d->e;
    lwi_cut *cut = &d->cut;
    lwi_rcr_gamma(cut, &d->tree, t);
    bias(d);
    lwi_cut_accelerations(cut, &d->tree, e->a);
    lwi_rcr_rotors_rows(e, &d->tree, t, LWI_CLOSURE_RATES);
    lwi_rcr_rotors_force(e, (const double(*)[3])cut->a, (const double(*)[3])cut->al, true);
    for (int r = 0; r < cut->m; r++)
        e->a[r] = (e->a[r] + cut->gamma[r]) / (cut->len[r] * e->length);
    lwi_rcr_solve(e);
    d->rotor_power = lwi_rcr_rotors_efforts(e, &d->tree, d->tree.wrench);
    for (int i = 0; i < e->model->tree_nv; i++) d->vdot[i] = e->y[i] / e->scale[i];
}

void lwi_rcr_lambda(lwi_rcr_work *d, double *lambda)
{
    if (d->by_dense) {
        lwi_rcr_dense_multipliers(d->dense, lambda);
        return;
    }
    lwi_rcr_multipliers(&d->e);
    for (int r = 0; r < d->cut.m; r++) lambda[r] = -d->e.mu[r] * d->e.length / d->cut.len[r];
}

// The wrench on a node without rows, H x_parent - h of its message, about its origin in link axes.
static void transmitted(const lwi_rcr_work *d, int k, double F[6])
{
    const lwi_rcr *e = &d->e;
    const lwi_rcr_front *f = &e->front[k];
    const double *x = e->x[e->model->node[k].parent], *R = d->tree.R[k];
    double wrench[6], arm[3];
    for (int i = 0; i < 6; i++) wrench[i] = v6_dot(f->H + 6 * i, x) - f->h[i];
    v3_scale(arm, -1, e->d[k]);
    v3_cross_add(wrench + 3, arm, wrench);
    m3_tmul_v(F, R, wrench);
    m3_tmul_v(F + 3, R, wrench + 3);
    v3_scale(F, e->length, F);
    v3_scale(F + 3, e->length * e->length, F + 3);
}

void lwi_rcr_take_accelerations(lwi_rcr_work *d)
{
    lwi_tree_work *tree = &d->tree;
    for (int k = 0; k < d->e.model->nnode; k++) {
        const lwi_rcr_front *f = &d->e.front[k];
        double v[3], w[3];
        m3_tmul_v(v, tree->R[k], d->e.x[k]);
        m3_tmul_v(w, tree->R[k], d->e.x[k] + 3);
        v3_axpy(tree->A[k], d->e.length, v);
        v3_add(tree->A[k] + 3, tree->A[k] + 3, w);
        tree->has_F[k] = f->unconstrained && f->nin == 0 && f->nb == 6;
        if (tree->has_F[k]) transmitted(d, k, tree->F[k]);
    }
}
