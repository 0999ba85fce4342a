// formula.c -- from the text of a formula to its program.
//
//   or       = and { "or" and }
//   and      = not { "and" not }
//   not      = "not" not | comparison
//   comparison = sum [ ("<" | "<=" | ">" | ">=" | "==" | "!=") sum ]
//   sum      = product { ("+" | "-") product }
//   product  = sign { ("*" | "/") sign }
//   sign     = ("-" | "+") sign | power
//   power    = operand [ "^" sign ]
//   operand  = number [ unit ] | "t" | "pi" | "e" | function "(" or { "," or } ")" | joint "." ("q" | "qd") k
//            | name | reading | "(" or ")"
//   joint    = letters, digits and _, a letter first | "'" anything, ' doubled "'"
//   name     = joint { "." joint }                                       of the scope (lwi_formula_scope)
//   reading  = ("body" | "marker" | "spring" | "joint") "." joint "." word
//            | ("distance" | "distance_rate") "(" joint "," joint ")"
//   unit     = factor { [ "*" | "/" ] factor },  factor = word [ "^" [ "-" ] digit ]       of the table in units.c
//
// One function per rule.  Operations on numbers are done at once, so that constants cost nothing.  Dimensions are
// checked on the way: `dimension` is parallel to the stack of values.
#include "model/signals/formula_parser.h"

#include "base/assert.h"
#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    int operands;
} symbols[LWI_FORMULA_OPERATION_COUNT] = {
#define X(name, text, operands) [LWI_FORMULA_##name] = {text, operands},
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) [LWI_FORMULA_##name] = {text, operands},
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
};

static const char *const calls[] = {
#define X(name, text, operands, call) call,
    LWI_FORMULA_FUNCTION_LIST(X)
#undef X
};
enum { FIRST_CALL = LWI_FORMULA_SIN, NCALL = sizeof calls / sizeof calls[0] };

static const char *const distances[] = {"distance", "distance_rate"};

typedef lwi_formula_parser parser;

static lw_status parse_or(parser *p);
static lw_status parse_unit(parser *p, lwi_unit *unit);

static const char *hint(char *room, size_t size, const char *name, const char *const *names, int n)
{
    const char *near = lwi_nearest(name, names, n);
    room[0] = 0;
    if (near) snprintf(room, size, ", did you mean '%s'?", near);
    return room;
}

// ------------------------------------------------------------------------------------------ tokens

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}
// Bytes of characters beyond ASCII too: joints have names in every alphabet.
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80);
}

// The next character that is no space; 0 at the end.
static char peek(parser *p)
{
    while (is_space(p->text[p->at])) p->at++;
    return p->text[p->at];
}

int lwi_formula_word_length(const char *text, int at)
{
    int n = 0;
    if (is_letter(text[at]))
        while (is_letter(text[at + n]) || is_digit(text[at + n])) n++;
    return n;
}

// Takes an operator that is next: a symbol, or a whole word.
static bool take(parser *p, const char *symbol_text)
{
    if (peek(p) != *symbol_text) return false;
    const int n = (int)strlen(symbol_text);
    if (strncmp(p->text + p->at, symbol_text, (size_t)n) != 0) return false;
    if (is_letter(symbol_text[0]) && lwi_formula_word_length(p->text, p->at) != n) return false;
    p->at += n;
    return true;
}

// Fails at the word or character that is next.
static lw_status expected(parser *p, const char *what)
{
    const char next = peek(p);
    int length = lwi_formula_word_length(p->text, p->at);
    if (next == 0)
        return lwi_formula_fail(p->text, p->at, 1, p->error, "expected %s, the formula ends", what);
    if ((unsigned char)next < ' ')
        return lwi_formula_fail(p->text, p->at, 1, p->error,
                                "expected %s, found control character %d", what, next);
    if (length == 0) length = 1;
    return lwi_formula_fail(p->text, p->at, length, p->error, "expected %s, found '%.*s'", what,
                            length < 60 ? length : 60, p->text + p->at);
}

// ----------------------------------------------------------------------------------------- program

static const lwi_dimension plain, unknown_dimension = {.kind = LWI_DIMENSION_UNKNOWN};

