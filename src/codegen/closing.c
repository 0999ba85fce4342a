// closing.c -- generates the rates of the angles of joints that close loops.
#include "codegen/closing.h"

#include "codegen/functions.h"
#include "codegen/joints.h"
#include "kinematics/auxiliary.h"

// The angles in the order of the state (lwi_auxiliary_list); count -1: not all have this rate.
static lw_status list(const lw_model *m, lwi_arena *arena, lwi_auxiliary *angles, int *count)
{
    TRY(lwi_auxiliary_list(m, false, arena, angles));
    *count = angles->n;
    for (int i = 0; i < angles->n; i++) {
        const lwi_joint *joint = &m->joint[angles->item[i].joint];
        const lwi_coordinate_form *form = &joint->type->coordinate[angles->item[i].coordinate];
        const bool simple = joint->type->scalar && form->kind == LWI_COORDINATE_TURN;
        if (!simple) *count = -1;
    }
    return LW_OK;
}

int lwi_closing_angles(const lw_model *m)
{
    lwi_arena arena;
    lwi_auxiliary angles;
    int count;
    lwi_arena_init(&arena, NULL);
    if (list(m, &arena, &angles, &count) != LW_OK) count = -1;
    lwi_arena_free(&arena);
    return count;
}

lw_status lwi_generate_closing_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                     lwi_arena *arena, lw_error *error)
{
    (void)error;
    const lw_model *m = elements->model;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS, arena, &walk));
    const int out = lwi_codegen_graph_result(g, "angledot");
    lwi_auxiliary angles;
    lwi_sides sides;
    int count;
    TRY(list(m, arena, &angles, &count));
    TRY(lwi_sides_create(&walk, arena, &sides));
    for (int i = 0; i < count; i++) {
        const lwi_joint *joint = &m->joint[angles.item[i].joint];
        const int iv = joint->iv + angles.item[i].coordinate;
        lwi_codegen_graph_mark(g);
        lwi_codegen_graph_output(g, out, i, lwi_joint_reading(&sides, true, iv));
    }
    return LW_OK;
}
