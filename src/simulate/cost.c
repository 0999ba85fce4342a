// cost.c -- features of a model, the choice of `auto`.
#include "simulate/cost.h"

#include "base/assert.h"
#include "system/system.h"
#include "loops/cut_state.h"
#include "methods/dca/hdca.h"
#include "methods/dca/segments/divide.h"
#include "methods/rcr/rcr.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Of a formulation that evaluates long paths in segments.
static double cost_of_divided(const char *name, const lwi_cost_features *f)
{
    const double path = lwi_cost_of_path(name, f);
    return isnan(path) ? lwi_cost_estimate(name, f) : path;
}

static double cost_of_hdca(const lwi_cost_survey *survey)
{
    return cost_of_divided("hdca", &survey->features);
}

static double cost_of_rcr(const lwi_cost_survey *survey)
{
    return survey->rcr_way ? lwi_cost_estimate(survey->rcr_way, &survey->features) : INFINITY;
}

static double cost_of_dca(const lwi_cost_survey *survey)
{
    return cost_of_divided("dca", &survey->features);
}

// A formulation that keeps velocities on the constraints is preferred if it is slower by at most this factor.
#define WORTH 1.2

// ---------------------------------------------------------------------------------------- features

lw_status lwi_cost_count(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                         lwi_cost_features *f)
{
    lwi_system system;
    TRY(lwi_system_plan(model, LW_PLAN_AUTO, shared, arena, &system));
    TRY(lwi_shared_elim(shared, &system.plan, arena, &system.elim));
    const lwi_elim_counts counts = lwi_elim_count(system.elim);
    const double components = 6.0 * model->nnode, rows = system.nrow;
    f->rows = rows;
    f->joins = counts.tasks;
    f->closings = counts.loops;
    f->products = counts.plain;
    f->pivoted = counts.closing;
    f->panels = counts.large;
    f->laned = counts.laned;
    f->dense = rows * rows * components;
    f->factor = system.plan.work;
    return LW_OK;
}

// Parallel axes, and those at right angles, for which the kernels of `aba` and `momenta` have variants.
static bool is_square(const lwi_path_body *body, int l)
{
    return body->ca[l] == 0 || body->sa[l] == 0;
}

static void count_joint(const lwi_path_body *body, int l, lwi_cost_features *f)
{
    if (is_square(body, l))
        f->square++;
    else
        f->hinges++;
}

static void count_paths(const lwi_net_plan *plan, lwi_cost_features *f)
{
    f->hubs = plan->nhub;
    for (int s = 0; s < plan->nsegment; s++) {
        const lwi_path_body *body = plan->body + plan->body_at[plan->place[s].block];
        for (int j = 0; j < plan->segment[s].n; j++) count_joint(&body[j], plan->place[s].lane, f);
    }
}

// Adds the joints of a model that is one path.
static lw_status count_path(const lw_model *model, const lw_allocator *allocator,
                            lwi_cost_features *f, bool *found)
{
    lwi_path_counts counts;
    TRY(lwi_path_count(model, allocator, &counts));
    f->balls += counts.balls, f->square += counts.square, f->hinges += counts.others;
    *found = counts.balls + counts.square + counts.others > 0;
    return LW_OK;
}

lw_status lwi_cost_count_path(const lw_model *model, lwi_shared *shared,
                              const lw_allocator *allocator, lwi_cost_features *f)
{
    lwi_arena arena;
    lwi_path_plan *path;
    lwi_net_plan *net;
    bool found = false;
    if (!lwi_acts_on_bodies(model)) TRY(count_path(model, allocator, f, &found));
    if (found) return LW_OK; // most paths stay with their recursion, and need no plan
    lwi_arena_init(&arena, allocator);
    lw_status status = lwi_divide(model, shared, &arena, &path, &net);
    if (net) count_paths(net, f);
    if (path) status = count_path(model, allocator, f, &found);
    lwi_arena_free(&arena);
    return status;
}

// Joins that close loops seek pivots only where rows depend on others; after that is known.
static void expect_pivots(lwi_cost_features *f)
{
    if (f->redundant > 0) return;
    f->products += f->pivoted + f->panels;
    f->pivoted = f->panels = f->closings = 0;
}

