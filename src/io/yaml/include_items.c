// include_items.c -- joints, forces and other items of included files, at their place and with the signs of mirrored
// coordinates.
#include "io/yaml/include.h"

#include "model/description.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <string.h>

// ----------------------------------------------------------------------------------------- signals

static lw_status negate(lwi_yaml_reading *r, lw_signal *signal);

static lw_status negate_formula(lwi_yaml_reading *r, lw_function_desc *f)
{
    const char *text = lwi_yaml_joined(r, "-(", f->formula, ")");
    if (!text) return lwi_yaml_no_memory(r);
    f->formula = text;
    return LW_OK;
}

static lw_status negate_list(lwi_yaml_reading *r, const double **list, int n)
{
    double *copy = LWI_PUSH(&r->arena, double, n);
    if (!copy) return lwi_yaml_no_memory(r);
    for (int i = 0; i < n; i++) copy[i] = 0 - (*list)[i];
    *list = copy;
    return LW_OK;
}

static lw_status negate_terms(lwi_yaml_reading *r, lw_function_desc *f)
{
    lw_signal *terms = LWI_PUSH(&r->arena, lw_signal, f->nterm);
    if (!terms) return lwi_yaml_no_memory(r);
    for (int i = 0; i < f->nterm; i++) {
        terms[i] = f->terms[i];
        TRY(negate(r, &terms[i]));
    }
    f->terms = terms;
    return LW_OK;
}

// The equations are linear within their ranges, which are reversed.
static lw_status negate_states(lwi_yaml_reading *r, lw_function_desc *f)
{
    const char **const formula[] = {&f->formula, &f->formula2, &f->reference_rate,
                                    &f->measured_rate};
    for (int i = 0; i < LWI_COUNT(formula); i++) {
        if (!*formula[i]) continue;
        *formula[i] = lwi_yaml_joined(r, "-(", *formula[i], ")");
        if (!*formula[i]) return lwi_yaml_no_memory(r);
    }
    const double lower = f->range[0];
    f->initial = 0 - f->initial;
    f->range[0] = 0 - f->range[1], f->range[1] = 0 - lower;
    return f->states ? negate_list(r, &f->states, f->nstate) : LW_OK;
}

static lw_status negate_function(lwi_yaml_reading *r, lw_function_desc *f)
{
    switch (f->type) {
    case LW_FUNCTION_CONSTANT:
        f->value = 0 - f->value;
        return LW_OK;
    case LW_FUNCTION_POLYNOMIAL:
        return negate_list(r, &f->coefficients, f->ncoefficient);
    case LW_FUNCTION_SINE:
        f->amplitude = 0 - f->amplitude, f->offset = 0 - f->offset;
        return LW_OK;
    case LW_FUNCTION_RAMP:
        f->rate = 0 - f->rate;
        return LW_OK;
    case LW_FUNCTION_STEP:
        f->from = 0 - f->from, f->to = 0 - f->to;
        return LW_OK;
    case LW_FUNCTION_TABLE:
    case LW_FUNCTION_CURVE:
        return negate_list(r, &f->y, f->npoint);
    case LW_FUNCTION_MAP:
        return negate_list(r, &f->y, f->npoint * f->npoint2);
    case LW_FUNCTION_SUM:
        return negate_terms(r, f);
    case LW_FUNCTION_FORMULA:
        return negate_formula(r, f);
    case LW_FUNCTION_INTEGRAL:
    case LW_FUNCTION_LAG:
    case LW_FUNCTION_RATE_LIMIT:
    case LW_FUNCTION_TRANSFER:
    case LW_FUNCTION_PID:
        return negate_states(r, f);
    case LW_FUNCTION_RELAY:
        f->from = 0 - f->from, f->to = 0 - f->to;
        return LW_OK;
    case LW_FUNCTION_SWITCH: { // events set it: a formula of it
        const char *text = lwi_yaml_joined(r, "-'", f->name, "'");
        if (!text) return lwi_yaml_no_memory(r);
        *f = (lw_function_desc){.type = LW_FUNCTION_FORMULA, .formula = text};
        return LW_OK;
    }
    case LW_FUNCTION_COUNT:
        break;
    }
    return LW_OK;
}

