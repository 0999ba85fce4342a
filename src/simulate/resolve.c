// resolve.c -- resolves `auto`, and reports the choices and the options without effect.
#include "simulate/cost.h"
#include "simulate/options.h"
#include "simulate/simulation.h"
#include "spatial/vec3.h"
#include "simulate/stiffness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Step of fixed-step integrators where none is given [s]: ordinary machines are smooth on it.
#define DEFAULT_STEP 1e-3

static void say(lw_sim *sim, const char *format, ...) LW_PRINTF(2, 3);
static void say(lw_sim *sim, const char *format, ...)
{
    const size_t used = strlen(sim->notice);
    const char *line = used ? "\n" : "";
    const int head = snprintf(sim->notice + used, sizeof sim->notice - used, "%s", line);
    if (head < 0 || used + (size_t)head >= sizeof sim->notice) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sim->notice + used + head, sizeof sim->notice - used - (size_t)head, format,
              arguments);
    va_end(arguments);
}

// Runs of more periods than these are those in which explicit methods drift more than they gain.
#define MANY_PERIODS 1e4

// gauss is symplectic on trees where all joints have coordinates.
static bool suits_gauss(const lw_model *model)
{
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].type->nv > 0 && !model->joint[j].type->scalar) return false;
    return lwi_formulation_accepts(lwi_formulation_find("momenta"), model, NULL) == LW_OK;
}

// Names the methods without drift where an undamped mechanism runs over very many periods, those of a pendulum of its
// length or of its fastest rotation.
static void name_symplectic(lw_sim *sim)
{
    const lw_model *model = sim->model;
    double rate = model->length > 0 ? sqrt(v3_norm(model->gravity) / model->length) : 0;
    for (int b = 1; b < model->nbody; b++) rate = fmax(rate, v3_norm(model->body[b].w0));
    const double periods = sim->options.duration * rate / 6.283185307179586;
    if (model->carries_work || !(periods > MANY_PERIODS)) return;
    const bool gauss = suits_gauss(model);
    const bool rattle = lwi_formulation_accepts(&lwi_formulation_rattle, model, NULL) == LW_OK;
    if (!gauss && !rattle) return;
    say(sim, "many thousands of periods without damping: %s%s%s no drift of energy",
        gauss ? "--integrator gauss --order 6 --step H" : "", gauss && rattle ? " or " : "",
        !rattle ? " has"
        : gauss ? "--formulation rattle --step H have"
                : "--formulation rattle --step H has");
}