// The state at the start and its rates; of momenta their scales, NULL: there are none.
typedef struct beginning {
    double *x, *rates, *inputs, *scale;
    double t;
} beginning;

// Runs leave singular starts (singular_start.c): the cost is that of the configuration of the generic ranks.
static bool place_beside(const lwi_work *work, lwi_snapshot *m)
{
    const lwi_shared *shared = work->shared;
    const lw_model *model = work->model;
    if (!shared || !shared->ranked) return false;
    for (int b = 1; b < model->nbody; b++) {
        memcpy(m->R[b], shared->R[b], sizeof m->R[b]);
        v3_copy(m->r[b], shared->r[b]);
        quat_from_matrix(m->quat[b], m->R[b]);
        v3_set(m->v[b], 0, 0, 0);
        v3_set(m->w[b], 0, 0, 0);
    }
    memcpy(m->q, shared->q, (size_t)model->nq * sizeof *m->q);
    memset(m->qd, 0, (size_t)model->nv * sizeof *m->qd);
    return true;
}

// Keeps the state and the discrete state that `enter` has left, in the memory of the work.
static lw_status keep_start(lwi_work *work, const double *x, lwi_cost_survey *survey)
{
    const size_t nx = (size_t)work->layout.nx;
    survey->x = LWI_PUSH(&work->arena, double, nx);
    survey->discrete = lwi_arena_push(&work->arena, 1, work->ndiscrete);
    if (!survey->x || !survey->discrete) return LW_ERR_MEMORY;
    memcpy(survey->x, x, nx * sizeof *x);
    if (work->ndiscrete) memcpy(survey->discrete, work->discrete, work->ndiscrete);
    return LW_OK;
}

static lw_status find_scale(lwi_work *work, lwi_arena *arena, beginning *b)
{
    if (work->formulation != &lwi_formulation_hdca) return LW_OK;
    double *scale = LWI_PUSH(arena, double, work->layout.nx);
    if (!scale) return LW_ERR_MEMORY;
    if (work->formulation->scale(work, b->t, b->x, scale) == LW_OK) b->scale = scale;
    return LW_OK;
}

// x := the start.  Rates of momenta in segments need no factors there; a run by them enters it again.
static lw_status enter(lwi_work *work, lwi_snapshot *start, double *x, lwi_cost_survey *survey)
{
    if (work->segments && work->formulation == &lwi_formulation_hdca &&
        lwi_hdca_estimate_start(work, start, x))
        return LW_OK;
    const lw_status status = work->formulation->enter(work, start, x);
    if (status == LW_OK) return keep_start(work, x, survey);
    return status == LW_ERR_SINGULAR && place_beside(work, start)
               ? work->formulation->enter(work, start, x)
               : status;
}

static lw_status evaluate(lwi_work *work, lwi_arena *arena, beginning *b, lwi_cost_survey *survey)
{
    const lw_model *model = work->model;
    lwi_snapshot snapshot;
    b->x = LWI_PUSH(arena, double, work->layout.nx);
    b->rates = LWI_PUSH(arena, double, work->layout.nx);
    b->inputs = LWI_PUSH(arena, double, model->desc.ninput);
    if (!b->x || !b->rates || !b->inputs || lwi_snapshot_create(model, arena, &snapshot) != LW_OK)
        return LW_ERR_MEMORY;
    lwi_snapshot_start(model, &snapshot);
    b->t = snapshot.t;
    TRY(enter(work, &snapshot, b->x, survey));
    // with the factors that `enter` has left: rates in segments have none; others leave theirs to the next ones
    b->scale = NULL;
    if (work->segments) TRY(find_scale(work, arena, b));
    TRY(work->formulation->rates(work, b->t, b->x, b->inputs, b->rates));
    return work->segments ? LW_OK : find_scale(work, arena, b);
}

// Smallest ratio of the number of evaluations of momenta to that of speeds for the same accuracy; in lattices 1.0 to 1.3.
#define MOMENTA_TAKE 1.15
// Steps of the default integrator grow with the fifth root of the tolerance.
#define ORDER 5
// Relative to the scales of momenta: the perturbation, small but far from round-off; and the size below which a
// momentum is zero, and remains zero for a mechanism that moves in its plane.
#define TRIED 1e-5
#define STILL 1e-9

