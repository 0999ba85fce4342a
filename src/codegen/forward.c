// forward.c -- generates forward dynamics: accelerations from efforts.
#include "codegen/articulated.h"
#include "codegen/forces.h"
#include "codegen/functions.h"
#include "codegen/reduced.h"

static lw_status with_loops(lwi_sweep *s, const lwi_walk *walk, int vdot, lwi_arena *arena,
                            lw_error *error)
{
    const int nv = s->motion.elements->model->tree_nv;
    lwi_closures closures;
    val *a = LWI_PUSH(arena, val, nv);
    if (!a) return LW_ERR_MEMORY;
    TRY(lwi_closures_create(walk, arena, &closures));
    TRY(lwi_reduced_accelerations(s, &closures, a, arena, error));
    for (int i = 0; i < nv; i++) lwi_codegen_graph_output(s->motion.graph, vdot, i, a[i]);
    return LW_OK;
}

lw_status lwi_generate_forward_dynamics(lwi_codegen_graph *g, const lwi_elements *elements,
                                        lwi_arena *arena, lw_error *error)
{
    lwi_sweep s = {.bias = true};
    const int q = lwi_codegen_graph_array(g, "q"), v = lwi_codegen_graph_array(g, "v");
    s.tau = lwi_codegen_graph_array(g, "tau");
    const int vdot = lwi_codegen_graph_array(g, "vdot");
    TRY(lwi_codegen_motion_create(g, elements, q, v, arena, &s.motion));
    lwi_codegen_motion_pose(&s.motion);
    lwi_codegen_motion_velocity(&s.motion);
    const lwi_walk walk = {g, elements, q, v, NULL};
    TRY(lwi_forces_create(&walk, arena, &s.motion.load));
    if (elements->loops) return with_loops(&s, &walk, vdot, arena, error);
    TRY(lwi_sweeps(&s, elements->ground, arena, error));
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++)
            lwi_codegen_graph_output(g, vdot, e->iv + j, s.pivot[i].u[j]);
    }
    return LW_OK;
}