// The same signal with the other sign.
static lw_status negate(lwi_yaml_reading *r, lw_signal *signal)
{
    if (signal->index == 0) return LW_OK;
    if (signal->index < 0)
        return lwi_yaml_fail(r, LW_ERR_UNSUPPORTED, r->place_of_include,
                             "input '%.80s' acts on a coordinate that changes its sign where the "
                             "file is mirrored; expected a function",
                             r->builder->desc.input[-signal->index - 1]);
    lw_function_desc f = r->builder->desc.function[signal->index - 1];
    f.name = NULL;
    f.recorded = false;
    TRY(negate_function(r, &f));
    return lw_builder_add_function(r->builder, &f, signal, r->error);
}

// ------------------------------------------------------------------------------------------ frames

static bool is_ground(const lwi_yaml_reading *r, lw_body body)
{
    return body.index == r->ground.index;
}

// A place in the world in the frame of the body that stands for the ground of the file.
static lw_pose in_ground(const lwi_yaml_reading *r, lw_pose pose)
{
    const double p[3] = {pose.position.x, pose.position.y, pose.position.z};
    const double q[4] = {pose.orientation.w, pose.orientation.x, pose.orientation.y,
                         pose.orientation.z};
    if (!r->ground.index) return pose;
    return lwi_pose_in_body(&r->builder->desc.body[r->ground.index].pose, p, q);
}

static void place_point(const lwi_yaml_reading *r, lw_body body, bool world, lw_vec3 *x)
{
    const lw_pose at = {*x, {1, 0, 0, 0}};
    if (world)
        *x = lwi_yaml_place_position(&r->placement, *x);
    else if (is_ground(r, body))
        *x = in_ground(r, lwi_yaml_place_pose(&r->placement, at)).position;
    else
        *x = lwi_yaml_mirror_vector(&r->placement, *x, false);
}

static void place_vector(const lwi_yaml_reading *r, bool world, bool axial, lw_vec3 *x)
{
    *x = world ? lwi_yaml_place_vector(&r->placement, *x, axial)
               : lwi_yaml_mirror_vector(&r->placement, *x, axial);
}

// Frame of a joint, force or marker on a body.
static void place_frame(const lwi_yaml_reading *r, lw_body body, const double T[3], lw_pose *frame)
{
    const lwi_yaml_place *p = &r->placement;
    lw_pose f = lwi_yaml_mirror_frame(p, T, *frame);
    if (is_ground(r, body)) {
        const lw_pose world = {{p->r[0], p->r[1], p->r[2]},
                               {p->quat[0], p->quat[1], p->quat[2], p->quat[3]}};
        f = in_ground(r, lwi_pose_in_world(&world, f));
    }
    *frame = f;
}

// ------------------------------------------------------------------------------------------ joints

static lw_status sign_coordinate(lwi_yaml_reading *r, lw_coordinate_desc *c)
{
    const lw_limits_desc l = c->limits;
    TRY(negate(r, &c->motion));
    TRY(negate(r, &c->force));
    TRY(negate(r, &c->effort));
    c->at = 0 - c->at;
    c->limits.lower = 0 - l.upper, c->limits.has_lower = l.has_upper;
    c->limits.upper = 0 - l.lower, c->limits.has_upper = l.has_lower;
    return LW_OK;
}

// `at` and axes: the axes of both frames, of which x is any that is normal to z unless the file states it.
static lw_status place_axes(lwi_yaml_reading *r, const double T[3], lw_joint_desc *d)
{
    double q[4], R[9];
    const lw_vec3 z = d->axis, x = d->axis2;
    const bool has_z = z.x != 0 || z.y != 0 || z.z != 0, has_x = x.x != 0 || x.y != 0 || x.z != 0;
    if (!lwi_frame_of_axes(z, x, q)) return LW_OK; // an error of the builder
    quat_matrix(R, q);
    lw_vec3 axis = has_z ? z : (lw_vec3){0, 0, 1};
    lw_vec3 axis2 = has_x ? x : (lw_vec3){R[0], R[3], R[6]};
    axis = lwi_yaml_place_vector(&r->placement, axis, false);
    axis2 = lwi_yaml_place_vector(&r->placement, axis2, false);
    d->axis = (lw_vec3){T[2] * axis.x, T[2] * axis.y, T[2] * axis.z};
    d->axis2 = (lw_vec3){T[0] * axis2.x, T[0] * axis2.y, T[0] * axis2.z};
    d->at = lwi_yaml_place_position(&r->placement, d->at);
    return LW_OK;
}

