// vary.c -- the names of what can differ: resolved, checked, put into effect.
//
// A name is KIND.ITEM.WHAT, gravity KIND.WHAT; an item's own name may have dots.
#include "batch/vary.h"

#include "model/forces/item.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// -------------------------------------------------------------------------------------- parameters

typedef enum list { GRAVITY, BODY, JOINT, SPRING, WRENCH, FUNCTION } list;

/** A number in the description of an item. */
typedef struct lwi_parameter {
    list list;
    const char *what, *name, *unit; ///< "mass", "body.NAME.mass", "kg"
    size_t offset;                  ///< in the item's description
    bool numbered;                  ///< one for each coordinate of a joint: "stiffness0"
    bool negative;                  ///< may be
} parameter;

#define SCALE SIZE_MAX // mass and inertia together

#define OF(type, field) offsetof(lw_##type##_desc, field)
#define ROW(list, text, type, what, unit, field, negative)                                         \
    {                                                                                              \
        list, what, text ".NAME." what, unit, OF(type, field), false, negative                     \
    }
#define BODY_ROW(...) ROW(BODY, "body", body, __VA_ARGS__)
#define JOINT_ROW(...) ROW(JOINT, "joint", joint, __VA_ARGS__)
#define SPRING_ROW(...) ROW(SPRING, "spring", spring, __VA_ARGS__)
#define WRENCH_ROW(...) ROW(WRENCH, "wrench", wrench, __VA_ARGS__)
#define FUNCTION_ROW(what, unit) ROW(FUNCTION, "function", function, #what, unit, what, true)
#define COORDINATE_ROW(what, unit, negative)                                                       \
    {                                                                                              \
        JOINT, #what, "joint.NAME." #what "0", unit,                                               \
            OF(joint, coordinate) + offsetof(lw_coordinate_desc, what), true, negative             \
    }

