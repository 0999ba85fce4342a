// numbers.h -- numbers as text, the same in every locale.
#ifndef LWI_BASE_NUMBERS_H
#define LWI_BASE_NUMBERS_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Numbers of this thread are read and written with a decimal point until lwi_numbers_end. */
typedef struct lwi_numbers {
    locale_t plain, before;
} lwi_numbers;
bool lwi_numbers_begin(lwi_numbers *numbers); ///< false: no memory
void lwi_numbers_end(lwi_numbers *numbers);

/** The end of the number at the start of the text, written as in JSON: -1, 0.5, 1e-3, but not +1,
 *  .5, 1., 0x10, 010, inf; NULL if there is none. */
const char *lwi_number_end(const char *text);

/** The double nearest to w 10^k.  @return false: left to `strtod` */
bool lwi_number_of_digits(uint64_t w, int k, double *value);
/** The number at the start of the text, which lwi_number_end has found; the same bits as `strtod` in the C locale
 *  (lwi_numbers_begin), in fewer instructions. */
double lwi_number_value(const char *text);

/** Whether the number at the start of the text, which lwi_number_end has found, has a digit that is not 0 although its
 *  value is 0: it is too small for a double. */
bool lwi_number_underflows(const char *text, double value);

/** A decimal number and nothing else, also in the forms +1 and .5, in any locale; *value is unchanged
 *  if it is none, not finite, or too small. */
bool lwi_number_read(const char *text, double *value);

/** The shortest decimal text that reads back to the same number, with a decimal point in every locale. */
void lwi_number_write(double value, char *text, size_t size);

enum { LWI_NUMBER_DIGITS = 24, LWI_NUMBER_ROOM = 48 };
/** Writes the at most LWI_NUMBER_DIGITS characters of "%.17g" in the C locale, without an end; behind them the rest of
 *  the room may be overwritten.  @return how many; 0: left to `printf`: zero, not finite, too close to a tie */
int lwi_number_digits(double value, char text[LWI_NUMBER_ROOM]);

/** A number with the fewest digits that read back to the same bits, in the C locale (lwi_numbers_begin), without an end: 0.1
 *  where "%.17g" is 0.10000000000000001.  Subnormal numbers have at least those of "%.15g", 4.94065645841247e-324.  The rest
 *  of the room may be overwritten.  @return behind the last character */
char *lwi_number_put_shortest(char text[LWI_NUMBER_ROOM], double value);
void lwi_number_print(FILE *file, double value); ///< the same characters, into a file
/** The characters of "%.17g" of n numbers, each with a comma behind it, as many as fit into `room` bytes, more than
 *  LWI_NUMBER_ROOM.
 *  @param end  behind the last comma     @return how many */
int lwi_numbers_put(const double *value, int n, char *text, size_t room, char **end);
/** Writes a number >= 0, at most eleven bytes, without a zero byte.  @return its end */
char *lwi_integer_put(char *text, int number);

/** The n numbers of a text such as "10, 0.5", at most 8; false, with *values unchanged, for anything
 *  else. */
bool lwi_numbers_read(const char *text, double *values, int n);

#endif
