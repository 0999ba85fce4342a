// statements.c -- source strings of values that a file states by expressions.
#include "io/yaml/statements.h"

#include "io/yaml/values.h"

#include <stdlib.h>
#include <string.h>

// ------------------------------------------------------------------------------------------ guards

static uint64_t hash(uint64_t h, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 1099511628211u; // FNV-1a
    return h;
}

static const char *item_of(const lwi_description *d, const lwi_yaml_item *item)
{
    const int i = item->index;
    switch (item->list) {
    case LWI_STATED_GRAVITY:
        return (const char *)d->gravity;
    case LWI_STATED_FUNCTION:
        return i < d->nfunction ? (const char *)&d->function[i] : NULL;
    case LWI_STATED_BODY:
        return i < d->nbody ? (const char *)&d->body[i] : NULL;
    case LWI_STATED_JOINT:
        return i < d->njoint ? (const char *)&d->joint[i] : NULL;
    case LWI_STATED_COUPLING:
        return i < d->ncoupling ? (const char *)&d->coupling[i] : NULL;
    case LWI_STATED_MARKER:
        return i < d->nmarker ? (const char *)&d->marker[i] : NULL;
    case LWI_STATED_MEASURE:
        return i < d->nmeasure ? (const char *)&d->measure[i] : NULL;
    case LWI_STATED_OPTION:
        return NULL;
    case LWI_STATED_EVENT:
        return i < d->nevent ? (const char *)&d->event[i] : NULL;
    case LWI_STATED_IMPULSE:
        for (int k = 0; k < d->nimpulse; k++)
            if (!strcmp(d->impulse[k].name, item->name)) return (const char *)&d->impulse[k];
        return NULL;
    default:
        return i < d->force[item->list - LWI_STATED_FORCES].n
                   ? lwi_force_desc(d, item->list - LWI_STATED_FORCES, i)
                   : NULL;
    }
}

static uint64_t hash_pose(uint64_t h, const lwi_description *d, int32_t body)
{
    return body > 0 && body < d->nbody ? hash(h, &d->body[body].pose, sizeof(lw_pose)) : h;
}

// Poses of the bodies of the item: places in the world depend on them.
static uint64_t hash_bodies(uint64_t h, const lwi_description *d, const lwi_yaml_item *item,
                            const char *at)
{
    if (item->list == LWI_STATED_BODY) return hash_pose(h, d, item->index);
    for (int k = 0; k < item->keys->nkey; k++) {
        const lwi_yaml_key *key = &item->keys->key[k];
        lw_body body[2];
        if (key->kind != LWI_KEY_PAIR && key->kind != LWI_KEY_BODY) continue;
        const int n = key->kind == LWI_KEY_PAIR ? 2 : 1;
        memcpy(body, at + key->offset, (size_t)n * sizeof *body);
        for (int i = 0; i < n; i++) h = hash_pose(h, d, body[i].index);
    }
    return h;
}

static uint64_t hash_list(uint64_t h, const char *field, int count)
{
    const void *list;
    memcpy(&list, field, sizeof list);
    h = hash(h, &count, sizeof count);
    return count > 0 && list ? hash(h, list, (size_t)count * sizeof(double)) : h;
}

// Numbers of a list; while a function is read they are in another struct (lwi_yaml_function).
static int count_of(const lwi_yaml_item *item, const char *at, const char *field,
                    const lwi_yaml_key *key)
{
    const lw_function_desc *f = (const lw_function_desc *)(const void *)at;
    int count;
    if (item->list == LWI_STATED_FUNCTION) {
        if (key->kind == LWI_KEY_ROWS) return f->npoint * f->npoint2;
        if (key->offset == offsetof(lw_function_desc, x2)) return f->npoint2;
        if (key->offset == offsetof(lw_function_desc, states)) return f->nstate;
        if (key->offset == offsetof(lw_function_desc, numerator)) return f->nnumerator;
        if (key->offset == offsetof(lw_function_desc, denominator)) return f->ndenominator;
        return f->type == LW_FUNCTION_POLYNOMIAL ? f->ncoefficient : f->npoint;
    }
    memcpy(&count, field - key->offset + key->size, sizeof count);
    return count;
}

static uint64_t hash_signal(uint64_t h, const lwi_description *d, const char *field)
{
    lw_signal s;
    memcpy(&s, field, sizeof s);
    if (s.index <= 0 || s.index > d->nfunction) return hash(h, &s, sizeof s);
    const lw_function_desc *f = &d->function[s.index - 1];
    return f->name ? hash(h, f->name, strlen(f->name)) : hash(h, &f->value, sizeof f->value);
}

