// analysis.c -- the model at the state that an analysis is about.
#include "cli/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const cli_stability[] = {
    [LW_STABLE] = "stable", [LW_INDIFFERENT] = "indifferent", [LW_UNSTABLE] = "unstable"};

cli_exit cli_analysis_at(const cli_arguments *arguments, bool fallback, bool *balance)
{
    *balance = fallback;
    if (!arguments->at) return CLI_DONE;
    *balance = !strcmp(arguments->at, "equilibrium");
    if (*balance || !strcmp(arguments->at, "start")) return CLI_DONE;
    return cli_complain(CLI_USE, "--at %s: expected start or equilibrium", arguments->at);
}

static cli_exit unknown_input(const lw_model *model, const char *name)
{
    const int n = lw_model_input_count(model);
    const char **names = calloc((size_t)n + 1, sizeof *names);
    char room[300] = "";
    for (int i = 0; names && i < n; i++) names[i] = lw_model_input_name(model, i);
    cli_complain(CLI_USE, "--inputs: the model has no input '%s'%s", name,
                 names ? cli_suggestion(room, sizeof room, name, names, n) : "");
    free(names);
    return CLI_USE;
}

// NAME=VALUE
static cli_exit set_input(cli_analysis *analysis, char *text)
{
    char *value = strchr(text, '=');
    int index;
    double number;
    if (!value)
        return cli_complain(CLI_USE, "--inputs %s: expected NAME=VALUE, with commas between", text);
    *value++ = 0;
    if (lw_model_find_input(analysis->model, text, &index) != LW_OK)
        return unknown_input(analysis->model, text);
    if (!lw_number_read(value, &number))
        return cli_complain(CLI_USE, "--inputs %s: '%s' is not a number", text, value);
    analysis->inputs[index] = number;
    return CLI_DONE;
}

static cli_exit set_inputs(const cli_arguments *arguments, cli_analysis *analysis)
{
    cli_exit code = CLI_DONE;
    analysis->inputs =
        calloc((size_t)lw_model_input_count(analysis->model) + 1, sizeof *analysis->inputs);
    char *text = malloc(strlen(arguments->inputs ? arguments->inputs : "") + 1);
    if (!analysis->inputs || !text) {
        free(text);
        return cli_complain(CLI_FAILED, "no memory");
    }
    strcpy(text, arguments->inputs ? arguments->inputs : "");
    for (char *item = strtok(text, ","); item && !code; item = strtok(NULL, ","))
        code = set_input(analysis, item);
    free(text);
    return code;
}

static lw_status take_signals(cli_analysis *analysis, const lw_observation *motion)
{
    const size_t n = (size_t)lw_model_signal_states(analysis->model);
    if (!(analysis->states = calloc(n + 1, sizeof *analysis->states))) return LW_ERR_MEMORY;
    if (n) memcpy(analysis->states, motion->states, n * sizeof *analysis->states);
    return LW_OK;
}

// The state of the last row, and the model that starts there for the search of the equilibrium.
static lw_status take_state(cli_analysis *analysis, lw_sim *sim, bool balance, lw_error *error)
{
    lw_model *moved = NULL;
    const lw_observation *motion = NULL;
    const size_t nq = (size_t)lw_model_tree_nq(analysis->model),
                 nv = (size_t)lw_model_tree_nv(analysis->model);
    analysis->time = lw_sim_time(sim);
    analysis->q = calloc(nq + 1, sizeof *analysis->q);
    analysis->v = calloc(nv + 1, sizeof *analysis->v);
    lw_status status =
        analysis->q && analysis->v ? lw_sim_get_tree(sim, analysis->q, analysis->v) : LW_ERR_MEMORY;
    if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &motion);
    if (status == LW_OK) status = take_signals(analysis, motion);
    if (status != LW_OK) *error = *lw_sim_error(sim);
    if (status != LW_OK || !balance) return status;
    status = lw_model_restart(analysis->model, motion, &moved, error);
    if (status != LW_OK) return status;
    lw_model_destroy(analysis->model);
    analysis->model = moved;
    return LW_OK;
}

