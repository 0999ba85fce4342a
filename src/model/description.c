// description.c -- the builder: takes items one by one, checks each alone, brings it to normal
// form.
//
// Normal form: texts and arrays copied, quaternions of unit length, body poses in the world, joints
// placed by frames in the body frames.  Writing that form and reading it again changes no bit.
#include "model/model.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FUNCTIONS, INPUTS, BODIES, JOINTS, SPRINGS, WRENCHES, BUSHINGS, STOPS, COUPLINGS, MARKERS, WARNINGS };

// A quaternion in a file may be off by so much (three printed digits) before it is called wrong.
#define QUATERNION_TOLERANCE 1e-3

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
    b->room[BODIES] = 8;
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

// Room for one more item; the old list stays in the arena until the end (doubling: at most twice).
static void *grow(lw_builder *b, int list, void *items, int count, size_t size)
{
    if (count < b->room[list]) return items;
    const int room = count ? 2 * count : 8;
    void *larger = lwi_arena_push(&b->arena, (size_t)room, size);
    if (!larger) return NULL;
    if (count) memcpy(larger, items, (size_t)count * size);
    b->room[list] = room;
    return larger;
}
#define GROW(b, list, field, count)                                                                \
    do {                                                                                           \
        void *larger_ =                                                                            \
            grow((b), list, (b)->desc.field, (b)->desc.count, sizeof *(b)->desc.field);            \
        if (!larger_) return lwi_fail(error, LW_ERR_MEMORY, "no memory for the description");      \
        (b)->desc.field = larger_;                                                                 \
    } while (0)

static lw_status no_memory(lw_error *error)
{
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for the description");
}

// The given name, or "<kind><index>"; NULL when memory fails.
static const char *name_of(lw_builder *b, const char *name, const char *kind, int index)
{
    char made[48];
    if (!name) {
        snprintf(made, sizeof made, "%s%d", kind, index);
        name = made;
    }
    return lwi_arena_text(&b->arena, name);
}

// ------------------------------------------------------------------------------------- item checks

static bool finite_n(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}
static bool finite3(lw_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}
static bool zero3(lw_vec3 v)
{
    return v.x == 0 && v.y == 0 && v.z == 0;
}

// Unit quaternion; all zero stands for the identity.
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

static lw_status check_unit(lw_builder *b, lw_place place, lw_error *error, const char *item,
                            const char *name, const char *what, lw_quat *q)
{
    if (unit(q)) return LW_OK;
    return lwi_model_fail(&b->desc, place, error,
                          "%s '%s': %s [%g, %g, %g, %g] has length %g, expected a unit quaternion "
                          "(scalar first, length within 1e-3 of 1)",
                          item, name, what, q->w, q->x, q->y, q->z, norm_of(*q));
}

// What the time derivatives are needed of may not read joints, whose accelerations depend on it.
static lw_status check_time_alone(lw_builder *b, lw_place place, lw_error *error, const char *item,
                                  const char *name, const char *what, lw_signal s)
{
    const lw_function_desc *f = lwi_function_of_state(b->desc.function, s);
    if (f) {
        const lwi_formula_facts facts = lwi_formula_look(f->formula);
        return lwi_model_fail(
            &b->desc, place, error,
            "%s '%s': %s follows a formula that reads %.*s, expected one of t "
            "alone (its time derivatives are needed); joints may be read by forces, "
            "efforts and scales",
            item, name, what, facts.length, f->formula + facts.at);
    }
    f = lwi_function_kinked(b->desc.function, s);
    if (!f) return LW_OK;
    return lw_builder_warn(
        b, place,
        "%s '%s': %s follows the formula %.80s; where its rate jumps there would be "
        "an impact, which is not computed",
        item, name, what, f->formula);
}

static lw_status check_signal(lw_builder *b, lw_place place, lw_error *error, const char *item,
                              const char *name, const char *what, lw_signal s, bool function_only)
{
    if (s.index > b->desc.nfunction || -s.index > b->desc.ninput)
        return lwi_model_fail(
            &b->desc, place, error,
            "%s '%s': %s refers to signal %d; there are %d functions and %d inputs", item, name,
            what, s.index, b->desc.nfunction, b->desc.ninput);
    if (function_only && s.index < 0)
        return lwi_model_fail(&b->desc, place, error,
                              "%s '%s': %s follows input '%s', expected a function of time "
                              "(its derivatives are needed)",
                              item, name, what, b->desc.input[-s.index - 1]);
    return function_only ? check_time_alone(b, place, error, item, name, what, s) : LW_OK;
}

