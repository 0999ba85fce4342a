// text.h -- numbers and names as text: the same in every locale, and readable again.
#ifndef LWI_IO_TEXT_H
#define LWI_IO_TEXT_H

#include "base/numbers.h"

#include <stdbool.h>
#include <stddef.h>

/** Is the text a number as in JSON: -1, 0.5, 1e-3, but not +1, .5, 1., 0x10, 010, inf? */
bool lwi_is_number(const char *text);

enum { LWI_NAME_LENGTH = 255 }; ///< bytes; libyaml ends keys at 1024 characters

/** What makes a text unfit as the name of an item, or NULL. */
const char *lwi_name_problem(const char *name);

/** Next code point of UTF-8 text and its bytes; -1 where the text is not UTF-8. */
long lwi_utf8_next(const char *text, int *bytes);

#endif
