// statements.c -- lists of strings that grow, and their copies.
#include "model/statements.h"

#include <string.h>

// Room for `more` items behind `count`; NULL: no memory.
static void *grow(lwi_arena *arena, void *items, size_t count, size_t more, size_t *room,
                  size_t size)
{
    if (count + more <= *room) return items;
    size_t larger = *room ? 2 * *room : 64;
    while (larger < count + more) larger *= 2;
    void *copy = lwi_arena_push(arena, larger, size);
    if (!copy) return NULL;
    if (count) memcpy(copy, items, count * size);
    *room = larger;
    return copy;
}

static bool add_text(lwi_statements *s, lwi_arena *arena, const char *text, size_t *at)
{
    const size_t n = strlen(text) + 1;
    char *larger = grow(arena, s->text, s->length, n, &s->text_room, 1);
    if (!larger) return false;
    s->text = larger;
    memcpy(s->text + s->length, text, n);
    *at = s->length;
    s->length += n;
    return true;
}

lw_status lwi_statements_add(lwi_statements *s, lwi_arena *arena, lwi_statement entry,
                             const char *text, const char *name)
{
    size_t room = (size_t)s->room;
    lwi_statement *larger = grow(arena, s->entry, (size_t)s->n, 1, &room, sizeof *larger);
    if (!larger) return LW_ERR_MEMORY;
    s->entry = larger;
    s->room = (int)room;
    if (!add_text(s, arena, text, &entry.text) || (name && !add_text(s, arena, name, &entry.name)))
        return LW_ERR_MEMORY;
    s->entry[s->n++] = entry;
    return LW_OK;
}

static bool copy_text(lwi_arena *arena, const char **text)
{
    if (!*text) return true;
    *text = lwi_arena_text(arena, *text);
    return *text != NULL;
}

static bool copy_named(lwi_arena *arena, lwi_named_statement **list, int n)
{
    lwi_named_statement *copy = LWI_PUSH(arena, lwi_named_statement, n);
    if (!copy) return false;
    for (int i = 0; i < n; i++) {
        copy[i] = (*list)[i];
        const char **fields[] = {&copy[i].name,         &copy[i].text,
                                 &copy[i].unit,         &copy[i].description,
                                 &copy[i].minimum_text, &copy[i].maximum_text};
        for (int k = 0; k < LWI_COUNT(fields); k++)
            if (!copy_text(arena, fields[k])) return false;
    }
    *list = copy;
    return true;
}

bool lwi_statements_own(lwi_statements *s, lwi_arena *arena)
{
    return copy_named(arena, &s->parameter, s->nparameter) &&
           copy_named(arena, &s->point, s->npoint);
}

bool lwi_statements_copy(lwi_statements *s, lwi_arena *arena)
{
    lwi_statement *entry = LWI_PUSH(arena, lwi_statement, s->n);
    char *text = LWI_PUSH(arena, char, s->length);
    if (!entry || !text) return false;
    if (s->n) memcpy(entry, s->entry, (size_t)s->n * sizeof *entry);
    if (s->length) memcpy(text, s->text, s->length);
    s->entry = entry, s->room = s->n;
    s->text = text, s->text_room = s->length;
    if (!copy_text(arena, &s->files)) return false;
    return lwi_statements_own(s, arena);
}
