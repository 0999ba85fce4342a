// check_closures.h -- what must be true of any file of loops next to a URDF robot.
#ifndef LW_FUZZ_CHECK_CLOSURES_H
#define LW_FUZZ_CHECK_CLOSURES_H

#include <linkwork/base.h>

#include <stdbool.h>
#include <stddef.h>

/** Reads a robot with the text as its `loop_closures.yaml`: it is a model, or it is refused with a status, a message and
 *  the name of a file; no memory is left behind.  The file is in a temporary folder of the process.
 *  @param is_read  out: it is a model with loops, or other joints, from the text
 *  @param error    out: why it is no model
 *  @return NULL, or what is wrong */
const char *check_closures(const char *text, size_t length, bool *is_read, lw_error *error);

#endif
