// actuators.c -- the actuators of an MJCF file as inputs that drive joints, tendons, slider-cranks or sites.
//
// An actuator has the length l = gear q of a joint, or gear L of a tendon or a slider-crank, and the force
//     f = (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l'
// where u is its control; both are limited to their ranges.  That is a servo; a motor without gear and limits is the
// effort of its coordinate.  At a site f is a wrench in the axes of the site.
// Actuators of all kinds share their defaults: each element sets some of the values, those of the outer classes first.
#include "io/mjcf/mjcf.h"

#include "base/assert.h"
#include "io/effective.h"
#include "model/forces/item.h"
#include "model/model.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NONE, AFFINE, OTHER };

/** What the elements of an actuator set. */
typedef struct drive {
    double gear[6], control[2], force[2], gain[10], bias[10], damping[3], armature, inherit;
    int control_limited, force_limited;
    int gaintype, biastype, dyntype; ///< gain: NONE is fixed
} drive;

typedef enum acts_on { ON_JOINT, ON_TENDON, ON_SITE, ON_CRANK } acts_on;

typedef struct lwi_mjcf_actuator {
    const lwi_xml_element *e;
    const char *name;
    drive d;
    acts_on on;
    int target; ///< joint, tendon or site; the crank's site
    int slider; ///< site of a slider
    double rod;
    lw_signal input;
    bool plain;  ///< the effort of its coordinate
    bool summed; ///< a term of the formulas of its joints
    int servo;   ///< its number among the servos; -1: none
} lwi_mjcf_actuator;

// ----------------------------------------------------------------------------------------- elements

static void set_word(const lwi_xml_element *e, const char *attribute, const char *none, int *kind)
{
    const char *text = lwi_xml_get(e, attribute);
    if (text) *kind = !strcmp(text, none) ? NONE : !strcmp(text, "affine") ? AFFINE : OTHER;
}

static lw_status set_general(const lwi_mjcf *u, const lwi_mjcf_at *at, drive *d)
{
    set_word(at->e, "gaintype", "fixed", &d->gaintype);
    set_word(at->e, "biastype", "none", &d->biastype);
    set_word(at->e, "dyntype", "none", &d->dyntype);
    TRY(lwi_mjcf_numbers(u, at, "gainprm", 1, 10, d->gain, NULL));
    return lwi_mjcf_numbers(u, at, "biasprm", 1, 10, d->bias, NULL);
}

static lw_status not_negative(const lwi_mjcf *u, const lwi_xml_element *e, const char *what,
                              double x)
{
    if (x >= 0) return LW_OK;
    return lwi_mjcf_fail(u, e, LW_ERR_MODEL, "<%.40s>: %s is %g, expected a number >= 0", e->name,
                         what, x);
}

// A damping ratio is a positive b2.
static lw_status set_position(const lwi_mjcf *u, const lwi_mjcf_at *at, drive *d)
{
    double kv = 0, ratio = 0, lag = 0;
    int has_kv, has_ratio, has_lag;
    TRY(lwi_mjcf_number(u, at, "kp", &d->gain[0]));
    TRY(lwi_mjcf_numbers(u, at, "kv", 1, 1, &kv, &has_kv));
    TRY(lwi_mjcf_numbers(u, at, "dampratio", 1, 1, &ratio, &has_ratio));
    TRY(lwi_mjcf_numbers(u, at, "timeconst", 1, 1, &lag, &has_lag));
    TRY(lwi_mjcf_number(u, at, "inheritrange", &d->inherit));
    TRY(not_negative(u, at->e, "kv", kv));
    TRY(not_negative(u, at->e, "dampratio", ratio));
    if (has_kv && has_ratio)
        return lwi_mjcf_fail(u, at->e, LW_ERR_PARSE, "<%.40s>: both kv and dampratio, expected one",
                             at->e->name);
    d->bias[1] = -d->gain[0];
    if (has_kv) d->bias[2] = -kv;
    if (has_ratio) d->bias[2] = ratio;
    if (has_lag) d->dyntype = lag != 0 ? OTHER : NONE;
    if (strcmp(at->e->name, "intvelocity") == 0) d->dyntype = OTHER;
    d->gaintype = NONE, d->biastype = AFFINE;
    return LW_OK;
}