static lw_status check_body(lw_builder *b, lw_place place, lw_error *error, const char *item,
                            const char *name, const char *what, lw_body body)
{
    if (body.index >= 0 && body.index < b->desc.nbody) return LW_OK;
    return lwi_model_fail(&b->desc, place, error, "%s '%s': %s is body %d; there are %d", item,
                          name, what, body.index, b->desc.nbody);
}

// ------------------------------------------------------------------------------------------ adders

void lw_builder_gravity(lw_builder *builder, lw_vec3 g)
{
    v3_set(builder->desc.gravity, g.x, g.y, g.z);
}

lw_status lw_builder_set_source(lw_builder *builder, const char *file)
{
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
    for (const char *at = joints ? joints : ""; *at;) {
        const size_t length = strcspn(at, ",");
        char name[256];
        int found = -1;
        snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), at);
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
    lw_error *const error = NULL;
    va_list arguments;
    GROW(b, WARNINGS, warning, nwarning);
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
    char *text = LWI_PUSH(arena, char, head + (size_t)length + 1);
    if (!text) return NULL;
    snprintf(text, head + 1, "%s%s%s", file, where, colon);
    vsnprintf(text + head, (size_t)length + 1, format, arguments);
    return text;
}

lw_status lw_builder_add_function(lw_builder *b, const lw_function_desc *desc, lw_signal *function,
                                  lw_error *error)
{
    lw_error why = {0};
    if (lwi_function_check(desc, b->desc.nfunction, &why) != LW_OK ||
        lwi_function_check_sum(b->desc.function, desc, &why) != LW_OK)
        return lwi_model_fail(&b->desc, desc->place, error, "function%s%s%s: %s",
                              desc->name ? " '" : "", desc->name ? desc->name : "",
                              desc->name ? "'" : "", why.text);
    GROW(b, FUNCTIONS, function, nfunction);
    lwi_function built;
    if (lwi_function_build(desc, &b->arena, &built) != LW_OK) return no_memory(error);
    b->desc.function[b->desc.nfunction++] = built.desc;
    if (function) function->index = b->desc.nfunction;
    return LW_OK;
}

lw_status lw_builder_add_input(lw_builder *b, const char *name, lw_signal *input, lw_error *error)
{
    GROW(b, INPUTS, input, ninput);
    const char *copy = name_of(b, name, "input", b->desc.ninput);
    if (!copy) return no_memory(error);
    b->desc.input[b->desc.ninput++] = copy;
    if (input) input->index = -b->desc.ninput;
    return LW_OK;
}

// World pose of a frame given in the frame of a body that is placed already.
static lw_pose in_world(const lw_pose *body, lw_pose frame)
{
    const double qb[4] = {body->orientation.w, body->orientation.x, body->orientation.y,
                          body->orientation.z};
    const double qf[4] = {frame.orientation.w, frame.orientation.x, frame.orientation.y,
                          frame.orientation.z};
    const double rf[3] = {frame.position.x, frame.position.y, frame.position.z};
    double R[9], r[3], q[4];
    quat_matrix(R, qb);
    m3_mul_v(r, R, rf);
    quat_mul(q, qb, qf);
    quat_normalize(q, q);
    return (lw_pose){{r[0] + body->position.x, r[1] + body->position.y, r[2] + body->position.z},
                     {q[0], q[1], q[2], q[3]}};
}

static lw_status check_shape(lw_builder *b, const lw_body_desc *d, lw_shape *s, lw_error *error)
{
    const double *x = s->size, *c = s->color;
    if ((int)s->type <= 0 || s->type >= LW_SHAPE_COUNT)
        return lwi_model_fail(&b->desc, d->place, error, "body '%s': unknown shape %d", d->name,
                              (int)s->type);
    if (!finite_n(x, 3) || x[0] < 0 || x[1] < 0 || x[2] < 0)
        return lwi_model_fail(&b->desc, d->place, error,
                              "body '%s': shape has sizes %g, %g, %g, expected numbers >= 0 [m]",
                              d->name, x[0], x[1], x[2]);
    if (!finite3(s->position))
        return lwi_model_fail(&b->desc, d->place, error,
                              "body '%s': the position of a shape is not finite", d->name);
    for (int i = 0; i < 4 && s->has_color; i++)
        if (!(c[i] >= 0 && c[i] <= 1))
            return lwi_model_fail(&b->desc, d->place, error,
                                  "body '%s': shape has color %g, %g, %g, %g, expected numbers from "
                                  "0 to 1",
                                  d->name, c[0], c[1], c[2], c[3]);
    return check_unit(b, d->place, error, "body", d->name, "orientation of a shape",
                      &s->orientation);
}

