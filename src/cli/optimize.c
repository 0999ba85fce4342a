// optimize.c -- linkwork optimize: parameters of the model's file that minimise a measure of a run, under constraints, or
// that fit rows of data.  The search is that of minimize.c or least_squares.c; here are the problem, its evaluations, the
// report and the model that is written.
#include "cli/optimize.h"

#include "cli/stopwatch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVALUATIONS = 200 };     // evaluations, if --evaluations is not given
#define TOLERANCE_FEASIBLE 1e-6 // of a constraint, relative to its bound

// --------------------------------------------------------------------------------------- evaluation

static int progressed(void *user, double time, double end)
{
    (void)time;
    (void)end;
    return cli_is_stopped(user);
}

double optimize_objective(const optimization *o)
{
    double sum = 0;
    if (!o->data) return o->sign * o->value[0];
    for (int i = 0; i < o->m; i++) sum += o->value[i] * o->value[i];
    return sum;
}

double optimize_violation(const optimization *o, int k)
{
    const constraint *c = &o->constraint[k];
    const double over = o->value[1 + k] - c->bound;
    return c->sign == '>' ? -over : over;
}

// The largest violation, relative to its bound.
static double violation(const optimization *o)
{
    double largest = 0;
    for (int k = 0; k < o->nconstraint; k++) {
        const double bound = o->constraint[k].bound, over = optimize_violation(o, k);
        largest = fmax(largest, (o->constraint[k].sign == '=' ? fabs(over) : over) /
                                    (bound != 0 ? fabs(bound) : 1));
    }
    return largest;
}

// What is printed: the measure, or the root mean square of the residuals.
static double shown(const optimization *o, double objective)
{
    return o->data ? sqrt(objective / o->m) : o->sign * objective;
}

static bool is_better(const optimization *o, double objective, double off)
{
    const bool meets = off <= TOLERANCE_FEASIBLE, met = o->best_violation <= TOLERANCE_FEASIBLE;
    if (isnan(o->best_objective)) return true;
    if (meets != met) return meets;
    return meets ? objective < o->best_objective : off < o->best_violation;
}

static void print_evaluation(const optimization *o)
{
    const evaluation *e = &o->table[o->nevaluation - 1];
    if (o->arguments->json || o->arguments->quiet) return;
    printf("%10d %8ld", o->nevaluation, e->runs);
    if (isnan(e->objective))
        printf("  infeasible: %s\n", e->failure);
    else if (o->nconstraint)
        printf(" %18.10g %12.3g\n", shown(o, e->objective), e->violation);
    else
        printf(" %18.10g\n", shown(o, e->objective));
    fflush(stdout);
}

static void record(optimization *o)
{
    evaluation *e = &o->table[o->nevaluation++];
    *e = (evaluation){.objective = NAN, .violation = NAN, .runs = lw_response_runs(o->response)};
    o->nfailed += o->infeasible;
    if (o->infeasible) {
        snprintf(e->failure, sizeof e->failure, "%.255s", o->error.text);
    } else {
        e->objective = optimize_objective(o), e->violation = violation(o);
        if (is_better(o, e->objective, e->violation)) {
            o->best_objective = e->objective, o->best_violation = e->violation;
            memcpy(o->best, o->t, (size_t)o->n * sizeof *o->best);
            memcpy(o->best_value, o->value, (size_t)o->m * sizeof *o->best_value);
        }
    }
    print_evaluation(o);
}

static void scale_back(const optimization *o, const double *t, double *x)
{
    for (int k = 0; k < o->n; k++) {
        const double at = o->lower[k] + t[k] * (o->upper[k] - o->lower[k]);
        x[k] = fmin(o->upper[k], fmax(o->lower[k], at));
    }
}

