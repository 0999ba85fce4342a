// names.c -- names of the coordinates of the spanning tree.
#include "analysis/names.h"

#include "model/coordinate_names.h"

#include <stdio.h>
#include <string.h>

static const lwi_node *node_of_speed(const lw_model *model, int speed)
{
    int k = 0;
    while (speed >= model->node[k].iv + model->node[k].nv) k++;
    return &model->node[k];
}

void lwi_analysis_name(const lw_model *model, int speed, bool rate, char *text, size_t size)
{
    const lwi_node *node = node_of_speed(model, speed);
    const bool base = node->joint < 0;
    const char *name = base ? model->desc.body[node->body].name : model->joint[node->joint].name;
    snprintf(text, size, "%s.%s.%s%d", base ? "body" : "joint", name,
             rate ? "qd" : (node->type->scalar ? "q" : "d"), node->column[speed - node->iv]);
}

lw_status lwi_analysis_at_joint(const lw_model *model, int joint, lw_status status, lw_error *error)
{
    if (!error) return status;
    lwi_copy_text(error->file, sizeof error->file, model->desc.source ? model->desc.source : "");
    error->line = model->desc.joint[joint].place.line;
    error->column = model->desc.joint[joint].place.column;
    return status;
}

typedef struct naming {
    const lw_model *model;
    bool *named; // [tree nv]
} naming;

static lw_status take(void *user, const char *text, lw_error *error)
{
    const naming *n = user;
    const lw_model *model = n->model;
    lwi_coordinate_name at;
    int found = 0;
    TRY(lwi_coordinate_name_read(model, "independent", text, &at, error));
    const char *name = model->joint[at.joint].name;
    if (model->joint[at.joint].node < 0) {
        lwi_fail(
            error, LW_ERR_ARGUMENT,
            "independent: joint '%s' closes a loop and has no coordinates in the tree; expected "
            "another joint, or `cut: never` here, which keeps it in the tree",
            name);
        return lwi_analysis_at_joint(model, at.joint, LW_ERR_ARGUMENT, error);
    }
    const lwi_node *node = &model->node[model->joint[at.joint].node];
    for (int i = 0; i < node->nv; i++)
        if (at.coordinate < 0 || node->column[i] == at.coordinate)
            n->named[node->iv + i] = true, found++;
    if (found) return LW_OK;
    if (at.coordinate < 0)
        lwi_fail(error, LW_ERR_ARGUMENT,
                 "independent: joint '%s' has no coordinate that is free: it is fixed, or driven; "
                 "expected another joint",
                 name);
    else
        lwi_fail(error, LW_ERR_ARGUMENT,
                 "independent: joint '%s' has no coordinate q%d that is free; it has %d, numbered "
                 "from q0",
                 name, at.coordinate, node->nv);
    return lwi_analysis_at_joint(model, at.joint, LW_ERR_ARGUMENT, error);
}

lw_status lwi_analysis_names(const lw_model *model, const char *list, bool *named, lw_error *error)
{
    if (!list || !*list || !strcmp(list, "auto")) return LW_OK;
    naming n = {model, named};
    return lwi_names_each("independent", list, take, &n, error);
}
