// sensitivity.c -- linkwork sensitivity: derivatives of the results of a run by parameters of the model's file.
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 }; // parameters

typedef struct names {
    char *text;
    const char *name[MOST];
    int n;
} names;

static cli_exit split(const char *list, names *of)
{
    if (!list)
        return cli_complain(CLI_USE,
                            "sensitivity: by what? --by A,B,... with names of `parameters:`");
    of->text = malloc(strlen(list) + 1);
    if (!of->text) return cli_complain(CLI_FAILED, "no memory");
    strcpy(of->text, list);
    for (char *at = of->text; at;) {
        char *comma = strchr(at, ',');
        if (comma) *comma = 0;
        if (of->n == MOST) return cli_complain(CLI_USE, "--by: more than %d parameters", MOST);
        of->name[of->n++] = at;
        at = comma ? comma + 1 : NULL;
    }
    return CLI_DONE;
}

static cli_exit read_statistic(const char *text, lw_statistic *which)
{
    *which = LW_STATISTIC_LAST;
    for (int i = 0; text && i < LW_STATISTIC_COUNT; i++)
        if (!strcmp(text, lw_statistic_name((lw_statistic)i))) {
            *which = (lw_statistic)i;
            return CLI_DONE;
        }
    if (!text) return CLI_DONE;
    return cli_complain(CLI_USE, "--statistic %s: expected last, mean, rms, min or max", text);
}

enum { METHODS = LW_SENSITIVITY_FORWARD + 1 };
static const char *const methods[METHODS] = {
    [LW_SENSITIVITY_DIFFERENCES] = "differences",
    [LW_SENSITIVITY_ADJOINT] = "adjoint",
    [LW_SENSITIVITY_FORWARD] = "forward",
};

static cli_exit read_method(const char *text, lw_sensitivity_method *method)
{
    *method = LW_SENSITIVITY_DIFFERENCES;
    for (int i = 0; text && i < METHODS; i++)
        if (!strcmp(methods[i], text)) {
            *method = (lw_sensitivity_method)i;
            return CLI_DONE;
        }
    if (!text) return CLI_DONE;
    return cli_complain(CLI_USE, "--method %s: expected differences, adjoint or forward", text);
}

// Unit of a parameter in the file.
static const char *unit_of(const lw_model *model, const char *name)
{
    for (int i = 0; i < lw_model_parameter_count(model); i++) {
        const lw_parameter_info p = lw_model_parameter_at(model, i);
        if (!strcmp(p.name, name)) return p.unit;
    }
    return "";
}

// Does the name end in the statistic?
static bool is_named(const lw_sensitivity *s, int column)
{
    const char *name = lw_sensitivity_column(s, column).name, *dot = strrchr(name, '.');
    return dot && !strcmp(dot + 1, lw_statistic_name(lw_sensitivity_statistic(s, column)));
}

static void print_column(const lw_model *model, const lw_sensitivity *s, int column)
{
    const lw_column_info info = lw_sensitivity_column(s, column);
    const lw_statistic which = lw_sensitivity_statistic(s, column);
    const bool named = is_named(s, column);
    printf("\n%s%s%s = %.12g %s\n", named ? "" : lw_statistic_name(which), named ? "" : " ",
           info.name, lw_sensitivity_value(s, column, which), info.unit);
    for (int k = 0; k < lw_sensitivity_parameters(s); k++) {
        double error;
        const char *name = lw_sensitivity_parameter(s, k), *unit = unit_of(model, name);
        const double slope = lw_sensitivity_at(s, k, column, which, &error);
        printf("  by %-20s %20.12g %s%s%s", name, slope, info.unit, *unit ? " / " : "", unit);
        if (isfinite(slope) && isfinite(error))
            printf("   (error below %.1g)\n", error);
        else if (isfinite(slope))
            printf("\n");
        else
            printf("   %s\n", lw_sensitivity_failure(s, k));
    }
}

