// units.c -- the table of units, their products, names of dimensions.
#include "model/signals/units.h"

#include "base/assert.h"
#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// -------------------------------------------------------------------------------------- the tables

typedef struct row {
    const char *name;
    bool prefixed; // takes a prefix
    int ten;
    double times, per;
    signed char power[LWI_BASE_UNITS]; // m kg s rad A K
} row;

#define PI 3.14159265358979323846
static const row rows[] = {
    {"m", true, 0, 1, 1, {1, 0, 0, 0, 0, 0}},
    {"g", true, -3, 1, 1, {0, 1, 0, 0, 0, 0}},
    {"s", true, 0, 1, 1, {0, 0, 1, 0, 0, 0}},
    {"rad", true, 0, 1, 1, {0, 0, 0, 1, 0, 0}},
    {"A", true, 0, 1, 1, {0, 0, 0, 0, 1, 0}},
    {"K", true, 0, 1, 1, {0, 0, 0, 0, 0, 1}},
    {"cm", false, -2, 1, 1, {1, 0, 0, 0, 0, 0}},
    {"dm", false, -1, 1, 1, {1, 0, 0, 0, 0, 0}},
    {"inch", false, -4, 254, 1, {1, 0, 0, 0, 0, 0}},
    {"ft", false, -4, 3048, 1, {1, 0, 0, 0, 0, 0}},
    {"lb", false, -8, 45359237, 1, {0, 1, 0, 0, 0, 0}},
    {"tonne", false, 3, 1, 1, {0, 1, 0, 0, 0, 0}},
    {"min", false, 0, 60, 1, {0, 0, 1, 0, 0, 0}},
    {"h", false, 0, 3600, 1, {0, 0, 1, 0, 0, 0}},
    {"deg", false, 0, PI / 180, 1, {0, 0, 0, 1, 0, 0}},
    {"\xC2\xB0", false, 0, PI / 180, 1, {0, 0, 0, 1, 0, 0}}, // degree sign
    {"rev", false, 0, 2 * PI, 1, {0, 0, 0, 1, 0, 0}},
    {"turn", false, 0, 2 * PI, 1, {0, 0, 0, 1, 0, 0}},
    {"rpm", false, 0, PI / 30, 1, {0, 0, -1, 1, 0, 0}},
    {"Hz", true, 0, 1, 1, {0, 0, -1, 0, 0, 0}},
    {"N", true, 0, 1, 1, {1, 1, -2, 0, 0, 0}},
    {"Nm", true, 0, 1, 1, {2, 1, -2, 0, 0, 0}},
    {"J", true, 0, 1, 1, {2, 1, -2, 0, 0, 0}},
    {"W", true, 0, 1, 1, {2, 1, -3, 0, 0, 0}},
    {"Pa", true, 0, 1, 1, {-1, 1, -2, 0, 0, 0}},
    {"bar", true, 5, 1, 1, {-1, 1, -2, 0, 0, 0}},
    {"lbf", false, -13, 44482216152605, 1, {1, 1, -2, 0, 0, 0}},
    {"V", true, 0, 1, 1, {2, 1, -3, 0, -1, 0}},
    {"ohm", true, 0, 1, 1, {2, 1, -3, 0, -2, 0}},
};

static const struct {
    const char *text;
    int ten;
} prefixes[] = {{"n", -9}, {"u", -6}, {"\xC2\xB5", -6}, {"\xCE\xBC", -6},
                {"m", -3}, {"k", 3},  {"M", 6},         {"G", 9}};

// Dimensions with a name, and the unit in which they are stated.
static const struct {
    const char *name, *unit;
} named[] = {
    {"a pure number", ""},
    {"a length", "m"},
    {"a mass", "kg"},
    {"a time", "s"},
    {"an angle", "rad"},
    {"an electric current", "A"},
    {"a temperature", "K"},
    {"an angular speed", "rad/s"},
    {"a frequency", "Hz"},
    {"an angular acceleration", "rad/s^2"},
    {"a speed", "m/s"},
    {"an acceleration", "m/s^2"},
    {"a force", "N"},
    {"a torque or an energy", "N m"},
    {"a power", "W"},
    {"a stiffness", "N/m"},
    {"a rotational stiffness", "N m/rad"},
    {"a damping coefficient", "N s/m"},
    {"a rotational damping coefficient", "N m s/rad"},
    {"an impulse", "N s"},
    {"an angular impulse", "N m s"},
    {"a moment of inertia", "kg m^2"},
    {"a density", "kg/m^3"},
    {"a pressure", "Pa"},
    {"an area", "m^2"},
    {"a volume", "m^3"},
    {"a voltage", "V"},
};

