// check_reader.h -- what must be true of any text that a reader of models gets.
#ifndef LW_FUZZ_CHECK_READER_H
#define LW_FUZZ_CHECK_READER_H

#include <linkwork/base.h>

#include <stdbool.h>
#include <stddef.h>

/** Reads a text: it is a model that can be written, read and written again with the same content, or it is refused
 *  with a status, a message and the file's name; no memory is left behind.
 *  @param is_read  out: it is a model
 *  @param error    out: why it is none
 *  @return NULL, or what is wrong */
const char *check_reader(const char *text, size_t length, const char *format, bool *is_read,
                         lw_error *error);

#endif
