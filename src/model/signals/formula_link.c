// formula_link.c -- items that formulas name become indices into the arrays of the model.
#include "model/model.h"
#include "model/signals/probe.h"
#include "spatial/rotation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Names of one kind of items in alphabetical order.
typedef struct entry {
    const char *name;
    int index;
} entry;
typedef struct names {
    entry *entry;
    int n;
} names;

typedef struct linking {
    lw_model *m;
    names joint, body, marker, spring;
} linking;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const entry *)a)->name, ((const entry *)b)->name);
}

static int find(const names *list, const char *name)
{
    const entry key = {.name = name};
    const entry *found = bsearch(&key, list->entry, (size_t)list->n, sizeof key, by_name);
    return found ? found->index : -1;
}

static lw_status no_item(const names *list, const char *kind, const char *item, const char *text,
                         const lwi_formula_name *name, lw_error *error)
{
    enum { MOST = 1000 }; // a distance costs microseconds
    const char *known[MOST];
    const int n = list->n < MOST ? list->n : MOST;
    for (int i = 0; i < n; i++) known[i] = list->entry[i].name;
    const char *near = lwi_nearest(item, known, n);
    return lwi_formula_fail(text, name->at, name->length, error, "there is no %s '%.60s'%s%.60s%s",
                            kind, item, near ? ", did you mean '" : "", near ? near : "",
                            near ? "'?" : "");
}

static lw_status link_joint(const linking *l, const char *text, lwi_formula_name *name,
                            lw_error *error)
{
    const int j = find(&l->joint, name->joint);
    if (j < 0) return no_item(&l->joint, "joint", name->joint, text, name, error);
    const lwi_joint *joint = &l->m->joint[j];
    const int count = name->speed ? joint->type->nv : joint->type->nq;
    if (name->coordinate >= count)
        return lwi_formula_fail(text, name->at, name->length, error,
                                "joint '%.60s' has no %s %s%d; it is %s and has %d", name->joint,
                                name->speed ? "speed" : "coordinate", name->speed ? "qd" : "q",
                                name->coordinate, joint->type->name, count);
    name->index = (name->speed ? joint->iv : joint->iq) + name->coordinate;
    return LW_OK;
}

// A point of a body frame from the mass centre.
static void place_point(const lw_model *m, int body, lw_vec3 point, double from_com[3])
{
    v3_set(from_com, point.x, point.y, point.z);
    v3_sub(from_com, from_com, m->body[body].com);
}

static void place_marker(const lw_model *m, int marker, int k, lwi_probe *probe)
{
    const lw_marker_desc *d = &m->desc.marker[marker];
    const lw_quat q = d->pose.orientation;
    probe->body[k] = d->body.index;
    place_point(m, d->body.index, d->pose.position, probe->point[k]);
    if (k == 0) quat_matrix(probe->axes, (double[]){q.w, q.x, q.y, q.z});
}

static void place_spring(const lw_model *m, int spring, lwi_probe *probe)
{
    const lw_spring_desc *d = lwi_spring_desc(&m->desc, spring);
    probe->spring = spring;
    probe->body[0] = d->body1.index, probe->body[1] = d->body2.index;
    place_point(m, d->body1.index, d->point1, probe->point[0]);
    place_point(m, d->body2.index, d->point2, probe->point[1]);
}

static lw_status link_probe(const linking *l, const char *text, lwi_formula_name *name,
                            lw_error *error)
{
    lwi_probe *p = LWI_PUSH(&l->m->arena, lwi_probe, 1);
    if (!p) return lwi_fail(error, LW_ERR_MEMORY, "no memory for functions");
    *p = (lwi_probe){.kind = name->kind, .component = name->coordinate, .n = 1, .spring = -1};
    m3_identity(p->axes);
    int k;
    switch (name->kind) {
    case LWI_READ_BODY:
        if ((k = find(&l->body, name->joint)) < 0)
            return no_item(&l->body, "body", name->joint, text, name, error);
        p->body[0] = k;
        break;
    case LWI_READ_SPRING:
        if ((k = find(&l->spring, name->joint)) < 0)
            return no_item(&l->spring, "spring", name->joint, text, name, error);
        place_spring(l->m, k, p);
        p->n = 2;
        break;
    default: // markers
        p->n = name->kind == LWI_READ_DISTANCE ? 2 : 1;
        for (int i = 0; i < p->n; i++) {
            const char *marker = i ? name->other : name->joint;
            if ((k = find(&l->marker, marker)) < 0)
                return no_item(&l->marker, "marker", marker, text, name, error);
            place_marker(l->m, k, i, p);
        }
        break;
    }
    name->probe = p;
    return LW_OK;
}

