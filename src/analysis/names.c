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
    if (model->joint[at.joint].node < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "independent: joint '%s' closes a loop and has no coordinates in the tree "
                        "(`cut: never` keeps it there)",
                        name);
    const lwi_node *node = &model->node[model->joint[at.joint].node];
    for (int i = 0; i < node->nv; i++)
        if (at.coordinate < 0 || node->column[i] == at.coordinate)
            n->named[node->iv + i] = true, found++;
    if (found) return LW_OK;
    if (at.coordinate < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "independent: joint '%s' has no coordinate that is free", name);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "independent: joint '%s' has no coordinate %d that is free", name,
                    at.coordinate);
}

lw_status lwi_analysis_names(const lw_model *model, const char *list, bool *named, lw_error *error)
{
    if (!list || !*list || !strcmp(list, "auto")) return LW_OK;
    naming n = {model, named};
    return lwi_names_each("independent", list, take, &n, error);
}
