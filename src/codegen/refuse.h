// refuse.h -- the error of a model that cannot be generated.
#ifndef LWI_CODEGEN_REFUSE_H
#define LWI_CODEGEN_REFUSE_H

#include "model/model.h"

/** "no code can be generated: TEXT", with the model file and the place in it where these are known.
 *  @param place  {0}: unknown
 *  @return LW_ERR_UNSUPPORTED */
lw_status lwi_refuse(const lw_model *model, lw_place place, lw_error *error, const char *format,
                     ...) LW_PRINTF(4, 5);
/** Where the model file has a joint. */
lw_place lwi_joint_place(const lw_model *model, int joint);

#endif
