// predict.c -- what one evaluation of each formulation costs, from counts of operations alone.
#include "kinematics/planar_rows.h"
#include "methods/rcr/rcr.h"
#include "simulate/cost.h"

#include <math.h>
#include <string.h>

// Counting `rcr` and `lagrange` ends here, in units of the cheapest formulation.
#define ENOUGH 100

static lw_status count(const lw_model *model, const lw_allocator *allocator, lwi_cost_features *f)
{
    lwi_arena arena;
    *f = (lwi_cost_features){.one = 1,
                             .bodies = model->nnode,
                             .speeds = model->tree_nv,
                             .closures = model->nloop + model->ncoupling};
    lwi_arena_init(&arena, allocator);
    const lw_status status = lwi_cost_count(model, NULL, &arena, f);
    lwi_arena_free(&arena);
    TRY(status);
    // panels are where rows depend on others: in mechanisms that move in a plane, as far as that is known here
    int planar;
    TRY(lwi_planar_rows(model, allocator, &planar, NULL));
    if (planar == 0) f->pivoted += f->panels, f->panels = 0;
    return lwi_cost_count_path(model, NULL, allocator, f);
}

static double estimate(const char *name, const lwi_cost_features *f)
{
    const double path = lwi_cost_of_path(name, f);
    return isnan(path) ? lwi_cost_estimate(name, f) : path;
}

// Not those that `rcr` and `lagrange` need.
static bool is_counted(const lwi_formulation *f)
{
    return f != &lwi_formulation_rcr && f != &lwi_formulation_lagrange;
}

static double smallest_of(const double *seconds)
{
    double smallest = INFINITY;
    for (int i = 0; i < lw_formulation_count(); i++) smallest = fmin(smallest, seconds[i]);
    return smallest;
}

static lw_status predict(const lw_model *model, const lw_allocator *allocator, double *seconds)
{
    lwi_cost_features features, rcr;
    double elimination;
    TRY(count(model, allocator, &features));
    for (int pass = 0; pass < 2; pass++) {
        if (pass)
            TRY(lwi_rcr_predict(model, ENOUGH * smallest_of(seconds), allocator, &rcr,
                                &elimination));
        for (int i = 0; i < lw_formulation_count(); i++) {
            const lwi_formulation *f = lwi_formulation_find(lw_formulation_info(i).name);
            if (pass == 0) seconds[i] = NAN;
            if (is_counted(f) != (pass == 0) || lwi_formulation_accepts(f, model, NULL) != LW_OK)
                continue;
            seconds[i] = f == &lwi_formulation_rcr ? elimination
                         : pass                    ? lwi_cost_estimate(f->name, &rcr)
                                                   : estimate(f->name, &features);
        }
    }
    return LW_OK;
}

lw_status lw_model_costs(const lw_model *model, double *seconds, lw_error *error)
{
    if (!model || !seconds)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_model_costs: model and seconds must be given");
    const lw_status status = predict(model, &model->arena.allocator, seconds);
    return status == LW_OK
               ? LW_OK
               : lwi_fail(error, status, "costs of formulations: %s", lw_status_text(status));
}