static lw_status copy_shapes(lw_builder *b, lw_body_desc *d, lw_error *error)
{
    if (d->nshape <= 0 || !d->shapes) {
        d->shapes = NULL, d->nshape = 0;
        return LW_OK;
    }
    lw_shape *copy = LWI_PUSH(&b->arena, lw_shape, d->nshape);
    if (!copy) return no_memory(error);
    memcpy(copy, d->shapes, (size_t)d->nshape * sizeof *copy);
    for (int i = 0; i < d->nshape; i++) {
        TRY(check_shape(b, d, &copy[i], error));
        if (!copy[i].has_position) copy[i].position = d->com;
    }
    d->shapes = copy;
    return LW_OK;
}

lw_status lw_builder_add_body(lw_builder *b, const lw_body_desc *desc, lw_body *body,
                              lw_error *error)
{
    lw_body_desc d = *desc;
    d.name = name_of(b, desc->name, "body", b->desc.nbody);
    if (!d.name) return no_memory(error);
    const lw_place at = d.place;
    if (!isfinite(d.mass) || d.mass < 0)
        return lwi_model_fail(&b->desc, at, error,
                              "body '%s': mass is %g, expected a number >= 0 [kg]", d.name, d.mass);
    if (!finite_n(d.inertia, 6))
        return lwi_model_fail(&b->desc, at, error, "body '%s': inertia is not six finite numbers",
                              d.name);
    if (!finite3(d.com) || !finite3(d.pose.position) || !finite3(d.velocity) ||
        !finite3(d.angular_velocity))
        return lwi_model_fail(&b->desc, at, error,
                              "body '%s': com, position or velocity is not finite", d.name);
    TRY(check_unit(b, at, error, "body", d.name, "inertia_axes", &d.inertia_axes));
    TRY(check_unit(b, at, error, "body", d.name, "orientation", &d.pose.orientation));
    TRY(check_body(b, at, error, "body", d.name, "`in`", d.in));
    if (d.in.index) d.pose = in_world(&b->desc.body[d.in.index].pose, d.pose);
    d.in.index = 0;
    TRY(copy_shapes(b, &d, error));
    GROW(b, BODIES, body, nbody);
    b->desc.body[b->desc.nbody] = d;
    if (body) body->index = b->desc.nbody;
    b->desc.nbody++;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ joints

// Frame with z along `axis` and x along the part of `axis2` normal to it; without axis2 the frame
// that the shortest turn from z to `axis` makes of the world's axes.
static bool frame_of_axes(lw_vec3 axis, lw_vec3 axis2, double q[4])
{
    double z[3] = {axis.x, axis.y, axis.z}, R[9];
    if (zero3(axis)) z[2] = 1;
    v3_scale(z, 1 / v3_norm(z), z);
    if (zero3(axis2)) {
        // q = (1 + e3.z, e3 x z), normalised; z = -e3: half a turn about x
        double turn[4] = {1 + z[2], -z[1], z[0], 0};
        if (turn[0] < 1e-12) turn[0] = 0, turn[1] = 1, turn[2] = 0;
        const double s = 1 / sqrt(quat_norm2(turn));
        for (int i = 0; i < 4; i++) q[i] = s * turn[i];
        return true;
    }
    double x[3] = {axis2.x, axis2.y, axis2.z}, y[3];
    v3_scale(x, 1 / v3_norm(x), x);
    v3_axpy(x, -v3_dot(x, z), z);
    if (v3_norm(x) < 1e-6) return false; // parallel: no frame
    v3_scale(x, 1 / v3_norm(x), x);
    v3_cross(y, z, x);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
    quat_from_matrix(q, R);
    return true;
}

// World frame (r, q) in the frame of a body.
static lw_pose in_body(const lw_pose *body, const double r[3], const double q[4])
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

static lw_status place_by_axes(lw_builder *b, lw_joint_desc *d, lw_error *error)
{
    double q[4];
    if (!finite3(d->at) || !finite3(d->axis) || !finite3(d->axis2))
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': at, axis or axis2 is not finite", d->name);
    if (d->type == LW_JOINT_UNIVERSAL && zero3(d->axis2))
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': a universal joint needs axis2, the axis fixed in body2",
                              d->name);
    if (!frame_of_axes(d->axis, d->axis2, q))
        return lwi_model_fail(
            &b->desc, d->place, error,
            "joint '%s': axis2 is parallel to axis, expected a direction across it", d->name);
    if (d->type == LW_JOINT_UNIVERSAL) {
        const lw_vec3 a = d->axis, c = d->axis2;
        const double dot = a.x * c.x + a.y * c.y + a.z * c.z;
        const double size =
            sqrt((a.x * a.x + a.y * a.y + a.z * a.z) * (c.x * c.x + c.y * c.y + c.z * c.z));
        if (!zero3(a) && fabs(dot) > 1e-6 * size)
            return lwi_model_fail(
                &b->desc, d->place, error,
                "joint '%s': axis and axis2 of a universal joint meet at %.9g deg, "
                "expected 90",
                d->name, acos(dot / size) * 57.295779513082321);
    }
    const double at[3] = {d->at.x, d->at.y, d->at.z};
    d->frame1 = in_body(&b->desc.body[d->body1.index].pose, at, q);
    d->frame2 = in_body(&b->desc.body[d->body2.index].pose, at, q);
    return LW_OK;
}