static lw_status set_velocity(const lwi_mjcf *u, const lwi_mjcf_at *at, drive *d)
{
    memset(d->bias, 0, sizeof d->bias);
    TRY(lwi_mjcf_number(u, at, "kv", &d->gain[0]));
    d->bias[2] = -d->gain[0];
    d->gaintype = d->dyntype = NONE, d->biastype = AFFINE;
    return LW_OK;
}

static lw_status set_damper(const lwi_mjcf *u, const lwi_mjcf_at *at, drive *d)
{
    double kv = d->gaintype == AFFINE ? -d->gain[2] : 0;
    TRY(lwi_mjcf_number(u, at, "kv", &kv));
    TRY(not_negative(u, at->e, "kv", kv));
    memset(d->gain, 0, sizeof d->gain);
    d->gain[2] = -kv;
    d->control_limited = LWI_MJCF_FLAG_TRUE;
    d->gaintype = AFFINE, d->biastype = d->dyntype = NONE;
    return LW_OK;
}

static lw_status set_special(const lwi_mjcf *u, const lwi_mjcf_at *at, drive *d)
{
    const char *name = at->e->name;
    if (strcmp(name, "general") == 0) return set_general(u, at, d);
    if (strcmp(name, "position") == 0 || strcmp(name, "intvelocity") == 0)
        return set_position(u, at, d);
    if (strcmp(name, "velocity") == 0) return set_velocity(u, at, d);
    if (strcmp(name, "damper") == 0) return set_damper(u, at, d);
    if (strcmp(name, "motor") == 0)
        d->gain[0] = 1, d->gaintype = d->biastype = d->dyntype = NONE;
    else
        d->dyntype = OTHER;
    return LW_OK;
}

static lw_status set_values(const lwi_mjcf *u, const lwi_xml_element *e, drive *d)
{
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    TRY(lwi_mjcf_numbers(u, &at, "gear", 1, 6, d->gear, NULL));
    TRY(lwi_mjcf_numbers(u, &at, "ctrlrange", 2, 2, d->control, NULL));
    TRY(lwi_mjcf_numbers(u, &at, "forcerange", 2, 2, d->force, NULL));
    TRY(lwi_mjcf_numbers(u, &at, "damping", 1, 3, d->damping, NULL));
    TRY(lwi_mjcf_number(u, &at, "armature", &d->armature));
    TRY(lwi_mjcf_flag(u, &at, "ctrllimited", &d->control_limited));
    TRY(lwi_mjcf_flag(u, &at, "forcelimited", &d->force_limited));
    return set_special(u, &at, d);
}

bool lwi_mjcf_is_actuator(const char *element)
{
    static const char *const names[] = {"general", "motor",       "position", "velocity",
                                        "damper",  "intvelocity", "cylinder", "muscle",
                                        "dcmotor", "adhesion",    "pid",      "orientation"};
    for (int i = 0; i < LWI_COUNT(names); i++)
        if (strcmp(element, names[i]) == 0) return true;
    return false;
}

// The defaults of the class, the outer ones first, then the element.
static lw_status read_drive(const lwi_mjcf *u, const lwi_xml_element *e, drive *d)
{
    int chain[LWI_MJCF_MAX_CLASSES], n = 0, of_class = u->main_class;
    TRY(lwi_mjcf_find_class(u, e, "class", &of_class));
    *d = (drive){.gear = {1},
                 .gain = {1},
                 .control_limited = LWI_MJCF_FLAG_AUTO,
                 .force_limited = LWI_MJCF_FLAG_AUTO};
    for (; of_class >= 0; of_class = u->classes[of_class].outer) chain[n++] = of_class;
    while (n-- > 0)
        for (const lwi_xml_element *c = u->classes[chain[n]].e->first; c; c = c->next)
            if (lwi_mjcf_is_actuator(c->name)) TRY(set_values(u, c, d));
    return set_values(u, e, d);
}

