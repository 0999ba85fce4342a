// auxiliary.c -- coordinates of cut joints in the state.
#include "kinematics/auxiliary.h"

#include "base/assert.h"

#include <string.h>

// Does coordinate k need a state?  Poses determine angles up to full revolutions; custom types and types that are not
// scalar read coordinates from nearby values.  Quaternions follow from the poses except for their sign.
static bool is_auxiliary(const lwi_joint *joint, int k)
{
    const lwi_joint_type *type = joint->type;
    if (joint->merged || type->quaternion >= 0) return false;
    return type->callbacks || !type->scalar || (type->angles >> k & 1u);
}

static int list(const lw_model *model, bool all, lwi_auxiliary_item *item)
{
    int n = 0;
    for (int j = 0; j < model->njoint; j++)
        for (int k = 0; k < model->joint[j].type->nq; k++) {
            if ((!all && model->joint[j].node >= 0) || !is_auxiliary(&model->joint[j], k)) continue;
            if (item) item[n] = (lwi_auxiliary_item){.joint = j, .coordinate = k};
            n++;
        }
    return n;
}

lw_status lwi_auxiliary_list(const lw_model *model, bool all, lwi_arena *arena, lwi_auxiliary *c)
{
    c->n = list(model, all, NULL);
    c->item = LWI_PUSH(arena, lwi_auxiliary_item, c->n);
    if (!c->item) return LW_ERR_MEMORY;
    list(model, all, c->item);
    return LW_OK;
}

lw_status lwi_auxiliary_create(const lw_model *model, lwi_block_kind second, lwi_arena *arena,
                               lwi_auxiliary *c, lwi_layout *layout)
{
    LWI_ASSERT(second == LWI_SPEED || second == LWI_MOMENTUM);
    TRY(lwi_auxiliary_list(model, false, arena, c));
    TRY(lwi_tree_layout(model, arena, second, layout)); // has space for two more blocks
    c->at_work = model->carries_work ? layout->nx - 1 : -1;
    c->at = lwi_layout_add(layout, LWI_ANGLE, c->n);
    LWI_ASSERT(c->at + c->n == layout->nx);
    lwi_states_layout(model, layout);
    return LW_OK;
}

lw_status lwi_auxiliary_layout(const lw_model *model, int nbody, lwi_block_kind second,
                               lwi_arena *arena, lwi_auxiliary *auxiliary, lwi_layout *layout)
{
    layout->block = LWI_PUSH(arena, lwi_block, 2 * nbody + 5);
    if (!layout->block) return LW_ERR_MEMORY;
    for (int k = 0; k < nbody; k++) {
        lwi_layout_add(layout, LWI_COORDINATE, 3);
        lwi_layout_add(layout, LWI_QUATERNION, 4);
    }
    lwi_layout_add(layout, second, 6 * nbody);
    auxiliary->at = lwi_layout_add(layout, LWI_ANGLE, auxiliary->n);
    const int work = lwi_layout_add(layout, LWI_WORK, model->carries_work ? 1 : 0);
    auxiliary->at_work = model->carries_work ? work : -1;
    return LW_OK;
}

void lwi_auxiliary_load(const lw_model *model, const lwi_auxiliary *c, const double *x, double *q)
{
    LWI_ASSERT(c->n == 0 || c->item);
    LWI_ASSERT(c->n >= 0 && c->at >= 0);
    for (int i = 0; i < c->n; i++)
        q[model->joint[c->item[i].joint].iq + c->item[i].coordinate] = x[c->at + i];
}

void lwi_auxiliary_store(const lw_model *model, const lwi_auxiliary *c, const double *q, double *x)
{
    LWI_ASSERT(c->n == 0 || c->item);
    LWI_ASSERT(c->n >= 0 && c->at >= 0);
    for (int i = 0; i < c->n; i++)
        x[c->at + i] = q[model->joint[c->item[i].joint].iq + c->item[i].coordinate];
}

void lwi_auxiliary_rates(const lw_model *model, const lwi_auxiliary *c, const double *q,
                         const double *qd, double *xdot)
{
    for (int i = 0; i < c->n;) {
        const int j = c->item[i].joint;
        const lwi_joint *joint = &model->joint[j];
        double rate[LW_JOINT_MAX_NQ];
        LWI_ASSERT_INDEX(j, model->njoint);
        LWI_ASSERT(joint->type->nv <= LW_JOINT_MAX_NQ);
        if (joint->type->scalar)
            memcpy(rate, qd + joint->iv, (size_t)joint->type->nv * sizeof *rate);
        else
            joint->type->kinematics(&joint->par, q + joint->iq, qd + joint->iv, rate);
        for (; i < c->n && c->item[i].joint == j; i++)
            xdot[c->at + i] = rate[c->item[i].coordinate];
    }
}
