// options.c -- parses the options of a picture.
#include "plot/options.h"

#include "io/text.h"
#include "plot/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MIN_SIDE = 160, MAX_SIDE = 16384 }; // points; pixels of a side

static const char *const keys[] = {
#define X(key, value, help) #key,
    LW_PLOT_OPTION_LIST(X)
#undef X
};
static const char *const presets[] = {
#define X(name, text, help) text,
    LW_PLOT_PRESET_LIST(X)
#undef X
};
static const char *const views[] = {
#define X(name, text, help) text,
    LW_VIEW_LIST(X)
#undef X
};

const char *lwi_plot_preset_name(lw_plot_preset preset)
{
    return presets[preset];
}

// ------------------------------------------------------------------------------------------ values

static lw_status choose(int *choice, const char *key, const char *value, const char *const *names,
                        int n, lw_error *error)
{
    char known[512] = "";
    for (int i = 0; i < n; i++) {
        if (!strcmp(names[i], value)) {
            *choice = i;
            return LW_OK;
        }
        strcat(strcat(known, i ? ", " : ""), names[i]);
    }
    const char *nearest = lwi_nearest(value, names, n);
    return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%s' is not known%s%s; expected one of %s", key,
                    value, nearest ? ", did you mean " : "", nearest ? nearest : "", known);
}

// The number up to one of these letters or the end, which *text is moved to; 0 if there is none.
static double number(const char **text, const char *separators)
{
    char piece[64];
    double value = 0;
    const size_t n = strcspn(*text, separators);
    if (n < sizeof piece) {
        memcpy(piece, *text, n);
        piece[n] = 0;
        if (!lwi_number_read(piece, &value)) return 0;
    }
    *text += n;
    return value;
}

static lw_status set_time(double *to, bool *given, const char *key, const char *value,
                          lw_error *error)
{
    double time;
    if (!lwi_number_read(value, &time))
        return lwi_fail(error, LW_ERR_ARGUMENT, "%s: '%s' is not a time; expected seconds", key,
                        value);
    *to = time, *given = 1;
    return LW_OK;
}

static lw_status set_size(lw_plot_options *o, const char *value, lw_error *error)
{
    const char *end = value;
    double width, height = 0, scale = 1;
    width = number(&end, "xX");
    const bool two = *end != 0;
    if (two) end++, height = number(&end, "@");
    if (two && *end == '@') end++, scale = number(&end, "");
    if (!two || *end || !(width > 0 && height > 0 && scale > 0))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "size: '%s' is not a size; expected WxH or WxH@S, 900x600@2 for example",
                        value);
    if (width < MIN_SIDE || height < MIN_SIDE || width * scale > MAX_SIDE ||
        height * scale > MAX_SIDE)
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "size: %s is out of range; expected at least %d points and at most %d "
                        "pixels each way",
                        value, MIN_SIDE, MAX_SIDE);
    o->width = width, o->height = height, o->scale = scale;
    return LW_OK;
}

static lw_status set_instance(lw_plot_options *o, const char *value, lw_error *error)
{
    double number;
    if (!lwi_number_read(value, &number) || !(number >= 0 && number < 1e15) ||
        number != floor(number))
        return lwi_fail(error, LW_ERR_ARGUMENT,
                        "instance: '%s' is not the number of an instance; they count from 0",
                        value);
    o->instance = (long)number, o->has_instance = 1;
    return LW_OK;
}

static lw_status add_panel(lw_plot_options *o, const char *value, lw_error *error)
{
    if (!*value) return lwi_fail(error, LW_ERR_ARGUMENT, "y: expected the name of a column");
    if (o->ny == LW_PLOT_MAX_PANELS)
        return lwi_fail(error, LW_ERR_ARGUMENT, "y: more than %d panels", LW_PLOT_MAX_PANELS);
    o->y[o->ny++] = value;
    return LW_OK;
}

// -------------------------------------------------------------------------------------------- set

#define X(key, value, help) KEY_##key,
enum { LW_PLOT_OPTION_LIST(X) };
#undef X

