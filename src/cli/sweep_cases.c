// sweep_cases.c -- what differs: `--vary`, `--design`, `--seed`, `--batch FILE` become one table.
#include "cli/batch.h"

#include <stdlib.h>
#include <string.h>

// An error of a design begins with the option that it is about, or is about all of them.
static bool is_of_option(const char *text)
{
    return !strncmp(text, "vary", strlen("vary")) || !strncmp(text, "design ", strlen("design "));
}

static cli_exit make(const cli_arguments *arguments, const lw_model *model, const lw_table *rows,
                     cases *c)
{
    lw_error error = {0};
    const lw_design_desc desc = {.design = arguments->design,
                                 .seed = arguments->seed,
                                 .nvary = arguments->nvary,
                                 .vary = arguments->vary,
                                 .rows = rows};
    const lw_status status = lw_design_create(model, &desc, &c->table, &error);
    if (status == LW_ERR_ARGUMENT)
        return cli_complain(CLI_USE, "%s%s", is_of_option(error.text) ? "--" : "", error.text);
    if (status != LW_OK) return cli_fail(status, &error);
    c->n = lw_table_rows(c->table);
    c->columns = lw_table_columns(c->table);
    c->name = lw_table_names(c->table);
    c->value = lw_table_values(c->table);
    return CLI_DONE;
}

cli_exit cases_read(const cli_arguments *arguments, const lw_model *model, cases *c)
{
    lw_error error = {0};
    lw_table *rows = NULL;
    *c = (cases){0};
    if (arguments->batch && lw_table_read(arguments->batch, &rows, &error) != LW_OK) {
        cli_fail(error.status, &error);
        return error.status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    const cli_exit code = make(arguments, model, rows, c);
    lw_table_free(rows);
    return code;
}

void cases_free(cases *c)
{
    lw_table_free(c->table);
}
