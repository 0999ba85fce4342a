// tendons.c -- the tendons of an MJCF file, their springs, dampers and friction.
//
// The length of a fixed tendon is a sum  sum coef q  of coordinates, that of a spatial one the length of its path through
// sites, round spheres and cylinders and over pulleys.  Actuators (actuators.c) act along these lengths.
#include "io/mjcf/mjcf.h"

#include "io/effective.h"

#include <linkwork/dynamics.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

bool lwi_mjcf_in_effect(const lwi_mjcf *u, int limited, const double range[2])
{
    return limited == LWI_MJCF_FLAG_TRUE ||
           (limited == LWI_MJCF_FLAG_AUTO && u->auto_limits && range[0] < range[1]);
}

int lwi_mjcf_count_children(const lwi_mjcf *u, const char *section)
{
    int n = 0;
    for (const lwi_xml_element *s = lwi_xml_child(u->xml.root, section); s;
         s = lwi_xml_next(s, section))
        for (const lwi_xml_element *e = s->first; e; e = e->next) n++;
    return n;
}

static lw_status read_terms(const lwi_mjcf *u, lwi_mjcf_tendon *t)
{
    int room = 0;
    for (const lwi_xml_element *j = t->e->first; j; j = j->next) room++;
    t->term = LWI_PUSH(u->arena, lw_servo_term, room + 1);
    if (!t->term) return lwi_mjcf_no_memory(u);
    for (const lwi_xml_element *j = lwi_xml_child(t->e, "joint"); j; j = lwi_xml_next(j, "joint")) {
        const lwi_mjcf_at at = {j, LWI_MJCF_PLAIN, -1};
        double coefficient = 0;
        int joint, n;
        TRY(lwi_mjcf_find(u, j, "joint", &u->joint_names, "joint", &joint));
        TRY(lwi_mjcf_numbers(u, &at, "coef", 1, 1, &coefficient, &n));
        if (!n) return lwi_mjcf_fail(u, j, LW_ERR_PARSE, "<joint> of <fixed> has no coef");
        if (!lwi_mjcf_is_scalar(&u->joint[joint]))
            return lwi_mjcf_fail(u, j, LW_ERR_MODEL, "<fixed>: joint '%.100s' is no hinge or slide",
                                 u->joint[joint].name);
        if (coefficient == 0) continue;
        t->term[t->n++] = (lw_servo_term){.joint = {joint}, .factor = coefficient};
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ paths

// Geoms with names, which tendons may go round.
static lw_status gather_geoms(lwi_mjcf *u)
{
    int n = 0;
    if (u->geom) return LW_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < u->nbody; i++)
            for (const lwi_mjcf_part *p = u->body[i].part; p; p = p->next) {
                const char *name = lwi_xml_get(p->at.e, "name");
                if (p->at.kind != LWI_MJCF_GEOM || !name) continue;
                if (pass == 1) {
                    u->geom[u->ngeom] = (lwi_mjcf_geom){p, i};
                    lwi_names_add(&u->geom_names, name, u->ngeom++);
                } else {
                    n++;
                }
            }
        if (pass == 1) break;
        u->geom = LWI_PUSH(u->arena, lwi_mjcf_geom, n + 1);
        if (!u->geom || lwi_names_create(n, u->arena, &u->geom_names) != LW_OK)
            return lwi_mjcf_no_memory(u);
    }
    lwi_names_sort(&u->geom_names);
    return LW_OK;
}

static lw_vec3 vector(const double *x)
{
    return (lw_vec3){x[0], x[1], x[2]};
}

