// linear_mat.c -- a linearised mechanism as a MAT-file of level 5, for MATLAB, Octave and SciPy.
//
// A file is a header of 128 bytes and elements of (type, bytes, data padded to 8).  A variable is an element of type
// miMATRIX with elements for its class, its dimensions, its name and its data: matrices of doubles by columns, lists of
// names as arrays of strings in UTF-16.  Numbers have the byte order of the machine, which the header shows.
#include "analysis/linear.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { INT8 = 1, UINT16 = 4, INT32 = 5, UINT32 = 6, DOUBLE = 9, MATRIX = 14 }; // types of elements
enum { CELL = 1, CHAR = 4, REAL = 6 }; // classes of variables

static uint32_t padded(size_t bytes)
{
    return (uint32_t)(bytes + 7) / 8 * 8;
}

static void put_tag(FILE *file, uint32_t type, size_t bytes)
{
    const uint32_t tag[2] = {type, (uint32_t)bytes};
    fwrite(tag, sizeof tag, 1, file);
}

static void put_element(FILE *file, uint32_t type, const void *data, size_t bytes)
{
    static const char zero[8];
    put_tag(file, type, bytes);
    if (bytes) fwrite(data, 1, bytes, file);
    fwrite(zero, 1, padded(bytes) - bytes, file);
}

// Bytes of the elements before the data.
static size_t head_bytes(const char *name)
{
    return 16 + 16 + 8 + padded(strlen(name));
}

static void put_head(FILE *file, const char *name, uint32_t kind, int rows, int columns,
                     size_t data)
{
    const uint32_t flags[2] = {kind, 0};
    const int32_t size[2] = {rows, columns};
    put_tag(file, MATRIX, head_bytes(name) + data);
    put_element(file, UINT32, flags, sizeof flags);
    put_element(file, INT32, size, sizeof size);
    put_element(file, INT8, name, strlen(name));
}

static void put_matrix(FILE *file, const char *name, int rows, int columns, const double *x)
{
    const size_t bytes = (size_t)rows * (size_t)columns * sizeof *x;
    put_head(file, name, REAL, rows, columns, 8 + bytes);
    put_tag(file, DOUBLE, bytes);
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            fwrite(x + (size_t)i * (size_t)columns + (size_t)j, sizeof *x, 1, file);
}

// One character of UTF-8 as one or two units of UTF-16; bytes that are none become U+FFFD.
static int next_units(const char **at, uint16_t unit[2])
{
    const unsigned char *s = (const unsigned char *)*at;
    const int more = s[0] < 0x80       ? 0
                     : s[0] >> 5 == 6  ? 1
                     : s[0] >> 4 == 14 ? 2
                     : s[0] >> 3 == 30 ? 3
                                       : -1;
    uint32_t c = more <= 0 ? s[0] : s[0] & (0x3fu >> more);
    for (int i = 1; i <= more; i++) {
        if (s[i] >> 6 != 2) {
            (*at)++;
            unit[0] = 0xfffd;
            return 1;
        }
        c = c << 6 | (s[i] & 0x3fu);
    }
    *at += more < 0 ? 1 : more + 1;
    if (more < 0) c = 0xfffd;
    if (c < 0x10000) {
        unit[0] = (uint16_t)c;
        return 1;
    }
    unit[0] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
    unit[1] = (uint16_t)(0xdc00 + ((c - 0x10000) & 0x3ff));
    return 2;
}

static int units_of(const char *text)
{
    uint16_t unit[2];
    int n = 0;
    while (*text) n += next_units(&text, unit);
    return n;
}

static size_t text_bytes(const char *text)
{
    return head_bytes("") + 8 + padded((size_t)units_of(text) * sizeof(uint16_t));
}

static void put_text(FILE *file, const char *text)
{
    const int n = units_of(text);
    const size_t bytes = (size_t)n * sizeof(uint16_t);
    static const char zero[8];
    put_head(file, "", CHAR, n ? 1 : 0, n, 8 + padded(bytes));
    put_tag(file, UINT16, bytes);
    while (*text) {
        uint16_t unit[2];
        const int count = next_units(&text, unit);
        fwrite(unit, sizeof *unit, (size_t)count, file);
    }
    fwrite(zero, 1, padded(bytes) - bytes, file);
}

static void put_names(FILE *file, const char *name, int n, const char *const *text)
{
    size_t bytes = 0;
    for (int i = 0; i < n; i++) bytes += 8 + text_bytes(text[i]);
    put_head(file, name, CELL, n, n ? 1 : 0, bytes);
    for (int i = 0; i < n; i++) put_text(file, text[i]);
}

lw_status lw_linear_write_mat(const lw_linear *linear, FILE *file, lw_error *error)
{
    if (!linear || !file)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "lw_linear_write_mat: a linear system and a file are needed");
    const int f = linear->f, n = linear->n, p = linear->ninput, r = linear->noutput;
    char text[117];
    const uint16_t version[2] = {0x0100, 0x4d49}; // the second shows the byte order
    snprintf(text, sizeof text, "%-116s", "MATLAB 5.0 MAT-file, linear system of Linkwork");
    fwrite(text, 1, 116, file);
    fwrite("\0\0\0\0\0\0\0\0", 1, 8, file);
    fwrite(version, sizeof version, 1, file);
    put_matrix(file, "A", n, n, linear->A);
    put_matrix(file, "B", n, p, linear->B);
    put_matrix(file, "C", r, n, linear->C);
    put_matrix(file, "D", r, p, linear->D);
    put_matrix(file, "mass_matrix", f, f, linear->M);
    put_matrix(file, "accelerations", f, 1, linear->acceleration);
    put_names(file, "states", n, linear->state);
    put_names(file, "inputs", p, linear->input);
    put_names(file, "outputs", r, linear->output);
    return ferror(file) ? lwi_fail(error, LW_ERR_IO, "the MAT-file cannot be written") : LW_OK;
}
