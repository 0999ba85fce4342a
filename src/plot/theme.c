// theme.c -- light and dark.
#include "plot/theme.h"

lwi_plot_theme lwi_plot_theme_light(void)
{
    return (lwi_plot_theme){.paper = lwi_plot_rgb(0xFFFFFF),
                            .ink = lwi_plot_rgb(0x222222),
                            .muted = lwi_plot_rgb(0x63686E),
                            .grid = lwi_plot_rgb(0xE9EBEE),
                            .axis = lwi_plot_rgb(0x9AA0A6),
                            .zero = lwi_plot_rgb(0xC4C8CD),
                            .curve = {lwi_plot_rgb(0x0072B2), lwi_plot_rgb(0xD55E00),
                                      lwi_plot_rgb(0x009E73), lwi_plot_rgb(0xCC79A7),
                                      lwi_plot_rgb(0xE69F00), lwi_plot_rgb(0x56B4E9),
                                      lwi_plot_rgb(0x444444), lwi_plot_rgb(0x8C6D31)}};
}

lwi_plot_theme lwi_plot_theme_dark(void)
{
    return (lwi_plot_theme){.paper = lwi_plot_rgb(0x16191D),
                            .ink = lwi_plot_rgb(0xE8EAED),
                            .muted = lwi_plot_rgb(0x9AA0A6),
                            .grid = lwi_plot_rgb(0x2A2F35),
                            .axis = lwi_plot_rgb(0x6B7178),
                            .zero = lwi_plot_rgb(0x474D54),
                            .curve = {lwi_plot_rgb(0x56B4E9), lwi_plot_rgb(0xE69F00),
                                      lwi_plot_rgb(0x2FC79A), lwi_plot_rgb(0xE39BC4),
                                      lwi_plot_rgb(0xF0E442), lwi_plot_rgb(0xFF7F50),
                                      lwi_plot_rgb(0xC8CCD0), lwi_plot_rgb(0x8FA8FF)}};
}

// Lightness is monotonic along the scale: the order is visible without colours.
lwi_plot_colour lwi_plot_scale_colour(const lwi_plot_theme *theme, double at)
{
    static const unsigned stops[] = {0x440154, 0x3B528B, 0x21918C, 0x5EC962, 0xDCC21E};
    enum { LAST = sizeof stops / sizeof stops[0] - 1 };
    const bool dark = theme->paper.r < 0.5;
    const double from = dark ? 0.25 : 0.0;
    const double place = LAST * (from + (1 - from) * at);
    const int k = place < LAST ? (int)place : LAST - 1;
    return lwi_plot_mix(lwi_plot_rgb(stops[k]), lwi_plot_rgb(stops[k + 1]), place - k);
}

lwi_plot_colour lwi_plot_curve_colour(const lwi_plot_theme *theme, int index, int count)
{
    if (count <= LWI_PLOT_PALETTE) return theme->curve[index % LWI_PLOT_PALETTE];
    return lwi_plot_scale_colour(theme, (index % count) / (count - 1.0));
}
