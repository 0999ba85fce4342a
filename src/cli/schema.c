// schema.c -- linkwork schema: the JSON Schema of native model files.
#include "cli/cli.h"

cli_exit cli_schema(const cli_arguments *arguments)
{
    FILE *file;
    cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status = lw_schema_write(file);
    code = cli_close(arguments, file, status == LW_OK);
    return code || status == LW_OK ? code : cli_fail(status, NULL);
}
