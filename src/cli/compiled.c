// compiled.c -- whether a run has compiled rates, and its simulation.
#include "cli/compiled.h"

#include "cli/stopwatch.h"

#include <math.h>
#include <string.h>

// Runs that take less than this, predicted from their first part, are not worth the search for code that is there already: the
// model is hashed, the code loaded, and its first part evaluated by both.  Of a humanoid this takes 16e6 instructions, and
// runs of 70e6, 25 ms, regain it.
#define SHORT 0.05           // s
#define FOR_EACH_SPEED 0.001 // s
#define TRIAL 0.1            // s
#define TRIAL_PART 0.005

// It compiles where the run takes so many times as long as the compiler may take, which is a guess: so a run by code that is no
// faster than the library takes little longer.  Text of more letters is not compiled, for machine code beyond the
// processor's caches is slower.
#define WORTH 10
#define LEAST 0.2 // s, of a compiler: text of runs that are not worth this is not generated
#define MAX_LETTERS 2000000

// The library has lanes over equal branches and loops, and is sometimes faster: then `auto` leaves what was compiled, where the
// library takes by the first part of the run less than this part of the time, the best of some rounds; `on` says so of runs
// of which the rounds are a small part.
#define FASTER 0.95
#define MUCH_FASTER 0.9
#define LONG 0.25 // s
enum { ROUNDS = 3 };

// Seconds that the whole run takes, from parts of it, each as long as those before together.  The last one counts: in the
// first one things are done once.  Time is that of this thread: others do not delay it.
static double run_time(lw_sim *sim, double duration)
{
    const double began = stopwatch();
    double t = 1e-4 * duration, passed = 0, taken = 0, rate = 0;
    while (lw_sim_step(sim, t) == LW_OK) {
        const double in_all = stopwatch() - began, now = lw_sim_time(sim);
        if (now > passed) rate = (in_all - taken) / (now - passed); // an event may end a part early
        if (in_all > TRIAL || t >= TRIAL_PART * duration) break;
        taken = in_all;
        passed = now;
        t *= 2;
    }
    return rate * duration;
}

static cli_exit refuse(const cli_arguments *a, const lw_error *why)
{
    return cli_complain(CLI_USE, "%s: compiled: on: %s", a->operand, why->text);
}

// What gets compiled rates: one run, or a sweep.
typedef struct user {
    lw_status (*create)(struct user *u, lw_error *error); // by u->options
    lw_status (*use)(struct user *u, const lw_compiled *compiled, lw_error *error);
    void (*destroy)(struct user *u);
    const lw_model *model;
    lw_options *options;
    const lw_sim_desc *of_sim;
    const lw_batch_desc *of_sweep;
    lw_sim *sim;
    lw_sweep *sweep;
} user;

static lw_status create_sim(user *u, lw_error *error)
{
    return lw_sim_create(u->model, u->of_sim, &u->sim, error);
}

static lw_status use_in_sim(user *u, const lw_compiled *compiled, lw_error *error)
{
    const lw_status status = lw_sim_use_compiled(u->sim, compiled);
    if (status != LW_OK) *error = *lw_sim_error(u->sim);
    return status;
}

static void destroy_sim(user *u)
{
    lw_sim_destroy(u->sim);
    u->sim = NULL;
}

static lw_status create_sweep(user *u, lw_error *error)
{
    return lw_sweep_create(u->model, u->of_sweep, &u->sweep, error);
}

static lw_status use_in_sweep(user *u, const lw_compiled *compiled, lw_error *error)
{
    const lw_status status = lw_sweep_use_compiled(u->sweep, compiled);
    if (status != LW_OK) *error = *lw_sweep_error(u->sweep);
    return status;
}

static void destroy_sweep(user *u)
{
    lw_sweep_destroy(u->sweep);
    u->sweep = NULL;
}

static lw_status create_and_use(user *u, const lw_compiled *compiled, lw_error *error)
{
    lw_status status = u->create(u, error);
    if (status != LW_OK) return status;
    status = u->use(u, compiled, error);
    if (status != LW_OK) u->destroy(u);
    return status;
}

