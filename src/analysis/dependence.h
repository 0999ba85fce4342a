// dependence.h -- which of some parameters the expressions of a model file depend on.
#ifndef LWI_ANALYSIS_DEPENDENCE_H
#define LWI_ANALYSIS_DEPENDENCE_H

#include "model/statements.h"

/** Of every parameter of the file: the parameters of a list that it depends on. */
typedef struct lwi_dependence {
    const lwi_statements *stated;
    int nby;
    bool *on; ///< [stated->nparameter][nby]
} lwi_dependence;

/** Parameters of the list are independent of each other, also where the file states one by another.
 *  @param by  [nby] names
 *  @return LW_ERR_MEMORY */
lw_status lwi_dependence_create(const lwi_statements *stated, const char *const *by, int nby,
                                lwi_arena *arena, lwi_dependence *dependence);
/** to [nby] |= what a text (NULL: none) depends on.  @return whether `to` has changed */
bool lwi_dependence_add(const lwi_dependence *dependence, const char *text, bool *to);
/** Index of a parameter by the first `length` letters of a word; -1: there is none. */
int lwi_dependence_find(const lwi_statements *stated, const char *word, int length);
/** Does the file state the parameter by an expression of names, not by a number with or without a unit? */
bool lwi_dependence_is_expression(const lwi_named_statement *parameter);

#endif