static lw_status choose_formulation(lw_sim *sim, lw_error *error)
{
    char *name = sim->options.formulation;
    lwi_cost_survey survey;
    lwi_cost_choice choice;
    if (strcmp(name, "auto") != 0) return LW_OK;
    if (!strcmp(sim->options.integrator, "gauss")) {
        lwi_copy_text(name, sizeof sim->options.formulation, "momenta");
        say(sim, "formulation momenta: integrator gauss goes with it");
        return LW_OK;
    }
    if (sim->shared.ranks) {
        const char *shared = sim->model->nloop > 0 ? "hdca" : "dca";
        lwi_copy_text(name, sizeof sim->options.formulation, shared);
        say(sim, "formulation %s: processes share its evaluations", shared);
        return LW_OK;
    }
    if (lwi_options_differ(&sim->options, "independent")) {
        lwi_copy_text(name, sizeof sim->options.formulation, "rcr");
        say(sim, "formulation rcr: independent coordinates are named");
        return LW_OK;
    }
    if (lwi_cost_measure(sim->model, &sim->options, &sim->shared, &sim->arena.allocator, &survey) !=
        LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a simulation");
    lwi_cost_choose(sim->model, &survey, &choice);
    lwi_copy_text(name, sizeof sim->options.formulation, choice.formulation);
    sim->work = survey.work; // it may be the one, see create_work
    sim->entered = survey.work ? survey.x : NULL, sim->entered_discrete = survey.discrete;
    say(sim, "formulation %s: %s", choice.formulation, choice.why);
    name_symplectic(sim);
    return LW_OK;
}

// A refusal names those that do accept the model.
static lw_status check_formulation(const lw_sim *sim, lw_error *error)
{
    const lw_status status =
        lwi_formulation_accepts(lwi_formulation_find(sim->options.formulation), sim->model, error);
    if (status == LW_OK || !error) return status;
    size_t used = strlen(error->text);
    const char *before = "; this model can be simulated by ";
    for (int i = 0; i < lw_formulation_count(); i++) {
        const char *name = lw_formulation_info(i).name;
        if (lwi_formulation_accepts(lwi_formulation_find(name), sim->model, NULL) != LW_OK)
            continue;
        snprintf(error->text + used, sizeof error->text - used, "%s%s", before, name);
        used = strlen(error->text);
        before = ", ";
    }
    return status;
}

// A formulation with its own time steps needs no other integrator; for others the choice needs rates.
static void choose_own_step(lw_sim *sim)
{
    char *name = sim->options.integrator;
    const lwi_formulation *f = lwi_formulation_find(sim->options.formulation);
    if (strcmp(name, "auto") != 0 || !f->step) return;
    lwi_copy_text(name, sizeof sim->options.integrator, f->integrator);
    say(sim, "integrator %s: %s has its own time steps", f->integrator, f->name);
}

// Steps of dopri5 stay below 3.3 / rate: from this rate on it takes 10^4 evaluations per second where the motion
// alone requires 10^3, as with bdf (docs/integrators.md).
#define STIFF 5000
// Weaker damping than this: the oscillation lasts for more than fifty periods and is a part of the motion, which bdf
// follows less exactly.
#define WEAK 0.01
// Oscillations limit the steps of dopri5 to 0.4 / rate at the default tolerances, decays to 3.3 / rate.
#define OSCILLATES 0.7
#define OSCILLATION 4
// Measured on chains: Jacobian (n columns) and factors cost bdf as much time as its steps at these numbers of states.
#define COLUMNS 50
#define FACTORS 100

// The methods of order 8 take longer steps than dopri5 at this tolerance and tighter, unless rows end them.
#define TIGHT 1e-10
#define LONG_ROW 0.01

// Decays with this rate are stiff.
static double stiff_rate(const lwi_work *work)
{
    const double n = work->layout.nx, factors = n / FACTORS;
    return STIFF * (1 + n / COLUMNS + factors * factors);
}

// Restarts cost bdf its order: where stops are touched, inputs set.
static lw_status find_stiffness(const lw_sim *sim, lwi_stiffness *stiffness)
{
    const lw_model *model = sim->model;
    *stiffness = (lwi_stiffness){0};
    if (model->nforce == 0 || model->nmode > 0 || model->desc.ninput > 0) return LW_OK;
    const double lowest = stiff_rate(sim->work) / OSCILLATION;
    return lwi_stiffness_find(sim->work, &sim->arena.allocator, lowest, stiffness);
}

static bool is_stiff(const lw_sim *sim, const lwi_stiffness *s)
{
    return s->damping > WEAK &&
           s->rate * (s->damping < OSCILLATES ? OSCILLATION : 1) > stiff_rate(sim->work);
}

static lw_status choose_integrator(lw_sim *sim, lw_error *error)
{
    lw_options *o = &sim->options;
    lwi_stiffness stiffness;
    if (strcmp(o->integrator, "auto") != 0) return LW_OK;
    if (find_stiffness(sim, &stiffness) != LW_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for a simulation");
    const double row = o->sample;
    const char *name = "dopri5";
    if (is_stiff(sim, &stiffness)) {
        name = "bdf";
        say(sim, "integrator bdf: stiff, the fastest motion has a rate of %.2g/s and dies out",
            stiffness.rate);
    } else if (o->rtol <= TIGHT && o->atol <= TIGHT && (row == 0 || row >= LONG_ROW)) {
        name = "verner87";
        say(sim, "integrator verner87: tolerances of %.0e and less", TIGHT);
    } else {
        say(sim, "integrator dopri5: the default");
    }
    lwi_copy_text(o->integrator, sizeof o->integrator, name);
    return LW_OK;
}

// Formulations with their own time steps only match their integrator, and vice versa.
static lw_status check_pair(const lw_sim *sim, lw_error *error)
{
    const char *formulation = sim->options.formulation, *integrator = sim->options.integrator;
    if (!strcmp(integrator, "auto")) return LW_OK;
    const lwi_formulation *f = lwi_formulation_find(formulation);
    if (f->step && strcmp(f->integrator, integrator) != 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "formulation %s has its own time steps: `integrator` must be %s or auto, "
                        "not %s",
                        formulation, f->integrator, integrator);
    if (!strcmp(integrator, "gauss") && strcmp(formulation, "momenta") != 0)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "integrator gauss is for the canonical momenta of trees, expected formulation "
            "momenta, not %s; rattle keeps the energy of mechanisms with loops",
            formulation);
    if (f->step || !lwi_integrator_find(integrator)->steps) return LW_OK;
    return lwi_fail(
        error, LW_ERR_ARGUMENT,
        "integrator %s is for formulations with their own step; %s goes with dopri5, adams, "
        "rk4 and the others of `linkwork info`",
        integrator, formulation);
}

static void report_choices(lw_sim *sim)
{
    char text[256] = "";
    if (sim->work->formulation->about) sim->work->formulation->about(sim->work, text, sizeof text);
    if (text[0]) say(sim, "%s", text);
}

static bool has_momenta(const lw_sim *sim)
{
    return lwi_layout_has(&sim->work->layout, LWI_MOMENTUM);
}

// Names of the formulations with this flag: "hdca, rcr".
static void list_formulations(unsigned flag, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < lw_formulation_count() && used < size; i++) {
        const lwi_formulation *f = lwi_formulation_find(lw_formulation_info(i).name);
        if (f->flags & flag)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", f->name);
    }
}

