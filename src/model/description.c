// description.c -- the builder: room for items, warnings, and the checks that all kinds of items
// share.
//
// It takes items one by one (describe_*.c), checks each alone and brings it to normal form: strings
// and arrays copied, quaternions of unit length, body poses in the world, joints placed by frames
// in the body frames.  Writing that form and reading it again changes no bit.
#include "model/description.h"
#include "base/assert.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

// A quaternion in a file may be off by so much (three printed digits) before it is called wrong.
#define QUATERNION_TOLERANCE 1e-3

_Static_assert(sizeof((lw_builder *)0)->room / sizeof(int) == LWI_LIST_COUNT,
               "a room for each list");

lw_status lwi_model_fail(const lwi_description *desc, lw_place place, lw_error *error,
                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    lwi_fail_v(error, LW_ERR_MODEL, format, arguments);
    va_end(arguments);
    if (error) {
        lwi_copy_text(error->file, sizeof error->file, desc->source ? desc->source : "");
        error->line = place.line;
        error->column = place.column;
    }
    return LW_ERR_MODEL;
}

// ----------------------------------------------------------------------------------------- builder

lw_status lw_builder_create(const lw_allocator *allocator, lw_builder **builder)
{
    if (!builder) return LW_ERR_ARGUMENT;
    lw_builder *b = lwi_allocate(allocator, sizeof *b);
    if (!b) return LW_ERR_MEMORY;
    memset(b, 0, sizeof *b);
    if (allocator) b->allocator = *allocator;
    lwi_arena_init(&b->arena, allocator);
    b->desc.gravity[2] = -9.81;
    const lw_body_desc ground = {
        .name = "ground", .inertia_axes = {1, 0, 0, 0}, .pose.orientation = {1, 0, 0, 0}};
    b->desc.body = LWI_PUSH(&b->arena, lw_body_desc, 8);
    if (!b->desc.body) {
        lwi_release(allocator, b);
        return LW_ERR_MEMORY;
    }
    b->desc.body[0] = ground;
    b->desc.nbody = 1;
    b->room[LWI_LIST_BODIES] = 8;
    *builder = b;
    return LW_OK;
}

void lw_builder_destroy(lw_builder *builder)
{
    if (!builder) return;
    const lw_allocator allocator = builder->allocator;
    lwi_arena_free(&builder->arena);
    lwi_release(&allocator, builder);
}

void *lwi_builder_grow(lw_builder *b, int list, void *items, int count, size_t size)
{
    LWI_ASSERT_INDEX(list, LWI_LIST_COUNT);
    LWI_ASSERT(count >= 0 && count <= b->room[list]);
    if (count < b->room[list]) return items;
    const int room = count ? 2 * count : 8;
    void *larger = lwi_arena_push(&b->arena, (size_t)room, size);
    if (!larger) return NULL;
    if (count) memcpy(larger, items, (size_t)count * size);
    lwi_arena_drop(&b->arena, items);
    b->room[list] = room;
    return larger;
}

lw_status lwi_builder_no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the description");
}

const char *lwi_builder_name(lw_builder *b, const char *name, const char *kind, int index)
{
    char made[48];
    if (!name) {
        snprintf(made, sizeof made, "%s%d", kind, index);
        name = made;
    }
    return lwi_arena_text(&b->arena, name);
}

void lw_builder_gravity(lw_builder *builder, lw_vec3 g)
{
    if (!builder) return;
    v3_set(builder->desc.gravity, g.x, g.y, g.z);
}

lw_status lw_builder_set_source(lw_builder *builder, const char *file)
{
    if (!builder || !file) return LW_ERR_ARGUMENT;
    builder->desc.source = lwi_arena_text(&builder->arena, file);
    return builder->desc.source ? LW_OK : LW_ERR_MEMORY;
}

