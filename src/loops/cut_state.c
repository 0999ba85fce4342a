// cut_state.c -- state and results of formulations in the coordinates of a tree with cut joints.
#include "loops/cut_state.h"

#include "base/assert.h"
#include "base/simd/lanes.h"
#include "kinematics/kernels.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

void lwi_cut_state_enter(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_snapshot *snapshot, lwi_tree_work *tree, double *x)
{
    const lw_model *model = cut->model;
    lwi_tree_gather(model, snapshot->q, snapshot->qd, (const double(*)[3])snapshot->r,
                    (const double(*)[4])snapshot->quat, (const double(*)[3])snapshot->v,
                    (const double(*)[3])snapshot->w, x, x + model->tree_nq);
    if (model->nq) memcpy(tree->joint_q, snapshot->q, (size_t)model->nq * sizeof *x);
    lwi_auxiliary_store(model, auxiliary, snapshot->q, x);
    LWI_ASSERT(cut->count == model->nloop + model->ncoupling);
    if (auxiliary->at_work >= 0) x[auxiliary->at_work] = snapshot->work;
}

void lwi_cut_state_rates(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const double *v, const double *second,
                         double *xdot)
{
    const lw_model *model = cut->model;
    double *to = xdot + model->tree_nq;
    lwi_tree_kinematics(model, tree->link, v, xdot);
    if (model->tree_nv && second != to) memcpy(to, second, (size_t)model->tree_nv * sizeof *to);
    lwi_auxiliary_rates(model, auxiliary, tree->joint_q, tree->joint_qd, xdot);
}

double lwi_cut_state_power(const lwi_cut *cut, lwi_tree_work *tree, const double *lambda,
                           const double *v, const double *vdot, double forces)
{
    const lw_model *model = cut->model;
    double P = forces;
    if (!model->driven) return P;
    for (int i = 0; i < cut->m; i++) P -= lambda[i] * cut->b[i];
    lwi_cut_wrenches(cut, tree, lambda, tree->wrench);
    lwi_tree_newton_euler(model, tree, v, vdot);
    for (int k = 0; k < model->nnode; k++)
        if (model->node[k].driven) P += lwi_tree_drive_power(model, k, tree, tree->F[k]);
    return P;
}

// Hinges of closed mechanisms need angular accelerations alone.
static bool is_closed_hinge(const lwi_cut *cut, const lwi_joint *joint)
{
    return cut->closed && lwi_joint_is_hinge(joint->type) && !joint->mount.present;
}

// Those of the bodies that the rates of cut joints need.
static void accelerations_of_bodies(lwi_cut *cut, const lwi_tree_work *tree)
{
    const lw_model *model = cut->model;
    for (int i = 0; i < model->nloop; i++)
        if (!is_closed_hinge(cut, &model->joint[model->loop[i]])) {
            lwi_cut_accelerations(cut, tree, NULL);
            return;
        }
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    if (kernels && kernels->links.angular) {
        kernels->links.angular(model, 0, model->nnode, (const double(*)[9])tree->R,
                               (const double(*)[6])tree->A, cut->al);
        return;
    }
    for (int i = 0; i < model->nloop; i++)
        for (int side = 0; side < 2; side++) {
            const lwi_joint *joint = &model->joint[model->loop[i]];
            const int b = side ? joint->body2 : joint->body1, k = model->body_node[b];
            if (k >= 0) m3_mul_v(cut->al[b], tree->R[k], tree->A[k] + 3);
        }
}

// Lanes without a joint repeat the first one.
static void take_hinge_rates(const lwi_cut *cut, const lwi_tree_work *tree,
                             const lwi_observe_kernels *kernels, int *joint, int *n,
                             lwi_snapshot *snapshot)
{
    double speed[LWI_LANES], rate[LWI_LANES];
    if (*n == 0) return;
    for (int l = *n; l < kernels->width; l++) joint[l] = joint[0];
    kernels->hinges(cut->model, joint, (const double(*)[9])tree->body_R,
                    (const double(*)[3])tree->body_w, (const double(*)[3])cut->al, NULL, speed,
                    rate);
    for (int l = 0; l < *n; l++) snapshot->qdd[cut->model->joint[joint[l]].iv] = rate[l];
    *n = 0;
}

void lwi_cut_state_observe(lwi_cut *cut, const lwi_auxiliary *auxiliary, lwi_tree_work *tree,
                           double t, const double *x, const double *v, const double *vdot,
                           lw_observe level, lwi_snapshot *snapshot)
{
    lwi_tree_observe(cut->model, tree, t, v, vdot, level, snapshot);
    snapshot->work = auxiliary->at_work >= 0 ? x[auxiliary->at_work] : 0;
    lwi_cut_state_observe_joints(cut, tree, t, level, snapshot);
}

void lwi_cut_state_observe_joints(lwi_cut *cut, const lwi_tree_work *tree, double t,
                                  lw_observe level, lwi_snapshot *snapshot)
{
    const lw_model *model = cut->model;
    const lwi_motion motion = lwi_cut_motion(tree);
    const lwi_observe_kernels *kernels = lwi_observe_kernels_of(0);
    int waiting[LWI_LANES], n = 0; // hinges for the lanes
    const bool accelerates = level >= LW_OBSERVE_ACCELERATION;
    if (accelerates) accelerations_of_bodies(cut, tree);
    for (int i = 0; i < model->nloop; i++) {
        const lwi_joint *joint = &model->joint[model->loop[i]];
        if (accelerates && kernels && is_closed_hinge(cut, joint)) {
            snapshot->q[joint->iq] = tree->joint_q[joint->iq];
            snapshot->qd[joint->iv] = tree->joint_qd[joint->iv];
            waiting[n++] = model->loop[i];
            if (n == kernels->width) take_hinge_rates(cut, tree, kernels, waiting, &n, snapshot);
            continue;
        }
        for (int k = joint->iq; k < joint->iq + joint->type->nq; k++)
            snapshot->q[k] = tree->joint_q[k];
        for (int k = joint->iv; level >= LW_OBSERVE_TWIST && k < joint->iv + joint->type->nv; k++)
            snapshot->qd[k] = tree->joint_qd[k];
        if (!accelerates) continue;
        if (is_closed_hinge(cut, joint))
            snapshot->qdd[joint->iv] = lwi_joint_hinge_acceleration(model, model->loop[i], &motion,
                                                                    (const double(*)[3])cut->al);
        else
            lwi_joint_read_acceleration(model, model->loop[i], t, &motion,
                                        (const double(*)[3])cut->a, (const double(*)[3])cut->al,
                                        snapshot->qdd + joint->iv);
    }
    take_hinge_rates(cut, tree, kernels, waiting, &n, snapshot);
}

void lwi_cut_state_scale(const lwi_cut *cut, const lwi_auxiliary *auxiliary,
                         const lwi_tree_work *tree, const lwi_layout *layout, double *factor)
{
    for (int i = 0; i < layout->nx; i++) factor[i] = 1;
    LWI_ASSERT(auxiliary->at_work < layout->nx);
    if (auxiliary->at_work >= 0)
        factor[auxiliary->at_work] = lwi_tree_energy_scale(cut->model, tree);
}

void lwi_cut_scatter(int n, int seed, double *x)
{
    for (int i = 0; i < n; i++) {
        const double turns = 0.6180339887498949 * (i + 1) * (2 * seed + 1);
        x[i] = turns - floor(turns) - 0.5;
    }
}