lw_status lwi_yaml_place_joint(lwi_yaml_reading *r, lw_joint_desc *d)
{
    lwi_yaml_joint_signs s;
    if (!r->placement.moved) return LW_OK;
    lwi_yaml_joint_signs_of(&r->placement, d->type, &s);
    if (d->placement == LW_PLACED_AT) {
        TRY(place_axes(r, s.T, d));
    } else {
        place_frame(r, d->body1, s.T, &d->frame1);
        place_frame(r, d->body2, s.T, &d->frame2);
    }
    if (r->placement.det < 0) d->pitch = 0 - d->pitch;
    for (int k = 0; k < LW_JOINT_MAX_NQ; k++)
        d->q[k] = s.q[k] * d->q[k] + 0.0; // 0.0: no zero is negative
    for (int k = 0; k < LW_JOINT_MAX_NV; k++) {
        d->qd[k] = s.qd[k] * d->qd[k] + 0.0;
        if (s.qd[k] < 0) TRY(sign_coordinate(r, &d->coordinate[k]));
    }
    lw_signal *shift = d->mount_shift; // along the axes of F1
    for (int k = 0; k < 3; k++)
        if (s.T[k] < 0) TRY(negate(r, &shift[k]));
    const double det = r->placement.det;
    lw_vec3 *about = &d->mount_about;
    if (d->mount_turn.index && about->x == 0 && about->y == 0 && about->z == 0) about->z = 1;
    *about = (lw_vec3){det * s.T[0] * about->x + 0.0, det * s.T[1] * about->y + 0.0,
                       det * s.T[2] * about->z + 0.0}; // 0.0: no zero is negative
    return LW_OK;
}

static double sign_of_coordinate(const lwi_yaml_reading *r, int joint, int k)
{
    lwi_yaml_joint_signs s;
    if (!r->placement.moved || joint < 0 || joint >= r->builder->desc.njoint || k < 0 ||
        k >= LW_JOINT_MAX_NV)
        return 1;
    lwi_yaml_joint_signs_of(&r->placement, r->builder->desc.joint[joint].type, &s);
    return s.qd[k];
}

