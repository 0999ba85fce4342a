// parts.c -- what there is: formulations, integrators, joint types, force types, from their lists.
#include "kinematics/formulation.h"
#include "integrate/integrator.h"

static const lwi_formulation *const formulations[] = {
#define X(name) &lwi_formulation_##name,
    LWI_FORMULATION_LIST(X)
#undef X
};

static const lwi_force_type *const forces[] = {
#define X(name) &lwi_force_##name,
    LWI_FORCE_LIST(X)
#undef X
};

static const lw_part_info joints[] = {
#define X(name, text, nq, nv, nc, help) {text, help, ""},
    LW_JOINT_LIST(X)
#undef X
};

// An index out of range gives empty strings.
static const lw_part_info none = {"", "", ""};

static bool in_range(int index, int count)
{
    return index >= 0 && index < count;
}

int lw_formulation_count(void)
{
    return LWI_COUNT(formulations);
}

lw_part_info lw_formulation_info(int index)
{
    if (!in_range(index, LWI_COUNT(formulations))) return none;
    const lwi_formulation *f = formulations[index];
    return (lw_part_info){f->name, f->summary, f->cite};
}

unsigned lw_formulation_flags(int index)
{
    if (!in_range(index, LWI_COUNT(formulations))) return 0;
    const lwi_formulation *f = formulations[index];
    return (f->flags & LWI_CUBIC ? LW_FORMULATION_CUBIC : 0u) |
           (f->step ? LW_FORMULATION_OWN_STEP : 0u) |
           (f->flags & LWI_TREE_STATE ? LW_FORMULATION_COMPILED : 0u);
}

int lw_integrator_count(void)
{
    return lwi_integrator_type_count();
}

lw_part_info lw_integrator_info(int index)
{
    const lwi_integrator_type *type = lwi_integrator_type_at(index);
    return type ? (lw_part_info){type->name, type->summary, type->cite} : none;
}

int lw_joint_type_count(void)
{
    return LWI_COUNT(joints);
}

lw_part_info lw_joint_type_info(int index)
{
    return in_range(index, LWI_COUNT(joints)) ? joints[index] : none;
}

int lw_force_type_count(void)
{
    return LWI_COUNT(forces);
}

lw_part_info lw_force_type_info(int index)
{
    if (!in_range(index, LWI_COUNT(forces))) return none;
    return (lw_part_info){forces[index]->name, forces[index]->summary, ""};
}
