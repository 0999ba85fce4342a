// pack.c -- series of numbers as differences, planes of bytes, deflated, base64: see pack.h.
#include "view/pack.h"

#include "base/assert.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <zlib.h>

// The bits of a number, low byte first.
static uint32_t bits_of(const unsigned char *x, size_t width)
{
    uint16_t narrow;
    uint32_t wide;
    if (width == sizeof narrow) {
        memcpy(&narrow, x, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, x, sizeof wide);
    return wide;
}

// Codes of the second differences of a series, one byte into each plane.
static void put_series(const unsigned char *x, size_t rows, size_t stride, size_t width,
                       unsigned char *planes, size_t plane)
{
    const int sign = (int)(CHAR_BIT * width - 1);
    uint32_t before = 0, step = 0;
    for (size_t r = 0; r < rows; r++) {
        const uint32_t bits = bits_of(x + r * stride, width), change = bits - before;
        const uint32_t u = change - step;
        const uint32_t negative = u >> sign & 1 ? UINT32_MAX : 0;
        const uint32_t code = u << 1 ^ negative;
        for (size_t k = 0; k < width; k++)
            planes[k * plane + r] = (unsigned char)(code >> (CHAR_BIT * k));
        before = bits;
        step = change;
    }
}

// Numbers of 8 bytes: no differences.
static void put_double(const unsigned char *x, size_t rows, size_t stride, unsigned char *planes,
                       size_t plane)
{
    for (size_t r = 0; r < rows; r++) {
        uint64_t bits;
        memcpy(&bits, x + r * stride, sizeof bits);
        for (size_t k = 0; k < sizeof bits; k++)
            planes[k * plane + r] = (unsigned char)(bits >> (CHAR_BIT * k));
    }
}

static lw_status deflate_all(FILE *file, unsigned char *bytes, size_t size, lw_error *error)
{
    // raw, the largest window; level 2 takes 50 % longer and saves 2 %
    enum { LEVEL = 1, RAW = -15, MEMORY = 8, PIECE = 1 << 30 };
    unsigned char out[16384];
    lwi_view_base64 b = {.file = file};
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, RAW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory to compress a page");
    int state = Z_OK;
    z.next_in = bytes;
    while (state != Z_STREAM_END) {
        if (z.avail_in == 0) {
            z.avail_in = (uInt)(size < PIECE ? size : PIECE);
            size -= z.avail_in;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        state = deflate(&z, size ? Z_NO_FLUSH : Z_FINISH);
        lwi_view_base64_put(&b, out, sizeof out - z.avail_out);
    }
    deflateEnd(&z);
    lwi_view_base64_end(&b);
    return LW_OK;
}

lw_status lwi_view_pack(FILE *file, const void *numbers, size_t rows, size_t series, size_t width,
                        unsigned char *work, lw_error *error)
{
    const unsigned char *x = numbers;
    const size_t plane = rows * series, stride = series * width;
    LWI_ASSERT(width == 2 || width == 4 || width == 8);
    for (size_t s = 0; s < series; s++) {
        if (width == sizeof(double))
            put_double(x + s * width, rows, stride, work + s * rows, plane);
        else
            put_series(x + s * width, rows, stride, width, work + s * rows, plane);
    }
    return deflate_all(file, work, plane * width, error);
}
