// impulse.c -- impulses and other impacts: velocities jump, positions do not.
//
// Impacts are impulses of the caller, impulses of the model at their times, and rates of drives that jump.  Steps end
// at their times.  There all velocities after the impact follow from those before by one linear solve with the
// constraint rows of all joints (system/impulse.c), the same for every formulation, which then enters the new motion:
// states of speeds get the new speeds, states of momenta the momenta of these.  The integrator restarts.
//
// A rate that jumps has two values at its time.  Functions take the later one, so steps end at the last time before.
#include "simulate/simulation.h"

#include "base/assert.h"
#include "kinematics/observe.h"
#include "methods/dense/dense.h"
#include "model/impulses.h"
#include "spatial/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

// ---------------------------------------------------------------------------------------- prepare

// Bodies without mass or inertia need the dense equations.
static lw_status create_solver(lw_sim *sim)
{
    lwi_impacts *p = &sim->impacts;
    lw_error why = {0};
    if (lwi_system_accepts(sim->model, &why) != LW_OK)
        return lwi_work_create(sim->model, &lwi_formulation_dense, &sim->arena.allocator, &p->dense,
                               &sim->error);
    p->system = LWI_PUSH(&sim->arena, lwi_system, 1);
    if (!p->system) return LW_ERR_MEMORY;
    TRY(lwi_system_create_rotors(sim->model, LW_PLAN_AUTO, true, &sim->arena, p->system));
    TRY(lwi_system_choose_digits(p->system, &sim->arena));
    return lwi_system_prepare_reactions(p->system, &sim->arena);
}

static lw_status create(lw_sim *sim)
{
    const lw_model *model = sim->model;
    lwi_impacts *p = &sim->impacts;
    TRY(lwi_snapshot_create(model, &sim->arena, &p->before));
    TRY(lwi_snapshot_create(model, &sim->arena, &p->after));
    p->loads.wrench = lwi_arena_push(&sim->arena, (size_t)model->nbody, sizeof *p->loads.wrench);
    p->loads.effort = LWI_PUSH(&sim->arena, double, model->nv);
    p->wrench = lwi_arena_push(&sim->arena, (size_t)model->nbody, sizeof *p->wrench);
    if (!p->loads.wrench || !p->loads.effort || !p->wrench) return LW_ERR_MEMORY;
    return create_solver(sim);
}

// Once; for impulses of the caller before the first of them.
static lw_status prepare(lw_sim *sim)
{
    if (sim->impacts.prepared) return LW_OK;
    const lw_status status = create(sim);
    sim->impacts.prepared = status == LW_OK;
    if (status == LW_ERR_MEMORY)
        return lwi_fail(&sim->error, status, "no memory for the impulses of a simulation");
    return status;
}

lw_status lwi_sim_prepare_impacts(lw_sim *sim)
{
    const lw_model *model = sim->model;
    if (!model->desc.nimpulse && !model->jumps) return LW_OK;
    if (sim->work->fixed_cost)
        return lwi_fail(
            &sim->error, LW_ERR_UNSUPPORTED,
            "the model has %s, but steps of equal cost cannot end at given times: use another mode "
            "of %s, or another formulation",
            model->desc.nimpulse ? "impulses" : "drives with rates that jump",
            sim->work->formulation->name);
    return prepare(sim);
}

void lwi_sim_release_impacts(lw_sim *sim)
{
    lwi_work_destroy(sim->impacts.dense);
}

// ------------------------------------------------------------------------------------------- times

void lwi_sim_find_impact(lw_sim *sim)
{
    lwi_impacts *p = &sim->impacts;
    const lw_model *model = sim->model;
    p->due = false;
    p->next = (lwi_impact_time){.t = INFINITY};
    p->stop = INFINITY;
    if ((!model->desc.nimpulse && !model->jumps) || sim->work->fixed_cost) return;
    p->next = lwi_model_next_impact(model, sim->t);
    p->stop = p->next.jumps ? nextafter(p->next.t, -INFINITY) : p->next.t;
    if (!(p->stop > sim->t)) p->stop = p->next.t;
    sim->next_break = fmin(sim->next_break, p->stop);
}

void lwi_sim_reach_break(lw_sim *sim)
{
    if (sim->t < sim->next_break) return;
    if (sim->t >= sim->impacts.stop)
        sim->impacts.due = true;
    else
        lwi_sim_find_break(sim);
}

// ------------------------------------------------------------------------------------------- loads

static void add_impulse(const lw_model *model, const lw_impulse_desc *d, const lwi_snapshot *m,
                        lwi_loads *loads)
{
    if (d->on_joint) {
        loads->effort[model->joint[d->joint.index].iv + d->coordinate] += d->effort;
        return;
    }
    const int b = d->body.index;
    const double p[3] = {d->point.x, d->point.y, d->point.z};
    double f[6] = {d->impulse.x,         d->impulse.y,         d->impulse.z,
                   d->angular_impulse.x, d->angular_impulse.y, d->angular_impulse.z};
    double arm[3];
    if (d->body_axes) {
        m3_mul_v(f, m->R[b], f);
        m3_mul_v(f + 3, m->R[b], f + 3);
    }
    v3_sub(arm, p, model->body[b].com);
    m3_mul_v(arm, m->R[b], arm);
    v3_cross_add(f + 3, arm, f);
    v6_axpy(loads->wrench[b], 1, f);
}

