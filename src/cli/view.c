// view.c -- linkwork view: a page for the browser, or a glTF file, of a model or of a result.
#include "cli/cli.h"

#include <string.h>

static cli_exit read_model(const cli_arguments *arguments, const char *file, lw_model **model)
{
    lw_options unused;
    cli_arguments reading = *arguments;
    reading.operand = file;
    return cli_read(&reading, model, &unused);
}

// The model that a result carries, or the one that --model names.
static cli_exit model_of_result(const cli_arguments *arguments, const lw_result *result,
                                lw_model **model)
{
    static const lw_read_desc native = {.format = "yaml"};
    const char *text = lw_result_model(result);
    lw_error error = {0};
    if (arguments->model) return read_model(arguments, arguments->model, model);
    if (!text)
        return cli_complain(CLI_USE,
                            "%s: has no model (CSV holds numbers only); name it, --model FILE",
                            arguments->operand);
    const lw_status status =
        lw_model_parse(text, strlen(text), arguments->operand, &native, model, NULL, &error);
    return status == LW_OK ? CLI_DONE : cli_fail(status, &error);
}

static void report(void *user, const char *text)
{
    const cli_arguments *arguments = user;
    if (!arguments->quiet) fprintf(stderr, "warning: %s\n", text);
}

static cli_exit write_view(const cli_arguments *arguments, const lw_model *model, lw_result *result)
{
    const char *name = strrchr(arguments->operand, '/');
    cli_arguments reported = *arguments;
    const lw_view_desc desc = {
        .title = name ? name + 1 : arguments->operand, .report = report, .user = &reported};
    const bool gltf = cli_ends_in(arguments->output[0], ".gltf");
    lw_error error = {0};
    FILE *file = NULL;
    cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status =
        (gltf ? lw_view_gltf : lw_view_page)(model, result, &desc, file, &error);
    code = cli_close(arguments, file, status == LW_OK);
    if (!code && status != LW_OK) code = cli_fail(status, &error);
    if (!code && !arguments->quiet) printf("written      %s\n", arguments->output[0]);
    return code;
}

cli_exit cli_view(const cli_arguments *arguments)
{
    const char *file = arguments->operand;
    const bool is_result = cli_ends_in(file, ".h5") || cli_ends_in(file, ".csv");
    lw_result *result = NULL;
    lw_model *model = NULL;
    lw_error error = {0};
    if (arguments->noutput != 1 || (!cli_ends_in(arguments->output[0], ".html") &&
                                    !cli_ends_in(arguments->output[0], ".gltf")))
        return cli_complain(CLI_USE, "view writes one file: -o FILE.html or -o FILE.gltf");
    if (arguments->model && !is_result)
        return cli_complain(CLI_USE, "--model goes with a result, and %s is a model", file);
    cli_exit code = CLI_DONE;
    if (is_result) {
        const lw_status status = lw_result_open(file, &result, &error);
        if (status != LW_OK) {
            cli_fail(status, &error);
            return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
        }
        code = model_of_result(arguments, result, &model);
    } else {
        code = read_model(arguments, file, &model);
    }
    if (!code) code = write_view(arguments, model, result);
    lw_model_destroy(model);
    lw_result_close(result);
    return code;
}
