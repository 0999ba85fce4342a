// bytes.h -- numbers of binary files, low byte first, and words of text files with their line.
#ifndef LWI_IO_MESH_BYTES_H
#define LWI_IO_MESH_BYTES_H

#include "base/base.h"

#include <stdint.h>
#include <string.h>

static inline uint32_t bytes_u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline float bytes_float(const char *at)
{
    const uint32_t bits = bytes_u32(at);
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** A position in a text; words are between spaces, and stay in their line.  Lines end with LF, CR LF or CR. */
typedef struct lwi_mesh_text {
    const char *at, *end;
    const char *name; ///< of the file, for errors
    int line;
    lw_error *error;
} lwi_mesh_text;

/** The start of a text, behind the byte-order mark of UTF-8 if it has one. */
lwi_mesh_text lwi_mesh_text_of(const char *bytes, size_t length, const char *name, lw_error *error);
/** The next word of this line; NULL: the line ends.  A backslash before a line end continues the line. */
const char *lwi_mesh_word(lwi_mesh_text *text, size_t *length);
/** Goes to the next line; false: the text ends. */
bool lwi_mesh_next_line(lwi_mesh_text *text);
/** Reads finite numbers of this line, or fails with its number. */
lw_status lwi_mesh_numbers(lwi_mesh_text *text, const char *what, int n, float *x);
lw_status lwi_mesh_text_fail(const lwi_mesh_text *text, const char *format, ...) LW_PRINTF(2, 3);
/** Is a word this one, in lower or upper case? */
bool lwi_mesh_is(const char *word, size_t length, const char *text);

#endif
