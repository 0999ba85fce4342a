// pack.h -- lossless compression of series of numbers.
//
// Numbers of a motion change little from row to row.  Each series (a column, a coordinate of a body) is
// replaced by second differences, u[r] = x[r] - 2 x[r-1] + x[r-2], of the bits as integers modulo 2^bits.
// They are coded as 2u if u >= 0, else -2u - 1.  The first bytes of all codes, then all second bytes, ...
// (the high ones are mostly zero) are deflated (RFC 1951).  Numbers of 8 bytes are not replaced by
// differences.  viewer/src/data.js decodes it.
#ifndef LWI_VIEW_PACK_H
#define LWI_VIEW_PACK_H

#include "view/view.h"

/** Writes base64 of packed numbers.
 *  @param numbers  [rows][series] of `width` bytes: 2, 4 or 8
 *  @param work     [rows * series * width] bytes
 *  @return LW_ERR_MEMORY */
lw_status lwi_view_pack(FILE *file, const void *numbers, size_t rows, size_t series, size_t width,
                        unsigned char *work, lw_error *error);

#endif
