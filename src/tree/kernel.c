// kernel.c -- choice of the ISA build of the kernels, and copies between arrays and blocks.
#include "tree/kernel.h"

#include "base/cpu.h"
#include "base/flush.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ choice

LWI_ISA_BUILDS(lwi_kernels, lwi_kernels);

const lwi_kernels *lwi_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
}

static lw_status create_team(lwi_kernel *kernel, lwi_pool *pool, lwi_arena *arena);

// Copied by gather_segments and scatter_segments?
static bool in_rows(const lwi_k_stage *stage)
{
    return stage->segments && stage->straight;
}

static lw_status list_entries(const lwi_kernel_plan *plan, const lwi_k_section *of,
                              lwi_arena *arena, lwi_k_entries *list)
{
    const int n = of->end - of->first;
    list->screw = LWI_PUSH(arena, lwi_k_entry, plan->straight ? 0 : n);
    list->other = LWI_PUSH(arena, int32_t, plan->straight ? 0 : n);
    if (!list->screw || !list->other) return LW_ERR_MEMORY;
    for (int s = of->first_stage; s < of->end_stage && !plan->straight; s++)
        for (int i = plan->stage[s].first; i < plan->stage[s].end && !in_rows(&plan->stage[s]);
             i++) {
            const lwi_k_step *step = &plan->step[i];
            const int block = lwi_k_block(step->slot), lane = lwi_k_lane(step->slot);
            if (step->slot >= plan->first_ball || step->driven)
                list->other[list->nother++] = i;
            else
                list->screw[list->nscrew++] =
                    (lwi_k_entry){block, lane, step->iq, step->iv, plan->screw[block].sign[lane]};
        }
    return LW_OK;
}

static lw_status create_entries(const lwi_kernel_plan *plan, lwi_arena *arena, lwi_kernel *kernel)
{
    kernel->entries = LWI_PUSH(arena, lwi_k_entries, plan->nsection);
    if (!kernel->entries) return LW_ERR_MEMORY;
    for (int s = 0; s < plan->nsection; s++)
        TRY(list_entries(plan, &plan->section[s], arena, &kernel->entries[s]));
    return LW_OK;
}

static lw_status create(int width, const lwi_kernel_plan *plan, lwi_arena *arena, lwi_kernel **out)
{
    const lwi_kernels *kernels = lwi_kernels_of(width);
    *out = NULL;
    if (!kernels || !plan) return LW_OK;
    lwi_kernel *kernel = LWI_PUSH(arena, lwi_kernel, 1);
    if (!kernel) return LW_ERR_MEMORY;
    kernel->kernels = kernels;
    kernel->plan = plan;
    TRY(lwi_k_state_create(plan, false, arena, &kernel->state));
    TRY(create_entries(plan, arena, kernel));
    TRY(create_team(kernel, NULL, arena));
    *out = kernel;
    return LW_OK;
}

static lw_status create_drives(const lw_model *model, lwi_arena *arena, lwi_kernel *kernel)
{
    const lwi_kernel_plan *plan = kernel->plan;
    kernel->model = model;
    kernel->drive = LWI_PUSH(arena, lwi_k_prescribed, plan->ndrive);
    if (!kernel->drive) return LW_ERR_MEMORY;
    for (int i = 0; i < plan->ndrive; i++) {
        const lwi_k_drive from = plan->drive[i];
        const lwi_joint *joint = &model->joint[from.joint];
        const int at = from.coordinate;
        kernel->drive[i] = (lwi_k_prescribed){.motion = lwi_k_drive_motion(model, from),
                                              .iq = at < 0 ? -1 : joint->iq + at,
                                              .iv = at < 0 ? -1 : joint->iv + at};
    }
    for (int i = 0; i < plan->nstep; i++)
        if (plan->step[i].driven) kernel->drive[plan->step[i].iq - model->tree_nq].step = i;
    return LW_OK;
}

lw_status lwi_kernel_create_prescribed(const lw_model *model, int width, lwi_arena *arena,
                                       lwi_kernel **kernel)
{
    const lwi_k_choice choice = {LWI_K_AUTO, LWI_K_AUTO, true, 0};
    TRY(lwi_kernel_create_chosen(model, width, choice, arena, kernel));
    return *kernel ? create_drives(model, arena, *kernel) : LW_OK;
}

