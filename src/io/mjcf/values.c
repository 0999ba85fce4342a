// values.c -- attributes of MJCF with their defaults, and poses in its notations.
#include "io/mjcf/mjcf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <math.h>
#include <string.h>

typedef const char *getter(const lwi_xml_element *e, const char *attribute);

static const char *get_by(getter *get, const lwi_mjcf *u, const lwi_mjcf_at *at,
                          const char *attribute, const lwi_xml_element **from)
{
    const lwi_xml_element *e = at->e;
    const char *value = get(e, attribute);
    if (at->kind < LWI_MJCF_KINDS)
        for (int c = at->of_class; !value && c >= 0; c = u->classes[c].outer) {
            e = u->classes[c].of[at->kind];
            if (e) value = get(e, attribute);
        }
    if (from) *from = e;
    return value;
}

const char *lwi_mjcf_get(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                         const lwi_xml_element **from)
{
    return get_by(lwi_xml_get, u, at, attribute, from);
}

// Numbers of an attribute; an empty one is absent, as in MuJoCo.
static const char *get_numbers(const lwi_xml_element *e, const char *attribute)
{
    const char *value = lwi_xml_get(e, attribute);
    return value && value[strspn(value, " \t\r\n")] ? value : NULL;
}

lw_status lwi_mjcf_numbers(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute, int min,
                           int max, double *x, int *n)
{
    const lwi_xml_element *e;
    const char *value = get_by(get_numbers, u, at, attribute, &e);
    if (n) *n = 0;
    if (!value) return LW_OK;
    const int count = lwi_xml_list(value, max, x);
    if (count >= min) {
        if (n) *n = count;
        return LW_OK;
    }
    if (min == max)
        return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "<%.60s %.60s>: '%.80s' is not %d finite number%s",
                             e->name, attribute, value, min, min > 1 ? "s" : "");
    return lwi_mjcf_fail(u, e, LW_ERR_PARSE,
                         "<%.60s %.60s>: '%.80s' is not %d to %d finite numbers", e->name,
                         attribute, value, min, max);
}

lw_status lwi_mjcf_number(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                          double *x)
{
    return lwi_mjcf_numbers(u, at, attribute, 1, 1, x, NULL);
}

lw_status lwi_mjcf_flag(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute, int *value)
{
    static const char *const words[] = {"false", "true", "auto"};
    const lwi_xml_element *e;
    const char *text = lwi_mjcf_get(u, at, attribute, &e);
    if (!text) return LW_OK;
    for (int i = 0; i < LWI_COUNT(words); i++)
        if (strcmp(text, words[i]) == 0) {
            *value = i;
            return LW_OK;
        }
    return lwi_mjcf_fail(u, e, LW_ERR_PARSE, "<%.60s %.60s>: '%.60s', expected true, false or auto",
                         e->name, attribute, text);
}

// -------------------------------------------------------------------------------------- rotations

// Reads a vector of any length as a unit vector.
static lw_status unit_of(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute, double *a)
{
    if (lwi_frame_normalize(a)) return LW_OK;
    return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL, "<%.60s %.60s>: the zero vector", at->e->name,
                         attribute);
}

// Quaternion of the rotation by the smallest angle that takes z to a direction; for -z half a revolution
// about x.
static void turn_z_to(double *R, const double *direction)
{
    static const double z[3] = {0, 0, 1}, x[3] = {1, 0, 0};
    double axis[3];
    v3_cross(axis, z, direction);
    const double sine = v3_norm(axis);
    // the axis is round-off, any is right
    if (sine < 1e-10 * v3_norm(direction)) {
        rot_axis(R, x, direction[2] < 0 ? acos(-1) : 0);
        return;
    }
    v3_scale(axis, 1 / sine, axis);
    rot_axis(R, axis, atan2(sine, direction[2]));
}

// Rotations about the axes of the sequence: lower case: axes that move along, upper case: fixed axes.
static void rotation_of_euler(double *R, const char *sequence, const double *angle)
{
    m3_identity(R);
    for (int i = 0; i < 3; i++) {
        const char letter = sequence[i];
        const bool fixed = letter >= 'X' && letter <= 'Z';
        double axis[3] = {0}, turn[9], before[9];
        axis[letter - (fixed ? 'X' : 'x')] = 1;
        rot_axis(turn, axis, angle[i]);
        memcpy(before, R, sizeof before);
        if (fixed)
            m3_mul(R, turn, before);
        else
            m3_mul(R, before, turn);
    }
}

