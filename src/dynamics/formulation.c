// formulation.c -- the list of formulations, what they refuse, and their working memory.
#include "kinematics/formulation.h"

#include <math.h>
#include <string.h>

#define X(name) &lwi_formulation_##name,
static const lwi_formulation *const all[] = {LWI_FORMULATION_LIST(X)};
#undef X

const lwi_formulation *lwi_formulation_find(const char *name)
{
    for (int i = 0; i < LWI_COUNT(all); i++)
        if (strcmp(all[i]->name, name) == 0) return all[i];
    return NULL;
}

// ----------------------------------------------------------------------------------------- refusal

static const char remedy[] = "; use the formulation `dense`";

static lw_status refuse_loop(const lwi_formulation *formulation, const lw_model *model,
                             lw_error *why)
{
    const int joint = model->loop[0];
    return lwi_fail(why, LW_ERR_UNSUPPORTED,
                    "formulation %s: joint '%s' closes a loop, and it handles trees only%s",
                    formulation->name, model->joint[joint].name, remedy);
}

static lw_status refuse_coupling(const lwi_formulation *formulation, const lw_model *model,
                                 lw_error *why)
{
    const lwi_coupling *c = &model->coupling[0];
    return lwi_fail(
        why, LW_ERR_UNSUPPORTED,
        "formulation %s: joint '%s' is coupled to joint '%s', and it handles no couplings%s",
        formulation->name, model->joint[c->joint].name, model->joint[c->of].name, remedy);
}

static lw_status refuse_rotor(const lwi_formulation *formulation, const lw_model *model,
                              lw_error *why)
{
    int j = 0;
    while (model->joint[j].nrotor == 0) j++;
    return lwi_fail(why, LW_ERR_UNSUPPORTED,
                    "formulation %s: joint '%s' has rotor inertia, and it handles none%s",
                    formulation->name, model->joint[j].name, remedy);
}

lw_status lwi_formulation_accepts(const lwi_formulation *formulation, const lw_model *model,
                                  lw_error *why)
{
    if (model->nloop > 0 && !(formulation->flags & LWI_CAN_LOOPS))
        return refuse_loop(formulation, model, why);
    if (model->ncoupling > 0 && !(formulation->flags & LWI_CAN_COUPLINGS))
        return refuse_coupling(formulation, model, why);
    if (model->nrotor > 0 && !(formulation->flags & LWI_CAN_ROTORS))
        return refuse_rotor(formulation, model, why);
    return formulation->accepts ? formulation->accepts(model, why) : LW_OK;
}

// ------------------------------------------------------------------------------------------ memory

// Are the blocks of the state x [nx] in ascending order, disjoint and within it?
static bool blocks_fit_state(const lwi_layout *layout)
{
    int n = 0;
    for (int i = 0; i < layout->nblock; i++) {
        if (layout->block[i].first < n || layout->block[i].n < 0) return false;
        n = layout->block[i].first + layout->block[i].n;
    }
    return n <= layout->nx;
}

static lw_status create(const lw_model *model, const lwi_formulation *formulation,
                        const lw_allocator *allocator, int lanes, const lw_options *options,
                        double limit, struct lwi_shared *shared, lwi_work **out, lw_error *error)
{
    TRY(lwi_formulation_accepts(formulation, model, error));
    lwi_work *work = lwi_allocate(allocator, sizeof *work);
    if (!work)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for formulation %s", formulation->name);
    *work = (lwi_work){.model = model,
                       .formulation = formulation,
                       .lanes = lanes,
                       .options = options,
                       .shared = shared,
                       .limit = limit,
                       .valid_until = INFINITY};
    lwi_arena_init(&work->arena, allocator);
    lw_status status = formulation->prepare(work);
    if (status == LW_OK && !blocks_fit_state(&work->layout))
        status =
            lwi_fail(&work->error, LW_ERR_INTERNAL,
                     "internal error: the blocks of %s do not fit its state", formulation->name);
    if (status != LW_OK) {
        if (work->error.text[0] != '\0' && error)
            *error = work->error;
        else
            lwi_fail(error, status, "formulation %s: %s", formulation->name,
                     lw_status_text(status));
        lwi_work_destroy(work);
        return status;
    }
    *out = work;
    return LW_OK;
}

lw_status lwi_work_create_options(const lw_model *model, const lwi_formulation *formulation,
                                  const lw_allocator *allocator, int lanes,
                                  const lw_options *options, lwi_work **work, lw_error *error)
{
    return create(model, formulation, allocator, lanes, options, 0, NULL, work, error);
}

lw_status lwi_work_create_shared(const lw_model *model, const lwi_formulation *formulation,
                                 const lw_allocator *allocator, const lw_options *options,
                                 double limit, struct lwi_shared *shared, lwi_work **work,
                                 lw_error *error)
{
    return create(model, formulation, allocator, 0, options, limit, shared, work, error);
}

lw_status lwi_work_create_lanes(const lw_model *model, const lwi_formulation *formulation,
                                const lw_allocator *allocator, int lanes, lwi_work **work,
                                lw_error *error)
{
    return lwi_work_create_options(model, formulation, allocator, lanes, NULL, work, error);
}

lw_status lwi_work_create(const lw_model *model, const lwi_formulation *formulation,
                          const lw_allocator *allocator, lwi_work **work, lw_error *error)
{
    return lwi_work_create_lanes(model, formulation, allocator, 0, work, error);
}

void lwi_work_destroy(lwi_work *work)
{
    if (!work) return;
    if (work->formulation->release) work->formulation->release(work);
    const lw_allocator allocator = work->arena.allocator;
    lwi_arena_free(&work->arena);
    lwi_release(&allocator, work);
}
