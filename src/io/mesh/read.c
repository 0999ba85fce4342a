// read.c -- mesh files: the format by the ending, checks, and vertices with equal coordinates joined.
#include "io/mesh/mesh.h"

#include "io/readers.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef struct format {
    const char *ending;
    lw_status (*read)(const char *, size_t, const char *, lwi_arena *, lwi_mesh *, lw_error *);
} format;

#define X(name, ending) {ending, lwi_mesh_read_##name},
static const format formats[] = {LWI_MESH_FORMAT_LIST(X)};
#undef X

static const format *format_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    for (int i = 0; dot && i < LWI_COUNT(formats); i++)
        if (strcasecmp(dot, formats[i].ending) == 0) return &formats[i];
    return NULL;
}

bool lwi_mesh_is_known(const char *name)
{
    return format_of(name) != NULL;
}

lw_status lwi_mesh_push(lwi_mesh *m, double nvertex, double ntriangle, const char *name,
                        lwi_arena *arena, lw_error *error)
{
    if (nvertex > LWI_MESH_MAX_VERTICES || ntriangle > LWI_MESH_MAX_TRIANGLES)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                           "%.0f vertices and %.0f triangles, expected at most %d of each", nvertex,
                           ntriangle, LWI_MESH_MAX_TRIANGLES);
    m->nvertex = (int)nvertex;
    m->ntriangle = (int)ntriangle;
    m->vertex = lwi_arena_push(arena, (size_t)m->nvertex, sizeof *m->vertex);
    m->triangle = lwi_arena_push(arena, (size_t)m->ntriangle, sizeof *m->triangle);
    if (m->vertex && m->triangle) return LW_OK;
    return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
}

lw_status lwi_mesh_check(const lwi_mesh *m, const char *name, lw_error *error)
{
    if (m->nvertex < 1)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0, "the mesh has no vertex");
    for (int i = 0; i < m->nvertex; i++)
        for (int k = 0; k < 3; k++)
            if (!isfinite(m->vertex[i][k]))
                return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                                   "vertex %d has a coordinate that is not a finite number", i + 1);
    for (int i = 0; i < m->ntriangle; i++)
        for (int k = 0; k < 3; k++)
            if (m->triangle[i][k] < 0 || m->triangle[i][k] >= m->nvertex)
                return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                                   "triangle %d has vertex %d, expected 0 to %d", i + 1,
                                   m->triangle[i][k], m->nvertex - 1);
    return LW_OK;
}

lw_status lwi_mesh_parse(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                         lwi_mesh *mesh, lw_error *error)
{
    const format *f = format_of(name);
    *mesh = (lwi_mesh){0};
    if (!f)
        return lwi_fail_at(error, LW_ERR_UNSUPPORTED, name, 0, 0,
                           "meshes of this kind are not read, expected .stl, .obj, .msh or .dae");
    if (!length) return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0, "the file is empty");
    TRY(f->read(bytes, length, name, arena, mesh, error));
    return lwi_mesh_check(mesh, name, error);
}

lw_status lwi_mesh_read(const char *path, lwi_arena *arena, lwi_mesh *mesh, lw_error *error)
{
    char *bytes = NULL;
    size_t length = 0;
    TRY(lwi_reader_file(path, &arena->allocator, &bytes, &length, error));
    const lw_status status = lwi_mesh_parse(bytes, length, path, arena, mesh, error);
    lwi_release(&arena->allocator, bytes);
    return status;
}

// ------------------------------------------------------------------------------------------ joining

static uint64_t hash_of(const float *v)
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        uint32_t bits;
        memcpy(&bits, &v[k], sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }
    return hash;
}

// Vertices move down only: the number of one is never larger than that of its first corner.
static void join(lwi_mesh *m, int *slot, uint64_t mask)
{
    int count = 0;
    for (int i = 0; i < 3 * m->ntriangle; i++) {
        const float *v = m->vertex[i];
        uint64_t at = hash_of(v) & mask;
        while (slot[at] && memcmp(m->vertex[slot[at] - 1], v, 3 * sizeof *v) != 0)
            at = (at + 1) & mask;
        if (!slot[at]) {
            memmove(m->vertex[count], v, 3 * sizeof *v);
            slot[at] = ++count;
        }
        m->triangle[i / 3][i % 3] = slot[at] - 1;
    }
    m->nvertex = count;
}

lw_status lwi_mesh_join(lwi_mesh *m, const lw_allocator *allocator, lw_error *error)
{
    uint64_t slots = 16;
    for (int i = 0; i < 3 * m->ntriangle; i++)
        for (int k = 0; k < 3; k++) m->vertex[i][k] += 0.0F; // no -0
    while (slots < 4 * (uint64_t)m->ntriangle) slots *= 2;
    int *slot = lwi_allocate(allocator, slots * sizeof *slot);
    if (!slot) return lwi_fail(error, LW_ERR_MEMORY, "no memory for a mesh");
    memset(slot, 0, slots * sizeof *slot);
    join(m, slot, slots - 1);
    lwi_release(allocator, slot);
    return LW_OK;
}
