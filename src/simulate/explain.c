// explain.c -- reasons for the end of a run: no step was small enough, or numbers are not finite.
#include "system/singular.h"
#include "simulate/simulation.h"

#include "spatial/vec3.h"

// Share of the prescribed rates of drives and mounts that the almost dependent rows cannot satisfy.  In a motion through
// a singular position it is at most the sine of the angle to dependence, 1e-2 if that is close; if the mechanism is
// driven against the singularity it is a large part.
#define MAX_UNMET 0.05

// Round-off of the state that changes speeds by more than this part ends runs with any step.
#define NO_DIGITS 1e-4

// The reason where momenta do not determine the speeds.  False: it is another one.
static bool explain_momenta(lw_sim *sim, lw_status status)
{
    const double lost = lwi_momentum_rounding(sim);
    if (!(lost > NO_DIGITS)) return false;
    lwi_fail(&sim->error, status,
             "integration stops at t = %.10g: momenta do not determine the speeds here, of which "
             "round-off of the state changes some by %.0e of the largest one (long chains, very "
             "different masses); use a formulation with speeds as state: %s",
             sim->t, lost, lwi_state_of_speeds(sim->model));
    return true;
}

// Equal steps that are too long for momenta: their errors move light rods fast.
static bool explain_divergence(lw_sim *sim, lw_status status)
{
    const bool equal = !lwi_integrator_find(sim->options.integrator)->adaptive;
    if (status != LW_ERR_NOT_FINITE || !equal || !lwi_layout_has(&sim->work->layout, LWI_MOMENTUM))
        return false;
    lwi_fail(&sim->error, status,
             "integration stops at t = %.10g: %.200s; unless loads are huge the momenta diverge, "
             "as steps of %.3g s are too long for them (long chains, very different masses): try a "
             "shorter step, or a formulation with speeds as state, which takes longer ones: %s",
             sim->t, sim->work->error.text, sim->options.step, lwi_state_of_speeds(sim->model));
    return true;
}

// The bodies of the system moved at their velocities for the time dt.
static void move_bodies(lwi_system *s, double dt)
{
    for (int k = 0; k < s->model->nnode; k++) {
        const int b = s->model->node[k].body;
        v3_scale(s->x[k], dt, s->v[b]);
        v3_scale(s->x[k] + 3, dt, s->w[b]);
    }
    lwi_system_move(s, (const double(*)[6])s->x);
}

// The last state before a dead point of drives may be a whole equal step away from it, where the pivot is not small yet.  It
// falls in proportion to the time that is left.  True: it becomes zero within two steps; work->error names the drive.
static bool explain_dead_point(lw_sim *sim, double pivot, int joint)
{
    static const double part = 1e-3, steps = 2;
    lwi_monitor *monitor = &sim->monitor;
    lwi_system *s = &monitor->system;
    const double h = sim->options.step, dt = part * h;
    int edge;
    if (!sim->model->driven || !sim->work->formulation->step || !(h > 0)) return false;
    if (!(lwi_system_unmet(s, pivot) > MAX_UNMET)) return false;
    move_bodies(s, -dt);
    const double before = lwi_monitor_pivot_here(monitor, sim->t - dt, &edge);
    const double left = pivot * dt / (before - pivot); // until it is zero
    if (!(before > pivot && left < steps * h)) return false;
    lwi_singular_fail_driven(sim->model, joint, sim->t + left, pivot, &sim->work->error);
    return true;
}

// The largest pivot of the run, or where it has no samples, as an instance of a batch, that of the model's start.
static double largest_pivot(const lw_sim *sim, lwi_monitor *monitor)
{
    int edge;
    if (monitor->largest > 0) return monitor->largest;
    lwi_snapshot_start(sim->model, &monitor->placed);
    return monitor->largest = lwi_monitor_pivot(monitor, &monitor->placed, &edge);
}

// The reason at a singular position, or close to one.  LW_OK: it is another one.
static lw_status explain_position(lw_sim *sim, lw_status status)
{
    lwi_monitor *monitor = &sim->monitor;
    lwi_system *s = &monitor->system;
    int edge = 0;
    if (!monitor->active ||
        !lwi_sim_observe_motion(sim, sim->t, sim->x, LW_OBSERVE_TWIST, &sim->snapshot))
        return LW_OK;
    const double largest = largest_pivot(sim, monitor);
    lwi_system_from_snapshot(s, &sim->snapshot);
    // without projection: next to a dead point, a position error of d is corrected by a motion of sqrt(d)
    const double pivot = lwi_monitor_pivot_here(monitor, sim->t, &edge);
    const int joint = s->edge_joint[edge];
    const bool near = pivot < LWI_MONITOR_NEAR * largest;
    if (!near) {
        if (!explain_dead_point(sim, pivot, joint)) return LW_OK;
    } else if (sim->model->driven && lwi_system_unmet(s, pivot) > MAX_UNMET) {
        lwi_singular_fail_driven(sim->model, joint, sim->t, pivot, &sim->work->error);
    } else if (status == LW_ERR_INTEGRATOR && !sim->work->formulation->step) {
        lwi_singular_fail(sim->model, joint, sim->t, pivot, &sim->work->error);
    } else {
        return LW_OK;
    }
    return lwi_fail(&sim->error, LW_ERR_SINGULAR, "integration stops at t = %.10g: %s", sim->t,
                    sim->work->error.text);
}

// All steps that are allowed are done, or a function or a callback is not finite: nothing else is the reason.
static bool is_explained(const lw_sim *sim, lw_status status)
{
    lwi_integrator_stats stats;
    sim->integrator->type->stats(sim->integrator, &stats);
    if (status == LW_ERR_INTEGRATOR)
        return sim->options.max_steps > 0 && stats.steps >= sim->options.max_steps;
    return status == LW_ERR_NOT_FINITE ? !sim->unexplained : status != LW_ERR_SINGULAR;
}

// What is certain comes first: a position is found by geometry, round-off of momenta is an estimate, and that equal steps are
// too long for them is left where nothing else is found.
lw_status lwi_sim_find_reason(lw_sim *sim, lw_status status)
{
    const lw_status position = status == LW_ERR_NOT_FINITE ? LW_OK : explain_position(sim, status);
    if (position != LW_OK) return position;
    if (!explain_momenta(sim, status)) explain_divergence(sim, status);
    return status;
}

lw_status lwi_sim_explain(lw_sim *sim, lw_status status)
{
    return is_explained(sim, status) ? status : lwi_sim_find_reason(sim, status);
}
