// assemble_start.c -- where assembly begins, and what it should keep.
//
// A mechanism is drawn where its bodies are placed.  A joint that fits there is the user's picture
// of how it is put together, and coordinates that are given (`q`) are where it should go from
// there; a joint that does not fit says nothing until its coordinates do.
#include "initial/assemble.h"

#include "kinematics/tree.h"
#include "spatial/motion.h"
#include "spatial/rotation.h"

#include <string.h>

// A drawing with two digits still shows how a joint is put together [lengths of the mechanism,
// rad].
#define FITS 0.02

// Link frame of a node from its body's pose.
static void link_of_body(const lwi_assembler *a, int k, double R[9], double r[3])
{
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    if (k < 0) return;
    const lwi_node *node = &a->model->node[k];
    double c[3];
    m3_mul_t(R, a->R[node->body], node->c_R);
    m3_mul_v(c, R, node->c_r);
    v3_sub(r, a->r[node->body], c);
}

void lwi_assembler_place_by(lwi_assembler *a, int k, const double *q)
{
    const lwi_node *node = &a->model->node[k];
    const lwi_joint *joint = &a->model->joint[node->joint];
    double own[LW_JOINT_MAX_NQ], Rp[9], rp[3], R[9], r[3], c[3];
    lwi_link link;
    for (int i = 0; i < node->nq; i++) own[i] = q[joint->ndriven > 0 ? node->column[i] : i];
    lwi_link_position(a->model, k, 0, own, &link);
    link_of_body(a, node->parent, Rp, rp);
    m3_mul(R, Rp, link.R);
    m3_mul_v(r, Rp, link.r);
    v3_add(r, r, rp);
    m3_mul(a->R[node->body], R, node->c_R);
    m3_mul_v(c, R, node->c_r);
    v3_add(a->r[node->body], r, c);
}

void lwi_assembler_place_as_before(lwi_assembler *a, int k)
{
    const lwi_node *node = &a->model->node[k];
    const int b = node->body;
    if (node->parent < 0) return;
    const int p = a->model->node[node->parent].body;
    double rotation[9], R[9], d[3];
    m3_mul_t(rotation, a->R[p], a->old_R[p]); // drawn axes to placed ones
    v3_sub(d, a->old_r[b], a->old_r[p]);
    m3_mul_v(d, rotation, d);
    v3_add(a->r[b], a->r[p], d);
    m3_mul(R, rotation, a->old_R[b]);
    memcpy(a->R[b], R, sizeof R);
}

// The coordinates that the user gives for joint j, or NULL.
static const double *given_of(const lwi_assembler *a, int j)
{
    return a->given[j] < 0 ? NULL : a->hold[a->given[j]].value;
}

// Does joint j fit the bodies as drawn?  Its coordinates there, read near those given (NULL: none are).
static bool fits(const lwi_assembler *a, int j, const double *given, double *q)
{
    const lwi_joint *joint = &a->model->joint[j];
    double near[LW_JOINT_MAX_NQ], R[9], r[3], Rq[9], rq[3], E[9];
    lwi_joint_relative(a->model, j, 0, (const double(*)[9])a->old_R, (const double(*)[3])a->old_r,
                       NULL, NULL, R, r, NULL);
    joint->type->neutral(&joint->par, near);
    if (given) memcpy(near, given, (size_t)joint->type->nq * sizeof *near);
    if (joint->type->has_pitch && joint->par.pitch != 0 && !given)
        near[0] = r[2] / joint->par.pitch; // the displacement determines the revolution
    joint->type->read(&joint->par, R, r, near, q);
    joint->type->pose(&joint->par, q, Rq, rq);
    v3_sub(rq, rq, r);
    m3_tmul(E, Rq, R);
    const double sine[3] = {E[7] - E[5], E[2] - E[6], E[3] - E[1]};
    const double angle = atan2(v3_norm(sine), E[0] + E[4] + E[8] - 1);
    return v3_norm(rq) <= FITS * a->length && angle <= FITS;
}

// The description's poses: mass centres, world axes.
static void draw(lwi_assembler *a)
{
    const lw_model *model = a->model;
    for (int b = 1; b < model->nbody; b++) {
        const lw_pose *pose = &model->desc.body[b].pose;
        const double quat[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                                pose->orientation.z};
        quat_matrix(a->old_R[b], quat);
        m3_mul_v(a->old_r[b], a->old_R[b], model->body[b].com);
        a->old_r[b][0] += pose->position.x;
        a->old_r[b][1] += pose->position.y;
        a->old_r[b][2] += pose->position.z;
        memcpy(a->R[b], a->old_R[b], sizeof a->R[b]);
        v3_copy(a->r[b], a->old_r[b]);
    }
    m3_identity(a->old_R[0]);
}

void lwi_assembler_place(lwi_assembler *a)
{
    const lw_model *model = a->model;
    draw(a);
    for (int j = 0; j < model->njoint; j++) a->given[j] = -1;
    for (int i = 0; i < a->ngiven; i++) a->given[a->hold[i].joint] = i;
    for (int j = 0; j < model->njoint; j++) // what coordinates continue from
        if (!model->joint[j].merged && model->joint[j].type->nq)
            fits(a, j, given_of(a, j), a->q + model->joint[j].iq);
    for (int k = 0; k < model->nnode; k++) {
        const int j = model->node[k].joint;
        const double *given = j >= 0 ? given_of(a, j) : NULL;
        double q[LW_JOINT_MAX_NQ];
        if (!given || fits(a, j, given, q)) {
            lwi_assembler_place_as_before(a, k);
            continue;
        }
        lwi_assembler_place_by(a, k, given);
        memcpy(a->q + model->joint[j].iq, given, (size_t)model->joint[j].type->nq * sizeof *given);
    }
    lwi_assembler_read(a);
    if (model->nq) memcpy(a->drawn, a->q, (size_t)model->nq * sizeof *a->q);
}