static lw_status push(parser *p, lwi_instruction instruction, lwi_dimension dimension, int at)
{
    if (p->ncode == LWI_FORMULA_SIZE)
        return lwi_formula_fail(p->text, at, 1, p->error,
                                "too long, expected at most %d numbers, names and operations",
                                (int)LWI_FORMULA_SIZE);
    p->where[p->ncode] = at;
    p->code[p->ncode++] = instruction;
    p->stack += 1 - symbols[instruction.operation].operands;
    if (p->stack <= LWI_FORMULA_STACK) {
        p->dimension[p->stack - 1] = dimension;
        return LW_OK;
    }
    return lwi_formula_fail(p->text, at, 1, p->error,
                            "too involved: more than %d values wait for an operation",
                            (int)LWI_FORMULA_STACK);
}

static lw_status push_number(parser *p, double value, lwi_dimension dimension, int at)
{
    return push(p, (lwi_instruction){.operation = LWI_FORMULA_NUMBER, .value = value}, dimension,
                at);
}

// 0 where the exact value is not: as a product, quotient or power of numbers that are not 0, and of an exponential.
static bool underflows(lwi_operation operation, const double *x, double value)
{
    if (value != 0) return false;
    if (operation == LWI_FORMULA_EXP) return true;
    if (x[0] == 0) return false;
    return operation == LWI_FORMULA_DIVIDE || operation == LWI_FORMULA_POWER ||
           (operation == LWI_FORMULA_MULTIPLY && x[1] != 0);
}

// Appends an operation, or does it where its operands are numbers: they are then the last ones.
static lw_status operate(parser *p, lwi_operation operation, int at, int length)
{
    const int n = symbols[operation].operands;
    double x[3];
    lwi_dimension dimension;
    TRY(lwi_formula_dimension(p, operation, at, length, &dimension));
    p->literal = p->literal && operation == LWI_FORMULA_NEGATE;
    for (int i = 0; i < n; i++) {
        const lwi_instruction *operand = &p->code[p->ncode - n + i];
        if (operand->operation != LWI_FORMULA_NUMBER)
            return push(p, (lwi_instruction){.operation = operation}, dimension, at);
        x[i] = operand->value;
    }
    const double value = lwi_formula_operate(operation, x);
    if (!isfinite(value))
        return lwi_formula_fail(
            p->text, at, length, p->error, "'%s' of these numbers is %s, expected a finite number",
            symbols[operation].text, isnan(value) ? "not a number" : "infinite");
    if (underflows(operation, x, value))
        return lwi_formula_fail(p->text, at, length, p->error,
                                "'%s' of these numbers is below 4.9e-324, expected a larger one",
                                symbols[operation].text);
    p->ncode -= n;
    p->stack -= n;
    return push_number(p, value, dimension, p->where[p->ncode]);
}

// ------------------------------------------------------------------------------------------- rules

static lw_status enter(parser *p)
{
    if (++p->depth <= LWI_FORMULA_DEPTH) return LW_OK;
    return lwi_formula_fail(p->text, p->at, 1, p->error,
                            "nested too deep, expected at most %d levels", (int)LWI_FORMULA_LEVELS);
}

static bool is_operator_word(const char *word, int length)
{
    return (length == 2 && !memcmp(word, "or", 2)) ||
           (length == 3 && (!memcmp(word, "and", 3) || !memcmp(word, "not", 3)));
}

// Is it a word of all formulas?
static bool is_own_word(const char *word, int length)
{
    for (int i = FIRST_CALL; i < FIRST_CALL + NCALL; i++)
        if (symbols[i].text[0] == *word && (int)strlen(symbols[i].text) == length &&
            !memcmp(symbols[i].text, word, (size_t)length))
            return true;
    for (int i = 0; i < LWI_COUNT(distances); i++)
        if ((int)strlen(distances[i]) == length && !memcmp(distances[i], word, (size_t)length))
            return true;
    return is_operator_word(word, length) || (length == 1 && (*word == 't' || *word == 'e')) ||
           (length == 2 && !memcmp(word, "pi", 2));
}

// Is it a name that means something else than a unit?
static bool is_name(parser *p, const char *word, int length)
{
    return is_own_word(word, length) ||
           (p->scope && p->scope->find(p->scope->user, word, length, NULL, NULL) == LW_OK);
}

// Length of the unit's name at byte `at`; 0 where none begins: a function, a joint or something else does.
static int unit_length(const parser *p, int at, lwi_unit *unit)
{
    const int n = lwi_formula_word_length(p->text, at);
    int end = at + n;
    if (n == 0 || is_operator_word(p->text + at, n) || p->text[end] == '.') return 0;
    while (is_space(p->text[end])) end++;
    return p->text[end] != '(' && lwi_unit_find(p->text + at, n, unit) ? n : 0;
}

