// names.c -- names of the coordinates of the spanning tree.
#include "analysis/names.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
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

static lw_status unknown(const lw_model *model, const char *name, lw_error *error)
{
    const char *nearest = NULL;
    const char **names = calloc((size_t)model->njoint + 1, sizeof *names);
    for (int j = 0; names && j < model->njoint; j++) names[j] = model->joint[j].name;
    if (names) nearest = lwi_nearest(name, names, model->njoint);
    const lw_status status =
        lwi_fail(error, LW_ERR_ARGUMENT, "independent: there is no joint '%.80s'%s%s%s", name,
                 nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    free(names);
    return status;
}

static int find_joint(const lw_model *model, const char *name)
{
    for (int j = 0; j < model->njoint; j++)
        if (!strcmp(model->joint[j].name, name)) return j;
    return -1;
}

// The joint of JOINT or JOINT.qK; *only: K, or -1.
static int read_name(const lw_model *model, char *name, int *only)
{
    *only = -1;
    if (find_joint(model, name) < 0 && !strncmp(name, "joint.", 6))
        memmove(name, name + 6, strlen(name) - 5);
    const int joint = find_joint(model, name);
    char *last = strrchr(name, '.');
    if (joint >= 0 || !last || (last[1] != 'q' && last[1] != 'd') ||
        !isdigit((unsigned char)last[2]) || last[3])
        return joint;
    *last = 0;
    *only = last[2] - '0';
    return find_joint(model, name);
}

static lw_status take(const lw_model *model, char *name, bool *named, lw_error *error)
{
    int only, found = 0;
    const int joint = read_name(model, name, &only);
    if (joint < 0) return unknown(model, name, error);
    if (model->joint[joint].node < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "independent: joint '%s' closes a loop and has no coordinates in the tree "
                        "(`cut: never` keeps it there)",
                        name);
    const lwi_node *node = &model->node[model->joint[joint].node];
    for (int i = 0; i < node->nv; i++)
        if (only < 0 || node->column[i] == only) named[node->iv + i] = true, found++;
    return found
               ? LW_OK
               : lwi_fail(error, LW_ERR_ARGUMENT,
                          "independent: joint '%s' has no coordinate %d that is free", name, only);
}

lw_status lwi_analysis_names(const lw_model *model, const char *list, bool *named, lw_error *error)
{
    if (!list || !*list || !strcmp(list, "auto")) return LW_OK;
    char *text = malloc(strlen(list) + 1);
    if (!text) return lwi_fail(error, LW_ERR_MEMORY, "no memory for an analysis");
    strcpy(text, list);
    lw_status status = LW_OK;
    for (char *name = text, *next; name && status == LW_OK; name = next) {
        next = strchr(name, ',');
        if (next) *next++ = 0;
        while (isspace((unsigned char)*name)) name++;
        for (size_t n = strlen(name); n > 0 && isspace((unsigned char)name[n - 1]);) name[--n] = 0;
        status = take(model, name, named, error);
    }
    free(text);
    return status;
}
