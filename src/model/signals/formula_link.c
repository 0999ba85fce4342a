// formula_link.c -- joints that formulas name become indices into the joint arrays.
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    const lwi_joint *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static const lwi_joint *find(const lw_model *m, const lwi_joint *const *sorted, const char *name)
{
    int low = 0, high = m->njoint;
    while (low < high) {
        const int middle = low + (high - low) / 2, order = strcmp(sorted[middle]->name, name);
        if (order == 0) return sorted[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static lw_status no_joint(const lw_model *m, const lwi_joint *const *sorted, const char *text,
                          const lwi_formula_name *name, lw_error *error)
{
    enum { MOST = 1000 }; // a distance costs microseconds
    const char *names[MOST];
    const int n = m->njoint < MOST ? m->njoint : MOST;
    for (int i = 0; i < n; i++) names[i] = sorted[i]->name;
    const char *near = lwi_nearest(name->joint, names, n);
    return lwi_formula_fail(text, name->at, name->length, error,
                            "there is no joint '%.60s'%s%.60s%s", name->joint,
                            near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static lw_status link_name(const lw_model *m, const lwi_joint *const *sorted, const char *text,
                           lwi_formula_name *name, lw_error *error)
{
    const lwi_joint *joint = find(m, sorted, name->joint);
    if (!joint) return no_joint(m, sorted, text, name, error);
    const int count = name->speed ? joint->type->nv : joint->type->nq;
    if (name->coordinate >= count)
        return lwi_formula_fail(text, name->at, name->length, error,
                                "joint '%.60s' has no %s %s%d; it is %s and has %d", name->joint,
                                name->speed ? "speed" : "coordinate", name->speed ? "qd" : "q",
                                name->coordinate, joint->type->name, count);
    name->index = (name->speed ? joint->iv : joint->iq) + name->coordinate;
    return LW_OK;
}

static lw_status link_formula(const lw_model *m, const lwi_joint *const *sorted, int i,
                              lw_error *error)
{
    const lw_function_desc *d = &m->desc.function[i];
    lwi_formula *formula = m->function[i].formula;
    lw_error why = {0};
    for (int k = 0; k < formula->nname; k++)
        if (link_name(m, sorted, formula->text, &formula->name[k], &why) != LW_OK)
            return lwi_model_fail(&m->desc, d->place, error, "function%s%s%s: %s",
                                  d->name ? " '" : "", d->name ? d->name : "", d->name ? "'" : "",
                                  why.text);
    lwi_formula_link(formula);
    return LW_OK;
}

lw_status lwi_compile_formulas(lw_model *m, lw_error *error)
{
    bool any = false;
    for (int i = 0; i < m->desc.nfunction; i++)
        any = any || (m->function[i].formula && m->function[i].formula->nname > 0);
    if (!any) return LW_OK;
    const lwi_joint **sorted = LWI_PUSH(&m->arena, const lwi_joint *, m->njoint);
    if (!sorted) return lwi_fail(error, LW_ERR_MEMORY, "no memory for functions");
    for (int j = 0; j < m->njoint; j++) sorted[j] = &m->joint[j];
    qsort(sorted, (size_t)m->njoint, sizeof *sorted, by_name);
    for (int i = 0; i < m->desc.nfunction; i++)
        if (m->function[i].formula)
            TRY(link_formula(m, (const lwi_joint *const *)sorted, i, error));
    return LW_OK;
}