lw_status lwi_kernel_create_chosen(const lw_model *model, int width, lwi_k_choice choice,
                                   lwi_arena *arena, lwi_kernel **kernel)
{
    lwi_kernel_plan *plan;
    TRY(lwi_kernel_plan_create_chosen(model, choice, arena, &plan));
    return create(width, plan, arena, kernel);
}

lw_status lwi_kernel_create(const lw_model *model, int width, lwi_arena *arena, lwi_kernel **kernel)
{
    return lwi_kernel_create_chosen(model, width, (lwi_k_choice){LWI_K_AUTO, LWI_K_AUTO, false, 0},
                                    arena, kernel);
}

// ------------------------------------------------------------------------------ prescribed motions

void lwi_kernel_prescribe(lwi_kernel *kernel, double t)
{
    for (int i = 0; i < kernel->plan->ndrive; i++) {
        lwi_k_prescribed *drive = &kernel->drive[i];
        lwi_function_eval(kernel->model->function, drive->motion, t, drive->value);
        drive->outside = 0;
    }
}

void lwi_kernel_driven_joints(const lwi_kernel *kernel, double *q, double *qd)
{
    for (int i = 0; i < kernel->plan->ndrive; i++) {
        const lwi_k_prescribed *drive = &kernel->drive[i];
        if (drive->iq < 0) continue;
        q[drive->iq] = drive->value[0];
        qd[drive->iv] = drive->value[1];
    }
}

static void put_drive(const lwi_kernel *kernel, const lwi_k_step *step)
{
    const int l = step->slot % LWI_LANES;
    lwi_k_joint *joint = &kernel->state.joint[step->slot / LWI_LANES];
    const double *value = kernel->drive[step->iq - kernel->model->tree_nq].value;
    joint->q[l] = value[0];
    joint->v[l] = value[1];
    joint->tau[l] = value[2];
}

// The part of V x* P* along a hinge that is due to M'S, which is U where the motion is prescribed and 0 otherwise
// (momenta_rotor).
static double leftover(const lwi_k_state *state, const lwi_k_step *step, int n, int l)
{
    const double(*U)[LWI_LANES] = state->driven[n].U, (*V)[LWI_LANES] = state->motion[n].A;
    if (step->kind != LWI_K_HINGE) return 0;
    return (V[5][l] - state->motion[n].vdot[l]) *
           ((V[3][l] * U[4][l] - V[4][l] * U[3][l]) + (V[0][l] * U[1][l] - V[1][l] * U[0][l]));
}

// U . A + S'p of the drives: S'F of accelerations A, S'P of velocities.  Returns true if all are finite.
bool lwi_kernel_take_drives(const lwi_kernel *kernel, const lwi_k_state *state, int lane,
                            bool momenta)
{
    const lwi_kernel_plan *plan = kernel->plan;
    double nothing = 0;
    for (int i = 0; i < plan->ndrive; i++) {
        lwi_k_prescribed *drive = &kernel->drive[i];
        const int slot = plan->step[drive->step].slot;
        const int n = lane < 0 ? slot / LWI_LANES : slot, l = lane < 0 ? slot % LWI_LANES : lane;
        const lwi_k_driven *kept = &state->driven[n];
        const double sign = plan->screw[slot / LWI_LANES].sign[slot % LWI_LANES];
        double sum = kept->along[l];
        for (int k = 0; k < 6; k++) sum += kept->U[k][l] * state->motion[n].A[k][l];
        *(momenta ? &drive->momentum : &drive->force) = sign * sum;
        if (momenta)
            drive->force = sign * (state->momentum[n].pdot[0][l] -
                                   leftover(state, &plan->step[drive->step], n, l));
        nothing += sum - sum + (drive->force - drive->force);
    }
    return nothing == 0;
}

static bool take_drives(const lwi_kernel *kernel, bool momenta)
{
    return lwi_kernel_take_drives(kernel, &kernel->state, -1, momenta);
}