static lw_status place_by_frames(lw_builder *b, lw_joint_desc *d, lw_error *error)
{
    if (!finite3(d->frame1.position) || !finite3(d->frame2.position))
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': position of frame1 or frame2 is not finite", d->name);
    TRY(check_unit(b, d->place, error, "joint", d->name, "orientation of frame1",
                   &d->frame1.orientation));
    return check_unit(b, d->place, error, "joint", d->name, "orientation of frame2",
                      &d->frame2.orientation);
}

// Number of coordinates or speeds of a joint as described.
static int count_of(const lw_joint_desc *d, bool speeds)
{
    static const int nq[] = {
#define X(name, text, q, v, c, help) q,
        LW_JOINT_LIST(X)
#undef X
    };
    static const int nv[] = {
#define X(name, text, q, v, c, help) v,
        LW_JOINT_LIST(X)
#undef X
    };
    if (d->type == LW_JOINT_CUSTOM) return speeds ? d->custom->nv : d->custom->nq;
    return speeds ? nv[d->type] : nq[d->type];
}

static const char *type_text(lw_joint_type type)
{
    static const char *const text[] = {
#define X(name, text, q, v, c, help) text,
        LW_JOINT_LIST(X)
#undef X
    };
    return text[type];
}

static lw_status check_limits(lw_builder *b, const lw_joint_desc *d, int k, bool scalar,
                              lw_error *error)
{
    const lw_limits_desc *l = &d->coordinate[k].limits;
    if (!l->has_lower && !l->has_upper && l->stiffness == 0 && l->damping == 0) return LW_OK;
    if (!scalar)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': a %s joint has no scalar coordinate q%d to limit",
                              d->name, type_text(d->type), k);
    if (!l->has_lower && !l->has_upper)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': limits of q%d have neither `lower` nor `upper`", d->name,
                              k);
    if (!isfinite(l->lower) || !isfinite(l->upper) || !isfinite(l->stiffness) ||
        !isfinite(l->damping) || !(l->stiffness > 0) || l->damping < 0)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': limits of q%d are %g to %g with stiffness %g and damping "
                              "%g; expected finite numbers, stiffness > 0, damping >= 0",
                              d->name, k, l->lower, l->upper, l->stiffness, l->damping);
    if (l->has_lower && l->has_upper && l->lower > l->upper)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': lower limit %g of q%d lies above the upper one, %g",
                              d->name, l->lower, k, l->upper);
    if (d->coordinate[k].motion.index)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': q%d follows a function, limits do not hold it; expected "
                              "one of both",
                              d->name, k);
    return LW_OK;
}

static lw_status check_friction(lw_builder *b, const lw_joint_desc *d, int k, lw_error *error)
{
    const lw_friction_desc *f = &d->coordinate[k].friction;
    const bool good = isfinite(f->coulomb) && isfinite(f->viscous) && isfinite(f->speed) &&
                      f->coulomb >= 0 && f->viscous >= 0 && f->speed >= 0;
    if (good && (f->coulomb == 0 || f->speed > 0)) return LW_OK;
    return lwi_model_fail(&b->desc, d->place, error,
                          "joint '%s': friction of q%d has coulomb %g, viscous %g, speed %g; expected "
                          "numbers >= 0, and a speed > 0 at which `coulomb` acts",
                          d->name, k, f->coulomb, f->viscous, f->speed);
}

