// test_formula_text.c -- mutated formulas: each is a program or a mistake with a place, and nothing
// else.  A program keeps to its stack, its derivatives have its value, and written out again from
// its operations, every one in parentheses, it computes the same bits.
//
//   test_formula_text [--mutations N] [--seed S]
//
// A failing text is printed with its seed.
#include "model/signals/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

static uint64_t state;

// splitmix64: a good sequence from any start
static size_t below(size_t count)
{
    uint64_t z = state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (size_t)((z ^ z >> 31) % count);
}

// ----------------------------------------------------------------------------------------
// mutations

static const char *const seeds[] = {
    "2*sin(3*t)",
    "-40*rope.q0 - 3*rope.qd0",
    "where(t > 1 and not t >= 2 or t == 0.5, 1e-3, -pi)/max(1, t, e)",
    "step(t, 0, 'left knee'.q1)^2^-0.5 + atan2(A.q0, 2 + cos(t))",
    "exp(-t/3)*(sinh(t) - tanh(A.qd2))*log(1 + abs(t)) + sqrt(t)*sign(t - 1)",
    "min(asin(t/9), acos(t/9), log10(t)) != tan(t) + (cosh(t) <= 1)*atan(t)",
};

static const char *const tokens[] = {
#define X(name, text, operands) text,
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) text "(",
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
            "(",
    ")",
    "((((((((",
    "))))))))",
    ",",
    ".",
    "'",
    "''",
    " ",
    "\n",
    "t",
    "pi",
    "e",
    "1",
    "0",
    "0.5",
    "1e308",
    "1e-308",
    "9e999",
    "1.",
    ".5",
    "A.q0",
    "A.qd0",
    ".q1",
    ".qd9",
    "'a b'.q0",
    "x",
    "and",
    "=",
    "**",
    "$",
    "\\",
    "\x01",
    "\x7f",
    "\xc3\xa4",
    "\xff",
    "----",
    "^^",
    "2^2^2^2^2^2",
};

static size_t insert(char *text, size_t length, size_t at, const char *token)
{
    const size_t n = strlen(token);
    if (length + n >= ROOM) return length;
    memmove(text + at + n, text + at, length - at + 1);
    memcpy(text + at, token, n);
    return length + n;
}

static size_t cut(char *text, size_t length, size_t at, size_t n)
{
    if (n > length - at) n = length - at;
    memmove(text + at, text + at + n, length - at - n + 1);
    return length - n;
}

static void mutate(char *text)
{
    size_t length = strlen(strcpy(text, seeds[below(LWI_COUNT(seeds))]));
    for (size_t edits = below(6); edits > 0; edits--) {
        const size_t at = below(length + 1);
        char piece[64];
        switch (below(4)) {
        case 0:
            length = cut(text, length, at, 1 + below(4));
            break;
        case 1:
            snprintf(piece, 1 + below(sizeof piece), "%s", text + at);
            length = insert(text, length, below(length + 1), piece);
            break;
        case 2:
            for (size_t n = below(40); below(4) == 0 && n > 0; n--)
                length = insert(text, length, at, tokens[below(LWI_COUNT(tokens))]);
            break;
        default:
            length = insert(text, length, at, tokens[below(LWI_COUNT(tokens))]);
            break;
        }
    }
}

// -------------------------------------------------------------------------------------------
// checks

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

// Values at random times, of the derivatives and of the text written out.
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
        lwi_formula_build(text, &arena, &again, NULL) == LW_OK; // or it is too long, deep
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
            q[k] = (double)below(9) / 2 - 2, qd[k] = (double)below(9) / 2 - 2;
        const lwi_now now = {.t = (double)below(9) / 2 - 1, .q = q, .qd = qd};
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

static int check(const char *text, long count[2])
{
    lw_error error = {0};
    lwi_formula f;
    lwi_arena arena;
    lwi_arena_init(&arena, NULL);
    const lw_status status = lwi_formula_check(text, &error);
    int failed = 0;
    count[status == LW_OK]++;
    if (status == LW_OK) {
        if (lwi_formula_build(text, &arena, &f, &error) != LW_OK)
            return fail(text, "refused", error.text);
        failed = check_stack(&f) || check_values(&f);
    } else if (status != LW_ERR_MODEL || !error.text[0]) {
        failed = fail(text, "strange error", error.text);
    }
    lwi_arena_free(&arena);
    return failed;
}

int main(int argc, char **argv)
{
    static char text[ROOM];
    long mutations = 20000, count[2] = {0};
    uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mutations") == 0) mutations = strtol(argv[i + 1], NULL, 10);
        if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
    }
    state = seed;
    for (long k = 0; k < mutations; k++) {
        mutate(text);
        if (check(text, count)) {
            fprintf(stderr, "mutation %ld of seed %llu\n", k, (unsigned long long)seed);
            return 1;
        }
    }
    printf("%ld formulas: %ld programs, %ld mistakes\n", mutations, count[1], count[0]);
    return 0;
}
