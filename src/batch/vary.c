// vary.c -- the names of what can differ: resolved, checked, put into effect.
//
// A name is KIND.ITEM.WHAT, gravity KIND.WHAT; an item's own name may have dots.  A parameter of the model's file is a
// name without a dot: the file is read again with its value.
#include "batch/vary.h"

#include "base/assert.h"
#include "base/numbers.h"
#include "model/forces/item.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// -------------------------------------------------------------------------------------- parameters

// Lists of items with parameters; forces of model files in the order of their list.
enum { GRAVITY, BODY, JOINT, FORCES, FUNCTION = FORCES + LWI_FORCE_ITEMS, LISTS };

#define SCALE SIZE_MAX // mass and inertia together

#define ROW(type, text, what, unit, field, ...)                                                    \
    {                                                                                              \
        what, text ".NAME." what, unit, offsetof(lw_##type##_desc, field), __VA_ARGS__             \
    }
#define BODY_ROW(...) ROW(body, "body", __VA_ARGS__)
#define JOINT_ROW(...) ROW(joint, "joint", __VA_ARGS__)
#define FUNCTION_ROW(what, unit) ROW(function, "function", #what, unit, what, LWI_ANY_NUMBER)
#define COORDINATE_ROW(what, unit, ...)                                                            \
    {                                                                                              \
#what, "joint.NAME." #what "0", unit,                                                      \
            offsetof(lw_joint_desc, coordinate) + offsetof(lw_coordinate_desc, what),              \
            .numbered = true, __VA_ARGS__                                                          \
    }

static const lwi_parameter of_gravity[] = {
    {"x", "gravity.x", "m/s^2", 0, LWI_ANY_NUMBER},
    {"y", "gravity.y", "m/s^2", sizeof(double), LWI_ANY_NUMBER},
    {"z", "gravity.z", "m/s^2", 2 * sizeof(double), LWI_ANY_NUMBER},
};

static const lwi_parameter of_body[] = {
    BODY_ROW("mass", "kg", mass, .min = 0),
    {"scale", "body.NAME.scale", "1", SCALE, .min = 0},
    BODY_ROW("Ixx", "kg m^2", inertia[0], .min = 0),
    BODY_ROW("Iyy", "kg m^2", inertia[1], .min = 0),
    BODY_ROW("Izz", "kg m^2", inertia[2], .min = 0),
    BODY_ROW("Ixy", "kg m^2", inertia[3], LWI_ANY_NUMBER),
    BODY_ROW("Ixz", "kg m^2", inertia[4], LWI_ANY_NUMBER),
    BODY_ROW("Iyz", "kg m^2", inertia[5], LWI_ANY_NUMBER),
    BODY_ROW("com_x", "m", com.x, LWI_ANY_NUMBER),
    BODY_ROW("com_y", "m", com.y, LWI_ANY_NUMBER),
    BODY_ROW("com_z", "m", com.z, LWI_ANY_NUMBER),
};

static const lwi_parameter of_joint[] = {
    COORDINATE_ROW(stiffness, "N/m or N m/rad", LWI_ANY_NUMBER),
    COORDINATE_ROW(damping, "N s/m or N m s/rad", LWI_ANY_NUMBER),
    COORDINATE_ROW(at, "m or rad", LWI_ANY_NUMBER),
    COORDINATE_ROW(rotor, "kg or kg m^2", .min = 0),
    JOINT_ROW("damping", "N s/m and N m s/rad", damping, .min = 0),
    JOINT_ROW("pitch", "m per turn", pitch, LWI_ANY_NUMBER),
    JOINT_ROW("length", "m", length, .min = 0),
};

static const lwi_parameter of_function[] = {
    FUNCTION_ROW(value, "of the function"),
    FUNCTION_ROW(offset, "of the function"),
    FUNCTION_ROW(amplitude, "of the function"),
    FUNCTION_ROW(omega, "rad/s"),
    FUNCTION_ROW(phase, "rad"),
    FUNCTION_ROW(rate, "of the function per s"),
    FUNCTION_ROW(from, "s of ramps, of the function of steps"),
    FUNCTION_ROW(to, "of the function"),
    FUNCTION_ROW(start, "s"),
    FUNCTION_ROW(end, "s"),
};

typedef struct parameters {
    const char *list, *help; // "body", "parameter of a body"
    const lwi_parameter *row;
    int n;
} parameters;

static bool is_force(int list)
{
    return list >= FORCES && list < FUNCTION;
}

static parameters parameters_of(int list)
{
    static const parameters own[] = {
        [GRAVITY] = {"gravity", "gravity", of_gravity, LWI_COUNT(of_gravity)},
        [BODY] = {"body", "parameter of a body; `scale` multiplies mass and inertia", of_body,
                  LWI_COUNT(of_body)},
        [JOINT] = {"joint", "parameter of a joint", of_joint, LWI_COUNT(of_joint)},
        [FUNCTION] = {"function", "parameter of a named function", of_function,
                      LWI_COUNT(of_function)},
    };
    LWI_ASSERT_INDEX(list, LISTS);
    if (!is_force(list)) return own[list];
    const lwi_force_item *item = lwi_force_items[list - FORCES];
    return (parameters){item->type->name, item->parameter_help, item->parameter, item->nparameter};
}

// ---------------------------------------------------------------------------------------- messages

enum { MAX_WORDS = 48 };

typedef struct words {
    const char *word[MAX_WORDS];
    int n;
} words;

static void add_word(words *w, const char *word)
{
    if (w->n < MAX_WORDS) w->word[w->n++] = word;
}

static lw_status fail_near(lw_error *error, const char *name, const char *what, const char *found,
                           const words *near)
{
    const char *nearest = lwi_nearest(found, near->word, near->n);
    char all[240] = "";
    for (int i = 0; i < near->n && !nearest; i++) {
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", i ? ", " : "; there are ", near->word[i]);
    }
    return lwi_fail(error, LW_ERR_ARGUMENT, "%.120s: there is no %s '%.60s'%s%s%s%s", name, what,
                    found, nearest ? ", did you mean '" : "", nearest ? nearest : "",
                    nearest ? "'?" : "", all);
}

// -------------------------------------------------------------------------------------- resolution

enum { ITEM_ROOM = 256, WHAT_ROOM = 32 };

// The parts of a name; strings in the caller's memory.
typedef struct parts {
    const char *name;
    char kind[WHAT_ROOM], item[ITEM_ROOM], what[WHAT_ROOM];
} parts;

static lw_status split(const char *name, parts *p, lw_error *error)
{
    const char *first = strchr(name, '.'), *last = strrchr(name, '.');
    p->name = name;
    const size_t kind = first ? (size_t)(first - name) : 0;
    // input.NAME and option.NAME have no third part
    const bool input =
        (kind == 5 && !strncmp(name, "input", 5)) || (kind == 6 && !strncmp(name, "option", 6));
    const bool gravity = kind == 7 && !strncmp(name, "gravity", 7);
    if (input) last = name + strlen(name);
    const size_t item = first && last > first ? (size_t)(last - first) - 1 : 0;
    if (!first || !kind || kind >= WHAT_ROOM || item >= ITEM_ROOM || (!gravity && !item) ||
        (!input && strlen(last + 1) >= WHAT_ROOM))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "'%.120s' is not of the form joint.NAME.q0, body.NAME.mass, input.NAME, "
                        "gravity.x",
                        name);
    memcpy(p->kind, name, kind);
    p->kind[kind] = 0;
    memcpy(p->item, first + 1, item);
    p->item[item] = 0;
    lwi_copy_text(p->what, sizeof p->what, input ? "" : last + 1);
    return LW_OK;
}

