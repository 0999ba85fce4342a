// convert.c -- linkwork convert: a model of any format as a native file or in a format of robots, a
// result in another format.
#include "cli/rows.h"

#include <string.h>

static void report_omission(void *user, const char *text)
{
    const cli_arguments *arguments = user;
    if (!arguments->quiet) cli_complain(CLI_DONE, "%s: %s", arguments->operand, text);
}

static cli_exit convert_model(const cli_arguments *arguments)
{
    const char *format = arguments->noutput ? lw_model_format_of(arguments->output[0]) : "yaml";
    if (!format)
        return cli_complain(CLI_USE,
                            "%s: models are written as .yaml, trees also as .urdf, .mjcf or .xml",
                            arguments->output[0]);
    if (arguments->noutput > 1) return cli_complain(CLI_USE, "convert of a model writes one file");

    lw_model *model = NULL;
    lw_options options;
    lw_error error = {0};
    FILE *file = NULL;
    cli_exit code = cli_read(arguments, &model, &options);
    if (code) return code;
    code = cli_open(arguments, &file);
    if (!code) {
        const lw_status status =
            strcmp(format, "yaml") == 0
                ? lw_model_write(model, cli_has_settings(&options) ? &options : NULL, file, &error)
                : lw_model_export(model, format, file, report_omission, (void *)arguments, &error);
        code = cli_close(arguments, file, status == LW_OK);
        if (!code && status != LW_OK) code = cli_fail(status, &error);
    }
    lw_model_destroy(model);
    return code;
}

// ----------------------------------------------------------------------------------------- results

// The model that a result carries.
static cli_exit write_model_of(const cli_arguments *arguments, const lw_result *result)
{
    FILE *file = NULL;
    const char *model = lw_result_model(result);
    if (!model) return cli_complain(CLI_INPUT, "%s: has no model", arguments->operand);
    const cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    fputs(model, file);
    return cli_close(arguments, file, true);
}

