// efforts.c -- efforts of joints as formulas, where a range limits more than one actuator.
//
// actuatorfrcrange limits the sum of all actuators of a joint, and of the compensation of gravity where it counts as theirs
// (actuatorgravcomp).  For one actuator on the joint it is the limit of the servo's effort.  For several, for actuators of
// tendons and with compensation, the effort of the joint is a formula,
//     clip(sum (dl/dq) f + w, range) - w,   f = clip((g0 + g1 l + g2 l') clip(u, control) + b0 + b1 l + b2 l', force)
// and so is that of the other joints of these tendons, without limits.  w is the effort of the compensating forces at the
// joint, which act on the bodies as wrenches too (read.c): with points a, b on the axis and the forces f_i at r_i
//     w = (b - a) . sum (r_i - a) x f_i of a hinge,   (b - a) . sum f_i of a slide
// In a file without actuators nothing compensates at such a joint: its effort is -w.
#include "io/mjcf/actuators.h"

#include "base/assert.h"
#include "model/description.h"
#include "model/signals/formula.h"
#include "spatial/rotation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/** Text that grows; with at NULL it is only measured. */
typedef struct formula_text {
    char *at;
    size_t n, room;
} formula_text;

static void put(formula_text *to, const char *format, ...) LW_PRINTF(2, 3);
static void put(formula_text *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int n =
        vsnprintf(to->at ? to->at + to->n : NULL, to->at ? to->room - to->n : 0, format, arguments);
    va_end(arguments);
    LWI_ASSERT(n >= 0);
    to->n += (size_t)n;
}

enum { NAME_SIZE = 2 * 256 + 4 };

// ------------------------------------------------------------------------------------- compensation

// One after the last body that a body carries: they follow it in the list.
static int end_of(const lwi_mjcf *u, int body)
{
    int i = body + 1;
    while (i < u->nbody && u->body[i].parent >= body) i++;
    return i;
}

/** Names of the points a, b on the axis of a joint, in quotes. */
typedef struct axis_names {
    char a[NAME_SIZE], b[NAME_SIZE];
} axis_names;

// Factor k of (r - a) x f along an axis, of all bodies that the joint carries.
static void put_arms(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_joint *j, const char *a,
                     int k)
{
    double f[3];
    char name[NAME_SIZE];
    put(to, "0");
    for (int i = j->body, end = end_of(u, i); i < end; i++) {
        if (!lwi_mjcf_compensating(u, &u->body[i], f)) continue;
        lwi_mjcf_quote(name, sizeof name, u->body[i].desc.name);
        for (int side = 1; side <= 2; side++) { // r_(k+1) f_(k+2) - r_(k+2) f_(k+1)
            const int at = (k + side) % 3;
            const double factor = side == 1 ? f[(k + 2) % 3] : -f[(k + 1) % 3];
            if (factor == 0) continue;
            put(to, " + (%.17g)*(body.%s.%c - marker.%s.%c)", factor, name, "xyz"[at], a,
                "xyz"[at]);
        }
    }
}

static void put_sum(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_joint *j, int k)
{
    double f[3], sum = 0;
    for (int i = j->body, end = end_of(u, i); i < end; i++)
        if (lwi_mjcf_compensating(u, &u->body[i], f)) sum += f[k];
    put(to, "%.17g", sum);
}

static void put_weight(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_joint *j,
                       const axis_names *axis)
{
    put(to, "0");
    for (int k = 0; k < 3; k++) {
        const char x = "xyz"[k];
        put(to, " + (marker.%s.%c - marker.%s.%c)*(", axis->b, x, axis->a, x);
        if (j->desc.type == LW_JOINT_PRISMATIC)
            put_sum(to, u, j, k);
        else
            put_arms(to, u, j, axis->a, k);
        put(to, ")");
    }
}

// Coordinates of bodies that the formula reads; 0: nothing is compensated.
static int count_read(const lwi_mjcf *u, const lwi_mjcf_joint *j)
{
    double f[3];
    int n = 0;
    for (int i = j->body, end = end_of(u, i); i < end; i++)
        if (lwi_mjcf_compensating(u, &u->body[i], f))
            for (int k = 0; k < 3; k++) n += f[(k + 1) % 3] != 0 || f[(k + 2) % 3] != 0;
    return n;
}

static lw_status add_point(const lwi_mjcf *u, const lwi_mjcf_joint *j, const char *kind,
                           double along, char *quoted)
{
    double R[9];
    const char *name = lwi_names_distinct(&u->site_names, j->desc.name, kind, u->arena);
    if (!name) return lwi_mjcf_no_memory(u);
    lw_marker_desc d = {
        .name = name, .body = j->desc.body2, .pose = j->desc.frame2, .place = j->desc.place};
    const lw_quat *q = &d.pose.orientation;
    quat_matrix(R, (double[4]){q->w, q->x, q->y, q->z});
    d.pose.position.x += along * R[2];
    d.pose.position.y += along * R[5];
    d.pose.position.z += along * R[8];
    lwi_mjcf_quote(quoted, NAME_SIZE, name);
    return lw_builder_add_marker(u->builder, &d, u->error);
}

