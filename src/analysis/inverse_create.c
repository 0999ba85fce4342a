// inverse_create.c -- inverse dynamics: its actuators, coordinates and memory.
#include "analysis/actuate.h"
#include "analysis/inverse.h"
#include "analysis/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for inverse dynamics");
}

// --------------------------------------------------------------------------------------- actuators

static lw_status take_input(lw_inverse *s, int input, lw_error *error)
{
    for (int i = 0; i < s->m; i++)
        if (s->input[i] == input)
            return lwi_fail(error, LW_ERR_ARGUMENT, "actuators: '%s' is named twice",
                            s->model->desc.input[input]);
    s->input[s->m++] = input;
    return LW_OK;
}

static lw_status take(void *user, const char *name, lw_error *error)
{
    lw_inverse *s = user;
    int input;
    lwi_coordinate_name at;
    if (lw_model_find_input(s->model, name, &input) == LW_OK) return take_input(s, input, error);
    TRY(lwi_coordinate_name_read(s->model, "actuators", name, &at, error));
    for (int k = 0; k < s->model->joint[at.joint].type->nv; k++)
        if (at.coordinate < 0 || k == at.coordinate)
            TRY(take_input(s, lwi_actuator_input(s->model, at.joint, k), error));
    return LW_OK;
}

static bool is_driven(const lw_model *model)
{
    for (int j = 0; j < model->njoint; j++)
        if (model->joint[j].ndriven) return true;
    return false;
}

// The inputs of all driven coordinates of `given`, or all inputs.
static lw_status take_default(lw_inverse *s, const lw_model *given, lw_error *error)
{
    for (int i = 0; !is_driven(given) && i < s->model->desc.ninput; i++)
        TRY(take_input(s, i, error));
    for (int j = 0; j < given->njoint; j++)
        for (int k = 0; k < given->joint[j].type->nv; k++)
            if (given->joint[j].motion[k].index > 0)
                TRY(take_input(s, lwi_actuator_input(s->model, j, k), error));
    return LW_OK;
}

// 1 over the largest value that a servo with limits allows the input; 1 where there is no such limit.
static double default_weight(const lw_model *model, int input)
{
    const lwi_force_list *servos = &model->desc.force[LWI_ITEM_servo];
    for (int i = 0; i < servos->n; i++) {
        const lw_servo_desc *d = lwi_force_desc(&model->desc, LWI_ITEM_servo, i);
        const double effect = fabs(d->law.kp + d->law.gain[0]);
        const double largest = fmax(fabs(d->law.effort_range[0]), fabs(d->law.effort_range[1]));
        if (d->law.target.index == -1 - input && d->law.has_effort_range && effect > 0 &&
            largest > 0)
            return effect / largest;
    }
    return 1;
}

