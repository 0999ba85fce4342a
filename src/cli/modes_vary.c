// modes_vary.c -- linkwork modes --vary: natural frequencies and eigenvalues against parameters of the model file, for
// Campbell diagrams and root loci.
#include "cli/analysis.h"
#include "cli/batch.h"
#include "cli/modes.h"

#include <stdlib.h>
#include <string.h>

typedef struct table {
    const cli_arguments *arguments;
    const cases *cases;
    FILE *file;     ///< of -o; NULL: none
    cli_json *json; ///< NULL: a table for people
} table;

static void print_head(const table *t)
{
    if (t->file) {
        for (int k = 0; k < t->cases->columns; k++) fprintf(t->file, "%s,", t->cases->name[k]);
        fprintf(t->file, "mode,frequency_hz,damping_ratio,re,im,failure\n");
    }
    if (t->json) {
        json_open(t->json, NULL, '{');
        json_text(t->json, "model", t->arguments->operand);
        json_open(t->json, "cases", '[');
    } else if (!t->arguments->quiet) {
        for (int k = 0; k < t->cases->columns; k++) printf("%-14.14s ", t->cases->name[k]);
        printf("mode    frequency [Hz]  damping ratio      eigenvalue [1/s]\n");
    }
}

static void print_mode(const table *t, const double *value, int i, lw_mode m)
{
    if (t->file) {
        for (int k = 0; k < t->cases->columns; k++) fprintf(t->file, "%.17g,", value[k]);
        fprintf(t->file, "%d,%.17g,%.17g,%.17g,%.17g,\n", i + 1, m.frequency, m.damping_ratio, m.re,
                m.im);
    }
    if (t->json || t->arguments->quiet) return;
    for (int k = 0; k < t->cases->columns; k++) printf("%-14.7g ", value[k]);
    printf("%4d  %16.9g %14.6g  %13.6g %c %-13.6g\n", i + 1, m.frequency, m.damping_ratio, m.re,
           m.im > 0 ? '+' : ' ', m.im);
}

static void json_values(const table *t, const double *value)
{
    json_open(t->json, "values", '{');
    for (int k = 0; k < t->cases->columns; k++) json_number(t->json, t->cases->name[k], value[k]);
    json_close(t->json, '}');
}

// A case without modes, and why: mode 0.
static void show_failure(const table *t, const double *value, const char *why)
{
    if (t->file) {
        for (int k = 0; k < t->cases->columns; k++) fprintf(t->file, "%.17g,", value[k]);
        fprintf(t->file, "0,nan,nan,nan,nan,");
        cli_put_quoted(t->file, why);
        putc('\n', t->file);
    }
    if (t->json) {
        json_open(t->json, NULL, '{');
        json_values(t, value);
        json_open(t->json, "modes", '[');
        json_close(t->json, ']');
        json_text(t->json, "failure", why);
        json_close(t->json, '}');
    } else if (!t->arguments->quiet) {
        for (int k = 0; k < t->cases->columns; k++) printf("%-14.7g ", value[k]);
        printf("   0  %s\n", why);
    }
}

static void json_case(const table *t, const double *value, const lw_modes *modes)
{
    json_open(t->json, NULL, '{');
    json_values(t, value);
    json_open(t->json, "modes", '[');
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode m = lw_modes_at(modes, i);
        const double eigenvalue[2] = {m.re, m.im};
        json_open(t->json, NULL, '{');
        json_number(t->json, "frequency_hz", m.frequency);
        json_number(t->json, "damping_ratio", m.damping_ratio);
        json_array(t->json, "eigenvalue", eigenvalue, 2);
        json_bool(t->json, "rigid", m.rigid);
        json_close(t->json, '}');
    }
    json_close(t->json, ']');
    json_close(t->json, '}');
}

static void show(const table *t, const double *value, const lw_modes *modes)
{
    for (int i = 0; i < lw_modes_count(modes); i++) print_mode(t, value, i, lw_modes_at(modes, i));
    if (t->json) json_case(t, value, modes);
}

// The model with these values of its parameters, which --set has first.
static cli_exit one_case(const table *t, const double *value)
{
    cli_arguments arguments = *t->arguments;
    char text[CLI_MAX][300];
    cli_analysis a;
    lw_linear *linear = NULL;
    lw_modes *modes = NULL;
    bool balance;
    if (arguments.nset + t->cases->columns > CLI_MAX)
        return cli_complain(CLI_USE, "too many parameters are set");
    for (int k = 0; k < t->cases->columns; k++) {
        snprintf(text[k], sizeof text[k], "%.250s=%.17g", t->cases->name[k], value[k]);
        arguments.set[arguments.nset++] = text[k];
    }
    cli_exit code = cli_analysis_at(&arguments, true, &balance);
    if (code) return code;
    code = cli_analysis_begin(&arguments, balance, &a);
    if (!code) code = cli_modes_of(&arguments, &a, &linear, &modes);
    if (!code)
        show(t, value, modes);
    else if (code != CLI_USE)
        show_failure(t, value, cli_last_message());
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    cli_analysis_end(&a);
    return code;
}

static cli_exit all_cases(table *t)
{
    cli_exit code = CLI_DONE;
    bool failed = false;
    print_head(t);
    for (int i = 0; i < t->cases->n && code != CLI_USE; i++) {
        code = one_case(t, t->cases->value + (size_t)i * (size_t)t->cases->columns);
        failed = failed || code;
    }
    if (t->json) {
        json_close(t->json, ']');
        json_close(t->json, '}');
    }
    return code == CLI_USE ? code : failed ? CLI_FAILED : CLI_DONE;
}

static cli_exit read_cases(const cli_arguments *arguments, cases *c)
{
    lw_model *model = NULL;
    lw_options options;
    *c = (cases){0};
    cli_exit code = cli_read(arguments, &model, &options);
    if (!code) code = cases_read(arguments, model, c);
    lw_model_destroy(model);
    return code;
}

cli_exit cli_modes_vary(const cli_arguments *arguments)
{
    cases all;
    cli_json json = {.file = stdout};
    table t = {.arguments = arguments, .cases = &all, .json = arguments->json ? &json : NULL};
    for (int i = 0; i < arguments->noutput; i++)
        if (!cli_ends_in(arguments->output[i], ".csv"))
            return cli_complain(CLI_USE, "%s: modes of several cases are written as .csv",
                                arguments->output[i]);
    cli_exit code = read_cases(arguments, &all);
    if (!code && arguments->noutput) code = cli_open(arguments, &t.file);
    if (!code) {
        code = all_cases(&t);
        if (t.file) {
            const cli_exit closed = cli_close(arguments, t.file, code != CLI_USE);
            if (!code) code = closed;
        }
    }
    cases_free(&all);
    return code;
}
