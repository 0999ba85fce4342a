// forward.c -- generates forward dynamics: accelerations from efforts.
#include "codegen/articulated.h"
#include "codegen/functions.h"

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
    TRY(lwi_sweeps(&s, elements->ground, arena, error));
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++)
            lwi_codegen_graph_output(g, vdot, e->iv + j, s.pivot[i].u[j]);
    }
    return LW_OK;
}
