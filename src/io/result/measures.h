// measures.h -- the measures of a model: expressions of columns, evaluated for each row.
#ifndef LWI_IO_RESULT_MEASURES_H
#define LWI_IO_RESULT_MEASURES_H

#include "model/model.h"

#include <linkwork/result.h>

typedef struct lwi_measures lwi_measures;

/** Compares the formulas with the columns of the model.
 *  @return LW_ERR_MODEL with the measure's place: a name that is no column, wrong units; LW_ERR_MEMORY */
lw_status lwi_measures_create(const lw_model *model, lwi_measures **measures, lw_error *error);
void lwi_measures_free(lwi_measures *measures); ///< NULL is allowed

/** The unit of a measure's values: that of the file, else SI, "" if unknown. */
const char *lwi_measure_unit(const lwi_measures *measures, int i);
/** The level of observations from which it follows. */
lw_observe lwi_measure_level(const lwi_measures *measures, int i);

/** @param model  that of the measures, or one that differs from it in numbers
 *  @param value  [measures of the model] out
 *  @return LW_ERR_NOT_FINITE: of a value, or of one of the columns */
lw_status lwi_measures_evaluate(lwi_measures *measures, const lw_model *model,
                                const lw_observation *observation, double *value);

#endif
