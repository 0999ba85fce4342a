// numbers.c -- numbers as text.
#include "base/numbers.h"

#include <stddef.h>

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