static lw_status check_rotor(lw_builder *b, const lw_joint_desc *d, int k, bool scalar,
                             lw_error *error)
{
    const double rotor = d->coordinate[k].rotor;
    if (rotor == 0) return LW_OK;
    if (!scalar)
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': a %s joint has no scalar coordinate q%d that a rotor could "
                              "turn with",
                              d->name, type_text(d->type), k);
    if (isfinite(rotor) && rotor > 0) return LW_OK;
    return lwi_model_fail(&b->desc, d->place, error,
                          "joint '%s': rotor of q%d has the inertia %g, expected a number >= 0",
                          d->name, k, rotor);
}

static lw_status check_coordinate(lw_builder *b, const lw_joint_desc *d, int k, bool scalar,
                                  lw_error *error)
{
    const lw_coordinate_desc *c = &d->coordinate[k];
    const bool used = c->motion.index || c->stiffness != 0 || c->damping != 0 || c->at != 0 ||
                      c->force.index || c->effort.index || c->limits.has_lower ||
                      c->limits.has_upper || c->limits.stiffness != 0 || c->limits.damping != 0 ||
                      c->friction.coulomb != 0 || c->friction.viscous != 0 ||
                      c->friction.speed != 0 || c->rotor != 0;
    if (!used) return LW_OK;
    if (k >= count_of(d, true))
        return lwi_model_fail(&b->desc, d->place, error,
                              "joint '%s': coordinate q%d does not exist, a %s joint has %d",
                              d->name, k, type_text(d->type), count_of(d, true));
    TRY(check_limits(b, d, k, scalar, error));
    TRY(check_friction(b, d, k, error));
    TRY(check_rotor(b, d, k, scalar, error));
    if (!scalar && (c->motion.index || c->stiffness != 0 || c->at != 0))
        return lwi_model_fail(
            &b->desc, d->place, error,
            "joint '%s': a %s joint has no scalar coordinate q%d to drive or spring; "
            "use a mount to move it, `all` to damp it",
            d->name, type_text(d->type), k);
    if (!isfinite(c->stiffness) || !isfinite(c->damping) || !isfinite(c->at))
        return lwi_model_fail(&b->desc, d->place, error, "joint '%s': spring on q%d is not finite",
                              d->name, k);
    TRY(check_signal(b, d->place, error, "joint", d->name, "motion", c->motion, true));
    TRY(check_signal(b, d->place, error, "joint", d->name, "force", c->force, false));
    return check_signal(b, d->place, error, "joint", d->name, "effort", c->effort, false);
}

static lw_status check_custom(lw_builder *b, const lw_joint_desc *d, lw_error *error)
{
    const lw_custom_joint *c = d->custom;
    if (!c || c->nq < 1 || c->nq > LW_JOINT_MAX_NQ || c->nv < 1 || c->nv > LW_JOINT_MAX_NV ||
        c->nq < c->nv || !c->pose || !c->subspace || !c->subspace_rate || !c->read ||
        (c->nq != c->nv && !c->kinematics))
        return lwi_model_fail(
            &b->desc, d->place, error,
            "joint '%s': a custom joint needs pose, subspace, subspace_rate, read, "
            "1 <= nv <= 6, nv <= nq <= 8, and kinematics where nq != nv",
            d->name);
    return LW_OK;
}

