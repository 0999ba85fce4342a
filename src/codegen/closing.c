// closing.c -- generates the rates of the angles of joints that close loops.
#include "codegen/closing.h"

#include "codegen/functions.h"
#include "codegen/joints.h"
#include "kinematics/auxiliary.h"

int lwi_closing_angles(const lw_model *m)
{
    lwi_arena arena;
    lwi_auxiliary angles = {0};
    lwi_arena_init(&arena, NULL);
    const int count = lwi_auxiliary_list(m, false, &arena, &angles) == LW_OK ? angles.n : 0;
    lwi_arena_free(&arena);
    return count;
}

lw_status lwi_closing_rates(const lwi_walk *walk, int angledot, lwi_arena *arena)
{
    const lw_model *m = walk->elements->model;
    lwi_auxiliary angles;
    lwi_sides sides;
    TRY(lwi_auxiliary_list(m, false, arena, &angles)); // in the order of the state
    TRY(lwi_sides_create(walk, arena, &sides));
    for (int i = 0; i < angles.n; i++) {
        const lwi_joint *joint = &m->joint[angles.item[i].joint];
        const int iv = joint->iv + angles.item[i].coordinate;
        lwi_codegen_graph_mark(walk->graph);
        lwi_codegen_graph_output(walk->graph, angledot, i, lwi_joint_reading(&sides, true, iv));
    }
    return LW_OK;
}

lw_status lwi_generate_closing_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                     lwi_arena *arena, lw_error *error)
{
    (void)error;
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS, arena, &walk));
    return lwi_closing_rates(&walk, lwi_codegen_graph_result(g, "angledot"), arena);
}