static void print_json(const cli_arguments *arguments, const lw_sensitivity *s, lw_statistic which,
                       lw_sensitivity_method method)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "statistic", lw_statistic_name(which));
    json_open(&json, "columns", '{');
    for (int c = 0; c < lw_sensitivity_columns(s); c++) {
        const lw_statistic own = lw_sensitivity_statistic(s, c);
        json_open(&json, lw_sensitivity_column(s, c).name, '{');
        json_text(&json, "statistic", lw_statistic_name(own));
        json_number(&json, "value", lw_sensitivity_value(s, c, own));
        json_open(&json, "derivative", '{');
        for (int k = 0; k < lw_sensitivity_parameters(s); k++)
            json_number(&json, lw_sensitivity_parameter(s, k),
                        lw_sensitivity_at(s, k, c, own, NULL));
        json_close(&json, '}');
        json_open(&json, "error", '{');
        for (int k = 0; method == LW_SENSITIVITY_DIFFERENCES && k < lw_sensitivity_parameters(s);
             k++) {
            double error;
            lw_sensitivity_at(s, k, c, own, &error);
            json_number(&json, lw_sensitivity_parameter(s, k), error);
        }
        json_close(&json, '}');
        json_close(&json, '}');
    }
    json_close(&json, '}');
    json_close(&json, '}');
}

static int progressed(void *user, double time, double end)
{
    return cli_progress_step(user, time, end);
}

// Differences need tighter tolerances than a run.
static void print_runs(const lw_sensitivity *s, const lw_options *options, int n)
{
    double rtol, atol;
    lw_sensitivity_tolerances(s, &rtol, &atol);
    printf("runs         %d, rtol %g, atol %g", 1 + 6 * n, rtol, atol);
    if (rtol < options->rtol || atol < options->atol)
        printf(" in place of %g, %g, for their differences", options->rtol, options->atol);
    putchar('\n');
}

static cli_exit differentiate(const cli_arguments *arguments, const lw_model *model,
                              const lw_options *options, const names *by, lw_statistic which,
                              lw_sensitivity_method method)
{
    lw_sensitivity *s = NULL;
    lw_error error = {0};
    const char *columns = strcmp(options->columns, "auto") != 0 ? options->columns : NULL;
    cli_catch_signals();
    cli_progress progress = cli_progress_start(arguments->verb, arguments->quiet, 0);
    const lw_sensitivity_desc desc = {.options = options,
                                      .nby = by->n,
                                      .by = by->name,
                                      .columns =
                                          arguments->observed ? arguments->observed : columns,
                                      .progress = progressed,
                                      .progress_user = &progress,
                                      .method = method,
                                      .statistic = which};
    const lw_status status = lw_sensitivity_create(model, &desc, &s, &error);
    cli_progress_end(&progress);
    if (status == LW_ERR_ARGUMENT || status == LW_ERR_UNSUPPORTED)
        return cli_complain(CLI_USE, "sensitivity: %s", error.text);
    if (status != LW_OK) return cli_fail(status, &error);
    int failed = 0;
    for (int k = 0; k < by->n; k++) failed += *lw_sensitivity_failure(s, k) != 0;
    if (lw_sensitivity_columns(s) == 0) {
        lw_sensitivity_destroy(s);
        if (desc.columns)
            return cli_complain(CLI_USE,
                                "sensitivity: '%s' chooses no column of results but the time",
                                desc.columns);
        return cli_complain(CLI_USE,
                            "sensitivity: of what? The model has no `measures:`; give --watch "
                            "A,B,... with columns of results");
    }
    if (arguments->json) {
        print_json(arguments, s, which, method);
    } else {
        printf("model        %s\n", arguments->operand);
        if (method != LW_SENSITIVITY_DIFFERENCES)
            printf("method       %s\n", methods[method]);
        else
            print_runs(s, options, by->n);
        for (int c = 0; c < lw_sensitivity_columns(s); c++) print_column(model, s, c);
    }
    if (*lw_sensitivity_warning(s) && !arguments->quiet)
        fprintf(stderr, "warning: %s: %s\n", arguments->operand, lw_sensitivity_warning(s));
    lw_sensitivity_destroy(s);
    return failed ? CLI_FAILED : CLI_DONE;
}

cli_exit cli_sensitivity(const cli_arguments *arguments)
{
    names by = {0};
    lw_model *model = NULL;
    lw_options options;
    lw_statistic which;
    lw_sensitivity_method method;
    cli_exit code = split(arguments->by, &by);
    if (!code) code = read_statistic(arguments->statistic, &which);
    if (!code) code = read_method(arguments->method, &method);
    if (!code) code = cli_read(arguments, &model, &options);
    if (!code) code = differentiate(arguments, model, &options, &by, which, method);
    lw_model_destroy(model);
    free(by.text);
    return code;
}
