// text_width.c -- the width of text, the same for every kind of canvas.
#include "io/text.h"
#include "plot/canvas.h"

#include <string.h>

// Advance widths of DejaVu Sans and its bold face, ' ' to '~', in thousandths of the size.
static const short widths[2][95] = {
    {318,  401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337,
     636,  636, 636, 636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531,
     1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
     603,  787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838, 500,
     500,  613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612,
     635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838},
    {348,  456, 521, 838, 696, 1002, 872, 306,  457, 457, 523, 838, 380, 415,  380, 365,
     696,  696, 696, 696, 696, 696,  696, 696,  696, 696, 400, 400, 838, 838,  838, 580,
     1000, 774, 762, 734, 830, 683,  683, 821,  837, 372, 372, 775, 637, 995,  837, 850,
     733,  850, 770, 720, 682, 812,  774, 1103, 771, 724, 725, 457, 365, 457,  838, 500,
     500,  675, 716, 593, 716, 678,  435, 716,  712, 343, 343, 665, 343, 1042, 712, 687,
     716,  716, 493, 595, 478, 712,  652, 924,  645, 652, 582, 712, 365, 712,  838}};

// Beyond ASCII: superscripts are narrow, East Asian letters wide, all others have an average width.
static int wide_letter(long code)
{
    if ((code >= 0x2070 && code <= 0x207B) || code == 0xB2 || code == 0xB3 || code == 0xB9)
        return code == 0x207B ? 528 : 438;
    if (code == 0xB7) return 380;
    if (code == 0x2212) return 838;
    return code >= 0x1100 ? 1000 : 690;
}

// Bytes of the next letter, and its width; an invalid byte of UTF-8 counts as one letter.
static int letter(const char *text, bool bold, int *width)
{
    int bytes = 1;
    const long code = lwi_text_utf8_next(text, &bytes);
    *width = code >= ' ' && code <= '~' ? widths[bold][code - ' '] : wide_letter(code);
    return code < 0 ? 1 : bytes;
}

double lwi_plot_text_width(const char *text, double size, bool bold)
{
    double sum = 0;
    for (int width; *text; sum += width) text += letter(text, bold, &width);
    return sum * size / 1000;
}

void lwi_plot_text_fit(char *to, size_t size, const char *text, double width, double letter_size,
                       bool bold)
{
    static const char ellipsis[] = "\u2026";
    const size_t length = strlen(text);
    if (length < size && lwi_plot_text_width(text, letter_size, bold) <= width) {
        memcpy(to, text, length + 1);
        return;
    }
    size_t n = 0;
    double used = letter_size; // of the ellipsis
    for (int w, bytes; text[n]; n += (size_t)bytes) {
        bytes = letter(text + n, bold, &w);
        used += w * letter_size / 1000;
        if (used > width || n + (size_t)bytes + sizeof ellipsis > size) break;
    }
    memcpy(to, text, n);
    memcpy(to + n, ellipsis, sizeof ellipsis);
}

// ------------------------------------------------------------------------------------ short forms

void lwi_plot_draw_line(lwi_plot_canvas *canvas, double x0, double y0, double x1, double y1,
                        const lwi_plot_pen *pen)
{
    const double p[2][2] = {{x0, y0}, {x1, y1}};
    canvas->type->path(canvas, p, 2, false, (lwi_plot_colour){0}, pen);
}

void lwi_plot_draw_rect(lwi_plot_canvas *canvas, double x, double y, double width, double height,
                        lwi_plot_colour fill)
{
    const double p[4][2] = {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
    canvas->type->path(canvas, p, 4, true, fill, &(lwi_plot_pen){0});
}

void lwi_plot_draw_text(lwi_plot_canvas *canvas, double x, double y, lwi_plot_anchor anchor,
                        const lwi_plot_ink *ink, const char *text)
{
    char clean[512];
    size_t n = 0;
    for (int bytes = 1; *text && n + 5 < sizeof clean; text += bytes) {
        const long code = lwi_text_utf8_next(text, &bytes);
        const bool shows = code >= ' ' && code != 0x7F && (code < 0x80 || code >= 0xA0) &&
                           code != 0xFFFE && code != 0xFFFF;
        if (code < 0) bytes = 1;
        if (shows)
            memcpy(clean + n, text, (size_t)bytes), n += (size_t)bytes;
        else
            clean[n++] = '?';
    }
    clean[n] = 0;
    canvas->type->text(canvas, x, y, anchor, ink, clean);
}
