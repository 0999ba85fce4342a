// check_formula.h -- what must be true of any text of a formula.
#ifndef LW_FUZZ_CHECK_FORMULA_H
#define LW_FUZZ_CHECK_FORMULA_H

/** A text is a program or a mistake with a place.  A program keeps to its stack, its derivatives have its value, and
 *  written out again from its operations, every one in parentheses, it computes the same bits.
 *  @param count  mistakes and programs, one is counted
 *  @return 0, or 1 after a line on stderr */
int check_formula(const char *text, long count[2]);

#endif
