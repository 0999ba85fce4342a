// divide.c -- how a model is divided into segments (divide.h).
#include "methods/dca/segments/divide.h"

// A hub costs as much as some 20 bodies of a path.  Where paths have more hinges for each hub than that, hubs cost less
// than efforts in place of forces, which cost more than the path itself (bench/ops/paths.c, `wrenches`).
enum { HINGES_FOR_HUB = 24 };

bool lwi_acts_on_bodies(const lw_model *model)
{
    return (model->force_needs & (LWI_NEEDS_POSE | LWI_NEEDS_TWIST)) != 0;
}

static lw_status divide(const lw_model *model, lwi_arena *arena, lwi_path_plan **path,
                        lwi_net_plan **net)
{
    *path = NULL, *net = NULL;
    if (lwi_acts_on_bodies(model)) {
        TRY(lwi_net_plan_create(model, (lwi_net_choice){.share = HINGES_FOR_HUB}, arena, net));
        if (*net) return LW_OK;
    }
    TRY(lwi_path_plan_create(model, (lwi_path_choice){0}, arena, path));
    return *path ? LW_OK : lwi_net_plan_create(model, (lwi_net_choice){0}, arena, net);
}

lw_status lwi_divide(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                     lwi_path_plan **path, lwi_net_plan **net)
{
    if (!shared) return divide(model, arena, path, net);
    if (!shared->divided) {
        TRY(divide(model, &shared->segments, &shared->path, &shared->net));
        shared->divided = true;
        if (!shared->path && !shared->net) lwi_arena_free(&shared->segments); // of what was tried
    }
    *path = shared->path, *net = shared->net;
    return LW_OK;
}