// The number behind `letters`; -1 where there is none.
static int number_behind(const char *what, const char *letters)
{
    const size_t n = strlen(letters);
    if (strncmp(what, letters, n) != 0 || !what[n] || what[n + 1]) return -1;
    return what[n] >= '0' && what[n] <= '9' ? what[n] - '0' : -1;
}

static int find_text(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (names[i] && !strcmp(names[i], name)) return i;
    return -1;
}

// Name of item i of a list; NULL behind the last one, "" for an anonymous one.
static const char *item_name(const lwi_description *d, int list, int i)
{
    if (is_force(list)) {
        const int k = list - FORCES;
        if (i >= d->force[k].n) return NULL;
        return lwi_force_item_name(lwi_force_items[k], lwi_force_desc(d, k, i));
    }
    switch (list) {
    case BODY:
        return i < d->nbody ? d->body[i].name : NULL;
    case JOINT:
        return i < d->njoint ? d->joint[i].name : NULL;
    case FUNCTION:
        if (i >= d->nfunction) return NULL;
        return d->function[i].name ? d->function[i].name : "";
    default:
        return NULL;
    }
}

static lw_status find_item(const lw_model *model, int l, const parts *p, int *item, lw_error *error)
{
    words near = {.n = 0};
    const char *name;
    for (int i = l == BODY; (name = item_name(&model->desc, l, i)); i++) {
        if (!strcmp(name, p->item)) {
            *item = i;
            return LW_OK;
        }
        add_word(&near, name);
    }
    return fail_near(error, p->name, p->kind, p->item, &near);
}

