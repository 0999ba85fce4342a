// cost.c -- features of a model, the table of costs, the choice.
#include "simulate/cost.h"

#include "formulation/closed.h"
#include "formulation/rcr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// --------------------------------------------------------------------------------------- the table

// Nanoseconds per unit of each feature; made by tools/calibrate_auto.py, see docs/methods.md.
typedef struct row {
    const char *formulation;
    lwi_cost_features ns;
} row;

static const row table[] = {
#include "simulate/cost.def"
};

double lwi_cost_estimate(const char *formulation, const lwi_cost_features *features)
{
    for (int i = 0; i < LWI_COUNT(table); i++) {
        if (strcmp(formulation, table[i].formulation) != 0) continue;
        double ns = 0;
#define X(name) ns += table[i].ns.name * features->name;
        LWI_COST_FEATURES(X)
#undef X
        return 1e-9 * ns;
    }
    return NAN;
}

// Of those that keep velocities closed the cheaper one; for a single loop rcr: its systems are small whatever
// the loop is, and momenta ask for up to twenty times as many evaluations there (docs/methods.md).
static bool prefers_rcr(const lwi_cost_features *f)
{
    return f->closures <= 1 || lwi_cost_estimate("rcr", f) <= lwi_cost_estimate("hdca", f);
}

// ---------------------------------------------------------------------------------------- features

static lw_status count_joins(const lw_model *model, lwi_arena *arena, lwi_cost_features *f)
{
    lwi_closed closed;
    lwi_cut cut;
    TRY(lwi_closed_plan(model, LWI_PLAN_AUTO, arena, &closed));
    TRY(lwi_cut_create_rows(model, arena, &cut));
    const double components = 6.0 * model->nnode, rows = closed.plan.nrow;
    f->rows = rows;
    f->products = closed.plan.work;
    f->squares = (double)cut.m * cut.m * model->tree_nv;
    f->dense = rows * rows * components;
    return LW_OK;
}

// One evaluation at the start.
static lw_status evaluate(lwi_work *work, lwi_arena *arena)
{
    const lw_model *model = work->model;
    lwi_moment moment;
    double *x = LWI_PUSH(arena, double, 2 * work->layout.nx);
    double *inputs = LWI_PUSH(arena, double, model->desc.ninput);
    if (!x || !inputs || lwi_moment_create(model, arena, &moment) != LW_OK) return LW_ERR_MEMORY;
    lwi_moment_start(model, &moment);
    TRY(work->formulation->enter(work, &moment, x));
    return work->formulation->rates(work, moment.t, x, inputs, x + work->layout.nx);
}