static const parameter parameters[] = {
    {GRAVITY, "x", "gravity.x", "m/s^2", 0, false, true},
    {GRAVITY, "y", "gravity.y", "m/s^2", sizeof(double), false, true},
    {GRAVITY, "z", "gravity.z", "m/s^2", 2 * sizeof(double), false, true},
    BODY_ROW("mass", "kg", mass, false),
    {BODY, "scale", "body.NAME.scale", "1", SCALE, false, false},
    BODY_ROW("Ixx", "kg m^2", inertia[0], false),
    BODY_ROW("Iyy", "kg m^2", inertia[1], false),
    BODY_ROW("Izz", "kg m^2", inertia[2], false),
    BODY_ROW("Ixy", "kg m^2", inertia[3], true),
    BODY_ROW("Ixz", "kg m^2", inertia[4], true),
    BODY_ROW("Iyz", "kg m^2", inertia[5], true),
    BODY_ROW("com_x", "m", com.x, true),
    BODY_ROW("com_y", "m", com.y, true),
    BODY_ROW("com_z", "m", com.z, true),
    COORDINATE_ROW(stiffness, "N/m or N m/rad", true),
    COORDINATE_ROW(damping, "N s/m or N m s/rad", true),
    COORDINATE_ROW(at, "m or rad", true),
    COORDINATE_ROW(rotor, "kg or kg m^2", false),
    JOINT_ROW("damping", "N s/m and N m s/rad", damping, false),
    JOINT_ROW("pitch", "m per turn", pitch, true),
    JOINT_ROW("length", "m", length, false),
    SPRING_ROW("stiffness", "N/m", stiffness, true),
    SPRING_ROW("damping", "N s/m", damping, true),
    SPRING_ROW("length", "m", length, false),
    WRENCH_ROW("fx", "N", force.x, true),
    WRENCH_ROW("fy", "N", force.y, true),
    WRENCH_ROW("fz", "N", force.z, true),
    WRENCH_ROW("tx", "N m", torque.x, true),
    WRENCH_ROW("ty", "N m", torque.y, true),
    WRENCH_ROW("tz", "N m", torque.z, true),
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

static const char *const list_names[] = {
    [GRAVITY] = "gravity", [BODY] = "body",     [JOINT] = "joint",
    [SPRING] = "spring",   [WRENCH] = "wrench", [FUNCTION] = "function",
};

// ---------------------------------------------------------------------------------------- messages

enum { MOST_WORDS = 48 };

typedef struct words {
    const char *word[MOST_WORDS];
    int n;
} words;

static void add_word(words *w, const char *word)
{
    if (w->n < MOST_WORDS) w->word[w->n++] = word;
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
    bool input = kind == 5 && !strncmp(name, "input", 5); // input.NAME has no third part
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
static const char *item_name(const lwi_description *d, list l, int i)
{
    switch (l) {
    case BODY:
        return i < d->nbody ? d->body[i].name : NULL;
    case JOINT:
        return i < d->njoint ? d->joint[i].name : NULL;
    case SPRING:
        return i < d->force[LWI_ITEM_spring].n ? lwi_spring_desc(d, i)->name : NULL;
    case WRENCH:
        return i < d->force[LWI_ITEM_wrench].n ? lwi_wrench_desc(d, i)->name : NULL;
    case FUNCTION:
        if (i >= d->nfunction) return NULL;
        return d->function[i].name ? d->function[i].name : "";
    default:
        return NULL;
    }
}

static lw_status find_item(const lw_model *model, list l, const parts *p, int *item,
                           lw_error *error)
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

static lw_status resolve_parameter(const lw_model *model, const parts *p, list l, int item,
                                   lwi_vary *vary, lw_error *error)
{
    words near = {.n = 0};
    for (int i = 0; i < LWI_COUNT(parameters); i++) {
        const parameter *r = &parameters[i];
        if (r->list != l) continue;
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
        *vary = (lwi_vary){.kind = LWI_VARY_PARAMETER, .item = item, .index = k, .parameter = r};
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

static lw_status resolve(const lw_model *model, const parts *p, lwi_vary *vary, lw_error *error)
{
    int item = 0;
    if (!strcmp(p->kind, "input")) return resolve_input(model, p, vary, error);
    const int l = find_text(list_names, LWI_COUNT(list_names), p->kind);
    if (l < 0) {
        words near = {.n = 0};
        for (int i = 0; i < LWI_COUNT(list_names); i++) add_word(&near, list_names[i]);
        add_word(&near, "input");
        return fail_near(error, p->name, "kind", p->kind, &near);
    }
    if (l != GRAVITY) TRY(find_item(model, (list)l, p, &item, error));
    if (l == JOINT) return resolve_joint(model, p, item, vary, error);
    if (l == BODY) return resolve_body(model, p, item, vary, error);
    return resolve_parameter(model, p, (list)l, item, vary, error);
}

lw_status lwi_vary_resolve(const lw_model *model, const char *name, lwi_vary *vary, lw_error *error)
{
    parts p;
    TRY(split(name, &p, error));
    TRY(resolve(model, &p, vary, error));
    vary->name = name;
    return LW_OK;
}

lw_status lw_vary_check(const lw_model *model, const char *name, lw_error *error)
{
    lwi_vary vary;
    if (!model || !name) return lwi_fail(error, LW_ERR_ARGUMENT, "model or name is missing");
    return lwi_vary_resolve(model, name, &vary, error);
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

static char *item_of(lwi_description *d, list l, int item)
{
    switch (l) {
    case GRAVITY:
        return (char *)d->gravity;
    case BODY:
        return (char *)&d->body[item];
    case JOINT:
        return (char *)&d->joint[item];
    case SPRING:
        return (char *)d->force[LWI_ITEM_spring].desc + (size_t)item * sizeof(lw_spring_desc);
    case WRENCH:
        return (char *)d->force[LWI_ITEM_wrench].desc + (size_t)item * sizeof(lw_wrench_desc);
    default:
        return (char *)&d->function[item];
    }
}

static lw_status set_parameter(lwi_description *d, const lwi_vary *vary, double value,
                               lw_error *error)
{
    const parameter *r = vary->parameter;
    if (value < 0 && !r->negative)
        return lwi_fail(error, LW_ERR_MODEL, "%.120s is %g, expected a number >= 0", vary->name,
                        value);
    if (r->offset == SCALE) {
        lw_body_desc *body = &d->body[vary->item];
        body->mass *= value;
        for (int i = 0; i < 6; i++) body->inertia[i] *= value;
        return LW_OK;
    }
    const size_t number = (size_t)vary->index * (r->numbered ? sizeof(lw_coordinate_desc) : 0);
    memcpy(item_of(d, r->list, vary->item) + r->offset + number, &value, sizeof value);
    lw_error why;
    if (r->list == FUNCTION &&
        lwi_function_check(&d->function[vary->item], vary->item, &why) != LW_OK)
        return lwi_fail(error, LW_ERR_MODEL, "%.120s = %g: the function %s", vary->name, value,
                        why.text);
    return LW_OK;
}

lw_status lwi_vary_model(const lw_model *model, const lwi_vary *vary, int nvary,
                         const double *values, const lw_allocator *allocator, lw_model **varied,
                         lw_error *error)
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
};

int lw_vary_count(void)
{
    return LWI_COUNT(starts) + LWI_COUNT(parameters);
}

lw_vary_info lw_vary_at(int index)
{
    static const char *const help[] = {
        [GRAVITY] = "gravity",
        [BODY] = "parameter of a body; `scale` multiplies mass and inertia",
        [JOINT] = "parameter of a joint",
        [SPRING] = "parameter of a spring",
        [WRENCH] = "parameter of a wrench",
        [FUNCTION] = "parameter of a named function",
    };
    if (index < 0 || index >= lw_vary_count()) return (lw_vary_info){"", "", ""};
    if (index < LWI_COUNT(starts)) return starts[index];
    const parameter *p = &parameters[index - LWI_COUNT(starts)];
    return (lw_vary_info){p->name, p->unit, help[p->list]};
}