static double effort_on(const lwi_k_prescribed *drive, const double *effort)
{
    return drive->iv < 0 ? 0 : effort[drive->iv];
}

double lwi_kernel_drive_power(const lwi_kernel *kernel, const double *effort)
{
    double power = 0;
    for (int i = 0; i < kernel->plan->ndrive; i++) {
        const lwi_k_prescribed *d = &kernel->drive[i];
        power += d->value[1] * (d->force - d->outside - effort_on(d, effort));
    }
    return power;
}

double lwi_kernel_prescribed_rate(const lwi_kernel *kernel, const double *effort)
{
    double power = 0;
    for (int i = 0; i < kernel->plan->ndrive; i++) {
        const lwi_k_prescribed *d = &kernel->drive[i];
        power -= d->value[1] * (d->force + d->outside + effort_on(d, effort));
        power -= d->value[2] * d->momentum;
    }
    return power;
}

// ------------------------------------------------------------------------------ gather and scatter

// Blocks of a straight tree are the arrays themselves, eight numbers at a time.  Whole blocks have a constant
// size, the remainder is copied number by number.
static void put_rows(double *rows, size_t stride, const double *from, int n)
{
    for (; n >= LWI_LANES; n -= LWI_LANES, rows += stride, from += LWI_LANES)
        memcpy(rows, from, sizeof(lwi_lanes));
    for (int l = 0; l < n; l++) rows[l] = from[l];
}

static void gather_straight(const lwi_kernel *kernel, const double *q, const double *v,
                            const double *tau)
{
    lwi_k_joint *joint = kernel->state.joint;
    const int n = kernel->plan->nstep;
    const size_t stride = sizeof *joint / sizeof *q;
    put_rows(joint->q, stride, q, n);
    put_rows(joint->v, stride, v, n);
    if (tau) {
        put_rows(joint->tau, stride, tau, n);
        return;
    }
    for (int i = 0; i < kernel->plan->nscrew; i++) memset(joint[i].tau, 0, sizeof joint[i].tau);
}

static void gather_ball(lwi_k_ball_joint *joint, int l, const lwi_k_step *step, const double *q,
                        const double *v, const double *tau)
{
    const int n = step->kind == LWI_K_BALL ? 3 : 6;
    for (int i = 0; i < 4; i++) joint->q[i][l] = q[step->iq + i];
    for (int i = 0; i < n; i++) {
        joint->v[6 - n + i][l] = v[step->iv + i];
        joint->tau[6 - n + i][l] = tau ? tau[step->iv + i] : 0;
    }
}

static void gather_segments(const lwi_kernel *kernel, const lwi_k_stage *stage, const double *q,
                            const double *v, const double *tau)
{
    const lwi_kernels *kernels = kernel->kernels;
    const lwi_k_step *first = &kernel->plan->step[stage->first];
    lwi_k_joint *joint = kernel->state.joint;
    const size_t stride = sizeof *joint / sizeof *q;
    kernels->segments_in(stage, q + first->iq, joint->q, stride);
    kernels->segments_in(stage, v + first->iv, joint->v, stride);
    kernels->segments_in(stage, tau ? tau + first->iv : NULL, joint->tau, stride);
}

static void gather_screws(const lwi_k_entries *list, lwi_k_joint *joint, const double *q,
                          const double *v, const double *tau)
{
    for (const lwi_k_entry *of = list->screw, *end = of + list->nscrew; of < end; of++) {
        lwi_k_joint *to = &joint[of->block];
        to->q[of->lane] = q[of->iq];
        to->v[of->lane] = v[of->iv];
        to->tau[of->lane] = tau ? tau[of->iv] : 0;
    }
}

static void gather_others(const lwi_kernel *kernel, const lwi_k_entries *list, const double *q,
                          const double *v, const double *tau)
{
    const lwi_kernel_plan *plan = kernel->plan;
    for (int i = 0; i < list->nother; i++) {
        const lwi_k_step *step = &plan->step[list->other[i]];
        if (step->driven)
            put_drive(kernel, step);
        else
            gather_ball(&kernel->state.ball_joint[lwi_k_block(step->slot) - plan->nscrew],
                        lwi_k_lane(step->slot), step, q, v, tau);
    }
}

