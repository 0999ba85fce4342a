// actuators.c -- the actuators of an MJCF file as inputs that drive joints, tendons, slider-cranks or sites.
//
// An actuator has the length l = gear q of a joint, or gear L of a tendon or a slider-crank, and the force
//     f = (g0 + g1 l + g2 l') u + b0 + b1 l + b2 l'
// where u is its control; both are limited to their ranges.  That is a servo; a motor without gear and limits is the
// effort of its coordinate.  At a site f is a wrench in the axes of the site.
// Actuators of all kinds share their defaults: each element sets some of the values, those of the outer classes first.
#include "io/mjcf/actuators.h"

#include "io/effective.h"
#include "model/forces/item.h"
#include "model/model.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- elements

static void set_word(const lwi_xml_element *e, const char *attribute, const char *none, int *kind)
{
    const char *text = lwi_xml_get(e, attribute);
    if (text)
        *kind = !strcmp(text, none)       ? LWI_MJCF_NONE
                : !strcmp(text, "affine") ? LWI_MJCF_AFFINE
                                          : LWI_MJCF_OTHER;
}

static lw_status set_general(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_drive *d)
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
static lw_status set_position(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_drive *d)
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
    if (has_lag) d->dyntype = lag != 0 ? LWI_MJCF_OTHER : LWI_MJCF_NONE;
    if (strcmp(at->e->name, "intvelocity") == 0) d->dyntype = LWI_MJCF_OTHER;
    d->gaintype = LWI_MJCF_NONE, d->biastype = LWI_MJCF_AFFINE;
    return LW_OK;
}

static lw_status set_velocity(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_drive *d)
{
    memset(d->bias, 0, sizeof d->bias);
    TRY(lwi_mjcf_number(u, at, "kv", &d->gain[0]));
    d->bias[2] = -d->gain[0];
    d->gaintype = d->dyntype = LWI_MJCF_NONE, d->biastype = LWI_MJCF_AFFINE;
    return LW_OK;
}

static lw_status set_damper(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_drive *d)
{
    double kv = d->gaintype == LWI_MJCF_AFFINE ? -d->gain[2] : 0;
    TRY(lwi_mjcf_number(u, at, "kv", &kv));
    TRY(not_negative(u, at->e, "kv", kv));
    memset(d->gain, 0, sizeof d->gain);
    d->gain[2] = -kv;
    d->control_limited = LWI_MJCF_FLAG_TRUE;
    d->gaintype = LWI_MJCF_AFFINE, d->biastype = d->dyntype = LWI_MJCF_NONE;
    return LW_OK;
}

static lw_status set_special(const lwi_mjcf *u, const lwi_mjcf_at *at, lwi_mjcf_drive *d)
{
    const char *name = at->e->name;
    if (strcmp(name, "general") == 0) return set_general(u, at, d);
    if (strcmp(name, "position") == 0 || strcmp(name, "intvelocity") == 0)
        return set_position(u, at, d);
    if (strcmp(name, "velocity") == 0) return set_velocity(u, at, d);
    if (strcmp(name, "damper") == 0) return set_damper(u, at, d);
    if (strcmp(name, "motor") == 0)
        d->gain[0] = 1, d->gaintype = d->biastype = d->dyntype = LWI_MJCF_NONE;
    else
        d->dyntype = LWI_MJCF_OTHER;
    return LW_OK;
}