// With compiled rates, by the first formulation that can have them where none is named; LW_ERR_UNSUPPORTED with the reason.
static lw_status create(user *u, const lw_compiled *compiled, lw_error *error)
{
    lw_status status = LW_ERR_UNSUPPORTED;
    if (strcmp(u->options->formulation, "auto") != 0) return create_and_use(u, compiled, error);
    for (int i = 0; i < lw_formulation_count() && status != LW_OK; i++) {
        if (!(lw_formulation_flags(i) & LW_FORMULATION_COMPILED)) continue;
        status = lw_options_set(u->options, "formulation", lw_formulation_info(i).name, error);
        if (status == LW_OK) status = create_and_use(u, compiled, error);
    }
    return status;
}

// Seconds of the whole run, from its first part, by the library or with compiled rates.  @return LW_OK or why it cannot begin
static lw_status try_run(const user *u, const lw_compiled *compiled, double *seconds)
{
    lw_sim *trial = NULL;
    lw_status status = lw_sim_create(u->model, u->of_sim, &trial, NULL);
    if (status == LW_OK && compiled) status = lw_sim_use_compiled(trial, compiled);
    if (status == LW_OK) *seconds = fmin(*seconds, run_time(trial, u->options->duration));
    lw_sim_destroy(trial);
    return status;
}

// Is the library faster than what was compiled, with `limit` as FASTER?  The formulation is chosen for each.
static bool is_slower(const user *u, const lw_compiled *compiled, const lw_options *as_given,
                      double limit)
{
    const lw_options chosen = *u->options;
    double by_library = INFINITY, by_compiled = INFINITY;
    if (!u->sim) return false; // of a sweep
    for (int i = 0; i < ROUNDS; i++) {
        *u->options = *as_given;
        lw_status status = try_run(u, NULL, &by_library);
        *u->options = chosen;
        if (status == LW_OK) status = try_run(u, compiled, &by_compiled);
        if (status != LW_OK) return false;
    }
    return by_library < limit * by_compiled;
}

// Seconds of all runs, from the first part of one by the library; 0: it cannot begin, which is reported later.
static double time_of(const user *u)
{
    const lw_sim_desc alone = {.options = u->options};
    const int runs = u->of_sweep ? u->of_sweep->instances : 1;
    lw_sim *trial = NULL;
    double taken = 0;
    if (lw_sim_create(u->model, u->of_sim ? u->of_sim : &alone, &trial, NULL) == LW_OK)
        taken = run_time(trial, u->options->duration);
    lw_sim_destroy(trial);
    return runs * taken;
}

static bool complain(const cli_arguments *a, const lw_error *error)
{
    cli_complain(CLI_DONE, "%s: compiled: auto: not compiled: %s", a->operand, error->text);
    return false;
}

// For `auto`: is it worth it?  The reason where it would be and is not possible.  Of a sweep what was compiled is taken.
static bool is_worth(const cli_arguments *a, const user *u, const lw_compiled_desc *how)
{
    lw_compiled_info info;
    lw_error error = {0};
    const double taken = time_of(u);
    if (taken < fmax(SHORT, FOR_EACH_SPEED * lw_model_tree_nv(u->model))) return false;
    if (lw_compiled_search(u->model, how, &info, &error) != LW_OK) return complain(a, &error);
    if (info.found) return true;
    if (taken < WORTH * LEAST) return false;
    if (lw_compiled_predict(u->model, how, &info, &error) != LW_OK) return complain(a, &error);
    if (info.found || u->of_sweep) return info.found;
    return info.letters <= MAX_LETTERS && taken > WORTH * info.compiling;
}

// For `on`: a long run, of which the rounds are a small part, that the library makes shorter.
static void warn_if_slower(const cli_arguments *a, const user *u, const lw_compiled *compiled,
                           const lw_options *as_given)
{
    if (!u->sim || time_of(u) < LONG || !is_slower(u, compiled, as_given, MUCH_FASTER)) return;
    cli_complain(CLI_DONE,
                 "%s: compiled: on: by the first part of the run the library's rates are faster "
                 "(compiled: auto, off)",
                 a->operand);
}