static lw_status read_obstacle(const lwi_mjcf *u, const lwi_xml_element *e, lw_path_element *p)
{
    int geom, side;
    bool cylinder;
    double R[9], r[3];
    TRY(lwi_mjcf_find(u, e, "geom", &u->geom_names, "geom", &geom));
    const lwi_mjcf_geom *g = &u->geom[geom];
    TRY(lwi_mjcf_round_geom(u, g->part, R, r, &p->radius, &cylinder));
    if (!(p->radius > 0))
        return lwi_mjcf_fail(
            u, e, LW_ERR_MODEL,
            "<spatial>: geom '%.100s' is no sphere or cylinder, as expected of what "
            "a tendon goes round",
            lwi_xml_get(e, "geom"));
    p->body = u->body[g->body].body;
    p->point = vector(r);
    if (cylinder) p->axis = (lw_vec3){R[2], R[5], R[8]};
    p->has_side = lwi_xml_get(e, "sidesite") != NULL;
    if (!p->has_side) return LW_OK;
    TRY(lwi_mjcf_find(u, e, "sidesite", &u->site_names, "site", &side));
    p->has_side_body = true;
    p->side_body = u->body[u->site[side].body].body;
    p->side = vector(u->site[side].r);
    return LW_OK;
}

static lw_status read_element(const lwi_mjcf *u, const lwi_xml_element *e, lw_path_element *p)
{
    const lwi_mjcf_at at = {e, LWI_MJCF_PLAIN, -1};
    int site;
    if (strcmp(e->name, "geom") == 0) return read_obstacle(u, e, p);
    if (strcmp(e->name, "pulley") == 0) {
        TRY(lwi_mjcf_number(u, &at, "divisor", &p->pulley));
        if (p->pulley > 0) return LW_OK;
        return lwi_mjcf_fail(u, e, LW_ERR_MODEL, "<pulley>: divisor is %g, expected a number > 0",
                             p->pulley);
    }
    TRY(lwi_mjcf_find(u, e, "site", &u->site_names, "site", &site));
    p->body = u->body[u->site[site].body].body;
    p->point = vector(u->site[site].r);
    return LW_OK;
}

static bool is_path(const char *name)
{
    return strcmp(name, "site") == 0 || strcmp(name, "geom") == 0 || strcmp(name, "pulley") == 0;
}

static lw_status read_path(lwi_mjcf *u, lwi_mjcf_tendon *t)
{
    int room = 0;
    for (const lwi_xml_element *e = t->e->first; e; e = e->next) room++;
    t->path = LWI_PUSH(u->arena, lw_path_element, room + 1);
    if (!t->path) return lwi_mjcf_no_memory(u);
    TRY(gather_geoms(u));
    for (const lwi_xml_element *e = t->e->first; e; e = e->next)
        if (is_path(e->name)) TRY(read_element(u, e, &t->path[t->npath++]));
    if (t->npath > 0) return LW_OK;
    return lwi_mjcf_fail(u, t->e, LW_ERR_MODEL, "<spatial>: no sites, expected two or more");
}

// Are limits to be stops?
static bool has_stops(const lwi_mjcf *u)
{
    return u->desc->limits.stiffness > 0 || u->desc->limits_time > 0;
}

// Tendons of all kinds share their defaults.
static lw_status read_tendon(lwi_mjcf *u, const lwi_xml_element *e)
{
    lwi_mjcf_tendon *t = &u->tendon[u->ntendon++];
    const char *name = lwi_xml_get(e, "name");
    lwi_mjcf_at at = {e, LWI_MJCF_TENDON, u->main_class};
    int limited = LWI_MJCF_FLAG_AUTO;
    *t = (lwi_mjcf_tendon){.e = e, .name = name};
    lwi_mjcf_begin_notes(u, e);
    TRY(lwi_mjcf_find_class(u, e, "class", &at.of_class));
    if (strcmp(e->name, "fixed") == 0)
        TRY(read_terms(u, t));
    else if (strcmp(e->name, "spatial") == 0)
        TRY(read_path(u, t));
    else
        return LW_OK; // noted by the survey
    TRY(lwi_mjcf_numbers(u, &at, "range", 2, 2, t->range, NULL));
    TRY(lwi_mjcf_flag(u, &at, "limited", &limited));
    t->limited = lwi_mjcf_in_effect(u, limited, t->range);
    if (t->limited && !has_stops(u))
        lwi_notes_add(u->notes, e, name, "limits are not enforced, tendons");
    return LW_OK;
}

