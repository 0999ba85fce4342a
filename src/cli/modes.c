// modes.c -- linkwork modes: natural frequencies, damping ratios and shapes of a mechanism.
#include "cli/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Room for one mode. */
typedef struct shape {
    double (*re)[6], (*im)[6]; ///< [body]
    double *energy;            ///< [body]
    double *q_re, *q_im;       ///< [f]
    double *c_re, *c_im;       ///< [states of signals]
} shape;

static bool shape_create(shape *s, int nbody, int f, int nsignal)
{
    *s = (shape){.re = calloc((size_t)nbody, sizeof *s->re),
                 .im = calloc((size_t)nbody, sizeof *s->im),
                 .energy = calloc((size_t)nbody, sizeof *s->energy),
                 .q_re = calloc((size_t)f + 1, sizeof *s->q_re),
                 .q_im = calloc((size_t)f + 1, sizeof *s->q_im),
                 .c_re = calloc((size_t)nsignal + 1, sizeof *s->c_re),
                 .c_im = calloc((size_t)nsignal + 1, sizeof *s->c_im)};
    return s->re && s->im && s->energy && s->q_re && s->q_im && s->c_re && s->c_im;
}

static void shape_free(shape *s)
{
    free(s->re);
    free(s->im);
    free(s->energy);
    free(s->q_re);
    free(s->q_im);
    free(s->c_re);
    free(s->c_im);
}

static void read_mode(const lw_modes *modes, int i, const shape *s)
{
    lw_modes_shape(modes, i, s->re, s->im);
    lw_modes_energy(modes, i, s->energy);
    lw_modes_coordinates(modes, i, s->q_re, s->q_im);
    lw_modes_states(modes, i, s->c_re, s->c_im);
}

// The body with the largest share of the kinetic energy.
static int main_body(const lw_model *model, const shape *s)
{
    int maximum = 1;
    for (int b = 2; b < lw_model_body_count(model); b++)
        if (s->energy[b] > s->energy[maximum] * (1 + 1e-9)) maximum = b;
    return maximum;
}

static bool only_signals(const lw_model *model, const shape *s)
{
    double sum = 0;
    for (int b = 1; b < lw_model_body_count(model); b++) sum += s->energy[b];
    return sum == 0;
}

// The state of a signal with the largest amplitude; "": there is none.
static const char *main_signal(const lw_linear *linear, const shape *s)
{
    const int first = 2 * lw_linear_dof(linear), n = lw_linear_states(linear) - first;
    int maximum = 0;
    for (int k = 1; k < n; k++)
        if (hypot(s->c_re[k], s->c_im[k]) > hypot(s->c_re[maximum], s->c_im[maximum])) maximum = k;
    return n ? lw_linear_state_name(linear, first + maximum) : "";
}

static void print_report(const cli_arguments *arguments, const cli_analysis *a,
                         const lw_linear *linear, const lw_modes *modes, const shape *s)
{
    printf("model        %s\n", arguments->operand);
    cli_print_state(a, linear);
    const int f = lw_linear_dof(linear), signals = lw_linear_states(linear) - 2 * f;
    printf("dof          %d", f);
    if (signals) printf(", and %d state%s of signals", signals, signals == 1 ? "" : "s");
    printf("\n\n");
    printf("mode    frequency [Hz]  damping ratio      eigenvalue [1/s]              "
           "main body (share of kinetic energy)\n");
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode m = lw_modes_at(modes, i);
        read_mode(modes, i, s);
        const int b = main_body(a->model, s);
        printf("%4d  %16.9g %14.6g  %13.6g %c %-13.6g", i + 1, m.frequency, m.damping_ratio, m.re,
               m.im > 0 ? '+' : ' ', m.im);
        if (m.rigid) printf(" rigid:");
        if (only_signals(a->model, s))
            printf(" %s", main_signal(linear, s));
        else if (lw_model_body_count(a->model) > 1)
            printf(" %s (%.0f %%)", lw_model_body_name(a->model, (lw_body){b}), 100 * s->energy[b]);
        putchar('\n');
    }
}