// Reports an option that the formulation ignores, with the formulations that have the flag.
static void say_ignored(lw_sim *sim, const char *option, unsigned flag, const char *condition)
{
    char names[160];
    list_formulations(flag, names, sizeof names);
    say(sim, "%s is ignored: it is an option of %s%s", option, names, condition);
}

// The state that was requested must be the state of the formulation.
static lw_status check_state(const lw_sim *sim, lw_error *error)
{
    const lw_options *o = &sim->options;
    const bool momenta = has_momenta(sim);
    char names[160];
    if (o->state == LW_STATE_AUTO || momenta == (o->state == LW_STATE_MOMENTA)) return LW_OK;
    list_formulations(momenta ? LWI_HAS_SPEEDS : LWI_HAS_MOMENTA, names, sizeof names);
    return lwi_fail(
        error, LW_ERR_ARGUMENT, "state: formulation %s has %s as state, not %s; expected one of %s",
        o->formulation, momenta ? "momenta" : "speeds", momenta ? "speeds" : "momenta", names);
}

// Steps by tolerances depend on the state, and would not be symplectic.
static lw_status check_tolerances(const lw_sim *sim, lw_error *error)
{
    const lw_options *o = &sim->options;
    const char *given = lwi_options_differ(o, "rtol")   ? "rtol"
                        : lwi_options_differ(o, "atol") ? "atol"
                                                        : NULL;
    if (!sim->work->fixed_step || !given) return LW_OK;
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "%s: steps of %s are equal and have no tolerances, expected --step alone",
                    given, o->formulation);
}

// Processes share evaluations of rates, on one thread each.
static lw_status check_ranks(const lw_sim *sim, lw_error *error)
{
    const lw_options *o = &sim->options;
    char names[160];
    if (!sim->shared.ranks) return LW_OK;
    list_formulations(LWI_HAS_RANKS, names, sizeof names);
    if (!(lwi_formulation_find(o->formulation)->flags & LWI_HAS_RANKS))
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "ranks: processes share no evaluation of %s, expected one of %s",
                        o->formulation, names);
    if (o->threads > 1)
        return lwi_fail(error, LW_ERR_UNSUPPORTED,
                        "ranks: each process has one thread, expected threads 1, got %d",
                        (int)o->threads);
    return LW_OK;
}

