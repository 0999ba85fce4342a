// actuate.c -- the same mechanism with inputs for the efforts of some coordinates, and without drives.
#include "analysis/actuate.h"

#include "analysis/names.h"
#include "dynamics/constraints.h"
#include "initial/restart.h"
#include "model/coordinate_names.h"

#include <linkwork/analysis.h>

#include <stdio.h>
#include <string.h>

typedef struct actuation {
    const lw_model *model;
    lwi_arena arena;
    lwi_description desc;
} actuation;

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for actuators");
}

int lwi_actuator_input(const lw_model *model, int joint, int coordinate)
{
    const lw_coordinate_desc *d = &model->desc.joint[joint].coordinate[coordinate];
    if (d->effort.index < 0) return -1 - d->effort.index;
    return d->force.index < 0 ? -1 - d->force.index : -1;
}

// An input drives the coordinate, if none did.
static lw_status add_input(actuation *a, int joint, int k, lw_error *error)
{
    const char *name = a->model->joint[joint].name;
    lw_coordinate_desc *d = &a->desc.joint[joint].coordinate[k];
    char text[LW_COORDINATE_NAME_SIZE + 40];
    d->motion = (lw_signal){0};
    if (d->effort.index < 0 || d->force.index < 0) return LW_OK;
    lw_signal *const free = d->effort.index == 0 ? &d->effort : &d->force;
    if (free->index != 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "actuators: `force` and `effort` of coordinate q%d of joint '%s' follow "
                        "functions; expected one of them free, or an input",
                        k, name);
    const char **inputs = LWI_PUSH(&a->arena, const char *, a->desc.ninput + 1);
    snprintf(text, sizeof text, "joint.%s.actuator%d", name, k);
    const char *copy = lwi_arena_text(&a->arena, text);
    if (!inputs || !copy) return no_memory(error);
    if (a->desc.ninput) memcpy(inputs, a->desc.input, (size_t)a->desc.ninput * sizeof *inputs);
    inputs[a->desc.ninput++] = copy;
    a->desc.input = inputs;
    free->index = -a->desc.ninput;
    return LW_OK;
}

static lw_status take(void *user, const char *name, lw_error *error)
{
    actuation *a = user;
    int input, found = 0;
    lwi_coordinate_name at;
    if (lw_model_find_input(a->model, name, &input) == LW_OK) return LW_OK;
    TRY(lwi_coordinate_name_read(a->model, "actuators", name, &at, error));
    const lwi_joint *joint = &a->model->joint[at.joint];
    for (int k = 0; k < joint->type->nv; k++) {
        if (at.coordinate >= 0 && k != at.coordinate) continue;
        TRY(add_input(a, at.joint, k, error));
        found++;
    }
    if (found) return LW_OK;
    if (at.coordinate < 0)
        lwi_fail(error, LW_ERR_ARGUMENT,
                 "actuators: joint '%s' has no coordinate; expected a joint that can move",
                 joint->name);
    else
        lwi_fail(error, LW_ERR_ARGUMENT,
                 "actuators: joint '%s' has no coordinate q%d; it has %d, numbered from q0",
                 joint->name, at.coordinate, joint->type->nv);
    return lwi_analysis_at_joint(a->model, at.joint, LW_ERR_ARGUMENT, error);
}

static lw_status take_driven(actuation *a, lw_error *error)
{
    for (int j = 0; j < a->model->njoint; j++)
        for (int k = 0; k < a->model->joint[j].type->nv; k++)
            if (a->model->joint[j].motion[k].index > 0) TRY(add_input(a, j, k, error));
    return LW_OK;
}

static void release_all(actuation *a)
{
    for (int j = 0; j < a->desc.njoint; j++)
        for (int k = 0; k < LW_JOINT_MAX_NV; k++)
            a->desc.joint[j].coordinate[k].motion = (lw_signal){0};
}

// ---- measures that read efforts of drives

