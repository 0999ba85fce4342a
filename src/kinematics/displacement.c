// displacement.c -- positions of a tree moved along its speeds.
#include "kinematics/displacement.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <string.h>

// nv < type->nv: the coordinates of a joint that are not driven.
static void displace(const lwi_joint_type *type, const lwi_joint_par *par, int nq, int nv,
                     double *q, const double *du)
{
    double rate[LW_JOINT_MAX_NQ];
    LWI_ASSERT(nq <= LW_JOINT_MAX_NQ);
    if (type->scalar || nv < type->nv)
        memcpy(rate, du, (size_t)nv * sizeof *rate);
    else
        type->kinematics(par, q, du, rate);
    for (int i = 0; i < nq; i++) q[i] += rate[i];
    if (type->quaternion >= 0) quat_normalize(q + type->quaternion, q + type->quaternion);
}

void lwi_displace(const lw_model *model, double *q, const double *du)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        displace(node->type, node->par, node->nq, node->nv, q + node->iq, du + node->iv);
    }
}

void lwi_displace_joint(const lwi_joint *joint, double *q, const double *du)
{
    displace(joint->type, &joint->par, joint->type->nq, joint->type->nv, q, du);
}

static bool is_angular(const lwi_joint_type *type, int column)
{
    if (type->scalar) return type->angles >> column & 1;
    return type->nv == 3 || column >= 3; // a ball; a free joint: displacement, rotation
}

void lwi_displacement_units(const lw_model *model, double *unit)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        for (int i = 0; i < node->nv; i++)
            unit[node->iv + i] = is_angular(node->type, node->column[i]) ? 1 : model->length;
    }
}
