// same_model.h -- are two models the same, bit for bit?
#ifndef LWT_SAME_MODEL_H
#define LWT_SAME_MODEL_H

#include <linkwork/linkwork.h>

/** Compares every name and every bit of every number of two descriptions, functions by what they
 *  are (their order and the names of nameless ones may differ).
 *  @param why  what differs first, when something does
 *  @return nonzero when they are the same */
int lwt_same_model(const lw_model *a, const lw_model *b, char why[160]);

/** The native file of a model; free it. */
char *lwt_written(const lw_model *model, const lw_options *options, size_t *length);

#endif