// Errors of momenta within the tolerance cause larger errors of speeds, most of all for rotations with small inertia,
// such as rods between balls about their axes.  The amplification determines how much shorter the steps are.
// @param b  the start, evaluated; x is overwritten
static lw_status measure_momenta(lwi_work *work, lwi_arena *arena, const beginning *b,
                                 lwi_cost_survey *survey)
{
    const lw_model *model = work->model;
    const int nx = work->layout.nx;
    const double *scale = b->scale;
    double largest = 1, *off = LWI_PUSH(arena, double, nx), *rates = LWI_PUSH(arena, double, nx);
    survey->momenta_take = MOMENTA_TAKE;
    if (!off || !rates) return LW_ERR_MEMORY;
    if (!scale) return LW_OK;
    lwi_cut_scatter(nx, 0, off);
    for (int k = 0; k < work->layout.nblock; k++) {
        const lwi_block *block = &work->layout.block[k];
        LWI_ASSERT(block->first >= 0 && block->first + block->n <= nx);
        for (int i = block->first; block->kind == LWI_MOMENTUM && i < block->first + block->n; i++)
            if (fabs(b->x[i]) + fabs(b->rates[i]) > STILL * scale[i])
                b->x[i] += TRIED * (off[i] < 0 ? -scale[i] : scale[i]);
    }
    if (work->formulation->rates(work, b->t, b->x, b->inputs, rates) != LW_OK) return LW_OK;
    for (int i = 0; i < model->tree_nq; i++)
        largest = fmax(largest, fabs(rates[i] - b->rates[i]) / TRIED);
    if (isfinite(largest)) survey->momenta_take = fmax(MOMENTA_TAKE, pow(largest, 1.0 / ORDER));
    return LW_OK;
}

// The model and options of a survey, and memory for it.
typedef struct trial_setup {
    const lw_model *model;
    const lw_options *options;
    lwi_shared *shared;
    lwi_arena *arena;
} trial_setup;

// Evaluates the formulation at the start, if an evaluation takes less than `limit` (0: in any case).  If that fails,
// `refusal` has the reason, otherwise its work is kept, and the state and its rates.
static lw_status try(const lwi_formulation *formulation, const trial_setup *trial, double limit,
                     lw_error *refusal, beginning *start, lwi_cost_survey *survey)
{
    lwi_work *work = NULL;
    lwi_cost_survey kept = {0};
    lw_status status = lwi_work_create_shared(trial->model, formulation, &trial->arena->allocator,
                                              trial->options, limit, trial->shared, &work, refusal);
    if (status == LW_OK && (status = evaluate(work, trial->arena, start, &kept)) != LW_OK)
        *refusal = work->error;
    if (status == LW_OK && formulation == &lwi_formulation_rcr) {
        lwi_rcr_count(work->data, &survey->features);
        survey->rcr_way = lwi_rcr_evaluation_name(work->data);
    }
    if (status == LW_OK) {
        lwi_work_destroy(survey->work);
        survey->work = work, survey->x = kept.x, survey->discrete = kept.discrete;
        return LW_OK;
    }
    lwi_work_destroy(work);
    if (!refusal->text[0]) lwi_fail(refusal, status, "%s", lw_status_text(status));
    return status == LW_ERR_MEMORY ? status : LW_OK;
}

// Options that require the other formulation.
static void heed_options(const lw_options *options, lwi_cost_survey *survey)
{
    if (options && options->state == LW_STATE_SPEEDS)
        lwi_fail(&survey->hdca, LW_ERR_ARGUMENT, "its state has momenta, not speeds");
    if (options && options->plan != LW_PLAN_AUTO)
        lwi_fail(&survey->rcr, LW_ERR_ARGUMENT, "it has no plan");
}

// Of those that can begin; one that is left out has no finite cost.
static const char *find_best(const lwi_cost_survey *survey)
{
    const bool rcr = !survey->rcr.text[0], hdca = !survey->hdca.text[0];
    if (!rcr || !hdca) return rcr ? "rcr" : hdca ? "hdca" : NULL;
    const double speeds = cost_of_rcr(survey),
                 momenta = cost_of_hdca(survey) * survey->momenta_take;
    if (!survey->momenta && WORTH * cost_of_dca(survey) < fmin(speeds, momenta)) return "dca";
    return speeds <= momenta ? "rcr" : "hdca";
}