static lw_status make_text(const lwi_mjcf *u, formula_text *text)
{
    const size_t room = text->n + 1;
    *text = (formula_text){.at = lwi_arena_chars(u->arena, room), .room = room};
    return text->at ? LW_OK : lwi_mjcf_no_memory(u);
}

// The formula JOINT_gravcomp of w, of markers on the axis.
static lw_status add_weight(const lwi_mjcf *u, lwi_mjcf_joint *j)
{
    axis_names axis = {"", ""};
    formula_text text = {0};
    lw_signal added;
    TRY(add_point(u, j, "anchor", 0, axis.a));
    TRY(add_point(u, j, "axis", 1, axis.b));
    put_weight(&text, u, j, &axis);
    TRY(make_text(u, &text));
    put_weight(&text, u, j, &axis);
    const lw_function_desc d = {.name = lwi_mjcf_force_name(u, j->desc.name, "gravcomp"),
                                .type = LW_FUNCTION_FORMULA,
                                .formula = text.at,
                                .place = j->desc.place};
    if (!d.name) return lwi_mjcf_no_memory(u);
    j->weight = d.name;
    return lw_builder_add_function(u->builder, &d, &added, u->error);
}

// Without range the sum is what the wrenches are, unless there are no actuators.
static lw_status add_weights(const lwi_mjcf *u)
{
    enum { POINTS = 6 }; // coordinates of a and b
    for (int i = 0; i < u->njoint; i++) {
        lwi_mjcf_joint *j = &u->joint[i];
        if (!j->compensated || (u->acts && !j->has_effort_range)) continue;
        const int n = count_read(u, j);
        if (n == 0) continue;
        lwi_mjcf_begin_notes(u, j->e);
        if (lwi_mjcf_is_scalar(j) && n + POINTS <= LWI_FORMULA_NAMES)
            TRY(add_weight(u, j));
        else
            lwi_notes_add(u->notes, j->e, j->name,
                          "gravity compensation is not part of the limited effort, joints");
    }
    return LW_OK;
}

// --------------------------------------------------------------------------------------------- sums

int lwi_mjcf_term_count(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    return a->on == LWI_MJCF_ON_TENDON ? u->tendon[a->target].n : a->on == LWI_MJCF_ON_JOINT;
}

lw_servo_term lwi_mjcf_term_at(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int k)
{
    if (a->on == LWI_MJCF_ON_TENDON) return u->tendon[a->target].term[k];
    return (lw_servo_term){.joint = {a->target}, .factor = 1};
}

// dl/dq, without the gear.
static double arm(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int joint)
{
    double sum = 0;
    for (int k = 0; k < lwi_mjcf_term_count(u, a); k++) {
        const lw_servo_term t = lwi_mjcf_term_at(u, a, k);
        if (t.joint.index == joint) sum += t.factor;
    }
    return sum;
}

static bool drives(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int joint)
{
    for (int k = 0; k < lwi_mjcf_term_count(u, a); k++)
        if (lwi_mjcf_term_at(u, a, k).joint.index == joint) return true;
    return false;
}

// Does the range of a joint limit a sum?
static bool limits_a_sum(const lwi_mjcf *u, int joint)
{
    int n = 0;
    bool tendon = false;
    if (!u->joint[joint].has_effort_range) return false;
    for (int i = 0; i < u->nactuator; i++) {
        const lwi_mjcf_actuator *a = &u->actuator[i];
        if (!drives(u, a, joint)) continue;
        n++;
        tendon = tendon || a->on == LWI_MJCF_ON_TENDON;
    }
    return n > 1 || tendon || u->joint[joint].weight;
}

static void put_length(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_actuator *a,
                       const char *of)
{
    char name[NAME_SIZE];
    put(to, "(%.17g)*(0", a->d.gear[0]);
    for (int k = 0; k < lwi_mjcf_term_count(u, a); k++) {
        const lw_servo_term t = lwi_mjcf_term_at(u, a, k);
        lwi_mjcf_quote(name, sizeof name, u->joint[t.joint.index].desc.name);
        put(to, " + (%.17g)*%s.%s", t.factor, name, of);
    }
    put(to, ")");
}

// c[0] + c[1] l + c[2] l'
static void put_affine(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_actuator *a,
                       const double *c)
{
    static const char *const of[] = {"q0", "qd0"};
    put(to, "(%.17g", c[0]);
    for (int k = 0; k < 2; k++) {
        if (c[1 + k] == 0) continue;
        put(to, " + (%.17g)*", c[1 + k]);
        put_length(to, u, a, of[k]);
    }
    put(to, ")");
}

