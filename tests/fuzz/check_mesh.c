// check_mesh.c -- what must be true of any bytes that a reader of meshes gets.
#include "fuzz/check_mesh.h"

#include "base/numbers.h"
#include "io/mesh/mesh.h"
#include "support/failing.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *check_refusal(lw_status status, const lw_error *error)
{
    if (error->status != status) return "the error has another status";
    return *error->text ? NULL : "the error says nothing";
}

// V - E + F = 2, with 3 F = 2 E.
static const char *check_hull(const lwi_mesh *m, lwi_arena *arena)
{
    int(*t)[3], n, used = 0;
    lw_error error = {0};
    const lw_status status = lwi_mesh_hull(m, arena, &t, &n, &error);
    if (status != LW_OK)
        return status == LW_ERR_MODEL ? check_refusal(status, &error)
                                      : "no hull for another reason";
    char *seen = LWI_PUSH(arena, char, m->nvertex);
    if (!seen) return "no memory for the check";
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            const int a = t[i][k], b = t[i][(k + 1) % 3];
            if (a < 0 || a >= m->nvertex || a == b) return "a hull has other corners";
            used += !seen[a];
            seen[a] = 1;
        }
    return n == 2 * used - 4 ? NULL : "a hull is not closed";
}

static const char *check_solids(const lwi_mesh *m, const lw_allocator *allocator)
{
    static const lwi_mesh_map map = {
        .scale = {2, -1, 0.5}, .position = {1, 2, 3}, .R = {0, 0, 1, 1, 0, 0, 0, 1, 0}};
    for (int fill = 0; fill < LWI_MESH_FILLS; fill++) {
        lwi_mesh_solid s;
        lw_error error = {0};
        const lw_status status =
            lwi_mesh_solid_of(m, (lwi_mesh_fill)fill, &map, allocator, &s, &error);
        if (status != LW_OK) {
            if (status != LW_ERR_MODEL) return "no mass for another reason";
            if (check_refusal(status, &error)) return check_refusal(status, &error);
            continue;
        }
        if (!isfinite(s.volume) || !isfinite(s.com[0] + s.com[1] + s.com[2]))
            return "a mass is not finite";
        for (int k = 0; k < 6; k++)
            if (!isfinite(s.inertia[k])) return "an inertia is not finite";
    }
    return NULL;
}

const char *check_mesh(const char *bytes, size_t length, const char *ending, bool *is_read)
{
    lwt_failing memory = {.left = LONG_MAX};
    const lw_allocator allocator = lwt_failing_allocator(&memory);
    char name[64];
    lwi_arena arena;
    lwi_mesh mesh;
    lwi_numbers numbers;
    lw_error error = {0};
    const char *wrong = NULL;
    snprintf(name, sizeof name, "fuzz.%.50s", ending);
    lwi_arena_init(&arena, &allocator);
    if (!lwi_numbers_begin(&numbers)) return "no memory for the check";
    const lw_status status = lwi_mesh_parse(bytes, length, name, &arena, &mesh, &error);
    lwi_numbers_end(&numbers);
    *is_read = status == LW_OK;
    if (status == LW_OK) {
        wrong = check_hull(&mesh, &arena);
        if (!wrong) wrong = check_solids(&mesh, &allocator);
    } else if (status != LW_ERR_MEMORY) {
        wrong = check_refusal(status, &error);
        if (!wrong && strcmp(error.file, name) != 0) wrong = "the error does not name the file";
        if (!wrong && status != LW_ERR_PARSE && status != LW_ERR_UNSUPPORTED)
            wrong = "a status that no file may cause";
    }
    lwi_arena_free(&arena);
    return !wrong && memory.live != 0 ? "memory is left behind" : wrong;
}
