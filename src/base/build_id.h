// build_id.h -- which build of the library this is.
#ifndef LWI_BASE_BUILD_ID_H
#define LWI_BASE_BUILD_ID_H

#include <stddef.h>

/** The build ID of the program or library that this function is linked into: a hash of its contents that the linker writes
 *  (--build-id), so two builds have the same one only if their code is the same.
 *  @param id  out: the bytes, valid as long as the object is loaded;  @return how many; 0: there is none */
size_t lwi_build_id(const unsigned char **id);

#endif
