// pack.h -- series of numbers made small, so that a page is written and read quickly.
//
// Numbers of a motion change little from row to row.  Each series (a column, a coordinate of a body) is
// written as its second differences: u[r] = x[r] - 2 x[r-1] + x[r-2] of the numbers' bits as integers,
// modulo 2^bits, small ones of either sign by small codes (2u, -2u - 1).  Then come the first bytes of all
// numbers, all second bytes, ... (the high ones are mostly zero), deflated (RFC 1951).  Nothing is lost.
// Numbers of 8 bytes are taken as they are, byte by byte.  viewer/src/data.js reads it.
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
