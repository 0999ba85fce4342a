// slope_fields.h -- slopes of parameters that act through masses, inertias and springs of joints alone: by the chain rule.
//
// Problem: variants of a model take time, four for each parameter, however simple its effect is.  Where a file states
// masses, inertias, and springs and dampers of joints by expressions, these fields are what changes the model:
//
//     d(number)/dp = sum over fields of d(number)/d(field) d(field)/dp
//
// The first factor needs four variants of the model for fields of different bodies and joints together, for any number
// of parameters; the second one is a difference of the expressions alone, which are compiled once.  In the end all of these
// parameters are varied together in the file: where its model is another one than that with the same fields, none is taken.
//                                                       Cost: eight variants or more, fields times parameters evaluations.
#ifndef LWI_ANALYSIS_SLOPE_FIELDS_H
#define LWI_ANALYSIS_SLOPE_FIELDS_H

#include "analysis/slope_groups.h"

/** The parameters of a list, and where slopes are tested. */
typedef struct lwi_slopes_listed {
    const lwi_slope_parameter *parameter; ///< [nby]
    const bool *held; ///< [nby] an expression in the file: its value is kept while others vary
    lwi_slope_parameter *varied;         ///< [nby] scratch
    const lwi_parsed_document *document; ///< of the model's file; NULL: none
    lwi_slope_probe probe;
} lwi_slopes_listed;

/** Slopes of parameters of the kind; they need no models.
 *  @param slope  [nby] out, of those that are made
 *  @param made   [nby] out: which */
lw_status lwi_slopes_by_fields(const lwi_slopes_desc *desc, const lwi_slopes_listed *listed,
                               lwi_arena *arena, lwi_slope *slope, bool *made, lw_error *error);

#endif
