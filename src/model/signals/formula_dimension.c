// formula_dimension.c -- dimensions of operations: sums need the same kind of quantity, products add powers.
//
// A number without a unit fits everywhere, and is a pure factor in products: 2*l is a length, l + 0.1 too.
#include "model/signals/formula_parser.h"

#include <math.h>

static const char *const words[LWI_FORMULA_OPERATION_COUNT] = {
#define X(name, text, operands) [LWI_FORMULA_##name] = text,
    LWI_FORMULA_OPERATOR_LIST(X)
#undef X
#define X(name, text, operands, call) [LWI_FORMULA_##name] = text,
        LWI_FORMULA_FUNCTION_LIST(X)
#undef X
};

static const lwi_dimension plain, unknown_dimension = {.kind = LWI_DIMENSION_UNKNOWN};

static bool is_pure(lwi_dimension d)
{
    return lwi_dimension_fits(d, (lwi_dimension){.kind = LWI_DIMENSION_KNOWN});
}

// Both must be of one kind: sums, comparisons, min, where.
static lw_status unite(const lwi_formula_parser *p, lwi_operation operation, lwi_dimension a,
                       lwi_dimension b, int at, int length, lwi_dimension *result)
{
    char one[128], other[128];
    *result = a.kind == LWI_DIMENSION_KNOWN ? a : b.kind != LWI_DIMENSION_NONE ? b : a;
    if (lwi_dimension_fits(a, b)) return LW_OK;
    return lwi_formula_fail(p->text, at, length, p->error,
                            "'%s' of %s and %s, expected the same kind of quantity",
                            words[operation], lwi_dimension_text(a, one, sizeof one),
                            lwi_dimension_text(b, other, sizeof other));
}

static lw_status need_pure(const lwi_formula_parser *p, lwi_operation operation, lwi_dimension d,
                           int at, int length)
{
    char text[128];
    if (is_pure(d)) return LW_OK;
    return lwi_formula_fail(p->text, at, length, p->error,
                            "'%s' of %s, expected a pure number or an angle", words[operation],
                            lwi_dimension_text(d, text, sizeof text));
}

// Of x^n, where the last instruction is n.
static lw_status power_dimension(const lwi_formula_parser *p, const lwi_dimension *x, int at,
                                 lwi_dimension *result)
{
    const lwi_instruction *n = &p->code[p->ncode - 1];
    char text[128];
    *result = x[0];
    if (!is_pure(x[1]))
        return lwi_formula_fail(p->text, at, 1, p->error,
                                "the exponent is %s, expected a pure number",
                                lwi_dimension_text(x[1], text, sizeof text));
    if (x[0].kind != LWI_DIMENSION_KNOWN) return LW_OK;
    const double power = n->operation == LWI_FORMULA_NUMBER ? n->value * LWI_POWER : NAN;
    *result = power == floor(power) && fabs(power) <= 100 * LWI_POWER
                  ? lwi_dimension_product(x[0], (int)power, plain, 0)
                  : unknown_dimension;
    return LW_OK;
}

// Is operand i a number without a unit, where it matters?  Zero is so in every unit, a factor is a pure number.
static bool is_without_unit(const lwi_formula_parser *p, lwi_operation operation, int i)
{
    const int n = lwi_formula_operands(operation);
    const lwi_dimension d = p->dimension[p->stack - n + i];
    const lwi_instruction *operand = &p->code[p->ncode - n + i];
    const bool zero = operand->operation == LWI_FORMULA_NUMBER && operand->value == 0;
    if (d.kind != LWI_DIMENSION_NONE) return d.kind == LWI_DIMENSION_UNKNOWN;
    return operation != LWI_FORMULA_MULTIPLY && operation != LWI_FORMULA_DIVIDE && !zero;
}

// Notes that a quantity meets a number without a unit: 20 mm + 5.
static void note_mixture(lwi_formula_parser *p, lwi_operation operation)
{
    bool quantity = false, angle = false, number = false;
    if (operation == LWI_FORMULA_POWER) return;
    for (int i = operation == LWI_FORMULA_WHERE; i < lwi_formula_operands(operation); i++) {
        const lwi_dimension d = p->dimension[p->stack - lwi_formula_operands(operation) + i];
        number = number || is_without_unit(p, operation, i);
        for (int k = 0; k < LWI_BASE_UNITS && d.kind == LWI_DIMENSION_KNOWN; k++) {
            quantity = quantity || (d.power[k] != 0 && k != LWI_BASE_ANGLE);
            angle = angle || (d.power[k] != 0 && k == LWI_BASE_ANGLE);
        }
    }
    p->mixed = p->mixed || (number && quantity);
    p->mixed_angle = p->mixed_angle || (number && angle);
}

lw_status lwi_formula_dimension(lwi_formula_parser *p, lwi_operation operation, int at, int length,
                                lwi_dimension *result)
{
    static const lwi_dimension angle = {LWI_DIMENSION_KNOWN, {[LWI_BASE_ANGLE] = LWI_POWER}};
    const lwi_dimension *x = &p->dimension[p->stack - lwi_formula_operands(operation)];
    *result = plain;
    note_mixture(p, operation);
    switch (operation) {
    case LWI_FORMULA_ADD:
    case LWI_FORMULA_SUBTRACT:
    case LWI_FORMULA_MIN:
    case LWI_FORMULA_MAX:
        return unite(p, operation, x[0], x[1], at, length, result);
    case LWI_FORMULA_WHERE:
        return unite(p, operation, x[1], x[2], at, length, result);
    case LWI_FORMULA_HYPOT:
        return unite(p, operation, x[0], x[1], at, length, result);
    case LWI_FORMULA_MULTIPLY:
        *result = lwi_dimension_product(x[0], LWI_POWER, x[1], LWI_POWER);
        return LW_OK;
    case LWI_FORMULA_DIVIDE:
        *result = lwi_dimension_product(x[0], LWI_POWER, x[1], -LWI_POWER);
        return LW_OK;
    case LWI_FORMULA_POWER:
        return power_dimension(p, x, at, result);
    case LWI_FORMULA_SQRT:
        *result = lwi_dimension_product(x[0], LWI_POWER / 2, plain, 0);
        return LW_OK;
    case LWI_FORMULA_NEGATE:
    case LWI_FORMULA_ABS:
        *result = x[0];
        return LW_OK;
    case LWI_FORMULA_ATAN2:
        TRY(unite(p, operation, x[0], x[1], at, length, result));
        *result = angle;
        return LW_OK;
    case LWI_FORMULA_STEP:
        TRY(unite(p, operation, x[0], x[1], at, length, result));
        TRY(unite(p, operation, *result, x[2], at, length, result));
        *result = plain;
        return LW_OK;
    case LWI_FORMULA_SIGN:
    case LWI_FORMULA_AND:
    case LWI_FORMULA_OR:
    case LWI_FORMULA_NOT:
        return LW_OK;
    default:
        break;
    }
    if (lwi_formula_operands(operation) == 2) { // comparisons
        TRY(unite(p, operation, x[0], x[1], at, length, result));
        *result = plain;
        return LW_OK;
    }
    TRY(need_pure(p, operation, x[0], at, length));
    if (operation == LWI_FORMULA_ASIN || operation == LWI_FORMULA_ACOS ||
        operation == LWI_FORMULA_ATAN)
        *result = angle;
    return LW_OK;
}