// Row of the last time that is not later; -1: there is none.
static long row_at(lw_result *result, double time, lw_error *error)
{
    int column;
    long low = 0, high = lw_result_row_count(result);
    if (lw_result_find_column(result, "time", &column, error) != LW_OK) return -1;
    while (low < high) {
        const long middle = low + (high - low) / 2;
        double t;
        if (lw_result_read(result, column, middle, 1, &t, error) != LW_OK) return -1;
        if (t <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

// The simulation at a time of the result: a row, and from there on by the same method.
static cli_exit go_to(const cli_arguments *arguments, lw_result *result, lw_sim *sim, double time)
{
    lw_error error = {0};
    const long rows = lw_result_row_count(result), row = row_at(result, time, &error);
    double last = 0;
    int column = 0;
    lw_status status = error.status;
    if (status == LW_OK) status = lw_result_find_column(result, "time", &column, &error);
    if (status == LW_OK && rows)
        status = lw_result_read(result, column, rows - 1, 1, &last, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    if (row < 0 || time > last)
        return cli_complain(CLI_USE, "--at %s: the rows of %s end at %g s", arguments->at,
                            arguments->operand, last);
    status = lw_result_restore(result, row, sim, NULL, 0, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    if (lw_sim_time(sim) < time) status = lw_sim_step(sim, time);
    return status == LW_OK ? CLI_DONE : cli_fail(status, lw_sim_error(sim));
}

static cli_exit write_start(const cli_arguments *arguments, const lw_model *model, lw_sim *sim)
{
    const lw_observation *now;
    lw_error error = {0};
    lw_model *restarted = NULL;
    FILE *file = NULL;
    lw_status status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &now);
    if (status != LW_OK) return cli_fail(status, lw_sim_error(sim));
    status = lw_model_restart(model, now, &restarted, &error);
    if (status != LW_OK) return cli_fail(status, &error);
    cli_exit code = cli_open(arguments, &file);
    if (!code) {
        status = lw_model_write(restarted, lw_sim_options(sim), file, &error);
        code = cli_close(arguments, file, status == LW_OK);
        if (!code && status != LW_OK) code = cli_fail(status, &error);
    }
    lw_model_destroy(restarted);
    return code;
}

// The model of the result with its motion at a time as the start.
static cli_exit write_model_at(const cli_arguments *arguments, lw_result *result)
{
    const char *text = lw_result_model(result), *at = arguments->at;
    double time;
    lw_error error = {0};
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    lw_options options;
    if (!text) return cli_complain(CLI_INPUT, "%s: has no model", arguments->operand);
    if (!cli_number(&at, "", &time) || *at)
        return cli_complain(CLI_USE, "--at %s: expected a time of the result [s]", arguments->at);
    const lw_read_desc desc = {.format = "yaml"};
    lw_options_default(&options);
    if (lw_result_options(result)) options = *lw_result_options(result);
    lw_status status =
        lw_model_parse(text, strlen(text), arguments->operand, &desc, &model, NULL, &error);
    const lw_sim_desc run = {.options = &options};
    if (status == LW_OK) status = lw_sim_create(model, &run, &sim, &error);
    cli_exit code =
        status == LW_OK ? go_to(arguments, result, sim, time) : cli_fail(status, &error);
    if (!code) code = write_start(arguments, model, sim);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return code;
}

static cli_exit write_result(const cli_arguments *arguments, lw_result *result)
{
    const char *path;
    lw_error error = {0};
    cli_exit code = cli_begin_file(arguments, &path);
    if (code) return code;
    const lw_status status = lw_result_convert_columns(result, arguments->columns, path, &error);
    if (status != LW_OK) code = cli_fail_file(status, &error);
    const cli_exit ended = cli_end_file(arguments, status == LW_OK);
    return code ? code : ended;
}

static cli_exit convert_result(const cli_arguments *arguments)
{
    lw_result *result = NULL;
    lw_error error = {0};
    cli_exit code = CLI_DONE;
    if (arguments->noutput != 1 && !(arguments->noutput == 0 && arguments->events))
        return cli_complain(CLI_USE,
                            "convert of a result writes one file, -o FILE.h5 or -o FILE.csv");
    if (arguments->events && arguments->at)
        return cli_complain(CLI_USE,
                            "--at writes a model, --events a table; expected one of the two");
    if (arguments->events) code = cli_check_results(arguments);
    if (code) return code;
    const char *file = arguments->noutput ? arguments->output[0] : "";
    const lw_status status = lw_result_open(arguments->operand, &result, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    if (!lw_result_closed(result) && !arguments->quiet)
        cli_complain(CLI_DONE, "%s: was not closed by its writer; it has %ld rows",
                     arguments->operand, lw_result_row_count(result));
    if (arguments->events) code = cli_events_convert(arguments, result);
    const bool yaml = cli_ends_in(file, ".yaml") || cli_ends_in(file, ".yml");
    if (code || !*file) {
        lw_result_close(result);
        return code;
    }
    if (arguments->columns && yaml)
        code = cli_complain(CLI_USE, "--columns are those of a result: -o FILE.h5 or -o FILE.csv");
    else if (arguments->at && !yaml)
        code = cli_complain(CLI_USE, "--at is of a model that is written: -o FILE.yaml");
    else if (arguments->at)
        code = write_model_at(arguments, result);
    else if (yaml)
        code = write_model_of(arguments, result);
    else
        code = write_result(arguments, result);
    lw_result_close(result);
    return code;
}

cli_exit cli_convert(const cli_arguments *arguments)
{
    const char *file = arguments->operand;
    const bool is_result = cli_ends_in(file, ".h5") || cli_ends_in(file, ".csv");
    if (arguments->events && !is_result)
        return cli_complain(CLI_USE, "--events are those of a result, %s is a model", file);
    if (arguments->columns && !is_result)
        return cli_complain(CLI_USE, "--columns are those of a result, %s is a model", file);
    if (arguments->at && !is_result)
        return cli_complain(CLI_USE, "--at is a time of a result, %s is a model", file);
    return is_result ? convert_result(arguments) : convert_model(arguments);
}
