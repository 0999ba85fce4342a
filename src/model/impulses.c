// impulses.c -- impulses of a model: the builder takes them; their times, and those at which rates of drives jump.
#include "model/forces/describe.h"
#include "model/impulses.h"

#include <stdlib.h>
#include <string.h>

static int speed_count(const lw_joint_desc *d)
{
    return d->type == LW_JOINT_CUSTOM && d->custom ? d->custom->nv : lwi_joint_type_of(d->type)->nv;
}

static lw_status check_on_joint(const lwi_description *desc, const lw_impulse_desc *d,
                                const char *name, lw_error *error)
{
    if (d->joint.index < 0 || d->joint.index >= desc->njoint)
        return lwi_model_fail(desc, d->place, error, "impulse '%s': joint is %d; there are %d",
                              name, d->joint.index, desc->njoint);
    const lw_joint_desc *j = &desc->joint[d->joint.index];
    if (d->coordinate < 0 || d->coordinate >= speed_count(j))
        return lwi_model_fail(desc, d->place, error,
                              "impulse '%s': coordinate is q%d; joint '%s' has %d speeds", name,
                              d->coordinate, j->name, speed_count(j));
    if (!zero3(d->impulse) || !zero3(d->angular_impulse) || !zero3(d->point) || d->body.index)
        return lwi_model_fail(desc, d->place, error,
                              "impulse '%s': acts on joint '%s' and has what belongs to a body, "
                              "expected `effort` alone",
                              name, j->name);
    if (isfinite(d->effort)) return LW_OK;
    return lwi_model_fail(desc, d->place, error, "impulse '%s': effort is not finite", name);
}

lw_status lwi_impulse_check(const lwi_description *desc, const lw_impulse_desc *d, lw_error *error)
{
    const char *name = d->name ? d->name : "";
    if (d->on_joint) return check_on_joint(desc, d, name, error);
    if (d->body.index < 0 || d->body.index >= desc->nbody)
        return lwi_model_fail(desc, d->place, error, "impulse '%s': body is %d; there are %d", name,
                              d->body.index, desc->nbody);
    if (d->body.index == 0)
        return lwi_model_fail(desc, d->place, error,
                              "impulse '%s': acts on the ground, expected a moving body or a joint",
                              name);
    if (d->effort != 0)
        return lwi_model_fail(desc, d->place, error,
                              "impulse '%s': effort is %g, but it acts on body '%s'; expected "
                              "`impulse` or `angular_impulse`, or a joint",
                              name, d->effort, desc->body[d->body.index].name);
    if (finite3(d->point) && finite3(d->impulse) && finite3(d->angular_impulse)) return LW_OK;
    return lwi_model_fail(desc, d->place, error,
                          "impulse '%s': point, impulse or angular impulse is not finite", name);
}

lw_status lw_builder_add_impulse(lw_builder *b, const lw_impulse_desc *desc, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    lw_impulse_desc d;
    TRY(lwi_read_desc(&d, sizeof d, desc, "lw_impulse_desc", error));
    d.name = lwi_builder_name(b, desc->name, "impulse", b->desc.nimpulse);
    if (!d.name) return lwi_builder_no_memory(error);
    const lwi_item item = {b, "impulse", d.name, d.place, error};
    if (!(d.time > 0 && isfinite(d.time)))
        return lwi_item_fail(&item,
                             "time is %g, expected a number > 0 [s]: at the start velocities are "
                             "given instead",
                             d.time);
    TRY(lwi_impulse_check(&b->desc, &d, error));
    if (!d.on_joint) point_in_body(b, d.body, &d.point, &d.world_point);
    LWI_GROW(b, LWI_LIST_IMPULSES, impulse, nimpulse);
    b->desc.impulse[b->desc.nimpulse++] = d;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------- times

static double joint_next_jump(const lw_model *model, const lwi_joint *joint, double t)
{
    const lwi_function *all = model->function;
    double next = lwi_function_next_jump(all, joint->length_of, t);
    for (int k = 0; k < LW_JOINT_MAX_NV; k++)
        next = fmin(next, lwi_function_next_jump(all, joint->motion[k], t));
    if (!joint->mount.present) return next;
    for (int k = 0; k < 3; k++)
        next = fmin(next, lwi_function_next_jump(all, joint->mount.shift[k], t));
    return fmin(next, lwi_function_next_jump(all, joint->mount.turn, t));
}

static double next_jump(const lw_model *model, double t)
{
    double next = INFINITY;
    for (int j = 0; j < model->njoint; j++)
        next = fmin(next, joint_next_jump(model, &model->joint[j], t));
    return next;
}

int lwi_model_first_jump(const lw_model *model)
{
    for (int j = 0; j < model->njoint; j++)
        if (isfinite(joint_next_jump(model, &model->joint[j], 0))) return j;
    return -1;
}

lwi_impact_time lwi_model_next_impact(const lw_model *model, double t)
{
    const lwi_description *d = &model->desc;
    int first = 0, end = d->nimpulse; // the first impulse after t
    while (first < end) {
        const int middle = first + (end - first) / 2;
        if (d->impulse[middle].time <= t)
            first = middle + 1;
        else
            end = middle;
    }
    const double jump = model->jumps ? next_jump(model, t) : INFINITY;
    const double impulse = first < d->nimpulse ? d->impulse[first].time : INFINITY;
    lwi_impact_time next = {.t = fmin(jump, impulse), .first = first, .jumps = jump <= impulse};
    while (first + next.n < d->nimpulse && d->impulse[first + next.n].time == next.t) next.n++;
    return next;
}

// By time, then by name: impulses at the same time act at once, in any order.
static int by_time(const void *a, const void *b)
{
    const lw_impulse_desc *x = a, *y = b;
    if (x->time != y->time) return x->time < y->time ? -1 : 1;
    return strcmp(x->name, y->name);
}

void lwi_compile_impulses(lw_model *model)
{
    lwi_description *d = &model->desc;
    if (d->nimpulse) qsort(d->impulse, (size_t)d->nimpulse, sizeof *d->impulse, by_time);
    model->jumps = d->nfunction && isfinite(next_jump(model, 0));
}
