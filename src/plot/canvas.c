// canvas.c -- colours, dashes and the bytes of a file, for every kind of canvas.
#include "plot/canvas.h"

#include "base/assert.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

lwi_plot_colour lwi_plot_rgb(unsigned rgb)
{
    return (lwi_plot_colour){(rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                             (rgb & 255) / 255.0, 1};
}

lwi_plot_colour lwi_plot_faded(lwi_plot_colour colour, double alpha)
{
    colour.a = alpha;
    return colour;
}

lwi_plot_colour lwi_plot_mix(lwi_plot_colour a, lwi_plot_colour b, double at)
{
    return (lwi_plot_colour){a.r + at * (b.r - a.r), a.g + at * (b.g - a.g), a.b + at * (b.b - a.b),
                             a.a + at * (b.a - a.a)};
}

int lwi_plot_dash_lengths(lwi_plot_dash dash, double lengths[4])
{
    static const double dashes[LWI_PLOT_DASHES][4] = {[LWI_PLOT_DASHED] = {4, 2.5},
                                                      [LWI_PLOT_DOTTED] = {1.2, 2},
                                                      [LWI_PLOT_DASH_DOT] = {5, 2, 1.2, 2}};
    LWI_ASSERT_INDEX((int)dash, LWI_PLOT_DASHES);
    memcpy(lengths, dashes[dash], sizeof dashes[dash]);
    return dash == LWI_PLOT_SOLID ? 0 : dash == LWI_PLOT_DASH_DOT ? 4 : 2;
}

// ------------------------------------------------------------------------------------------- file

void lwi_plot_bytes_add(lwi_plot_bytes *bytes, const void *data, size_t n)
{
    if (bytes->used + n > bytes->room && !bytes->full) {
        const size_t room = 2 * (bytes->used + n + 1024);
        char *grown = realloc(bytes->data, room);
        bytes->full = !grown;
        if (grown) bytes->data = grown, bytes->room = room;
    }
    if (bytes->full) return;
    LWI_ASSERT(bytes->used + n <= bytes->room);
    memcpy(bytes->data + bytes->used, data, n);
    bytes->used += n;
}

void lwi_plot_bytes_free(lwi_plot_bytes *bytes)
{
    free(bytes->data);
    *bytes = (lwi_plot_bytes){0};
}

lw_status lwi_plot_bytes_write(const lwi_plot_bytes *bytes, const char *path, lw_error *error)
{
    if (bytes->full) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a picture");
    FILE *file;
    TRY(lwi_open_output_stream(path, &file, error));
    fwrite(bytes->data, 1, bytes->used, file);
    return lwi_close_output(file, path, error);
}