// ------------------------------------------------------------------------------------------- units

static void from_row(const row *r, int ten, lwi_unit *unit)
{
    *unit = (lwi_unit){.ten = r->ten + ten, .times = r->times, .per = r->per};
    unit->dimension.kind = LWI_DIMENSION_KNOWN;
    for (int i = 0; i < LWI_BASE_UNITS; i++)
        unit->dimension.power[i] = (short)(r->power[i] * LWI_POWER);
}

static const row *find_row(const char *name, int length)
{
    for (int i = 0; i < LWI_COUNT(rows); i++)
        if (rows[i].name[0] == name[0] && (int)strlen(rows[i].name) == length &&
            !memcmp(rows[i].name, name, (size_t)length))
            return &rows[i];
    return NULL;
}

bool lwi_unit_find(const char *name, int length, lwi_unit *unit)
{
    const row *r = find_row(name, length);
    if (r) {
        from_row(r, 0, unit);
        return true;
    }
    for (int i = 0; i < LWI_COUNT(prefixes); i++) {
        if (prefixes[i].text[0] != name[0]) continue;
        const int n = (int)strlen(prefixes[i].text);
        if (n >= length || memcmp(name, prefixes[i].text, (size_t)n) != 0) continue;
        r = find_row(name + n, length - n);
        if (!r || !r->prefixed) continue;
        from_row(r, prefixes[i].ten, unit);
        return true;
    }
    return false;
}

bool lwi_unit_multiply(lwi_unit *unit, const lwi_unit *other, int power)
{
    enum { HIGHEST = 9 };
    if (power < -HIGHEST || power > HIGHEST) return false;
    for (int i = 0; i < LWI_BASE_UNITS; i++) {
        const int p = unit->dimension.power[i] + power * other->dimension.power[i];
        if (abs(p) > 4 * HIGHEST * LWI_POWER) return false;
        unit->dimension.power[i] = (short)p;
    }
    unit->ten += power * other->ten;
    for (int i = 0; i < abs(power); i++) {
        unit->times *= power > 0 ? other->times : other->per;
        unit->per *= power > 0 ? other->per : other->times;
    }
    return true;
}

// "^-2" at `at`, or nothing: 1.
static bool read_power(const char *text, int length, int *at, int *power)
{
    *power = 1;
    if (*at >= length || text[*at] != '^') return true;
    int k = *at + 1;
    const int sign = k < length && text[k] == '-' ? -1 : 1;
    k += sign < 0;
    if (k >= length || text[k] < '1' || text[k] > '9') return false;
    *power = sign * (text[k] - '0');
    *at = k + 1;
    return true;
}

bool lwi_unit_read(const char *text, int length, lwi_unit *unit)
{
    int at = 0, sign = 1;
    *unit = (lwi_unit){.times = 1, .per = 1, .dimension.kind = LWI_DIMENSION_KNOWN};
    if (length == 1 && *text == '1') return true;
    if (length > 2 && text[0] == '1' && text[1] == '/') at = 2, sign = -1;
    while (at < length) {
        lwi_unit factor;
        int n = 0, power;
        while (at + n < length && !strchr(" */^[](),;:<>=0123456789", text[at + n])) n++;
        if (n == 0 || !lwi_unit_find(text + at, n, &factor)) return false;
        at += n;
        if (!read_power(text, length, &at, &power) ||
            !lwi_unit_multiply(unit, &factor, sign * power))
            return false;
        if (at == length) return true;
        if (!strchr(" */", text[at]) || at + 1 == length) return false;
        if (text[at] == ' ' && sign < 0) return false; // N/m s: of which part is s?
        sign = text[at++] == '/' ? -1 : 1;
    }
    return length > 0;
}

const char *const *lwi_unit_names(int *count)
{
    static const char *const names[] = {
        "rpm", "deg", "mm", "kg",   "Hz",   "kN", "Nm",    "rad", "ms",  "min", "rev",
        "cm",  "km",  "MN", "kNm",  "kJ",   "kW", "kPa",   "MPa", "GPa", "bar", "ohm",
        "um",  "ft",  "lb", "lbf",  "Pa",   "m",  "g",     "s",   "N",   "J",   "W",
        "V",   "A",   "K",  "inch", "turn", "h",  "tonne", "mrad"};
    *count = LWI_COUNT(names);
    return names;
}

