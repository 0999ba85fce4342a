// momentum_errors.c -- what errors of momenta are as errors of speeds: those within the tolerances, and round-off.
//
// q' = M^-1 p: momenta of a long chain are large, and a small part of them moves its lightest rods fast.  Steps have to
// resolve these speeds, so that a state of speeds takes fewer at the same tolerances.  The last bits of the momenta
// themselves are such a part: no evaluation in doubles has more digits of the speeds than they leave.
#include "loops/cut_state.h"
#include "simulate/simulation.h"
#include "spatial/vec3.h"
#include "tree/lost_digits.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Rates of the coordinates are linear in p, so any size of the change will do: this one is far from round-off.
#define ENLARGED 1e3

// Changes of the state: momenta by their tolerances, or by themselves; or momenta and coordinates by half a unit in their last
// places, coordinates by that of numbers of the size of one at least, as in rotations.
typedef enum disturbance { BY_TOLERANCES, BY_WHOLE, BY_ROUNDING } disturbance;

// Half a unit in the last place of a number of that size.
static double last_place(double x)
{
    return 0.5 * DBL_EPSILON * x;
}

// Component i of x with such a change, ENLARGED; `random`: its sign.
static double changed_component(const lw_sim *sim, disturbance how, bool momentum, int i,
                                double random)
{
    const double x = sim->x[i], sign = random < 0 ? -1 : 1;
    double error = 0;
    if (momentum && how == BY_WHOLE) return x + ENLARGED * x;
    if (momentum && how == BY_TOLERANCES)
        error = (sim->attainable ? sim->attainable : sim->atol)[i] + sim->options.rtol * fabs(x);
    if (momentum && how == BY_ROUNDING) error = last_place(fabs(x));
    if (!momentum && how == BY_ROUNDING && i < sim->model->tree_nq)
        error = last_place(fmax(1, fabs(x)));
    return x + ENLARGED * sign * error;
}

// x with such changes at random signs.
static void change_state(const lw_sim *sim, disturbance how, double *changed)
{
    const lwi_layout *layout = &sim->work->layout;
    lwi_cut_scatter(layout->nx, 0, changed);
    for (int b = 0; b < layout->nblock; b++) { // all of the state, in its order
        const lwi_block *block = &layout->block[b];
        const bool momentum = block->kind == LWI_MOMENTUM;
        for (int i = block->first; i < block->first + block->n; i++)
            changed[i] = changed_component(sim, how, momentum, i, changed[i]);
    }
}

// Rates of the coordinates at x, before, and at the changed state, after: with the same coordinates by the same factors.
static bool compare(lw_sim *sim, disturbance how)
{
    lwi_work *work = sim->work;
    // rattle has momenta, but no rates
    if (sim->model->tree_nq == 0 || !sim->rates[0] || sim->shared.ranks ||
        !work->formulation->rates)
        return false;
    change_state(sim, how, sim->scratch);
    lw_status status = work->formulation->rates(work, sim->t, sim->x, sim->inputs, sim->rates[0]);
    work->same_coordinates = how != BY_ROUNDING;
    if (status == LW_OK)
        status = work->formulation->rates(work, sim->t, sim->scratch, sim->inputs, sim->rates[1]);
    work->same_coordinates = false;
    return status == LW_OK;
}

// The largest change of a rate of a coordinate.
static double largest_change(const lw_sim *sim)
{
    double largest = 0;
    for (int i = 0; i < sim->model->tree_nq; i++)
        largest = fmax(largest, fabs(sim->rates[1][i] - sim->rates[0][i]) / ENLARGED);
    return largest;
}

double lwi_momentum_errors(lw_sim *sim)
{
    const double *before = sim->rates[0], *after = sim->rates[1];
    const int n = sim->model->tree_nq;
    double sum = 0;
    if (!compare(sim, BY_TOLERANCES)) return 0;
    for (int i = 0; i < n; i++) {
        const double allowed = sim->options.atol + sim->options.rtol * fabs(before[i]);
        const double error = (after[i] - before[i]) / ENLARGED / allowed;
        sum += error * error;
    }
    return isfinite(sum) ? sqrt(sum / n) : 0;
}

