// numbers.c -- numbers as text.
#include "base/numbers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lwi_numbers_begin(lwi_numbers *numbers)
{
    numbers->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (numbers->plain == (locale_t)0) return false;
    numbers->before = uselocale(numbers->plain);
    return true;
}

void lwi_numbers_end(lwi_numbers *numbers)
{
    uselocale(numbers->before);
    freelocale(numbers->plain);
}

bool lwi_number_underflows(const char *text, double value)
{
    if (value != 0) return false;
    text += strspn(text, "+-0.");
    return *text >= '1' && *text <= '9';
}

bool lwi_number_read(const char *text, double *value)
{
    lwi_numbers numbers;
    char *end;
    if (!*text || text[strspn(text, "0123456789+-.eE")] || !lwi_numbers_begin(&numbers))
        return false;
    const double number = strtod(text, &end);
    lwi_numbers_end(&numbers);
    if (*end || !isfinite(number) || lwi_number_underflows(text, number)) return false;
    *value = number;
    return true;
}

static const char *skip_digits(const char *p)
{
    while (*p >= '0' && *p <= '9') p++;
    return p;
}

// number = [-] (0 | 1-9 digits) [. digits] [(e | E) [+ | -] digits]                     (RFC 8259,
// 6)
const char *lwi_number_end(const char *text)
{
    const char *p = text + (*text == '-');
    const char *end = *p == '0' ? p + 1 : skip_digits(p);
    if (end == p) return NULL;
    if (*end == '.') {
        p = end + 1;
        end = skip_digits(p);
        if (end == p) return NULL;
    }
    if (*end == 'e' || *end == 'E') {
        p = end + 1;
        p += *p == '+' || *p == '-';
        end = skip_digits(p);
        if (end == p) return NULL;
    }
    return end;
}

// The exponent behind an e; of a long one its first digits that are not zero.
static int exponent_of(const char *p)
{
    enum { LARGE = 100000000 };
    const bool negative = *p == '-';
    int k = 0;
    if (*p == '-' || *p == '+') p++;
    for (; k < LARGE && *p >= '0' && *p <= '9'; p++) k = 10 * k + (*p - '0');
    return negative ? -k : k;
}

// Appends the digits at p to w; returns their end.
static inline const char *take_digits(const char *p, uint64_t *w)
{
    uint64_t sum = *w;
    for (; (unsigned char)(*p - '0') <= 9; p++) sum = 10 * sum + (unsigned char)(*p - '0');
    *w = sum;
    return p;
}

static const char *skip_zeros(const char *p)
{
    while (*p == '0') p++;
    return p;
}

double lwi_number_value(const char *text)
{
    enum { DIGITS = 19 }; // of 64 bits
    const char *first = skip_zeros(text + (*text == '-'));
    uint64_t w = 0;
    const char *p = take_digits(first, &w);
    long digits = p - first;
    int k = 0;
    double value;
    if (*p == '.') {
        const char *point = ++p;
        if (digits == 0) p = skip_zeros(p);
        first = p;
        p = take_digits(p, &w);
        digits += p - first;
        k = (int)(point - p);
    }
    if (*p == 'e' || *p == 'E') k += exponent_of(p + 1);
    if (digits > DIGITS || !lwi_number_of_digits(w, k, &value)) return strtod(text, NULL);
    return *text == '-' ? -value : value;
}

void lwi_number_write(double value, char *text, size_t size)
{
    char shortest[LWI_NUMBER_ROOM] = "nan";
    lwi_numbers numbers;
    if (lwi_numbers_begin(&numbers)) {
        *lwi_number_put_shortest(shortest, value) = 0;
        lwi_numbers_end(&numbers);
    }
    snprintf(text, size, "%s", shortest);
}

void lwi_number_print(FILE *file, double value)
{
    char text[LWI_NUMBER_ROOM];
    const char *const end = lwi_number_put_shortest(text, value);
    fwrite(text, 1, (size_t)(end - text), file);
}

// n numbers with commas between and nothing behind; a plain locale is set.
static bool read_list(const char *text, double *values, int n)
{
    const char *blank = " \t";
    for (int i = 0; i < n; i++) {
        text += strspn(text, blank);
        const char *end = lwi_number_end(text);
        if (!end) return false;
        values[i] = strtod(text, NULL);
        if (!isfinite(values[i]) || lwi_number_underflows(text, values[i])) return false;
        text = end + strspn(end, blank);
        if (i + 1 < n && *text++ != ',') return false;
    }
    return *text == 0;
}

bool lwi_numbers_read(const char *text, double *values, int n)
{
    double read[8];
    lwi_numbers numbers;
    if (n < 1 || n > 8 || !lwi_numbers_begin(&numbers)) return false;
    const bool ok = read_list(text, read, n);
    lwi_numbers_end(&numbers);
    if (ok) memcpy(values, read, (size_t)n * sizeof *values);
    return ok;
}
