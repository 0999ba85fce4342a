// check_formula.c -- what must be true of any text of a formula.
#include "fuzz/check_formula.h"

#include "model/signals/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static int fail(const char *text, const char *why, const char *detail)
{
    fprintf(stderr, "%s %s: %s\n", why, detail, text);
    return 1;
}

static const struct {
    const char *text;
    int operands;
    bool call;
} symbols[LWI_FORMULA_OPERATION_COUNT] = {
#define X(name, text, operands) [LWI_FORMULA_##name] = {text, operands, false},
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) [LWI_FORMULA_##name] = {text, operands, true},
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
};

// The text of the operands ending at instruction `last`; returns the first of their instructions.
static int write_out(const lwi_formula *f, int last, char *to, size_t size)
{
    static char part[3][ROOM]; // used up before the next call returns
    const lwi_instruction *in = &f->code[last];
    const int n = symbols[in->operation].operands;
    char *kept[3];
    int first = last;
    for (int k = n - 1; k >= 0; k--) {
        first = write_out(f, first - 1, part[k], ROOM);
        kept[k] = strdup(part[k]);
    }
    const char *s = symbols[in->operation].text;
    const lwi_formula_name *name = &f->name[in->index];
    switch (n) {
    case 0:
        if (in->operation == LWI_FORMULA_NUMBER)
            snprintf(to, size, "(%.17g)", in->value);
        else if (in->operation == LWI_FORMULA_TIME)
            snprintf(to, size, "t");
        else
            snprintf(to, size, "%.*s", name->length, f->text + name->at);
        break;
    case 1:
        snprintf(to, size, "(%s(%s))", s, kept[0]);
        break;
    case 2:
        if (symbols[in->operation].call)
            snprintf(to, size, "%s(%s, %s)", s, kept[0], kept[1]);
        else
            snprintf(to, size, "(%s %s %s)", kept[0], s, kept[1]);
        break;
    default:
        snprintf(to, size, "%s(%s, %s, %s)", s, kept[0], kept[1], kept[2]);
        break;
    }
    for (int k = 0; k < n; k++) free(kept[k]);
    return first;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static int check_stack(const lwi_formula *f)
{
    int stack = 0;
    for (int i = 0; i < f->ncode; i++) {
        stack += 1 - symbols[f->code[i].operation].operands;
        if (stack < 1 || stack > LWI_FORMULA_STACK) return fail(f->text, "stack", "out of bounds");
    }
    return stack == 1 ? 0 : fail(f->text, "stack", "does not end with one value");
}

// Values at some times, of the derivatives and of the text written out.
static int check_values(lwi_formula *f)
{
    static char text[ROOM];
    double q[LWI_FORMULA_NAMES], qd[LWI_FORMULA_NAMES];
    lwi_formula again;
    lwi_arena arena;
    int failed = 0;
    lwi_arena_init(&arena, NULL);
    write_out(f, f->ncode - 1, text, sizeof text);
    const bool fits =
        lwi_formula_build(text, NULL, &arena, &again, NULL) == LW_OK; // or it is too long, deep
    for (int k = 0; k < f->nname; k++) f->name[k].index = k;
    for (int k = 0; fits && k < again.nname; k++)
        for (int j = 0; j < f->nname; j++)
            if (!strcmp(again.name[k].joint, f->name[j].joint) &&
                again.name[k].speed == f->name[j].speed &&
                again.name[k].coordinate == f->name[j].coordinate)
                again.name[k].index = j;
    lwi_formula_link(f);
    if (fits) lwi_formula_link(&again);
    for (int i = 0; i < 6 && !failed; i++) {
        for (int k = 0; k < LWI_FORMULA_NAMES; k++)
            q[k] = (7 * i + 5 * k) % 9 / 2.0 - 2, qd[k] = (5 * i + 7 * k) % 9 / 2.0 - 2;
        const lwi_now now = {.t = (4 * i) % 9 / 2.0 - 1, .q = q, .qd = qd};
        const double value = lwi_formula_value(f, &now);
        double rates[3];
        for (int k = 0; k < f->nname; k++) lwi_formula_partial(f, &now, k);
        lwi_formula_rates(f, now.t, rates);
        if (f->nname == 0 && !same(value, rates[0]))
            failed = fail(f->text, "value", "is not that of rates");
        if (fits && !same(value, lwi_formula_value(&again, &now)))
            failed = fail(f->text, "not the same as", text);
    }
    lwi_arena_free(&arena);
    return failed;
}

int check_formula(const char *text, long count[2])
{
    lw_error error = {0};
    lwi_formula f;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lw_status status = lwi_formula_check(text, &error);
    int failed = 0;
    count[status == LW_OK]++;
    if (status == LW_OK) {
        if (lwi_formula_build(text, NULL, &arena, &f, &error) != LW_OK)
            return fail(text, "refused", error.text);
        failed = check_stack(&f) || check_values(&f);
    } else if (status != LW_ERR_MODEL || !error.text[0]) {
        failed = fail(text, "strange error", error.text);
    }
    lwi_arena_free(&arena);
    return failed;
}