lw_status lw_builder_add_joint(lw_builder *b, const lw_joint_desc *desc, lw_joint *joint,
                               lw_error *error)
{
    lw_joint_desc d = *desc;
    d.name = name_of(b, desc->name, "joint", b->desc.njoint);
    if (!d.name) return no_memory(error);
    if ((int)d.type < 0 || d.type >= LW_JOINT_COUNT)
        return lwi_model_fail(&b->desc, d.place, error, "joint '%s': unknown type %d", d.name,
                              d.type);
    if (d.type == LW_JOINT_CUSTOM) {
        TRY(check_custom(b, &d, error));
        lw_custom_joint *copy = LWI_PUSH(&b->arena, lw_custom_joint, 1);
        if (!copy) return no_memory(error);
        *copy = *d.custom;
        copy->name = name_of(b, d.custom->name, "custom", 0);
        if (!copy->name) return no_memory(error);
        d.custom = copy;
    }
    TRY(check_body(b, d.place, error, "joint", d.name, "body1", d.body1));
    TRY(check_body(b, d.place, error, "joint", d.name, "body2", d.body2));
    if (d.body1.index == d.body2.index)
        return lwi_model_fail(&b->desc, d.place, error,
                              "joint '%s': joins body '%s' with itself, expected two bodies",
                              d.name, b->desc.body[d.body1.index].name);
    TRY(d.placement == LW_PLACED_AT ? place_by_axes(b, &d, error) : place_by_frames(b, &d, error));
    d.placement = LW_PLACED_FRAMES;
    d.at = d.axis = d.axis2 = (lw_vec3){0, 0, 0};
    if (!isfinite(d.pitch) || !isfinite(d.length) || d.length < 0)
        return lwi_model_fail(&b->desc, d.place, error,
                              "joint '%s': pitch is %g, length %g; expected finite, length >= 0",
                              d.name, d.pitch, d.length);
    if (!isfinite(d.damping) || d.damping < 0)
        return lwi_model_fail(&b->desc, d.place, error, "joint '%s': damping is %g, expected >= 0",
                              d.name, d.damping);
    if (!finite_n(d.q, LW_JOINT_MAX_NQ) || !finite_n(d.qd, LW_JOINT_MAX_NV))
        return lwi_model_fail(&b->desc, d.place, error, "joint '%s': q or qd is not finite",
                              d.name);
    const int nq = count_of(&d, false), nv = count_of(&d, true);
    if ((d.has_q && nq == 0) || (d.has_qd && nv == 0))
        return lwi_model_fail(&b->desc, d.place, error,
                              "joint '%s': q or qd given, a %s joint has no coordinates", d.name,
                              type_text(d.type));
    const bool scalar = nq == nv && (d.type != LW_JOINT_CUSTOM || !d.custom->kinematics);
    if (d.has_q && (d.type == LW_JOINT_SPHERICAL || d.type == LW_JOINT_FREE)) {
        double *quat = d.q + (d.type == LW_JOINT_FREE ? 3 : 0);
        lw_quat given = {quat[0], quat[1], quat[2], quat[3]};
        TRY(check_unit(b, d.place, error, "joint", d.name, "q", &given));
        quat[0] = given.w, quat[1] = given.x, quat[2] = given.y, quat[3] = given.z;
    }
    for (int k = 0; k < LW_JOINT_MAX_NV; k++) TRY(check_coordinate(b, &d, k, scalar, error));
    if (d.damping != 0 && scalar)
        return lwi_model_fail(
            &b->desc, d.place, error,
            "joint '%s': damping of `all` is for spherical and free joints; damp the "
            "coordinates of a %s joint one by one",
            d.name, type_text(d.type));
    for (int k = 0; k < 3; k++)
        TRY(check_signal(b, d.place, error, "joint", d.name, "mount shift", d.mount_shift[k],
                         true));
    TRY(check_signal(b, d.place, error, "joint", d.name, "mount turn", d.mount_turn, true));
    TRY(check_signal(b, d.place, error, "joint", d.name, "length", d.length_of, true));
    if (!finite3(d.mount_about))
        return lwi_model_fail(&b->desc, d.place, error, "joint '%s': mount about is not finite",
                              d.name);
    GROW(b, JOINTS, joint, njoint);
    b->desc.joint[b->desc.njoint] = d;
    if (joint) joint->index = b->desc.njoint;
    b->desc.njoint++;
    return LW_OK;
}

// --------------------------------------------------------------------------------- forces and more

// A point given in the world goes into the frame of its body.
static void point_in_body(const lw_builder *b, lw_body body, lw_vec3 *point, int *in_world)
{
    const double r[3] = {point->x, point->y, point->z}, identity[4] = {1, 0, 0, 0};
    if (*in_world) *point = in_body(&b->desc.body[body.index].pose, r, identity).position;
    *in_world = 0;
}

lw_status lw_builder_add_spring(lw_builder *b, const lw_spring_desc *desc, lw_error *error)
{
    lw_spring_desc d = *desc;
    d.name = name_of(b, desc->name, "spring", b->desc.nspring);
    if (!d.name) return no_memory(error);
    TRY(check_body(b, d.place, error, "spring", d.name, "body1", d.body1));
    TRY(check_body(b, d.place, error, "spring", d.name, "body2", d.body2));
    if (!finite3(d.point1) || !finite3(d.point2) || !isfinite(d.stiffness) ||
        !isfinite(d.damping) || !isfinite(d.length) || d.length < 0)
        return lwi_model_fail(&b->desc, d.place, error,
                              "spring '%s': points, stiffness, damping and length must be finite, "
                              "length >= 0",
                              d.name);
    TRY(check_signal(b, d.place, error, "spring", d.name, "force", d.force, false));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    GROW(b, SPRINGS, spring, nspring);
    b->desc.spring[b->desc.nspring++] = d;
    return LW_OK;
}

