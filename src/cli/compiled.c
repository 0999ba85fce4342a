// compiled.c -- whether a run has compiled rates, and its simulation.
#include "cli/compiled.h"

#include "cli/stopwatch.h"

#include <string.h>

// `auto` compiles where the run takes at least so many times as long as the compiler, by the times of its first part.
#define WORTH 2
#define TRIAL 0.1 // s
#define TRIAL_PART 0.02

// Seconds that the whole run takes, from a part of it.
static double run_time(lw_sim *sim, double duration)
{
    const double began = stopwatch_wall();
    double t = 1e-4 * duration;
    while (lw_sim_step(sim, t) == LW_OK && stopwatch_wall() - began < TRIAL &&
           t < TRIAL_PART * duration)
        t *= 2;
    const double passed = lw_sim_time(sim);
    return passed > 0 ? (stopwatch_wall() - began) * duration / passed : 0;
}

static cli_exit refuse(const cli_arguments *a, const lw_error *why)
{
    return cli_complain(CLI_USE, "%s: --compiled on: %s", a->operand, why->text);
}

// For `auto`: is it worth it?  The reason where it is not possible.
static bool is_worth(const cli_arguments *a, const lw_model *model, const lw_sim_desc *desc,
                     const lw_compiled_desc *how)
{
    lw_compiled_info info;
    lw_error error = {0};
    lw_sim *trial = NULL;
    if (lw_compiled_predict(model, how, &info, &error) != LW_OK) {
        cli_complain(CLI_DONE, "%s: --compiled auto: not compiled: %s", a->operand, error.text);
        return false;
    }
    if (info.found) return true;
    if (lw_sim_create(model, desc, &trial, NULL) != LW_OK) return false; // reported later
    const double taken = run_time(trial, desc->options->duration);
    lw_sim_destroy(trial);
    return taken > WORTH * info.compiling;
}

// The simulation with compiled rates, by the first formulation with their state where none is named; LW_ERR_UNSUPPORTED with
// the reason.
static lw_status create(const lw_model *model, const lw_sim_desc *desc, lw_options *options,
                        const lw_compiled *compiled, lw_sim **sim, lw_error *error)
{
    static const char *const names[] = {"aba", "rcr"}; // of trees, of all
    const bool any = !strcmp(options->formulation, "auto");
    lw_status status = LW_ERR_UNSUPPORTED;
    for (int i = 0; i < (any ? 2 : 1) && !*sim; i++) {
        if (any && lw_options_set(options, "formulation", names[i], error) != LW_OK) break;
        status = lw_sim_create(model, desc, sim, error);
    }
    if (status == LW_OK) status = lw_sim_use_compiled(*sim, compiled);
    if (status == LW_OK || !*sim) return status;
    *error = *lw_sim_error(*sim);
    lw_sim_destroy(*sim);
    *sim = NULL;
    return status;
}

cli_exit cli_compiled_create(const cli_arguments *a, const lw_model *model, const lw_sim_desc *desc,
                             lw_options *options, lw_sim **sim, lw_compiled **compiled)
{
    const bool on = a->compiled && !strcmp(a->compiled, "on");
    const bool automatic = a->compiled && !strcmp(a->compiled, "auto");
    const lw_compiled_desc how = {.lanes = 1, .rates_only = true};
    const lw_options as_given = *options;
    lw_error error = {0};
    lw_status status = LW_OK;
    if (on || (automatic && is_worth(a, model, desc, &how))) {
        status = lw_compiled_create(model, &how, compiled, &error);
        if (status == LW_OK) status = create(model, desc, options, *compiled, sim, &error);
        if (status == LW_OK) return CLI_DONE;
        lw_compiled_destroy(*compiled);
        *compiled = NULL;
        if (on) return refuse(a, &error);
        cli_complain(CLI_DONE, "%s: --compiled auto: not compiled: %s", a->operand, error.text);
        *options = as_given;
    }
    status = lw_sim_create(model, desc, sim, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

void cli_compiled_print(const lw_compiled *compiled)
{
    const lw_compiled_info i = lw_compiled_about(compiled);
    if (i.found)
        printf("compiled     found, %s\n", i.compiler);
    else if (compiled)
        printf("compiled     in %.2g s, %s\n", i.compiling, i.compiler);
}