static lw_status unknown_unit(parser *p, int at, int length)
{
    char name[64], room[64];
    int n;
    const char *const *names = lwi_unit_names(&n);
    snprintf(name, sizeof name, "%.*s", length, p->text + at);
    hint(room, sizeof room, name, names, n);
    return lwi_formula_fail(p->text, at, length, p->error, "unknown unit '%s'%s", name,
                            *room ? room
                                  : ", expected one such as mm, kg, deg, rpm, N/m, or an operator");
}

// "^2", "^-1"; nothing: 1
static lw_status parse_unit_power(parser *p, int *power)
{
    *power = 1;
    if (p->text[p->at] != '^') return LW_OK;
    const int sign = p->text[p->at + 1] == '-' ? -1 : 1, at = p->at + (sign < 0 ? 2 : 1);
    if (!is_digit(p->text[at]) || is_digit(p->text[at + 1]) || p->text[at + 1] == '.')
        return lwi_formula_fail(p->text, p->at, 1, p->error,
                                "expected a power of the unit from -9 to 9, like ^2");
    *power = sign * (p->text[at] - '0');
    p->at = at + 1;
    return LW_OK;
}

// The factor of a unit behind another one: *sign of its power, 0: the unit ends here.
static lw_status next_factor(parser *p, bool divided, lwi_unit *factor, int *sign)
{
    int at = p->at, n;
    *sign = 0;
    while (is_space(p->text[at])) at++;
    const char next = p->text[at];
    if (next == '*' || next == '/') at++;
    while (is_space(p->text[at])) at++;
    if (!(n = unit_length(p, at, factor))) return LW_OK;
    if (next != '*' && next != '/') {
        if (divided)
            return lwi_formula_fail(
                p->text, at, n, p->error,
                "is '%.*s' above or below the '/'?  Expected '*' or '/' before it", n,
                p->text + at);
    } else if (p->scope && p->scope->find(p->scope->user, p->text + at, n, NULL, NULL) == LW_OK) {
        return lwi_formula_fail(p->text, at, n, p->error,
                                "'%.*s' is a unit and a name here: for the parameter write `(5 "
                                "N)%c%.*s`, for the unit `5 N %.*s%s`",
                                n, p->text + at, next, n, p->text + at, n, p->text + at,
                                next == '/' ? "^-1" : "");
    }
    *sign = next == '/' ? -1 : 1;
    p->at = at + n;
    return LW_OK;
}

// The unit behind a number; unit->times 0: there is none.
static lw_status parse_unit(parser *p, lwi_unit *unit)
{
    lwi_unit factor;
    int sign = 1, power, at = p->at;
    while (is_space(p->text[at])) at++;
    const int n = unit_length(p, at, &factor), word = lwi_formula_word_length(p->text, at);
    if (!n) {
        const bool other = !word || p->text[at + word] == '.' || p->text[at + word] == '(' ||
                           is_name(p, p->text + at, word);
        return other ? LW_OK : unknown_unit(p, at, word);
    }
    *unit = (lwi_unit){.times = 1, .per = 1, .dimension.kind = LWI_DIMENSION_KNOWN};
    bool divided = false;
    for (p->at = at + n; sign;) {
        const int here = p->at;
        TRY(parse_unit_power(p, &power));
        if (!lwi_unit_multiply(unit, &factor, sign * power))
            return lwi_formula_fail(p->text, here, 1, p->error, "too high a power of the unit");
        divided = divided || sign < 0;
        TRY(next_factor(p, divided, &factor, &sign));
    }
    return LW_OK;
}

// value: of the number at `at`, in its unit or without
static lw_status check_number(const parser *p, int at, int length, double value)
{
    const char *expected = NULL;
    if (!isfinite(value)) expected = "expected a number below 1.8e308";
    if (lwi_number_underflows(p->text + at, value))
        expected = "expected 0 or a number of at least 4.9e-324";
    return expected ? lwi_formula_fail(p->text, at, length, p->error, "%s", expected) : LW_OK;
}

