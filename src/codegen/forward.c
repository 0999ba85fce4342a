// forward.c -- generates forward dynamics, accelerations from efforts, and the rates of all states of a run.
#include "codegen/articulated.h"
#include "codegen/closing.h"
#include "codegen/forces.h"
#include "codegen/functions.h"
#include "codegen/power.h"
#include "codegen/reduced.h"

/** Arrays of a function; -1: none. */
typedef struct arrays {
    int tau; ///< -1: no efforts but the model's
    int vdot, xdot, power;
} arrays;

static lw_status tree_accelerations(lwi_sweep *s, val *vdot, lwi_arena *arena, lw_error *error)
{
    const lwi_elements *elements = s->motion.elements;
    TRY(lwi_sweeps(s, elements->ground, arena, error));
    for (int i = 0; i < elements->n; i++) {
        const lwi_element *e = &elements->list[i];
        for (int j = 0; j < lwi_element_speeds(e); j++) vdot[e->iv + j] = s->pivot[i].u[j];
    }
    return LW_OK;
}

// The work of prescribed motions and of forces without a potential changes the energy, and nothing else does: the power of both is
// its rate.  `power` has that of the stored energy.
static lw_status add_inertial_power(const lwi_sweep *s, const val *vdot, lwi_arena *arena,
                                    val *power)
{
    lwi_codegen_graph *g = s->motion.graph;
    val inertial;
    if (s->motion.elements->loops)
        TRY(lwi_codegen_inertial_power(&s->motion, vdot, arena, &inertial));
    else
        TRY(lwi_articulated_power(s, arena, &inertial));
    *power = add(g, *power, inertial);
    return LW_OK;
}

// vdot [tree nv] of a walk.
static lw_status accelerations(const lwi_walk *walk, const arrays *to, val *vdot, lwi_arena *arena,
                               lw_error *error)
{
    const lwi_elements *elements = walk->elements;
    lwi_sweep s = {.bias = true, .tau = to->tau};
    val power;
    lwi_closures closures;
    TRY(lwi_codegen_motion_create(walk, arena, &s.motion));
    lwi_codegen_motion_pose(&s.motion);
    lwi_codegen_motion_velocity(&s.motion);
    TRY(lwi_forces_create(walk, arena, to->xdot, to->power < 0 ? NULL : &power, &s.motion.load));
    if (elements->loops) {
        TRY(lwi_closures_create(walk, arena, &closures));
        TRY(lwi_reduced_accelerations(&s, &closures, vdot, arena, error));
    } else {
        TRY(tree_accelerations(&s, vdot, arena, error));
    }
    if (to->power < 0) return LW_OK;
    if (elements->model->driven) TRY(add_inertial_power(&s, vdot, arena, &power));
    lwi_codegen_graph_output(walk->graph, to->power, 0, power);
    return LW_OK;
}

static lw_status output_accelerations(const lwi_walk *walk, const arrays *to, lwi_arena *arena,
                                      lw_error *error)
{
    const int nv = walk->elements->model->tree_nv;
    val *a = LWI_PUSH(arena, val, nv);
    if (!a) return LW_ERR_MEMORY;
    TRY(accelerations(walk, to, a, arena, error));
    for (int i = 0; i < nv; i++) lwi_codegen_graph_output(walk->graph, to->vdot, i, a[i]);
    return LW_OK;
}

lw_status lwi_generate_forward_dynamics(lwi_codegen_graph *g, const lwi_elements *elements,
                                        lwi_arena *arena, lw_error *error)
{
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_SPEEDS | LWI_READS_FORCES, arena, &walk));
    arrays to = {.tau = lwi_codegen_graph_array(g, "tau"), .xdot = -1, .power = -1};
    to.vdot = lwi_codegen_graph_result(g, "vdot");
    return output_accelerations(&walk, &to, arena, error);
}

// More results of the rates of runs, after qdot, vdot and xdot: the power, the array or -1, and of loops the speeds, which become
// those of the walk, and the rates of angles.
static lw_status begin_run(lwi_walk *walk, int *power, lwi_arena *arena)
{
    lwi_codegen_graph *g = walk->graph;
    const lw_model *m = walk->elements->model;
    if (m->carries_work) *power = lwi_codegen_graph_result(g, "power");
    if (!walk->elements->loops) return LW_OK;
    val *u = LWI_PUSH(arena, val, m->tree_nv);
    if (!u) return LW_ERR_MEMORY;
    const int consistent = lwi_codegen_graph_result(g, "consistent");
    lwi_codegen_motion poses; // first, each a part: their sines do not depend on each other
    TRY(lwi_codegen_motion_create(walk, arena, &poses));
    lwi_codegen_motion_pose(&poses);
    TRY(lwi_consistent_speeds(walk, u, arena));
    for (int i = 0; i < m->tree_nv; i++) lwi_codegen_graph_output(g, consistent, i, u[i]);
    walk->speed = u;
    if (lwi_closing_angles(m) == 0) return LW_OK;
    return lwi_closing_rates(walk, lwi_codegen_graph_result(g, "angledot"), arena);
}

static lw_status generate_rates(lwi_codegen_graph *g, const lwi_elements *elements, bool efforts,
                                bool of_run, lwi_arena *arena, lw_error *error)
{
    lwi_walk walk;
    TRY(lwi_walk_begin(g, elements, LWI_READS_ALL, arena, &walk));
    arrays to = {.tau = efforts ? lwi_codegen_graph_array(g, "tau") : -1, .power = -1};
    const int qdot = lwi_codegen_graph_result(g, "qdot");
    to.vdot = lwi_codegen_graph_result(g, "vdot");
    to.xdot = lwi_codegen_graph_result(g, "xdot");
    if (of_run) TRY(begin_run(&walk, &to.power, arena));
    lwi_coordinate_rates(&walk, qdot);
    return output_accelerations(&walk, &to, arena, error);
}

lw_status lwi_generate_rates(lwi_codegen_graph *g, const lwi_elements *elements, lwi_arena *arena,
                             lw_error *error)
{
    return generate_rates(g, elements, false, false, arena, error);
}

lw_status lwi_generate_loaded_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                    lwi_arena *arena, lw_error *error)
{
    return generate_rates(g, elements, true, false, arena, error);
}

lw_status lwi_generate_run_rates(lwi_codegen_graph *g, const lwi_elements *elements,
                                 lwi_arena *arena, lw_error *error)
{
    return generate_rates(g, elements, false, true, arena, error);
}