static cli_exit move_to_result(const cli_arguments *arguments, bool balance, cli_analysis *analysis)
{
    if (!arguments->initial) return CLI_DONE;
    lw_sim *sim = NULL;
    lw_result *result = NULL;
    lw_error error = {0};
    const lw_sim_desc desc = {.options = &analysis->options};
    lw_status status = lw_sim_create(analysis->model, &desc, &sim, &error);
    if (status == LW_OK) status = lw_result_open(arguments->initial, &result, &error);
    if (status == LW_OK) status = lw_result_restore(result, -1, sim, NULL, 0, &error);
    if (status == LW_OK) status = take_state(analysis, sim, balance, &error);
    lw_result_close(result);
    lw_sim_destroy(sim);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

static cli_exit balance_model(const cli_arguments *arguments, cli_analysis *analysis)
{
    lw_model *balanced = NULL;
    lw_error error = {0};
    const lw_equilibrium_desc desc = {
        .inputs = analysis->inputs, .any = arguments->any, .time = analysis->time};
    const lw_status status =
        lw_model_equilibrium(analysis->model, &desc, &balanced, &analysis->equilibrium, &error);
    if (status != LW_OK) return cli_analysis_fail(arguments, status, &error);
    lw_model_destroy(analysis->model);
    analysis->model = balanced;
    free(analysis->q);
    free(analysis->v);
    free(analysis->states);
    analysis->q = analysis->v = analysis->states = NULL;
    analysis->balanced = true;
    return CLI_DONE;
}

cli_exit cli_analysis_begin(const cli_arguments *arguments, bool balance, cli_analysis *analysis)
{
    *analysis = (cli_analysis){0};
    cli_exit code = cli_read(arguments, &analysis->model, &analysis->options);
    if (!code) code = set_inputs(arguments, analysis);
    if (!code) code = move_to_result(arguments, balance, analysis);
    if (!code && balance) code = balance_model(arguments, analysis);
    return code;
}

void cli_analysis_end(cli_analysis *analysis)
{
    lw_model_destroy(analysis->model);
    free(analysis->inputs);
    free(analysis->q);
    free(analysis->v);
    free(analysis->states);
}

cli_exit cli_analysis_fail(const cli_arguments *arguments, lw_status status, lw_error *error)
{
    if (!error->file[0]) snprintf(error->file, sizeof error->file, "%s", arguments->operand);
    cli_fail(status, error);
    return status == LW_ERR_ARGUMENT ? CLI_USE : CLI_FAILED;
}

lw_linear_desc cli_analysis_linear(const cli_arguments *arguments, const cli_analysis *a)
{
    return (lw_linear_desc){.time = a->time,
                            .q = a->q,
                            .v = a->v,
                            .inputs = a->inputs,
                            .states = a->states,
                            .independent = arguments->independent,
                            .outputs = arguments->outputs};
}

const char *cli_analysis_state(const cli_analysis *analysis)
{
    static const char *const text[] = {[LW_STABLE] = "the stable equilibrium",
                                       [LW_INDIFFERENT] = "the indifferent equilibrium",
                                       [LW_UNSTABLE] = "the unstable equilibrium"};
    if (analysis->balanced) return text[analysis->equilibrium.stability];
    return analysis->q ? "the state of --initial" : "the start";
}

void cli_print_state(const cli_analysis *a, const lw_linear *linear)
{
    double largest = 0;
    printf("about        %s\n", cli_analysis_state(a));
    if (a->balanced) return;
    for (int i = 0; i < lw_linear_dof(linear); i++)
        largest = fmax(largest, fabs(lw_linear_accelerations(linear)[i]));
    printf("             accelerations there up to %.3g (0: equilibrium)\n", largest);
}

// Names of functions of a type, ", ..." after the third; their number.
static int names_of(const lw_model *model, lw_function_type a, lw_function_type b, char *text,
                    size_t size)
{
    int n = 0;
    text[0] = 0;
    for (int i = 0; i < lw_model_function_count(model); i++) {
        const lw_function_info f = lw_model_function(model, i);
        const size_t used = strlen(text);
        if ((f.type != a && f.type != b) || n++ > 3) continue;
        snprintf(text + used, size - used, "%s%.60s", n > 1 ? ", " : "", n > 3 ? "..." : f.name);
    }
    return n;
}

void cli_analysis_leaves_out(const lw_model *model, bool states)
{
    char names[300];
    const int events = lw_model_event_count(model),
              held = names_of(model, LW_FUNCTION_SWITCH, LW_FUNCTION_RELAY, names, sizeof names);
    const int n = lw_model_signal_states(model);
    if (states && n > held)
        cli_complain(
            CLI_DONE,
            "note: %d state%s of signals (integrals, lags, controllers) keep%s the value of "
            "the start",
            n - held, n - held == 1 ? "" : "s", n - held == 1 ? "s" : "");
    if (held) cli_complain(CLI_DONE, "note: switches and relays keep their values: %s", names);
    if (events)
        cli_complain(CLI_DONE, "note: %d event%s left out: they are those of runs", events,
                     events == 1 ? " is" : "s are");
}

void cli_analysis_warn(const lw_equilibrium *e)
{
    if (e->friction)
        cli_complain(
            CLI_DONE,
            "note: %d joint%s dry friction, which is zero at rest: positions near the equilibrium "
            "may be held by it",
            e->friction, e->friction == 1 ? " has" : "s have");
    if (e->relative)
        cli_complain(CLI_DONE, "note: drives move: the equilibrium is relative to them");
}
