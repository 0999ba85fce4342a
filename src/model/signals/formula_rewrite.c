// formula_rewrite.c -- the same formula with values in place of parameters and with other names of joints.
#include "model/signals/formula_parser.h"

#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Text that grows at the end; `length` counts what would not fit too.
typedef struct growing {
    char *text;
    size_t length, room;
} growing;

static void add_chars(growing *g, const char *text, size_t n)
{
    if (g->length + n < g->room) memcpy(g->text + g->length, text, n);
    g->length += n;
}

static void add_text(growing *g, const char *text)
{
    add_chars(g, text, strlen(text));
}

static void add_value(growing *g, double value)
{
    char text[40];
    snprintf(text, sizeof text, value < 0 || signbit(value) ? "(%.17g)" : "%.17g", value);
    add_text(g, text);
}

// 'left.knee'
static void add_item(growing *g, const char *prefix, const char *item)
{
    add_text(g, "'");
    for (const char *part = prefix; part; part = part == prefix ? item : NULL)
        for (const char *c = part; *c; c++) {
            if (*c == '\'') add_text(g, "'");
            add_chars(g, c, 1);
        }
    add_text(g, "'");
}

// Bytes of the name of an item at `from`, in quotes or not.
static size_t item_bytes(const char *from)
{
    size_t n = 1;
    if (*from != '\'') return strcspn(from, ".,() \t\n\r");
    while (from[n] != '\'' || from[n + 1] == '\'') n += from[n] == '\'' ? 2 : 1;
    return n + 1;
}

// The name of an item with the prefix before it; the text around it as it is: 'left.knee'.q0, body.'left.arm'.x,
// distance('left.a', 'left.b')
static lw_status add_name(growing *g, const lwi_formula_parser *p, const lwi_formula_edit *e,
                          const lwi_formula_name *name, lwi_arena *arena)
{
    const int count = name->kind == LWI_READ_DISTANCE ? 2 : 1;
    int at = e->at;
    for (int i = 0; i < count; i++) {
        // the items of this occurrence are as far from its beginning as those of the first one: they are equal
        const int item = e->at + (i ? name->item2 : name->item) - name->at;
        const char *word = lwi_formula_item(arena, p->text, name, i ? name->item2 : name->item);
        if (!word) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a formula");
        add_chars(g, p->text + at, (size_t)(item - at));
        add_item(g, p->scope->prefix, word);
        at = item +
             (int)(name->kind == LWI_READ_SIGNAL ? (size_t)e->length : item_bytes(p->text + item));
    }
    add_chars(g, p->text + at, (size_t)(e->at + e->length - at));
    return LW_OK;
}

// In an included file that is mirrored or placed elsewhere, components in world axes would be those of the whole model.
static lw_status check_axes(const lwi_formula_parser *p, const lwi_formula_edit *e,
                            const lwi_formula_name *name)
{
    const bool axes = name->kind == LWI_READ_BODY || name->kind == LWI_READ_MARKER;
    if (!axes || !p->scope->negated) return LW_OK;
    return lwi_formula_fail(
        p->text, e->at, e->length, p->error,
        "%.*s is in axes of the world, which are others where this file is included: "
        "it is mirrored or moved; joints, springs and distances can be read",
        e->length < 60 ? e->length : 60, p->text + e->at);
}

static lw_status add_edit(growing *g, const lwi_formula_parser *p, const lwi_formula_edit *e,
                          lwi_arena *arena)
{
    const lwi_formula_scope *scope = p->scope;
    if (e->name < 0) {
        add_value(g, e->value);
        return LW_OK;
    }
    const lwi_formula_name *name = &p->name[e->name];
    TRY(check_axes(p, e, name));
    const char *joint = lwi_formula_item(arena, p->text, name, name->item);
    if (!joint) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a formula");
    const bool negated = name->kind == LWI_READ_JOINT && scope->negated &&
                         scope->negated(scope->user, joint, name->coordinate, name->speed);
    if (negated) add_text(g, "(-");
    if (scope->prefix && *scope->prefix)
        TRY(add_name(g, p, e, name, arena));
    else
        add_chars(g, p->text + e->at, (size_t)e->length);
    if (negated) add_text(g, ")");
    return LW_OK;
}

static lw_status rewrite(const lwi_formula_parser *p, lwi_arena *arena, growing *g)
{
    lwi_numbers numbers;
    lw_status status = LW_OK;
    int at = 0;
    if (!lwi_numbers_begin(&numbers))
        return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a formula");
    for (int i = 0; i < p->nedit && status == LW_OK; i++) {
        const lwi_formula_edit *e = &p->edit[i];
        add_chars(g, p->text + at, (size_t)(e->at - at));
        status = add_edit(g, p, e, arena);
        at = e->at + e->length;
    }
    lwi_numbers_end(&numbers);
    add_text(g, p->text + at);
    return status;
}

// scratch: for the pieces that are replaced, and the new string while it grows
static lw_status rewrite_in(const char *text, const lwi_formula_scope *scope, lwi_arena *scratch,
                            lwi_arena *arena, const char **rewritten, lw_error *error)
{
    lwi_formula_parser p;
    lwi_formula_edit *edits = LWI_PUSH(scratch, lwi_formula_edit, LWI_FORMULA_SIZE);
    growing g = {.text = LWI_PUSH(scratch, char, LWI_FORMULA_LENGTH + 1),
                 .room = LWI_FORMULA_LENGTH + 1};
    if (!edits || !g.text) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a formula");
    TRY(lwi_formula_parse(&p, text, scope, edits, error));
    TRY(rewrite(&p, scratch, &g));
    if (g.length > LWI_FORMULA_LENGTH)
        return lwi_fail(error, LW_ERR_MODEL,
                        "the formula has more than %d characters, with values for its parameters",
                        (int)LWI_FORMULA_LENGTH);
    g.text[g.length] = 0;
    const char *copy = lwi_arena_text(arena, g.text);
    if (!copy) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a formula");
    *rewritten = copy;
    return LW_OK;
}

lw_status lwi_formula_rewrite(const char *text, const lwi_formula_scope *scope, lwi_arena *arena,
                              const char **rewritten, lw_error *error)
{
    lwi_arena scratch;
    lwi_arena_init(&scratch, &arena->allocator);
    const lw_status status = rewrite_in(text, scope, &scratch, arena, rewritten, error);
    lwi_arena_free(&scratch);
    return status;
}