static lw_status resolve_parameter(const lw_model *model, const parts *p, int l, int item,
                                   lwi_vary *vary, lw_error *error)
{
    words near = {.n = 0};
    const parameters list = parameters_of(l);
    for (int i = 0; i < list.n; i++) {
        const lwi_parameter *r = &list.row[i];
        add_word(&near, r->what);
        const int k = r->numbered ? number_behind(p->what, r->what) : 0;
        if (r->numbered ? k < 0 : strcmp(r->what, p->what) != 0) continue;
        if (l == JOINT && r->numbered) {
            const lwi_joint_type *type = model->joint[item].type;
            if (type->nq != type->nv || k >= type->nv)
                return lwi_fail(error, LW_ERR_ARGUMENT,
                                "%.120s: a %s joint has %d coordinates to spring, damp and drive",
                                p->name, type->name, type->nq == type->nv ? type->nv : 0);
        }
        *vary = (lwi_vary){
            .kind = LWI_VARY_PARAMETER, .list = l, .item = item, .index = k, .parameter = r};
        return LW_OK;
    }
    if (l == JOINT) add_word(&near, "q0"), add_word(&near, "qd0");
    return fail_near(error, p->name, "parameter or coordinate", p->what, &near);
}

// ---- what starts: coordinates and speeds of joints, motion of floating bases

static const char *const motion_names[] = {"x",  "y",  "z",  "qw", "qx", "qy", "qz",
                                           "vx", "vy", "vz", "wx", "wy", "wz"};
enum { MOTION = 13, MOTION_Q = 3, MOTION_V = 7, MOTION_W = 10 };

// Index of a coordinate (*speed false) or speed in the joint's own; -1: it is not one.
static int coordinate_of(const lwi_joint_type *type, const char *what, bool *speed)
{
    const int base = lwi_joint_is_free(type) ? 0 : lwi_joint_is_ball(type) ? 3 : -1;
    if (base < 0) {
        const int q = number_behind(what, "q"), v = number_behind(what, "qd");
        *speed = v >= 0;
        return *speed ? (v < type->nv ? v : -1) : q < type->nq ? q : -1;
    }
    int k = find_text(motion_names, MOTION, what);
    if (base && (k < MOTION_Q || (k >= MOTION_V && k < MOTION_W))) return -1;
    *speed = k >= MOTION_V;
    return k < 0 ? -1 : k - (*speed ? (base ? MOTION_W : MOTION_V) : base);
}

static lw_status resolve_joint(const lw_model *model, const parts *p, int item, lwi_vary *vary,
                               lw_error *error)
{
    const lwi_joint *joint = &model->joint[item];
    bool speed = false;
    const int k = coordinate_of(joint->type, p->what, &speed);
    if (k < 0) return resolve_parameter(model, p, JOINT, item, vary, error);
    if (joint->node < 0)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "%.120s: joint '%s' closes a loop, its coordinates follow from the others",
                        p->name, joint->name);
    if (joint->ndriven > 0 && joint->motion[k].index)
        return lwi_fail(error, LW_ERR_ARGUMENT, "%.120s: the coordinate follows a function",
                        p->name);
    *vary = (lwi_vary){.kind = speed ? LWI_VARY_QD : LWI_VARY_Q,
                       .index = (speed ? joint->iv : joint->iq) + k};
    return LW_OK;
}