// Why the formulation cannot begin: `refusal`, "" where it can: then its work takes the place of *kept.
static lw_status try(const lwi_formulation *formulation, const lw_model *model,
                     const lw_options *options, lwi_arena *arena, lwi_cost_features *features,
                     lw_error *refusal, lwi_work **kept)
{
    lwi_work *work = NULL;
    lw_status status = lwi_work_create_options(model, formulation, &arena->allocator, 0, options,
                                               &work, refusal);
    if (status == LW_OK && (status = evaluate(work, arena)) != LW_OK) *refusal = work->error;
    if (status == LW_OK && formulation == &lwi_formulation_rcr) {
        const lwi_rcr_size size = lwi_rcr_measure(work->data);
        features->cells = size.cells;
        if (size.cells == 0 && size.few) {
            features->few = features->bodies;
            features->paths = sqrt(features->squares / fmax(1, model->tree_nv)) * features->bodies;
            features->fewrows = features->squares;
        } else if (size.cells == 0) {
            features->nodes = features->bodies - size.light;
            features->light = size.light;
            features->cuts = features->closures;
            features->fronts = size.squares;
            features->cubes = size.cubes;
        }
    }
    if (status == LW_OK) {
        lwi_work_destroy(*kept);
        *kept = work;
        return LW_OK;
    }
    lwi_work_destroy(work);
    if (!refusal->text[0]) lwi_fail(refusal, status, "%s", lw_status_text(status));
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

// What an option asks for and only the other one has.
static void heed_options(const lw_options *options, lwi_cost_survey *survey)
{
    if (options && !strcmp(options->state, "speeds"))
        lwi_fail(&survey->hdca, LW_ERR_ARGUMENT, "its state has momenta, not speeds");
    if (options && strcmp(options->plan, "auto") != 0)
        lwi_fail(&survey->rcr, LW_ERR_ARGUMENT, "it has no plan");
}

static lw_status survey_loops(const lw_model *model, const lw_options *options, lwi_arena *arena,
                              lwi_cost_survey *survey)
{
    lwi_cost_features *f = &survey->features;
    heed_options(options, survey);
    TRY(count_joins(model, arena, f));
    if (!survey->rcr.text[0])
        TRY(try(&lwi_formulation_rcr, model, options, arena, f, &survey->rcr, &survey->work));
    const bool first = !survey->rcr.text[0] && prefers_rcr(f);
    if (survey->hdca.text[0] ||
        lwi_formulation_accepts(&lwi_formulation_hdca, model, &survey->hdca) != LW_OK || first)
        return LW_OK;
    return try(&lwi_formulation_hdca, model, options, arena, f, &survey->hdca, &survey->work);
}

lw_status lwi_cost_measure(const lw_model *model, const lw_options *options,
                           const lw_allocator *allocator, lwi_cost_survey *survey)
{
    lwi_arena arena;
    lwi_cost_features *f = &survey->features;
    *survey = (lwi_cost_survey){.tree = model->nloop + model->ncoupling == 0,
                                .momenta = options && !strcmp(options->state, "momenta")};
    *f = (lwi_cost_features){.one = 1,
                             .bodies = model->nnode,
                             .speeds = model->tree_nv,
                             .closures = model->nloop + model->ncoupling};
    if (survey->tree) return LW_OK;
    lwi_arena_init(&arena, allocator);
    const lw_status status = survey_loops(model, options, &arena, survey);
    lwi_arena_free(&arena);
    if (status != LW_OK) lwi_work_destroy(survey->work), survey->work = NULL;
    return status;
}

// -------------------------------------------------------------------------------------- the choice

// "12 us", two digits.
static const char *time_text(char text[24], double seconds)
{
    const double us = 1e6 * seconds;
    snprintf(text, 24, us < 99.5 ? "%.2g us" : us < 1e4 ? "%.0f us" : "%.2g us", us);
    return text;
}

static void loops_text(const lw_model *model, char *text, size_t size)
{
    const int loops = model->nloop, couplings = model->ncoupling;
    if (loops == 1)
        snprintf(text, size, "joint '%.100s' closes a loop", model->joint[model->loop[0]].name);
    else if (loops)
        snprintf(text, size, "%d joints close loops", loops);
    else
        snprintf(text, size, "joint '%.60s' is coupled to joint '%.60s'",
                 model->joint[model->coupling[0].joint].name,
                 model->joint[model->coupling[0].of].name);
    const size_t used = strlen(text);
    if (loops && couplings)
        snprintf(text + used, size - used, ", %d coupling%s", couplings, couplings > 1 ? "s" : "");
}

static void choose_of_two(const lwi_cost_survey *survey, const char *loops, lwi_cost_choice *choice)
{
    const lwi_cost_features *f = &survey->features;
    const double rcr = lwi_cost_estimate("rcr", f), hdca = lwi_cost_estimate("hdca", f);
    const bool first = prefers_rcr(f);
    const int cells = first ? (int)f->cells : 0;
    char a[24], b[24], lanes[48] = "";
    if (cells) snprintf(lanes, sizeof lanes, ", %d cell%s in lanes", cells, cells > 1 ? "s" : "");
    choice->formulation = first ? "rcr" : "hdca";
    snprintf(choice->why, sizeof choice->why, "%s%s; estimated %s per evaluation, %s %s%s", loops,
             lanes, time_text(a, first ? rcr : hdca), first ? "hdca" : "rcr",
             time_text(b, first ? hdca : rcr),
             first && hdca < rcr ? ", but momenta take more of them in a single loop" : "");
}

// What cannot begin is not chosen, whatever it costs.
static void choose_the_other(const char *name, const char *other, const lw_error *refusal,
                             const char *loops, lwi_cost_choice *choice)
{
    choice->formulation = name;
    snprintf(choice->why, sizeof choice->why, "%s, and %s refuses: %.200s", loops, other,
             refusal->text);
}

void lwi_cost_choose(const lw_model *model, const lwi_cost_survey *survey, lwi_cost_choice *choice)
{
    char loops[160], time[24];
    if (survey->tree) {
        choice->formulation = survey->momenta ? "momenta" : "aba";
        snprintf(choice->why, sizeof choice->why,
                 "the joints form a tree; estimated %s per evaluation",
                 time_text(time, lwi_cost_estimate(choice->formulation, &survey->features)));
        return;
    }
    loops_text(model, loops, sizeof loops);
    if (survey->rcr.text[0] && survey->hdca.text[0])
        choose_the_other("dense", "hdca", &survey->hdca, loops, choice);
    else if (survey->rcr.text[0])
        choose_the_other("hdca", "rcr", &survey->rcr, loops, choice);
    else if (survey->hdca.text[0])
        choose_the_other("rcr", "hdca", &survey->hdca, loops, choice);
    else
        choose_of_two(survey, loops, choice);
}
