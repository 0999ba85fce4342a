// wanted.h -- numbers of a run that are differentiated: columns of results, each with a statistic.
//
// "measure.load.max,joint.A.q*.rms,body.b.x": patterns of columns, each may end in a statistic.
#ifndef LWI_ANALYSIS_WANTED_H
#define LWI_ANALYSIS_WANTED_H

#include "base/base.h"

#include <linkwork/analysis.h>

typedef struct lwi_wanted {
    int column; ///< its place among the columns that `patterns` choose
    lw_statistic statistic;
    const char *name; ///< of the column, with ".max" where the pattern has a statistic
} lwi_wanted;

typedef struct lwi_wanted_list {
    const char *patterns; ///< of the columns, without statistics; NULL: the measures
    lw_statistic other;   ///< of patterns without one
    int npattern;         ///< 0: all columns have `other`
    const char **pattern;
    int *statistic; ///< [npattern] -1: none
    int n;
    lwi_wanted *at; ///< [n] by lwi_wanted_choose, in the order of columns
} lwi_wanted_list;

/** Divides patterns into columns and statistics.
 *  @param patterns  NULL: the measures of the model
 *  @return LW_ERR_ARGUMENT: a pattern that matches nothing */
lw_status lwi_wanted_read(const lw_model *model, const char *patterns, lw_statistic other,
                          lwi_arena *arena, lwi_wanted_list *list, lw_error *error);
/** One of them: "load.max" is measure.load with LW_STATISTIC_MAX, unless there is a column with this name.
 *  @param statistic  out; -1: none
 *  @return LW_ERR_ARGUMENT: MEASURE.WORD where the word is no statistic */
lw_status lwi_wanted_parse(const lw_model *model, const char *text, lwi_arena *arena,
                           const char **column, int *statistic, lw_error *error);
/** list->at, of the columns that list->patterns have chosen.
 *  @param name  name of column i, until the next call */
lw_status lwi_wanted_choose(const lw_model *model, int columns,
                            const char *(*name)(const void *user, int i), const void *user,
                            lwi_arena *arena, lwi_wanted_list *list, lw_error *error);

#endif
