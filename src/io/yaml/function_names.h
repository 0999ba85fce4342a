// function_names.h -- the names of functions in a written model file.
#ifndef LWI_IO_YAML_FUNCTION_NAMES_H
#define LWI_IO_YAML_FUNCTION_NAMES_H

#include "model/model.h"

/** Names of all functions, [nfunction]; NULL of those that are written where they are used.  A function without a name
 *  gets one if it is used twice, or if sums would be nested deeper than the reader accepts.
 *  @return NULL: no memory */
const char *const *lwi_yaml_function_names(const lwi_description *desc, lwi_arena *arena);

#endif
