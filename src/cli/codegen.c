// codegen.c -- linkwork codegen: standalone C of one model's dynamics.
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

// The file's name without folder and ending, as a C identifier.
static void name_of_file(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const char *dot = strrchr(file, '.');
    const size_t length = dot && dot != file ? (size_t)(dot - file) : strlen(file);
    size_t n = 0;
    if (isdigit((unsigned char)file[0])) name[n++] = '_';
    for (size_t i = 0; i < length && n + 1 < size; i++, n++)
        name[n] = isalnum((unsigned char)file[i]) ? file[i] : '_';
    name[n] = 0;
    if (!strcmp(name, "example")) strcpy(name, "example_model"); // example.c is the program's
}

static void print_counts(const cli_arguments *arguments, const char *name,
                         const lw_codegen_count *counts)
{
    if (arguments->quiet) return;
    printf("%s/%s.c\n\n  %-20s %8s %8s %8s %8s\n", arguments->output[0], name, "function", "mul",
           "add", "div", "sin cos");
    for (int i = 0; i < LW_CODEGEN_COUNT; i++)
        if (counts[i].function)
            printf("  %-20s %8d %8d %8d %8d\n", counts[i].function, counts[i].multiplications,
                   counts[i].additions, counts[i].divisions, counts[i].sines);
}

cli_exit cli_codegen(const cli_arguments *arguments)
{
    if (arguments->noutput != 1)
        return cli_complain(CLI_USE, "codegen needs one folder to write into: -o DIR");
    lw_model *model = NULL;
    lw_options options;
    lw_error error = {0};
    cli_exit code = cli_read(arguments, &model, &options);
    if (code) return code;
    char name[64];
    name_of_file(arguments->operand, name, sizeof name);
    lw_codegen_count counts[LW_CODEGEN_COUNT];
    const lw_codegen_desc desc = {.name = name,
                                  .casadi = arguments->casadi,
                                  .lanes = arguments->lanes,
                                  .cuda = arguments->cuda,
                                  .single_precision = arguments->single_precision};
    const lw_status status = lw_codegen_write(model, &desc, arguments->output[0], counts, &error);
    if (status == LW_OK)
        print_counts(arguments, name, counts);
    else
        code = cli_fail(status, &error);
    lw_model_destroy(model);
    return code;
}