static lw_status parse_number(parser *p)
{
    const int at = p->at;
    const char *end = lwi_number_end(p->text + at);
    const double value = end ? lwi_number_value(p->text + at) : 0;
    if (!end || is_digit(*end) || *end == '.')
        return lwi_formula_fail(p->text, at, 1, p->error,
                                "expected a number written as in JSON (1, 0.5, 1e-3)");
    const int length = (int)(end - p->text) - at;
    TRY(check_number(p, at, length, value));
    p->at += length;
    lwi_unit unit = {.times = 0};
    TRY(parse_unit(p, &unit));
    if (unit.times == 0) return push_number(p, value, plain, at);
    const double si = lwi_unit_value(p->text + at, length, &unit);
    TRY(check_number(p, at, length, si));
    p->cycles = p->cycles || lwi_dimension_is_frequency(unit.dimension);
    return push_number(p, si, unit.dimension, at);
}

// "q0", "qd12" behind the point of a joint: k, and which of the two; -1: neither.
static int coordinate_of(const char *text, int length, bool *speed)
{
    *speed = length > 2 && text[1] == 'd';
    const int digits = *speed ? 2 : 1;
    if (text[0] != 'q' || length != digits + 1 || !is_digit(text[digits])) return -1;
    return text[digits] - '0';
}

static lw_status push_name(parser *p, const lwi_formula_name *name)
{
    const lwi_operation operation = name->kind != LWI_READ_JOINT ? LWI_FORMULA_READ
                                    : name->speed                ? LWI_FORMULA_SPEED
                                                                 : LWI_FORMULA_COORDINATE;
    int k = 0;
    for (; k < p->nname; k++) {
        const lwi_formula_name *known = &p->name[k];
        if (known->length == name->length &&
            memcmp(p->text + known->at, p->text + name->at, (size_t)name->length) == 0)
            break;
    }
    if (k == LWI_FORMULA_NAMES)
        return lwi_formula_fail(p->text, name->at, name->length, p->error,
                                "reads more than %d joint coordinates and speeds",
                                (int)LWI_FORMULA_NAMES);
    if (k == p->nname) p->name[p->nname++] = *name;
    if (p->edit && p->nedit < LWI_FORMULA_SIZE)
        p->edit[p->nedit++] = (lwi_formula_edit){.at = name->at, .length = name->length, .name = k};
    return push(p, (lwi_instruction){.operation = operation, .index = k}, unknown_dimension,
                name->at);
}

// ---- names of the scope

int lwi_formula_quoted_length(const char *text)
{
    int n = 1;
    while (text[n] && (text[n] != '\'' || text[n + 1] == '\'')) n += text[n] == '\'' ? 2 : 1;
    return text[n] ? n + 1 : 0;
}

// Length of words and quoted words with dots or @ between at byte `at`.
static int path_length(const char *text, int at)
{
    int n = 0;
    for (;;) {
        const int part = text[at + n] == '\'' ? lwi_formula_quoted_length(text + at + n)
                                              : lwi_formula_word_length(text, at + n);
        if (!part) return n ? n - 1 : 0; // without the dot before it
        n += part;
        if (text[at + n] != '.' && text[at + n] != '@') return n;
        n++;
    }
}

// A number cannot depend on the name at `at`.
static lw_status not_constant(parser *p, int at, int length)
{
    return lwi_formula_fail(p->text, at, length, p->error,
                            "'%.*s' varies during a run, expected an expression of parameters and "
                            "constants",
                            length < 60 ? length : 60, p->text + at);
}

// A name of the scope at the next character: *found, or left to others.
static lw_status parse_symbol(parser *p, bool *found)
{
    lwi_formula_symbol symbol = {.value = 0};
    const int at = p->at, length = path_length(p->text, at);
    *found = false;
    if (!p->scope || !length) return LW_OK;
    const lw_status status =
        p->scope->find(p->scope->user, p->text + at, length, &symbol, p->error);
    if (status == LW_ERR_ARGUMENT) return LW_OK;
    TRY(status);
    *found = true;
    p->literal = false;
    p->cycles = p->cycles || symbol.cycles;
    p->at += length;
    if (symbol.signal) {
        const lwi_formula_name name = {
            .kind = LWI_READ_SIGNAL, .at = at, .length = length, .item = at, .index = symbol.index};
        return p->scope->constant ? not_constant(p, at, length) : push_name(p, &name);
    }
    if (symbol.variable)
        return push(p, (lwi_instruction){.operation = LWI_FORMULA_VARIABLE, .index = symbol.index},
                    symbol.dimension, at);
    if (p->edit && p->nedit < LWI_FORMULA_SIZE)
        p->edit[p->nedit++] =
            (lwi_formula_edit){.at = at, .length = length, .value = symbol.value, .name = -1};
    return push_number(p, symbol.value, symbol.dimension, at);
}