double lwi_momentum_rounding(lw_sim *sim)
{
    double largest = 0;
    if (!compare(sim, BY_ROUNDING)) return 0;
    const double change = largest_change(sim);
    for (int i = 0; i < sim->model->tree_nq; i++) largest = fmax(largest, fabs(sim->rates[0][i]));
    // bodies that drives carry along have momenta, but need not move in their joints
    if (sim->model->driven && compare(sim, BY_WHOLE)) largest = fmax(largest, largest_change(sim));
    return largest > 0 && isfinite(change) ? change / largest : 0;
}

// ------------------------------------------------------------------------------- attainable tolerances

// Round-off of a momentum, in units of the last place of that which its joint transmits: one for the directions of the axes,
// which coordinates determine, and some for the sweeps.
#define PLACES 10

bool lwi_momenta_may_be_inexact(const lw_sim *sim)
{
    const lwi_layout *layout = &sim->work->layout;
    int n = 0;
    if (sim->options.atol_p > 0 || sim->shared.ranks || !sim->work->formulation->rates ||
        !lwi_bodies_differ(sim->model))
        return false;
    for (int b = 0; b < layout->nblock; b++)
        if (layout->block[b].kind == LWI_MOMENTUM) n += layout->block[b].n;
    return n > 0 && n == sim->model->tree_nv;
}

lw_status lwi_prepare_raising(lw_sim *sim)
{
    const int n = sim->work->layout.nx;
    sim->attainable = LWI_PUSH(&sim->arena, double, n);
    if (!sim->attainable) return LW_ERR_MEMORY;
    memcpy(sim->attainable, sim->atol, (size_t)n * sizeof *sim->attainable);
    return lwi_observed_momenta_create(sim->model, &sim->arena, &sim->momenta);
}

// Round-off of each momentum of node k.
static void round_off_of_node(const lw_sim *sim, int k, double error[6])
{
    const lwi_node *node = &sim->model->node[k];
    const int joint = node->joint;
    double S[LW_JOINT_MAX_NV][6];
    for (int j = 0; j < node->nv; j++) error[j] = 0;
    if (joint < 0 || node->nv == 0) return;
    const double *P = sim->momenta.transmitted[joint];
    node->type->subspace(node->par, sim->snapshot.q + sim->model->joint[joint].iq, S);
    for (int j = 0; j < node->nv; j++) {
        const double *column = S[node->column[j]];
        error[j] = PLACES *
                   last_place(v3_norm(column) * v3_norm(P) + v3_norm(column + 3) * v3_norm(P + 3));
    }
}

// A momentum that is zero, as across a plane in which a rope with a heavy load moves, has the round-off of those within the plane:
// steps that try to resolve less become shorter in proportion to it, without end.
bool lwi_raise_tolerances(void *user, double amplified, double t, const double *x)
{
    lw_sim *sim = user;
    const lwi_layout *layout = &sim->work->layout;
    const lw_model *model = sim->model;
    bool raised = false;
    if (sim->work->formulation->observe(sim->work, t, x, sim->inputs, LW_OBSERVE_TWIST,
                                        &sim->snapshot) != LW_OK)
        return false;
    lwi_observe_momenta(sim->work, &sim->snapshot, &sim->momenta);
    int b = 0, i = 0; // block and component of the next momentum
    for (int k = 0; k < model->nnode; k++) {
        double error[6];
        round_off_of_node(sim, k, error);
        for (int j = 0; j < model->node[k].nv; j++, i++) {
            while (layout->block[b].kind != LWI_MOMENTUM || i == layout->block[b].n) b++, i = 0;
            double *atol = &sim->attainable[layout->block[b].first + i];
            if (!(amplified * error[j] > *atol)) continue;
            *atol = amplified * error[j];
            raised = true;
        }
    }
    sim->raised |= raised;
    return raised;
}