// q = c0 + c1 p + c2 p^2 + ...  with q, p or both of the other sign.
lw_status lwi_yaml_place_coupling(lwi_yaml_reading *r, lw_coupling_desc *d)
{
    const double sq = sign_of_coordinate(r, d->joint.index, d->coordinate);
    const double sp = sign_of_coordinate(r, d->of.index, d->with);
    if (sq > 0 && sp > 0) return LW_OK;
    double *c = LWI_PUSH(&r->arena, double, d->npolynomial);
    if (!c) return lwi_yaml_no_memory(r);
    for (int k = 0; k < d->npolynomial; k++) c[k] = sq * (k % 2 ? sp : 1) * d->polynomial[k];
    d->polynomial = c;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ forces

static void place_spring(const lwi_yaml_reading *r, lw_spring_desc *d)
{
    place_point(r, d->body1, d->world1, &d->point1);
    place_point(r, d->body2, d->world2, &d->point2);
}

// Components by functions change their signs where axes are reversed; in world axes that are rotated they would be sums.
static lw_status place_components(lwi_yaml_reading *r, const lw_wrench_desc *d, bool axial,
                                  lw_signal *component)
{
    const lwi_yaml_place *p = &r->placement;
    const bool rotated = p->quat[1] != 0 || p->quat[2] != 0 || p->quat[3] != 0;
    for (int k = 0; k < 3; k++) {
        if (!component[k].index) continue;
        if (rotated && !d->body_axes)
            return lwi_yaml_fail(
                r, LW_ERR_UNSUPPORTED, r->place_of_include,
                "wrench '%.80s' has components by functions in world axes, which are "
                "rotated where the file is included; expected `axes: body`",
                d->name);
        if (p->S[k] * (axial ? p->det : 1) < 0) TRY(negate(r, &component[k]));
    }
    return LW_OK;
}

static lw_status place_wrench(lwi_yaml_reading *r, lw_wrench_desc *d)
{
    place_point(r, d->body, d->world_point, &d->point);
    place_vector(r, !d->body_axes, false, &d->force);
    place_vector(r, !d->body_axes, true, &d->torque);
    TRY(place_components(r, d, false, d->force_of));
    return place_components(r, d, true, d->torque_of);
}

// Stiffness along and about axes does not change where an axis is reversed.
static void place_bushing(const lwi_yaml_reading *r, lw_bushing_desc *d)
{
    const lwi_yaml_place *p = &r->placement;
    lw_pose *const frame[] = {&d->frame1, &d->frame2};
    const lw_body body[] = {d->body1, d->body2};
    for (int i = 0; i < 2; i++) {
        if (!d->has_at) {
            place_frame(r, body[i], p->S, frame[i]);
            continue;
        }
        const lw_vec3 at = lwi_yaml_place_position(p, d->at);
        const double x[3] = {at.x, at.y, at.z};
        *frame[i] = lwi_pose_in_body(&r->builder->desc.body[body[i].index].pose, x, p->quat);
    }
    d->has_at = false;
}

// A direction in the frame of its body.
static void place_direction(const lwi_yaml_reading *r, lw_body body, lw_vec3 *x)
{
    if (!is_ground(r, body)) {
        place_vector(r, false, false, x);
        return;
    }
    place_vector(r, true, false, x);
    const lw_pose z = in_ground(r, (lw_pose){*x, {1, 0, 0, 0}}),
                  o = in_ground(r, (lw_pose){{0, 0, 0}, {1, 0, 0, 0}});
    *x = (lw_vec3){z.position.x - o.position.x, z.position.y - o.position.y,
                   z.position.z - o.position.z};
}

static void place_stop(const lwi_yaml_reading *r, lw_stop_desc *d)
{
    place_point(r, d->body1, d->world1, &d->point1);
    place_point(r, d->body2, d->world2, &d->point2);
    if (d->world_normal)
        place_vector(r, true, false, &d->normal);
    else
        place_direction(r, d->body2, &d->normal);
}

static void place_drag(const lwi_yaml_reading *r, lw_drag_desc *d)
{
    place_point(r, d->body, d->world_point, &d->point);
    place_vector(r, true, false, &d->flow);
}

static lw_status place_servo(lwi_yaml_reading *r, lw_servo_desc *d)
{
    if (d->nterm == 0) {
        if (sign_of_coordinate(r, d->joint.index, d->coordinate) < 0)
            d->law.gear = d->law.gear == 0 ? -1 : -d->law.gear;
        return LW_OK;
    }
    lw_servo_term *terms = LWI_PUSH(&r->arena, lw_servo_term, d->nterm);
    if (!terms) return lwi_yaml_no_memory(r);
    for (int i = 0; i < d->nterm; i++) {
        terms[i] = d->terms[i];
        const double factor = terms[i].factor != 0 ? terms[i].factor : 1; // the default
        terms[i].factor = factor * sign_of_coordinate(r, terms[i].joint.index, terms[i].coordinate);
    }
    d->terms = terms;
    return LW_OK;
}

// A body that is not stated is the ground of the file.
static lw_body stated_body(const lwi_yaml_reading *r, lw_body body)
{
    return body.index == 0 ? r->ground : body;
}

static lw_status place_tendon(lwi_yaml_reading *r, lw_tendon_desc *d)
{
    lw_slider_crank *s = &d->slider_crank;
    if (s->present) {
        s->slider = stated_body(r, s->slider);
        place_point(r, s->crank, false, &s->crank_point);
        place_point(r, s->slider, false, &s->slider_point);
        place_direction(r, s->slider, &s->axis);
    }
    if (d->npath == 0) return LW_OK;
    lw_path_element *path = LWI_PUSH(&r->arena, lw_path_element, d->npath);
    if (!path) return lwi_yaml_no_memory(r);
    for (int i = 0; i < d->npath; i++) {
        lw_path_element *e = &path[i];
        *e = d->path[i];
        if (e->pulley != 0) continue;
        e->body = stated_body(r, e->body);
        place_point(r, e->body, false, &e->point);
        place_direction(r, e->body, &e->axis);
        if (e->has_side) place_point(r, e->has_side_body ? e->side_body : e->body, false, &e->side);
    }
    d->path = path;
    return LW_OK;
}

lw_status lwi_yaml_place_force(lwi_yaml_reading *r, int item, void *desc)
{
    if (!r->placement.moved) return LW_OK;
    switch (item) {
    case LWI_ITEM_spring:
        place_spring(r, desc);
        return LW_OK;
    case LWI_ITEM_wrench:
        return place_wrench(r, desc);
    case LWI_ITEM_bushing:
        place_bushing(r, desc);
        return LW_OK;
    case LWI_ITEM_stop:
        place_stop(r, desc);
        return LW_OK;
    case LWI_ITEM_drag:
        place_drag(r, desc);
        return LW_OK;
    case LWI_ITEM_servo:
        return place_servo(r, desc);
    case LWI_ITEM_tendon:
        return place_tendon(r, desc);
    default:
        return lwi_yaml_fail(r, LW_ERR_UNSUPPORTED, r->place_of_include,
                             "this kind of force cannot be in a file that is placed or mirrored");
    }
}

// ------------------------------------------------------------------------------------------ others

void lwi_yaml_place_marker(const lwi_yaml_reading *r, lw_marker_desc *d)
{
    if (r->placement.moved) place_frame(r, d->body, r->placement.S, &d->pose);
}

void lwi_yaml_place_impulse(const lwi_yaml_reading *r, lw_impulse_desc *d)
{
    if (!r->placement.moved) return;
    if (d->on_joint) {
        d->effort *= sign_of_coordinate(r, d->joint.index, d->coordinate);
        return;
    }
    place_point(r, d->body, d->world_point, &d->point);
    place_vector(r, !d->body_axes, false, &d->impulse);
    place_vector(r, !d->body_axes, true, &d->angular_impulse);
}

lw_status lwi_yaml_place_shapes(lwi_yaml_reading *r, lw_body_desc *d)
{
    if (!r->placement.moved || d->nshape == 0) return LW_OK;
    lw_shape *copy = LWI_PUSH(&r->arena, lw_shape, d->nshape);
    if (!copy) return lwi_yaml_no_memory(r);
    for (int i = 0; i < d->nshape; i++) {
        copy[i] = d->shapes[i];
        copy[i].position = lwi_yaml_mirror_vector(&r->placement, copy[i].position, false);
        copy[i].orientation = lwi_yaml_mirror_attitude(&r->placement, copy[i].orientation);
        double *scale = copy[i].size; // of a mesh; all zero: 1
        if (copy[i].type != LW_SHAPE_MESH) continue;
        if (scale[0] == 0 && scale[1] == 0 && scale[2] == 0) scale[0] = scale[1] = scale[2] = 1;
        for (int k = 0; k < 3; k++) scale[k] *= r->placement.S[k];
    }
    d->shapes = copy;
    return LW_OK;
}

// Signs of a coordinate of file `c`, as the model has it and as the formulas of file `r` name it, which includes c.
static double sign_in(const lwi_yaml_reading *r, const lwi_yaml_reading *c, lw_joint_type type,
                      int coordinate, bool speed)
{
    lwi_yaml_joint_signs model, here;
    lwi_yaml_place relative = c->placement;
    relative.det *= r->placement.det;
    for (int k = 0; k < 3; k++) relative.S[k] *= r->placement.S[k];
    lwi_yaml_joint_signs_of(&c->placement, type, &model);
    lwi_yaml_joint_signs_of(&relative, type, &here);
    return speed ? model.qd[coordinate] * here.qd[coordinate]
                 : model.q[coordinate] * here.q[coordinate];
}

bool lwi_yaml_is_negated(void *user, const char *joint, int coordinate, bool speed)
{
    const lwi_yaml_reading *r = user;
    const lwi_yaml_reading *owner = r;
    const lwi_document_value *map = lwi_yaml_find_joint_entry(&owner, joint);
    const int n = speed ? LW_JOINT_MAX_NV : LW_JOINT_MAX_NQ;
    if (!r->placement.moved || !map || coordinate < 0 || coordinate >= n) return false;
    const int t = map->kind == LWI_DOCUMENT_MAP ? lwi_document_find(map, "type") : -1;
    if (t < 0 || map->item[t]->kind != LWI_DOCUMENT_SCALAR) return false;
    for (int type = 0; type < LW_JOINT_COUNT; type++) {
        const char *word = lwi_yaml_joint_object.type[type];
        if (!word || strcmp(word, map->item[t]->text) != 0) continue;
        return sign_in(r, owner, (lw_joint_type)type, coordinate, speed) < 0;
    }
    return false;
}