// Numbers of a list of objects, and the poses of their bodies.
static uint64_t hash_objects(uint64_t h, const lwi_description *d, const lwi_yaml_item *item,
                             const char *field, const lwi_yaml_key *key)
{
    const lwi_yaml_item part = {item->list, item->index, key->more, NULL};
    const char *at;
    int count;
    memcpy(&at, field, sizeof at);
    memcpy(&count, field - key->offset + key->size, sizeof count);
    for (int i = 0; i < count; i++, at += key->count) {
        for (int k = 0; k < part.keys->nkey; k++) {
            const lwi_yaml_key *of = &part.keys->key[k];
            if (of->kind == LWI_KEY_NUMBER) h = hash(h, at + of->offset, sizeof(double));
            if (of->kind == LWI_KEY_VECTOR || of->kind == LWI_KEY_DIRECTION)
                h = hash(h, at + of->offset, sizeof(lw_vec3));
        }
        h = hash_bodies(h, d, &part, at);
    }
    return hash(h, &count, sizeof count);
}

uint64_t lwi_yaml_guard(const lwi_description *d, const lwi_yaml_item *item, unsigned offset,
                        const lwi_yaml_key *key)
{
    const char *at = item_of(d, item);
    uint64_t h = 14695981039346656037u;
    if (!at) return 0;
    const char *field = at + offset;
    if (item->list == LWI_STATED_BODY && strcmp(key->name, "density") == 0) {
        const lw_body_desc *b = (const lw_body_desc *)(const void *)at; // what follows from it
        h = hash(hash(h, &b->mass, sizeof b->mass), b->inertia, sizeof b->inertia);
        return hash(h, &b->com, sizeof b->com);
    }
    switch (key->kind) {
    case LWI_KEY_NUMBER:
        return hash(h, field, sizeof(double));
    case LWI_KEY_INTEGER:
        return hash(h, field, sizeof(int));
    case LWI_KEY_NUMBERS:
        return hash(h, field, (size_t)key->count * sizeof(double));
    case LWI_KEY_START:
        return hash(h, field,
                    (size_t)(key->count ? LW_JOINT_MAX_NV : LW_JOINT_MAX_NQ) * sizeof(double));
    case LWI_KEY_LIST:
    case LWI_KEY_ROWS:
        return hash_list(h, field, count_of(item, at, field, key));
    case LWI_KEY_OBJECTS:
        return hash_objects(h, d, item, field, key);
    case LWI_KEY_LENGTH:
        return hash_signal(hash(h, field, sizeof(double)), d, field - key->offset + key->size);
    case LWI_KEY_SIGNAL:
    case LWI_KEY_FUNCTION:
    case LWI_KEY_FORMULA:
        return hash_signal(h, d, field);
    case LWI_KEY_SIGNALS:
        for (int i = 0; i < key->count; i++)
            h = hash_signal(h, d, field + (size_t)i * sizeof(lw_signal));
        return h;
    case LWI_KEY_STRING: {
        const char *text;
        memcpy(&text, field, sizeof text);
        return text ? hash(h, text, strlen(text)) : h;
    }
    case LWI_KEY_VECTOR:
    case LWI_KEY_DIRECTION:
        if (item->list == LWI_STATED_JOINT) {
            const lw_joint_desc *joint = (const lw_joint_desc *)(const void *)at;
            h = hash(hash(h, &joint->frame1, sizeof joint->frame1), &joint->frame2,
                     sizeof joint->frame2);
        }
        return hash_bodies(hash(h, field, sizeof(lw_vec3)), d, item, at);
    case LWI_KEY_QUATERNION:
        return hash_bodies(hash(h, field, sizeof(lw_quat)), d, item, at);
    case LWI_KEY_FRAME:
        return hash_bodies(h, d, item, at);
    default:
        return h;
    }
}

// ----------------------------------------------------------------------------------------- reading