lw_status lwi_mjcf_read_tendons(lwi_mjcf *u)
{
    const int room = lwi_mjcf_count_children(u, "tendon");
    u->tendon = LWI_PUSH(u->arena, lwi_mjcf_tendon, room + 1);
    if (!u->tendon || lwi_names_create(room, u->arena, &u->tendon_names) != LW_OK)
        return lwi_mjcf_no_memory(u);
    for (const lwi_xml_element *s = lwi_xml_child(u->xml.root, "tendon"); s;
         s = lwi_xml_next(s, "tendon"))
        for (const lwi_xml_element *e = s->first; e; e = e->next) TRY(read_tendon(u, e));
    for (int i = 0; i < u->ntendon; i++) lwi_names_add(&u->tendon_names, u->tendon[i].name, i);
    lwi_names_sort(&u->tendon_names);
    return LW_OK;
}

// Joints of the file to joints of the model.
const lw_servo_term *lwi_mjcf_tendon_terms(const lwi_mjcf *u, const lwi_mjcf_tendon *t)
{
    lw_servo_term *terms = LWI_PUSH(u->arena, lw_servo_term, t->n);
    for (int k = 0; terms && k < t->n; k++) {
        terms[k] = t->term[k];
        terms[k].joint = u->joint[t->term[k].joint.index].joint;
    }
    return terms;
}

// ------------------------------------------------------------------------------------ springs

/** What the attributes of a tendon say. */
typedef struct elastic {
    double k[3], c[3], rest[2], loss, armature;
    bool has_rest;
} elastic;

static lw_status read_elastic(const lwi_mjcf *u, const lwi_mjcf_tendon *t, elastic *s)
{
    lwi_mjcf_at at = {t->e, LWI_MJCF_TENDON, u->main_class};
    int n;
    *s = (elastic){.rest = {-1, -1}};
    lwi_mjcf_begin_notes(u, t->e);
    TRY(lwi_mjcf_find_class(u, t->e, "class", &at.of_class));
    TRY(lwi_mjcf_numbers(u, &at, "stiffness", 1, 3, s->k, NULL));
    TRY(lwi_mjcf_numbers(u, &at, "damping", 1, 3, s->c, NULL));
    TRY(lwi_mjcf_numbers(u, &at, "springlength", 1, 2, s->rest, &n));
    TRY(lwi_mjcf_number(u, &at, "frictionloss", &s->loss));
    TRY(lwi_mjcf_number(u, &at, "armature", &s->armature));
    if (n == 1) s->rest[1] = s->rest[0];
    s->has_rest = s->rest[0] >= 0;
    if (s->armature != 0 || s->k[1] != 0 || s->k[2] != 0 || s->c[1] != 0 || s->c[2] != 0)
        lwi_notes_add(u->notes, t->e, t->name,
                      "armature, quadratic and cubic laws of tendons are not used");
    return LW_OK;
}

static const char *force_name(const lwi_mjcf *u, const lwi_mjcf_tendon *t, const char *kind)
{
    char number[32];
    snprintf(number, sizeof number, "tendon%d", (int)(t - u->tendon) + 1);
    return lwi_mjcf_force_name(u, t->name ? t->name : number, kind);
}

// Spring and damper of a fixed tendon: a servo without a target.
static lw_status add_fixed(const lwi_mjcf *u, const lwi_mjcf_tendon *t)
{
    elastic s;
    double length = 0;
    TRY(read_elastic(u, t, &s));
    if (s.loss != 0)
        lwi_notes_add(u->notes, t->e, t->name, "frictionloss of fixed tendons is not used");
    if (s.k[0] != 0 && s.rest[0] != s.rest[1]) {
        lwi_notes_add(u->notes, t->e, t->name, "springs of fixed tendons with slack are not used");
        s.k[0] = 0;
    }
    for (int i = 0; i < t->n; i++) {
        const lwi_mjcf_joint *j = &u->joint[t->term[i].joint.index];
        length += t->term[i].factor * j->spring_at;
    }
    if (s.has_rest) length = s.rest[0];
    if (s.k[0] == 0 && s.c[0] == 0) return LW_OK;
    const lw_servo_desc d = {.name = force_name(u, t, "spring"),
                             .terms = lwi_mjcf_tendon_terms(u, t),
                             .nterm = t->n,
                             .law = {.bias = {s.k[0] * length, -s.k[0], -s.c[0]}},
                             .place = lwi_mjcf_place(u, t->e)};
    if (!d.name || !d.terms) return lwi_mjcf_no_memory(u);
    return lw_builder_add_servo(u->builder, &d, u->error);
}

