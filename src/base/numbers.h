// numbers.h -- numbers as text, the same in every locale.
#ifndef LWI_NUMBERS_H
#define LWI_NUMBERS_H

#include <locale.h>
#include <stdbool.h>

/** Numbers of this thread are read and written with a decimal point until lwi_numbers_end. */
typedef struct lwi_numbers {
    locale_t plain, before;
} lwi_numbers;
bool lwi_numbers_begin(lwi_numbers *numbers); ///< false: no memory
void lwi_numbers_end(lwi_numbers *numbers);

/** Where the number that the text begins with ends, written as in JSON: -1, 0.5, 1e-3, but not +1,
 *  .5, 1., 0x10, 010, inf; NULL where there is none. */
const char *lwi_number_end(const char *text);

#endif
