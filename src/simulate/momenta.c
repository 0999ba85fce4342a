// momenta.c -- momenta of bodies and joints of an observation.
//
// With the impulses J_c' sigma_c of the cuts, the joints and couplings outside of the tree, joint k of the tree transmits
//
//     P_k = sum over the bodies behind it of their momenta  -  sum over the cuts behind it of J_c' sigma_c
//
// and p_k = S' P_k + I_r u (cut_momenta.h) [chadaj2017, (10), (58), (63)].  A formulation with momenta as state has the
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
    m->x = LWI_PUSH(arena, double, model->tree_nq + model->tree_nv + 1);
    m->u = LWI_PUSH(arena, double, model->tree_nv);
    m->none.wrench = lwi_arena_push(arena, nbody, sizeof *m->none.wrench);
    m->none.effort = LWI_PUSH(arena, double, model->nv);
    m->zeros = LWI_PUSH(arena, double, model->nv);
    m->unique[0] = LWI_PUSH(arena, unsigned char, model->njoint);
    m->unique[1] = LWI_PUSH(arena, unsigned char, model->njoint);
    if (!m->p || !m->transmitted || !m->body || !m->x || !m->u || !m->none.wrench ||
        !m->none.effort || !m->zeros || !m->unique[0] || !m->unique[1])
        return LW_ERR_MEMORY;
    TRY(lwi_tree_work_create(model, arena, &m->tree));
    TRY(lwi_cut_momenta_create(model, &m->tree, NULL, (lwi_gauge){.extent = model->length},
                               model->length, arena, &m->momenta));
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

// Rows of cut i: a cut joint or, from nloop on, a coupling.
static int count_rows(const lw_model *model, int i, double t, const lwi_motion *motion)
{
    lwi_closure rows;
    if (i >= model->nloop) return 1;
    lwi_joint_closure(model, model->loop[i], t, motion, LWI_CLOSURE_POSITION, &rows);
    return rows.n;
}

static void add_cut(lwi_work *work, const lwi_snapshot *s, int i, const lwi_motion *motion,
                    lwi_observed_momenta *m)
{
    const lw_model *model = work->model;
    const lwi_joint *joint = i < model->nloop ? &model->joint[model->loop[i]] : NULL;
    const lwi_formulation *formulation = work->formulation;
    double sigma[2 * LWI_CLOSURE_ROWS] = {0};
    const bool rotors = joint && joint->nrotor > 0;
    int n = formulation->impulses || rotors ? count_rows(model, i, s->t, motion) : 0;
    const bool impulses = formulation->impulses && formulation->impulses(work, i, n, sigma);
    if (!impulses && !rotors) {
        lwi_cut_momenta_add(&m->momenta, i, s->t, motion, NULL);
        return;
    }
    for (int k = 0; rotors && k < joint->type->nv; k++) {
        LWI_ASSERT_INDEX(n, 2 * LWI_CLOSURE_ROWS);
        if (joint->rotor[k] != 0) sigma[n++] = -joint->rotor[k] * s->qd[joint->iv + k];
    }
    lwi_cut_momenta_add(&m->momenta, i, s->t, motion, sigma);
}

// The tree at the motion of the snapshot, and what its joints and the cuts transmit.
static void transmit(lwi_work *work, lwi_snapshot *s, lwi_observed_momenta *m)
{
    const lw_model *model = work->model;
    lwi_tree_work *tree = &m->tree;
    lwi_tree_enter(model, s, m->x, m->u);
    lwi_tree_position(model, s->t, m->x, tree->link);
    lwi_tree_velocity(model, tree->link, m->u, tree->V);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    for (int b = 0; b < model->nbody; b++) m3_mul_v(s->w_world[b], s->R[b], s->w[b]);
    const lwi_motion motion = {.R = (const double(*)[9])s->R,
                               .r = (const double(*)[3])s->r,
                               .v = (const double(*)[3])s->v,
                               .w = (const double(*)[3])s->w_world,
                               .q = s->q};
    for (int i = 0; i < model->nloop + model->ncoupling; i++) add_cut(work, s, i, &motion, m);
    lwi_cut_momenta_transmit(&m->momenta);
}

// ------------------------------------------------------------------------------------------ joints

// W (link k: its axes, its origin) in world axes about the point P2 of joint j, times `sign`, 1 or -1.
static void move_to_joint(const lw_model *model, const lwi_snapshot *s, const lwi_tree_work *tree,
                          int k, int j, double sign, const double W[6], double to[6])
{
    const lwi_joint *joint = &model->joint[j];
    double P2[3], arm[3];
    m3_mul_v(P2, s->R[joint->body2], joint->r2);
    v3_add(P2, P2, s->r[joint->body2]);
    v3_sub(arm, tree->r[k], P2);
    m3_mul_v(to, tree->R[k], W);
    m3_mul_v(to + 3, tree->R[k], W + 3);
    v3_cross_add(to + 3, arm, to);
    for (int i = 0; i < 6 && sign < 0; i++) to[i] = 0 - to[i];
}

static void take_tree_joints(const lw_model *model, const lwi_snapshot *s, lwi_observed_momenta *m)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0) continue;
        const double *P = m->momenta.momenta.P[k];
        for (int j = 0; j < node->nv; j++) {
            const int i = node->iv + j;
            m->p[model->joint[node->joint].iv + node->column[j]] =
                v6_dot(m->tree.link[k].S[j], P) + model->tree_rotor[i] * m->u[i];
        }
        move_to_joint(model, s, &m->tree, k, node->joint, node->reversed ? -1 : 1, P,
                      m->transmitted[node->joint]);
    }
}

// The cut transmits J' sigma to its second body, minus that to the first one; the ground is not listed.
static void take_cut_joints(const lw_model *model, const lwi_snapshot *s, lwi_observed_momenta *m)
{
    for (int i = 0; i < model->nloop; i++) {
        const int j = model->loop[i];
        const lwi_cut_impulse *cut = &m->momenta.cut[i];
        if (cut->nbody == 0) v6_zero(m->transmitted[j]);
        for (int b = 0; b < cut->nbody; b++) {
            const bool second = cut->body[b] == model->joint[j].body2;
            if (!second && b > 0) continue;
            move_to_joint(model, s, &m->tree, model->body_node[cut->body[b]], j, second ? -1 : 1,
                          cut->P[b], m->transmitted[j]);
        }
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
    transmit(work, snapshot, m);
    take_tree_joints(model, snapshot, m);
    take_cut_joints(model, snapshot, m);
    take_merged_joints(model, snapshot, m);
}
