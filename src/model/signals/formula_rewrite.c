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

// 'left.knee'.q0
static void add_joint(growing *g, const char *prefix, const char *joint,
                      const lwi_formula_name *name)
{
    char coordinate[16];
    add_text(g, "'");
    for (const char *part = prefix; part; part = part == prefix ? joint : NULL)
        for (const char *c = part; *c; c++) {
            if (*c == '\'') add_text(g, "'");
            add_chars(g, c, 1);
        }
    snprintf(coordinate, sizeof coordinate, "'.q%s%d", name->speed ? "d" : "", name->coordinate);
    add_text(g, coordinate);
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
    const char *joint = lwi_formula_joint(arena, p->text, name);
    if (!joint) return lwi_fail(p->error, LW_ERR_MEMORY, "no memory for a formula");
    const bool negated =
        scope->negated && scope->negated(scope->user, joint, name->coordinate, name->speed);
    if (negated) add_text(g, "(-");
    if (scope->prefix && *scope->prefix)
        add_joint(g, scope->prefix, joint, name);
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

lw_status lwi_formula_rewrite(const char *text, const lwi_formula_scope *scope, lwi_arena *arena,
                              const char **rewritten, lw_error *error)
{
    lwi_formula_parser p;
    lwi_formula_edit *edits = LWI_PUSH(arena, lwi_formula_edit, LWI_FORMULA_SIZE);
    growing g = {.text = LWI_PUSH(arena, char, LWI_FORMULA_LENGTH + 1),
                 .room = LWI_FORMULA_LENGTH + 1};
    if (!edits || !g.text) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a formula");
    TRY(lwi_formula_parse(&p, text, scope, edits, error));
    TRY(rewrite(&p, arena, &g));
    if (g.length > LWI_FORMULA_LENGTH)
        return lwi_fail(error, LW_ERR_MODEL,
                        "the formula has more than %d characters, with values for its parameters",
                        (int)LWI_FORMULA_LENGTH);
    g.text[g.length] = 0;
    *rewritten = g.text;
    return LW_OK;
}