// Options that differ from their defaults and do nothing in this combination.
static void report_ignored(lw_sim *sim, bool adaptive)
{
    lw_options *o = &sim->options, plain;
    const unsigned flags = sim->work->formulation->flags;
    lw_options_default(&plain);
    const bool orders = !strcmp(o->integrator, "gauss") || !strcmp(o->integrator, "rattle");
    if (o->order && !orders) say(sim, "order is ignored: it is an option of rattle and gauss");
    if (!adaptive) {
        if (!(o->step > 0)) {
            o->step = DEFAULT_STEP;
            say(sim, "step %g s: %s has a fixed step and none is given", o->step, o->integrator);
        }
        if (o->rtol != plain.rtol) say(sim, "rtol is ignored: %s has a fixed step", o->integrator);
        if (o->atol != plain.atol) say(sim, "atol is ignored: %s has a fixed step", o->integrator);
    }
    if (o->atol_p != plain.atol_p && (!adaptive || !has_momenta(sim)))
        say(sim, "atol_p is ignored: %s",
            adaptive ? "the state has no momenta" : "the step is fixed");
    if (o->kappa != plain.kappa && !(flags & LWI_HAS_KAPPA && has_momenta(sim)))
        say_ignored(sim, "kappa", LWI_HAS_KAPPA, " with momenta as state");
    if (lwi_options_differ(o, "baumgarte") && !(flags & LWI_HAS_BAUMGARTE))
        say_ignored(sim, "baumgarte", LWI_HAS_BAUMGARTE, "");
    if (lwi_options_differ(o, "independent") && strcmp(o->formulation, "rcr") != 0)
        say(sim, "independent is ignored: it is an option of rcr");
    if (o->project != plain.project && sim->model->nloop == 0 && sim->model->ncoupling == 0)
        say(sim, "project is ignored: the joints form a tree");
    if (lwi_options_differ(o, "index3") && !(flags & LWI_HAS_INDEX3))
        say_ignored(sim, "index3", LWI_HAS_INDEX3, "");
    if (o->project != plain.project && flags & LWI_PROJECTS)
        say(sim, "project is ignored: %s projects positions in each step", o->formulation);
    if (!(flags & LWI_HAS_PLAN) && o->plan != plain.plan)
        say(sim, "plan is ignored: %s has none", o->formulation);
    if (!(flags & LWI_HAS_THREADS) && o->threads > 1)
        say(sim, "threads is ignored: %s runs on one", o->formulation);
    else if (o->threads > 1 && !sim->work->threads)
        say(sim, "threads has no effect: %s shares no work of this model, which %s", o->formulation,
            flags & LWI_HAS_PLAN ? "is too small" : "has no subtrees that are worth it");
    if (sim->shared.ranks && sim->ranks.of.count > 1 && !sim->work->on_ranks)
        say(sim, "processes share nothing: the model is too small");
    if (!lwi_options_interpolate(o)) return;
    if (o->sample == LW_SAMPLE_STEPS)
        say(sim, "sample_mode is ignored: every step is a row");
    else if (!adaptive)
        say(sim, "sample_mode is ignored: %s ends a step on each row", o->integrator);
}

// Errors so much larger than tolerance times steps are not those of the integrator.
#define DOUBTFUL 100

// Round-off of the state that changes speeds by more than this part: a tenth of the default tolerance.
#define LOST_DIGITS 1e-7

// Without tolerances that are kept: the energy that appears or is lost, relative to the largest T + |V| + |Wnc|.
#define MUCH_ENERGY 0.1

// The same where singular positions were passed: a step across one may leave the branch with another energy.
#define MUCH_AT_POSITIONS 0.01

static void warn_of_energy(lw_sim *sim)
{
    const lwi_audit *a = &sim->audit;
    const bool passed = sim->monitor.times > 0;
    if (!(a->energy_error > (passed ? MUCH_AT_POSITIONS : MUCH_ENERGY) * a->size)) return;
    char since[80] = "";
    if (a->balanced < a->last)
        snprintf(since, sizeof since, "; results after t = %.6g s are unreliable", a->balanced);
    say(sim, "energy: E - Wnc is off by %.1e J, %.0f %% of the largest T + |V| + |Wnc|: %s%s",
        a->energy_error, 100 * a->energy_error / a->size,
        a->diverged                                ? "the momenta diverge"
        : lwi_momentum_rounding(sim) > LOST_DIGITS ? "digits of the speeds are lost"
        : passed ? "the steps are too long for this motion, or for the singular positions"
                 : "the steps are too long for this motion",
        since);
}