static lw_status resolve_body(const lw_model *model, const parts *p, int item, lwi_vary *vary,
                              lw_error *error)
{
    const int k = find_text(motion_names, MOTION, p->what);
    if (k < 0) return resolve_parameter(model, p, BODY, item, vary, error);
    const int node = model->body_node[item];
    if (node < 0 || model->node[node].joint >= 0)
        return lwi_fail(
            error, LW_ERR_ARGUMENT,
            "%.120s: only a floating base starts by itself, body '%s' follows its joints", p->name,
            model->body[item].name);
    *vary = (lwi_vary){.kind = LWI_VARY_BASE, .item = item, .index = k};
    return LW_OK;
}

static lw_status resolve_input(const lw_model *model, const parts *p, lwi_vary *vary,
                               lw_error *error)
{
    const int i = find_text(model->desc.input, model->desc.ninput, p->item);
    words near = {.n = 0};
    for (int k = 0; k < model->desc.ninput; k++) add_word(&near, model->desc.input[k]);
    if (i < 0) return fail_near(error, p->name, "input", p->item, &near);
    *vary = (lwi_vary){.kind = LWI_VARY_INPUT, .index = i};
    return LW_OK;
}

// ---- options of the run: numbers that each instance can have for itself

static const char *const option_names[] = {"rtol", "atol", "atol_p", "step", "max_steps"};
static const char *const option_units[] = {"1", "", "", "s", "1"};

static lw_status resolve_option(const parts *p, lwi_vary *vary, lw_error *error)
{
    words near = {.n = 0};
    for (int i = 0; i < LWI_COUNT(option_names); i++) add_word(&near, option_names[i]);
    const int i = find_text(option_names, LWI_COUNT(option_names), p->item);
    if (i < 0) return fail_near(error, p->name, "option that can vary", p->item, &near);
    *vary = (lwi_vary){.kind = LWI_VARY_OPTION, .index = i};
    return LW_OK;
}

lw_status lwi_vary_options(const lwi_vary *vary, int nvary, const double *values,
                           lw_options *options, lw_error *error)
{
    for (int i = 0; i < nvary; i++) {
        if (vary[i].kind != LWI_VARY_OPTION) continue;
        char number[40];
        snprintf(number, sizeof number, "%.17g", values[i]);
        TRY(lw_options_set(options, option_names[vary[i].index], number, error));
    }
    return LW_OK;
}

static lw_status resolve(const lw_model *model, const parts *p, lwi_vary *vary, lw_error *error)
{
    int item = 0;
    if (!strcmp(p->kind, "input")) return resolve_input(model, p, vary, error);
    if (!strcmp(p->kind, "option")) return resolve_option(p, vary, error);
    int l = 0;
    while (l < LISTS && strcmp(parameters_of(l).list, p->kind) != 0) l++;
    if (l == LISTS) {
        words near = {.n = 0};
        for (int i = 0; i < LISTS; i++) add_word(&near, parameters_of(i).list);
        add_word(&near, "input"), add_word(&near, "option");
        return fail_near(error, p->name, "kind", p->kind, &near);
    }
    if (l != GRAVITY) TRY(find_item(model, l, p, &item, error));
    if (l == JOINT) return resolve_joint(model, p, item, vary, error);
    if (l == BODY) return resolve_body(model, p, item, vary, error);
    return resolve_parameter(model, p, l, item, vary, error);
}