// What follows the joint's name, which began at `at`: .q0, .qd0
static lw_status parse_coordinate(parser *p, int at, int item)
{
    lwi_formula_name name = {.at = at, .item = item};
    if (p->text[p->at] != '.')
        return expected(p, "'.' and a coordinate behind the joint, like .q0 or .qd0");
    const int length = lwi_formula_word_length(p->text, ++p->at);
    name.coordinate = coordinate_of(p->text + p->at, length, &name.speed);
    if (name.coordinate < 0)
        return expected(
            p,
            length && p->text[p->at] != 'q'
                ? "a coordinate (q0, q1, ...) or a speed (qd0, qd1, ...) of a joint: reactions and "
                  "energies are known in rows only"
                : "a coordinate (q0, q1, ...) or a speed (qd0, qd1, ...) of the joint");
    p->at += length;
    name.length = p->at - at;
    if (p->scope && p->scope->constant) return not_constant(p, at, name.length);
    return push_name(p, &name);
}

// 'left knee'.q0
static lw_status parse_quoted(parser *p)
{
    const int at = p->at, length = lwi_formula_quoted_length(p->text + at);
    bool found;
    if (!length)
        return lwi_formula_fail(p->text, at, 1, p->error,
                                "the name of this joint does not end, expected another '");
    TRY(parse_symbol(p, &found));
    if (found) return LW_OK;
    p->at += length;
    return parse_coordinate(p, at, at);
}

// ---- readings of bodies, markers, springs

static const char *const components[] = {
#define X(name) #name,
    LWI_FORMULA_COMPONENT_LIST(X)
#undef X
};
static const char *const lengths[] = {"length", "rate"};

// A kind of items, and what formulas read of one.
static const struct {
    const char *word;
    lwi_reading kind;
    const char *const *part;
    int npart;
    const char *expected;
} items[] = {
    {"joint", LWI_READ_JOINT, NULL, 0, ""},
    {"body", LWI_READ_BODY, components, LWI_FORMULA_COMPONENTS,
     "a component of the body: x, y, z, vx, vy, vz, wx, wy or wz"},
    {"marker", LWI_READ_MARKER, components, LWI_FORMULA_COMPONENTS,
     "a component of the marker: x, y, z, vx, vy, vz, wx, wy or wz"},
    {"spring", LWI_READ_SPRING, lengths, 2, "length or rate of the spring"},
};

// Length of the name of an item at byte `at`, in quotes or not.
static int item_length(const char *text, int at)
{
    return text[at] == '\'' ? lwi_formula_quoted_length(text + at)
                            : lwi_formula_word_length(text, at);
}

// Which of the kinds `word` is, if an item and a point follow it at p->at; -1: none, it may be a joint.
static int kind_of_item(const parser *p, const char *word)
{
    const int n = p->text[p->at] == '.' ? item_length(p->text, p->at + 1) : 0;
    if (n == 0 || p->text[p->at + 1 + n] != '.') return -1;
    for (int i = 0; i < LWI_COUNT(items); i++)
        if (!strcmp(word, items[i].word)) return i;
    return -1;
}

// body.arm.x: what follows the kind, which began at `at`.
static lw_status parse_item(parser *p, int kind, int at)
{
    lwi_formula_name name = {
        .kind = items[kind].kind, .at = at, .item = p->at + 1, .coordinate = -1};
    p->at += 1 + item_length(p->text, p->at + 1);
    if (name.kind == LWI_READ_JOINT) return parse_coordinate(p, at, name.item);
    const int n = lwi_formula_word_length(p->text, ++p->at);
    for (int k = 0; k < items[kind].npart; k++)
        if ((int)strlen(items[kind].part[k]) == n &&
            !memcmp(items[kind].part[k], p->text + p->at, (size_t)n))
            name.coordinate = k;
    if (name.coordinate < 0) return expected(p, items[kind].expected);
    p->at += n;
    name.length = p->at - at;
    if (p->scope && p->scope->constant) return not_constant(p, at, name.length);
    return push_name(p, &name);
}

static lw_status parse_marker(parser *p, int *item)
{
    peek(p);
    const int n = item_length(p->text, p->at);
    if (!n) return expected(p, "the name of a marker");
    *item = p->at;
    p->at += n;
    return LW_OK;
}

