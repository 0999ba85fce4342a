// inspect.c -- public read access to a model.
#include "model/events.h"

#include <stdbool.h>
#include <string.h>

static bool inside(int index, int count)
{
    return index >= 0 && index < count;
}

int lw_model_body_count(const lw_model *model)
{
    if (!model) return 0;
    return model->nbody;
}
int lw_model_joint_count(const lw_model *model)
{
    if (!model) return 0;
    return model->njoint;
}
int lw_model_marker_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.nmarker;
}
int lw_model_input_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.ninput;
}
int lw_model_warning_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.nwarning;
}
const char *lw_model_body_name(const lw_model *model, lw_body body)
{
    if (!model) return "";
    return inside(body.index, model->nbody) ? model->body[body.index].name : "";
}
const char *lw_model_joint_name(const lw_model *model, lw_joint joint)
{
    if (!model) return "";
    return inside(joint.index, model->njoint) ? model->joint[joint.index].name : "";
}
int lw_model_measure_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.nmeasure;
}
int lw_model_event_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.nevent;
}
int lw_model_function_count(const lw_model *model)
{
    if (!model) return 0;
    return model->desc.nfunction;
}
lw_function_info lw_model_function(const lw_model *model, int function)
{
    static const char *const names[] = {
#define X(name, text, help) text,
        LW_FUNCTION_LIST(X)
#undef X
    };
    if (!model || !inside(function, model->desc.nfunction)) return (lw_function_info){0};
    const lw_function_desc *f = &model->desc.function[function];
    return (lw_function_info){f->name, f->type, names[f->type], f->recorded};
}
const char *lw_model_event_name(const lw_model *model, int event)
{
    if (!model) return "";
    return inside(event, model->desc.nevent) ? model->desc.event[event].name : "";
}
const char *lw_model_event_action(const lw_model *model, int event)
{
    if (!model) return "";
    return inside(event, model->desc.nevent) ? model->event[event].action : "";
}
const char *lw_model_measure_name(const lw_model *model, int measure)
{
    if (!model) return "";
    return inside(measure, model->desc.nmeasure) ? model->desc.measure[measure].name : "";
}
const char *lw_model_marker_name(const lw_model *model, int marker)
{
    if (!model) return "";
    return inside(marker, model->desc.nmarker) ? model->desc.marker[marker].name : "";
}
const char *lw_model_input_name(const lw_model *model, int input)
{
    if (!model) return "";
    return inside(input, model->desc.ninput) ? model->desc.input[input] : "";
}
const char *lw_model_warning(const lw_model *model, int index)
{
    if (!model) return "";
    return inside(index, model->desc.nwarning) ? model->desc.warning[index] : "";
}

lw_status lw_model_find_body(const lw_model *model, const char *name, lw_body *body)
{
    if (!model || !name || !body) return LW_ERR_ARGUMENT;
    for (int i = 0; i < model->nbody; i++)
        if (strcmp(model->body[i].name, name) == 0) {
            body->index = i;
            return LW_OK;
        }
    return LW_ERR_ARGUMENT;
}

lw_status lw_model_find_joint(const lw_model *model, const char *name, lw_joint *joint)
{
    if (!model || !name || !joint) return LW_ERR_ARGUMENT;
    for (int i = 0; i < model->njoint; i++)
        if (strcmp(model->joint[i].name, name) == 0) {
            joint->index = i;
            return LW_OK;
        }
    return LW_ERR_ARGUMENT;
}

lw_status lw_model_find_input(const lw_model *model, const char *name, int *input)
{
    if (!model || !name || !input) return LW_ERR_ARGUMENT;
    for (int i = 0; i < model->desc.ninput; i++)
        if (strcmp(model->desc.input[i], name) == 0) {
            *input = i;
            return LW_OK;
        }
    return LW_ERR_ARGUMENT;
}

lw_body_info lw_model_body(const lw_model *model, lw_body body)
{
    if (!model) return (lw_body_info){.name = ""};
    if (!inside(body.index, model->nbody)) return (lw_body_info){.name = ""};
    const lw_body_desc *d = &model->desc.body[body.index];
    lw_body_info info = {.name = d->name,
                         .mass = d->mass,
                         .moves_with = model->body[body.index].carrier,
                         .com = d->com,
                         .shapes = d->shapes,
                         .nshape = d->nshape};
    return info;
}

int lw_model_mesh_count(const lw_model *model)
{
    return model ? model->desc.nmesh : 0;
}

