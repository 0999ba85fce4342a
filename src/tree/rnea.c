// rnea.c -- recursive Newton-Euler: wrenches from accelerations                  [featherstone2008]
//
// Outward, the accelerations of the links.  A is the derivative of the components of V in the link frame; gravity
// is an acceleration -g of the base:                                            [anderson2003, (7)-(9)]
//
//     A = X A_parent + S vdot + c,   c = Sdot v + sigma_dot + V x (S v + sigma)
//
// (V x ... comes from the derivative of X: d/dt X V_parent = -V_rel x X V_parent = V x V_rel.)
// Inward, the wrench that each joint transmits to its node:
//
//     F = M A + V x* M V - wrench + sum over children X' F                   [anderson2003, (11), (12)]
//
// All in link frames about their origins, linear part first.  Cost: O(n).
#include "kinematics/tree_state.h"

#include "base/assert.h"
#include "kinematics/kernels.h"

void lwi_tree_bias(const lw_model *model, int k, const lwi_tree_work *work, const double *v,
                   double c[6])
{
    const lwi_node *node = &model->node[k];
    const lwi_link *link = &work->link[k];
    const double *u = v + node->iv;
    LWI_ASSERT_INDEX(k, model->nnode);
    if (node->type->id == LW_JOINT_REVOLUTE && !node->driven) { // V x e6 u, up to the sign of e6
        const double *V = work->V[k], turn = u[0] * link->S[0][5];
        v3_set(c, V[1] * turn, -(V[0] * turn), 0);
        v3_set(c + 3, V[4] * turn, -(V[3] * turn), 0);
        return;
    }
    if (lwi_node_is_universal(node)) {
        const double *V = work->V[k], w[3] = {u[1], u[0] * link->S[0][4], u[0] * link->S[0][5]};
        v3_cross(c, V, w);
        v3_cross(c + 3, V + 3, w);
        v3_axpy(c + 3, u[0], link->Sdot[0] + 3);
        return;
    }
    double V_rel[6] = {0};
    for (int j = 0; j < node->nv; j++) v6_axpy(V_rel, u[j], link->S[j]);
    if (node->driven) v6_add(V_rel, V_rel, link->sigma);
    motion_cross(c, work->V[k], V_rel);
    if (node->type->constant_axis && !node->driven) return;
    for (int j = 0; j < node->nv; j++) v6_axpy(c, u[j], link->Sdot[j]);
    v6_add(c, c, link->sigma_dot);
}

typedef struct bodies {
    const lw_model *model;
    lwi_tree_work *work;
    const unsigned char *known;
    const double *v, *vdot;
} bodies;

static void wrenches_of_bodies(void *user, int first, int end)
{
    const bodies *of = user;
    const lwi_tree_work *work = of->work;
    double P[6], c[6];
    for (int k = first; k < end; k++) {
        const lwi_node *node = &of->model->node[k];
        double *F = work->F[k];
        if (of->known && of->known[k]) continue;
        inertia_mul(F, node->mass, node->h, node->J, work->A[k]);
        inertia_mul(P, node->mass, node->h, node->J, work->V[k]);
        force_cross(c, work->V[k], P);
        v6_add(F, F, c);
        v6_axpy(F, -1, work->wrench[k]);
    }
}

// What the bodies alone need.
static void own_wrenches(const lw_model *model, lwi_tree_work *work, const unsigned char *known)
{
    bodies of = {.model = model, .work = work, .known = known};
    lwi_pool_for(work->pool, model->nnode, wrenches_of_bodies, &of);
}

static void give_wrench(void *user, int k)
{
    const bodies *of = user;
    const int parent = of->model->node[k].parent;
    const lwi_link *link = &of->work->link[k];
    if (parent < 0 || (of->known && of->known[parent])) return;
    force_add_from(of->work->F[parent], link->R, link->r, of->work->F[k]);
}

static bool give_wrenches(void *user, int first, int end)
{
    const bodies *of = user;
    const lwi_observe_kernels *kernels = of->known ? NULL : lwi_observe_kernels_of(0);
    if (kernels && kernels->links.wrenches)
        kernels->links.wrenches(of->model, of->work->link, first, end, of->work->F);
    else
        for (int k = end - 1; k > first; k--) give_wrench(user, k);
    return true;
}

