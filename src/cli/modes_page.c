// modes_page.c -- linkwork modes -o FILE.html: the modes of a mechanism in a page for the browser, each moving.
#include "cli/modes.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 33, NAME = 96 }; // of a period; of a mode
static const double SECONDS = 2;

/** The motions of all modes. */
typedef struct clips {
    double (*r)[3], (*quat)[4]; // [mode][ROWS][body]
    char (*text)[NAME];         // [mode]
    const char **name;          // [mode]
} clips;

static bool clips_create(clips *c, size_t modes, size_t nbody)
{
    *c = (clips){.r = calloc(modes * ROWS * nbody, sizeof *c->r),
                 .quat = calloc(modes * ROWS * nbody, sizeof *c->quat),
                 .text = calloc(modes, sizeof *c->text),
                 .name = calloc(modes, sizeof *c->name)};
    return c->r && c->quat && c->text && c->name;
}

static void clips_free(clips *c)
{
    free(c->r);
    free(c->quat);
    free(c->text);
    free(c->name);
}

static void name_mode(char *text, int number, const lw_mode *m)
{
    if (m->rigid)
        snprintf(text, NAME, "%d: rigid", number);
    else if (m->im == 0)
        snprintf(text, NAME, "%d: exp(%.4g t)", number, m->re);
    else
        snprintf(text, NAME, "%d: %.4g Hz, damping ratio %.3g", number, m->frequency,
                 m->damping_ratio);
}

static cli_exit fill(const cli_arguments *arguments, const cli_analysis *a, const lw_modes *modes,
                     const clips *c)
{
    const size_t each = ROWS * (size_t)lw_model_body_count(a->model);
    const lw_linear_desc desc = cli_analysis_linear(arguments, a);
    lw_error error = {0};
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode mode = lw_modes_at(modes, i);
        name_mode(c->text[i], i + 1, &mode);
        c->name[i] = c->text[i];
        const lw_status status =
            lw_modes_motion(modes, i, a->model, &desc, ROWS, c->r + (size_t)i * each,
                            c->quat + (size_t)i * each, &error);
        if (status != LW_OK)
            return cli_complain(CLI_FAILED, "%s: mode %d: %s", arguments->operand, i + 1,
                                error.text);
    }
    return CLI_DONE;
}

static cli_exit write_page(const cli_arguments *arguments, const lw_model *model, int count,
                           const clips *c)
{
    cli_arguments reported = *arguments;
    const char *title = strrchr(arguments->operand, '/');
    const lw_view_clips motions = {.count = count,
                                   .rows = ROWS,
                                   .seconds = SECONDS,
                                   .name = c->name,
                                   .r = (const double(*)[3])c->r,
                                   .quat = (const double(*)[4])c->quat};
    const lw_view_desc desc = {.title = title ? title + 1 : arguments->operand,
                               .report = cli_warn,
                               .user = &reported,
                               .clips = &motions};
    lw_error error = {0};
    FILE *file = NULL;
    cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status = lw_view_page(model, NULL, &desc, file, &error);
    code = cli_close(arguments, file, status == LW_OK);
    if (!code && status != LW_OK) code = cli_fail(status, &error);
    if (!code && !arguments->quiet && !arguments->json)
        printf("\nwritten      %s\n", arguments->output[0]);
    return code;
}

cli_exit cli_modes_page(const cli_arguments *arguments, const cli_analysis *a,
                        const lw_modes *modes)
{
    const int n = lw_modes_count(modes);
    clips c = {0};
    cli_exit code = CLI_DONE;
    if (n == 0)
        code = cli_complain(CLI_FAILED, "%s: there are no modes to show", arguments->operand);
    else if (!clips_create(&c, (size_t)n, (size_t)lw_model_body_count(a->model)))
        code = cli_complain(CLI_FAILED, "no memory");
    if (!code) code = fill(arguments, a, modes, &c);
    if (!code) code = write_page(arguments, a->model, n, &c);
    clips_free(&c);
    return code;
}