lw_mesh_desc lw_model_mesh(const lw_model *model, lw_mesh mesh)
{
    if (!model || !inside(mesh.index - 1, model->desc.nmesh)) return (lw_mesh_desc){0};
    return model->desc.mesh[mesh.index - 1];
}

lw_joint_info lw_model_joint(const lw_model *model, lw_joint joint)
{
    if (!model) return (lw_joint_info){.name = ""};
    if (!inside(joint.index, model->njoint)) return (lw_joint_info){.name = ""};
    const lwi_joint *j = &model->joint[joint.index];
    const lw_joint_desc *d = &model->desc.joint[joint.index];
    return (lw_joint_info){.name = j->name,
                           .type = d->type,
                           .body1 = d->body1,
                           .body2 = d->body2,
                           .nq = j->type->nq,
                           .nv = j->type->nv,
                           .q_first = j->iq,
                           .v_first = j->iv,
                           .ndriven = j->ndriven,
                           .closes_loop = !j->merged && j->node < 0,
                           .merged = j->merged,
                           .angles = j->type->angles,
                           .quaternion = j->type->quaternion};
}

int lw_model_nq(const lw_model *model)
{
    if (!model) return 0;
    return model->nq;
}
int lw_model_nv(const lw_model *model)
{
    if (!model) return 0;
    return model->nv;
}
int lw_model_tree_dof(const lw_model *model)
{
    if (!model) return 0;
    return model->tree_nv;
}
int lw_model_loop_count(const lw_model *model)
{
    if (!model) return 0;
    return model->nloop;
}

int lw_model_loop(const lw_model *model, int loop, lw_joint *joints, int room)
{
    if (!model) return 0;
    if (!inside(loop, model->nloop)) return 0;
    const lwi_joint *joint = &model->joint[model->loop[loop]];
    const int a = model->body_node[joint->body2], b = model->body_node[joint->body1];
    int n = 0;
    if (n++ < room) joints[0].index = model->loop[loop];
    // inward from both bodies, always the one further out in the sweep, until they meet; what leads
    // away from body 1 is collected by a second walk, which ends where the first has met it
    int up = a, down = b, length = 0;
    while (up != down) {
        int *further = up > down ? &up : &down;
        const lwi_node *node = &model->node[*further];
        if (further == &up && node->joint >= 0 && n++ < room) joints[n - 1].index = node->joint;
        if (further == &down && node->joint >= 0) length++;
        *further = node->parent;
    }
    n += length;
    int at = n;
    for (int k = b; k != up; k = model->node[k].parent)
        if (model->node[k].joint >= 0 && --at < room) joints[at].index = model->node[k].joint;
    return n;
}

// --------------------------------------------------------------------------------------- parameters

int lw_model_parameter_count(const lw_model *model)
{
    return model ? model->desc.stated.nparameter : 0;
}

lw_parameter_info lw_model_parameter_at(const lw_model *model, int index)
{
    if (index < 0 || index >= lw_model_parameter_count(model)) return (lw_parameter_info){0};
    const lwi_named_statement *p = &model->desc.stated.parameter[index];
    return (lw_parameter_info){.name = p->name,
                               .value = p->value,
                               .unit_value = p->unit_value,
                               .unit = p->unit ? p->unit : "",
                               .text = p->text,
                               .description = p->description ? p->description : "",
                               .minimum = p->minimum,
                               .maximum = p->maximum};
}

lw_status lwi_model_remake(const lw_model *model, const lwi_parsed_document *document,
                           const char *const *set, int nset, const lw_options *options, char *note,
                           const lw_allocator *allocator, lw_model **remade, lw_error *error)
{
    const lwi_remake *how = &model->desc.remake;
    if (!how->make)
        return lwi_fail(error, LW_ERR_UNSUPPORTED, "the model is of no file with parameters");
    return how->make(how, document, set, nset, options, note, allocator, remade, error);
}

lw_status lwi_model_parse(const lw_model *model, lwi_arena *arena,
                          const lwi_parsed_document **document, lw_error *error)
{
    const lwi_remake *how = &model->desc.remake;
    *document = NULL;
    return how->parse ? how->parse(how, arena, document, error) : LW_OK;
}

lw_status lw_model_remake(const lw_model *model, const char *const *set, int nset,
                          const lw_allocator *allocator, lw_model **remade, lw_error *error)
{
    if (error) memset(error, 0, sizeof *error);
    if (!model || !remade || nset < 0 || (nset && !set))
        return lwi_fail(error, LW_ERR_ARGUMENT, "model, set and remade must be given");
    return lwi_model_remake(model, NULL, set, nset, NULL, NULL, allocator, remade, error);
}