// Sets `rcr` up.  @param limit  of one evaluation [s], of which creation shows that it is too dear: its fronts grow with the
// mechanism; 0: none, there is no other formulation
static lw_status try_rcr(const trial_setup *trial, double limit, lwi_cost_survey *survey)
{
    beginning start;
    survey->rcr_left_out = 0;
    TRY(try(&lwi_formulation_rcr, trial, limit, &survey->rcr, &start, survey));
    if (limit > 0 && survey->rcr.status == LW_ERR_UNSUPPORTED &&
        lwi_formulation_accepts(&lwi_formulation_rcr, trial->model, NULL) == LW_OK) {
        survey->rcr = (lw_error){0};
        survey->rcr_left_out = limit;
        return LW_OK;
    }
    expect_pivots(&survey->features);
    return LW_OK;
}

// Its creation takes fifty evaluations and more where fronts grow with the mechanism: one that is predicted to be dear waits
// until `hdca` is measured.  @param limit  predictions above it are not completed
static lw_status predict_rcr(const trial_setup *trial, double limit, lwi_cost_survey *survey)
{
    lwi_cost_features unused;
    double seconds;
    TRY(lwi_rcr_predict(trial->model, limit, &trial->arena->allocator, &unused, &seconds));
    survey->rcr_left_out = seconds > LWI_COST_DEAR * cost_of_hdca(survey) ? seconds : 0;
    return LW_OK;
}

static lw_status try_hdca(const trial_setup *trial, lwi_cost_survey *survey)
{
    beginning start;
    TRY(try(&lwi_formulation_hdca, trial, 0, &survey->hdca, &start, survey));
    if (survey->hdca.text[0]) return LW_OK;
    const lwi_system *system = lwi_hdca_system(survey->work);
    if (!survey->rcr_way) {
        survey->features.redundant = system->nrow - system->generic_rank;
        expect_pivots(&survey->features);
    }
    TRY(measure_momenta(survey->work, trial->arena, &start, survey));
    if (system->careful || system->inactive_evaluations > 0) // it counts evaluations
        survey->x = NULL;
    return LW_OK;
}

// Predictions of `rcr` are at most so many times its cost: redundant rows of loops in a plane count as independent.
#define OVERESTIMATE 1.6

// Whether `rcr`, which was left out, may take less than the momenta of `hdca`.
static bool may_win(const lwi_cost_survey *survey, double limit)
{
    const double momenta = cost_of_hdca(survey) * survey->momenta_take;
    return survey->rcr_left_out > 0 && survey->rcr_left_out <= fmin(limit, OVERESTIMATE * momenta);
}

static lw_status survey_loops(const trial_setup *trial, lwi_cost_survey *survey)
{
    heed_options(trial->options, survey);
    TRY(lwi_cost_count(trial->model, trial->shared, trial->arena, &survey->features));
    TRY(lwi_cost_count_path(trial->model, trial->shared, &trial->arena->allocator,
                            &survey->features));
    if (!survey->hdca.text[0])
        lwi_formulation_accepts(&lwi_formulation_hdca, trial->model, &survey->hdca);
    const bool rcr = !survey->rcr.text[0], hdca = !survey->hdca.text[0];
    const double limit = hdca ? LWI_COST_DEAREST * cost_of_hdca(survey) : 0;
    if (rcr && hdca) TRY(predict_rcr(trial, limit, survey));
    if (rcr && !(survey->rcr_left_out > 0)) TRY(try_rcr(trial, limit, survey));
    survey->best = find_best(survey);
    if (!hdca || (survey->best && !strcmp(survey->best, "rcr"))) return LW_OK;
    TRY(try_hdca(trial, survey));
    const bool must = survey->hdca.text[0] && survey->rcr_left_out > 0;
    if (must || may_win(survey, limit)) TRY(try_rcr(trial, must ? 0 : limit, survey));
    survey->best = find_best(survey);
    return LW_OK;
}