static void gather(const lwi_kernel *kernel, int section, const double *q, const double *v,
                   const double *tau)
{
    const lwi_kernel_plan *plan = kernel->plan;
    const lwi_k_section *of = &plan->section[section];
    if (plan->straight) {
        gather_straight(kernel, q, v, tau);
        return;
    }
    for (int i = of->first_stage; i < of->end_stage && plan->segments; i++)
        if (in_rows(&plan->stage[i])) gather_segments(kernel, &plan->stage[i], q, v, tau);
    gather_screws(&kernel->entries[section], kernel->state.joint, q, v, tau);
    gather_others(kernel, &kernel->entries[section], q, v, tau);
}

// Copies n numbers of a straight tree from blocks `stride` doubles apart; returns true if all are finite.
static bool take_rows(double *out, const double *rows, size_t stride, int n)
{
    lwi_lanes nothing = {0}; // x - x is NaN if x is not finite
    for (; n >= LWI_LANES; n -= LWI_LANES, rows += stride, out += LWI_LANES)
        for (int l = 0; l < LWI_LANES; l++) {
            out[l] = rows[l];
            nothing[l] += rows[l] - rows[l];
        }
    for (int l = 0; l < n; l++) {
        out[l] = rows[l];
        nothing[l] += rows[l] - rows[l];
    }
    return ((nothing[0] + nothing[1]) + (nothing[2] + nothing[3])) +
               ((nothing[4] + nothing[5]) + (nothing[6] + nothing[7])) ==
           0;
}

static double scatter_screws(const lwi_k_entries *list, const double *screw, size_t stride,
                             double *out)
{
    double nothing = 0;
    for (const lwi_k_entry *of = list->screw, *end = of + list->nscrew; of < end; of++) {
        const double x = of->sign * screw[(size_t)of->block * stride + (size_t)of->lane];
        out[of->iv] = x;
        nothing += x - x;
    }
    return nothing;
}

static double scatter_others(const lwi_kernel_plan *plan, const lwi_k_entries *list,
                             const double *ball, size_t stride, double *out)
{
    double nothing = 0;
    for (int i = 0; i < list->nother; i++) {
        const lwi_k_step *step = &plan->step[list->other[i]];
        if (step->driven) continue;
        const double *from = ball + (size_t)(lwi_k_block(step->slot) - plan->nscrew) * stride +
                             lwi_k_lane(step->slot);
        const int n = step->kind == LWI_K_BALL ? 3 : 6;
        for (int j = 0; j < n; j++) {
            const double x = from[(6 - n + j) * LWI_LANES];
            out[step->iv + j] = x;
            nothing += x - x;
        }
    }
    return nothing;
}

// Copies one entry of the screws (times sign) and one of balls and bases; returns true if all are finite.
static bool scatter(const lwi_kernel *kernel, int section, const double *screw, size_t screw_stride,
                    const double *ball, size_t ball_stride, double *out)
{
    const lwi_kernel_plan *plan = kernel->plan;
    const lwi_k_section *of = &plan->section[section];
    const lwi_k_entries *list = &kernel->entries[section];
    double nothing = 0;
    if (plan->straight) return take_rows(out, screw, screw_stride, plan->nstep);
    for (int i = of->first_stage; i < of->end_stage && plan->segments; i++)
        if (in_rows(&plan->stage[i]))
            nothing += kernel->kernels->segments_out(&plan->stage[i], screw, screw_stride,
                                                     out + plan->step[plan->stage[i].first].iv);
    nothing += scatter_screws(list, screw, screw_stride, out);
    nothing += scatter_others(plan, list, ball, ball_stride, out);
    return nothing == 0;
}

// Arguments of scatter: the first entry, and the number of doubles from one block to the next.
#define SCREWS(array, entry) (array)->entry, sizeof *(array) / sizeof(double)
#define BALLS(array, entry) (array)->entry[0], sizeof *(array) / sizeof(double)

// ------------------------------------------------------------------------------------- evaluations