static cli_exit compile_for(const cli_arguments *a, user *u, const lw_compiled_desc *how,
                            lw_compiled **compiled)
{
    const bool on = u->options->compiled == LW_COMPILED_ON;
    const bool automatic = u->options->compiled == LW_COMPILED_AUTO;
    const lw_options as_given = *u->options;
    lw_error error = {0};
    lw_status status = LW_OK;
    if (on || (automatic && is_worth(a, u, how))) {
        cli_catch_signals();
        status = lw_compiled_create(u->model, how, compiled, &error);
        if (status == LW_ERR_INTERRUPTED)
            return cli_complain(CLI_FAILED, "%s: %s; nothing is written", a->operand, error.text);
        if (status == LW_OK) status = create(u, *compiled, &error);
        if (status == LW_OK && on) warn_if_slower(a, u, *compiled, &as_given);
        const bool slower =
            status == LW_OK && automatic && is_slower(u, *compiled, &as_given, FASTER);
        if (status == LW_OK && !slower) return CLI_DONE;
        if (slower) u->destroy(u);
        lw_compiled_destroy(*compiled);
        *compiled = NULL;
        if (on) return refuse(a, &error);
        if (!slower) complain(a, &error);
        *u->options = as_given;
    }
    status = u->create(u, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

cli_exit cli_compiled_exclude(const cli_arguments *a, lw_options *options, const char *why)
{
    const lw_compiled_use given = options->compiled;
    options->compiled = LW_COMPILED_OFF;
    if (given == LW_COMPILED_ON)
        return cli_complain(CLI_USE, "%s: compiled: on: %s", a->operand, why);
    if (given == LW_COMPILED_AUTO)
        cli_complain(CLI_DONE, "%s: compiled: auto: not compiled: %s", a->operand, why);
    return CLI_DONE;
}

cli_exit cli_compiled_create(const cli_arguments *a, const lw_model *model, const lw_sim_desc *desc,
                             lw_options *options, lw_sim **sim, lw_compiled **compiled)
{
    const lw_compiled_desc how = {.lanes = 1, .rates_only = true, .interrupt = cli_is_stopped};
    user u = {create_sim, use_in_sim, destroy_sim, model, options, .of_sim = desc};
    cli_exit code = CLI_DONE;
    if (a->checkpoint || a->ranks)
        code =
            cli_compiled_exclude(a, options, "expected runs by one process, without checkpoints");
    if (!code) code = compile_for(a, &u, &how, compiled);
    *sim = u.sim;
    return code;
}

cli_exit cli_compiled_sweep(const cli_arguments *a, const lw_model *model,
                            const lw_batch_desc *desc, lw_options *options, lw_sweep **sweep,
                            lw_compiled **compiled)
{
    const lw_compiled_desc how = {
        .lanes = a->lanes, .rates_only = true, .interrupt = cli_is_stopped};
    user u = {create_sweep, use_in_sweep, destroy_sweep, model, options, .of_sweep = desc};
    const cli_exit code = compile_for(a, &u, &how, compiled);
    *sweep = u.sweep;
    return code;
}

void cli_compiled_print(const lw_compiled *compiled)
{
    const lw_compiled_info i = lw_compiled_about(compiled);
    if (i.found)
        printf("compiled     found, %s\n", i.compiler);
    else if (compiled)
        printf("compiled     in %.2g s, %s\n", i.compiling, i.compiler);
}

void cli_compiled_warn(const cli_arguments *a, const lw_compiled *compiled)
{
    const char *refused = lw_compiled_about(compiled).refused;
    if (refused)
        cli_complain(CLI_DONE,
                     "%s: compiled rates: the formulation evaluates where a partition could not be "
                     "compiled: %s",
                     a->operand, refused);
}