double lwi_unit_value(const char *number, int length, const lwi_unit *unit)
{
    char text[400];
    if (unit->ten == 0) return lwi_number_value(number) * unit->times / unit->per;
    const char *mark = memchr(number, 'e', (size_t)length);
    if (!mark) mark = memchr(number, 'E', (size_t)length);
    const int digits = mark ? (int)(mark - number) : length;
    long ten = mark ? strtol(mark + 1, NULL, 10) : 0;
    double value;
    if (digits < (int)sizeof text - 24 && labs(ten) < 100000) {
        ten += unit->ten;
        snprintf(text, sizeof text, "%.*se%ld", digits, number, ten);
        value = strtod(text, NULL);
    } else {
        value = strtod(number, NULL) * pow(10, unit->ten);
    }
    return value * unit->times / unit->per;
}

// -------------------------------------------------------------------------------------- dimensions

bool lwi_dimension_is_frequency(lwi_dimension dimension)
{
    static const lwi_dimension frequency = {LWI_DIMENSION_KNOWN, {[LWI_BASE_TIME] = -LWI_POWER}};
    return dimension.kind == LWI_DIMENSION_KNOWN && lwi_dimension_same(dimension, frequency);
}

bool lwi_dimension_same(lwi_dimension a, lwi_dimension b)
{
    return memcmp(a.power, b.power, sizeof a.power) == 0;
}

bool lwi_dimension_fits(lwi_dimension a, lwi_dimension b)
{
    if (a.kind != LWI_DIMENSION_KNOWN || b.kind != LWI_DIMENSION_KNOWN) return true;
    a.power[LWI_BASE_ANGLE] = b.power[LWI_BASE_ANGLE] = 0;
    return lwi_dimension_same(a, b);
}

lwi_dimension lwi_dimension_product(lwi_dimension a, int p, lwi_dimension b, int r)
{
    enum { HIGHEST = 100 * LWI_POWER };
    lwi_dimension product = {.kind = a.kind > b.kind ? a.kind : b.kind};
    if (a.kind == LWI_DIMENSION_UNKNOWN || b.kind == LWI_DIMENSION_UNKNOWN)
        product.kind = LWI_DIMENSION_UNKNOWN;
    if (product.kind != LWI_DIMENSION_KNOWN) return product;
    for (int i = 0; i < LWI_BASE_UNITS; i++) {
        const int power = a.power[i] * p + b.power[i] * r;
        if (power % LWI_POWER || abs(power / LWI_POWER) > HIGHEST)
            return (lwi_dimension){.kind = LWI_DIMENSION_UNKNOWN};
        product.power[i] = (short)(power / LWI_POWER);
    }
    return product;
}

// "m^2 kg/s" of the base units.
static void compose(lwi_dimension d, char *text, size_t size)
{
    static const char *const base[LWI_BASE_UNITS] = {"m", "kg", "s", "rad", "A", "K"};
    size_t used = 0;
    text[0] = 0;
    for (int sign = 1; sign >= -1; sign -= 2)
        for (int i = 0; i < LWI_BASE_UNITS; i++) {
            const int p = sign * d.power[i];
            if (p <= 0 || used >= size) continue;
            const char *before = sign < 0 ? (used ? "/" : "1/") : used ? " " : "";
            used += (size_t)snprintf(text + used, size - used, "%s%s", before, base[i]);
            if (p != LWI_POWER && used < size)
                used += (size_t)snprintf(text + used, size - used, "^%g", p / (double)LWI_POWER);
        }
}

const char *lwi_dimension_text(lwi_dimension dimension, char *text, size_t size)
{
    char unit[96];
    if (dimension.kind != LWI_DIMENSION_KNOWN) {
        snprintf(text, size, "%s",
                 dimension.kind == LWI_DIMENSION_NONE ? "a number without a unit"
                                                      : "a number of an unknown unit");
        return text;
    }
    for (int i = 0; i < LWI_COUNT(named); i++) {
        lwi_unit u = {.dimension.kind = LWI_DIMENSION_KNOWN};
        if (*named[i].unit && !lwi_unit_read(named[i].unit, (int)strlen(named[i].unit), &u))
            continue;
        if (!lwi_dimension_same(u.dimension, dimension)) continue;
        snprintf(text, size, "%s%s%s%s", named[i].name, *named[i].unit ? " [" : "", named[i].unit,
                 *named[i].unit ? "]" : "");
        return text;
    }
    compose(dimension, unit, sizeof unit);
    snprintf(text, size, "[%s]", unit);
    return text;
}
