// lanes.c -- what the kernels of rattle do: the drift of all bodies, and phi of joints side by side that have one type.
#include "methods/rattle/kernels.h"

#include "base/cpu.h"

LWI_ISA_BUILDS(lwi_rattle_kernels, lwi_rattle_kernels);

const lwi_rattle_kernels *lwi_rattle_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

static bool has_simple_rows(const lwi_joint_type *type)
{
    for (int k = 0; k < type->nc; k++) {
        const lwi_row_kind kind = type->row[k].kind;
        if (kind != LWI_ROW_POINT && kind != LWI_ROW_ALONG && kind != LWI_ROW_AXES) return false;
    }
    return type->nc > 0;
}

// The joint of an edge with nothing but such rows; NULL: the edge is another one.
static const lwi_joint *joint_of(const lwi_system *s, int e)
{
    const int j = s->edge_joint[e];
    if (j < 0) return NULL;
    const lwi_joint *joint = &s->model->joint[j];
    const bool own = !joint->mount.present && joint->ndriven == 0 && has_simple_rows(joint->type);
    return own && s->plan.graph.edge[e].rows == joint->type->nc ? joint : NULL;
}

static const lwi_rattle_body *body_of(const lwi_rattle *d, int body)
{
    const int n = d->system.model->nnode, ground = (n + LWI_LANES - 1) / LWI_LANES * LWI_LANES;
    return &d->body[body ? d->system.model->body_node[body] : ground];
}

static void add(lwi_rattle *d, int e, const lwi_joint *joint)
{
    lwi_system *s = &d->system;
    d->joint[d->njoint++] =
        (lwi_rattle_joint){.joint = joint,
                           .body = {body_of(d, joint->body1), body_of(d, joint->body2)},
                           .phi = s->phi + s->plan.row[e]};
}

// The joints of one type, in the order of the edges; the last block is filled with the last of them.
static void add_type(lwi_rattle *d, const lwi_joint_type *type)
{
    for (int e = 0; e < d->system.nedge; e++) {
        const lwi_joint *joint = joint_of(&d->system, e);
        if (joint && joint->type == type) add(d, e, joint);
    }
    while (d->njoint % d->kernels->width) {
        d->joint[d->njoint] = d->joint[d->njoint - 1];
        d->njoint++;
    }
}

void lwi_rattle_choose_kernels(lwi_rattle *d, int width)
{
    const lwi_joint_type *seen[LW_JOINT_COUNT];
    int types = 0;
    d->kernels = width < 0 ? NULL : lwi_rattle_kernels_of(width);
    d->njoint = d->nedge = 0;
    for (int e = 0; e < d->system.nedge; e++) {
        const lwi_joint *joint = d->kernels ? joint_of(&d->system, e) : NULL;
        bool known = false;
        for (int i = 0; i < types && joint; i++) known = known || seen[i] == joint->type;
        if (!joint) {
            d->edge[d->nedge++] = e;
        } else if (!known) {
            LWI_ASSERT_INDEX(types, LW_JOINT_COUNT);
            seen[types++] = joint->type;
            add_type(d, joint->type);
        }
    }
}
