// coordinate_names.c -- coordinates of joints as users name them, and lists of names.
#include "model/coordinate_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 512 }; // of a list; longer ones are cut, and then unknown

int lwi_find_joint(const lw_model *model, const char *name)
{
    for (int j = 0; j < model->njoint; j++)
        if (!strcmp(model->joint[j].name, name)) return j;
    return -1;
}

// `text` without the "joint." of a column, unless a joint is called so.
static const char *without_item(const lw_model *model, const char *text)
{
    return lwi_find_joint(model, text) < 0 && !strncmp(text, "joint.", 6) ? text + 6 : text;
}

bool lwi_coordinate_name_find(const lw_model *model, const char *text, lwi_coordinate_name *name)
{
    char joint[LONGEST_NAME];
    lwi_copy_text(joint, sizeof joint, without_item(model, text));
    *name = (lwi_coordinate_name){.joint = lwi_find_joint(model, joint), .coordinate = -1};
    char *last = strrchr(joint, '.');
    if (name->joint >= 0) return true;
    if (!last || (last[1] != 'q' && last[1] != 'd') || !isdigit((unsigned char)last[2]) || last[3])
        return false;
    *last = 0;
    name->joint = lwi_find_joint(model, joint);
    name->coordinate = last[2] - '0';
    return name->joint >= 0;
}

static lw_status unknown(const lw_model *model, const char *what, const char *name, lw_error *error)
{
    const char *nearest = NULL;
    const char **names = calloc((size_t)model->njoint + 1, sizeof *names);
    for (int j = 0; names && j < model->njoint; j++) names[j] = model->joint[j].name;
    if (names) nearest = lwi_nearest(name, names, model->njoint);
    const lw_status status = lwi_fail(
        error, LW_ERR_ARGUMENT, "%s: there is no joint '%.80s'%s%s%s; expected JOINT or JOINT.q0",
        what, name, nearest ? ", did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    if (error && model->desc.source)
        lwi_copy_text(error->file, sizeof error->file, model->desc.source);
    free(names);
    return status;
}

lw_status lwi_coordinate_name_read(const lw_model *model, const char *what, const char *text,
                                   lwi_coordinate_name *name, lw_error *error)
{
    return lwi_coordinate_name_find(model, text, name) ? LW_OK : unknown(model, what, text, error);
}

lw_status lwi_names_each(const char *what, const char *list, lwi_take_name take, void *user,
                         lw_error *error)
{
    for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
        char name[LONGEST_NAME];
        end = at + strcspn(at, ",");
        const char *last = end;
        while (at < last && isspace((unsigned char)*at)) at++;
        while (last > at && isspace((unsigned char)last[-1])) last--;
        if (last == at)
            return lwi_fail(
                error, LW_ERR_ARGUMENT,
                "%s: a name is missing; expected JOINT or JOINT.q0, with commas between", what);
        const size_t length = (size_t)(last - at);
        const size_t kept = length < sizeof name ? length : sizeof name - 1;
        memcpy(name, at, kept);
        name[kept] = 0;
        TRY(take(user, name, error));
    }
    return LW_OK;
}