// distance(a, b): what follows the word, which began at `at`.
static lw_status parse_distance(parser *p, int rate, int at)
{
    lwi_formula_name name = {.kind = LWI_READ_DISTANCE, .at = at, .coordinate = rate};
    if (!take(p, "("))
        return lwi_formula_fail(p->text, at, p->at - at, p->error,
                                "'%s' is a function, expected %s(marker, marker)", distances[rate],
                                distances[rate]);
    TRY(parse_marker(p, &name.item));
    if (!take(p, ",")) return expected(p, "',' and a second marker");
    TRY(parse_marker(p, &name.item2));
    if (!take(p, ")")) return expected(p, "')'");
    name.length = p->at - at;
    if (p->scope && p->scope->constant) return not_constant(p, at, name.length);
    return push_name(p, &name);
}

// A step from and to the same place would be a jump.
static lw_status check_step(parser *p, int at, int length)
{
    const lwi_instruction *start = &p->code[p->ncode - 2], *end = &p->code[p->ncode - 1];
    if (start->operation != LWI_FORMULA_NUMBER || end->operation != LWI_FORMULA_NUMBER ||
        start->value != end->value)
        return LW_OK;
    return lwi_formula_fail(p->text, at, length, p->error,
                            "the step starts and ends at %.9g, expected two places", end->value);
}

static lw_status parse_arguments(parser *p, lwi_operation operation, int at, int length)
{
    const char *call = calls[operation - FIRST_CALL];
    const bool more = operation == LWI_FORMULA_MIN || operation == LWI_FORMULA_MAX;
    const int need = symbols[operation].operands;
    int n = 0;
    if (!take(p, "("))
        return lwi_formula_fail(p->text, at, length, p->error, "'%s' is a function, expected %s",
                                symbols[operation].text, call);
    do {
        TRY(parse_or(p));
        if (++n < need) continue;
        if (n == need && operation == LWI_FORMULA_STEP) TRY(check_step(p, at, length));
        if (n == need || more) TRY(operate(p, operation, at, length));
        if (n > need && !more) break;
    } while (take(p, ","));
    if (n != need && !(n > need && more))
        return lwi_formula_fail(p->text, at, length, p->error, "'%s' has %s arguments, expected %s",
                                symbols[operation].text, n < need ? "too few" : "too many", call);
    if (!take(p, ")")) return expected(p, more ? "',' or ')'" : "')'");
    return LW_OK;
}

static lw_status unknown_name(parser *p, const char *name, int at, int length)
{
    enum { OWN = 100 };
    const char *names[NCALL + 3 + OWN];
    static const char *const constants[] = {"t", "pi", "e"};
    char room[64];
    lwi_unit unit;
    const bool call = peek(p) == '(';
    int n = 0;
    for (int i = 0; p->scope && !call && i < p->scope->nname && i < OWN; i++)
        names[n++] = p->scope->names[i];
    for (int i = 0; !call && i < LWI_COUNT(constants); i++) names[n++] = constants[i];
    for (int i = 0; i < NCALL; i++) names[n++] = symbols[FIRST_CALL + i].text;
    hint(room, sizeof room, length > 1 ? name : "", names, n);
    if (!call && lwi_unit_find(name, (int)strlen(name), &unit))
        return lwi_formula_fail(p->text, at, length, p->error,
                                "unknown name '%.60s'; a unit follows a number, as in `1 %.60s`",
                                name, name);
    if (p->scope && p->scope->constant && !call)
        return lwi_formula_fail(p->text, at, length, p->error, "unknown name '%.60s'%s", name,
                                *room ? room : ", expected a parameter, pi, e or a function");
    return lwi_formula_fail(p->text, at, length, p->error, "unknown %s '%.60s'%s",
                            call ? "function" : "name", name,
                            *room  ? room
                            : call ? ""
                                   : ", expected t, pi, e, a function, or a joint's coordinate or "
                                     "speed, like joint.q0 or joint.qd0");
}

