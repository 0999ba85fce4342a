// text.h -- numbers and names as strings, independent of the locale; they read back to the same value.
#ifndef LWI_IO_TEXT_H
#define LWI_IO_TEXT_H

#include "base/numbers.h"

#include <stdbool.h>
#include <stddef.h>

/** Is the string a number as in JSON: -1, 0.5, 1e-3, but not +1, .5, 1., 0x10, 010, inf? */
bool lwi_text_is_number(const char *text);

enum { LWI_NAME_LENGTH = 255 }; ///< bytes; libyaml ends keys at 1024 characters

/** Why a string cannot be the name of an item, or NULL. */
const char *lwi_text_name_problem(const char *name);

/** Does a text match a pattern with * and ?, each ? one letter of UTF-8? */
bool lwi_text_glob(const char *pattern, const char *text);

/** The next of several patterns with commas between, without the spaces around it; names have spaces.  @return NULL: none
 *  @param rest  first the patterns, which are changed */
char *lwi_text_next_pattern(char **rest);

/** Next code point of a UTF-8 string and its length in bytes; -1: not UTF-8. */
long lwi_text_utf8_next(const char *text, int *bytes);

#endif