static void say_divergence(lw_sim *sim)
{
    const double *since = sim->audit.since;
    say(sim,
        "momenta diverge between t = %.6g and %.6g s, where E - Wnc is off by more than half "
        "of the largest T + |V| + |Wnc|: steps of %.3g s are too long for them; try shorter "
        "ones, or a state of speeds (%s), which takes longer ones",
        since[0], since[1], sim->options.step, lwi_state_of_speeds(sim->model));
}

void lwi_sim_warn_of_divergence(lw_sim *sim)
{
    lwi_audit *a = &sim->audit;
    if (a->diverged || !(a->balanced < a->last) || sim->work->formulation->step ||
        lwi_integrator_find(sim->options.integrator)->adaptive ||
        !lwi_layout_has(&sim->work->layout, LWI_MOMENTUM))
        return;
    a->diverged = true;
    a->since[0] = a->balanced, a->since[1] = a->last;
    say_divergence(sim);
}

// A mean energy that drifts by more than this part of its range is not kept.
#define DRIFTS 0.1
#define MANY_STEPS 10000

// The energy of steps that are short enough oscillates about one value: none of its rows leave the others for good.
static void warn_of_drift(lw_sim *sim)
{
    const lwi_audit *a = &sim->audit;
    lw_summary s;
    lw_sim_summary(sim, &s);
    const bool keeps = sim->work->fixed_step || !strcmp(sim->options.integrator, "gauss");
    if (!keeps || s.steps < MANY_STEPS || isnan(s.energy_drift)) return;
    if (!(s.energy_range > 1e-12 * a->size)) return; // round-off
    const double first = a->sum[0] / (double)a->rows[0];
    if (a->last_high < first || a->last_low > first)
        say(sim,
            "energy: its mean drifts by %.1e J, and all rows of the last tenth are %s the mean of "
            "the first: the step is too long, or the motion has become another one; compare with "
            "half the step",
            s.energy_drift, a->last_high < first ? "below" : "above");
    else if (fabs(s.energy_drift) > DRIFTS * s.energy_range)
        say(sim,
            "energy: its mean drifts by %.1e J, more than a tenth of its range of %.1e J: the step "
            "is too long, or the motion has become another one; compare with half the step",
            s.energy_drift, s.energy_range);
}

// From here on steps are at least three times shorter than with speeds, in chains at random of 4 to 300 rods.
#define MOMENTUM_ERRORS 250

const char *lwi_state_of_speeds(const lw_model *model)
{
    return lwi_formulation_accepts(&lwi_formulation_aba, model, NULL) == LW_OK ? "aba" : "dca";
}

static void warn_of_momenta(lw_sim *sim)
{
    if (sim->raised)
        say(sim,
            "momenta: tolerances of some are below their round-off, to which they were raised; "
            "errors of speeds are larger than specified: a state of speeds (%s) keeps the "
            "tolerances",
            lwi_state_of_speeds(sim->model));
    const double errors = lwi_momentum_errors(sim);
    if (errors < MOMENTUM_ERRORS) return;
    say(sim,
        "momenta: their errors within the tolerances are errors of speeds of %.0e tolerances, "
        "which make steps short; a state of speeds (%s) needs fewer",
        errors, lwi_state_of_speeds(sim->model));
}

// Of open trees: paths of mechanisms with loops are short, and two evaluations of a net take as long as its set-up.
static void warn_of_digits(lw_sim *sim)
{
    if (sim->model->nloop + sim->model->ncoupling > 0 || sim->audit.diverged) return;
    const double lost = lwi_momentum_rounding(sim);
    if (!(lost > LOST_DIGITS)) return;
    say(sim,
        "momenta: round-off of the state changes speeds by %.0e of the largest one, in long chains "
        "and between very different masses; a state of speeds (%s) has no such loss",
        lost, lwi_state_of_speeds(sim->model));
}

// Relative errors of evaluations that are worth a warning; estimates may be several times too large.
#define INEXACT 3e-9