lw_status lwi_cost_measure(const lw_model *model, const lw_options *options, lwi_shared *shared,
                           const lw_allocator *allocator, lwi_cost_survey *survey)
{
    lwi_arena arena;
    lwi_cost_features *f = &survey->features;
    *survey = (lwi_cost_survey){.tree = model->nloop + model->ncoupling == 0,
                                .momenta = options && options->state == LW_STATE_MOMENTA,
                                .momenta_take = MOMENTA_TAKE};
    *f = (lwi_cost_features){.one = 1,
                             .bodies = model->nnode,
                             .speeds = model->tree_nv,
                             .closures = model->nloop + model->ncoupling};
    if (survey->tree) return lwi_cost_count_path(model, shared, allocator, f);
    lwi_arena_init(&arena, allocator);
    const lw_status status = survey_loops(&(trial_setup){model, options, shared, &arena}, survey);
    lwi_arena_free(&arena);
    if (status != LW_OK) lwi_work_destroy(survey->work), survey->work = NULL, survey->x = NULL;
    return status;
}

// -------------------------------------------------------------------------------------- the choice

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

static void choose_by_cost(const lwi_cost_survey *survey, const char *loops,
                           lwi_cost_choice *choice)
{
    const double cost[] = {cost_of_rcr(survey), cost_of_hdca(survey), cost_of_dca(survey)};
    static const char *const names[] = {"rcr", "hdca", "dca"};
    const char *best = choice->formulation = survey->best;
    const bool by_clusters = !strcmp(best, "rcr") && !strcmp(survey->rcr_way, LWI_RCR_CLUSTERS);
    const int clusters = by_clusters ? (int)survey->features.clusters : 0;
    char lanes[48] = "";
    if (clusters)
        snprintf(lanes, sizeof lanes, ", %d loop cluster%s in lanes", clusters,
                 clusters > 1 ? "s" : "");
    snprintf(choice->why, sizeof choice->why, "%s%s; expected to be faster than", loops, lanes);
    for (int i = 0; i < 2; i++) { // `dca` only where it is the one
        const size_t used = strlen(choice->why);
        const char *more = "";
        if (!strcmp(best, names[i])) continue;
        if (i == 1 && cost[1] < cost[0]) more = " (more evaluations, though cheaper ones)";
        if (i == 0 && survey->rcr_left_out > 0) more = " by far";
        snprintf(choice->why + used, sizeof choice->why - used, "%s %s%s",
                 i == 1 && strcmp(best, "rcr") != 0 ? " and" : "", names[i], more);
    }
    if (strcmp(best, "dca") != 0) return;
    const size_t used = strlen(choice->why);
    snprintf(choice->why + used, sizeof choice->why - used,
             "; nothing but the tolerance keeps its velocities on the loops");
}

// A formulation that cannot start is not chosen at any cost.
static void choose_the_other(const char *name, const char *other, const lw_error *refusal,
                             const char *loops, lwi_cost_choice *choice)
{
    choice->formulation = name;
    snprintf(choice->why, sizeof choice->why, "%s, and %s refuses: %.200s", loops, other,
             refusal->text);
}

// A recursion over the tree, or segments if it is a long path for which they are faster on one thread: results do not
// depend on the number of threads.
static void choose_for_tree(const lwi_cost_survey *survey, lwi_cost_choice *choice)
{
    const lwi_cost_features *f = &survey->features;
    const char *recursion = survey->momenta ? "momenta" : "aba";
    const char *divided = survey->momenta ? "hdca" : "dca";
    const double segments = lwi_cost_of_path(divided, f), path = lwi_cost_of_path(recursion, f);
    if (isnan(segments)) {
        choice->formulation = recursion;
        snprintf(choice->why, sizeof choice->why, "the joints form a tree");
        return;
    }
    const bool divide = WORTH * segments < path;
    choice->formulation = divide ? divided : recursion;
    snprintf(choice->why, sizeof choice->why,
             divide ? "the joints form %s; expected to be faster than %s by a fifth or more"
                    : "the joints form %s; %s is not expected to be faster by a fifth",
             f->hubs > 0 ? "a tree of long paths" : "a long path", divide ? recursion : divided);
}

void lwi_cost_choose(const lw_model *model, const lwi_cost_survey *survey, lwi_cost_choice *choice)
{
    char loops[160];
    if (survey->tree) {
        choose_for_tree(survey, choice);
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
        choose_by_cost(survey, loops, choice);
}
