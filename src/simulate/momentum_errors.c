// momentum_errors.c -- what errors of momenta are as errors of speeds: those within the tolerances, and round-off.
//
// q' = M^-1 p: momenta of a long chain are large, and a small part of them moves its lightest rods fast.  Steps have to
// resolve these speeds, so that a state of speeds takes fewer at the same tolerances.  The last bits of the momenta
// themselves are such a part: no evaluation in doubles has more digits of the speeds than they leave.
#include "loops/cut_state.h"
#include "simulate/simulation.h"

#include <float.h>
#include <math.h>

// Rates of the coordinates are linear in p, so any size of the change will do: this one is far from round-off.
#define ENLARGED 1e3

// Whether component i of the state is a momentum.
static bool is_momentum(const lwi_layout *layout, int i)
{
    for (int b = 0; b < layout->nblock; b++) {
        const lwi_block *block = &layout->block[b];
        if (block->kind == LWI_MOMENTUM && i >= block->first && i < block->first + block->n)
            return true;
    }
    return false;
}

// x with all momenta changed by ENLARGED times their tolerances; with `rounded` by as many halves of the unit in their last
// places, and coordinates too: rotations are computed with the round-off of numbers of the size of one.
static void change_state(const lw_sim *sim, bool rounded, double *changed)
{
    const lwi_layout *layout = &sim->work->layout;
    lwi_cut_scatter(layout->nx, 0, changed);
    for (int i = 0; i < layout->nx; i++) {
        const double sign = changed[i] < 0 ? -1 : 1, x = fabs(sim->x[i]);
        const bool momentum = is_momentum(layout, i);
        double error = 0;
        if (momentum && !rounded) error = sim->atol[i] + sim->options.rtol * x;
        if (momentum && rounded) error = 0.5 * DBL_EPSILON * x;
        if (i < sim->model->tree_nq && rounded) error = 0.5 * DBL_EPSILON * fmax(1, x);
        changed[i] = sim->x[i] + ENLARGED * sign * error;
    }
}

// Rates of the coordinates at x, before, and at the changed state, after: with the same coordinates by the same factors.
static bool compare(lw_sim *sim, bool rounded)
{
    lwi_work *work = sim->work;
    // rattle has momenta, but no rates
    if (sim->model->tree_nq == 0 || !sim->rates[0] || sim->shared.ranks ||
        !work->formulation->rates)
        return false;
    change_state(sim, rounded, sim->scratch);
    lw_status status = work->formulation->rates(work, sim->t, sim->x, sim->inputs, sim->rates[0]);
    work->same_coordinates = !rounded;
    if (status == LW_OK)
        status = work->formulation->rates(work, sim->t, sim->scratch, sim->inputs, sim->rates[1]);
    work->same_coordinates = false;
    return status == LW_OK;
}

double lwi_momentum_errors(lw_sim *sim)
{
    const double *before = sim->rates[0], *after = sim->rates[1];
    const int n = sim->model->tree_nq;
    double sum = 0;
    if (!compare(sim, false)) return 0;
    for (int i = 0; i < n; i++) {
        const double allowed = sim->options.atol + sim->options.rtol * fabs(before[i]);
        const double error = (after[i] - before[i]) / ENLARGED / allowed;
        sum += error * error;
    }
    return isfinite(sum) ? sqrt(sum / n) : 0;
}

double lwi_momentum_rounding(lw_sim *sim)
{
    const double *before = sim->rates[0], *after = sim->rates[1];
    double largest = 0, change = 0;
    if (!compare(sim, true)) return 0;
    for (int i = 0; i < sim->model->tree_nq; i++) {
        largest = fmax(largest, fabs(before[i]));
        change = fmax(change, fabs(after[i] - before[i]) / ENLARGED);
    }
    return largest > 0 && isfinite(change) ? change / largest : 0;
}