static lw_status unknown_joint(const lw_builder *b, const char *name, lw_error *error)
{
    const char **names = lwi_allocate(&b->allocator, (size_t)(b->desc.njoint + 1) * sizeof *names);
    for (int j = 0; names && j < b->desc.njoint; j++) names[j] = b->desc.joint[j].name;
    const char *near = names ? lwi_nearest(name, names, b->desc.njoint) : NULL;
    const lw_status status =
        lwi_fail(error, LW_ERR_ARGUMENT, "joint '%.80s' to cut: there is none%s%.80s%s", name,
                 near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    lwi_release(&b->allocator, (void *)names);
    return status;
}

lw_status lw_builder_cut(lw_builder *b, const char *joints, lw_error *error)
{
    if (!b) return lwi_fail(error, LW_ERR_ARGUMENT, "builder is NULL");
    for (const char *at = joints ? joints : ""; *at;) {
        const size_t length = strcspn(at, ",");
        char name[256];
        int found = -1;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1),
                 at);
        for (int j = 0; j < b->desc.njoint && found < 0; j++)
            if (strcmp(b->desc.joint[j].name, name) == 0) found = j;
        if (found < 0) return unknown_joint(b, name, error);
        b->desc.joint[found].cut = LW_CUT_ALWAYS;
        at += length;
        at += *at == ',';
    }
    return LW_OK;
}

lw_status lw_builder_warn(lw_builder *b, lw_place place, const char *format, ...)
{
    if (!b || !format) return LW_ERR_ARGUMENT;
    lw_error *const error = NULL;
    va_list arguments;
    LWI_GROW(b, LWI_LIST_WARNINGS, warning, nwarning);
    va_start(arguments, format);
    const char *text = lwi_warning_text(&b->arena, b->desc.source, place, format, arguments);
    va_end(arguments);
    if (!text) return LW_ERR_MEMORY;
    b->desc.warning[b->desc.nwarning++] = text;
    return LW_OK;
}

const char *lwi_warning_text(lwi_arena *arena, const char *source, lw_place place,
                             const char *format, va_list arguments)
{
    char where[32] = "";
    va_list again;
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return NULL;
    const char *file = source ? source : "";
    if (place.line > 0) snprintf(where, sizeof where, ":%d:%d", place.line, place.column);
    const char *colon = *file || *where ? ": " : "";
    const size_t head = strlen(file) + strlen(where) + strlen(colon);
    char *text = lwi_arena_chars(arena, head + (size_t)length + 1);
    if (!text) return NULL;
    snprintf(text, head + 1, "%s%s%s", file, where, colon);
    vsnprintf(text + head, (size_t)length + 1, format, arguments);
    return text;
}

// ------------------------------------------------------------------------------------- item checks

lw_status lwi_item_fail(const lwi_item *item, const char *format, ...)
{
    lw_error why = {.text = ""};
    va_list arguments;
    va_start(arguments, format);
    lwi_fail_v(&why, LW_ERR_MODEL, format, arguments);
    va_end(arguments);
    return lwi_model_fail(&item->builder->desc, item->place, item->error, "%s '%s': %s", item->kind,
                          item->name, why.text);
}

static bool unit(lw_quat *q)
{
    double a[4] = {q->w, q->x, q->y, q->z};
    if (!finite_n(a, 4)) return false;
    if (quat_norm2(a) == 0) {
        q->w = 1;
        return true;
    }
    if (fabs(sqrt(quat_norm2(a)) - 1) > QUATERNION_TOLERANCE) return false;
    quat_normalize(a, a);
    *q = (lw_quat){a[0], a[1], a[2], a[3]};
    return true;
}

static double norm_of(lw_quat q)
{
    return sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
}

lw_status lwi_item_unit(const lwi_item *it, const char *what, lw_quat *q)
{
    if (unit(q)) return LW_OK;
    return lwi_item_fail(it,
                         "%s [%g, %g, %g, %g] has length %g, expected a unit quaternion (scalar "
                         "first, length within 1e-3 of 1)",
                         what, q->w, q->x, q->y, q->z, norm_of(*q));
}