// Rotors on driven coordinates resist their jumps.  Returns the work on them.
static double add_driven_rotors(const lw_model *model, double t_before, double t, lwi_loads *loads)
{
    double work = 0;
    for (int j = 0; model->driven && j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        for (int k = 0; joint->ndriven && k < joint->type->nv; k++) {
            const double I = model->desc.joint[j].coordinate[k].rotor;
            double before[3], after[3];
            if (joint->motion[k].index <= 0 || I == 0) continue;
            lwi_function_eval(model->function, joint->motion[k], t_before, before);
            lwi_function_eval(model->function, joint->motion[k], t, after);
            loads->effort[joint->iv + k] -= I * (after[1] - before[1]);
            work += 0.5 * I * (after[1] * after[1] - before[1] * before[1]);
        }
    }
    return work;
}

// All impulses of one impact.
typedef struct impulses {
    const char *first; // lw_impulse_desc, `stride` bytes apart
    size_t stride;
    int n;
} impulses;

// Impulses on bodies and coordinates; returns the work on driven rotors.
static double collect(lw_sim *sim, double t_before, const impulses *list)
{
    lwi_impacts *p = &sim->impacts;
    const lw_model *model = sim->model;
    memset(p->loads.wrench, 0, (size_t)model->nbody * sizeof *p->loads.wrench);
    if (model->nv) memset(p->loads.effort, 0, (size_t)model->nv * sizeof *p->loads.effort);
    for (int i = 0; i < list->n; i++) {
        lw_impulse_desc d; // has been checked
        lwi_read_desc(&d, sizeof d, list->first + (size_t)i * list->stride, "lw_impulse_desc",
                      NULL);
        add_impulse(model, &d, &p->before, &p->loads);
    }
    return add_driven_rotors(model, t_before, p->before.t, &p->loads);
}

// Work of the loads on the bodies: they move with the mean of the velocities meanwhile.
static double work_of_loads(lw_sim *sim)
{
    lwi_impacts *p = &sim->impacts;
    const lw_model *model = sim->model;
    const lwi_snapshot *before = &p->before, *after = &p->after;
    const lwi_motion motion = {.R = (const double(*)[9])before->R,
                               .r = (const double(*)[3])before->r,
                               .v = (const double(*)[3])before->v,
                               .w = (const double(*)[3])before->w_world,
                               .q = before->q};
    double work = 0;
    memcpy(p->wrench, p->loads.wrench, (size_t)model->nbody * sizeof *p->wrench);
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].type->nv && !model->joint[j].merged)
            lwi_joint_apply_effort(model, j, before->t, &motion,
                                   p->loads.effort + model->joint[j].iv, p->wrench);
    for (int k = 0; k < model->nnode; k++) {
        const int b = model->node[k].body;
        double v[3], w[3];
        v3_add(v, before->v[b], after->v[b]);
        v3_add(w, before->w[b], after->w[b]);
        m3_mul_v(w, before->R[b], w);
        work += 0.5 * (v3_dot(p->wrench[b], v) + v3_dot(p->wrench[b] + 3, w));
    }
    return work;
}

// ------------------------------------------------------------------------------------------ impact

// The motion before the impact, which is that after it except for velocities, speeds and reactions.
static lw_status observe_before(lw_sim *sim, double t_before, double t)
{
    const lw_model *model = sim->model;
    lwi_snapshot *before = &sim->impacts.before, *after = &sim->impacts.after;
    const size_t n = (size_t)model->nbody;
    const lw_status status = sim->work->formulation->observe(sim->work, t_before, sim->x,
                                                             sim->inputs, LW_OBSERVE_TWIST, before);
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the state before an impulse");
    lwi_observe_merged(model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, before);
    for (int b = 0; b < model->nbody; b++) m3_mul_v(before->w_world[b], before->R[b], before->w[b]);
    before->t = after->t = t;
    after->work = before->work;
    memcpy(after->states, before->states, (size_t)model->nstate * sizeof *after->states);
    memcpy(after->r, before->r, n * sizeof *after->r);
    memcpy(after->quat, before->quat, n * sizeof *after->quat);
    memcpy(after->R, before->R, n * sizeof *after->R);
    if (model->nq) memcpy(after->q, before->q, (size_t)model->nq * sizeof *after->q);
    return LW_OK;
}

static lw_status solve(lw_sim *sim, double t_before, double *work_of_drives)
{
    lwi_impacts *p = &sim->impacts;
    if (p->system)
        return lwi_system_impact(p->system, &p->before, t_before, &p->loads, &p->after,
                                 work_of_drives, &sim->error);
    const lw_status status =
        lwi_dense_impact(p->dense, &p->before, t_before, &p->loads, &p->after, work_of_drives);
    if (status != LW_OK) sim->error = p->dense->error;
    return status;
}

