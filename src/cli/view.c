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

// Of a sweep one instance is shown: their rows are side by side.
static cli_exit select_instance(const cli_arguments *arguments, lw_result *result)
{
    int column;
    lw_error error = {0};
    const bool given = arguments->given[CLI_INSTANCE];
    if (!given && lw_result_find_column(result, "instance", &column, NULL) != LW_OK)
        return CLI_DONE;
    double first = arguments->instance;
    if (!given && lw_result_read(result, column, 0, 1, &first, &error) != LW_OK) first = 0;
    if (!given && !arguments->quiet)
        fprintf(stderr, "%s: the result of a sweep; instance %.0f is shown (--instance K)\n",
                arguments->operand, first);
    const lw_status status = lw_result_select_instance(result, (long)first, &error);
    return status == LW_OK ? CLI_DONE : cli_complain(CLI_USE, "%s", error.text);
}

// A file that is shown, with the arguments for it alone.
typedef struct shown {
    cli_arguments arguments;
    lw_model *model;
    lw_result *result; // NULL: the file is a model
} shown;

static const char *title_of(const shown *s)
{
    const char *name = strrchr(s->arguments.operand, '/');
    return name ? name + 1 : s->arguments.operand;
}

static bool is_result(const char *file)
{
    return cli_ends_in(file, ".h5") || cli_ends_in(file, ".csv");
}

static cli_exit write_view(const cli_arguments *arguments, const shown *first, const shown *second)
{
    cli_arguments reported = *arguments;
    const lw_view_desc desc = {.title = title_of(first),
                               .report = cli_warn,
                               .user = &reported,
                               .model2 = second->model,
                               .result2 = second->result,
                               .title2 = second->model ? title_of(second) : NULL};
    const bool gltf = cli_ends_in(arguments->output[0], ".gltf");
    lw_error error = {0};
    FILE *file = NULL;
    cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status =
        (gltf ? lw_view_gltf : lw_view_page)(first->model, first->result, &desc, file, &error);
    code = cli_close(arguments, file, status == LW_OK);
    if (!code && status != LW_OK) code = cli_fail(status, &error);
    if (!code && !arguments->quiet) printf("written      %s\n", arguments->output[0]);
    return code;
}

static cli_exit open_result(shown *s)
{
    lw_error error = {0};
    const lw_status status = lw_result_open(s->arguments.operand, &s->result, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    const cli_exit code = select_instance(&s->arguments, s->result);
    return code ? code : model_of_result(&s->arguments, s->result, &s->model);
}

static cli_exit open_shown(const cli_arguments *arguments, const char *file, shown *s)
{
    s->arguments = *arguments;
    s->arguments.operand = file;
    if (is_result(file)) return open_result(s);
    return read_model(&s->arguments, file, &s->model);
}

static void close_shown(shown *s)
{
    lw_model_destroy(s->model);
    lw_result_close(s->result);
}

static cli_exit check_arguments(const cli_arguments *arguments)
{
    const char *const *file = arguments->operands;
    const int n = arguments->noperand;
    if (arguments->noutput != 1 || (!cli_ends_in(arguments->output[0], ".html") &&
                                    !cli_ends_in(arguments->output[0], ".gltf")))
        return cli_complain(CLI_USE, "view writes one file: -o FILE.html or -o FILE.gltf");
    if (n > 2)
        return cli_complain(CLI_USE, "view shows one file or compares two; %s is one too many",
                            file[2]);
    if (n > 1 && cli_ends_in(arguments->output[0], ".gltf"))
        return cli_complain(CLI_USE, "two files are compared in a page: -o FILE.html");
    if (arguments->model && !is_result(file[0]) && (n < 2 || !is_result(file[1])))
        return cli_complain(CLI_USE, "--model goes with a result, and %s is a model", file[0]);
    if (arguments->given[CLI_INSTANCE] && !is_result(file[0]) && (n < 2 || !is_result(file[1])))
        return cli_complain(CLI_USE, "--instance goes with a result, and %s is a model", file[0]);
    return CLI_DONE;
}

cli_exit cli_view(const cli_arguments *arguments)
{
    shown one = {.model = NULL}, two = {.model = NULL};
    cli_exit code = check_arguments(arguments);
    if (!code) code = open_shown(arguments, arguments->operands[0], &one);
    if (!code && arguments->noperand > 1)
        code = open_shown(arguments, arguments->operands[1], &two);
    if (!code) code = write_view(arguments, &one, &two);
    close_shown(&one);
    close_shown(&two);
    return code;
}
