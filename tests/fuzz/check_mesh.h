// check_mesh.h -- what must be true of any bytes that a reader of meshes gets.
#ifndef LW_FUZZ_CHECK_MESH_H
#define LW_FUZZ_CHECK_MESH_H

#include <stdbool.h>
#include <stddef.h>

/** Reads bytes as a mesh with this ending: it is refused with a status, a message and the file's name, or its
 *  triangles have vertices; its hull is closed and its masses are finite, or refused with a message; no memory is left
 *  behind.
 *  @param is_read  out: it is a mesh
 *  @return NULL, or what is wrong */
const char *check_mesh(const char *bytes, size_t length, const char *ending, bool *is_read);

#endif