// What a message names: the function, or without a name the event that it is a part of.
static void name_owner(const lw_model *m, int i, char *text, size_t size)
{
    const char *name = m->desc.function[i].name;
    snprintf(text, size, name ? "function '%.80s'" : "function", name);
    for (int k = 0; k < m->desc.nevent && !name; k++) {
        const lw_event_desc *e = &m->desc.event[k];
        if (e->when.index == i + 1) snprintf(text, size, "event '%.80s': when", e->name);
        for (int s = 0; s < e->nset; s++)
            if (e->set[s].value.index == i + 1) snprintf(text, size, "event '%.80s': set", e->name);
    }
}

static lw_status link_formula(const linking *l, int i, lwi_formula *formula, lw_error *error)
{
    const lw_function_desc *d = &l->m->desc.function[i];
    lw_error why = {0};
    for (int k = 0; formula && k < formula->nname; k++) {
        lwi_formula_name *name = &formula->name[k];
        lw_status status = LW_OK;
        if (name->kind == LWI_READ_JOINT)
            status = link_joint(l, formula->text, name, &why);
        else if (name->kind != LWI_READ_SIGNAL)
            status = link_probe(l, formula->text, name, &why);
        if (status != LW_OK) {
            char owner[120];
            name_owner(l->m, i, owner, sizeof owner);
            return lwi_model_fail(&l->m->desc, d->place, error, "%s: %s", owner, why.text);
        }
    }
    if (formula) lwi_formula_link(formula);
    return LW_OK;
}

static const char *name_of(const lw_model *m, lwi_reading kind, int i)
{
    switch (kind) {
    case LWI_READ_JOINT:
        return m->joint[i].name;
    case LWI_READ_BODY:
        return m->body[i].name;
    case LWI_READ_MARKER:
        return m->desc.marker[i].name;
    default:
        return lwi_spring_desc(&m->desc, i)->name;
    }
}

static bool list_names(lw_model *m, lwi_reading kind, int n, names *list)
{
    list->entry = LWI_PUSH(&m->arena, entry, n);
    list->n = n;
    if (!list->entry) return false;
    for (int i = 0; i < n; i++) list->entry[i] = (entry){name_of(m, kind, i), i};
    qsort(list->entry, (size_t)n, sizeof *list->entry, by_name);
    return true;
}

lw_status lwi_compile_formulas(lw_model *m, lw_error *error)
{
    linking l = {.m = m};
    bool any[LWI_READ_COUNT] = {false};
    for (int i = 0; i < m->desc.nfunction; i++)
        for (int part = 0; part < LWI_FUNCTION_FORMULAS; part++) {
            const lwi_formula *f = lwi_function_formula(&m->function[i], part);
            for (int k = 0; f && k < f->nname; k++) any[f->name[k].kind] = true;
        }
    const bool markers = any[LWI_READ_MARKER] || any[LWI_READ_DISTANCE];
    const int nspring = m->desc.force[LWI_ITEM_spring].n;
    if ((any[LWI_READ_JOINT] && !list_names(m, LWI_READ_JOINT, m->njoint, &l.joint)) ||
        (any[LWI_READ_BODY] && !list_names(m, LWI_READ_BODY, m->nbody, &l.body)) ||
        (markers && !list_names(m, LWI_READ_MARKER, m->desc.nmarker, &l.marker)) ||
        (any[LWI_READ_SPRING] && !list_names(m, LWI_READ_SPRING, nspring, &l.spring)))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for functions");
    for (int i = 0; i < m->desc.nfunction; i++)
        for (int part = 0; part < LWI_FUNCTION_FORMULAS; part++)
            TRY(link_formula(&l, i, lwi_function_formula(&m->function[i], part), error));
    return LW_OK;
}

void lwi_mark_bodies_read(const lw_model *m, bool *body)
{
    for (int i = 0; i < m->desc.nfunction; i++)
        for (int part = 0; part < LWI_FUNCTION_FORMULAS; part++) {
            const lwi_formula *f = lwi_function_formula(&m->function[i], part);
            for (int k = 0; f && k < f->nname; k++)
                for (int b = 0; f->name[k].probe && b < f->name[k].probe->n; b++)
                    body[f->name[k].probe->body[b]] = true;
        }
}

bool lwi_reads_state(const lw_model *m)
{
    for (int i = 0; i < m->desc.nfunction; i++)
        for (int part = 0; part < LWI_FUNCTION_FORMULAS; part++) {
            const lwi_formula *f = lwi_function_formula(&m->function[i], part);
            if (f && f->nname > 0) return true;
        }
    return false;
}
