// closing.h -- angles of joints that close loops, which runs integrate to count their revolutions.
#ifndef LWI_CODEGEN_CLOSING_H
#define LWI_CODEGEN_CLOSING_H

#include "model/model.h"

/** How many there are, of a model that is generated: all have rates. */
int lwi_closing_angles(const lw_model *model);

#endif