bool optimize_evaluate(optimization *o, const double *t, bool jacobian)
{
    const bool same = o->has_value && !memcmp(t, o->t, (size_t)o->n * sizeof *t);
    if (o->reason) return false;
    if (same && (o->infeasible || o->has_jacobian || !jacobian)) return true;
    if (!same && o->nevaluation == o->limit) {
        o->reason = "the number of evaluations is reached";
        return false;
    }
    memcpy(o->t, t, (size_t)o->n * sizeof *t);
    scale_back(o, t, o->x);
    const lw_status status =
        lw_response_evaluate(o->response, o->x, o->value, jacobian ? o->jacobian : NULL, &o->error);
    o->has_value = true;
    o->has_jacobian = jacobian && status == LW_OK;
    o->infeasible = lw_response_infeasible(status);
    if (status != LW_OK && !o->infeasible) {
        o->status = status;
        o->has_value = false;
        o->reason = status == LW_ERR_INTERRUPTED ? "stopped" : "failed";
        return false;
    }
    o->replaced += o->has_jacobian && lw_response_gradient(o->response) == LW_GRADIENT_DIFFERENCES;
    if (!same) record(o);
    return true;
}

// ------------------------------------------------------------------------------------------ problem

// name: NULL: there is none
static lw_parameter_info find_parameter(const lw_model *model, const char *name)
{
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        const lw_parameter_info p = lw_model_parameter_at(model, i);
        if (!strcmp(p.name, name)) return p;
    }
    return (lw_parameter_info){0};
}