// A signal with time derivatives must not read joints: their accelerations depend on it.
static lw_status check_time_alone(const lwi_item *it, const char *what, lw_signal s)
{
    lw_builder *b = it->builder;
    const char *f = lwi_function_of_state(b->desc.function, s);
    if (f) {
        const lwi_formula_facts facts = lwi_formula_facts_of(f);
        if (!facts.reads_state)
            return lwi_item_fail(it,
                                 "%s follows a signal with states, expected one of t alone (its "
                                 "time derivatives are needed)",
                                 what);
        return lwi_item_fail(
            it,
            "%s follows a formula that reads %.*s, expected one of t alone (its time derivatives "
            "are needed); joints may be read by forces, efforts and scales",
            what, facts.length, f + facts.at);
    }
    const lw_signal input = lwi_function_input(b->desc.function, s);
    if (input.index)
        return lwi_item_fail(
            it, "%s follows input '%s', expected a function of time (its derivatives are needed)",
            what, b->desc.input[-input.index - 1]);
    f = lwi_function_kinked(b->desc.function, s);
    if (!f) return LW_OK;
    return lw_builder_warn(
        b, it->place,
        "%s '%s': %s follows the formula %.80s; where its rate jumps there would be "
        "an impact, which is computed for ramps only",
        it->kind, it->name, what, f);
}

lw_status lwi_item_signal(const lwi_item *it, const char *what, lw_signal s, bool function_only)
{
    const lw_builder *b = it->builder;
    if (s.index == 0) return LW_OK; // none
    if (s.index > b->desc.nfunction || -s.index > b->desc.ninput)
        return lwi_item_fail(it, "%s refers to signal %d; there are %d functions and %d inputs",
                             what, s.index, b->desc.nfunction, b->desc.ninput);
    if (function_only && s.index < 0)
        return lwi_item_fail(
            it, "%s follows input '%s', expected a function of time (its derivatives are needed)",
            what, b->desc.input[-s.index - 1]);
    return function_only ? check_time_alone(it, what, s) : LW_OK;
}

lw_status lwi_item_body(const lwi_item *it, const char *what, lw_body body)
{
    const int nbody = it->builder->desc.nbody;
    if (body.index >= 0 && body.index < nbody) return LW_OK;
    return lwi_item_fail(it, "%s is body %d; there are %d", what, body.index, nbody);
}

lw_status lwi_item_pair(const lwi_item *it, lw_body body1, lw_body body2)
{
    TRY(lwi_item_body(it, "body1", body1));
    TRY(lwi_item_body(it, "body2", body2));
    if (body1.index != body2.index) return LW_OK;
    return lwi_item_fail(it, "acts between body '%s' and itself",
                         it->builder->desc.body[body1.index].name);
}

// Scaled, by a power of two, only where it must be: others keep their bits.
lw_vec3 lwi_direction(lw_vec3 v)
{
    const double largest = fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
    if (largest > 1e-60 && largest < 1e60) return v;
    const int e = -ilogb(largest);
    return (lw_vec3){scalbn(v.x, e), scalbn(v.y, e), scalbn(v.z, e)};
}

lw_pose lwi_pose_in_body(const lw_pose *body, const double r[3], const double q[4])
{
    const double qb[4] = {body->orientation.w, body->orientation.x, body->orientation.y,
                          body->orientation.z};
    double R[9], d[3], conjugate[4], qf[4];
    quat_matrix(R, qb);
    v3_set(d, r[0] - body->position.x, r[1] - body->position.y, r[2] - body->position.z);
    m3_tmul_v(d, R, d);
    quat_conjugate(conjugate, qb);
    quat_mul(qf, conjugate, q);
    quat_normalize(qf, qf);
    return (lw_pose){{d[0], d[1], d[2]}, {qf[0], qf[1], qf[2], qf[3]}};
}