// ------------------------------------------------------------------------------------------- targets

static lw_status find_crank(const lwi_mjcf *u, lwi_mjcf_actuator *a)
{
    const lwi_mjcf_at at = {a->e, LWI_MJCF_PLAIN, -1};
    a->on = ON_CRANK;
    TRY(lwi_mjcf_find(u, a->e, "cranksite", &u->site_names, "site", &a->target));
    TRY(lwi_mjcf_find(u, a->e, "slidersite", &u->site_names, "site", &a->slider));
    TRY(lwi_mjcf_number(u, &at, "cranklength", &a->rod));
    if (a->rod > 0) return LW_OK;
    return lwi_mjcf_fail(u, a->e, LW_ERR_MODEL, "<%.40s>: cranklength is %g, expected a number > 0",
                         a->e->name, a->rod);
}

// What an actuator acts on; *found: false: nothing that is read.
static lw_status find_target(const lwi_mjcf *u, lwi_mjcf_actuator *a, bool *found)
{
    const lwi_xml_element *e = a->e;
    *found = true;
    if (lwi_xml_get(e, "joint") || lwi_xml_get(e, "jointinparent")) {
        const char *attribute = lwi_xml_get(e, "joint") ? "joint" : "jointinparent";
        a->on = ON_JOINT;
        TRY(lwi_mjcf_find(u, e, attribute, &u->joint_names, "joint", &a->target));
        *found = lwi_mjcf_is_scalar(&u->joint[a->target]);
        if (!*found)
            lwi_notes_add(u->notes, e, a->name, "actuators of ball and free joints are not read");
        return LW_OK;
    }
    if (lwi_xml_get(e, "tendon")) {
        a->on = ON_TENDON;
        TRY(lwi_mjcf_find(u, e, "tendon", &u->tendon_names, "tendon", &a->target));
        *found = u->tendon[a->target].n > 0 || u->tendon[a->target].npath > 0;
        if (!*found) lwi_notes_add(u->notes, e, a->name, "actuators of tendons that are not read");
        return LW_OK;
    }
    if (lwi_xml_get(e, "site") && !lwi_xml_get(e, "refsite")) {
        a->on = ON_SITE;
        return lwi_mjcf_find(u, e, "site", &u->site_names, "site", &a->target);
    }
    if (lwi_xml_get(e, "cranksite")) return find_crank(u, a);
    *found = false;
    lwi_notes_add(u->notes, e, a->name,
                  "actuators that act neither on a joint, a tendon or a slider-crank nor at a site "
                  "alone are not read");
    return LW_OK;
}

// The range of the control is that of the joint or tendon, by inheritrange about its middle.
static void inherit_range(const lwi_mjcf *u, lwi_mjcf_actuator *a)
{
    const double *range = a->on == ON_JOINT    ? u->joint[a->target].range
                          : a->on == ON_TENDON ? u->tendon[a->target].range
                                               : NULL;
    if (!(a->d.inherit > 0) || !range) return;
    const double middle = (range[0] + range[1]) / 2, half = (range[1] - range[0]) / 2;
    a->d.control[0] = middle - a->d.inherit * half;
    a->d.control[1] = middle + a->d.inherit * half;
}

// ------------------------------------------------------------------------------------------- before

// Rotor and damper of the actuator, at its joint.
static void add_to_joint(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const drive *d = &a->d;
    if (d->armature == 0 && d->damping[0] == 0 && d->damping[1] == 0 && d->damping[2] == 0) return;
    if (a->on != ON_JOINT || d->damping[1] != 0 || d->damping[2] != 0)
        lwi_notes_add(
            u->notes, a->e, a->name,
            "armature, and damping but the linear one of joints, of actuators is not used");
    if (a->on != ON_JOINT) return;
    lw_coordinate_desc *c = &u->joint[a->target].desc.coordinate[0];
    c->rotor += d->gear[0] * d->gear[0] * d->armature;
    c->damping += d->gear[0] * d->gear[0] * d->damping[0];
}

