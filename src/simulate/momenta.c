// momenta.c -- momenta of bodies and joints of an observation.
//
// With the impulses J_c' sigma_c of the cuts, the joints and couplings outside of the tree, joint k of the tree transmits
//
//     P_k = sum over the bodies behind it of their momenta  -  sum over the cuts behind it of J_c' sigma_c
//
// and p_k = S' P_k + I_r u [chadaj2017, (10), (58), (63)].  A formulation with momenta as state has the
// sigma that its state implies; for others sigma = 0 and p = dT/du.  A rotor of a cut joint has the impulse -I_r u.
#include "simulate/momenta.h"

#include "base/assert.h"
#include "kinematics/closure.h"
#include "spatial/motion.h"

#include <string.h>

lw_status lwi_observed_momenta_create(const lw_model *model, lwi_arena *arena,
                                      lwi_observed_momenta *m)
{
    const size_t njoint = (size_t)model->njoint, nbody = (size_t)model->nbody;
    m->p = LWI_PUSH(arena, double, model->nv);
    m->transmitted = lwi_arena_push(arena, njoint, sizeof *m->transmitted);
    m->body = lwi_arena_push(arena, nbody, sizeof *m->body);
    m->beyond = lwi_arena_push(arena, nbody, sizeof *m->beyond);
    m->none.wrench = lwi_arena_push(arena, nbody, sizeof *m->none.wrench);
    m->none.effort = LWI_PUSH(arena, double, model->nv);
    m->zeros = LWI_PUSH(arena, double, model->nv);
    m->unique[0] = LWI_PUSH(arena, unsigned char, model->njoint);
    m->unique[1] = LWI_PUSH(arena, unsigned char, model->njoint);
    if (!m->p || !m->transmitted || !m->body || !m->beyond || !m->none.wrench || !m->none.effort ||
        !m->zeros || !m->unique[0] || !m->unique[1])
        return LW_ERR_MEMORY;
    m->prepared = true;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ bodies

static void find_body_momenta(const lw_model *model, const lwi_snapshot *s, double (*body)[6])
{
    for (int b = 1; b < model->nbody; b++) {
        double L[3];
        v3_scale(body[b], model->body[b].mass, s->v[b]);
        s3_mul_v(L, model->body[b].inertia, s->w[b]);
        m3_mul_v(body[b] + 3, s->R[b], L);
    }
}

// -------------------------------------------------------------------------------------------- cuts

// Rows of cut i, a cut joint or, from nloop on, a coupling, and its impulses sigma.  False: it has none.
static bool find_impulses(lwi_work *work, const lwi_snapshot *s, int i, const lwi_motion *motion,
                          lwi_closure *rows, double sigma[LWI_CLOSURE_ROWS])
{
    const lw_model *model = work->model;
    const lwi_joint *joint = i < model->nloop ? &model->joint[model->loop[i]] : NULL;
    const lwi_formulation *formulation = work->formulation;
    const bool rotors = joint && joint->nrotor > 0;
    if (!formulation->impulses && !rotors) return false;
    if (joint)
        lwi_joint_closure(model, model->loop[i], s->t, motion, LWI_CLOSURE_POSITION, rows);
    else
        lwi_coupling_closure(model, i - model->nloop, s->t, motion, LWI_CLOSURE_POSITION, rows);
    for (int r = 0; r < LWI_CLOSURE_ROWS; r++) sigma[r] = 0;
    if (!(formulation->impulses && formulation->impulses(work, i, rows->n, sigma)) && !rotors)
        return false;
    if (!rotors) return true;
    int n = rows->n;
    lwi_joint_rotor_rows(model, model->loop[i], s->t, motion, LWI_CLOSURE_POSITION, rows);
    for (int k = 0; k < joint->type->nv; k++)
        if (joint->rotor[k] != 0) sigma[n++] = -joint->rotor[k] * s->qd[joint->iv + k];
    LWI_ASSERT(n == rows->n);
    return true;
}

// Subtracts J' sigma from the bodies; a cut joint transmits it to its second body.
static void take_cut(lwi_work *work, const lwi_snapshot *s, int i, const lwi_motion *motion,
                     lwi_observed_momenta *m)
{
    const lw_model *model = work->model;
    const int joint = i < model->nloop ? model->loop[i] : -1;
    double sigma[LWI_CLOSURE_ROWS];
    lwi_closure rows;
    if (joint >= 0) v6_zero(m->transmitted[joint]);
    if (!find_impulses(work, s, i, motion, &rows, sigma)) return;
    for (int b = 0; b < rows.nbody; b++)
        for (int r = 0; r < rows.n; r++) v6_axpy(m->beyond[rows.body[b]], -sigma[r], rows.J[b][r]);
    if (joint >= 0) lwi_joint_reaction(model, joint, motion, &rows, sigma, m->transmitted[joint]);
}

static void take_cuts(lwi_work *work, lwi_snapshot *s, lwi_observed_momenta *m)
{
    const lw_model *model = work->model;
    const int count = model->nloop + model->ncoupling;
    for (int b = 0; count && b < model->nbody; b++) m3_mul_v(s->w_world[b], s->R[b], s->w[b]);
    const lwi_motion motion = {.R = (const double(*)[9])s->R,
                               .r = (const double(*)[3])s->r,
                               .v = (const double(*)[3])s->v,
                               .w = (const double(*)[3])s->w_world,
                               .q = s->q};
    for (int i = 0; i < count; i++) take_cut(work, s, i, &motion, m);
}

// ------------------------------------------------------------------------------------------ joints

// Sums over the bodies behind each joint, about the mass centre of the first.
static void sum_subtrees(const lw_model *model, const lwi_snapshot *s, double (*beyond)[6])
{
    for (int k = model->nnode - 1; k >= 0; k--) {
        if (model->node[k].parent < 0) continue;
        const int b = model->node[k].body, parent = model->node[model->node[k].parent].body;
        double arm[3];
        v3_sub(arm, s->r[b], s->r[parent]);
        v6_add(beyond[parent], beyond[parent], beyond[b]);
        v3_cross_add(beyond[parent] + 3, arm, beyond[b]);
    }
}

// What the joint of node k transmits to its body2, about P2, and p = S' of it in the axes of F2.
static void take_tree_joint(const lw_model *model, const lwi_snapshot *s, int k,
                            lwi_observed_momenta *m)
{
    const lwi_node *node = &model->node[k];
    const lwi_joint *joint = &model->joint[node->joint];
    const double *P = m->beyond[node->body];
    double *to = m->transmitted[node->joint], arm[3], R2[9], P2[6], S[LW_JOINT_MAX_NV][6];
    m3_mul_v(arm, s->R[joint->body2], joint->r2);
    v3_add(arm, s->r[joint->body2], arm);
    v3_sub(arm, s->r[node->body], arm);
    v6_copy(to, P);
    v3_cross_add(to + 3, arm, P);
    for (int i = 0; i < 6 && node->reversed; i++) to[i] = 0 - to[i];
    if (node->nv == 0) return;
    m3_mul(R2, s->R[joint->body2], joint->R2);
    m3_tmul_v(P2, R2, to);
    m3_tmul_v(P2 + 3, R2, to + 3);
    node->type->subspace(node->par, s->q + joint->iq, S);
    for (int j = 0; j < node->nv; j++) {
        const int c = node->column[j];
        m->p[joint->iv + c] =
            v6_dot(S[c], P2) + model->tree_rotor[node->iv + j] * s->qd[joint->iv + c];
    }
}

// Merged bodies have no mass: what their holders transmit follows from the other joints.
static void take_merged_joints(const lw_model *model, const lwi_snapshot *s,
                               lwi_observed_momenta *m)
{
    if (model->nmerged == 0) return;
    lwi_snapshot balance = *s;
    balance.reaction = m->transmitted;
    balance.qdd = m->zeros;
    balance.unique = m->unique[0];
    balance.undetermined = m->unique[1];
    memset(m->none.wrench, 0, (size_t)model->nbody * sizeof *m->none.wrench);
    lwi_observe_merged_reactions(model, &m->none, &balance);
}

void lwi_observe_momenta(lwi_work *work, lwi_snapshot *snapshot, lwi_observed_momenta *m)
{
    const lw_model *model = work->model;
    find_body_momenta(model, snapshot, m->body);
    memcpy(m->beyond, m->body, (size_t)model->nbody * sizeof *m->body);
    take_cuts(work, snapshot, m);
    sum_subtrees(model, snapshot, m->beyond);
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].joint >= 0) take_tree_joint(model, snapshot, k, m);
    take_merged_joints(model, snapshot, m);
}