static void put_force(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const lwi_mjcf_drive *d = &a->d;
    const bool constant = d->gaintype == LWI_MJCF_NONE;
    char name[NAME_SIZE];
    const double gain[3] = {d->gain[0], constant ? 0 : d->gain[1], constant ? 0 : d->gain[2]},
                 bias[3] = {d->bias[0], d->bias[1], lwi_mjcf_has_ratio(d) ? -a->kd : d->bias[2]};
    const bool control = lwi_mjcf_in_effect(u, d->control_limited, d->control),
               force = lwi_mjcf_in_effect(u, d->force_limited, d->force);
    lwi_mjcf_quote(name, sizeof name, a->name);
    if (force) put(to, "max(%.17g, min(%.17g, ", d->force[0], d->force[1]);
    put_affine(to, u, a, gain);
    if (control)
        put(to, "*max(%.17g, min(%.17g, %s))", d->control[0], d->control[1], name);
    else
        put(to, "*%s", name);
    if (d->biastype == LWI_MJCF_AFFINE) {
        put(to, " + ");
        put_affine(to, u, a, bias);
    }
    if (force) put(to, "))");
}

static void put_effort(formula_text *to, const lwi_mjcf *u, int joint)
{
    const lwi_mjcf_joint *j = &u->joint[joint];
    const bool limited = limits_a_sum(u, joint);
    char weight[NAME_SIZE];
    if (limited) put(to, "max(%.17g, min(%.17g, ", j->effort_range[0], j->effort_range[1]);
    put(to, "0");
    for (int i = 0; i < u->nactuator; i++) {
        const lwi_mjcf_actuator *a = &u->actuator[i];
        if (!a->summed || !drives(u, a, joint)) continue;
        put(to, " + (%.17g)*(", a->d.gear[0] * arm(u, a, joint));
        put_force(to, u, a);
        put(to, ")");
    }
    if (j->weight) lwi_mjcf_quote(weight, sizeof weight, j->weight);
    if (j->weight && u->acts) put(to, " + %s", weight);
    if (limited) put(to, "))");
    if (j->weight) put(to, " - %s", weight);
}

static bool is_formula(const lwi_mjcf *u, int joint)
{
    for (int i = 0; i < u->nactuator; i++)
        if (u->actuator[i].summed && drives(u, &u->actuator[i], joint)) return true;
    return u->joint[joint].weight;
}

// With the plain effort of its coordinate, which acts on no other joint.
static void take_plain(const lwi_mjcf *u, int joint)
{
    for (int i = 0; i < u->nactuator; i++) {
        lwi_mjcf_actuator *a = &u->actuator[i];
        if (!a->plain || a->target != joint) continue;
        a->plain = false;
        a->summed = true;
    }
}

static lw_status effort_text(const lwi_mjcf *u, int joint, const char **made)
{
    formula_text text = {0};
    put_effort(&text, u, joint);
    TRY(make_text(u, &text));
    put_effort(&text, u, joint);
    *made = text.at;
    return LW_OK;
}

static lw_status add_effort(const lwi_mjcf *u, int joint)
{
    lwi_mjcf_joint *j = &u->joint[joint];
    lw_function_desc d = {.type = LW_FUNCTION_FORMULA, .place = j->desc.place};
    if (!is_formula(u, joint)) return LW_OK;
    take_plain(u, joint);
    TRY(effort_text(u, joint, &d.formula));
    return lw_builder_add_function(u->builder, &d, &j->desc.coordinate[0].effort, u->error);
}

lw_status lwi_mjcf_add_efforts(const lwi_mjcf *u)
{
    TRY(add_weights(u));
    for (int j = 0; j < u->njoint; j++)
        for (int i = 0; i < u->nactuator && limits_a_sum(u, j); i++)
            if (drives(u, &u->actuator[i], j)) u->actuator[i].summed = true;
    for (int j = 0; j < u->njoint; j++) TRY(add_effort(u, j));
    return LW_OK;
}

static bool has_ratio_in(const lwi_mjcf *u, int joint)
{
    for (int i = 0; i < u->nactuator; i++)
        if (u->actuator[i].summed && drives(u, &u->actuator[i], joint) &&
            lwi_mjcf_has_ratio(&u->actuator[i].d))
            return true;
    return false;
}

lw_status lwi_mjcf_renew_efforts(const lwi_mjcf *u)
{
    for (int j = 0; j < u->njoint; j++) {
        const char *made, *kept;
        const lw_signal effort = u->joint[j].desc.coordinate[0].effort;
        if (!has_ratio_in(u, j)) continue;
        TRY(effort_text(u, j, &made));
        kept = lwi_arena_text(&u->builder->arena, made);
        if (!kept) return lwi_mjcf_no_memory(u);
        u->builder->desc.function[effort.index - 1].formula = kept;
    }
    return LW_OK;
}
