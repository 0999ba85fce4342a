// forward.c -- generates forward dynamics, accelerations from efforts, and the rates of all states of a run.
#include "codegen/articulated.h"
#include "codegen/forces.h"
#include "codegen/functions.h"
#include "codegen/reduced.h"

// vdot [tree nv] of a walk and the array tau; tau -1: no efforts but the model's.
static lw_status accelerations(const lwi_walk *walk, int tau, int xdot, val *vdot, lwi_arena *arena,
                               lw_error *error)
{
    const lwi_elements *elements = walk->elements;
    lwi_sweep s = {.bias = true, .tau = tau};
    lwi_closures closures;
    TRY(lwi_codegen_motion_create(walk, arena, &s.motion));
    lwi_codegen_motion_pose(&s.motion);
    lwi_codegen_motion_velocity(&s.motion);
    TRY(lwi_forces_create(walk, arena, xdot, &s.motion.load));
    if (elements->loops) {
        TRY(lwi_closures_create(walk, arena, &closures));
        return lwi_reduced_accelerations(&s, &closures, vdot, arena, error);
    }
    TRY(lwi_sweeps(&s, elements->ground, arena, error));
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++) vdot[e->iv + j] = s.pivot[i].u[j];
    }
    return LW_OK;
}

static lw_status output_accelerations(const lwi_walk *walk, int tau, int xdot, int vdot,
                                      lwi_arena *arena, lw_error *error)
{
    const int nv = walk->elements->model->tree_nv;
    val *a = LWI_PUSH(arena, val, nv);
    if (!a) return LW_ERR_MEMORY;
    TRY(accelerations(walk, tau, xdot, a, arena, error));
    for (int i = 0; i < nv; i++) lwi_codegen_graph_output(walk->graph, vdot, i, a[i]);
    return LW_OK;
}

lw_status lwi_generate_forward_dynamics(lwi_codegen_graph *g, const lwi_elements *elements,
                                        lwi_arena *arena, lw_error *error)
{
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS | LWI_READS_FORCES, arena, &walk));
    const int tau = lwi_codegen_graph_array(g, "tau"), vdot = lwi_codegen_graph_result(g, "vdot");
    return output_accelerations(&walk, tau, -1, vdot, arena, error);
}

static lw_status generate_rates(lwi_codegen_graph *g, const lwi_elements *elements, bool efforts,
                                lwi_arena *arena, lw_error *error)
{
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_ALL, arena, &walk));
    const int tau = efforts ? lwi_codegen_graph_array(g, "tau") : -1;
    const int qdot = lwi_codegen_graph_result(g, "qdot"),
              vdot = lwi_codegen_graph_result(g, "vdot"),
              xdot = lwi_codegen_graph_result(g, "xdot");
    lwi_coordinate_rates(&walk, qdot);
    return output_accelerations(&walk, tau, xdot, vdot, arena, error);
}

lw_status lwi_generate_rates(lwi_codegen_graph *g, const lwi_elements *elements, lwi_arena *arena,
                             lw_error *error)
{
    return generate_rates(g, elements, false, arena, error);
}

lw_status lwi_generate_loaded_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                    lwi_arena *arena, lw_error *error)
{
    return generate_rates(g, elements, true, arena, error);
}
