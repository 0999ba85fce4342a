// curve.h -- curves through points as values.
#ifndef LWI_CODEGEN_CURVE_H
#define LWI_CODEGEN_CURVE_H

#include "codegen/algebra.h"
#include "model/signals/table.h"

/** Most points of a curve: the code has a comparison for each. */
enum { LWI_CURVE_POINTS = 256 };

/** The value of a curve at x. */
val lwi_curve_of(lwi_codegen_graph *g, const lwi_table *curve, val x);

#endif
