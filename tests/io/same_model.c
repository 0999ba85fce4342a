// same_model.c -- comparison of two models by their descriptions.
#include "io/same_model.h"
#include "io/yaml/keys.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct pair {
    const lwi_description *a, *b;
    char *why;
} pair;

static int differ(const pair *p, const char *item, const char *what)
{
    snprintf(p->why, 160, "%.80s: %.60s", item, what);
    return 0;
}

static int same_numbers(const pair *p, const char *item, const char *what, const void *a,
                        const void *b, size_t count)
{
    return memcmp(a, b, count * sizeof(double)) == 0 ? 1 : differ(p, item, what);
}

static int same_function(const pair *p, const char *item, int fa, int fb);

static int same_signal(const pair *p, const char *item, lw_signal a, lw_signal b)
{
    if (a.index == 0 || b.index == 0) return a.index == b.index ? 1 : differ(p, item, "signal");
    if (a.index < 0 || b.index < 0) {
        if (a.index > 0 || b.index > 0) return differ(p, item, "signal: function or input");
        return strcmp(p->a->input[-a.index - 1], p->b->input[-b.index - 1]) == 0
                   ? 1
                   : differ(p, item, "input");
    }
    return same_function(p, item, a.index - 1, b.index - 1);
}

static int same_function(const pair *p, const char *item, int fa, int fb)
{
    const lw_function_desc *a = &p->a->function[fa], *b = &p->b->function[fb];
    if (a->type != b->type) return differ(p, item, "type of a function");
    if (a->name && (!b->name || strcmp(a->name, b->name) != 0))
        return differ(p, item, "function name");
    if (!a->formula != !b->formula || (a->formula && strcmp(a->formula, b->formula) != 0))
        return differ(p, item, "formula");
    if (a->ncoefficient != b->ncoefficient || a->npoint != b->npoint || a->nterm != b->nterm)
        return differ(p, item, "counts of a function");
    const double x[] = {a->value, a->offset, a->amplitude, a->omega, a->phase,
                        a->rate,  a->from,   a->to,        a->start, a->end};
    const double y[] = {b->value, b->offset, b->amplitude, b->omega, b->phase,
                        b->rate,  b->from,   b->to,        b->start, b->end};
    if (!same_numbers(p, item, "function", x, y, sizeof x / sizeof *x)) return 0;
    if (a->ncoefficient && !same_numbers(p, item, "coefficients", a->coefficients, b->coefficients,
                                         (size_t)a->ncoefficient))
        return 0;
    if (a->npoint && (!same_numbers(p, item, "t", a->t, b->t, (size_t)a->npoint) ||
                      !same_numbers(p, item, "y", a->y, b->y, (size_t)a->npoint)))
        return 0;
    for (int i = 0; i < a->nterm; i++)
        if (!same_signal(p, item, a->terms[i], b->terms[i])) return 0;
    return 1;
}

static int same_name(const pair *p, const char *a, const char *b)
{
    return strcmp(a, b) == 0 ? 1 : differ(p, a, "name");
}

static int same_shape(const pair *p, const char *name, const lw_shape *a, const lw_shape *b)
{
    if (a->type != b->type || a->has_position != b->has_position || a->has_color != b->has_color)
        return differ(p, name, "type, has_position or has_color of a shape");
    return same_numbers(p, name, "size of a shape", a->size, b->size, 3) &&
           same_numbers(p, name, "position of a shape", &a->position, &b->position, 3) &&
           same_numbers(p, name, "orientation of a shape", &a->orientation, &b->orientation, 4) &&
           same_numbers(p, name, "color of a shape", a->color, b->color, 4);
}

static int same_body(const pair *p, const lw_body_desc *a, const lw_body_desc *b)
{
    if (!same_name(p, a->name, b->name)) return 0;
    if (a->has_velocity != b->has_velocity || a->inertia_check != b->inertia_check ||
        a->nshape != b->nshape || a->in.index != b->in.index)
        return differ(p, a->name, "has_velocity, inertia_check, number of shapes or in");
    for (int i = 0; i < a->nshape; i++)
        if (!same_shape(p, a->name, &a->shapes[i], &b->shapes[i])) return 0;
    return same_numbers(p, a->name, "mass", &a->mass, &b->mass, 1) &&
           same_numbers(p, a->name, "inertia", a->inertia, b->inertia, 6) &&
           same_numbers(p, a->name, "com", &a->com, &b->com, 3) &&
           same_numbers(p, a->name, "inertia_axes", &a->inertia_axes, &b->inertia_axes, 4) &&
           same_numbers(p, a->name, "pose", &a->pose, &b->pose, 7) &&
           same_numbers(p, a->name, "velocity", &a->velocity, &b->velocity, 3) &&
           same_numbers(p, a->name, "angular_velocity", &a->angular_velocity, &b->angular_velocity,
                        3);
}

