// messages.c -- errors on stderr, exit codes, the model that is read.
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

static char last[512]; // message

const char *cli_last_message(void)
{
    return last;
}

cli_exit cli_complain(cli_exit code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(last, sizeof last, format, arguments);
    va_end(arguments);
    va_start(arguments, format);
    fputs("linkwork: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    return code;
}

static cli_exit exit_of(lw_status status)
{
    switch (status) {
    case LW_OK:
        return CLI_DONE;
    case LW_ERR_ARGUMENT:
    case LW_ERR_UNSUPPORTED:
        return CLI_USE;
    case LW_ERR_PARSE:
    case LW_ERR_MODEL:
        return CLI_INPUT;
    default:
        return CLI_FAILED;
    }
}

cli_exit cli_fail(lw_status status, const lw_error *error)
{
    const char *text = error && error->text[0] ? error->text : lw_status_text(status);
    snprintf(last, sizeof last, "%s", text);
    if (error && error->file[0] && error->line)
        fprintf(stderr, "%s:%d:%d: %s\n", error->file, error->line, error->column, text);
    else if (error && error->file[0])
        fprintf(stderr, "%s: %s\n", error->file, text);
    else
        cli_complain(CLI_FAILED, "%s", text);
    return exit_of(status);
}

const char *cli_suggestion(char *room, size_t size, const char *name, const char *const *names,
                           int count)
{
    const char *nearest = lw_nearest(name, names, count);
    room[0] = 0;
    if (nearest) snprintf(room, size, ", did you mean %s?", nearest);
    return room;
}

static lw_status read_model(const cli_arguments *arguments, bool open, lw_model **model,
                            lw_options *options, lw_error *error)
{
    const lw_read_desc desc = {.base = arguments->base,
                               .limits = arguments->limits,
                               .limits_time = arguments->limits_time,
                               .cut = arguments->cut,
                               .open = open,
                               .keyframe = arguments->keyframe,
                               .inertia_check = arguments->inertia_check,
                               .package_path = arguments->package_path,
                               .missing_mesh = arguments->missing_mesh,
                               .set = arguments->set,
                               .nset = arguments->nset};
    return lw_model_read(arguments->operand, &desc, model, options, error);
}

void cli_warn(void *user, const char *text)
{
    const cli_arguments *arguments = user;
    if (!arguments->quiet) fprintf(stderr, "warning: %s\n", text);
}

void cli_warn_of_refused(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_options options;
    lw_options_default(&options);
    if (read_model(arguments, true, &model, &options, NULL) != LW_OK) return;
    for (int i = 0; i < lw_model_warning_count(model); i++)
        fprintf(stderr, "warning: %s\n", lw_model_warning(model, i));
    lw_model_destroy(model);
}

cli_exit cli_read(const cli_arguments *arguments, lw_model **model, lw_options *options)
{
    lw_error error = {0};
    lw_options_default(options);
    lw_status status = read_model(arguments, arguments->open, model, options, &error);
    if (status != LW_OK) {
        cli_fail(status, &error);
        return status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    for (int i = 0; i < arguments->nsetting && status == LW_OK; i++)
        status =
            lw_options_set(options, arguments->setting[i].key, arguments->setting[i].value, &error);
    if (status == LW_OK) return CLI_DONE;
    lw_model_destroy(*model);
    *model = NULL;
    return cli_fail(status, &error);
}

bool cli_has_own_step(const char *name)
{
    for (int i = 0; i < lw_formulation_count(); i++)
        if ((lw_formulation_flags(i) & LW_FORMULATION_OWN_STEP) &&
            !strcmp(name, lw_formulation_info(i).name))
            return true;
    return false;
}

bool cli_has_settings(const lw_options *options)
{
    lw_options plain;
    lw_options_default(&plain);
    for (int i = 0; i < lw_option_count(); i++) {
        char text[LW_OPTION_STRING_SIZE], fallback[LW_OPTION_STRING_SIZE];
        const char *key = lw_option_at(i).key;
        if (lw_options_get(options, key, text, sizeof text) == LW_OK &&
            lw_options_get(&plain, key, fallback, sizeof fallback) == LW_OK &&
            strcmp(text, fallback) != 0)
            return true;
    }
    return false;
}
