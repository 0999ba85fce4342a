// write.h -- the two forms in which a model is written as a native file.
#ifndef LWI_IO_YAML_WRITE_H
#define LWI_IO_YAML_WRITE_H

#include "model/model.h"

#include <linkwork/io.h>

/** Writes a model.
 *  @param flat  of a model of several files.  true: its items as numbers, without parameters; false: as its files state it,
 *               with included files as `subsystems`
 *  @return LW_ERR_UNSUPPORTED, LW_ERR_MEMORY, LW_ERR_IO */
lw_status lwi_yaml_write(const lw_model *model, bool flat, const lw_options *options, FILE *file,
                         lw_error *error);

#endif