static int same_coordinate(const pair *p, const char *item, const lw_coordinate_desc *a,
                           const lw_coordinate_desc *b)
{
    const double x[] = {a->stiffness, a->damping, a->at}, y[] = {b->stiffness, b->damping, b->at};
    const lw_limits_desc *l = &a->limits, *m = &b->limits;
    const double lx[] = {l->lower, l->upper, l->stiffness, l->damping};
    const double ly[] = {m->lower, m->upper, m->stiffness, m->damping};
    const lw_friction_desc *f = &a->friction, *g = &b->friction;
    const double fx[] = {f->coulomb, f->viscous, f->speed};
    const double fy[] = {g->coulomb, g->viscous, g->speed};
    if (l->has_lower != m->has_lower || l->has_upper != m->has_upper)
        return differ(p, item, "ends of the limits");
    return same_numbers(p, item, "spring", x, y, 3) && same_numbers(p, item, "limits", lx, ly, 4) &&
           same_numbers(p, item, "friction", fx, fy, 3) &&
           same_numbers(p, item, "rotor", &a->rotor, &b->rotor, 1) &&
           same_signal(p, item, a->motion, b->motion) && same_signal(p, item, a->force, b->force) &&
           same_signal(p, item, a->effort, b->effort);
}

static int same_joint(const pair *p, const lw_joint_desc *a, const lw_joint_desc *b)
{
    if (!same_name(p, a->name, b->name)) return 0;
    if (a->type != b->type || a->body1.index != b->body1.index ||
        a->body2.index != b->body2.index || a->placement != b->placement || a->has_q != b->has_q ||
        a->has_qd != b->has_qd || a->cut != b->cut)
        return differ(p, a->name, "type, bodies, placement, has_q, has_qd or cut");
    const double x[] = {a->pitch, a->length, a->damping}, y[] = {b->pitch, b->length, b->damping};
    for (int k = 0; k < LW_JOINT_MAX_NV; k++)
        if (!same_coordinate(p, a->name, &a->coordinate[k], &b->coordinate[k])) return 0;
    // numbers after the last coordinate, or without has_q, have no meaning
    const size_t nq = a->has_q ? (size_t)lwi_yaml_joint_nq(a->type) : 0;
    const size_t nv = a->has_qd ? (size_t)lwi_yaml_joint_nv(a->type) : 0;
    for (int k = 0; k < 3; k++)
        if (!same_signal(p, a->name, a->mount_shift[k], b->mount_shift[k])) return 0;
    return same_numbers(p, a->name, "pitch, length, damping", x, y, 3) &&
           same_numbers(p, a->name, "frame1", &a->frame1, &b->frame1, 7) &&
           same_numbers(p, a->name, "frame2", &a->frame2, &b->frame2, 7) &&
           same_numbers(p, a->name, "q", a->q, b->q, nq) &&
           same_numbers(p, a->name, "qd", a->qd, b->qd, nv) &&
           same_numbers(p, a->name, "about", &a->mount_about, &b->mount_about, 3) &&
           same_signal(p, a->name, a->mount_turn, b->mount_turn) &&
           same_signal(p, a->name, a->length_of, b->length_of);
}