typedef struct evaluation {
    const lwi_kernel *kernel;
    const double *q, *v, *tau; // v: or momenta
    double *vdot, *pdot;       // vdot: or speeds
    uint64_t mode;             // treatment of subnormal numbers (flush.h)
} evaluation;

// Before the trunk takes the inertias of its subtrees, and after it has its motion.
typedef bool phase(const evaluation *of, int section);

static bool aba_inward(const evaluation *of, int section)
{
    const lwi_kernel *kernel = of->kernel;
    return kernel->kernels->inertias(kernel->plan, &kernel->state, section);
}

static bool aba_velocities(const evaluation *of, int section)
{
    const lwi_kernel *kernel = of->kernel;
    gather(kernel, section, of->q, of->v, of->tau);
    return kernel->kernels->velocities(kernel->plan, &kernel->state, section);
}

static bool aba_outward(const evaluation *of, int section)
{
    const lwi_kernel *kernel = of->kernel;
    const lwi_k_state *state = &kernel->state;
    return kernel->kernels->accelerations(kernel->plan, state, section) &&
           scatter(kernel, section, SCREWS(state->motion, vdot), BALLS(state->ball_pivot, vdot),
                   of->vdot);
}

static bool momenta_inward(const evaluation *of, int section)
{
    const lwi_kernel *kernel = of->kernel;
    gather(kernel, section, of->q, of->v, NULL);
    return kernel->kernels->momenta(kernel->plan, &kernel->state, section);
}

static bool momenta_outward(const evaluation *of, int section)
{
    const lwi_kernel *kernel = of->kernel;
    const lwi_k_state *state = &kernel->state;
    return kernel->kernels->momenta_rates(kernel->plan, state, section) &&
           scatter(kernel, section, SCREWS(state->motion, vdot), BALLS(state->ball_pivot, vdot),
                   of->vdot) &&
           scatter(kernel, section, SCREWS(state->momentum, pdot[0]),
                   BALLS(state->momentum + kernel->plan->nscrew, pdot), of->pdot);
}

static bool subtrees(const evaluation *of, int part, phase *run_phase)
{
    const lwi_kernel_team *team = of->kernel->team;
    bool valid = true;
    for (int i = team->first[part]; i < team->first[part + 1]; i++)
        valid &= run_phase(of, team->section[i]);
    return valid;
}

static void meet(const evaluation *of)
{
    lwi_kernel_team *team = of->kernel->team;
    if (team->parts > 1) lwi_barrier_wait(&team->barrier, team->parts);
}

// The trunk by part 0, the subtrees by all.
static bool evaluate(const evaluation *of, int part)
{
    const bool trunk = part == 0;
    bool valid = true;
    if (!of->pdot) {
        if (trunk) valid &= aba_velocities(of, 0);
        meet(of);
        valid &= subtrees(of, part, aba_velocities);
    }
    valid &= subtrees(of, part, of->pdot ? momenta_inward : aba_inward);
    meet(of);
    if (trunk) valid &= of->pdot ? momenta_inward(of, 0) : aba_inward(of, 0);
    if (trunk) valid &= of->pdot ? momenta_outward(of, 0) : aba_outward(of, 0);
    meet(of);
    return subtrees(of, part, of->pdot ? momenta_outward : aba_outward) && valid;
}

// In the floating-point mode of the calling thread: the same bits for any number of threads.
static void run_part(void *user, int part)
{
    const evaluation *of = user;
    const uint64_t mode = lwi_flush_get();
    lwi_flush_set(of->mode);
    of->kernel->team->valid[part] = evaluate(of, part);
    lwi_flush_set(mode);
}

// A tree without sections on one thread.
static bool evaluate_whole(const evaluation *of)
{
    bool valid = of->pdot || aba_velocities(of, 0);
    valid &= of->pdot ? momenta_inward(of, 0) : aba_inward(of, 0);
    return (of->pdot ? momenta_outward(of, 0) : aba_outward(of, 0)) && valid;
}

static bool run(evaluation *of)
{
    const lwi_kernel_team *team = of->kernel->team;
    if (of->kernel->plan->nsection == 1) return evaluate_whole(of);
    if (!team->pool) return evaluate(of, 0);
    bool valid = true;
    of->mode = lwi_flush_get();
    lwi_pool_run(team->pool, run_part, of);
    for (int i = 0; i < team->parts; i++) valid &= team->valid[i];
    return valid;
}

