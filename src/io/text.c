// text.c -- numbers and names as strings.
#include "io/text.h"

#include <string.h>

bool lwi_text_is_number(const char *text)
{
    const char *end = lwi_number_end(text);
    return end && *end == 0;
}

// Shortest forms only, no surrogates, at most 0x10FFFF.  (RFC 3629, section 4)
long lwi_text_utf8_next(const char *text, int *bytes)
{
    static const long smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *p = (const unsigned char *)text;
    const int n = p[0] < 0x80       ? 1
                  : p[0] >> 5 == 6  ? 2
                  : p[0] >> 4 == 14 ? 3
                  : p[0] >> 3 == 30 ? 4
                                    : 0;
    if (n == 0) return -1;
    long code = n == 1 ? p[0] : p[0] & (0xFF >> (n + 1));
    for (int i = 1; i < n; i++) {
        if (p[i] >> 6 != 2) return -1;
        code = code << 6 | (p[i] & 0x3F);
    }
    if (code < smallest[n] || (code >= 0xD800 && code <= 0xDFFF) || code > 0x10FFFF) return -1;
    *bytes = n;
    return code;
}

const char *lwi_text_name_problem(const char *name)
{
    if (!*name) return "is empty";
    if (strnlen(name, LWI_NAME_LENGTH + 1) > LWI_NAME_LENGTH) return "is longer than 255 bytes";
    for (int bytes; *name; name += bytes) {
        const long code = lwi_text_utf8_next(name, &bytes);
        if (code < 0) return "is not UTF-8";
        if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return "contains a control character";
    }
    return NULL;
}

bool lwi_text_glob(const char *pattern, const char *text)
{
    const char *star = NULL, *from = NULL; // the last '*', and the end of its match so far
    while (*text) {
        if (*pattern == '*') {
            star = pattern++, from = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++, text++;
            while (pattern[-1] == '?' && (*text & 0xC0) == 0x80) text++; // rest of a UTF-8 letter
        } else if (star) {
            pattern = star + 1, text = ++from;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return !*pattern;
}

char *lwi_text_next_pattern(char **rest)
{
    while (*rest) {
        char *pattern = *rest;
        *rest = strchr(pattern, ',');
        if (*rest) *(*rest)++ = 0;
        while (*pattern == ' ') pattern++;
        char *end = pattern + strlen(pattern);
        while (end > pattern && end[-1] == ' ') *--end = 0;
        if (*pattern) return pattern;
    }
    return NULL;
}
