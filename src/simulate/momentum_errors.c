// momentum_errors.c -- what errors of momenta within their tolerances are as errors of speeds.
//
// q' = M^-1 p: momenta of a long chain are large, and a small part of them moves its lightest rods fast.  Steps have to
// resolve these speeds, so that a state of speeds takes fewer at the same tolerances.
#include "loops/cut_state.h"
#include "simulate/simulation.h"

#include <math.h>

// Rates of the coordinates are linear in p, so any size of the change will do: this one is far from round-off.
#define ENLARGED 1e3

// x with all momenta changed by ENLARGED times their tolerances.  False: there are none.
static bool change_momenta(const lw_sim *sim, double *changed)
{
    const lwi_layout *layout = &sim->work->layout;
    bool any = false;
    lwi_cut_scatter(layout->nx, 0, changed);
    for (int i = 0; i < layout->nx; i++) {
        const double sign = changed[i] < 0 ? -1 : 1;
        changed[i] = sim->x[i];
        for (int b = 0; b < layout->nblock; b++) {
            const lwi_block *block = &layout->block[b];
            if (block->kind != LWI_MOMENTUM || i < block->first || i >= block->first + block->n)
                continue;
            changed[i] += ENLARGED * sign * (sim->atol[i] + sim->options.rtol * fabs(sim->x[i]));
            any = true;
        }
    }
    return any;
}

// Rates at x, before, and with other momenta, after: the second take the factors of the first.
static bool find_rates(lw_sim *sim, double *before, double *after)
{
    lwi_work *work = sim->work;
    lw_status status = work->formulation->rates(work, sim->t, sim->x, sim->inputs, before);
    work->same_coordinates = true;
    if (status == LW_OK)
        status = work->formulation->rates(work, sim->t, sim->scratch, sim->inputs, after);
    work->same_coordinates = false;
    return status == LW_OK;
}

double lwi_momentum_errors(lw_sim *sim)
{
    double *before = sim->rates[0], *after = sim->rates[1];
    const int n = sim->model->tree_nq;
    double sum = 0;
    if (n == 0 || !before || sim->shared.ranks || !change_momenta(sim, sim->scratch)) return 0;
    if (!find_rates(sim, before, after)) return 0;
    for (int i = 0; i < n; i++) {
        const double allowed = sim->options.atol + sim->options.rtol * fabs(before[i]);
        const double error = (after[i] - before[i]) / ENLARGED / allowed;
        sum += error * error;
    }
    return isfinite(sum) ? sqrt(sum / n) : 0;
}