static lw_status set_values(const lwi_mjcf *u, const lwi_xml_element *e, lwi_mjcf_drive *d)
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
static lw_status read_drive(const lwi_mjcf *u, const lwi_xml_element *e, lwi_mjcf_drive *d)
{
    int chain[LWI_MJCF_MAX_CLASSES], n = 0, of_class = u->main_class;
    TRY(lwi_mjcf_find_class(u, e, "class", &of_class));
    *d = (lwi_mjcf_drive){.gear = {1},
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
    a->on = LWI_MJCF_ON_CRANK;
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
        a->on = LWI_MJCF_ON_JOINT;
        TRY(lwi_mjcf_find(u, e, attribute, &u->joint_names, "joint", &a->target));
        *found = lwi_mjcf_is_scalar(&u->joint[a->target]);
        if (!*found)
            lwi_notes_add(u->notes, e, a->name, "actuators of ball and free joints are not read");
        return LW_OK;
    }
    if (lwi_xml_get(e, "tendon")) {
        a->on = LWI_MJCF_ON_TENDON;
        TRY(lwi_mjcf_find(u, e, "tendon", &u->tendon_names, "tendon", &a->target));
        *found = u->tendon[a->target].n > 0 || u->tendon[a->target].npath > 0;
        if (!*found) lwi_notes_add(u->notes, e, a->name, "actuators of tendons that are not read");
        return LW_OK;
    }
    if (lwi_xml_get(e, "site") && !lwi_xml_get(e, "refsite")) {
        a->on = LWI_MJCF_ON_SITE;
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
    const double *range = a->on == LWI_MJCF_ON_JOINT    ? u->joint[a->target].range
                          : a->on == LWI_MJCF_ON_TENDON ? u->tendon[a->target].range
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
    const lwi_mjcf_drive *d = &a->d;
    if (d->armature == 0 && d->damping[0] == 0 && d->damping[1] == 0 && d->damping[2] == 0) return;
    if (a->on != LWI_MJCF_ON_JOINT || d->damping[1] != 0 || d->damping[2] != 0)
        lwi_notes_add(
            u->notes, a->e, a->name,
            "armature, and damping but the linear one of joints, of actuators is not used");
    if (a->on != LWI_MJCF_ON_JOINT) return;
    lw_coordinate_desc *c = &u->joint[a->target].desc.coordinate[0];
    c->rotor += d->gear[0] * d->gear[0] * d->armature;
    c->damping += d->gear[0] * d->gear[0] * d->damping[0];
}

static bool is_plain(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    const lwi_mjcf_drive *d = &a->d;
    return a->on == LWI_MJCF_ON_JOINT && d->gaintype == LWI_MJCF_NONE &&
           d->biastype == LWI_MJCF_NONE && d->gain[0] * d->gear[0] == 1 &&
           !lwi_mjcf_in_effect(u, d->control_limited, d->control) &&
           !lwi_mjcf_in_effect(u, d->force_limited, d->force) &&
           !u->joint[a->target].has_effort_range &&
           u->joint[a->target].desc.coordinate[0].effort.index == 0;
}

// Without a name that of the joint, for its first actuator.
static const char *first_name(const lwi_mjcf *u, const lwi_mjcf_actuator *a)
{
    char number[32];
    if (a->name) return a->name;
    const char *target = a->on == LWI_MJCF_ON_JOINT    ? u->joint[a->target].desc.name
                         : a->on == LWI_MJCF_ON_TENDON ? u->tendon[a->target].name
                                                       : u->site[a->target].name;
    const bool first = a->on == LWI_MJCF_ON_JOINT && u->joint[a->target].nactuator == 0;
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
    if (a->d.dyntype != LWI_MJCF_NONE || a->d.gaintype == LWI_MJCF_OTHER ||
        a->d.biastype == LWI_MJCF_OTHER) {
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
    if (a->on == LWI_MJCF_ON_JOINT) u->joint[a->target].nactuator++;
    return LW_OK;
}

lw_status lwi_mjcf_read_actuators(lwi_mjcf *u)
{
    const int room = lwi_mjcf_count_children(u, "actuator");
    u->acts = room > 0;
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
    return lwi_mjcf_add_efforts(u);
}

// -------------------------------------------------------------------------------------------- after

static double within(double x, const double range[2])
{
    return fmin(fmax(x, range[0]), range[1]);
}

// The range of the force, also that of the joint over the gear.
static void limit_effort(const lwi_mjcf *u, const lwi_mjcf_actuator *a, lw_servo_desc *s)
{
    const lwi_mjcf_joint *j = a->on == LWI_MJCF_ON_JOINT ? &u->joint[a->target] : NULL;
    s->law.has_effort_range = lwi_mjcf_in_effect(u, a->d.force_limited, a->d.force);
    memcpy(s->law.effort_range, a->d.force, sizeof s->law.effort_range);
    if (!j || !j->has_effort_range) return;
    const double gear = a->d.gear[0];
    double range[2] = {j->effort_range[0] / gear, j->effort_range[1] / gear};
    if (gear < 0) range[0] = j->effort_range[1] / gear, range[1] = j->effort_range[0] / gear;
    for (int k = 0; k < 2; k++)
        s->law.effort_range[k] = s->law.has_effort_range ? within(a->d.force[k], range) : range[k];
    s->law.has_effort_range = true;
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
    if (lwi_mjcf_has_ratio(&a->d))
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
    const lwi_mjcf_drive *d = &a->d;
    lw_servo_desc s = {.name = a->name,
                       .law = {.gear = d->gear[0], .target = a->input},
                       .place = lwi_mjcf_place(u, a->e)};
    memcpy(s.law.gain, d->gain, sizeof s.law.gain);
    if (d->gaintype == LWI_MJCF_NONE) s.law.gain[1] = s.law.gain[2] = 0;
    if (d->biastype == LWI_MJCF_AFFINE) memcpy(s.law.bias, d->bias, sizeof s.law.bias);
    const bool servo = s.law.gain[1] == 0 && s.law.gain[2] == 0 && s.law.gain[0] == -s.law.bias[1];
    if (servo && s.law.gain[0] > 0) // by kp, as people write it
        s.law.kp = s.law.gain[0], s.law.gain[0] = s.law.bias[1] = 0;
    if (lwi_mjcf_has_ratio(d)) s.law.bias[2] = 0; // resolve_ratios
    if (s.law.bias[2] < 0) s.law.kd = -s.law.bias[2], s.law.bias[2] = 0;
    s.law.has_target_range = lwi_mjcf_in_effect(u, d->control_limited, d->control);
    memcpy(s.law.target_range, d->control, sizeof s.law.target_range);
    limit_effort(u, a, &s);
    if (a->on == LWI_MJCF_ON_CRANK) return add_crank(u, a, &s);
    if (a->on == LWI_MJCF_ON_TENDON && u->tendon[a->target].npath > 0) return add_rope(u, a, &s);
    if (a->on == LWI_MJCF_ON_TENDON) {
        s.nterm = u->tendon[a->target].n;
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
    const lwi_mjcf_drive *d = &a->d;
    double f[3], T[3];
    v3_scale(f, d->gain[0], d->gear);
    v3_scale(T, d->gain[0], d->gear + 3);
    m3_mul_v(f, s->R, f);
    m3_mul_v(T, s->R, T);
    if (lwi_mjcf_in_effect(u, d->control_limited, d->control) ||
        lwi_mjcf_in_effect(u, d->force_limited, d->force))
        lwi_notes_add(u->notes, a->e, a->name,
                      "ranges of actuators at sites are not enforced; keep their inputs within");
    if (d->biastype == LWI_MJCF_AFFINE && (d->bias[0] != 0 || d->bias[2] != 0))
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

// dl/dq of an actuator, in the speeds of the tree.
static void derivatives_of(const lwi_mjcf *u, const lwi_effective *e, const lwi_mjcf_actuator *a,
                           double *J)
{
    memset(J, 0, (size_t)e->model->tree_nv * sizeof *J);
    for (int k = 0; k < lwi_mjcf_term_count(u, a); k++) {
        const lw_servo_term t = lwi_mjcf_term_at(u, a, k);
        int q, nq, v, nv;
        if (lw_model_joint_tree(e->model, u->joint[t.joint.index].joint, &q, &nq, &v, &nv) ==
                LW_OK &&
            nv > 0)
            J[v] += a->d.gear[0] * t.factor;
    }
}

static bool needs_damper(const lwi_mjcf_actuator *a)
{
    return (a->servo >= 0 || a->summed) && lwi_mjcf_has_ratio(&a->d);
}

// kd = 2 ratio sqrt(kp m), m the effective inertia along the length at the placement of the bodies, as MuJoCo 4 does.
static lw_status set_ratios(const lwi_mjcf *u, lwi_effective *e)
{
    const lwi_force_list *list = &u->builder->desc.force[LWI_ITEM_servo];
    double *J = LWI_PUSH(&e->arena, double, e->model->tree_nv);
    if (!J) return lwi_mjcf_no_memory(u);
    lwi_mjcf_factor(u, e);
    for (int i = 0; i < u->nactuator; i++) {
        lwi_mjcf_actuator *a = &u->actuator[i];
        if (!needs_damper(a)) continue;
        derivatives_of(u, e, a, J);
        const double m = lwi_effective_inertia(e, J);
        if (isfinite(m)) a->kd = 2 * a->d.bias[2] * sqrt(a->d.gain[0] * m);
        if (a->servo >= 0) ((lw_servo_desc *)list->desc + a->servo)->law.kd = a->kd;
    }
    return LW_OK;
}

static lw_status resolve_ratios(const lwi_mjcf *u)
{
    lwi_effective e;
    bool any = false;
    for (int i = 0; i < u->nactuator; i++) any = any || needs_damper(&u->actuator[i]);
    if (!any) return LW_OK;
    TRY(lwi_effective_create(u->builder, &e, u->error));
    const lw_status status = set_ratios(u, &e);
    lwi_effective_destroy(&e);
    return status == LW_OK ? lwi_mjcf_renew_efforts(u) : status;
}

lw_status lwi_mjcf_add_actuators(const lwi_mjcf *u)
{
    TRY(lwi_mjcf_add_tendons(u));
    for (int i = 0; i < u->nactuator; i++) {
        lwi_mjcf_actuator *a = &u->actuator[i];
        lwi_mjcf_begin_notes(u, a->e);
        a->servo = -1;
        if (a->on == LWI_MJCF_ON_SITE) {
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
