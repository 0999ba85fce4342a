// stl.c -- STL: triangles with three corners each, binary or text.
//
//   binary   80 bytes, the number of triangles (4 bytes), then 50 bytes each: normal, three corners (12 floats), 2 bytes
//   text     solid NAME, facet normal .. .., outer loop, vertex x y z (three times), endloop, endfacet, ..., endsolid
//
// Normals are not used: the order of the corners is the orientation.
#include "io/mesh/bytes.h"
#include "io/mesh/mesh.h"

#include <math.h>

enum { HEAD = 84, EACH = 50, NORMAL = 12 };
enum { FIRST = 1024 }; // a text has no zero among its first bytes

static lw_status read_binary(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                             lwi_mesh *m, lw_error *error)
{
    if (length < HEAD)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                           "%zu bytes, expected at least the %d of the head of a binary STL file",
                           length, HEAD);
    const double n = bytes_u32(bytes + 80);
    if ((double)(length - HEAD) < EACH * n)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                           "%zu bytes, but %.0f triangles as byte 81 says take %.0f", length, n,
                           HEAD + EACH * n);
    TRY(lwi_mesh_push(m, 3 * n, n, name, arena, error));
    for (int i = 0; i < 3 * m->ntriangle; i++)
        for (int k = 0; k < 3; k++) {
            const size_t at = HEAD + (size_t)(i / 3) * EACH + NORMAL + (size_t)(i % 3 * 12 + 4 * k);
            m->vertex[i][k] = bytes_float(bytes + at);
            if (!isfinite(m->vertex[i][k]))
                return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0,
                                   "triangle %d has a coordinate that is not a finite number, at "
                                   "byte %zu",
                                   i / 3 + 1, at + 1);
        }
    return LW_OK;
}

// Lines that begin with a word.
static long count_lines(lwi_mesh_text t, const char *first)
{
    long count = 0;
    do {
        size_t length;
        const char *word = lwi_mesh_word(&t, &length);
        count += lwi_mesh_is(word, length, first);
    } while (lwi_mesh_next_line(&t));
    return count;
}

static lw_status read_text(lwi_mesh_text t, lwi_arena *arena, lwi_mesh *m)
{
    const long count = count_lines(t, "vertex");
    int corner = 0, open = 0; // corners in the facet
    TRY(lwi_mesh_push(m, (double)count, (double)(count / 3), t.name, arena, t.error));
    do {
        size_t length;
        const char *word = lwi_mesh_word(&t, &length);
        if (lwi_mesh_is(word, length, "vertex")) {
            if (open == 3) return lwi_mesh_text_fail(&t, "a facet with more than three corners");
            TRY(lwi_mesh_numbers(&t, "vertex", 3, m->vertex[corner++]));
            open++;
        } else if (lwi_mesh_is(word, length, "endfacet")) {
            if (open != 3)
                return lwi_mesh_text_fail(&t, "a facet with %d corners, expected 3", open);
            open = 0;
        } else if (lwi_mesh_is(word, length, "facet") && open) {
            return lwi_mesh_text_fail(&t, "a facet begins before the last one has ended");
        }
    } while (lwi_mesh_next_line(&t));
    if (open) return lwi_mesh_text_fail(&t, "the file ends inside a facet");
    return LW_OK;
}

// Does a file that begins with "solid" continue as a text?  Some binary files begin with the word.
static bool is_text(const lwi_mesh_text *t, const char *bytes, size_t length)
{
    if (length >= HEAD && (double)(length - HEAD) == EACH * (double)bytes_u32(bytes + 80))
        return false;
    return !memchr(bytes, 0, length < FIRST ? length : FIRST) || count_lines(*t, "facet") > 0;
}

lw_status lwi_mesh_read_stl(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                            lwi_mesh *m, lw_error *error)
{
    size_t n;
    const lwi_mesh_text start = lwi_mesh_text_of(bytes, length, name, error);
    lwi_mesh_text t = start;
    const char *word = lwi_mesh_word(&t, &n);
    const bool solid = lwi_mesh_is(word, n, "solid");
    TRY(solid && is_text(&start, bytes, length)
            ? read_text(start, arena, m)
            : read_binary(bytes, length, name, arena, m, error));
    if (m->ntriangle == 0)
        return lwi_fail_at(error, LW_ERR_PARSE, name, 0, 0, "there is no triangle");
    return lwi_mesh_join(m, &arena->allocator, error);
}