// A name without a dot.
static lw_status resolve_file(const lw_model *model, const char *name, lwi_vary *vary,
                              lw_error *error)
{
    const lwi_statements *s = &model->desc.stated;
    words near = {.n = 0};
    for (int i = 0; i < s->nparameter; i++) {
        if (!strcmp(s->parameter[i].name, name)) {
            *vary = (lwi_vary){.kind = LWI_VARY_FILE, .name = name, .index = i};
            return LW_OK;
        }
        add_word(&near, s->parameter[i].name);
    }
    if (s->nparameter) return fail_near(error, name, "parameter", name, &near);
    return lwi_fail(error, LW_ERR_ARGUMENT,
                    "'%.120s' is not of the form joint.NAME.q0, body.NAME.mass, input.NAME, "
                    "gravity.x; the model's file has no parameters",
                    name);
}

lw_status lwi_vary_resolve(const lw_model *model, const char *name, lwi_vary *vary, lw_error *error)
{
    parts p;
    if (!strchr(name, '.')) return resolve_file(model, name, vary, error);
    TRY(split(name, &p, error));
    TRY(resolve(model, &p, vary, error));
    vary->name = name;
    return LW_OK;
}

// The part of "m or rad", "N/m or N m/rad" for a coordinate of a joint.
static const char *coordinate_unit(const lw_model *model, int joint, int k, const char *unit)
{
    static const char *const both[][3] = {{"m or rad", "m", "rad"},
                                          {"m/s or rad/s", "m/s", "rad/s"},
                                          {"N/m or N m/rad", "N/m", "N m/rad"},
                                          {"N s/m or N m s/rad", "N s/m", "N m s/rad"},
                                          {"kg or kg m^2", "kg", "kg m^2"}};
    const lwi_joint_type *type = model->joint[joint].type;
    for (int i = 0; type->scalar && i < LWI_COUNT(both); i++)
        if (!strcmp(unit, both[i][0])) return both[i][type->angles >> k & 1 ? 2 : 1];
    return unit;
}

// The joint with a coordinate (or speed) at `index` of the model's.
static int joint_at(const lw_model *model, int index, bool speed, int *k)
{
    for (int j = 0; j < model->njoint; j++) {
        const lwi_joint *joint = &model->joint[j];
        const int first = speed ? joint->iv : joint->iq;
        *k = index - first;
        if (*k >= 0 && *k < (speed ? joint->type->nv : joint->type->nq)) return j;
    }
    return -1;
}

const char *lwi_vary_unit(const lw_model *model, const lwi_vary *vary)
{
    int k = 0, j;
    switch (vary->kind) {
    case LWI_VARY_FILE: {
        const char *unit = model->desc.stated.parameter[vary->index].unit;
        return unit ? unit : "";
    }
    case LWI_VARY_PARAMETER:
        return vary->list == JOINT
                   ? coordinate_unit(model, vary->item, vary->index, vary->parameter->unit)
                   : vary->parameter->unit;
    case LWI_VARY_Q:
    case LWI_VARY_QD:
        j = joint_at(model, vary->index, vary->kind == LWI_VARY_QD, &k);
        if (j < 0) return "";
        return coordinate_unit(model, j, k,
                               vary->kind == LWI_VARY_QD ? "m/s or rad/s" : "m or rad");
    case LWI_VARY_BASE:
        return vary->index < MOTION_Q   ? "m"
               : vary->index < MOTION_V ? "1"
               : vary->index < MOTION_W ? "m/s"
                                        : "rad/s";
    case LWI_VARY_OPTION:
        return option_units[vary->index];
    default:
        return "";
    }
}

lw_status lw_vary_check(const lw_model *model, const char *name, lw_error *error)
{
    lwi_vary vary;
    if (!model || !name) return lwi_fail(error, LW_ERR_ARGUMENT, "model or name is missing");
    return lwi_vary_resolve(model, name, &vary, error);
}

// ------------------------------------------------------------------------------- sets of parameters

static const double *row_of(const double *values, int nvary, int i)
{
    return nvary ? values + (size_t)i * (size_t)nvary : NULL;
}

static bool same_parameters(const lwi_vary *vary, int nvary, const double *a, const double *b)
{
    for (int k = 0; k < nvary; k++)
        if (lwi_vary_of_variant(&vary[k]) && memcmp(&a[k], &b[k], sizeof *a) != 0) return false;
    return true;
}

