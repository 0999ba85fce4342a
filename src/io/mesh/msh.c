// msh.c -- MuJoCo's own binary format: the numbers of vertices, normals, texture coordinates and triangles (4 bytes
// each), then these lists.  Without triangles it is the convex hull of its vertices.
#include "io/mesh/bytes.h"
#include "io/mesh/mesh.h"

enum { HEAD = 16, VECTOR = 12, PAIR = 8 };

lw_status lwi_mesh_read_msh(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                            lwi_mesh *m, lw_error *error)
{
    if (length >= 4 && memcmp(bytes, "$Mes", 4) == 0)
        return lwi_fail_at(error, LW_ERR_UNSUPPORTED, name, 0, 0,
                           "the MSH format of Gmsh is not read, only that of MuJoCo");
    if (length < HEAD)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                           "%zu bytes, expected at least the %d of the head of an MSH file", length,
                           HEAD);
    const double nv = bytes_u32(bytes), nn = bytes_u32(bytes + 4), nt = bytes_u32(bytes + 8),
                 nf = bytes_u32(bytes + 12);
    const double size = HEAD + VECTOR * (nv + nn + nf) + PAIR * nt;
    if ((double)length != size)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                           "%zu bytes, but %.0f vertices, %.0f normals, %.0f texture coordinates "
                           "and %.0f triangles as its head says take %.0f",
                           length, nv, nn, nt, nf, size);
    TRY(lwi_mesh_push(m, nv, nf, name, arena, error));
    for (int i = 0; i < 3 * m->nvertex; i++)
        m->vertex[i / 3][i % 3] = bytes_float(bytes + HEAD + 4 * (size_t)i);
    const char *triangles = bytes + length - VECTOR * (size_t)m->ntriangle;
    for (int i = 0; i < 3 * m->ntriangle; i++)
        m->triangle[i / 3][i % 3] = (int)bytes_u32(triangles + 4 * (size_t)i);
    return LW_OK;
}
