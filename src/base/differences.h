// differences.h -- weights of central differences.
#ifndef LWI_BASE_DIFFERENCES_H
#define LWI_BASE_DIFFERENCES_H

/** f'(x) = sum over k of weight[k] (f(x + (k + 1) h) - f(x - (k + 1) h)) / h, with an error of order h^6. */
enum { LWI_DIFFERENCE_SIDES = 3 };
static const double lwi_difference_weight[LWI_DIFFERENCE_SIDES] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
/** The same with an error of order h^4, from the same values. */
static const double lwi_difference_fourth[LWI_DIFFERENCE_SIDES] = {8.0 / 12, -1.0 / 12, 0};

#endif
