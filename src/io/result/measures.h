// measures.h -- the measures of a model: expressions of columns, evaluated for each row.
#ifndef LWI_IO_RESULT_MEASURES_H
#define LWI_IO_RESULT_MEASURES_H

#include "model/model.h"

#include <linkwork/result.h>

/** A name of a column in a formula without its quotes, 'left knee'.q0: left knee.q0.  @return false: it is too long */
bool lwi_column_unquote(char *to, size_t size, const char *name, int length);
/** Of the unit of a column; unknown of "m or rad". */
lwi_dimension lwi_column_dimension(const char *unit);
/** From the unit of a column to SI. */
double lwi_column_factor(const char *unit);
/** The SI unit of a dimension: "N", a pure number "1", unknown "".  @return NULL: no memory */
const char *lwi_dimension_unit(lwi_arena *arena, lwi_dimension dimension);

typedef struct lwi_measures lwi_measures;

/** Compares the formulas with the columns of the model.
 *  @return LW_ERR_MODEL with the measure's place: a name that is no column, wrong units; LW_ERR_MEMORY */
lw_status lwi_measures_create(const lw_model *model, lwi_measures **measures, lw_error *error);
void lwi_measures_free(lwi_measures *measures); ///< NULL is allowed

/** The unit of a measure's values: that of the file, else SI, "" if unknown. */
const char *lwi_measure_unit(const lwi_measures *measures, int i);
/** The level of observations from which it follows. */
lw_observe lwi_measure_level(const lwi_measures *measures, int i);

/** Formulas [measures] of a model that differs from that of the measures in numbers.
 *  @param formulas  out, in the arena; NULL: they have the same numbers
 *  @return LW_ERR_MODEL with the measure's place: one cannot be read; LW_ERR_MEMORY */
lw_status lwi_measures_of_variant(const lwi_measures *measures, const lw_model *variant,
                                  lwi_arena *arena, const lwi_formula **formulas, lw_error *error);
/** @param model  that of the measures, or one that differs from it in numbers
 *  @param formulas  of the model, by lwi_measures_of_variant
 *  @param value  [measures of the model] out
 *  @return LW_ERR_NOT_FINITE: of a value, or of one of the columns */
lw_status lwi_measures_evaluate(lwi_measures *measures, const lw_model *model,
                                const lwi_formula *formulas, const lw_observation *observation,
                                double *value);

/** The statistics so far [n]. */
lw_running *lwi_measures_running(const lw_measures *measures, int *n);

#endif
