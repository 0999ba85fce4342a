// plot.c -- linkwork plot: pictures of results, of a mechanism, of its elimination tree.
#include "cli/cli.h"

#include <string.h>

static cli_exit read_options(const cli_arguments *arguments, lw_plot_options *options)
{
    lw_error error = {0};
    *options = (lw_plot_options){0};
    for (int i = 0; i < arguments->nsetting; i++) {
        const lw_status status =
            lw_plot_set(options, arguments->setting[i].key, arguments->setting[i].value, &error);
        if (status != LW_OK) return cli_fail(status, &error);
    }
    if (arguments->noutput == 1) return CLI_DONE;
    return cli_complain(CLI_USE, "plot writes one file, .svg, .png or .pdf: -o FILE is %s",
                        arguments->noutput ? "given more than once" : "missing");
}

static cli_exit open_result(const char *path, lw_result **result)
{
    lw_error error = {0};
    const lw_status status = lw_result_open(path, result, &error);
    if (status == LW_OK) return CLI_DONE;
    if (status == LW_ERR_PARSE && !cli_ends_in(path, ".h5") && !cli_ends_in(path, ".csv"))
        return cli_complain(
            CLI_INPUT,
            "plot: '%s' is not a result of a run (.h5, .csv); the mechanism of a model is drawn "
            "with --initial",
            path);
    cli_fail(status, &error);
    return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
}