static void sum_wrenches(const lw_model *model, lwi_tree_work *work, const unsigned char *known)
{
    bodies of = {.model = model, .work = work, .known = known};
    LWI_ASSERT(!work->passes || !known);
    if (work->passes)
        lwi_tree_pass_sum(work->passes, work->link, work->F);
    else
        lwi_subtrees_inward(work->subtrees, model, (lwi_inward){give_wrenches, give_wrench}, &of);
}

// A += c + S vdot
static void add_acceleration_of_joint(const bodies *of, int k)
{
    const lwi_node *node = &of->model->node[k];
    const lwi_link *link = &of->work->link[k];
    double *A = of->work->A[k], c[6];
    LWI_ASSERT(node->iv + node->nv <= of->model->tree_nv);
    lwi_tree_bias(of->model, k, of->work, of->v, c);
    v6_add(A, A, c);
    for (int j = 0; j < node->nv; j++) v6_axpy(A, of->vdot[node->iv + j], link->S[j]);
}

static void accelerations_of_nodes(void *user, int first, int end)
{
    const bodies *of = user;
    const double *g = of->model->gravity;
    const double base[6] = {-g[0], -g[1], -g[2]};
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++) {
        if (kernels && kernels->links.accelerations)
            k = kernels->links.accelerations(of->model, work->link, k, end,
                                             (const double(*)[6])work->V, of->v, of->vdot, false,
                                             work->A);
        if (k >= end) return;
        const int parent = of->model->node[k].parent;
        const lwi_link *link = &of->work->link[k];
        LWI_ASSERT(parent < k);
        motion_to(of->work->A[k], link->R, link->r, parent < 0 ? base : of->work->A[parent]);
        add_acceleration_of_joint(of, k);
    }
}

// Of each node relative to its parent; on the ground with the base's.
static void relative_accelerations(void *user, int first, int end)
{
    const bodies *of = user;
    const double *g = of->model->gravity;
    const double base[6] = {-g[0], -g[1], -g[2]};
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const lwi_tree_work *work = of->work;
    for (int k = first; k < end; k++) {
        if (kernels && kernels->links.accelerations)
            k = kernels->links.accelerations(of->model, work->link, k, end,
                                             (const double(*)[6])work->V, of->v, of->vdot, true,
                                             work->A);
        if (k >= end) return;
        const lwi_link *link = &work->link[k];
        v6_zero(work->A[k]);
        if (of->model->node[k].parent < 0) motion_to(work->A[k], link->R, link->r, base);
        add_acceleration_of_joint(of, k);
    }
}

void lwi_tree_accelerations(const lw_model *model, lwi_tree_work *work, const double *v,
                            const double *vdot)
{
    bodies of = {.model = model, .work = work, .v = v, .vdot = vdot};
    if (!work->passes) {
        lwi_subtrees_outward(work->subtrees, model, accelerations_of_nodes, &of);
        return;
    }
    lwi_pool_for(work->pool, model->nnode, relative_accelerations, &of);
    lwi_tree_sum_motions(model, work, work->A, work->F);
}

void lwi_tree_newton_euler(const lw_model *model, lwi_tree_work *work, const double *v,
                           const double *vdot)
{
    lwi_tree_accelerations(model, work, v, vdot);
    own_wrenches(model, work, NULL);
    sum_wrenches(model, work, NULL);
}

void lwi_tree_wrenches(const lw_model *model, lwi_tree_work *work)
{
    own_wrenches(model, work, work->has_F);
    sum_wrenches(model, work, work->has_F);
}

void lwi_tree_sum_wrenches(const lw_model *model, lwi_tree_work *work)
{
    sum_wrenches(model, work, NULL);
}

double lwi_tree_drive_power(const lw_model *model, int k, const lwi_tree_work *work,
                            const double F[6])
{
    const lwi_node *node = &model->node[k];
    if (!node->driven) return 0;
    LWI_ASSERT(node->joint >= 0); // floating bodies are never driven
    const lwi_joint *joint = &model->joint[node->joint];
    double power = v6_dot(F, work->link[k].sigma);
    for (int i = 0; i < node->type->nv; i++)
        if (joint->motion[i].index > 0)
            power -= work->loads.effort[joint->iv + i] * work->link[k].drive[i][1];
    return power;
}
