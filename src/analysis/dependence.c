// dependence.c -- names of parameters in the expressions of a model file.
#include "analysis/dependence.h"

#include "base/numbers.h"

#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_in_word(char c)
{
    return is_letter(c) || (c >= '0' && c <= '9');
}

// The next word of a text; NULL: there is none.
static const char *next_word(const char *text, int *length)
{
    while (*text && !is_letter(*text)) text += is_in_word(*text) ? strspn(text, "0123456789") : 1;
    if (!*text) return NULL;
    *length = 0;
    while (is_in_word(text[*length])) ++*length;
    return text;
}

int lwi_dependence_find(const lwi_statements *stated, const char *word, int length)
{
    for (int i = 0; i < stated->nparameter; i++) {
        const char *name = stated->parameter[i].name;
        if (!strncmp(name, word, (size_t)length) && !name[length]) return i;
    }
    return -1;
}

bool lwi_dependence_add(const lwi_dependence *d, const char *text, bool *to)
{
    bool changed = false;
    int length;
    for (const char *w = text ? next_word(text, &length) : NULL; w;
         w = next_word(w + length, &length)) {
        const int k = lwi_dependence_find(d->stated, w, length);
        for (int i = 0; k >= 0 && i < d->nby; i++) {
            const bool on = d->on[k * d->nby + i];
            changed = changed || (on && !to[i]);
            to[i] = to[i] || on;
        }
    }
    return changed;
}

static bool is_listed(const char *const *by, int nby, const char *name)
{
    for (int i = 0; i < nby; i++)
        if (!strcmp(by[i], name)) return true;
    return false;
}

bool lwi_dependence_is_expression(const lwi_named_statement *p)
{
    int length;
    if (!p->text) return false;
    const char *end = lwi_number_end(p->text);
    if (end) end += strspn(end, " ");
    if (end && (!*end || (p->unit && !strcmp(end, p->unit)))) return false;
    return next_word(p->text, &length) != NULL;
}

lw_status lwi_dependence_create(const lwi_statements *stated, const char *const *by, int nby,
                                lwi_arena *arena, lwi_dependence *d)
{
    *d = (lwi_dependence){stated, nby, LWI_PUSH(arena, bool, stated->nparameter *nby)};
    if (!d->on) return LW_ERR_MEMORY;
    for (int i = 0; i < nby; i++) {
        const int k = lwi_dependence_find(stated, by[i], (int)strlen(by[i]));
        if (k >= 0) d->on[k * nby + i] = true;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (int k = 0; k < stated->nparameter; k++) {
            const lwi_named_statement *p = &stated->parameter[k];
            if (lwi_dependence_is_expression(p) && !is_listed(by, nby, p->name))
                changed = lwi_dependence_add(d, p->text, d->on + k * nby) || changed;
        }
    }
    return LW_OK;
}
