// formula_error.c -- mistakes in formulas: the message, the text around the mistake, and a mark under it.
#include "model/signals/formula.h"

#include "base/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXCERPT = 60 }; // characters of the text shown around a mistake

static bool starts_character(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

// Characters in the first n bytes.
static int count_characters(const char *text, int n)
{
    int count = 0;
    for (int i = 0; i < n; i++) count += starts_character(text[i]);
    return count;
}

// The text around `at` on one line, and below it a mark under what is wrong.
static void excerpt(char *room, size_t size, const char *text, int at, int length)
{
    const int end = (int)strlen(text);
    int first = at > EXCERPT / 2 ? at - EXCERPT / 2 : 0;
    while (first > 0 && !starts_character(text[first])) first--;
    int last = end - first > EXCERPT ? first + EXCERPT : end;
    while (last < end && !starts_character(text[last])) last++;
    if (at + length > last) length = last - at;
    if (length < 1) length = 1;
    const int before = count_characters(text + first, at - first);
    const int marked = at < end ? count_characters(text + at, length) : 1;
    const int used =
        snprintf(room, size, "\n    %.*s\n    %*s", last - first, text + first, before, "");
    if (used < 0 || (size_t)used >= size) return;
    for (char *c = room + 1; c < room + 5 + last - first; c++)
        if ((unsigned char)*c < ' ') *c = ' ';
    for (size_t i = (size_t)used; i + 1 < size && i < (size_t)used + (size_t)marked; i++)
        room[i] = '^', room[i + 1] = 0;
}

lw_status lwi_formula_fail(const char *text, int at, int length, lw_error *error,
                           const char *format, ...)
{
    char message[256], place[4 * EXCERPT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    excerpt(place, sizeof place, text, at, length);
    return lwi_fail(error, LW_ERR_MODEL, "%s (character %d)%s", message,
                    count_characters(text, at) + 1, place);
}