// Reaction impulses of joints that hold merged bodies.
static void complete_reactions(lw_sim *sim, double t_before, const impulses *list)
{
    lwi_impacts *p = &sim->impacts;
    const lw_model *model = sim->model;
    lwi_observe_merged(model, LW_OBSERVE_TWIST, sim->inputs, &sim->loads, &p->after);
    if (model->nmerged == 0) return;
    for (int k = 0; k < model->nv; k++) p->after.qdd[k] = p->after.qd[k] - p->before.qd[k];
    collect(sim, t_before, list); // on the bodies themselves
    lwi_observe_merged_reactions(model, &p->loads, &p->after);
}

// Energies before and after, for the result and the audit.
static void account(lw_sim *sim, double work)
{
    lwi_impacts *p = &sim->impacts;
    lwi_totals before, after;
    lwi_observe_energies(sim->model, LW_OBSERVE_ENERGY, &p->before, &before);
    lwi_observe_energies(sim->model, LW_OBSERVE_ENERGY, &p->after, &after);
    p->result = (lw_impact){.time = p->after.t,
                            .kinetic_before = before.kinetic,
                            .kinetic_after = after.kinetic,
                            .work = work,
                            .reaction = (const double(*)[6])p->after.reaction,
                            .reaction_undetermined = p->after.undetermined};
    sim->audit.impulses++;
    sim->audit.impulse_work += work;
    sim->audit.energy_scale = fmax(sim->audit.energy_scale, fmax(before.kinetic, after.kinetic));
    if (!lwi_layout_has(&sim->work->layout, LWI_WORK)) sim->audit.work_beside += work;
}

static lw_status fail(lw_sim *sim, double t, lw_status status)
{
    const lw_error why = sim->error;
    return lwi_fail(&sim->error, status, "impulse at t = %.10g: %s", t,
                    why.text[0] ? why.text : lw_status_text(status));
}

// From the present state to the one after the impact at time t.  On failure nothing is changed.
static lw_status strike(lw_sim *sim, double t, const impulses *list)
{
    lwi_impacts *p = &sim->impacts;
    lwi_work *work = sim->work;
    const double t_before = sim->t;
    double work_of_drives = 0;
    sim->error.text[0] = 0;
    TRY(observe_before(sim, t_before, t));
    const double rotors = collect(sim, t_before, list);
    const lwi_kin kin = lwi_snapshot_kin(sim->model, &p->before);
    lwi_loads_to_carriers(sim->model, &kin, &p->loads);
    lw_status status = solve(sim, t_before, &work_of_drives);
    if (status != LW_OK) return fail(sim, t, status);
    const double done = work_of_loads(sim) + work_of_drives + rotors;
    complete_reactions(sim, t_before, list);
    p->after.work += done;
    work->resumed = true;
    status = work->formulation->enter(work, &p->after, sim->scratch);
    work->resumed = false;
    if (status != LW_OK) return lwi_sim_fail_work(sim, status, "the state after an impulse");
    for (int i = 0; i < work->layout.nx; i++) sim->x[i] = sim->scratch[i];
    sim->t = t;
    sim->pending = LWI_NEW_STATE;
    work->mode = NULL; // from the state, until the next step
    account(sim, done);
    lwi_sim_find_break(sim);
    p->struck = true;
    return LW_OK;
}

lw_status lwi_sim_strike(lw_sim *sim)
{
    lwi_impacts *p = &sim->impacts;
    const lw_impulse_desc *all = sim->model->desc.impulse;
    LWI_ASSERT(p->due && p->prepared);
    const impulses list = {.first = p->next.n ? (const char *)(all + p->next.first) : NULL,
                           .stride = sizeof *all,
                           .n = p->next.n};
    return strike(sim, p->next.t, &list);
}

lw_status lw_sim_apply_impulse(lw_sim *sim, int count, const lw_impulse_desc *impulse,
                               const lw_impact **impact)
{
    if (!sim) return LW_ERR_ARGUMENT;
    if (count < 0 || (count && !impulse))
        return lwi_fail(&sim->error, LW_ERR_ARGUMENT, "%d impulses, or none is given", count);
    impulses list = {.first = (const char *)impulse, .stride = sizeof *impulse, .n = count};
    if (count && impulse->size) list.stride = impulse->size;
    for (int i = 0; i < count; i++) {
        lw_impulse_desc d;
        TRY(lwi_read_desc(&d, sizeof d, list.first + (size_t)i * list.stride, "lw_impulse_desc",
                          &sim->error));
        if (d.world_point)
            return lwi_fail(&sim->error, LW_ERR_ARGUMENT,
                            "impulse %d: world_point belongs to models, expected a point in the "
                            "body frame",
                            i);
        TRY(lwi_impulse_check(&sim->model->desc, &d, &sim->error));
    }
    TRY(prepare(sim));
    if (sim->impacts.due) TRY(lwi_sim_strike(sim));
    TRY(strike(sim, sim->t, &list));
    if (impact) *impact = &sim->impacts.result;
    return LW_OK;
}