static bool is_plain(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const drive *d = &a->d;
    return a->on == ON_JOINT && d->gaintype == NONE && d->biastype == NONE &&
           d->gain[0] * d->gear[0] == 1 && !lwi_mjcf_in_effect(u, d->control_limited, d->control) &&
           !lwi_mjcf_in_effect(u, d->force_limited, d->force) &&
           !u->joint[a->target].has_effort_range &&
           u->joint[a->target].desc.coordinate[0].effort.index == 0;
}

// Without a name that of the joint, for its first actuator.
static const char *first_name(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    char number[32];
    if (a->name) return a->name;
    const char *target = a->on == ON_JOINT    ? u->joint[a->target].desc.name
                         : a->on == ON_TENDON ? u->tendon[a->target].name
                                              : u->site[a->target].name;
    const bool first = a->on == ON_JOINT && u->joint[a->target].nactuator == 0;
    snprintf(number, sizeof number, "actuator%d", u->nactuator + 1);
    return lwi_mjcf_force_name(u, target ? target : a->e->name, first ? NULL : number);
}

// Names that formulas use otherwise get an underscore.
static const char *input_name(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const char *name = first_name(u, a);
    if (!name || !lwi_names_constant(name)) return name;
    lwi_notes_add(u->notes, a->e, name, "inputs t, pi and e are named t_, pi_ and e_");
    return lwi_mjcf_force_name(u, name, "");
}

static lw_status read_actuator(lwi_mjcf *u, const lwi_xml_element *e)
{
    lwi_mjcf_actuator *a = &u->actuator[u->nactuator];
    bool found = false;
    *a = (lwi_mjcf_actuator){.e = e, .name = lwi_xml_get(e, "name")};
    lwi_mjcf_begin_notes(u, e);
    if (!lwi_mjcf_is_actuator(e->name)) return LW_OK; // noted by the survey
    TRY(read_drive(u, e, &a->d));
    TRY(find_target(u, a, &found));
    if (!found) return LW_OK;
    if (a->d.dyntype != NONE || a->d.gaintype == OTHER || a->d.biastype == OTHER) {
        lwi_notes_add(u->notes, e, a->name,
                      "actuators with an internal state or a law that is not affine, as "
                      "<%.40s>, are not read",
                      e->name);
        return LW_OK;
    }
    add_to_joint(u, a);
    inherit_range(u, a);
    a->name = input_name(u, a);
    if (!a->name) return lwi_mjcf_no_memory(u);
    u->nactuator++;
    TRY(lw_builder_add_input(u->builder, a->name, &a->input, u->error));
    a->plain = is_plain(u, a);
    if (a->plain) u->joint[a->target].desc.coordinate[0].effort = a->input;
    if (a->on == ON_JOINT) u->joint[a->target].nactuator++;
    return LW_OK;
}

// -------------------------------------------------------------------------------- limited sums
//
// actuatorfrcrange limits the sum of all actuators of a joint.  For one actuator on the joint it is the limit of the
// servo's effort.  For several, and for actuators of tendons, the effort of the joint is a formula,
//     clip(sum (dl/dq) f, range),   f = clip((g0 + g1 l + g2 l') clip(u, control) + b0 + b1 l + b2 l', force)
// and so is that of the other joints of these tendons, without limits.

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

static int term_count(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    return a->on == ON_TENDON ? u->tendon[a->target].n : a->on == ON_JOINT ? 1 : 0;
}

static lw_servo_term term_at(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int k)
{
    if (a->on == ON_TENDON) return u->tendon[a->target].term[k];
    return (lw_servo_term){.joint = {a->target}, .factor = 1};
}

// dl/dq, without the gear.
static double arm(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int joint)
{
    double sum = 0;
    for (int k = 0; k < term_count(u, a); k++) {
        const lw_servo_term t = term_at(u, a, k);
        if (t.joint.index == joint) sum += t.factor;
    }
    return sum;
}