static lw_status find_actuators(lw_inverse *s, const lw_model *given, const lw_inverse_desc *desc,
                                lw_error *error)
{
    const size_t p = (size_t)s->model->desc.ninput;
    s->input = LWI_PUSH(&s->arena, int, p);
    s->weight = LWI_PUSH(&s->arena, double, p);
    s->inputs = LWI_PUSH(&s->arena, double, p);
    s->trial = LWI_PUSH(&s->arena, double, p);
    if (!s->input || !s->weight || !s->inputs || !s->trial) return no_memory(error);
    if (desc->actuators && *desc->actuators)
        TRY(lwi_names_each("actuators", desc->actuators, take, s, error));
    else
        TRY(take_default(s, given, error));
    if (s->m == 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "actuators: none, because the model has no drives; expected names of "
                        "coordinates or of inputs");
    for (int i = 0; desc->inputs && i < given->desc.ninput; i++) s->inputs[i] = desc->inputs[i];
    for (int i = 0; i < s->m; i++) {
        s->inputs[s->input[i]] = 0;
        s->weight[i] = default_weight(s->model, s->input[i]);
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ memory

static bool cod_create(lwi_arena *arena, int n, int m, lwi_cod *cod)
{
    double *a = LWI_PUSH(arena, double, (size_t)n *(size_t)m),
           *rest = LWI_PUSH(arena, double, lwi_cod_doubles(n, m));
    int *pivot = LWI_PUSH(arena, int, m);
    if (!a || !rest || !pivot) return false;
    lwi_cod_init(cod, n, m, a, rest, pivot);
    return true;
}

static lw_status allocate(lw_inverse *s)
{
    lwi_arena *arena = &s->arena;
    const lw_model *model = s->model;
    const size_t n = (size_t)s->n, m = (size_t)s->m;
    double **const speed[] = {&s->tau,  &s->h1,      &s->h2, &s->left, &s->bias, &s->need,
                              &s->part, &s->missing, &s->v,  &s->vdot, &s->still};
    for (int i = 0; i < LWI_COUNT(speed); i++)
        if (!(*speed[i] = LWI_PUSH(arena, double, n))) return LW_ERR_MEMORY;
    s->q = LWI_PUSH(arena, double, model->tree_nq);
    s->near_q = LWI_PUSH(arena, double, model->tree_nq);
    s->S = LWI_PUSH(arena, double, m *n);
    s->A = LWI_PUSH(arena, double, m *n);
    s->L = LWI_PUSH(arena, double, n *n);
    s->x = LWI_PUSH(arena, double, m);
    s->u = LWI_PUSH(arena, double, m);
    s->null = LWI_PUSH(arena, double, m *m);
    s->redundant = LWI_PUSH(arena, unsigned char, m);
    s->loads.wrench = lwi_arena_push(arena, (size_t)model->nbody, sizeof *s->loads.wrench);
    s->loads.effort = LWI_PUSH(arena, double, model->nv);
    if (!s->q || !s->near_q || !s->S || !s->A || !s->L || !s->x || !s->u || !s->null ||
        !s->redundant || !s->loads.wrench || !s->loads.effort)
        return LW_ERR_MEMORY;
    return lwi_snapshot_create(model, arena, &s->snapshot);
}

// Memory that depends on the number of rows and degrees of freedom, which do not change from choice to choice.
static lw_status allocate_rows(lw_inverse *s)
{
    lwi_arena *arena = &s->arena;
    const int rows = s->at.manifold.m;
    if (s->residual) return LW_OK;
    s->residual = LWI_PUSH(arena, double, rows);
    s->rate = LWI_PUSH(arena, double, rows);
    s->lambda = LWI_PUSH(arena, double, rows);
    s->column = LWI_PUSH(arena, double, rows);
    if (!s->residual || !s->rate || !s->lambda || !s->column ||
        !cod_create(arena, s->f, s->m, &s->actuators) || !cod_create(arena, s->n, rows, &s->rows))
        return LW_ERR_MEMORY;
    return lwi_cut_reactions_create(&s->at.manifold.constraints->cut, rows - (s->n - s->f), arena,
                                    &s->reactions);
}

// Independent coordinates at the start.
static lw_status choose(lw_inverse *s, lw_error *error)
{
    TRY(lwi_chosen_choose(&s->at, 0, s->model->tree_q0, error));
    s->f = s->at.manifold.f;
    return allocate_rows(s) == LW_OK ? LW_OK : no_memory(error);
}

// The first independent coordinate that the motion does not have; -1: it has all.
static int lacking(const lw_inverse *s)
{
    for (int k = 0; k < s->f; k++)
        if (!lwi_track_has(&s->track, s->at.manifold.independent[k])) return k;
    return -1;
}

// The names of all coordinates that the motion has, as independent ones.
static lw_status name_tracked(lw_inverse *s, lw_error *error)
{
    size_t used = 0;
    const size_t size = (size_t)s->n * LW_COORDINATE_NAME_SIZE + 1;
    char *names = LWI_PUSH(&s->arena, char, size);
    if (!names) return no_memory(error);
    for (int i = 0; i < s->n; i++) {
        char name[LW_COORDINATE_NAME_SIZE];
        if (!lwi_track_has(&s->track, i)) continue;
        lwi_analysis_name(s->model, i, false, name, sizeof name);
        used += (size_t)snprintf(names + used, size - used, "%s%s", used ? "," : "", name);
    }
    s->at.names = names;
    return LW_OK;
}

static lw_status choose_tracked(lw_inverse *s, lw_result *motion, lw_error *error)
{
    char name[LW_COORDINATE_NAME_SIZE];
    TRY(lwi_track_create(s->model, motion, &s->arena, &s->track, error));
    if (lacking(s) >= 0 && !*s->at.names) {
        TRY(name_tracked(s, error));
        TRY(choose(s, error));
    }
    if (lacking(s) < 0) return LW_OK;
    lwi_manifold_name(&s->at.manifold, lacking(s), false, name, sizeof name);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "motion: the columns do not determine the mechanism of dof %d: %s has none",
                    s->f, name);
}

static lw_status create(lw_inverse *s, const lw_model *given, const lw_inverse_desc *desc,
                        lw_error *error)
{
    s->at.names = lwi_arena_text(&s->arena, desc->independent ? desc->independent : "");
    if (!s->at.names) return no_memory(error);
    s->n = s->model->tree_nv;
    TRY(find_actuators(s, given, desc, error));
    s->at.model = s->model;
    s->at.inputs = s->inputs;
    if (allocate(s) != LW_OK) return no_memory(error);
    lw_model_tree_start(s->model, s->q, s->v);
    TRY(choose(s, error));
    return desc->motion ? choose_tracked(s, desc->motion, error) : LW_OK;
}

lw_status lw_inverse_create(const lw_model *model, const lw_inverse_desc *desc,
                            lw_inverse **inverse, lw_error *error)
{
    LWI_OPTIONAL_DESC(lw_inverse_desc, desc, error);
    if (!model || !inverse)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_inverse_create: a model and a result are needed");
    lw_inverse *s = lwi_allocate(&model->arena.allocator, sizeof *s);
    if (!s) return no_memory(error);
    *s = (lw_inverse){0};
    lwi_arena_init(&s->arena, &model->arena.allocator);
    const bool named = desc->actuators && *desc->actuators; // else those of the drives
    lw_status status =
        lw_model_actuate(model, desc->actuators, !(named && desc->keep_drives), &s->model, error);
    if (status == LW_OK) status = create(s, model, desc, error);
    if (status == LW_OK)
        *inverse = s;
    else
        lw_inverse_destroy(s);
    return status;
}

void lw_inverse_destroy(lw_inverse *s)
{
    if (!s) return;
    const lw_allocator allocator = s->arena.allocator;
    lwi_chosen_leave(&s->at);
    lw_model_destroy(s->model);
    lwi_arena_free(&s->arena);
    lwi_release(&allocator, s);
}

const lw_model *lw_inverse_model(const lw_inverse *inverse)
{
    return inverse ? inverse->model : NULL;
}

int lw_inverse_actuators(const lw_inverse *inverse)
{
    return inverse ? inverse->m : 0;
}

const char *lw_inverse_actuator_name(const lw_inverse *inverse, int index)
{
    if (!inverse || index < 0 || index >= inverse->m) return "";
    return inverse->model->desc.input[inverse->input[index]];
}

int lw_inverse_actuator_input(const lw_inverse *inverse, int index)
{
    return inverse && index >= 0 && index < inverse->m ? inverse->input[index] : -1;
}

// Sets the weight of an input; false: it is no actuator.
static bool set_weight(lw_inverse *s, int input, double weight)
{
    for (int i = 0; i < s->m; i++)
        if (s->input[i] == input) {
            s->weight[i] = weight;
            return true;
        }
    return false;
}

lw_status lw_inverse_set_weight(lw_inverse *s, const char *actuator, double weight, lw_error *error)
{
    int input;
    bool found = false;
    lwi_coordinate_name at;
    if (!s || !actuator)
        return lwi_fail(error, LW_ERR_ARGUMENT, "lw_inverse_set_weight: an actuator is needed");
    if (!(weight > 0) || !isfinite(weight))
        return lwi_fail(error, LW_ERR_ARGUMENT, "weight of '%s' is %g, expected > 0", actuator,
                        weight);
    if (lw_model_find_input(s->model, actuator, &input) == LW_OK) {
        found = set_weight(s, input, weight);
    } else {
        TRY(lwi_coordinate_name_read(s->model, "weights", actuator, &at, error));
        for (int k = 0; k < s->model->joint[at.joint].type->nv; k++)
            if (at.coordinate < 0 || k == at.coordinate)
                found |= set_weight(s, lwi_actuator_input(s->model, at.joint, k), weight);
    }
    return found ? LW_OK
                 : lwi_fail(error, LW_ERR_ARGUMENT, "weights: '%s' is no actuator", actuator);
}

int lw_inverse_dof(const lw_inverse *inverse)
{
    return inverse ? inverse->f : 0;
}

lw_status lw_inverse_coordinate_name(const lw_inverse *inverse, int index, char *text, size_t size)
{
    if (!inverse || !text || index < 0 || index >= inverse->f) return LW_ERR_ARGUMENT;
    lwi_manifold_name(&inverse->at.manifold, index, false, text, size);
    return LW_OK;
}

int lw_inverse_coordinate_speed(const lw_inverse *inverse, int index)
{
    return inverse && index >= 0 && index < inverse->f ? inverse->at.manifold.independent[index]
                                                       : -1;
}