static int same_forces(const pair *p)
{
    for (int i = 0; i < p->a->force[LWI_ITEM_spring].n; i++) {
        const lw_spring_desc *a = lwi_force_desc(p->a, LWI_ITEM_spring, i),
                             *b = lwi_force_desc(p->b, LWI_ITEM_spring, i);
        const double x[] = {a->stiffness, a->damping, a->length};
        const double y[] = {b->stiffness, b->damping, b->length};
        if (a->body1.index != b->body1.index || a->body2.index != b->body2.index)
            return differ(p, a->name, "bodies");
        if (!same_name(p, a->name, b->name) || !same_numbers(p, a->name, "spring", x, y, 3) ||
            !same_numbers(p, a->name, "point1", &a->point1, &b->point1, 3) ||
            !same_numbers(p, a->name, "point2", &a->point2, &b->point2, 3) ||
            !same_signal(p, a->name, a->force, b->force))
            return 0;
    }
    for (int i = 0; i < p->a->force[LWI_ITEM_wrench].n; i++) {
        const lw_wrench_desc *a = lwi_force_desc(p->a, LWI_ITEM_wrench, i),
                             *b = lwi_force_desc(p->b, LWI_ITEM_wrench, i);
        if (a->body.index != b->body.index || a->body_axes != b->body_axes)
            return differ(p, a->name, "body or axes");
        if (!same_name(p, a->name, b->name) ||
            !same_numbers(p, a->name, "at", &a->point, &b->point, 3) ||
            !same_numbers(p, a->name, "force", &a->force, &b->force, 3) ||
            !same_numbers(p, a->name, "torque", &a->torque, &b->torque, 3) ||
            !same_signal(p, a->name, a->scale, b->scale))
            return 0;
    }
    for (int i = 0; i < p->a->force[LWI_ITEM_bushing].n; i++) {
        const lw_bushing_desc *a = lwi_force_desc(p->a, LWI_ITEM_bushing, i),
                              *b = lwi_force_desc(p->b, LWI_ITEM_bushing, i);
        if (a->body1.index != b->body1.index || a->body2.index != b->body2.index)
            return differ(p, a->name, "bodies");
        if (!same_name(p, a->name, b->name) ||
            !same_numbers(p, a->name, "frame1", &a->frame1, &b->frame1, 7) ||
            !same_numbers(p, a->name, "frame2", &a->frame2, &b->frame2, 7) ||
            !same_numbers(p, a->name, "stiffness", a->stiffness, b->stiffness, 6) ||
            !same_numbers(p, a->name, "damping", a->damping, b->damping, 6))
            return 0;
    }
    for (int i = 0; i < p->a->force[LWI_ITEM_stop].n; i++) {
        const lw_stop_desc *a = lwi_force_desc(p->a, LWI_ITEM_stop, i),
                           *b = lwi_force_desc(p->b, LWI_ITEM_stop, i);
        const double x[] = {a->radius, a->radius2, a->stiffness, a->exponent, a->dissipation};
        const double y[] = {b->radius, b->radius2, b->stiffness, b->exponent, b->dissipation};
        if (a->body1.index != b->body1.index || a->body2.index != b->body2.index)
            return differ(p, a->name, "bodies");
        if (!same_name(p, a->name, b->name) || !same_numbers(p, a->name, "stop", x, y, 5) ||
            !same_numbers(p, a->name, "point1", &a->point1, &b->point1, 3) ||
            !same_numbers(p, a->name, "point2", &a->point2, &b->point2, 3) ||
            !same_numbers(p, a->name, "normal", &a->normal, &b->normal, 3))
            return 0;
    }
    return 1;
}

static int same_rest(const pair *p)
{
    for (int i = 0; i < p->a->ncoupling; i++) {
        const lw_coupling_desc *a = &p->a->coupling[i], *b = &p->b->coupling[i];
        if (a->joint.index != b->joint.index || a->of.index != b->of.index ||
            a->coordinate != b->coordinate || a->with != b->with ||
            a->npolynomial != b->npolynomial)
            return differ(p, "coupling", "joints, coordinates or counts");
        if (!same_numbers(p, "coupling", "polynomial", a->polynomial, b->polynomial,
                          (size_t)a->npolynomial))
            return 0;
    }
    for (int i = 0; i < p->a->nmarker; i++) {
        const lw_marker_desc *a = &p->a->marker[i], *b = &p->b->marker[i];
        if (a->body.index != b->body.index) return differ(p, a->name, "body");
        if (!same_name(p, a->name, b->name) ||
            !same_numbers(p, a->name, "pose", &a->pose, &b->pose, 7))
            return 0;
    }
    for (int i = 0; i < p->a->ninput; i++)
        if (!same_name(p, p->a->input[i], p->b->input[i])) return 0;
    return 1;
}

int lwt_same_model(const lw_model *a, const lw_model *b, char why[160])
{
    const pair p = {&a->desc, &b->desc, why};
    const lwi_description *x = p.a, *y = p.b;
    if (x->nbody != y->nbody || x->njoint != y->njoint || x->ncoupling != y->ncoupling ||
        x->nmarker != y->nmarker || x->ninput != y->ninput)
        return differ(&p, "model", "counts of items");
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        if (x->force[k].n != y->force[k].n) return differ(&p, "model", "counts of forces");
    if (!same_numbers(&p, "model", "gravity", x->gravity, y->gravity, 3)) return 0;
    for (int i = 1; i < x->nbody; i++)
        if (!same_body(&p, &x->body[i], &y->body[i])) return 0;
    for (int i = 0; i < x->njoint; i++)
        if (!same_joint(&p, &x->joint[i], &y->joint[i])) return 0;
    return same_forces(&p) && same_rest(&p);
}

char *lwt_written(const lw_model *model, const lw_options *options, size_t *length)
{
    char *text = NULL;
    lw_error error;
    FILE *file = open_memstream(&text, length);
    if (!file) return NULL;
    const lw_status status = lw_model_write(model, options, file, &error);
    fclose(file);
    if (status == LW_OK) return text;
    fprintf(stderr, "not written: %s\n", error.text);
    free(text);
    return NULL;
}
