// displacement.c -- positions of a tree moved along its speeds.
#include "kinematics/displacement.h"

#include "base/assert.h"
#include "spatial/rotation.h"

#include <string.h>

void lwi_displace(const lw_model *model, double *q, const double *du)
{
    for (int k = 0; k < model->nnode; k++) {
        const lwi_node *node = &model->node[k];
        double rate[LW_JOINT_MAX_NQ], *at = q + node->iq;
        LWI_ASSERT(node->nq <= LW_JOINT_MAX_NQ);
        if (node->type->scalar || node->nv < node->type->nv) // coordinates that are not driven
            memcpy(rate, du + node->iv, (size_t)node->nv * sizeof *rate);
        else
            node->type->kinematics(node->par, at, du + node->iv, rate);
        for (int i = 0; i < node->nq; i++) at[i] += rate[i];
        const int quaternion = node->type->quaternion;
        if (quaternion >= 0) quat_normalize(at + quaternion, at + quaternion);
    }
}

void lwi_displace_joint(const lwi_joint *joint, double *q, const double *du)
{
    const lwi_joint_type *type = joint->type;
    double rate[LW_JOINT_MAX_NQ];
    if (type->scalar)
        memcpy(rate, du, (size_t)type->nv * sizeof *rate);
    else
        type->kinematics(&joint->par, q, du, rate);
    for (int i = 0; i < type->nq; i++) q[i] += rate[i];
    if (type->quaternion >= 0) quat_normalize(q + type->quaternion, q + type->quaternion);
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