static uint64_t hash_parameters(const lwi_vary *vary, int nvary, const double *a)
{
    uint64_t hash = 14695981039346656037u; // FNV-1a, by words
    for (int k = 0; k < nvary; k++) {
        uint64_t bits;
        memcpy(&bits, &a[k], sizeof bits);
        if (lwi_vary_of_variant(&vary[k])) hash = (hash ^ bits) * 1099511628211u;
        hash ^= hash >> 29;
    }
    return hash;
}

lw_status lwi_vary_group(const lwi_vary *vary, int nvary, const double *values, int n,
                         lwi_arena *scratch, int *variant, int *first, int *nvariant)
{
    size_t room = 16;
    while (room < 2 * (size_t)n) room *= 2;
    int *slot = LWI_PUSH(scratch, int, room); // variant + 1, 0: free
    if (!slot) return LW_ERR_MEMORY;
    *nvariant = 0;
    for (int i = 0; i < n; i++) {
        const double *own = row_of(values, nvary, i);
        size_t at = (size_t)hash_parameters(vary, nvary, own) & (room - 1);
        while (slot[at] &&
               !same_parameters(vary, nvary, row_of(values, nvary, first[slot[at] - 1]), own))
            at = (at + 1) & (room - 1);
        if (!slot[at]) {
            first[*nvariant] = i;
            slot[at] = ++*nvariant;
        }
        variant[i] = slot[at] - 1;
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------- varied parameters

// Copies the lists of the description in which numbers change.
static lw_status own_lists(lwi_description *d, lwi_arena *arena)
{
#define OWN(field, count)                                                                          \
    do {                                                                                           \
        void *copy_ = lwi_arena_push(arena, (size_t)d->count, sizeof *d->field);                   \
        if (!copy_) return LW_ERR_MEMORY;                                                          \
        if (d->count) memcpy(copy_, d->field, (size_t)d->count * sizeof *d->field);                \
        d->field = copy_;                                                                          \
    } while (0)
    OWN(body, nbody);
    OWN(joint, njoint);
    OWN(function, nfunction);
#undef OWN
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) {
        const size_t size = lwi_force_items[k]->desc_size;
        void *copy = lwi_arena_push(arena, (size_t)d->force[k].n, size);
        if (!copy) return LW_ERR_MEMORY;
        if (d->force[k].n) memcpy(copy, d->force[k].desc, (size_t)d->force[k].n * size);
        d->force[k].desc = copy;
    }
    return LW_OK;
}

static char *item_of(lwi_description *d, int list, int item)
{
    if (is_force(list)) {
        const int k = list - FORCES;
        LWI_ASSERT_INDEX(item, d->force[k].n);
        return (char *)d->force[k].desc + (size_t)item * lwi_force_items[k]->desc_size;
    }
    switch (list) {
    case GRAVITY:
        return (char *)d->gravity;
    case BODY:
        return (char *)&d->body[item];
    case JOINT:
        return (char *)&d->joint[item];
    default:
        return (char *)&d->function[item];
    }
}

// Where the number of a parameter is in the description, scales excepted.
static char *number_of(lwi_description *d, const lwi_vary *vary)
{
    const size_t number =
        (size_t)vary->index * (vary->parameter->numbered ? sizeof(lw_coordinate_desc) : 0);
    return item_of(d, vary->list, vary->item) + vary->parameter->offset + number;
}

double lwi_vary_number(const lw_model *model, const lwi_vary *vary)
{
    lwi_description d = model->desc;
    double value = 1;
    if (vary->parameter->offset != SCALE) memcpy(&value, number_of(&d, vary), sizeof value);
    return value;
}

static lw_status set_parameter(lwi_description *d, const lwi_vary *vary, double value,
                               lw_error *error)
{
    const lwi_parameter *r = vary->parameter;
    if (value < r->min || (r->above && value == r->min))
        return lwi_fail(error, LW_ERR_MODEL, "%.120s is %g, expected a number %s %g", vary->name,
                        value, r->above ? ">" : ">=", r->min);
    if (r->offset == SCALE) {
        lw_body_desc *body = &d->body[vary->item];
        body->mass *= value;
        for (int i = 0; i < 6; i++) body->inertia[i] *= value;
        return LW_OK;
    }
    memcpy(number_of(d, vary), &value, sizeof value);
    lw_error why;
    lwi_signal_names names = lwi_names_of(d);
    names.nfunction = vary->item;
    if (vary->list == FUNCTION &&
        lwi_function_check(&d->function[vary->item], &names, &why) != LW_OK)
        return lwi_fail(error, LW_ERR_MODEL, "%.120s = %g: the function %s", vary->name, value,
                        why.text);
    return LW_OK;
}

// Names and indices of items were resolved in the first model.
static lw_status check_same_items(const lw_model *model, const lw_model *other, lw_error *error)
{
    const struct {
        const char *what;
        int here, there;
    } counts[] = {
        {"bodies", model->nbody - 1, other->nbody - 1},
        {"joints", model->njoint, other->njoint},
        {"forces", model->nforce, other->nforce},
        {"coordinates", model->nq, other->nq},
        {"inputs", model->desc.ninput, other->desc.ninput},
        {"functions", model->desc.nfunction, other->desc.nfunction},
        {"markers", model->desc.nmarker, other->desc.nmarker},
        {"measures", model->desc.nmeasure, other->desc.nmeasure},
    };
    for (int i = 0; i < LWI_COUNT(counts); i++)
        if (counts[i].here != counts[i].there)
            return lwi_fail(error, LW_ERR_MODEL,
                            "the model has %d %s, expected %d as without these parameters",
                            counts[i].there, counts[i].what, counts[i].here);
    return LW_OK;
}

// The model of the file with other parameters; *made is NULL if none of them differs.
static lw_status remake(const lw_model *model, const lwi_parsed_document *document,
                        const lwi_vary *vary, int nvary, const double *values,
                        const lw_options *options, char *note, const lw_allocator *allocator,
                        lwi_arena *arena, lw_model **made, lw_error *error)
{
    enum { ROOM = ITEM_ROOM + 40 };
    int n = 0;
    const char **set = LWI_PUSH(arena, const char *, nvary);
    *made = NULL;
    for (int i = 0; i < nvary && set; i++) {
        if (vary[i].kind != LWI_VARY_FILE) continue;
        char *text = LWI_PUSH(arena, char, ROOM), number[32];
        if (!text) return lwi_fail(error, LW_ERR_MEMORY, "no memory for parameters");
        lwi_number_write(values[i], number, sizeof number);
        snprintf(text, ROOM, "%.255s=%s", vary[i].name, number);
        set[n++] = text;
    }
    if (!set) return lwi_fail(error, LW_ERR_MEMORY, "no memory for parameters");
    if (n == 0) return LW_OK;
    TRY(lwi_model_remake(model, document, set, n, options, note, allocator, made, error));
    const lw_status status = check_same_items(model, *made, error);
    if (status == LW_OK) return LW_OK;
    lw_model_destroy(*made);
    *made = NULL;
    return status;
}

static lw_status vary_description(const lw_model *model, const lwi_vary *vary, int nvary,
                                  const double *values, const lw_allocator *allocator,
                                  lw_model **varied, lw_error *error)
{
    struct lw_builder builder = {.desc = model->desc};
    lwi_arena arena;
    if (allocator) builder.allocator = *allocator;
    lwi_arena_init(&arena, allocator);
    lw_status status = own_lists(&builder.desc, &arena);
    if (status != LW_OK) lwi_fail(error, status, "no memory for a model with other parameters");
    for (int i = 0; i < nvary && status == LW_OK; i++)
        if (vary[i].kind == LWI_VARY_PARAMETER)
            status = set_parameter(&builder.desc, &vary[i], values[i], error);
    if (status == LW_OK) status = lw_model_create(&builder, varied, error);
    lwi_arena_free(&arena);
    return status;
}

lw_status lwi_vary_parse(const lw_model *model, const lwi_vary *vary, int nvary, lwi_arena *arena,
                         const lwi_parsed_document **document, lw_error *error)
{
    *document = NULL;
    for (int i = 0; i < nvary; i++)
        if (vary[i].kind == LWI_VARY_FILE) return lwi_model_parse(model, arena, document, error);
    return LW_OK;
}

lw_status lwi_vary_model(const lw_model *model, const lwi_parsed_document *document,
                         const lwi_vary *vary, int nvary, const double *values,
                         const lw_options *options, char *note, const lw_allocator *allocator,
                         lw_model **varied, lw_error *error)
{
    lwi_arena arena;
    lw_model *made = NULL;
    bool numbers = false;
    lwi_arena_init(&arena, allocator);
    const lw_status status = remake(model, document, vary, nvary, values, options, note, allocator,
                                    &arena, &made, error);
    lwi_arena_free(&arena);
    TRY(status);
    for (int i = 0; i < nvary; i++) numbers |= vary[i].kind == LWI_VARY_PARAMETER;
    if (made && !numbers) {
        *varied = made;
        return LW_OK;
    }
    const lw_status changed =
        vary_description(made ? made : model, vary, nvary, values, allocator, varied, error);
    lw_model_destroy(made);
    return changed;
}

// ------------------------------------------------------------------------------------ varied start

static double *motion_at(lwi_snapshot *m, int body, int component)
{
    if (component < MOTION_Q) return &m->r[body][component];
    if (component < MOTION_V) return &m->quat[body][component - MOTION_Q];
    if (component < MOTION_W) return &m->v[body][component - MOTION_V];
    return &m->w[body][component - MOTION_W];
}

bool lwi_vary_start(const lwi_vary *vary, int nvary, const double *values, lwi_snapshot *snapshot,
                    double *inputs)
{
    bool moved = false;
    for (int i = 0; i < nvary; i++) {
        switch (vary[i].kind) {
        case LWI_VARY_Q:
            snapshot->q[vary[i].index] = values[i];
            break;
        case LWI_VARY_QD:
            snapshot->qd[vary[i].index] = values[i];
            break;
        case LWI_VARY_BASE:
            *motion_at(snapshot, vary[i].item, vary[i].index) = values[i];
            break;
        case LWI_VARY_INPUT:
            inputs[vary[i].index] = values[i];
            continue;
        default:
            continue;
        }
        moved = true;
    }
    return moved;
}

// ---------------------------------------------------------------------------------------- the list

static const lw_vary_info starts[] = {
    {"joint.NAME.q0", "m or rad", "coordinate at the start, q1 and so on the others"},
    {"joint.NAME.qd0", "m/s or rad/s", "speed at the start"},
    {"joint.NAME.qw", "1", "spherical and free joints: qw qx qy qz, free ones also x y z"},
    {"joint.NAME.wx", "rad/s", "spherical and free joints: wx wy wz, free ones also vx vy vz"},
    {"body.NAME.x", "m", "floating base: mass centre x y z in the world, quaternion qw qx qy qz"},
    {"body.NAME.vx", "m/s", "floating base: velocity vx vy vz, and wx wy wz in body axes [rad/s]"},
    {"input.NAME", "of the input", "input, kept for the whole run"},
    {"option.NAME", "of the option", "rtol, atol, atol_p, step, max_steps of the run"},
    {"NAME", "of the parameter", "parameter of the model file: anything may depend on it"},
};

int lw_vary_count(void)
{
    int n = LWI_COUNT(starts);
    for (int l = 0; l < LISTS; l++) n += parameters_of(l).n;
    return n;
}

lw_vary_info lw_vary_at(int index)
{
    if (index < 0) return (lw_vary_info){"", "", ""};
    if (index < LWI_COUNT(starts)) return starts[index];
    index -= LWI_COUNT(starts);
    for (int l = 0; l < LISTS; l++) {
        const parameters p = parameters_of(l);
        if (index < p.n) return (lw_vary_info){p.row[index].name, p.row[index].unit, p.help};
        index -= p.n;
    }
    return (lw_vary_info){"", "", ""};
}
