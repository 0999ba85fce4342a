// convert.c -- linkwork convert: a model of any format as a native file or in a format of robots, a
// result in another format.
#include "cli/cli.h"

#include <string.h>

static void report_omission(void *user, const char *text)
{
    cli_complain(CLI_DONE, "%s: %s", (const char *)user, text);
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
                : lw_model_export(model, format, file, report_omission, (void *)arguments->operand,
                                  &error);
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

static cli_exit write_result(const cli_arguments *arguments, lw_result *result)
{
    const char *path;
    lw_error error = {0};
    cli_exit code = cli_begin_file(arguments, &path);
    if (code) return code;
    const lw_status status = lw_result_convert(result, path, &error);
    if (status != LW_OK) code = cli_fail_file(arguments, status, &error);
    const cli_exit ended = cli_end_file(arguments, status == LW_OK);
    return code ? code : ended;
}

static cli_exit convert_result(const cli_arguments *arguments)
{
    lw_result *result = NULL;
    lw_error error = {0};
    cli_exit code = CLI_DONE;
    if (arguments->noutput != 1)
        return cli_complain(CLI_USE,
                            "convert of a result writes one file, -o FILE.h5 or -o FILE.csv");
    const char *file = arguments->output[0];
    const lw_status status = lw_result_open(arguments->operand, &result, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    if (!lw_result_closed(result))
        cli_complain(CLI_DONE, "%s: was not closed by its writer; it has %ld rows",
                     arguments->operand, lw_result_row_count(result));
    if (cli_ends_in(file, ".yaml") || cli_ends_in(file, ".yml"))
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
    return is_result ? convert_result(arguments) : convert_model(arguments);
}
