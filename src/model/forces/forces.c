// forces.c -- all applied forces of a model: sum, potential, times where they are not smooth.
#include "model/forces/describe.h"
#include "base/assert.h"
#include "model/forces/length.h"
#include "model/model.h"
#include "spatial/motion.h"

void lwi_forces_apply(const lw_model *model, const lwi_kin *kin, double t, const double *inputs,
                      lwi_loads *loads)
{
    for (int b = 0; b < model->nbody; b++) v6_zero(loads->wrench[b]);
    for (int k = 0; k < model->nv; k++) loads->effort[k] = 0;
    double power = 0; // summed as by lwi_force_shares_apply
    for (int i = 0; i < model->nforce; i++) {
        const lwi_force *force = &model->force[i];
        LWI_ASSERT(force->type && force->par);
        loads->power = 0;
        force->type->apply(model, force->par, kin, t, inputs, loads);
        power += loads->power;
    }
    loads->power = power;
}

// A wrench about the mass centre of a merged body is one about its carrier's, with the arm between.
void lwi_load_to_carrier(const lw_model *model, int b, const lwi_kin *kin, lwi_loads *loads)
{
    const int carrier = model->body[b].carrier;
    if (carrier == b) return;
    LWI_ASSERT(model->body[carrier].carrier == carrier);
    double arm[3];
    m3_mul_v(arm, kin->R[carrier], model->body[b].carrier_r);
    v6_axpy(loads->wrench[carrier], 1, loads->wrench[b]);
    v3_cross_add(loads->wrench[carrier] + 3, arm, loads->wrench[b]);
    v6_zero(loads->wrench[b]);
}

void lwi_loads_to_carriers(const lw_model *model, const lwi_kin *kin, lwi_loads *loads)
{
    if (model->nmerged == 0) return;
    for (int b = 1; b < model->nbody; b++) lwi_load_to_carrier(model, b, kin, loads);
}

double lwi_forces_potential(const lw_model *model, const lwi_kin *kin)
{
    double V = 0;
    for (int b = 1; b < model->nbody; b++)
        V -= model->body[b].mass * v3_dot(model->gravity, kin->r[b]);
    for (int i = 0; i < model->nforce; i++)
        if (model->force[i].type->potential)
            V += model->force[i].type->potential(model, model->force[i].par, kin);
    return V;
}

lwi_force_place lwi_force_acts_on(const lwi_force *force)
{
    return force->type->place ? force->type->place(force->par) : (lwi_force_place){.iv = -1};
}

const lwi_force_length *lwi_force_length_of(const lwi_force *force)
{
    const lwi_force_place place = lwi_force_acts_on(force);
    return place.iv < 0 && place.n == 0 ? force->type->length : NULL;
}

bool lwi_force_dissipates(const lwi_force_type *type, const void *par)
{
    return type->dissipates && type->dissipates(par);
}

static double joint_next_break(const lw_model *model, const lwi_joint *joint, double t)
{
    double next = lwi_function_next_break(model->function, joint->length_of, t);
    for (int k = 0; k < LW_JOINT_MAX_NV; k++)
        next = fmin(next, lwi_function_next_break(model->function, joint->motion[k], t));
    if (!joint->mount.present) return next;
    for (int k = 0; k < 3; k++)
        next = fmin(next, lwi_function_next_break(model->function, joint->mount.shift[k], t));
    return fmin(next, lwi_function_next_break(model->function, joint->mount.turn, t));
}

double lwi_model_next_break(const lw_model *model, double t)
{
    double next = INFINITY;
    for (int i = 0; i < model->nforce; i++)
        if (model->force[i].type->next_break)
            next = fmin(next, model->force[i].type->next_break(model, model->force[i].par, t));
    for (int j = 0; j < model->njoint && model->desc.nfunction; j++)
        next = fmin(next, joint_next_break(model, &model->joint[j], t));
    return next;
}

// ------------------------------------------------------------------------------------------- items

const lwi_force_item *const lwi_force_items[LWI_FORCE_ITEMS] = {
#define X(name) &lwi_force_item_##name,
    LW_FORCE_LIST(X)
#undef X
};

const char *lwi_force_item_name(const lwi_force_item *item, const void *desc)
{
    LWI_ASSERT(item->name_at + sizeof(char *) <= item->desc_size);
    const char *name;
    memcpy(&name, (const char *)desc + item->name_at, sizeof name);
    return name;
}

lw_place lwi_force_item_place(const lwi_force_item *item, const void *desc)
{
    LWI_ASSERT(item->place_at + sizeof(lw_place) <= item->desc_size);
    lw_place place;
    memcpy(&place, (const char *)desc + item->place_at, sizeof place);
    return place;
}

const void *lwi_force_desc(const lwi_description *d, int item, int i)
{
    LWI_ASSERT_INDEX(item, LWI_FORCE_ITEMS);
    LWI_ASSERT_INDEX(i, d->force[item].n);
    return (const char *)d->force[item].desc + (size_t)i * lwi_force_items[item]->desc_size;
}

lw_status lwi_force_push(lw_builder *builder, int item, const void *desc, lw_error *error)
{
    LWI_ASSERT_INDEX(item, LWI_FORCE_ITEMS);
    lwi_force_list *list = &builder->desc.force[item];
    const size_t size = lwi_force_items[item]->desc_size;
    void *larger = lwi_builder_grow(builder, LWI_LIST_FORCES + item, list->desc, list->n, size);
    if (!larger) return lwi_builder_no_memory(error);
    list->desc = larger;
    memcpy((char *)list->desc + (size_t)list->n * size, desc, size);
    list->n++;
    return LW_OK;
}
