// observe_merged.c -- massless bodies that are fixed to another one: motion and reactions.
//
// They move with their carrier.  Having no mass, each is in equilibrium: what acts on it, what its
// joints transmit and what the merged bodies behind it pass on are balanced by the joint that holds
// it, so the reactions follow one after the other from the outermost body inwards.
#include "kinematics/observe.h"

#include "base/assert.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

// ----------------------------------------------------------------------------------------- motion

static void follow(const lwi_body *body, int i, lw_observe level, lwi_snapshot *m)
{
    LWI_ASSERT(body->carrier != i);
    const int carrier = body->carrier;
    double arm[3], quat[4], local[4], w[3], c[3];
    m3_mul(m->R[i], m->R[carrier], body->carrier_R);
    quat_from_matrix(local, body->carrier_R);
    quat_mul(quat, m->quat[carrier], local); // continuous, as the carrier's is
    quat_normalize(m->quat[i], quat);
    m3_mul_v(arm, m->R[carrier], body->carrier_r);
    v3_add(m->r[i], m->r[carrier], arm);
    if (level < LW_OBSERVE_TWIST) return;

    m3_mul_v(w, m->R[carrier], m->w[carrier]);
    v3_cross(c, w, arm);
    v3_add(m->v[i], m->v[carrier], c);
    m3_tmul_v(m->w[i], body->carrier_R, m->w[carrier]);
    if (level < LW_OBSERVE_ACCELERATION) return;

    double alpha[3]; // a = a_carrier + alpha x arm + w x (w x arm)
    v3_cross(c, w, c);
    v3_add(m->a[i], m->a[carrier], c);
    m3_mul_v(alpha, m->R[carrier], m->al[carrier]);
    v3_cross_add(m->a[i], alpha, arm);
    m3_tmul_v(m->al[i], body->carrier_R, m->al[carrier]);
}

// -------------------------------------------------------------------------------------- reactions

// Origin of F2 in world axes, and its rotation.
static void frame2(const lw_model *model, int j, const lwi_snapshot *m, double R[9], double p[3])
{
    LWI_ASSERT_INDEX(j, model->njoint);
    const lwi_joint *joint = &model->joint[j];
    m3_mul(R, m->R[joint->body2], joint->R2);
    m3_mul_v(p, m->R[joint->body2], joint->r2);
    v3_add(p, p, m->r[joint->body2]);
}

// Adds k times a wrench about p to what acts on body b (about its mass centre).
static void add_wrench(lwi_loads *loads, const lwi_snapshot *m, int b, double k,
                       const double wrench[6], const double p[3])
{
    double arm[3], torque[3];
    v3_sub(arm, p, m->r[b]);
    v3_cross(torque, arm, wrench);
    v3_add(torque, torque, wrench + 3);
    v3_axpy(loads->wrench[b], k, wrench);
    v3_axpy(loads->wrench[b] + 3, k, torque);
}

// What joint j, which is not merged, does to the bodies it was described with: its reaction and the
// efforts on its coordinates, those of rotors too.
static void add_joint(const lw_model *model, int j, lwi_loads *loads, const lwi_snapshot *m)
{
    const lwi_joint *joint = &model->joint[j];
    const int body1 = model->desc.joint[j].body1.index, body2 = model->desc.joint[j].body2.index;
    double R[9], p[3], T[6][6], wrench[6], f[6];
    frame2(model, j, m, R, p);
    v6_copy(wrench, m->reaction[j]);
    joint->type->effort(&joint->par, m->q + joint->iq, T);
    for (int k = 0; k < joint->type->nv; k++) {
        m3_mul_v(f, R, T[k]);
        m3_mul_v(f + 3, R, T[k] + 3);
        v6_axpy(wrench, loads->effort[joint->iv + k] - joint->rotor[k] * m->qdd[joint->iv + k], f);
    }
    add_wrench(loads, m, body2, 1, wrench, p);
    add_wrench(loads, m, body1, -1, wrench, p);
}

enum { ALL_AXES = 63 }; // behind merged bodies components are not distinguished

// Couplings act between coordinates and are part of no joint's reaction: where they act on a merged
// body, the reaction of its holder does not follow from equilibrium.
static void mark_coupled(const lw_model *model, lwi_snapshot *m)
{
    for (int c = 0; c < model->ncoupling; c++)
        for (int side = 0; side < 2; side++) {
            const lw_joint_desc *d =
                &model->desc.joint[side ? model->coupling[c].of : model->coupling[c].joint];
            const int holder1 = model->body[d->body1.index].holder;
            const int holder2 = model->body[d->body2.index].holder;
            if (holder1 >= 0) lwi_snapshot_set_undetermined(m, holder1, ALL_AXES);
            if (holder2 >= 0) lwi_snapshot_set_undetermined(m, holder2, ALL_AXES);
        }
}

static void mark_unique(const lw_model *model, lwi_snapshot *m)
{
    for (int i = 0; i < model->nmerged; i++)
        lwi_snapshot_set_undetermined(m, model->body[model->merged[i]].holder, 0);
    for (int j = 0; j < model->njoint; j++) {
        if (model->joint[j].merged || m->unique[j]) continue;
        const int holder1 = model->body[model->desc.joint[j].body1.index].holder;
        const int holder2 = model->body[model->desc.joint[j].body2.index].holder;
        if (holder1 >= 0) lwi_snapshot_set_undetermined(m, holder1, ALL_AXES);
        if (holder2 >= 0) lwi_snapshot_set_undetermined(m, holder2, ALL_AXES);
    }
    mark_coupled(model, m);
}

// The holder of merged body b balances what acts on b; the body on its other side gets the rest.
static void balance(const lw_model *model, int b, lwi_loads *loads, lwi_snapshot *m)
{
    const int j = model->body[b].holder;
    LWI_ASSERT_INDEX(j, model->njoint);
    const lw_joint_desc *d = &model->desc.joint[j];
    const bool second = d->body2.index == b;
    const int other = second ? d->body1.index : d->body2.index;
    double R[9], p[3], arm[3], wrench[6];
    frame2(model, j, m, R, p);
    v3_sub(arm, m->r[b], p);
    v6_copy(wrench, loads->wrench[b]); // about p
    v3_cross_add(wrench + 3, arm, loads->wrench[b]);
    for (int i = 0; i < 6; i++) m->reaction[j][i] = second ? -wrench[i] : wrench[i];
    add_wrench(loads, m, other, 1, wrench, p);
    const int next = model->body[other].holder;
    if (next >= 0 && !m->unique[j]) lwi_snapshot_set_undetermined(m, next, ALL_AXES);
}

void lwi_observe_merged_reactions(const lw_model *model, lwi_loads *loads, lwi_snapshot *m)
{
    for (int j = 0; j < model->njoint; j++)
        if (!model->joint[j].merged) add_joint(model, j, loads, m);
    mark_unique(model, m);
    for (int i = model->nmerged - 1; i >= 0; i--) balance(model, model->merged[i], loads, m);
}

void lwi_observe_merged(const lw_model *model, lw_observe level, const double *inputs,
                        lwi_loads *loads, lwi_snapshot *m)
{
    for (int i = 0; i < model->nmerged; i++)
        follow(&model->body[model->merged[i]], model->merged[i], level, m);
    if (level < LW_OBSERVE_REACTION || model->nmerged == 0) return;

    const lwi_states states = {.value = m->states};
    lwi_kin kin = lwi_snapshot_kin(model, m);
    kin.states = &states;
    lwi_forces_apply(model, &kin, m->t, inputs, loads);
    lwi_observe_merged_reactions(model, loads, m);
}