lw_status lw_builder_add_wrench(lw_builder *b, const lw_wrench_desc *desc, lw_error *error)
{
    lw_wrench_desc d = *desc;
    d.name = name_of(b, desc->name, "wrench", b->desc.nwrench);
    if (!d.name) return no_memory(error);
    TRY(check_body(b, d.place, error, "wrench", d.name, "body", d.body));
    if (d.body.index == 0)
        return lwi_model_fail(&b->desc, d.place, error,
                              "wrench '%s': acts on the ground, expected a moving body", d.name);
    if (!finite3(d.point) || !finite3(d.force) || !finite3(d.torque))
        return lwi_model_fail(&b->desc, d.place, error,
                              "wrench '%s': point, force or torque is not finite", d.name);
    TRY(check_signal(b, d.place, error, "wrench", d.name, "scale", d.scale, false));
    point_in_body(b, d.body, &d.point, &d.world_point);
    GROW(b, WRENCHES, wrench, nwrench);
    b->desc.wrench[b->desc.nwrench++] = d;
    return LW_OK;
}

static bool none_negative(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!(isfinite(x[i]) && x[i] >= 0)) return false;
    return true;
}

static lw_status check_pair(lw_builder *b, lw_place place, const char *kind, const char *name,
                            lw_body body1, lw_body body2, lw_error *error)
{
    TRY(check_body(b, place, error, kind, name, "body1", body1));
    TRY(check_body(b, place, error, kind, name, "body2", body2));
    if (body1.index != body2.index) return LW_OK;
    return lwi_model_fail(&b->desc, place, error, "%s '%s': acts between body '%s' and itself", kind,
                          name, b->desc.body[body1.index].name);
}

lw_status lw_builder_add_bushing(lw_builder *b, const lw_bushing_desc *desc, lw_error *error)
{
    lw_bushing_desc d = *desc;
    d.name = name_of(b, desc->name, "bushing", b->desc.nbushing);
    if (!d.name) return no_memory(error);
    TRY(check_pair(b, d.place, "bushing", d.name, d.body1, d.body2, error));
    if (!finite3(d.at) || !finite3(d.frame1.position) || !finite3(d.frame2.position) ||
        !none_negative(d.stiffness, 6) || !none_negative(d.damping, 6))
        return lwi_model_fail(&b->desc, d.place, error,
                              "bushing '%s': its places must be finite, stiffness and damping six "
                              "numbers >= 0 each",
                              d.name);
    if (d.has_at) {
        const double r[3] = {d.at.x, d.at.y, d.at.z}, q[4] = {1, 0, 0, 0};
        d.frame1 = in_body(&b->desc.body[d.body1.index].pose, r, q);
        d.frame2 = in_body(&b->desc.body[d.body2.index].pose, r, q);
        d.has_at = 0, d.at = (lw_vec3){0, 0, 0};
    }
    TRY(check_unit(b, d.place, error, "bushing", d.name, "orientation of frame1",
                   &d.frame1.orientation));
    TRY(check_unit(b, d.place, error, "bushing", d.name, "orientation of frame2",
                   &d.frame2.orientation));
    GROW(b, BUSHINGS, bushing, nbushing);
    b->desc.bushing[b->desc.nbushing++] = d;
    return LW_OK;
}

// The normal of a plane on body 2, in its frame, of unit length.
static lw_status place_normal(lw_builder *b, lw_stop_desc *d, lw_error *error)
{
    const lw_pose *pose = &b->desc.body[d->body2.index].pose;
    const double q[4] = {pose->orientation.w, pose->orientation.x, pose->orientation.y,
                         pose->orientation.z};
    double n[3] = {d->normal.x, d->normal.y, d->normal.z}, R[9];
    if (!finite3(d->normal) || (zero3(d->normal) == (d->radius2 == 0)))
        return lwi_model_fail(&b->desc, d->place, error,
                              "stop '%s': expected the `normal` of a plane or the `radius2` of a "
                              "sphere on body 2, one of both",
                              d->name);
    if (d->radius2 > 0) return LW_OK;
    if (d->world_normal) {
        quat_matrix(R, q);
        m3_tmul_v(n, R, n);
    }
    const double length = v3_norm(n);
    // one that was written is left alone to the last bit
    if (!(fabs(length - 1) <= 2e-16)) v3_scale(n, 1 / length, n);
    d->normal = (lw_vec3){n[0], n[1], n[2]};
    d->world_normal = 0;
    return LW_OK;
}

