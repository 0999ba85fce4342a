// units.c -- the units that a picture is drawn in.
#include "plot/units.h"

#include "model/signals/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

lw_status lwi_plot_units_check(const char *list, lw_error *error)
{
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        lwi_unit unit;
        const int n = (int)strcspn(at, ",");
        if (!lwi_unit_read(at, n, &unit))
            return lwi_fail(error, LW_ERR_ARGUMENT, "units: '%.*s' is no unit; expected deg,mm,kN",
                            n, at);
    }
    return LW_OK;
}

const char *lwi_plot_units_find(const char *list, const char *unit, lwi_arena *arena,
                                double *factor)
{
    lwi_unit from, to;
    *factor = 1;
    if (!unit || !lwi_unit_read(unit, (int)strlen(unit), &from)) return unit;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        const int n = (int)strcspn(at, ",");
        if (!lwi_unit_read(at, n, &to) || !lwi_dimension_same(from.dimension, to.dimension))
            continue;
        char *name = LWI_PUSH(arena, char, n + 1);
        if (!name) return NULL;
        memcpy(name, at, (size_t)n);
        *factor = from.times / from.per * pow(10, from.ten - to.ten) * to.per / to.times;
        return name;
    }
    return unit;
}

const char *lwi_plot_units_find_each(const char *list, const char *units, lwi_arena *arena)
{
    if (!list || !units) return units;
    const size_t room = strlen(units) + (strlen(list) + 1) * (strlen(units) + 1);
    char *all = LWI_PUSH(arena, char, room), *one = LWI_PUSH(arena, char, strlen(units) + 1);
    if (!all || !one) return NULL;
    size_t used = 0;
    for (const char *at = units; *at;) {
        const size_t n = strcspn(at, ",");
        double factor;
        memcpy(one, at, n);
        one[n] = 0;
        const char *unit = lwi_plot_units_find(list, one, arena, &factor);
        if (!unit) return NULL;
        used += (size_t)snprintf(all + used, room - used, "%s%s", used ? ", " : "", unit);
        at += n;
        at += strspn(at, ", ");
    }
    return all;
}