static lw_status parse_name(parser *p)
{
    const int at = p->at, length = lwi_formula_word_length(p->text, at);
    char name[64];
    bool found;
    TRY(parse_symbol(p, &found));
    if (found) return LW_OK;
    snprintf(name, sizeof name, "%.*s", length, p->text + at);
    p->at += length;
    const int kind = kind_of_item(p, name);
    if (kind >= 0) return parse_item(p, kind, at);
    if (p->text[p->at] == '.') return parse_coordinate(p, at, at);
    for (int i = 0; i < LWI_COUNT(distances); i++)
        if (!strcmp(name, distances[i])) return parse_distance(p, i, at);
    if (!strcmp(name, "t")) {
        if (p->scope && p->scope->constant) return not_constant(p, at, length);
        return push(p, (lwi_instruction){.operation = LWI_FORMULA_TIME}, unknown_dimension, at);
    }
    p->literal = false;
    p->pi = p->pi || !strcmp(name, "pi");
    if (!strcmp(name, "pi")) return push_number(p, 3.14159265358979323846, plain, at);
    if (!strcmp(name, "e")) return push_number(p, 2.71828182845904523536, plain, at);
    for (int i = FIRST_CALL; i < FIRST_CALL + NCALL; i++)
        if (!strcmp(name, symbols[i].text)) return parse_arguments(p, (lwi_operation)i, at, length);
    if (is_operator_word(name, length)) {
        p->at = at;
        return expected(p, "a number, a name or '('");
    }
    if (p->scope && p->scope->any_signal) {
        const lwi_formula_name signal = {
            .kind = LWI_READ_SIGNAL, .at = at, .item = at, .length = length};
        return push_name(p, &signal);
    }
    return unknown_name(p, name, at, length);
}

static lw_status parse_operand(parser *p)
{
    const char next = peek(p);
    if (is_digit(next) || next == '.') return parse_number(p);
    if (is_letter(next)) return parse_name(p);
    if (next == '\'') return parse_quoted(p);
    if (!take(p, "(")) return expected(p, "a number, a name or '('");
    TRY(parse_or(p));
    return take(p, ")") ? LW_OK : expected(p, "an operator or ')'");
}

static lw_status parse_sign(parser *p);

static lw_status parse_power(parser *p)
{
    TRY(parse_operand(p));
    const int at = (peek(p), p->at);
    if (!take(p, "^")) return LW_OK;
    TRY(enter(p));
    TRY(parse_sign(p)); // a^b^c is a^(b^c)
    p->depth--;
    return operate(p, LWI_FORMULA_POWER, at, 1);
}

static lw_status parse_sign(parser *p)
{
    const int at = (peek(p), p->at);
    const bool negative = take(p, "-");
    if (!negative && !take(p, "+")) return parse_power(p);
    TRY(enter(p));
    TRY(parse_sign(p));
    p->depth--;
    return negative ? operate(p, LWI_FORMULA_NEGATE, at, 1) : LW_OK;
}

// operand { operation operand } for a rule with the operators `from` to `to`.
static lw_status parse_chain(parser *p, lw_status (*operand)(parser *), lwi_operation from,
                             lwi_operation to)
{
    TRY(operand(p));
    for (;;) {
        const int at = (peek(p), p->at);
        lwi_operation operation = from;
        while (operation <= to && !take(p, symbols[operation].text)) operation++;
        if (operation > to) return LW_OK;
        if (p->text[p->at] == '*' && operation == LWI_FORMULA_MULTIPLY)
            return lwi_formula_fail(p->text, at, 2, p->error, "'**' is no operator, expected '^'");
        TRY(operand(p));
        TRY(operate(p, operation, at, (int)strlen(symbols[operation].text)));
    }
}

static lw_status parse_product(parser *p)
{
    return parse_chain(p, parse_sign, LWI_FORMULA_MULTIPLY, LWI_FORMULA_DIVIDE);
}

static lw_status parse_sum(parser *p)
{
    return parse_chain(p, parse_product, LWI_FORMULA_ADD, LWI_FORMULA_SUBTRACT);
}

// The operator of a comparison that is next, the longer ones first; the count where there is none.
static lwi_operation take_comparison(parser *p)
{
    static const lwi_operation order[] = {LWI_FORMULA_LESS_EQUAL, LWI_FORMULA_GREATER_EQUAL,
                                          LWI_FORMULA_EQUAL,      LWI_FORMULA_NOT_EQUAL,
                                          LWI_FORMULA_LESS,       LWI_FORMULA_GREATER};
    for (int i = 0; i < LWI_COUNT(order); i++)
        if (take(p, symbols[order[i]].text)) return order[i];
    return LWI_FORMULA_OPERATION_COUNT;
}