static bool drives(const lwi_mjcf *u, const lwi_mjcf_actuator *a, int joint)
{
    for (int k = 0; k < term_count(u, a); k++)
        if (term_at(u, a, k).joint.index == joint) return true;
    return false;
}

static bool has_ratio(const drive *d);

// Does the range of a joint limit a sum that can be a formula?
static bool limits_a_sum(const lwi_mjcf *u, int joint)
{
    int n = 0;
    bool tendon = false;
    if (!u->joint[joint].has_effort_range) return false;
    for (int i = 0; i < u->nactuator; i++) {
        const lwi_mjcf_actuator *a = &u->actuator[i];
        if (!drives(u, a, joint)) continue;
        if (has_ratio(&a->d)) return false; // its damping follows from the model
        n++;
        tendon = tendon || a->on == ON_TENDON;
    }
    return n > 1 || tendon;
}

static void put_length(formula_text *to, const lwi_mjcf *u, const lwi_mjcf_actuator *a,
                       const char *of)
{
    char name[NAME_SIZE];
    put(to, "(%.17g)*(0", a->d.gear[0]);
    for (int k = 0; k < term_count(u, a); k++) {
        const lw_servo_term t = term_at(u, a, k);
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
    const drive *d = &a->d;
    char name[NAME_SIZE];
    const double gain[3] = {d->gain[0], d->gaintype == NONE ? 0 : d->gain[1],
                            d->gaintype == NONE ? 0 : d->gain[2]};
    const bool control = lwi_mjcf_in_effect(u, d->control_limited, d->control),
               force = lwi_mjcf_in_effect(u, d->force_limited, d->force);
    lwi_mjcf_quote(name, sizeof name, a->name);
    if (force) put(to, "max(%.17g, min(%.17g, ", d->force[0], d->force[1]);
    put_affine(to, u, a, gain);
    if (control)
        put(to, "*max(%.17g, min(%.17g, %s))", d->control[0], d->control[1], name);
    else
        put(to, "*%s", name);
    if (d->biastype == AFFINE) {
        put(to, " + ");
        put_affine(to, u, a, d->bias);
    }
    if (force) put(to, "))");
}

static void put_effort(formula_text *to, const lwi_mjcf *u, int joint)
{
    const lwi_mjcf_joint *j = &u->joint[joint];
    const bool limited = limits_a_sum(u, joint);
    if (limited) put(to, "max(%.17g, min(%.17g, ", j->effort_range[0], j->effort_range[1]);
    put(to, "0");
    for (int i = 0; i < u->nactuator; i++) {
        const lwi_mjcf_actuator *a = &u->actuator[i];
        if (!a->summed || !drives(u, a, joint)) continue;
        put(to, " + (%.17g)*(", a->d.gear[0] * arm(u, a, joint));
        put_force(to, u, a);
        put(to, ")");
    }
    if (limited) put(to, "))");
}

static bool has_sum(const lwi_mjcf *u, int joint)
{
    for (int i = 0; i < u->nactuator; i++)
        if (u->actuator[i].summed && drives(u, &u->actuator[i], joint)) return true;
    return false;
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

static lw_status add_effort(const lwi_mjcf *u, int joint)
{
    lwi_mjcf_joint *j = &u->joint[joint];
    formula_text text = {0};
    if (!has_sum(u, joint)) return LW_OK;
    take_plain(u, joint);
    put_effort(&text, u, joint);
    text = (formula_text){.at = lwi_arena_chars(u->arena, text.n + 1), .room = text.n + 1};
    if (!text.at) return lwi_mjcf_no_memory(u);
    put_effort(&text, u, joint);
    const lw_function_desc d = {
        .type = LW_FUNCTION_FORMULA, .formula = text.at, .place = j->desc.place};
    return lw_builder_add_function(u->builder, &d, &j->desc.coordinate[0].effort, u->error);
}

static lw_status add_limited_sums(const lwi_mjcf *u)
{
    for (int j = 0; j < u->njoint; j++)
        for (int i = 0; i < u->nactuator && limits_a_sum(u, j); i++)
            if (drives(u, &u->actuator[i], j)) u->actuator[i].summed = true;
    for (int j = 0; j < u->njoint; j++) TRY(add_effort(u, j));
    return LW_OK;
}

lw_status lwi_mjcf_read_actuators(lwi_mjcf *u)
{
    const int room = lwi_mjcf_count_children(u, "actuator");
    TRY(lwi_mjcf_read_tendons(u));
    u->actuator = LWI_PUSH(u->arena, lwi_mjcf_actuator, room + 1);
    if (!u->actuator || lwi_names_create(room, u->arena, &u->taken_inputs) != LW_OK)
        return lwi_mjcf_no_memory(u);
    for (int pass = 0; pass < 2; pass++) {
        for (const lwi_xml_element *s = lwi_xml_child(u->xml.root, "actuator"); s;
             s = lwi_xml_next(s, "actuator"))
            for (const lwi_xml_element *e = s->first; e; e = e->next) {
                if (pass == 0)
                    lwi_names_add(&u->taken_inputs, lwi_xml_get(e, "name"), 0);
                else
                    TRY(read_actuator(u, e));
            }
        lwi_names_sort(&u->taken_inputs);
    }
    return add_limited_sums(u);
}

// -------------------------------------------------------------------------------------------- after

static double within(double x, const double range[2])
{
    return fmin(fmax(x, range[0]), range[1]);
}

// The range of the force, also that of the joint over the gear.
static void limit_effort(const lwi_mjcf *u, const lwi_mjcf_actuator *a, lw_servo_desc *s)
{
    const lwi_mjcf_joint *j = a->on == ON_JOINT ? &u->joint[a->target] : NULL;
    s->law.has_effort_range = lwi_mjcf_in_effect(u, a->d.force_limited, a->d.force);
    memcpy(s->law.effort_range, a->d.force, sizeof s->law.effort_range);
    if (!j || !j->has_effort_range) return;
    const double gear = a->d.gear[0];
    double range[2] = {j->effort_range[0] / gear, j->effort_range[1] / gear};
    if (gear < 0) range[0] = j->effort_range[1] / gear, range[1] = j->effort_range[0] / gear;
    for (int k = 0; k < 2; k++)
        s->law.effort_range[k] = s->law.has_effort_range ? within(a->d.force[k], range) : range[k];
    s->law.has_effort_range = true;
    if (j->nactuator > 1)
        lwi_notes_add(u->notes, a->e, j->name,
                      "actuatorfrcrange limits each actuator, not their sum, joints");
}

// A positive b2 of a position servo is a damping ratio.
static bool has_ratio(const drive *d)
{
    return d->biastype == AFFINE && d->gain[0] > 0 && d->gain[0] == -d->bias[1] && d->bias[2] > 0;
}

// Joints with a range that actuators of spatial tendons and slider-cranks do not obey.
static void note_ranges(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    for (int j = 0; j < u->njoint; j++)
        if (u->joint[j].has_effort_range)
            lwi_notes_add(u->notes, a->e, u->joint[j].name,
                          "actuatorfrcrange does not limit actuators of spatial tendons and "
                          "slider-cranks, joints");
}

static lw_status add_along(const lwi_mjcf *u, const lwi_mjcf_actuator *a, const lw_servo_desc *s,
                           lw_tendon_desc *d)
{
    note_ranges(u, a);
    d->name = s->name, d->law = s->law, d->place = s->place;
    if (has_ratio(&a->d))
        lwi_notes_add(u->notes, a->e, a->name,
                      "dampratio of actuators of spatial tendons and slider-cranks is not used");
    if (a->d.gear[0] != 0) return lw_builder_add_tendon(u->builder, d, u->error);
    lwi_notes_add(u->notes, a->e, a->name, "actuators with gear 0 have no effect");
    return LW_OK;
}

static lw_status add_rope(const lwi_mjcf *u, const lwi_mjcf_actuator *a, const lw_servo_desc *s)
{
    const lwi_mjcf_tendon *t = &u->tendon[a->target];
    lw_tendon_desc d = {.path = t->path, .npath = t->npath};
    return add_along(u, a, s, &d);
}

static lw_status add_crank(const lwi_mjcf *u, const lwi_mjcf_actuator *a, const lw_servo_desc *s)
{
    const lwi_mjcf_site *crank = &u->site[a->target], *slider = &u->site[a->slider];
    lw_tendon_desc d = {.slider_crank = {.present = true,
                                         .crank = u->body[crank->body].body,
                                         .slider = u->body[slider->body].body,
                                         .crank_point = {crank->r[0], crank->r[1], crank->r[2]},
                                         .slider_point = {slider->r[0], slider->r[1], slider->r[2]},
                                         .axis = {slider->R[2], slider->R[5], slider->R[8]},
                                         .rod = a->rod}};
    return add_along(u, a, s, &d);
}

static lw_status add_servo(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const drive *d = &a->d;
    lw_servo_desc s = {.name = a->name,
                       .law = {.gear = d->gear[0], .target = a->input},
                       .place = lwi_mjcf_place(u, a->e)};
    memcpy(s.law.gain, d->gain, sizeof s.law.gain);
    if (d->gaintype == NONE) s.law.gain[1] = s.law.gain[2] = 0;
    if (d->biastype == AFFINE) memcpy(s.law.bias, d->bias, sizeof s.law.bias);
    const bool servo = s.law.gain[1] == 0 && s.law.gain[2] == 0 && s.law.gain[0] == -s.law.bias[1];
    if (servo && s.law.gain[0] > 0) // by kp, as people write it
        s.law.kp = s.law.gain[0], s.law.gain[0] = s.law.bias[1] = 0;
    if (has_ratio(d)) s.law.bias[2] = 0; // resolve_ratios
    if (s.law.bias[2] < 0) s.law.kd = -s.law.bias[2], s.law.bias[2] = 0;
    s.law.has_target_range = lwi_mjcf_in_effect(u, d->control_limited, d->control);
    memcpy(s.law.target_range, d->control, sizeof s.law.target_range);
    limit_effort(u, a, &s);
    if (a->on == ON_CRANK) return add_crank(u, a, &s);
    if (a->on == ON_TENDON && u->tendon[a->target].npath > 0) return add_rope(u, a, &s);
    if (a->on == ON_TENDON) {
        s.nterm = u->tendon[a->target].n;
        for (int k = 0; k < s.nterm; k++) {
            const lwi_mjcf_joint *j = &u->joint[u->tendon[a->target].term[k].joint.index];
            if (j->has_effort_range)
                lwi_notes_add(u->notes, a->e, j->name,
                              "actuatorfrcrange does not limit actuators of tendons, joints");
        }
        s.terms = lwi_mjcf_tendon_terms(u, &u->tendon[a->target]);
        if (!s.terms) return lwi_mjcf_no_memory(u);
    } else {
        s.joint = u->joint[a->target].joint;
    }
    if (d->gear[0] != 0) return lw_builder_add_servo(u->builder, &s, u->error);
    lwi_notes_add(u->notes, a->e, a->name, "actuators with gear 0 have no effect");
    return LW_OK;
}

// The length of a site is zero: b0 and g0 count.
static lw_status add_wrench(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const lwi_mjcf_site *s = &u->site[a->target];
    const drive *d = &a->d;
    double f[3], T[3];
    v3_scale(f, d->gain[0], d->gear);
    v3_scale(T, d->gain[0], d->gear + 3);
    m3_mul_v(f, s->R, f);
    m3_mul_v(T, s->R, T);
    if (lwi_mjcf_in_effect(u, d->control_limited, d->control) ||
        lwi_mjcf_in_effect(u, d->force_limited, d->force))
        lwi_notes_add(u->notes, a->e, a->name,
                      "ranges of actuators at sites are not enforced; keep their inputs within");
    if (d->biastype == AFFINE && (d->bias[0] != 0 || d->bias[2] != 0))
        lwi_notes_add(u->notes, a->e, a->name, "the bias of actuators at sites is not used");
    if (s->body == 0) return LW_OK; // at the world
    const lw_wrench_desc w = {.name = a->name,
                              .body = u->body[s->body].body,
                              .point = {s->r[0], s->r[1], s->r[2]},
                              .force = {f[0], f[1], f[2]},
                              .torque = {T[0], T[1], T[2]},
                              .body_axes = true,
                              .scale = a->input,
                              .place = lwi_mjcf_place(u, a->e)};
    return lw_builder_add_wrench(u->builder, &w, u->error);
}

// dl/dq of a servo, in the speeds of the tree.
static void derivatives_of(const lwi_effective *e, const lw_servo_desc *s, double *J)
{
    const lw_servo_term one = {.joint = s->joint, .coordinate = s->coordinate, .factor = 1};
    const double gear = s->law.gear != 0 ? s->law.gear : 1;
    memset(J, 0, (size_t)e->model->tree_nv * sizeof *J);
    for (int k = 0; k < (s->nterm ? s->nterm : 1); k++) {
        const lw_servo_term *t = s->nterm ? &s->terms[k] : &one;
        int q, nq, v, nv;
        if (lw_model_joint_tree(e->model, t->joint, &q, &nq, &v, &nv) == LW_OK && nv > 0)
            J[v] += gear * t->factor;
    }
}

// kd = 2 ratio sqrt(kp m), m the effective inertia along the length at the placement of the bodies, as MuJoCo 4 does.
static lw_status set_ratios(const lwi_mjcf *u, lwi_effective *e)
{
    const lwi_force_list *list = &u->builder->desc.force[LWI_ITEM_servo];
    double *J = LWI_PUSH(&e->arena, double, e->model->tree_nv);
    if (!J) return lwi_mjcf_no_memory(u);
    lwi_mjcf_factor(u, e);
    for (int i = 0; i < u->nactuator; i++) {
        const lwi_mjcf_actuator *a = &u->actuator[i];
        lw_servo_desc *s = a->servo < 0 ? NULL : (lw_servo_desc *)list->desc + a->servo;
        if (!s || !has_ratio(&a->d)) continue;
        derivatives_of(e, s, J);
        const double m = lwi_effective_inertia(e, J);
        if (isfinite(m)) s->law.kd = 2 * a->d.bias[2] * sqrt(s->law.kp * m);
    }
    return LW_OK;
}

static lw_status resolve_ratios(const lwi_mjcf *u)
{
    lwi_effective e;
    bool any = false;
    for (int i = 0; i < u->nactuator; i++)
        any = any || (u->actuator[i].servo >= 0 && has_ratio(&u->actuator[i].d));
    if (!any) return LW_OK;
    TRY(lwi_effective_create(u->builder, &e, u->error));
    const lw_status status = set_ratios(u, &e);
    lwi_effective_destroy(&e);
    return status;
}

lw_status lwi_mjcf_add_actuators(const lwi_mjcf *u)
{
    TRY(lwi_mjcf_add_tendons(u));
    for (int i = 0; i < u->nactuator; i++) {
        lwi_mjcf_actuator *a = &u->actuator[i];
        lwi_mjcf_begin_notes(u, a->e);
        a->servo = -1;
        if (a->on == ON_SITE) {
            TRY(add_wrench(u, a));
        } else if (!a->plain && !a->summed) {
            const int number = u->builder->desc.force[LWI_ITEM_servo].n;
            TRY(add_servo(u, a));
            if (u->builder->desc.force[LWI_ITEM_servo].n > number) a->servo = number;
        }
    }
    TRY(resolve_ratios(u));
    return lwi_mjcf_add_tendon_limits(u);
}