// Without springlength the spring is at rest where MuJoCo's springref of all joints is.
static void note_rest(const lwi_mjcf *u, const lwi_mjcf_tendon *t)
{
    for (int j = 0; j < u->njoint; j++)
        if (lwi_mjcf_is_scalar(&u->joint[j]) && u->joint[j].spring_at != u->joint[j].ref) {
            lwi_notes_add(u->notes, t->e, t->name,
                          "springs of spatial tendons without springlength are at rest at the "
                          "poses of the file, not at springref");
            return;
        }
}

static lw_status add_spatial(const lwi_mjcf *u, const lwi_mjcf_tendon *t)
{
    elastic s;
    TRY(read_elastic(u, t, &s));
    if (s.k[0] == 0 && s.c[0] == 0 && s.loss == 0) return LW_OK;
    if (s.k[0] != 0 && !s.has_rest) note_rest(u, t);
    const lw_tendon_desc d = {.name = force_name(u, t, "spring"),
                              .path = t->path,
                              .npath = t->npath,
                              .stiffness = s.k[0],
                              .damping = s.c[0],
                              .coulomb = s.loss,
                              .has_length = s.has_rest,
                              .length = s.has_rest ? s.rest[1] : 0,
                              .slack = s.has_rest ? s.rest[1] - s.rest[0] : 0,
                              .place = lwi_mjcf_place(u, t->e)};
    if (!d.name) return lwi_mjcf_no_memory(u);
    return lw_builder_add_tendon(u->builder, &d, u->error);
}