static lw_status parse_comparison(parser *p)
{
    TRY(parse_sum(p));
    const int at = (peek(p), p->at);
    const lwi_operation operation = take_comparison(p);
    if (operation == LWI_FORMULA_OPERATION_COUNT) return LW_OK;
    TRY(parse_sum(p));
    TRY(operate(p, operation, at, 1));
    const int again = (peek(p), p->at);
    if (take_comparison(p) == LWI_FORMULA_OPERATION_COUNT) return LW_OK;
    return lwi_formula_fail(p->text, again, 1, p->error,
                            "comparisons do not chain, expected `a < b and b < c`");
}

static lw_status parse_not(parser *p)
{
    const int at = (peek(p), p->at);
    if (!take(p, "not")) return parse_comparison(p);
    TRY(enter(p));
    TRY(parse_not(p));
    p->depth--;
    return operate(p, LWI_FORMULA_NOT, at, 3);
}

static lw_status parse_and(parser *p)
{
    return parse_chain(p, parse_not, LWI_FORMULA_AND, LWI_FORMULA_AND);
}

static lw_status parse_or(parser *p)
{
    TRY(enter(p));
    TRY(parse_chain(p, parse_and, LWI_FORMULA_OR, LWI_FORMULA_OR));
    p->depth--;
    return LW_OK;
}

lw_status lwi_formula_parse(parser *p, const char *text, const lwi_formula_scope *scope,
                            lwi_formula_edit *edits, lw_error *error)
{
    lwi_numbers numbers;
    p->text = text ? text : "";
    p->error = error;
    p->scope = scope;
    p->edit = edits;
    p->literal = true;
    p->mixed = p->mixed_angle = p->cycles = p->pi = false;
    p->at = p->depth = p->stack = p->ncode = p->nname = p->nedit = 0;
    const size_t length = strnlen(p->text, LWI_FORMULA_LENGTH + 1);
    if (length > LWI_FORMULA_LENGTH)
        return lwi_fail(error, LW_ERR_MODEL, "the formula has more than %d characters",
                        (int)LWI_FORMULA_LENGTH);
    if (!peek(p)) return lwi_fail(error, LW_ERR_MODEL, "the formula is empty");
    if (!lwi_numbers_begin(&numbers)) return lwi_fail(error, LW_ERR_MEMORY, "no memory to parse");
    lw_status status = parse_or(p);
    lwi_numbers_end(&numbers);
    if (status == LW_OK && peek(p)) status = expected(p, "an operator or the end");
    return status;
}

static lw_status parse(parser *p, const char *text, const lwi_formula_scope *scope, lw_error *error)
{
    return lwi_formula_parse(p, text, scope, NULL, error);
}

// ----------------------------------------------------------------------------------------- results

lw_status lwi_formula_check(const char *text, lw_error *error)
{
    parser p;
    return parse(&p, text, NULL, error);
}

bool lwi_formula_plain_name(const char *name, int length, char *word, size_t size)
{
    const bool quoted = name[0] == '\'';
    size_t n = 0;
    if (length <= 0 ||
        (quoted ? lwi_formula_quoted_length(name) : lwi_formula_word_length(name, 0)) != length)
        return false;
    for (int i = quoted; i < length - quoted; i++) {
        if (n + 1 >= size) return false;
        word[n++] = name[i];
        if (quoted && name[i] == '\'') i++;
    }
    word[n] = 0;
    return quoted || !lwi_formula_is_reserved(word);
}

lw_status lwi_formula_check_in(const char *text, const lwi_formula_scope *scope, int *signals,
                               int *nsignal, lw_error *error)
{
    parser p;
    int n = 0;
    TRY(parse(&p, text, scope, error));
    for (int k = 0; k < p.nname && signals; k++)
        if (p.name[k].kind == LWI_READ_SIGNAL) signals[n++] = p.name[k].index;
    if (nsignal) *nsignal = n;
    return LW_OK;
}

lw_status lwi_formula_number(const char *text, const lwi_formula_scope *scope,
                             lwi_formula_result *result, lw_error *error)
{
    parser p;
    TRY(parse(&p, text, scope, error));
    LWI_ASSERT(p.ncode == 1 && p.code[0].operation == LWI_FORMULA_NUMBER);
    *result = (lwi_formula_result){p.code[0].value, p.dimension[0], p.literal,
                                   p.mixed,         p.mixed_angle,  p.cycles && !p.pi};
    return LW_OK;
}

bool lwi_formula_is_word(const char *text)
{
    const int n = lwi_formula_word_length(text, 0);
    return n > 0 && text[n] == 0;
}

bool lwi_formula_is_reserved(const char *word)
{
    return is_own_word(word, (int)strlen(word));
}