static void json_mode(cli_json *json, const lw_model *model, const lw_linear *linear,
                      const lw_mode *m, const shape *s)
{
    const double eigenvalue[2] = {m->re, m->im};
    const int f = lw_linear_dof(linear);
    json_open(json, NULL, '{');
    json_number(json, "frequency_hz", m->frequency);
    json_number(json, "damping_ratio", m->damping_ratio);
    json_array(json, "eigenvalue", eigenvalue, 2);
    json_bool(json, "rigid", m->rigid);
    json_open(json, "coordinates", '{');
    for (int k = 0; k < f; k++) {
        const double value[2] = {s->q_re[k], s->q_im[k]};
        json_array(json, lw_linear_state_name(linear, k), value, 2);
    }
    json_close(json, '}');
    json_open(json, "signals", '{');
    for (int k = 0; k < lw_linear_states(linear) - 2 * f; k++) {
        const double value[2] = {s->c_re[k], s->c_im[k]};
        json_array(json, lw_linear_state_name(linear, 2 * f + k), value, 2);
    }
    json_close(json, '}');
    json_open(json, "shape", '{');
    for (int b = 1; b < lw_model_body_count(model); b++) {
        json_open(json, lw_model_body_name(model, (lw_body){b}), '{');
        json_array(json, "real", s->re[b], 6);
        json_array(json, "imaginary", s->im[b], 6);
        json_number(json, "energy_share", s->energy[b]);
        json_close(json, '}');
    }
    json_close(json, '}');
    json_close(json, '}');
}

static void json_report(const cli_arguments *arguments, const cli_analysis *a,
                        const lw_linear *linear, const lw_modes *modes, const shape *s)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_text(&json, "at", cli_analysis_state(a));
    json_open(&json, "modes", '[');
    for (int i = 0; i < lw_modes_count(modes); i++) {
        const lw_mode m = lw_modes_at(modes, i);
        read_mode(modes, i, s);
        json_mode(&json, a->model, linear, &m, s);
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

cli_exit cli_modes_of(const cli_arguments *arguments, const cli_analysis *a, lw_linear **linear,
                      lw_modes **modes)
{
    lw_error error = {0};
    const lw_linear_desc desc = cli_analysis_linear(arguments, a);
    lw_status status = lw_linearize(a->model, &desc, linear, &error);
    if (status == LW_OK) status = lw_modes_create(*linear, modes, &error);
    if (status != LW_OK) return cli_analysis_fail(arguments, status, &error);
    return CLI_DONE;
}

static cli_exit report(const cli_arguments *arguments, const cli_analysis *a)
{
    lw_linear *linear = NULL;
    lw_modes *modes = NULL;
    shape s = {0};
    cli_exit code = cli_modes_of(arguments, a, &linear, &modes);
    if (code)
        ;
    else if (!shape_create(&s, lw_model_body_count(a->model), lw_linear_dof(linear),
                           lw_linear_states(linear) - 2 * lw_linear_dof(linear)))
        code = cli_complain(CLI_FAILED, "no memory");
    else if (arguments->json)
        json_report(arguments, a, linear, modes, &s);
    else if (!arguments->quiet)
        print_report(arguments, a, linear, modes, &s);
    if (!code && arguments->noutput) code = cli_modes_page(arguments, a, modes);
    shape_free(&s);
    lw_modes_destroy(modes);
    lw_linear_destroy(linear);
    return code;
}

cli_exit cli_modes(const cli_arguments *arguments)
{
    cli_analysis a;
    bool balance;
    if (arguments->nvary) return cli_modes_vary(arguments);
    if (arguments->noutput > 1 ||
        (arguments->noutput && !cli_ends_in(arguments->output[0], ".html")))
        return cli_complain(CLI_USE,
                            "-o %s: modes are shown in one page, -o FILE.html, those of the cases "
                            "of --vary are written as FILE.csv",
                            arguments->output[arguments->noutput - 1]);
    cli_exit code = cli_analysis_at(arguments, true, &balance);
    if (code) return code;
    code = cli_analysis_begin(arguments, balance, &a);
    if (!code) code = report(arguments, &a);
    if (!code && a.balanced) cli_analysis_warn(&a.equilibrium);
    if (!code && !arguments->quiet) cli_analysis_leaves_out(a.model, false);
    cli_analysis_end(&a);
    return code;
}