lw_status lwi_mjcf_add_tendons(const lwi_mjcf *u)
{
    for (int i = 0; i < u->ntendon; i++) {
        if (u->tendon[i].n > 0) TRY(add_fixed(u, &u->tendon[i]));
        if (u->tendon[i].npath > 0) TRY(add_spatial(u, &u->tendon[i]));
    }
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ limits
//
// A limit at L = a is a spring and damper that only pushes back,
//     f = min(0, k (a - L) - c L') at the upper end,   max(0, ...) at the lower one.
// A fast approach is braked from c / k L' before the end on.

#define UNLIMITED 1e300 // N

static lw_status add_stop(const lwi_mjcf *u, const lwi_mjcf_tendon *t, int end, double k, double c)
{
    const lw_servo_law law = {.bias = {k * t->range[end], -k, -c},
                              .has_effort_range = true,
                              .effort_range = {end ? -UNLIMITED : 0, end ? 0 : UNLIMITED}};
    const char *name = force_name(u, t, end ? "upper" : "lower");
    if (!name) return lwi_mjcf_no_memory(u);
    if (t->npath > 0) {
        const lw_tendon_desc rope = {.name = name,
                                     .path = t->path,
                                     .npath = t->npath,
                                     .law = law,
                                     .place = lwi_mjcf_place(u, t->e)};
        return lw_builder_add_tendon(u->builder, &rope, u->error);
    }
    const lw_servo_desc sum = {.name = name,
                               .terms = lwi_mjcf_tendon_terms(u, t),
                               .nterm = t->n,
                               .law = law,
                               .place = lwi_mjcf_place(u, t->e)};
    if (!sum.terms) return lwi_mjcf_no_memory(u);
    return lw_builder_add_servo(u->builder, &sum, u->error);
}

static lw_status add_limit(const lwi_mjcf *u, const lwi_mjcf_tendon *t, double k, double c)
{
    lwi_mjcf_begin_notes(u, t->e);
    if (!(k > 0) || !isfinite(k)) {
        lwi_notes_add(u->notes, t->e, t->name,
                      "limits are not enforced, nothing with inertia moves with the tendons");
        return LW_OK;
    }
    lwi_notes_add(u->notes, t->e, t->name, "limits are stops, tendons");
    TRY(add_stop(u, t, 0, k, c));
    return add_stop(u, t, 1, k, c);
}

// Inertias along the tendons: of fixed ones by the joints that they sum, of spatial ones by a tendon in their place with
// the force 1.

static double inertia_along_fixed(const lwi_mjcf *u, const lwi_mjcf_tendon *t,
                                  const lwi_effective *e, double *J)
{
    memset(J, 0, (size_t)e->model->tree_nv * sizeof *J);
    for (int k = 0; k < t->n; k++) {
        int q, nq, v, nv;
        const lw_joint joint = u->joint[t->term[k].joint.index].joint;
        if (lw_model_joint_tree(e->model, joint, &q, &nq, &v, &nv) == LW_OK && nv > 0)
            J[v] += t->term[k].factor;
    }
    return lwi_effective_inertia(e, J);
}

static bool is_limited_path(const lwi_mjcf_tendon *t)
{
    return t->limited && t->npath > 0;
}

// After all other tendons.
static lw_status add_units(const lwi_mjcf *u)
{
    for (int i = 0; i < u->ntendon; i++) {
        const lwi_mjcf_tendon *t = &u->tendon[i];
        const lw_tendon_desc unit = {.path = t->path,
                                     .npath = t->npath,
                                     .law = {.bias = {1}},
                                     .place = lwi_mjcf_place(u, t->e)};
        if (is_limited_path(t)) TRY(lw_builder_add_tendon(u->builder, &unit, u->error));
    }
    return LW_OK;
}

// The number of the first of them among the forces of the model.
static int first_unit(const lwi_mjcf *u, const lw_model *m)
{
    int first = m->nforce;
    for (int i = 0; i < m->nforce; i++)
        if (m->force[i].type == &lwi_force_tendon) first = i + 1;
    for (int i = 0; i < u->ntendon; i++) first -= is_limited_path(&u->tendon[i]);
    return first;
}

static lw_status add_scaled_limits(const lwi_mjcf *u, lwi_effective *e, double T)
{
    double *J = LWI_PUSH(&e->arena, double, e->model->tree_nv);
    int unit = first_unit(u, e->model);
    if (!J) return lwi_mjcf_no_memory(u);
    lwi_mjcf_factor(u, e);
    for (int i = 0; i < u->ntendon; i++) {
        const lwi_mjcf_tendon *t = &u->tendon[i];
        if (!t->limited) continue;
        const double m = t->npath > 0 ? lwi_effective_inertia_of_force(e, unit++)
                                      : inertia_along_fixed(u, t, e, J);
        TRY(add_limit(u, t, m / (T * T), 2 * m / T));
    }
    return LW_OK;
}

static lw_status scale_limits(const lwi_mjcf *u)
{
    lwi_effective e;
    lwi_force_list *tendons = &u->builder->desc.force[LWI_ITEM_tendon];
    const int n = tendons->n;
    lw_status status = add_units(u);
    if (status == LW_OK) status = lwi_effective_create(u->builder, &e, u->error);
    tendons->n = n;
    if (status != LW_OK) return status;
    status = add_scaled_limits(u, &e, u->desc->limits_time);
    lwi_effective_destroy(&e);
    return status;
}

lw_status lwi_mjcf_add_tendon_limits(const lwi_mjcf *u)
{
    const lw_limits_desc *given = &u->desc->limits;
    bool any = false;
    for (int i = 0; i < u->ntendon; i++) any = any || u->tendon[i].limited;
    if (!any || !has_stops(u)) return LW_OK;
    if (u->desc->limits_time > 0) return scale_limits(u);
    for (int i = 0; i < u->ntendon; i++)
        if (u->tendon[i].limited)
            TRY(add_limit(u, &u->tendon[i], given->stiffness, given->damping));
    return LW_OK;
}
