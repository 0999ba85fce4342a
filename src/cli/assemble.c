// assemble.c -- linkwork assemble: bodies moved to where all joints hold, velocities that they
// allow.
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/** Names of --hold, pointing into `text`. */
typedef struct held {
    char *text;
    const char *name[CLI_MAX];
    int n;
} held;

static cli_exit split_names(const char *list, held *h)
{
    *h = (held){0};
    if (!list) return CLI_DONE;
    h->text = malloc(strlen(list) + 1);
    if (!h->text) return cli_complain(CLI_FAILED, "no memory");
    strcpy(h->text, list);
    for (char *name = strtok(h->text, ","); name; name = strtok(NULL, ",")) {
        if (h->n == CLI_MAX) return cli_complain(CLI_USE, "--hold: too many names");
        h->name[h->n++] = name;
    }
    return CLI_DONE;
}

/** Coordinates of --near, their names pointing into `text`. */
typedef struct near_list {
    char *text;
    lw_joint_q item[CLI_MAX];
    int n;
} near_list;

// "Q[:Q...]"
static bool read_coordinates(char *list, lw_joint_q *near)
{
    for (char *end = list; list; list = end) {
        end = strchr(list, ':');
        if (end) *end++ = 0;
        if (near->nq == LW_JOINT_MAX_NQ || !lw_number_read(list, &near->q[near->nq++]))
            return false;
    }
    return true;
}

static cli_exit read_near(const char *list, near_list *near)
{
    *near = (near_list){0};
    if (!list) return CLI_DONE;
    near->text = malloc(strlen(list) + 1);
    if (!near->text) return cli_complain(CLI_FAILED, "no memory");
    strcpy(near->text, list);
    for (char *name = strtok(near->text, ","); name; name = strtok(NULL, ",")) {
        char *value = strrchr(name, '=');
        if (near->n == CLI_MAX) return cli_complain(CLI_USE, "--near: too many joints");
        if (value) *value++ = 0;
        if (!value || !read_coordinates(value, &near->item[near->n]))
            return cli_complain(CLI_USE, "--near: '%s' needs =Q, numbers separated by colons",
                                name);
        near->item[near->n++].joint = name;
    }
    return CLI_DONE;
}

static void print_report(const cli_arguments *arguments, const lw_model *model,
                         const lw_assembly *a)
{
    printf("model        %s\n", arguments->operand);
    printf("positions    residual %.1e before, %.1e after %d steps", a->before[0], a->after[0],
           a->iterations);
    printf(a->starts > 1 ? ", start %d\n" : "\n", a->starts);
    printf("moved        %.6g m at most%s%s, rotated %.6g rad at most%s%s\n", a->moved,
           a->moved_body.index ? ": " : "",
           a->moved_body.index ? lw_model_body_name(model, a->moved_body) : "", a->rotated,
           a->rotated_body.index ? ": " : "",
           a->rotated_body.index ? lw_model_body_name(model, a->rotated_body) : "");
    printf("velocities   residual %.1e before, %.1e after\n", a->before[1], a->after[1]);
    // given values that round-off alone has changed are as they were given
    const double same = 1e-9;
    if (a->changed > same)
        printf("given q      of %s could not be kept: off by %.6g\n",
               lw_model_joint_name(model, a->changed_joint), a->changed);
    if (a->changed_speed > same)
        printf("given qd     of %s could not be kept: off by %.6g\n",
               lw_model_joint_name(model, a->changed_speed_joint), a->changed_speed);
    for (int i = 0; i < arguments->noutput; i++) printf("written      %s\n", arguments->output[i]);
}

static void json_change(cli_json *json, const char *key, const char *name, double size)
{
    json_open(json, key, '{');
    json_text(json, "name", name);
    json_number(json, "by", size);
    json_close(json, '}');
}

static void json_report(const cli_arguments *arguments, const lw_model *model, const lw_assembly *a)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", arguments->operand);
    json_integer(&json, "iterations", a->iterations);
    json_integer(&json, "starts", a->starts);
    json_array(&json, "residual_before", a->before, 2);
    json_array(&json, "residual_after", a->after, 2);
    json_change(&json, "moved", lw_model_body_name(model, a->moved_body), a->moved);
    json_change(&json, "turned", lw_model_body_name(model, a->rotated_body), a->rotated);
    json_change(&json, "changed_q", lw_model_joint_name(model, a->changed_joint), a->changed);
    json_change(&json, "changed_qd", lw_model_joint_name(model, a->changed_speed_joint),
                a->changed_speed);
    json_open(&json, "files", '[');
    for (int i = 0; i < arguments->noutput; i++) json_text(&json, NULL, arguments->output[i]);
    json_close(&json, ']');
    json_close(&json, '}');
}

static cli_exit write_model(const cli_arguments *arguments, const lw_model *model,
                            const lw_options *options)
{
    FILE *file = NULL;
    lw_error error = {0};
    if (!arguments->noutput) return CLI_DONE;
    cli_exit code = cli_open(arguments, &file);
    if (code) return code;
    const lw_status status =
        lw_model_write(model, cli_has_settings(options) ? options : NULL, file, &error);
    code = cli_close(arguments, file, status == LW_OK);
    return code || status == LW_OK ? code : cli_fail(status, &error);
}

static cli_exit assemble(const cli_arguments *arguments, const held *h, const near_list *near)
{
    lw_model *model = NULL, *assembled = NULL;
    lw_options options;
    lw_error error = {0};
    lw_assembly report;
    cli_arguments open = *arguments;
    open.open = true;
    cli_exit code = cli_read(&open, &model, &options);
    if (code) return code;
    const lw_assemble_desc desc = {.hold = h->name,
                                   .nhold = h->n,
                                   .near = near->item,
                                   .nnear = near->n,
                                   .starts = arguments->starts};
    const lw_status status = lw_model_assemble(model, &desc, &assembled, &report, &error);
    if (status == LW_ERR_ARGUMENT)
        code = cli_complain(CLI_USE, "%s", error.text);
    else if (status != LW_OK)
        code = cli_complain(CLI_FAILED, "%s: %s", arguments->operand, error.text);
    else
        code = write_model(arguments, assembled, &options);
    if (!code && arguments->json)
        json_report(arguments, model, &report);
    else if (!code && !arguments->quiet)
        print_report(arguments, model, &report);
    lw_model_destroy(assembled);
    lw_model_destroy(model);
    return code;
}

cli_exit cli_assemble(const cli_arguments *arguments)
{
    held h;
    near_list near = {0};
    for (int i = 0; i < arguments->noutput; i++) {
        const char *file = arguments->output[i];
        if (!cli_ends_in(file, ".yaml") && !cli_ends_in(file, ".yml"))
            return cli_complain(CLI_USE, "%s: models are written as .yaml", file);
    }
    if (arguments->noutput > 1)
        return cli_complain(CLI_USE, "assemble writes one file, -o was given %d times",
                            arguments->noutput);
    cli_exit code = split_names(arguments->hold, &h);
    if (!code) code = read_near(arguments->near, &near);
    if (!code) code = assemble(arguments, &h, &near);
    free(h.text);
    free(near.text);
    return code;
}
