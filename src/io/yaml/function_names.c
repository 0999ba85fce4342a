// function_names.c -- the names of functions in a written model file.
#include "io/yaml/function_names.h"

#include "io/yaml/keys.h"

#include <stdio.h>
#include <string.h>

static void use(int *uses, lw_signal signal)
{
    if (signal.index > 0) uses[signal.index - 1]++;
}

// Counts the references to each function.
static void use_signals(int *uses, const lwi_yaml_object *object, const void *desc)
{
    for (int i = 0; i < object->nkey; i++) {
        const lwi_yaml_key *key = &object->key[i];
        lw_signal signal;
        const bool one = key->kind == LWI_KEY_SIGNAL || key->kind == LWI_KEY_FUNCTION ||
                         key->kind == LWI_KEY_FORMULA;
        const int n = one ? 1 : key->kind == LWI_KEY_SIGNALS ? key->count : 0;
        for (int k = 0; k < n; k++) {
            memcpy(&signal, (const char *)desc + key->offset + (size_t)k * sizeof signal,
                   sizeof signal);
            use(uses, signal);
        }
    }
}

static void count_uses(const lwi_description *d, int *uses)
{
    for (int i = 0; i < d->nfunction; i++)
        for (int k = 0; k < d->function[i].nterm; k++) use(uses, d->function[i].terms[k]);
    for (int i = 0; i < d->njoint; i++) {
        const lw_joint_desc *j = &d->joint[i];
        for (int k = 0; k < LW_JOINT_MAX_NV; k++) {
            use(uses, j->coordinate[k].motion);
            use(uses, j->coordinate[k].force);
            use(uses, j->coordinate[k].effort);
        }
        for (int k = 0; k < 3; k++) use(uses, j->mount_shift[k]);
        use(uses, j->mount_turn);
        use(uses, j->length_of);
    }
    for (int k = 0; k < LWI_FORCE_ITEMS; k++)
        for (int i = 0; i < d->force[k].n; i++)
            use_signals(uses, lwi_force_items[k]->keys, lwi_force_desc(d, k, i));
    for (int i = 0; i < d->nevent; i++) {
        use_signals(uses, &lwi_yaml_event_object, &d->event[i]);
        for (int k = 0; k < d->event[i].nset; k++) use(uses, d->event[i].set[k].value);
    }
}

static bool is_taken(const lwi_description *d, const char *name)
{
    for (int i = 0; i < d->nfunction; i++)
        if (d->function[i].name && strcmp(d->function[i].name, name) == 0) return true;
    for (int i = 0; i < d->ninput; i++)
        if (strcmp(d->input[i], name) == 0) return true;
    return false;
}

const char *const *lwi_yaml_function_names(const lwi_description *d, lwi_arena *arena)
{
    enum { DEEPEST = 8 };
    const int n = d->nfunction;
    int *uses = LWI_PUSH(arena, int, n);
    int *depth = LWI_PUSH(arena, int, n);
    const char **names = LWI_PUSH(arena, const char *, n);
    if (!uses || !depth || !names) return NULL;
    count_uses(d, uses);
    for (int i = 0; i < n; i++) {
        const lw_function_desc *f = &d->function[i];
        names[i] = f->name;
        for (int k = 0; k < f->nterm; k++) {
            if (f->terms[k].index <= 0) continue;
            const int inner = depth[f->terms[k].index - 1] + 1;
            if (inner > depth[i]) depth[i] = inner;
        }
        if (!f->name && (uses[i] > 1 || depth[i] > DEEPEST)) {
            char name[48];
            int length = snprintf(name, sizeof name, "function%d", i);
            while (is_taken(d, name) && length < 40) name[length++] = '_', name[length] = 0;
            names[i] = lwi_arena_text(arena, name);
            if (!names[i]) return NULL;
        }
        if (names[i]) depth[i] = 0;
    }
    return names;
}
