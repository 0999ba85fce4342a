// sweep_cases.c -- tables and ranges become one table: `--vary NAME=A:B:N`, `NAME=A,B,C`, `--batch
// FILE`.
#include "cli/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CASES = 10000000 };

static cli_exit no_memory(void)
{
    return cli_complain(CLI_FAILED, "no memory for the cases");
}

// A:B:N -- N values from A to B, both among them
static cli_exit even_range(case_range *r, const char *text, const char *argument)
{
    double from, to, count;
    const char *at = text;
    const bool ok = cli_number(&at, ":", &from) && *at++ == ':' && cli_number(&at, ":", &to) &&
                    *at++ == ':' && cli_number(&at, ":", &count) && !*at;
    if (!ok || count != floor(count) || count < 1 || count > MAX_CASES)
        return cli_complain(
            CLI_USE, "--vary %s: expected NAME=FROM:TO:COUNT with a whole COUNT >= 1", argument);
    r->n = (int)count;
    if (!(r->value = calloc((size_t)r->n, sizeof *r->value))) return no_memory();
    for (int i = 0; i < r->n; i++)
        r->value[i] = i == r->n - 1 && i ? to : from + (to - from) * i / (r->n > 1 ? r->n - 1 : 1);
    return CLI_DONE;
}

static cli_exit list_range(case_range *r, const char *text, const char *argument)
{
    const char *at = text;
    int n = 1;
    for (const char *c = text; *c; c++) n += *c == ',';
    if (!(r->value = calloc((size_t)n, sizeof *r->value))) return no_memory();
    for (r->n = 0; cli_number(&at, ",", &r->value[r->n]);) {
        r->n++;
        if (!*at) return CLI_DONE;
        if (*at++ != ',') break;
    }
    return cli_complain(CLI_USE, "--vary %s: expected NAME=FROM:TO:COUNT or NAME=A,B,...",
                        argument);
}

static cli_exit read_range(case_range *r, const char *argument)
{
    const char *equals = strrchr(argument, '=');
    if (!equals || equals == argument || (size_t)(equals - argument) >= sizeof r->name)
        return cli_complain(CLI_USE, "--vary %s: expected NAME=FROM:TO:COUNT or NAME=A,B,...",
                            argument);
    snprintf(r->name, sizeof r->name, "%.*s", (int)(equals - argument), argument);
    return strchr(equals + 1, ':') ? even_range(r, equals + 1, argument)
                                   : list_range(r, equals + 1, argument);
}

// Rows of the table outermost, then the ranges in their order, the last one changing fastest.
static void combine(cases *c)
{
    const int columns = c->columns - c->nrange;
    const double *table = c->table ? lw_table_values(c->table) : NULL;
    for (int i = 0; i < c->n; i++) {
        double *row = c->value + (size_t)i * (size_t)c->columns;
        int rest = i;
        for (int k = c->nrange - 1; k >= 0; k--) {
            row[columns + k] = c->range[k].value[rest % c->range[k].n];
            rest /= c->range[k].n;
        }
        for (int k = 0; k < columns; k++)
            row[k] = table[(size_t)rest * (size_t)columns + (size_t)k];
    }
}

static cli_exit make(cases *c)
{
    const int columns = c->table ? lw_table_columns(c->table) : 0;
    double n = c->table ? lw_table_rows(c->table) : 1;
    for (int k = 0; k < c->nrange; k++) n *= c->range[k].n;
    if (n > MAX_CASES)
        return cli_complain(CLI_USE, "%.0f cases are too many, expected at most %d", n, MAX_CASES);
    c->n = (int)n;
    c->columns = columns + c->nrange;
    c->name = calloc((size_t)c->columns + 1, sizeof *c->name);
    c->value = calloc((size_t)c->n * (size_t)c->columns + 1, sizeof *c->value);
    if (!c->name || !c->value) return no_memory();
    for (int k = 0; k < c->columns; k++)
        c->name[k] = k < columns ? lw_table_names(c->table)[k] : c->range[k - columns].name;
    combine(c);
    return CLI_DONE;
}

cli_exit cases_read(const cli_arguments *arguments, cases *c)
{
    lw_error error = {0};
    *c = (cases){.range = calloc((size_t)arguments->nvary + 1, sizeof *c->range)};
    if (!c->range) return no_memory();
    if (arguments->batch && lw_table_read(arguments->batch, &c->table, &error) != LW_OK) {
        cli_fail(error.status, &error);
        return error.status == LW_ERR_MEMORY ? CLI_FAILED : CLI_INPUT;
    }
    cli_exit code = CLI_DONE;
    for (; c->nrange < arguments->nvary && !code; c->nrange++)
        code = read_range(&c->range[c->nrange], arguments->vary[c->nrange]);
    return code ? code : make(c);
}

void cases_free(cases *c)
{
    for (int k = 0; k < c->nrange; k++) free(c->range[k].value);
    free(c->range);
    free(c->name);
    free(c->value);
    lw_table_free(c->table);
}
