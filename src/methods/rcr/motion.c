// motion.c -- velocities of bodies and joints at the speeds of a state, and the motion of cut joints.
//
// Hinges that close loops are read in lanes.
#include "methods/rcr/state.h"

#include "base/simd/lanes.h"
#include "kinematics/kernels.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

// Hinges that close loops, for the lanes; `closed`: their angles, too.
typedef struct waiting_hinges {
    const lw_model *model;
    lwi_tree_work *tree;
    const lwi_observe_kernels *kernels;
    bool closed;
    int n, joint[LWI_LANES];
} waiting_hinges;

// Lanes without a joint repeat the first one.
static void read_hinges(waiting_hinges *of)
{
    const int width = of->kernels->width;
    double angle[LWI_LANES], speed[LWI_LANES];
    lwi_tree_work *tree = of->tree;
    if (of->n == 0) return;
    for (int l = of->n; l < width; l++) of->joint[l] = of->joint[0];
    for (int l = 0; l < width; l++) angle[l] = tree->joint_q[of->model->joint[of->joint[l]].iq];
    of->kernels->hinges(of->model, of->joint, (const double(*)[9])tree->body_R,
                        (const double(*)[3])tree->body_w, NULL, of->closed ? angle : NULL, speed,
                        NULL);
    for (int l = 0; l < of->n; l++) {
        const lwi_joint *joint = &of->model->joint[of->joint[l]];
        if (of->closed) tree->joint_q[joint->iq] = angle[l];
        tree->joint_qd[joint->iv] = speed[l];
    }
    of->n = 0;
}

static void read_hinge(waiting_hinges *of, int j)
{
    const lwi_motion motion = lwi_cut_motion(of->tree);
    const lwi_joint *joint = &of->model->joint[j];
    if (!of->kernels) {
        lwi_joint_read_hinge(of->model, j, &motion,
                             of->closed ? of->tree->joint_q + joint->iq : NULL,
                             of->tree->joint_qd + joint->iv);
        return;
    }
    of->joint[of->n++] = j;
    if (of->n == of->kernels->width) read_hinges(of);
}

// Velocities of all bodies and joints at the speeds v, after place.
void lwi_rcr_move(lwi_work *work, double t, lwi_rcr_read how)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    const lwi_motion motion = lwi_cut_motion(tree);
    waiting_hinges hinges = {.model = model,
                             .tree = tree,
                             .kernels = lwi_observe_kernels_of(0),
                             .closed = how == LWI_RCR_READ_CLOSED};
    lwi_tree_rates(model, t, d->v, tree->link);
    if (!d->by_dense) lwi_tree_velocity(model, tree->link, d->v, tree->V);
    lwi_tree_body_velocities(model, (const double(*)[9])tree->R, (const double(*)[6])tree->V,
                             tree->body_R, tree->body_r, tree->body_v, tree->body_w);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        double now[LW_JOINT_MAX_NQ];
        if (joint->type->nq == 0) continue;
        if (how != LWI_RCR_READ_ALL && lwi_joint_is_hinge(joint->type) && !joint->mount.present) {
            read_hinge(&hinges, model->loop[i]);
            continue;
        }
        lwi_joint_read_motion(model, model->loop[i], t, &motion, now, tree->joint_qd + joint->iv);
        memcpy(tree->joint_q + joint->iq, now, (size_t)joint->type->nq * sizeof *now);
    }
    if (hinges.kernels) read_hinges(&hinges);
}

// Links and their velocities at the speeds v, without those of bodies and joints.
void lwi_rcr_move_links(lwi_work *work, double t, const double *x)
{
    const lw_model *model = work->model;
    lwi_rcr_work *d = work->data;
    lwi_tree_work *tree = &d->tree;
    d->last.solved = false;
    lwi_auxiliary_load(model, &d->auxiliary, x, tree->joint_q);
    lwi_tree_links_of(model, t, 0, model->nnode, x, d->v, tree->link);
    lwi_tree_world(model, tree->link, tree->R, tree->r);
    lwi_tree_velocity(model, tree->link, d->v, tree->V);
}

// After it: bodies, and the hinges that close loops, from and in a snapshot.
void lwi_rcr_read_closed_hinges(lwi_rcr_work *d, lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = d->cut.model;
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    const bool accelerates = level >= LW_OBSERVE_ACCELERATION;
    lwi_tree_work *tree = &d->tree;
    const double(*R)[9] = (const double(*)[9])tree->R;
    const size_t n = (size_t)model->nbody;
    memcpy(tree->body_R, snapshot->R, n * sizeof *tree->body_R);
    memcpy(tree->body_r, snapshot->r, n * sizeof *tree->body_r);
    memcpy(tree->body_v, snapshot->v, n * sizeof *tree->body_v);
    kernels->links.angular(model, 0, model->nnode, R, (const double(*)[6])tree->V, tree->body_w);
    if (accelerates)
        kernels->links.angular(model, 0, model->nnode, R, (const double(*)[6])tree->A, d->cut.al);
    for (int i = 0; i < model->nloop; i += kernels->width) {
        double angle[LWI_LANES], speed[LWI_LANES], rate[LWI_LANES];
        int joint[LWI_LANES];
        for (int l = 0; l < kernels->width; l++) { // lanes without a joint repeat the first one
            joint[l] = model->loop[i + l < model->nloop ? i + l : i];
            angle[l] = tree->joint_q[model->joint[joint[l]].iq];
        }
        kernels->hinges(model, joint, (const double(*)[9])tree->body_R,
                        (const double(*)[3])tree->body_w, (const double(*)[3])d->cut.al, angle,
                        speed, accelerates ? rate : NULL);
        for (int l = 0; l < kernels->width && i + l < model->nloop; l++) {
            const int iq = model->joint[joint[l]].iq, iv = model->joint[joint[l]].iv;
            tree->joint_q[iq] = snapshot->q[iq] = angle[l];
            tree->joint_qd[iv] = snapshot->qd[iv] = speed[l];
            if (accelerates) snapshot->qdd[iv] = rate[l];
        }
    }
}
