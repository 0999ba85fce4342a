// check.c -- linkwork check: what a model is, before anything moves.
#include "cli/cli.h"

#include <stdlib.h>

static const char *const type_names[] = {
#define X(name, text, nq, nv, nc, help) text,
    LW_JOINT_LIST(X)
#undef X
};

/** What lw_model_check and the inspection say. */
typedef struct findings {
    lw_check check;
    int *dependent; ///< [joint]
    int type_count[LW_JOINT_COUNT];
    int nbody, njoint, nwarning; ///< bodies without the ground
} findings;

static void count(const lw_model *model, findings *f)
{
    f->nbody = lw_model_body_count(model) - 1;
    f->njoint = lw_model_joint_count(model);
    f->nwarning = lw_model_warning_count(model);
    for (int i = 0; i < f->njoint; i++)
        f->type_count[lw_model_joint(model, (lw_joint){i}).type]++;
}

static void print_bodies(const lw_model *model, const findings *f)
{
    double mass = 0;
    for (int i = 1; i <= f->nbody; i++) mass += lw_model_body(model, (lw_body){i}).mass;
    printf("bodies       %d, %.6g kg\n", f->nbody, mass);
    for (int i = 1; i <= f->nbody; i++) {
        const lw_body_info body = lw_model_body(model, (lw_body){i});
        if (body.moves_with == i) continue;
        printf("             %s moves with %s\n", body.name,
               lw_model_body_name(model, (lw_body){body.moves_with}));
    }
}

static void print_joints(const lw_model *model, const findings *f)
{
    const char *separator = ": ";
    printf("joints       %d", f->njoint);
    for (int i = 0; i < LW_JOINT_COUNT; i++) {
        if (!f->type_count[i]) continue;
        printf("%s%d %s", separator, f->type_count[i], type_names[i]);
        separator = ", ";
    }
    printf("\nloops        %d\n", lw_model_loop_count(model));
    for (int i = 0; i < f->njoint; i++) {
        const lw_joint_info joint = lw_model_joint(model, (lw_joint){i});
        if (joint.closes_loop) printf("             %s closes one\n", joint.name);
    }
}

static void print_freedoms(const lw_model *model, const findings *f)
{
    const lw_check *c = &f->check;
    printf("freedoms     %d now, %d generically\n", c->dof, c->dof_generic);
    printf("constraints  %d equations, %d independent, %d redundant\n", c->rows, c->rank,
           c->redundant);
    for (int i = 0; i < f->njoint; i++)
        if (f->dependent[i])
            printf("             %d of %s depend%s on the joints before it\n", f->dependent[i],
                   lw_model_joint_name(model, (lw_joint){i}), f->dependent[i] == 1 ? "s" : "");
    printf("assembly     residual: position %.1e, velocity %.1e\n", c->residual[0], c->residual[1]);
}

static void print_method(const lw_model *model, const lw_options *options)
{
    lw_sim *sim = NULL;
    lw_error error = {0};
    const lw_sim_desc desc = {.options = options};
    if (lw_sim_create(model, &desc, &sim, &error) == LW_OK)
        printf("method       %s, %s\n", lw_sim_options(sim)->formulation,
               lw_sim_options(sim)->integrator);
    else
        printf("method       none: %s\n", error.text);
    lw_sim_destroy(sim);
}

static void print_findings(const lw_model *model, const lw_options *options, const findings *f)
{
    print_bodies(model, f);
    print_joints(model, f);
    print_freedoms(model, f);
    print_method(model, options);
    printf("warnings     %d\n", f->nwarning);
    for (int i = 0; i < f->nwarning; i++) printf("             %s\n", lw_model_warning(model, i));
}

static void json_bodies(cli_json *json, const lw_model *model, const findings *f)
{
    json_open(json, "bodies", '[');
    for (int i = 1; i <= f->nbody; i++) {
        const lw_body_info body = lw_model_body(model, (lw_body){i});
        json_open(json, NULL, '{');
        json_text(json, "name", body.name);
        json_number(json, "mass", body.mass);
        if (body.moves_with != i)
            json_text(json, "moves_with", lw_model_body_name(model, (lw_body){body.moves_with}));
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_joints(cli_json *json, const lw_model *model, const findings *f)
{
    json_open(json, "joints", '[');
    for (int i = 0; i < f->njoint; i++) {
        const lw_joint_info joint = lw_model_joint(model, (lw_joint){i});
        json_open(json, NULL, '{');
        json_text(json, "name", joint.name);
        json_text(json, "type", type_names[joint.type]);
        json_text(json, "body1", lw_model_body_name(model, joint.body1));
        json_text(json, "body2", lw_model_body_name(model, joint.body2));
        json_integer(json, "driven", joint.ndriven);
        json_integer(json, "closes_loop", joint.closes_loop);
        json_integer(json, "redundant", f->dependent[i]);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void json_findings(const char *name, const lw_model *model, const findings *f)
{
    cli_json json = {.file = stdout};
    json_open(&json, NULL, '{');
    json_text(&json, "model", name);
    json_bodies(&json, model, f);
    json_joints(&json, model, f);
    json_integer(&json, "loops", lw_model_loop_count(model));
    json_integer(&json, "dof", f->check.dof);
    json_integer(&json, "dof_generic", f->check.dof_generic);
    json_integer(&json, "constraints", f->check.rows);
    json_integer(&json, "rank", f->check.rank);
    json_integer(&json, "redundant", f->check.redundant);
    json_array(&json, "residual", f->check.residual, 2);
    json_open(&json, "warnings", '[');
    for (int i = 0; i < f->nwarning; i++) json_text(&json, NULL, lw_model_warning(model, i));
    json_close(&json, ']');
    json_close(&json, '}');
}

cli_exit cli_check(const cli_arguments *arguments)
{
    lw_model *model = NULL;
    lw_options options;
    lw_error error = {0};
    findings f = {0};
    cli_exit code = cli_read(arguments, &model, &options);
    if (code) return code;
    count(model, &f);

    f.dependent = calloc((size_t)f.njoint + 1, sizeof *f.dependent);
    const lw_status status =
        f.dependent ? lw_model_check(model, &f.check, f.dependent, &error) : LW_ERR_MEMORY;
    if (status != LW_OK)
        code = cli_fail(status, &error);
    else if (arguments->json)
        json_findings(arguments->operand, model, &f);
    else
        print_findings(model, &options, &f);
    free(f.dependent);
    lw_model_destroy(model);
    return code;
}