// Every `from` of the text is `to`; NULL: no memory.
static const char *replaced(lwi_arena *arena, const char *text, const char *from, const char *to)
{
    const size_t length = strlen(from);
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, from)); at += length) count++;
    if (!count) return text;
    char *made = lwi_arena_chars(arena, strlen(text) + count * strlen(to) + 1), *end = made;
    if (!made) return NULL;
    for (const char *at; (at = strstr(text, from)); text = at + length) {
        memcpy(end, text, (size_t)(at - text));
        end = stpcpy(end + (at - text), to);
    }
    strcpy(end, text);
    return made;
}

// The effort of a drive is that of the actuator in its place, or zero.
static lw_status replace_drive(actuation *a, lw_measure_desc *measure, int joint, int k)
{
    const lw_coordinate_desc *d = &a->desc.joint[joint].coordinate[k];
    const bool actuated = d->effort.index < 0 || d->force.index < 0;
    const size_t size = strlen(a->model->joint[joint].name) + 40;
    char *drive = lwi_arena_chars(&a->arena, size), *actuator = lwi_arena_chars(&a->arena, size);
    if (!drive || !actuator) return LW_ERR_MEMORY;
    snprintf(drive, size, "joint.%s.drive%d", a->model->joint[joint].name, k);
    snprintf(actuator, size, "joint.%s.actuator%d", a->model->joint[joint].name, k);
    measure->formula = replaced(&a->arena, measure->formula, drive, actuated ? actuator : "0");
    return measure->formula ? LW_OK : LW_ERR_MEMORY;
}

static lw_status replace_drives(actuation *a, lw_error *error)
{
    lw_measure_desc *measure = LWI_PUSH(&a->arena, lw_measure_desc, a->desc.nmeasure);
    if (!measure) return no_memory(error);
    for (int i = 0; i < a->desc.nmeasure; i++) {
        measure[i] = a->desc.measure[i];
        if (!strstr(measure[i].formula, ".drive")) continue;
        for (int j = 0; j < a->model->njoint; j++)
            for (int k = 0; k < a->model->joint[j].type->nv; k++)
                if (a->model->joint[j].motion[k].index > 0 &&
                    a->desc.joint[j].coordinate[k].motion.index == 0 &&
                    replace_drive(a, &measure[i], j, k) != LW_OK)
                    return no_memory(error);
    }
    a->desc.measure = measure;
    return LW_OK;
}

static lw_status compile(actuation *a, lw_model **actuated, lw_error *error)
{
    lwi_unclosed unclosed;
    TRY(lwi_model_compile(&a->desc, &a->model->arena.allocator, &unclosed, actuated, error));
    const lw_error *why = unclosed.position.status ? &unclosed.position : &unclosed.velocity;
    if (why->status == LW_OK) return LW_OK;
    if (error) *error = *why;
    lw_model_destroy(*actuated);
    *actuated = NULL;
    return why->status;
}

static lw_status build(actuation *a, lw_constraints *c, const char *actuators, bool release,
                       lw_model **actuated, lw_error *error)
{
    const lw_model *model = a->model;
    lw_constraints_evaluate(c, 0, model->tree_q0, model->tree_v0, c->cut.phi, NULL, NULL, NULL);
    const lwi_motion motion = lwi_cut_motion(&c->tree);
    if (lwi_describe_motion(model, &motion, c->tree.joint_qd, true, &a->arena, &a->desc) != LW_OK)
        return no_memory(error);
    if (actuators && *actuators)
        TRY(lwi_names_each("actuators", actuators, take, a, error));
    else if (release)
        TRY(take_driven(a, error));
    if (release) release_all(a);
    TRY(replace_drives(a, error));
    return compile(a, actuated, error);
}

lw_status lw_model_actuate(const lw_model *model, const char *actuators, bool release,
                           lw_model **actuated, lw_error *error)
{
    if (!model || !actuated)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_model_actuate: a model and a result are needed");
    actuation a = {.model = model};
    lw_constraints *c = NULL;
    lw_model *made = NULL;
    TRY(lw_constraints_create(model, &model->arena.allocator, &c, error));
    lwi_arena_init(&a.arena, &model->arena.allocator);
    const lw_status status = build(&a, c, actuators, release, &made, error);
    lwi_arena_free(&a.arena);
    lw_constraints_destroy(c);
    if (status == LW_OK) *actuated = made;
    return status;
}