lw_status lwi_yaml_keep(lwi_yaml_reading *r, const lwi_yaml_key *key, const void *field,
                        const lwi_document_value *v)
{
    enum { BLOCK = 32 };
    if (r->nkept == r->kept_room) {
        const int room = r->kept_room ? 2 * r->kept_room : BLOCK;
        lwi_yaml_kept *larger = LWI_PUSH(&r->arena, lwi_yaml_kept, room);
        if (!larger) return lwi_yaml_no_memory(r);
        if (r->nkept) memcpy(larger, r->kept, (size_t)r->nkept * sizeof *larger);
        r->kept = larger;
        r->kept_room = room;
    }
    r->kept[r->nkept++] =
        (lwi_yaml_kept){key, (unsigned)((const char *)field - (const char *)r->base), v};
    return LW_OK;
}

lw_status lwi_yaml_commit(lwi_yaml_reading *r, int list, int index, const lwi_yaml_object *keys,
                          const char *name)
{
    const lwi_yaml_item item = {list, index, keys, name};
    lwi_description *d = &r->builder->desc;
    for (int i = r->kept_from; i < r->nkept; i++) {
        const lwi_yaml_kept *kept = &r->kept[i];
        const char *text = lwi_yaml_flow(r, kept->value);
        const lwi_statement entry = {.list = list,
                                     .item = list == LWI_STATED_IMPULSE ? -1 : index,
                                     .offset = kept->offset,
                                     .key = kept->key,
                                     .guard = lwi_yaml_guard(d, &item, kept->offset, kept->key)};
        if (!text || lwi_statements_add(&d->stated, &r->builder->arena, entry, text, name) != LW_OK)
            return lwi_yaml_no_memory(r);
    }
    r->nkept = r->kept_from;
    return LW_OK;
}

static uint64_t guard_of_text(const char *text)
{
    return hash(14695981039346656037u, text, strlen(text));
}

lw_status lwi_yaml_keep_option(lwi_yaml_reading *r, const char *key, const char *value,
                               const lwi_document_value *v)
{
    const char *text = lwi_yaml_flow(r, v);
    const lwi_statement entry = {
        .list = LWI_STATED_OPTION, .item = -1, .guard = guard_of_text(value)};
    if (!text ||
        lwi_statements_add(&r->builder->desc.stated, &r->builder->arena, entry, text, key) != LW_OK)
        return lwi_yaml_no_memory(r);
    return LW_OK;
}

// ----------------------------------------------------------------------------------------- writing

const char *lwi_yaml_stated_option(const lwi_description *d, const char *key, const char *value)
{
    const lwi_statements *all = &d->stated;
    for (int i = 0; i < all->n; i++) {
        const lwi_statement *s = &all->entry[i];
        if (s->list == LWI_STATED_OPTION && !strcmp(all->text + s->name, key) &&
            s->guard == guard_of_text(value))
            return all->text + s->text;
    }
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const lwi_statement *x = *(const lwi_statement *const *)a,
                        *y = *(const lwi_statement *const *)b;
    if (x->list != y->list) return x->list < y->list ? -1 : 1;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return x < y ? -1 : x > y;
}

lw_status lwi_yaml_statements_sort(const lwi_description *desc, lwi_arena *arena,
                                   lwi_yaml_statements *index)
{
    const int n = desc->stated.n;
    *index = (lwi_yaml_statements){desc, LWI_PUSH(arena, const lwi_statement *, n)};
    if (!index->sorted) return LW_ERR_MEMORY;
    for (int i = 0; i < n; i++) index->sorted[i] = &desc->stated.entry[i];
    qsort((void *)index->sorted, (size_t)n, sizeof *index->sorted, compare);
    return LW_OK;
}

const lwi_statement *lwi_yaml_statement(const lwi_yaml_statements *index, const lwi_yaml_item *item,
                                        unsigned offset)
{
    const lwi_statement wanted = {.list = item->list,
                                  .item = item->list == LWI_STATED_IMPULSE ? -1 : item->index,
                                  .offset = offset};
    const lwi_statements *all = &index->desc->stated;
    int low = 0, high = item->index < 0 ? 0 : all->n;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const lwi_statement *s = index->sorted[middle];
        const bool before = s->list != wanted.list   ? s->list < wanted.list
                            : s->item != wanted.item ? s->item < wanted.item
                                                     : s->offset < wanted.offset;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->n; low++) {
        const lwi_statement *s = index->sorted[low];
        if (s->list != wanted.list || s->item != wanted.item || s->offset != wanted.offset) break;
        if (item->list == LWI_STATED_IMPULSE && strcmp(all->text + s->name, item->name) != 0)
            continue;
        if (lwi_yaml_guard(index->desc, item, offset, s->key) == s->guard) return s;
    }
    return NULL;
}