lw_status lw_builder_add_stop(lw_builder *b, const lw_stop_desc *desc, lw_error *error)
{
    lw_stop_desc d = *desc;
    d.name = name_of(b, desc->name, "stop", b->desc.nstop);
    if (!d.name) return no_memory(error);
    if (d.exponent == 0) d.exponent = 1.5;
    const double numbers[] = {d.radius2, d.dissipation};
    TRY(check_pair(b, d.place, "stop", d.name, d.body1, d.body2, error));
    if (!finite3(d.point1) || !finite3(d.point2) || !none_negative(numbers, 2) ||
        !(isfinite(d.radius) && d.radius > 0) || !(isfinite(d.stiffness) && d.stiffness > 0) ||
        !(isfinite(d.exponent) && d.exponent >= 1))
        return lwi_model_fail(&b->desc, d.place, error,
                              "stop '%s': radius %g, radius2 %g, stiffness %g, exponent %g, "
                              "dissipation %g; expected radius and stiffness > 0, exponent >= 1, the "
                              "others >= 0, and finite points",
                              d.name, d.radius, d.radius2, d.stiffness, d.exponent, d.dissipation);
    TRY(place_normal(b, &d, error));
    point_in_body(b, d.body1, &d.point1, &d.world1);
    point_in_body(b, d.body2, &d.point2, &d.world2);
    GROW(b, STOPS, stop, nstop);
    b->desc.stop[b->desc.nstop++] = d;
    return LW_OK;
}

static lw_status check_coupled(lw_builder *b, const lw_coupling_desc *d, lw_joint joint, int k,
                               lw_error *error)
{
    if (joint.index < 0 || joint.index >= b->desc.njoint)
        return lwi_model_fail(&b->desc, d->place, error, "coupling: joint %d does not exist",
                              joint.index);
    const lw_joint_desc *j = &b->desc.joint[joint.index];
    if (k < 0 || k >= count_of(j, true) || count_of(j, true) != count_of(j, false))
        return lwi_model_fail(&b->desc, d->place, error,
                              "coupling of joint '%s': no scalar coordinate q%d, a %s joint has %d",
                              j->name, k, type_text(j->type),
                              count_of(j, true) == count_of(j, false) ? count_of(j, true) : 0);
    return LW_OK;
}

lw_status lw_builder_add_coupling(lw_builder *b, const lw_coupling_desc *desc, lw_error *error)
{
    lw_coupling_desc d = *desc;
    TRY(check_coupled(b, &d, d.joint, d.coordinate, error));
    TRY(check_coupled(b, &d, d.of, d.with, error));
    if (d.joint.index == d.of.index && d.coordinate == d.with)
        return lwi_model_fail(&b->desc, d.place, error,
                              "coupling of joint '%s': couples q%d with itself",
                              b->desc.joint[d.joint.index].name, d.coordinate);
    if (d.npolynomial < 1 || !d.polynomial || !finite_n(d.polynomial, d.npolynomial))
        return lwi_model_fail(&b->desc, d.place, error,
                              "coupling of joint '%s': polynomial needs one or more finite numbers",
                              b->desc.joint[d.joint.index].name);
    double *c = LWI_PUSH(&b->arena, double, d.npolynomial);
    if (!c) return no_memory(error);
    memcpy(c, d.polynomial, (size_t)d.npolynomial * sizeof *c);
    d.polynomial = c;
    GROW(b, COUPLINGS, coupling, ncoupling);
    b->desc.coupling[b->desc.ncoupling++] = d;
    return LW_OK;
}

lw_status lw_builder_add_marker(lw_builder *b, const lw_marker_desc *desc, lw_error *error)
{
    lw_marker_desc d = *desc;
    d.name = name_of(b, desc->name, "marker", b->desc.nmarker);
    if (!d.name) return no_memory(error);
    TRY(check_body(b, d.place, error, "marker", d.name, "body", d.body));
    if (!finite3(d.pose.position))
        return lwi_model_fail(&b->desc, d.place, error, "marker '%s': position is not finite",
                              d.name);
    TRY(check_unit(b, d.place, error, "marker", d.name, "orientation", &d.pose.orientation));
    GROW(b, MARKERS, marker, nmarker);
    b->desc.marker[b->desc.nmarker++] = d;
    return LW_OK;
}