// Prints the numbers of preset work-precision.
static cli_exit print_precision(const cli_arguments *arguments, lw_result *const *result,
                                const lw_plot_options *options)
{
    lw_precision row[CLI_MAX];
    lw_error error = {0};
    const int n = arguments->noperand;
    const lw_status status =
        lw_work_precision(result, arguments->operands, n, options->reference, row, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    cli_json json = {.file = stdout};
    if (arguments->json) {
        json_open(&json, NULL, '{');
        json_open(&json, "results", '[');
    } else {
        printf("%-32s%-24s%12s%12s%14s%14s\n", "", "", "tolerance", "error", "evaluations",
               "time [s]");
    }
    for (int i = 0; i < n; i++) {
        if (!arguments->json) {
            printf("%-32s%-24s%12.1e%12.2e%14ld%14.4g%s\n", arguments->operands[i], row[i].method,
                   row[i].tolerance, row[i].error, row[i].evaluations, row[i].wall,
                   row[i].reference ? "  reference" : "");
            continue;
        }
        json_open(&json, NULL, '{');
        json_text(&json, "name", arguments->operands[i]);
        json_text(&json, "method", row[i].method);
        json_number(&json, "tolerance", row[i].tolerance);
        json_number(&json, "error", row[i].error);
        json_integer(&json, "evaluations", row[i].evaluations);
        json_integer(&json, "steps", row[i].steps);
        json_number(&json, "wall", row[i].wall);
        json_integer(&json, "reference", row[i].reference);
        json_close(&json, '}');
    }
    if (!arguments->json) return CLI_DONE;
    json_close(&json, ']');
    json_close(&json, '}');
    return CLI_DONE;
}

static cli_exit plot_results(const cli_arguments *arguments, const lw_plot_options *options)
{
    lw_result *result[CLI_MAX] = {0};
    lw_error error = {0};
    cli_exit code = CLI_DONE;
    for (int i = 0; i < arguments->noperand && !code; i++)
        code = open_result(arguments->operands[i], &result[i]);
    if (!code) {
        const lw_status status = lw_plot_results(result, arguments->operands, arguments->noperand,
                                                 options, arguments->output[0], &error);
        if (status != LW_OK) code = cli_fail_file(status, &error);
    }
    if (!code && options->preset == LW_PLOT_WORK_PRECISION)
        code = print_precision(arguments, result, options);
    else if (!code && arguments->json)
        code = cli_complain(CLI_USE, "plot --json prints the numbers of --preset work-precision");
    for (int i = 0; i < arguments->noperand; i++) lw_result_close(result[i]);
    return code;
}

// ------------------------------------------------------------------------------------- mechanism

// Reads a model; options of runs in the file are ignored.
static cli_exit read_model(const cli_arguments *arguments, lw_model **model)
{
    lw_options unused;
    cli_arguments reading = *arguments;
    reading.nsetting = 0; // they are options of the picture
    return cli_read(&reading, model, &unused);
}

static cli_exit draw_plan(const cli_arguments *arguments, const lw_plot_options *options)
{
    lw_model *model = NULL;
    lw_error error = {0};
    cli_exit code = read_model(arguments, &model);
    if (!code) {
        const lw_status status = lw_plot_plan(model, options, arguments->output[0], &error);
        code = status == LW_OK ? CLI_DONE : cli_fail_file(status, &error);
    }
    lw_model_destroy(model);
    return code;
}

static cli_exit draw_mechanism(const cli_arguments *arguments, const lw_model *model,
                               lw_result *result, const lw_plot_options *options)
{
    lw_error error = {0};
    const lw_status status =
        lw_plot_mechanism(model, result, options, arguments->output[0], &error);
    return status == LW_OK ? CLI_DONE : cli_fail_file(status, &error);
}

// The mechanism of a result, from the model in its file.
static cli_exit draw_of_result(const cli_arguments *arguments, const lw_plot_options *options)
{
    static const lw_read_desc native = {.format = "yaml"};
    lw_result *result = NULL;
    lw_model *model = NULL;
    lw_error error = {0};
    cli_exit code = open_result(arguments->operand, &result);
    if (code) return code;
    const char *text = lw_result_model(result);
    if (!text) {
        code =
            cli_complain(CLI_INPUT,
                         "%s: has no model (CSV holds numbers only); name the model's file or an "
                         ".h5 result",
                         arguments->operand);
    } else {
        const lw_status status =
            lw_model_parse(text, strlen(text), arguments->operand, &native, &model, NULL, &error);
        code = status == LW_OK ? draw_mechanism(arguments, model, result, options)
                               : cli_fail(status, &error);
    }
    lw_model_destroy(model);
    lw_result_close(result);
    return code;
}

static cli_exit draw_of_model(const cli_arguments *arguments, const lw_plot_options *options)
{
    lw_model *model = NULL;
    cli_exit code = read_model(arguments, &model);
    if (!code) code = draw_mechanism(arguments, model, NULL, options);
    lw_model_destroy(model);
    return code;
}

// The error of a file that is no table: of an HDF5 file only where it is no result either.
static cli_exit fail_table(const char *path, bool hdf5, lw_status status, const lw_error *error)
{
    lw_result *result;
    lw_error other = {0};
    if (!hdf5) return cli_fail(status, error);
    if (lw_result_open(path, &result, &other) == LW_OK) {
        lw_result_close(result);
        return CLI_DONE;
    }
    if (!strcmp(other.text, error->text)) return cli_fail(status, error);
    return cli_complain(CLI_FAILED, "%s: no result: %s; no table of a study: %s", path, other.text,
                        error->text);
}

// A table of a study has no column `time`: CSV by its first column, HDF5 because results have groups.
static bool read_table(const cli_arguments *arguments, lw_table **table, cli_exit *code)
{
    const char *path = arguments->operand;
    char head[sizeof "time," - 1] = "";
    lw_error error = {0};
    const bool hdf5 = cli_ends_in(path, ".h5");
    FILE *file = hdf5 || cli_ends_in(path, ".csv") ? fopen(path, "r") : NULL;
    const size_t n = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    if (n == 0 || (hdf5 ? memcmp(head, "\x89HDF", 4) != 0 : !strncmp(head, "time,", sizeof head)))
        return false;
    const lw_status status = lw_table_read_study(path, table, &error);
    if (status != LW_OK) *code = fail_table(path, hdf5, status, &error);
    return status == LW_OK;
}

static cli_exit plot_table(const cli_arguments *arguments, lw_table *table,
                           const lw_plot_options *options)
{
    const char *slash = strrchr(arguments->operand, '/');
    lw_error error = {0};
    cli_exit code = CLI_DONE;
    if (arguments->noperand > 1)
        code = cli_complain(CLI_USE, "plot: %s is a table, '%s' is one argument too many",
                            arguments->operand, arguments->operands[1]);
    if (!code) {
        const lw_status status = lw_plot_table(table, slash ? slash + 1 : arguments->operand,
                                               options, arguments->output[0], &error);
        if (status != LW_OK) code = cli_fail_file(status, &error);
    }
    lw_table_free(table);
    return code;
}

static cli_exit draw(const cli_arguments *arguments, const lw_plot_options *options)
{
    lw_table *table = NULL;
    cli_exit code = CLI_DONE;
    if (!options->initial && !options->plan && read_table(arguments, &table, &code))
        return plot_table(arguments, table, options);
    if (code) return code;
    if (!options->initial && !options->plan) return plot_results(arguments, options);
    if (arguments->noperand > 1)
        return cli_complain(CLI_USE, "plot --%s: '%s' is one argument too many",
                            options->plan ? "plan" : "initial", arguments->operands[1]);
    if (options->plan) return draw_plan(arguments, options);
    const bool result =
        cli_ends_in(arguments->operand, ".h5") || cli_ends_in(arguments->operand, ".csv");
    return result ? draw_of_result(arguments, options) : draw_of_model(arguments, options);
}

cli_exit cli_plot(const cli_arguments *arguments)
{
    lw_plot_options options;
    cli_arguments drawing = *arguments;
    cli_exit code = read_options(arguments, &options);
    if (!code) code = cli_begin_file(arguments, &drawing.output[0]);
    if (code) return code;
    code = draw(&drawing, &options);
    const cli_exit ended = cli_end_file(arguments, !code);
    return code ? code : ended;
}
