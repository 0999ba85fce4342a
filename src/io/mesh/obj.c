// obj.c -- Wavefront OBJ: vertices and polygons; lines, points, materials, groups and normals are skipped.
#include "io/mesh/bytes.h"
#include "io/mesh/mesh.h"

typedef struct reading {
    lwi_mesh_text text;
    lwi_mesh *mesh;
    int nvertex;  // so far
    double tests; // of concave polygons
    int corner[LWI_MESH_MAX_CORNERS];
} reading;

// ------------------------------------------------------------------------------------------- lines

// The vertex of "7", "7/1", "7//3", "-1/2/3": from 1 on, or from the last one back.
static lw_status read_index(reading *r, const char *word, size_t length, int *index)
{
    const bool back = *word == '-';
    size_t i = back || *word == '+';
    const size_t first = i;
    long number = 0;
    for (; i < length && word[i] >= '0' && word[i] <= '9' && number <= LWI_MESH_MAX_VERTICES; i++)
        number = 10 * number + (word[i] - '0');
    const bool is_number = i > first && (i == length || word[i] == '/');
    const long at = back ? r->nvertex - number : number - 1;
    if (is_number && number > 0 && at >= 0 && at < r->mesh->nvertex) {
        *index = (int)at;
        return LW_OK;
    }
    return lwi_mesh_text_fail(&r->text, "face: vertex '%.*s' does not exist, the file has %d",
                              (int)(length < 40 ? length : 40), word, r->mesh->nvertex);
}

static lw_status read_face(reading *r)
{
    int n = 0;
    size_t length;
    for (const char *word; (word = lwi_mesh_word(&r->text, &length)); n++) {
        if (n == LWI_MESH_MAX_CORNERS)
            return lwi_mesh_text_fail(&r->text, "face: more than %d corners", LWI_MESH_MAX_CORNERS);
        TRY(read_index(r, word, length, &r->corner[n]));
    }
    if (n < 3) return lwi_mesh_text_fail(&r->text, "face: %d corners, expected 3 or more", n);
    return lwi_mesh_polygon(r->mesh, r->corner, n, &r->tests)
               ? LW_OK
               : lwi_mesh_text_fail(&r->text, LWI_MESH_TOO_CONCAVE);
}

// Upper bounds of vertices and triangles.
static void count_lines(lwi_mesh_text t, double *nvertex, double *ntriangle)
{
    do {
        size_t length;
        const char *word = lwi_mesh_word(&t, &length);
        *nvertex += lwi_mesh_is(word, length, "v");
        if (!lwi_mesh_is(word, length, "f")) continue;
        int n = 0;
        while (lwi_mesh_word(&t, &length)) n++;
        if (n > 2) *ntriangle += n - 2;
    } while (lwi_mesh_next_line(&t));
}

// Faces may come before their vertices, so vertices are read first.
static lw_status read_lines(reading *r)
{
    const lwi_mesh_text start = r->text;
    for (int pass = 0; pass < 2; pass++) {
        r->text = start;
        r->nvertex = 0;
        do {
            size_t length;
            const char *word = lwi_mesh_word(&r->text, &length);
            if (lwi_mesh_is(word, length, "v")) {
                if (pass == 0)
                    TRY(lwi_mesh_numbers(&r->text, "vertex", 3, r->mesh->vertex[r->nvertex]));
                r->nvertex++;
            } else if (pass == 1 && lwi_mesh_is(word, length, "f")) {
                TRY(read_face(r));
            }
        } while (lwi_mesh_next_line(&r->text));
    }
    return LW_OK;
}

lw_status lwi_mesh_read_obj(const char *bytes, size_t length, const char *name, lwi_arena *arena,
                            lwi_mesh *m, lw_error *error)
{
    reading r = {.text = lwi_mesh_text_of(bytes, length, name, error), .mesh = m};
    double nvertex = 0, ntriangle = 0;
    count_lines(r.text, &nvertex, &ntriangle);
    TRY(lwi_mesh_push(m, nvertex, ntriangle, name, arena, error));
    m->ntriangle = 0;
    return read_lines(&r);
}