static void rotation_of_axes(double *R, const double *x, const double *y)
{
    double z[3];
    v3_cross(z, x, y);
    for (int i = 0; i < 3; i++) R[3 * i] = x[i], R[3 * i + 1] = y[i], R[3 * i + 2] = z[i];
}

static lw_status rotation_by(const lwi_mjcf *u, const lwi_mjcf_at *at, const char *attribute,
                             double *x, double *R)
{
    switch (attribute[0]) {
    case 'q': {
        const double norm = sqrt(quat_norm2(x));
        if (!(norm > 0) || !isfinite(norm))
            return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL, "<%.60s quat>: its length is %g",
                                 at->e->name, norm);
        quat_normalize(x, x);
        quat_matrix(R, x);
        return LW_OK;
    }
    case 'a':
        TRY(unit_of(u, at, attribute, x));
        rot_axis(R, x, u->unit * x[3]);
        return LW_OK;
    case 'e':
        v3_scale(x, u->unit, x);
        rotation_of_euler(R, u->euler, x);
        return LW_OK;
    case 'x':
        TRY(unit_of(u, at, attribute, x));
        TRY(unit_of(u, at, attribute, x + 3));
        v3_axpy(x + 3, -v3_dot(x, x + 3), x);
        // nearly parallel: the rest of y is round-off
        if (v3_norm(x + 3) < 1e-10)
            return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL, "<%.60s xyaxes>: the axes are parallel",
                                 at->e->name);
        TRY(unit_of(u, at, attribute, x + 3));
        rotation_of_axes(R, x, x + 3);
        return LW_OK;
    default:
        TRY(unit_of(u, at, attribute, x));
        turn_z_to(R, x);
        return LW_OK;
    }
}

// An orientation in the element replaces one of another kind in its defaults.
static bool hidden(const lwi_mjcf_at *at, const char *const *ways, int count, int way)
{
    if (lwi_xml_get(at->e, ways[way])) return false;
    for (int k = 0; k < count; k++)
        if (lwi_xml_get(at->e, ways[k])) return true;
    return false;
}

lw_status lwi_mjcf_pose(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r)
{
    static const char *const ways[] = {"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    static const int sizes[] = {4, 4, 3, 6, 3};
    const char *present = NULL;
    m3_identity(R);
    v3_set(r, 0, 0, 0);
    TRY(lwi_mjcf_numbers(u, at, "pos", 3, 3, r, NULL));
    for (int k = 0; k < LWI_COUNT(ways); k++) {
        double x[6];
        int n;
        if (hidden(at, ways, LWI_COUNT(ways), k)) continue;
        TRY(lwi_mjcf_numbers(u, at, ways[k], sizes[k], sizes[k], x, &n));
        if (!n) continue;
        if (present)
            return lwi_mjcf_fail(u, at->e, LW_ERR_PARSE, "<%.60s>: both %s and %s, expected one",
                                 at->e->name, present, ways[k]);
        present = ways[k];
        TRY(rotation_by(u, at, ways[k], x, R));
    }
    return LW_OK;
}

lw_status lwi_mjcf_ends(const lwi_mjcf *u, const lwi_mjcf_at *at, double *R, double *r,
                        double *length)
{
    double x[6], axis[3];
    int n;
    *length = 0;
    TRY(lwi_mjcf_numbers(u, at, "fromto", 6, 6, x, &n));
    if (!n) return LW_OK;
    v3_sub(axis, x, x + 3);
    *length = v3_norm(axis);
    if (!(*length > 0) || !isfinite(*length))
        return lwi_mjcf_fail(u, at->e, LW_ERR_MODEL, "<%.60s fromto>: its ends are %g apart",
                             at->e->name, *length);
    turn_z_to(R, axis);
    for (int i = 0; i < 3; i++) r[i] = (x[i] + x[3 + i]) / 2;
    return LW_OK;
}
