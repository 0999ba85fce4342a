// closing.h -- angles of joints that close loops, which runs integrate to count their revolutions.
#ifndef LWI_CODEGEN_CLOSING_H
#define LWI_CODEGEN_CLOSING_H

#include "model/model.h"

/** How many there are; -1: one has a rate that is not generated, as those of universal joints. */
int lwi_closing_angles(const lw_model *model);

#endif
