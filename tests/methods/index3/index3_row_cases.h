// index3_row_cases.h -- long rows of loops with redundant rows: ladders and rows of four-bars.
#ifndef LWT_INDEX3_ROW_CASES_H
#define LWT_INDEX3_ROW_CASES_H

#include "methods/index3/index3_cases.h"

#include "methods/index3/index3.h"
#include "simulate/simulation.h"

static inline lw_model *row_of(const char *kind, int n)
{
    char text[256];
    lw_model *model;
    lw_error error;
    const bool ladder = !strcmp(kind, "ladder");
    snprintf(text, sizeof text,
             "linkwork: 1\ngravity: [0, -9.81, 0]\ngenerate: {%s: {n: %d, q: [%s], qd: [%s]}}\n",
             kind, n, ladder ? "0.2, 0.3, 0" : "0.3, 0, 0", ladder ? "0.5, 1, 0" : "1, 0, 0");
    lwt_ok(lw_model_parse(text, strlen(text), "row", &(lw_read_desc){.format = "yaml"}, &model,
                          NULL, &error),
           &error);
    return model;
}

static inline double energy_of(lw_sim *sim)
{
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_ENERGY, &o), lw_sim_error(sim));
    return o->kinetic + o->potential;
}

// Steps of h: all converge in four iterations or less, without halves; the energy error of a loop is that of the
// trapezoidal rule, positions meet to the round-off of coordinates.
static inline void row_converges(const char *kind, int n, double h, int steps)
{
    lw_model *model = row_of(kind, n);
    lw_options o = index3(h, 1, "1");
    lwt_set(&o, "index3", "iterations=4");
    lw_sim *sim = lwt_sim(model, &o);
    lw_summary summary;
    const lwi_index3 *d = sim->work->data;
    const double before = energy_of(sim), t = steps * h;
    for (int i = 0; i < steps; i++) lwt_ok(lw_sim_step(sim, (i + 1) * h), lw_sim_error(sim));
    const double off = fabs(energy_of(sim) - before) / n, allowed = 300 * h * h * t * t + 1e-7;
    lw_sim_summary(sim, &summary);
    if (d->counts.unconverged || summary.rejected)
        fail_msg("%s %d, h = %g: %ld of %ld steps not converged, %ld rejected", kind, n, h,
                 d->counts.unconverged, d->counts.steps, summary.rejected);
    if (!(off < allowed))
        fail_msg("%s %d, h = %g: energy of a loop off by %g, %g allowed", kind, n, h, off, allowed);
    if (!(summary.residual[0] < 1e-14 + 5e-16 * n))
        fail_msg("%s %d, h = %g: positions off by %g", kind, n, h, summary.residual[0]);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

static inline void rows_converge(int n, int steps)
{
    static const double h[] = {1e-2, 1e-3, 1e-4, 1e-5};
    for (int i = 0; i < LWI_COUNT(h); i++) {
        row_converges("ladder", n, h[i], steps);
        row_converges("n_four_bar", n, h[i], steps);
    }
}

#endif
