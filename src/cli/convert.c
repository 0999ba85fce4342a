// convert.c -- linkwork convert: a model of any format as a native file.
#include "cli/cli.h"

#include <string.h>

// Settings are written where the source file has some of its own.
static bool has_settings(const lw_options *options)
{
    lw_options plain;
    lw_options_default(&plain);
#define SAME_WORD(key) !strcmp(options->key, plain.key) &&
#define SAME_REAL(key) options->key == plain.key &&
#define X(key, kind, fallback, value, help) SAME_##kind(key)
    return !(LW_OPTION_LIST(X) true);
#undef X
}

cli_exit cli_convert(const cli_arguments *arguments)
{
    for (int i = 0; i < arguments->noutput; i++) {
        const char *file = arguments->output[i];
        if (!cli_ends_in(file, ".yaml") && !cli_ends_in(file, ".yml"))
            return cli_complain(CLI_USE, "%s: models are written as .yaml", file);
    }

    lw_model *model = NULL;
    lw_options options;
    lw_error error = {0};
    FILE *file = NULL;
    cli_exit code = cli_read(arguments, &model, &options);
    if (code) return code;
    code = cli_open(arguments, &file);
    if (!code) {
        const lw_status status =
            lw_model_write(model, has_settings(&options) ? &options : NULL, file, &error);
        code = cli_close(arguments, file);
        if (!code && status != LW_OK) code = cli_fail(status, &error);
        if (code && arguments->noutput) remove(arguments->output[0]);
    }
    lw_model_destroy(model);
    return code;
}