static void warn_of_inertias(lw_sim *sim)
{
    const lwi_formulation *f = sim->work->formulation;
    if (!f->lost_digits || sim->work->source.rates) return;
    const double lost = f->lost_digits(sim->work, sim->t, sim->x, sim->inputs);
    if (lost > INEXACT)
        say(sim,
            "inertias differ so much that %s have a relative error of %.0e: use `dca`, which "
            "recovers the digits",
            lwi_layout_has(&sim->work->layout, LWI_MOMENTUM) ? "velocities" : "accelerations",
            lost);
}

void lwi_sim_add_warnings(lw_sim *sim)
{
    const lw_options *o = &sim->options;
    const lwi_audit *a = &sim->audit;
    char text[512] = "";
    sim->notice[sim->chosen] = 0;
    if (o->plan != LW_PLAN_AUTO && sim->work->segments) // batches, which have no segments, use it
        say(sim, "plan has no effect on steps: %s divides the long paths of this model in segments",
            o->formulation);
    if (o->compiled == LW_COMPILED_ON && !sim->work->source.rates)
        say(sim, "compiled: on is of the program; others call lw_sim_use_compiled");
    void (*notice)(const lwi_work *, char *, size_t) =
        sim->work->source.notice ? sim->work->source.notice : sim->work->formulation->notice;
    if (notice) notice(sim->work, text, sizeof text);
    if (text[0]) say(sim, "%s", text);
    lwi_singular_start_message(sim, text, sizeof text);
    if (text[0]) say(sim, "%s", text);
    lwi_crossing_message(sim, text, sizeof text);
    if (text[0]) say(sim, "%s", text);
    lwi_sim_end_monitor(sim);
    lwi_monitor_message(&sim->monitor, text, sizeof text);
    if (text[0]) say(sim, "%s", text);
    warn_of_digits(sim);
    warn_of_inertias(sim);
    if (!lwi_integrator_find(o->integrator)->adaptive) {
        if (sim->audit.diverged) say_divergence(sim);
        warn_of_energy(sim);
        warn_of_drift(sim);
        return;
    }
    warn_of_momenta(sim);
    lwi_integrator_stats stats;
    sim->integrator->type->stats(sim->integrator, &stats);
    const double limit = DOUBTFUL * fmax(o->rtol, o->atol) * (double)(stats.steps + 1);
    if (a->energy_error > limit * a->size)
        say(sim,
            "energy: E - Wnc is off by %.1e J, more than %d times what %ld steps of these "
            "tolerances suggest",
            a->energy_error, DOUBTFUL, stats.steps);
    if (a->residual[0] > 10 * a->closed + limit)
        say(sim,
            "constraints: positions are off by %.1e, more than %d times what %ld steps of these "
            "tolerances suggest",
            a->residual[0], DOUBTFUL, stats.steps);
}

// Creates the workspace, unless the choice has already done so.
static lw_status create_work(lw_sim *sim, lw_error *error)
{
    const lwi_formulation *formulation = lwi_formulation_find(sim->options.formulation);
    if (sim->work && sim->work->formulation == formulation) return LW_OK;
    lwi_work_destroy(sim->work);
    sim->work = NULL, sim->entered = NULL;
    return lwi_work_create_shared(sim->model, formulation, &sim->arena.allocator, &sim->options, 0,
                                  &sim->shared, &sim->work, error);
}

lw_status lwi_sim_resolve(lw_sim *sim, lw_error *error)
{
    TRY(choose_formulation(sim, error));
    choose_own_step(sim);
    TRY(check_formulation(sim, error));
    TRY(check_pair(sim, error));
    TRY(check_ranks(sim, error));
    TRY(create_work(sim, error));
    TRY(check_state(sim, error));
    TRY(check_tolerances(sim, error));
    TRY(choose_integrator(sim, error));
    sim->work->multistep = lwi_integrator_find(sim->options.integrator)->multistep;
    report_choices(sim);
    report_ignored(sim,
                   lwi_integrator_find(sim->options.integrator)->adaptive || sim->work->controls);
    sim->chosen = strlen(sim->notice);
    return LW_OK;
}