static lw_status set(lw_plot_options *o, int key, const char *value, lw_error *error)
{
    static const char *const themes[] = {"light", "dark"};
    int choice = 0;
    switch (key) {
    case KEY_y:
        return add_panel(o, value, error);
    case KEY_x:
        o->x = value;
        return LW_OK;
    case KEY_preset:
        TRY(choose(&choice, "preset", value, presets, LWI_COUNT(presets), error));
        o->preset = (lw_plot_preset)choice, o->has_preset = 1;
        return LW_OK;
    case KEY_from:
        return set_time(&o->from, &o->has_from, "from", value, error);
    case KEY_to:
        return set_time(&o->to, &o->has_to, "to", value, error);
    case KEY_log:
        o->log = 1;
        return LW_OK;
    case KEY_title:
        o->title = value;
        return LW_OK;
    case KEY_size:
        return set_size(o, value, error);
    case KEY_theme:
        TRY(choose(&choice, "theme", value, themes, LWI_COUNT(themes), error));
        o->dark = choice == 1;
        return LW_OK;
    case KEY_initial:
        o->initial = 1;
        return LW_OK;
    case KEY_by:
        o->by = value;
        return LW_OK;
    case KEY_z:
        o->z = value;
        return LW_OK;
    case KEY_units:
        o->units = value;
        return lwi_plot_units_check(value, error);
    case KEY_equal:
        o->equal = 1;
        return LW_OK;
    case KEY_instance:
        return set_instance(o, value, error);
    case KEY_plan:
        o->plan = value;
        return LW_OK;
    case KEY_reference:
        o->reference = value;
        return LW_OK;
    default:
        TRY(choose(&choice, "view", value, views, LWI_COUNT(views), error));
        o->view = (lw_view)choice;
        return LW_OK;
    }
}

lw_status lw_plot_set(lw_plot_options *options, const char *key, const char *value, lw_error *error)
{
    static const bool takes_value[] = {
#define X(key, value, help) (value) != NULL,
        LW_PLOT_OPTION_LIST(X)
#undef X
    };
    if (error) memset(error, 0, sizeof *error);
    if (!options || !key) return lwi_fail(error, LW_ERR_ARGUMENT, "options and key must be given");
    for (int i = 0; i < LWI_COUNT(keys); i++) {
        if (strcmp(key, keys[i]) != 0) continue;
        if (takes_value[i] && !value)
            return lwi_fail(error, LW_ERR_ARGUMENT, "%s: a value must be given", key);
        return set(options, i, value, error);
    }
    const char *nearest = lwi_nearest(key, keys, LWI_COUNT(keys));
    return lwi_fail(error, LW_ERR_ARGUMENT, "no option of a picture is called '%s'%s%s", key,
                    nearest ? ", did you mean " : "", nearest ? nearest : "");
}

// ----------------------------------------------------------------------------------------- canvas

static bool ends_in(const char *file, const char *ending)
{
    const char *dot = strrchr(file, '.');
    return dot && !strcmp(dot, ending);
}

lw_status lwi_plot_check_file(const char *file, lw_error *error)
{
    const bool cairo = ends_in(file, ".png") || ends_in(file, ".pdf");
    if (cairo && !lwi_plot_cairo_version())
        return lwi_fail_at(
            error, LW_ERR_UNSUPPORTED, file, 0, 0,
            "this build of Linkwork has no cairo and writes pictures as .svg only; for "
            "PNG and PDF install libcairo2-dev (Debian, Ubuntu: tools/install-deps) and build "
            "again, or convert the .svg (rsvg-convert, inkscape)");
    if (cairo || ends_in(file, ".svg")) return LW_OK;
    return lwi_fail_at(error, LW_ERR_ARGUMENT, file, 0, 0,
                       "pictures are written as .svg, .png or .pdf");
}

lw_status lwi_plot_canvas_open(const lw_plot_options *o, double width, double height,
                               const char *file, lwi_plot_canvas **canvas, lw_error *error)
{
    if (o->width > 0) width = o->width, height = o->height;
    if (ends_in(file, ".svg")) return lwi_plot_svg_create(width, height, canvas, error);
    if (ends_in(file, ".pdf")) return lwi_plot_pdf_create(width, height, canvas, error);
    return lwi_plot_png_create(width, height, o->scale > 0 ? o->scale : 1, canvas, error);
}

lw_status lwi_plot_canvas_close(lwi_plot_canvas *canvas, lw_status drawn, const char *file,
                                lw_error *error)
{
    if (drawn == LW_OK) return canvas->type->finish(canvas, file, error);
    canvas->type->discard(canvas);
    return drawn;
}
