// kernel.c -- choice of the ISA build of the kernels, and copies between arrays and blocks.
#include "tree/kernel.h"

#include "base/cpu.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ choice

LWI_ISA_BUILDS(lwi_kernels, lwi_kernels);

const lwi_kernels *lwi_kernels_of(int width)
{
    const int isa = lwi_isa_of(width);
    return isa < 0 ? NULL : builds[isa];
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
    const lwi_k_choice choice = {LWI_K_AUTO, LWI_K_AUTO, true};
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
    return lwi_kernel_create_chosen(model, width, (lwi_k_choice){LWI_K_AUTO, LWI_K_AUTO, false},
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

// U . A + S'p of the drives: S'F of accelerations A, S'P of velocities.  Returns true if all are finite.
static bool take_drives(const lwi_kernel *kernel, bool momenta)
{
    const lwi_kernel_plan *plan = kernel->plan;
    double nothing = 0;
    for (int i = 0; i < plan->ndrive; i++) {
        lwi_k_prescribed *drive = &kernel->drive[i];
        const int slot = plan->step[drive->step].slot, n = slot / LWI_LANES, l = slot % LWI_LANES;
        const lwi_k_driven *kept = &kernel->state.driven[n - plan->nhinge];
        const double sign = plan->screw[n].sign[l];
        double sum = kept->along[l];
        for (int k = 0; k < 6; k++) sum += kept->U[k][l] * kernel->state.motion[n].A[k][l];
        *(momenta ? &drive->momentum : &drive->force) = sign * sum;
        if (momenta) drive->force = sign * kernel->state.momentum[n].pdot[0][l];
        nothing += sum - sum + (drive->force - drive->force);
    }
    return nothing == 0;
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

static void gather(const lwi_kernel *kernel, const double *q, const double *v, const double *tau)
{
    const lwi_kernel_plan *plan = kernel->plan;
    if (plan->straight) {
        gather_straight(kernel, q, v, tau);
        return;
    }
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const int block = step->slot / LWI_LANES, l = step->slot % LWI_LANES;
        if (step->slot >= plan->first_ball) {
            gather_ball(&kernel->state.ball_joint[block - plan->nscrew], l, step, q, v, tau);
            continue;
        }
        if (step->driven) {
            put_drive(kernel, step);
            continue;
        }
        lwi_k_joint *joint = &kernel->state.joint[block];
        joint->q[l] = q[step->iq];
        joint->v[l] = v[step->iv];
        joint->tau[l] = tau ? tau[step->iv] : 0;
    }
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

// Copies one entry of the screws (times sign) and one of balls and bases; returns true if all are finite.
static bool scatter(const lwi_kernel *kernel, const double *screw, size_t screw_stride,
                    const double *ball, size_t ball_stride, double *out)
{
    const lwi_kernel_plan *plan = kernel->plan;
    if (plan->straight) return take_rows(out, screw, screw_stride, plan->nstep);
    double nothing = 0;
    for (int i = 0; i < plan->nstep; i++) {
        const lwi_k_step *step = &plan->step[i];
        const size_t block = (size_t)(step->slot / LWI_LANES);
        const int l = step->slot % LWI_LANES;
        if (step->driven) continue;
        if (step->slot < plan->first_ball) {
            const double x = plan->screw[block].sign[l] * screw[block * screw_stride + (size_t)l];
            out[step->iv] = x;
            nothing += x - x;
            continue;
        }
        const double *from = ball + (block - (size_t)plan->nscrew) * ball_stride + l;
        const int n = step->kind == LWI_K_BALL ? 3 : 6;
        for (int j = 0; j < n; j++) {
            const double x = from[(6 - n + j) * LWI_LANES];
            out[step->iv + j] = x;
            nothing += x - x;
        }
    }
    return nothing == 0;
}

// Arguments of scatter: the first entry, and the number of doubles from one block to the next.
#define SCREWS(array, entry) (array)->entry, sizeof *(array) / sizeof(double)
#define BALLS(array, entry) (array)->entry[0], sizeof *(array) / sizeof(double)

bool lwi_kernel_aba(const lwi_kernel *kernel, const double *q, const double *v, const double *tau,
                    double *vdot)
{
    const lwi_k_state *state = &kernel->state;
    gather(kernel, q, v, tau);
    return kernel->kernels->aba(kernel->plan, state) &&
           scatter(kernel, SCREWS(state->motion, vdot), BALLS(state->ball_pivot, vdot), vdot) &&
           take_drives(kernel, false);
}

bool lwi_kernel_momenta(const lwi_kernel *kernel, const double *q, const double *p, double *v,
                        double *pdot)
{
    const lwi_k_state *state = &kernel->state;
    gather(kernel, q, p, NULL);
    return kernel->kernels->momenta(kernel->plan, state) &&
           scatter(kernel, SCREWS(state->motion, vdot), BALLS(state->ball_pivot, vdot), v) &&
           scatter(kernel, SCREWS(state->momentum, pdot[0]),
                   BALLS(state->momentum + kernel->plan->nscrew, pdot), pdot) &&
           take_drives(kernel, true);
}