// "NAME=FROM:TO", with units: a design of its two ends.
static cli_exit read_range(optimization *o, int k, const char *text)
{
    char name[300], ends[600];
    const char *equals = strchr(text, '='), *colon = equals ? strchr(equals, ':') : NULL;
    lw_table *table = NULL;
    lw_error error = {0};
    if (!colon || strchr(colon + 1, ':') || equals == text || equals - text >= (int)sizeof name ||
        strlen(text) + 3 > sizeof ends)
        return cli_complain(CLI_USE, "--vary %s: expected NAME=FROM:TO", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    const lw_parameter_info p = find_parameter(o->model, name);
    if (!p.name) {
        if (lw_vary_check(o->model, name, &error) != LW_OK)
            return cli_complain(CLI_USE, "--vary %s: %s", text, error.text);
        return cli_complain(
            CLI_USE, "--vary %s: expected a name under `parameters:` of the model's file", text);
    }
    o->by[k] = p.name;
    o->start[k] = p.value / p.unit_value;
    snprintf(ends, sizeof ends, "%s:2", text);
    const char *const vary[] = {ends};
    if (lw_design_create(o->model, &(lw_design_desc){.nvary = 1, .vary = vary}, &table, &error))
        return cli_complain(CLI_USE, "--%s", error.text);
    o->lower[k] = lw_table_values(table)[0], o->upper[k] = lw_table_values(table)[1];
    lw_table_free(table);
    if (!(o->lower[k] < o->upper[k]))
        return cli_complain(CLI_USE, "--vary %s: expected a range, its first end below the second",
                            text);
    if (!(o->start[k] >= o->lower[k] && o->start[k] <= o->upper[k]))
        return cli_complain(CLI_USE,
                            "--vary %s: the search begins at the value of the model, %g, which is "
                            "not in this range; expected another range, or --set %s=VALUE",
                            text, o->start[k], name);
    return CLI_DONE;
}

static cli_exit read_ranges(optimization *o)
{
    const size_t n = (size_t)o->arguments->nvary;
    cli_exit code = CLI_DONE;
    if (n == 0)
        return cli_complain(CLI_USE, "optimize: what may change? --vary NAME=FROM:TO, repeatable, "
                                     "with names of `parameters:`");
    o->n = (int)n;
    o->by = calloc(n, sizeof *o->by);
    o->lower = calloc(8 * n, sizeof *o->lower);
    if (!o->by || !o->lower) return cli_complain(CLI_FAILED, "no memory");
    o->upper = o->lower + n, o->start = o->upper + n, o->t = o->start + n, o->x = o->t + n;
    o->best = o->x + n, o->work = o->best + n, o->deviation = o->work + n;
    for (int k = 0; k < o->n && !code; k++) code = read_range(o, k, o->arguments->vary[k]);
    for (int k = 0; k < o->n && !code; k++) {
        o->work[k] = (o->start[k] - o->lower[k]) / (o->upper[k] - o->lower[k]);
        o->deviation[k] = NAN;
    }
    return code;
}

// "load.max <= 30"
static cli_exit read_constraint(const char *text, constraint *c)
{
    const size_t n = strcspn(text, "<>=");
    const char *at = text + n;
    size_t end = n;
    while (end > 0 && text[end - 1] == ' ') end--;
    c->text = text;
    c->sign = *at;
    if ((*at == '<' || *at == '>') && at[1] != '=')
        return cli_complain(CLI_USE,
                            "--subject-to '%s': a minimum may be on the bound itself; expected %c= "
                            "in place of %c",
                            text, *at, *at);
    if (*at) at += *at != '=' ? 2 : 1;
    if (*at == '=') at++; // ==
    while (*at == ' ') at++;
    if (!c->sign || end == 0 || end >= sizeof c->name || !lw_number_read(at, &c->bound))
        return cli_complain(CLI_USE,
                            "--subject-to '%s': expected MEASURE <= NUMBER, >= or =, the number in "
                            "the unit of the measure",
                            text);
    snprintf(c->name, sizeof c->name, "%.*s", (int)end, text);
    return CLI_DONE;
}

// Weights of --fit: "joint.A.q0=10,..."
static cli_exit read_weights(optimization *o)
{
    const int columns = lw_result_column_count(o->data);
    const char *list = o->arguments->weights ? o->arguments->weights : "";
    char *text = malloc(strlen(list) + 1);
    cli_exit code = CLI_DONE;
    o->weight = malloc((size_t)columns * sizeof *o->weight);
    if (!text || !o->weight) {
        free(text);
        return cli_complain(CLI_FAILED, "no memory");
    }
    for (int i = 0; i < columns; i++) o->weight[i] = 1;
    strcpy(text, list);
    for (char *item = strtok(text, ","); item && !code; item = strtok(NULL, ",")) {
        char *value = strrchr(item, '=');
        double weight;
        int column;
        lw_error error = {0};
        if (value) *value++ = 0;
        if (!value || !lw_number_read(value, &weight) || weight < 0)
            code = cli_complain(CLI_USE,
                                "--weights %s: expected COLUMN=NUMBER, from 0 on, with commas "
                                "between",
                                item);
        else if (lw_result_find_column(o->data, item, &column, &error) != LW_OK)
            code = cli_complain(CLI_USE, "--weights: %s", error.text);
        else
            o->weight[column] = weight;
    }
    free(text);
    return code;
}

static const char *const gradient_names[] = {[LW_GRADIENT_AUTO] = "auto",
                                             [LW_GRADIENT_DIFFERENCES] = "differences",
                                             [LW_GRADIENT_ADJOINT] = "adjoint",
                                             [LW_GRADIENT_FORWARD] = "forward"};

static cli_exit read_gradient(optimization *o)
{
    const char *name = o->arguments->method ? o->arguments->method : "auto";
    for (int i = 0; i < 4; i++)
        if (!strcmp(name, gradient_names[i])) {
            o->gradient = (lw_gradient)i;
            return CLI_DONE;
        }
    return cli_complain(CLI_USE, "--method %s: expected auto, differences, adjoint or forward",
                        name);
}

static cli_exit read_goal(optimization *o)
{
    const cli_arguments *a = o->arguments;
    cli_exit code = CLI_DONE;
    if (!!a->minimize + !!a->maximize + !!a->fit != 1)
        return cli_complain(CLI_USE, "optimize: what is sought? Expected one of --minimize "
                                     "MEASURE, --maximize MEASURE, --fit TABLE");
    o->sign = a->maximize ? -1 : 1;
    if (a->fit && (a->nsubject || a->algorithm))
        return cli_complain(CLI_USE, "--fit has no %s: expected --minimize with it",
                            a->nsubject ? "--subject-to" : "--algorithm");
    if (!a->fit && a->weights)
        return cli_complain(CLI_USE, "--weights are those of columns of --fit");
    for (int k = 0; k < a->nsubject && !code; k++)
        code = read_constraint(a->subject[k], &o->constraint[o->nconstraint++]);
    if (!code) code = read_gradient(o);
    if (!code && !a->fit) code = optimize_check_algorithm(o);
    for (int i = 0; i < a->noutput && !code; i++)
        if (!cli_ends_in(a->output[i], ".yaml") && !cli_ends_in(a->output[i], ".yml"))
            code = cli_complain(CLI_USE, "%s: models are written as .yaml", a->output[i]);
    return code;
}

static cli_exit read_data(optimization *o)
{
    lw_error error = {0};
    const lw_status status = lw_result_open(o->arguments->fit, &o->data, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    return read_weights(o);
}

static cli_exit create_response(optimization *o)
{
    const char *wanted[1 + CLI_MAX];
    lw_error error = {0};
    wanted[0] = o->arguments->minimize ? o->arguments->minimize : o->arguments->maximize;
    for (int k = 0; k < o->nconstraint; k++) wanted[1 + k] = o->constraint[k].name;
    const lw_response_desc desc = {.options = &o->options,
                                   .nby = o->n,
                                   .by = o->by,
                                   .lower = o->lower,
                                   .upper = o->upper,
                                   .nwanted = o->data ? 0 : 1 + o->nconstraint,
                                   .wanted = wanted,
                                   .data = o->data,
                                   .weight = o->weight,
                                   .gradient = o->gradient,
                                   .progress = progressed};
    const lw_status status = lw_response_create(o->model, &desc, &o->response, &error);
    if (status == LW_ERR_ARGUMENT || status == LW_ERR_UNSUPPORTED)
        return cli_complain(CLI_USE, "optimize: %s", error.text);
    if (status != LW_OK) return cli_fail(status, &error);
    o->m = lw_response_count(o->response);
    const size_t m = (size_t)o->m;
    o->limit = o->arguments->evaluations ? o->arguments->evaluations : EVALUATIONS;
    o->table = malloc((size_t)o->limit * sizeof *o->table);
    o->value = malloc(m * (2 + (size_t)o->n) * sizeof *o->value);
    if (!o->table || !o->value) return cli_complain(CLI_FAILED, "no memory");
    o->best_value = o->value + m, o->jacobian = o->best_value + m;
    o->best_objective = o->best_violation = NAN;
    return CLI_DONE;
}

// ------------------------------------------------------------------------------------------- report

static const char *objective_name(const optimization *o)
{
    return o->data ? "residual" : lw_response_name(o->response, 0);
}

static const char *gradient_name(const optimization *o)
{
    const lw_gradient used = lw_response_gradient(o->response);
    return gradient_names[used == LW_GRADIENT_AUTO ? LW_GRADIENT_DIFFERENCES : used]; // none yet
}

static const char *algorithm_name(const optimization *o)
{
    return o->data ? "levenberg-marquardt" : optimize_algorithm(o);
}

static const char *unit_of(const optimization *o, int k)
{
    return find_parameter(o->model, o->by[k]).unit;
}

static void print_head(const optimization *o)
{
    if (o->arguments->json || o->arguments->quiet) return;
    printf("model        %s\n", o->arguments->operand);
    if (o->data)
        printf("fit          %s: %ld rows, %d residuals\n", o->arguments->fit,
               lw_result_row_count(o->data), o->m);
    else
        printf("%s     %s [%s]\n", o->sign < 0 ? "maximize" : "minimize", objective_name(o),
               lw_response_unit(o->response, 0));
    for (int k = 0; k < o->nconstraint; k++)
        printf("subject to   %s [%s]\n", o->constraint[k].text,
               lw_response_unit(o->response, 1 + k));
    printf("algorithm    %s; %d parameter%s\n\n", algorithm_name(o), o->n, o->n > 1 ? "s" : "");
    printf("%10s %8s %18s", "evaluation", "runs", o->data ? "rms of residuals" : "objective");
    printf(o->nconstraint ? " %12s\n" : "\n", "violation");
    fflush(stdout);
}

static void print_report(const optimization *o, double seconds)
{
    printf("\nend          %s\n", o->reason);
    printf("objective    %.10g, at the start %.10g\n", shown(o, o->best_objective),
           shown(o, o->table[0].objective));
    for (int k = 0; k < o->nconstraint; k++)
        printf("             %s = %.10g\n", lw_response_name(o->response, 1 + k),
               o->best_value[1 + k]);
    printf("effort       %d designs, %d infeasible; %ld runs, gradient by %s; %.3g s\n",
           o->nevaluation, o->nfailed, lw_response_runs(o->response), gradient_name(o), seconds);
    printf("\n%-20s %18s %18s", "parameter", "start", "end");
    printf(o->data ? " %12s\n" : "\n", "deviation");
    for (int k = 0; k < o->n; k++) {
        printf("%-20s %18.10g %18.10g", o->by[k], o->start[k], o->x[k]);
        if (o->data && isfinite(o->deviation[k])) printf(" %12.3g", o->deviation[k]);
        if (o->data && isnan(o->deviation[k])) printf(" %12s", "unknown");
        printf(" %s%s\n", unit_of(o, k),
               o->best[k] <= 0   ? "  at the lower end of its range"
               : o->best[k] >= 1 ? "  at the upper end of its range"
                                 : "");
    }
    if (o->data && o->converged && isnan(o->deviation[0]) && o->best[0] > 0 && o->best[0] < 1)
        printf("note         these rows do not determine the parameters: others fit as well\n");
    for (int i = 0; i < o->arguments->noutput; i++)
        printf("written      %s\n", o->arguments->output[i]);
}

static void json_evaluations(cli_json *json, const optimization *o)
{
    json_open(json, "evaluations", '[');
    for (int i = 0; i < o->nevaluation; i++) {
        const evaluation *e = &o->table[i];
        json_open(json, NULL, '{');
        json_integer(json, "runs", e->runs);
        json_number(json, "objective", shown(o, e->objective));
        json_number(json, "violation", e->violation);
        if (e->failure[0]) json_text(json, "failure", e->failure);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_parameters(cli_json *json, const optimization *o)
{
    json_open(json, "parameters", '{');
    for (int k = 0; k < o->n; k++) {
        json_open(json, o->by[k], '{');
        json_number(json, "start", o->start[k]);
        json_number(json, "end", o->x[k]);
        json_number(json, "lower", o->lower[k]);
        json_number(json, "upper", o->upper[k]);
        json_text(json, "unit", unit_of(o, k));
        if (o->data) json_number(json, "deviation", o->deviation[k]);
        json_close(json, '}');
    }
    json_close(json, '}');
}

static void json_report(const optimization *o, double seconds)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", o->arguments->operand);
    json_text(&json, "objective", objective_name(o));
    json_text(&json, "algorithm", algorithm_name(o));
    json_text(&json, "gradient", gradient_name(o));
    json_bool(&json, "converged", o->converged);
    json_text(&json, "end", o->reason);
    json_number(&json, "start_objective", shown(o, o->table[0].objective));
    json_number(&json, "end_objective", shown(o, o->best_objective));
    json_open(&json, "constraints", '{');
    for (int k = 0; k < o->nconstraint; k++)
        json_number(&json, o->constraint[k].text, o->best_value[1 + k]);
    json_close(&json, '}');
    json_parameters(&json, o);
    json_integer(&json, "runs", lw_response_runs(o->response));
    json_number(&json, "seconds", seconds);
    json_evaluations(&json, o);
    json_close(&json, '}');
}

// The file with the parameters of the best design.
static cli_exit write_model(const optimization *o)
{
    FILE *file = NULL;
    lw_error error = {0};
    lw_model *made = NULL;
    if (!o->arguments->noutput) return CLI_DONE;
    char(*text)[340] = malloc((size_t)o->n * sizeof *text);
    const char **set = malloc((size_t)o->n * sizeof *set);
    lw_status status = text && set ? LW_OK : LW_ERR_MEMORY;
    for (int k = 0; status == LW_OK && k < o->n; k++) {
        snprintf(text[k], sizeof text[k], "%.300s=%.17g", o->by[k], o->x[k]);
        set[k] = text[k];
    }
    if (status == LW_OK) status = lw_model_remake(o->model, set, o->n, NULL, &made, &error);
    cli_exit code = status == LW_OK ? cli_open(o->arguments, &file) : cli_fail(status, &error);
    if (!code) {
        status =
            lw_model_write(made, cli_has_settings(&o->options) ? &o->options : NULL, file, &error);
        code = cli_close(o->arguments, file, status == LW_OK);
        if (!code && status != LW_OK) code = cli_fail(status, &error);
    }
    lw_model_destroy(made);
    free(set);
    free(text);
    return code;
}

static cli_exit finish(optimization *o, double seconds)
{
    if (o->nevaluation && o->table[0].failure[0])
        return cli_complain(CLI_FAILED,
                            "%s: the search begins at the values of the model, and there is no run "
                            "with them: %s",
                            o->arguments->operand, o->table[0].failure);
    if (isnan(o->best_objective)) return cli_fail(o->status, &o->error);
    scale_back(o, o->best, o->x);
    cli_exit code = write_model(o);
    if (!code && o->arguments->json)
        json_report(o, seconds);
    else if (!code && !o->arguments->quiet)
        print_report(o, seconds);
    if (!code && o->status != LW_OK)
        code = o->status == LW_ERR_INTERRUPTED ? cli_complain(CLI_FAILED, "stopped")
                                               : cli_fail(o->status, &o->error);
    if (!code && o->best_violation > TOLERANCE_FEASIBLE)
        code = cli_complain(CLI_FAILED,
                            "no design meets all of --subject-to; the best one violates them by "
                            "%.3g of a bound",
                            o->best_violation);
    return code;
}

static void warn_of_gradient(const optimization *o)
{
    const bool forced = o->gradient == LW_GRADIENT_ADJOINT || o->gradient == LW_GRADIENT_FORWARD;
    if (!forced || o->replaced == 0 || o->arguments->quiet) return;
    fprintf(stderr,
            "warning: --method %s: %d gradient%s by differences, where this method has none (it "
            "varies parameters by 0.2 %% of their values, which may leave the range in the file)\n",
            o->arguments->method, o->replaced, o->replaced > 1 ? "s are" : " is");
}

cli_exit cli_optimize(const cli_arguments *arguments)
{
    optimization *o = calloc(1, sizeof *o);
    if (!o) return cli_complain(CLI_FAILED, "no memory");
    o->arguments = arguments;
    cli_exit code = read_goal(o);
    if (!code) code = cli_read(arguments, &o->model, &o->options);
    if (!code) code = read_ranges(o);
    if (!code && arguments->fit) code = read_data(o);
    if (!code) code = create_response(o);
    if (!code) {
        const double began = stopwatch_wall();
        cli_catch_signals();
        print_head(o);
        code = o->data ? optimize_fit(o) : optimize_minimize(o);
        warn_of_gradient(o);
        if (!code) code = finish(o, stopwatch_wall() - began);
    }
    lw_response_destroy(o->response);
    lw_result_close(o->data);
    lw_model_destroy(o->model);
    free(o->weight);
    free(o->table);
    free(o->value);
    free(o->by);
    free(o->lower);
    free(o);
    return code;
}