bool lwi_kernel_aba(const lwi_kernel *kernel, const double *q, const double *v, const double *tau,
                    double *vdot)
{
    evaluation of = {.kernel = kernel, .q = q, .v = v, .tau = tau, .vdot = vdot};
    return run(&of) && take_drives(kernel, false);
}

bool lwi_kernel_momenta(const lwi_kernel *kernel, const double *q, const double *p, double *v,
                        double *pdot)
{
    evaluation of = {.kernel = kernel, .q = q, .v = p, .vdot = v, .pdot = pdot};
    return run(&of) && take_drives(kernel, true);
}

bool lwi_kernel_rnea(const lwi_kernel *kernel, const double *q, const double *v, const double *vdot,
                     double *tau)
{
    const lwi_kernel_plan *plan = kernel->plan;
    const lwi_k_state *state = &kernel->state;
    for (int s = 0; s < plan->nsection; s++) gather(kernel, s, q, v, vdot);
    bool valid = kernel->kernels->rnea(plan, state);
    for (int s = 0; s < plan->nsection; s++)
        valid &=
            scatter(kernel, s, SCREWS(state->motion, vdot), BALLS(state->ball_pivot, vdot), tau);
    return valid;
}

bool lwi_kernel_mass_matrix(const lwi_kernel *kernel, const lwi_k_columns *columns, const double *q,
                            double *M)
{
    for (int s = 0; s < kernel->plan->nsection; s++) gather(kernel, s, q, columns->still, NULL);
    return kernel->kernels->crba(kernel->plan, &kernel->state, columns, M);
}

// ----------------------------------------------------------------------------------------- threads

// Sections, the largest first, each to the thread with the fewest bodies so far; the trunk is part 0's.
static lw_status share(const lwi_kernel_plan *plan, lwi_kernel_team *team, lwi_arena *arena,
                       lwi_arena *scratch)
{
    const int n = plan->nsection, parts = team->parts;
    int *part = LWI_PUSH(scratch, int, n);
    team->first = LWI_PUSH(arena, int, parts + 1);
    team->section = LWI_PUSH(arena, int, n);
    team->bodies = LWI_PUSH(arena, int, parts);
    team->valid = LWI_PUSH(arena, bool, parts);
    if (!part || !team->first || !team->section || !team->bodies || !team->valid)
        return LW_ERR_MEMORY;
    team->bodies[0] = plan->section[0].end - plan->section[0].first;
    for (int s = 1; s < n; s++) {
        for (int i = 1; i < parts; i++)
            if (team->bodies[i] < team->bodies[part[s]]) part[s] = i;
        team->bodies[part[s]] += plan->section[s].end - plan->section[s].first;
        team->first[part[s] + 1]++;
    }
    for (int i = 0; i < parts; i++) team->first[i + 1] += team->first[i];
    for (int i = 0, at = 0; i < parts; i++)
        for (int s = 1; s < n; s++)
            if (part[s] == i) team->section[at++] = s;
    return LW_OK;
}

static lw_status create_team(lwi_kernel *kernel, lwi_pool *pool, lwi_arena *arena)
{
    lwi_kernel_team *team = LWI_PUSH(arena, lwi_kernel_team, 1);
    if (!team) return LW_ERR_MEMORY;
    team->pool = pool;
    team->parts = pool ? lwi_pool_count(pool) : 1;
    if (pool) lwi_barrier_init(pool, &team->barrier);
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = share(kernel->plan, team, arena, &scratch);
    lwi_arena_free(&scratch);
    kernel->team = team;
    return status;
}

lw_status lwi_kernel_threads(lwi_kernel *kernel, int threads, lwi_arena *arena, lwi_pool **pool,
                             lw_error *error)
{
    *pool = NULL;
    if (threads < 2 || kernel->plan->nsection == 1) return LW_OK;
    TRY(lwi_pool_create(threads, &arena->allocator, pool, error));
    return create_team(kernel, *pool, arena);
}
