// check.c -- checks between the items of a description, before anything is computed.
#include "model/forces/item.h"
#include "model/model.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// A name and its place in the file, for finding duplicates.
typedef struct entry {
    const char *name;
    lw_place place;
    int index;
} entry;

static int by_name(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order ? order : x->index - y->index;
}

// FNV-1a
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 16777619u;
    return hash;
}

// Finds a place for each name in a table of 1 + index; 0: free.  False: two are the same, one is empty, or so many collide
// that sorting is faster.
static bool fill_table(const entry *list, int n, int *table, uint32_t mask)
{
    for (int i = 0, collisions = 0; i < n; i++) {
        uint32_t at = hash_of(list[i].name) & mask;
        if (!*list[i].name) return false;
        for (; table[at]; at = (at + 1) & mask)
            if (++collisions > 8 * n || !strcmp(list[table[at] - 1].name, list[i].name))
                return false;
        table[at] = i + 1;
    }
    return true;
}

// False also without memory: then the names are sorted.
static bool all_differ(const entry *list, int n)
{
    uint32_t size = 16;
    while (size < 2 * (uint32_t)n) size *= 2;
    int *table = calloc(size, sizeof *table);
    const bool differ = table && fill_table(list, n, table, size - 1);
    free(table);
    return differ;
}

// The error names the first two of the same name in alphabetical order.
static lw_status check_unique(const lwi_description *desc, entry *list, int n, const char *kind,
                              lw_error *error)
{
    if (all_differ(list, n)) return LW_OK;
    qsort(list, (size_t)n, sizeof *list, by_name);
    for (int i = 0; i < n; i++)
        if (!*list[i].name)
            return lwi_model_fail(desc, list[i].place, error, "a %s has an empty name", kind);
    for (int i = 1; i < n; i++)
        if (strcmp(list[i].name, list[i - 1].name) == 0)
            return lwi_model_fail(desc, list[i].place, error,
                                  "%s '%s': this name is taken already (line %d); names are unique",
                                  kind, list[i].name, list[i - 1].place.line);
    return LW_OK;
}

static lw_status check_names(const lwi_description *d, entry *list, lw_error *error)
{
    int n = 0;
    for (int i = 0; i < d->nbody; i++) list[n++] = (entry){d->body[i].name, d->body[i].place, i};
    for (int i = 1; i < d->nbody; i++)
        if (strcmp(d->body[i].name, "ground") == 0)
            return lwi_model_fail(
                d, d->body[i].place, error,
                "body 'ground': this name stands for the fixed world, choose another");
    TRY(check_unique(d, list, n, "body", error));
    n = 0;
    for (int i = 0; i < d->njoint; i++) list[n++] = (entry){d->joint[i].name, d->joint[i].place, i};
    TRY(check_unique(d, list, n, "joint", error));
    n = 0;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        for (int i = 0; i < d->force[k].n; i++, n++) {
            const void *desc = lwi_force_desc(d, k, i);
            list[n] = (entry){lwi_force_item_name(lwi_force_items[k], desc),
                              lwi_force_item_place(lwi_force_items[k], desc), n};
        }
    TRY(check_unique(d, list, n, "force", error));
    n = 0;
    for (int i = 0; i < d->nmarker; i++)
        list[n++] = (entry){d->marker[i].name, d->marker[i].place, i};
    TRY(check_unique(d, list, n, "marker", error));
    n = 0;
    for (int i = 0; i < d->nmeasure; i++)
        list[n++] = (entry){d->measure[i].name, d->measure[i].place, i};
    TRY(check_unique(d, list, n, "measure", error));
    n = 0;
    for (int i = 0; i < d->nimpulse; i++)
        list[n++] = (entry){d->impulse[i].name, d->impulse[i].place, i};
    TRY(check_unique(d, list, n, "impulse", error));
    n = 0;
    for (int i = 0; i < d->nevent; i++) list[n++] = (entry){d->event[i].name, d->event[i].place, i};
    TRY(check_unique(d, list, n, "event", error));
    n = 0; // functions and inputs are both named where a signal is expected
    for (int i = 0; i < d->nfunction; i++)
        if (d->function[i].name)
            list[n] = (entry){d->function[i].name, d->function[i].place, n}, n++;
    for (int i = 0; i < d->ninput; i++) list[n] = (entry){d->input[i], {0, 0}, n}, n++;
    return check_unique(d, list, n, "function or input", error);
}

static lw_status check_distance(const lwi_description *d, lw_error *error)
{
    for (int i = 0; i < d->njoint; i++) {
        const lw_joint_desc *j = &d->joint[i];
        if (!lwi_joint_type_of(j->type)->has_length && (j->length != 0 || j->length_of.index))
            return lwi_model_fail(d, j->place, error,
                                  "joint '%s': `length` belongs to distance joints only", j->name);
        if (!lwi_joint_type_of(j->type)->has_pitch && j->pitch != 0)
            return lwi_model_fail(d, j->place, error,
                                  "joint '%s': `pitch` belongs to screw joints only", j->name);
    }
    return LW_OK;
}

static lw_status check_couplings(const lwi_description *d, lw_error *error)
{
    lw_status status = LW_OK;
    bool *coupled = calloc((size_t)d->njoint * LW_JOINT_MAX_NV + 1, sizeof *coupled);
    if (!coupled) return lwi_fail(error, LW_ERR_MEMORY, "no memory to check couplings");
    for (int i = 0; i < d->ncoupling && status == LW_OK; i++) {
        const lw_coupling_desc *c = &d->coupling[i];
        const lw_joint_desc *j = &d->joint[c->joint.index];
        bool *before = &coupled[(size_t)c->joint.index * LW_JOINT_MAX_NV + (size_t)c->coordinate];
        if (j->coordinate[c->coordinate].motion.index)
            status =
                lwi_model_fail(d, c->place, error,
                               "coupling of joint '%s': q%d already follows a function, expected a "
                               "free coordinate",
                               j->name, c->coordinate);
        else if (*before)
            status =
                lwi_model_fail(d, c->place, error, "coupling of joint '%s': q%d is coupled twice",
                               j->name, c->coordinate);
        *before = true;
    }
    free(coupled);
    return status;
}

lw_status lwi_description_check(const lwi_description *desc, lw_error *error)
{
    if (desc->nbody < 2)
        return lwi_model_fail(desc, (lw_place){0, 0}, error,
                              "the model has no bodies, expected at least one");
    int count = desc->nbody + desc->njoint + desc->nmarker + desc->nmeasure + desc->nimpulse +
                desc->nevent + desc->nfunction + desc->ninput;
    for (int k = 0; k < LWI_FORCE_ITEMS; k++) count += desc->force[k].n;
    entry *list = malloc((size_t)count * sizeof *list);
    if (!list) return lwi_fail(error, LW_ERR_MEMORY, "no memory to check names");
    const lw_status status = check_names(desc, list, error);
    free(list);
    TRY(status);
    TRY(check_distance(desc, error));
    return check_couplings(desc, error);
}
