// snapshot.c -- memory of snapshots, the snapshot of the start, and that of given joint coordinates.
#include "kinematics/formulation.h"
#include "base/assert.h"
#include "kinematics/tree.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

lw_status lwi_snapshot_create(const lw_model *model, lwi_arena *arena, lwi_snapshot *m)
{
    const size_t nbody = (size_t)model->nbody, njoint = (size_t)model->njoint;
    *m = (lwi_snapshot){0};
    m->r = lwi_arena_push(arena, nbody, sizeof *m->r);
    m->quat = lwi_arena_push(arena, nbody, sizeof *m->quat);
    m->R = lwi_arena_push(arena, nbody, sizeof *m->R);
    m->v = lwi_arena_push(arena, nbody, sizeof *m->v);
    m->w = lwi_arena_push(arena, nbody, sizeof *m->w);
    m->a = lwi_arena_push(arena, nbody, sizeof *m->a);
    m->al = lwi_arena_push(arena, nbody, sizeof *m->al);
    m->w_world = lwi_arena_push(arena, nbody, sizeof *m->w_world);
    m->q = LWI_PUSH(arena, double, model->nq);
    m->qd = LWI_PUSH(arena, double, model->nv);
    m->qdd = LWI_PUSH(arena, double, model->nv);
    m->states = LWI_PUSH(arena, double, model->nstate);
    m->reaction = lwi_arena_push(arena, njoint, sizeof *m->reaction);
    m->unique = LWI_PUSH(arena, unsigned char, njoint);
    m->undetermined = LWI_PUSH(arena, unsigned char, njoint);
    if (!m->r || !m->quat || !m->R || !m->v || !m->w || !m->a || !m->al || !m->w_world || !m->q ||
        !m->qd || !m->qdd || !m->states || !m->reaction || !m->unique || !m->undetermined)
        return LW_ERR_MEMORY;
    for (int b = 0; b < model->nbody; b++) {
        m->quat[b][0] = 1;
        m3_identity(m->R[b]);
    }
    return LW_OK;
}

lwi_kin lwi_snapshot_kin(const lw_model *model, lwi_snapshot *m)
{
    for (int b = 0; b < model->nbody; b++) m3_mul_v(m->w_world[b], m->R[b], m->w[b]);
    return (lwi_kin){.R = (const double(*)[9])m->R,
                     .r = (const double(*)[3])m->r,
                     .v = (const double(*)[3])m->v,
                     .w = (const double(*)[3])m->w_world,
                     .q = m->q,
                     .qd = m->qd};
}

void lwi_snapshot_start(const lw_model *model, lwi_snapshot *m)
{
    m->t = 0;
    m->work = 0;
    for (int b = 0; b < model->nbody; b++) {
        const lwi_body *body = &model->body[b];
        v3_copy(m->r[b], body->r0);
        memcpy(m->quat[b], body->quat0, sizeof m->quat[b]);
        quat_matrix(m->R[b], m->quat[b]);
        v3_copy(m->v[b], body->v0);
        v3_copy(m->w[b], body->w0);
    }
    memcpy(m->q, model->q0, (size_t)model->nq * sizeof *m->q);
    memcpy(m->qd, model->v0, (size_t)model->nv * sizeof *m->qd);
    memcpy(m->states, model->state0, (size_t)model->nstate * sizeof *m->states);
}

void lwi_snapshot_copy(const lw_model *model, const lwi_snapshot *m, lwi_snapshot *to)
{
    const size_t n = (size_t)model->nbody;
    to->t = m->t, to->work = m->work;
    memcpy(to->r, m->r, n * sizeof *to->r);
    memcpy(to->quat, m->quat, n * sizeof *to->quat);
    memcpy(to->R, m->R, n * sizeof *to->R);
    memcpy(to->v, m->v, n * sizeof *to->v);
    memcpy(to->w, m->w, n * sizeof *to->w);
    memcpy(to->q, m->q, (size_t)model->nq * sizeof *to->q);
    memcpy(to->qd, m->qd, (size_t)model->nv * sizeof *to->qd);
    memcpy(to->states, m->states, (size_t)model->nstate * sizeof *to->states);
}

// ----------------------------------------------------------------------- from the tree's joints

// Link frame and velocity of a node from the motion of its body: the inverse of set_body.
static void link_of_body(const lw_model *model, int k, const lwi_snapshot *m, double R[9],
                         double r[3], double V[6])
{
    if (k < 0) {
        m3_identity(R);
        v3_set(r, 0, 0, 0);
        v6_zero(V);
        return;
    }
    const lwi_node *node = &model->node[k];
    const int b = node->body;
    double c[3];
    m3_mul_t(R, m->R[b], node->c_R);
    m3_mul_v(c, R, node->c_r);
    v3_sub(r, m->r[b], c);
    m3_mul_v(V + 3, node->c_R, m->w[b]);
    m3_tmul_v(V, R, m->v[b]);
    v3_cross(c, node->c_r, V + 3);
    v3_add(V, V, c);
}

static void set_body(const lwi_node *node, const double R[9], const double r[3], const double V[6],
                     lwi_snapshot *m)
{
    LWI_ASSERT(node->body > 0);
    const int b = node->body;
    double c[3];
    m3_mul(m->R[b], R, node->c_R);
    quat_from_matrix(m->quat[b], m->R[b]);
    m3_mul_v(c, R, node->c_r);
    v3_add(m->r[b], r, c);
    m3_tmul_v(m->w[b], node->c_R, V + 3);
    v3_cross(c, V + 3, node->c_r);
    v3_add(c, c, V);
    m3_mul_v(m->v[b], R, c);
}

// One node from its parent's body, its own joint's entries of q and qd.
static void place_node(const lw_model *model, int k, double t, lwi_snapshot *m)
{
    LWI_ASSERT_INDEX(k, model->nnode);
    const lwi_node *node = &model->node[k];
    const lwi_joint *joint = &model->joint[node->joint];
    LWI_ASSERT_INDEX(node->joint, model->njoint);
    LWI_ASSERT(node->parent < k);
    double *q = m->q + joint->iq, *qd = m->qd + joint->iv;
    double free_q[LW_JOINT_MAX_NQ], free_v[LW_JOINT_MAX_NV];
    double R[9], r[3], V[6], Rp[9], rp[3], Vp[6];
    lwi_link link;
    for (int j = 0; j < node->nq; j++) free_q[j] = q[joint->ndriven > 0 ? node->column[j] : j];
    for (int j = 0; j < node->nv; j++) free_v[j] = qd[node->column[j]];
    lwi_link_position(model, k, t, free_q, &link);
    memcpy(q, link.q, (size_t)node->type->nq * sizeof *q);
    for (int i = 0; joint->ndriven > 0 && i < node->type->nv; i++)
        if (joint->motion[i].index > 0) qd[i] = link.drive[i][1];

    link_of_body(model, node->parent, m, Rp, rp, Vp);
    m3_mul(R, Rp, link.R);
    m3_mul_v(r, Rp, link.r);
    v3_add(r, r, rp);
    motion_to(V, link.R, link.r, Vp);
    for (int j = 0; j < node->nv; j++) v6_axpy(V, free_v[j], link.S[j]);
    v6_add(V, V, link.sigma);
    set_body(node, R, r, V, m);
}

void lwi_snapshot_from_joints(const lw_model *model, double t, lwi_snapshot *m)
{
    m->t = t;
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint >= 0) {
            place_node(model, k, t, m);
            continue;
        }
        quat_normalize(m->quat[node->body], m->quat[node->body]);
        quat_matrix(m->R[node->body], m->quat[node->body]);
    }
}
