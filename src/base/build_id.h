// build_id.h -- which build of the library this is.
#ifndef LWI_BASE_BUILD_ID_H
#define LWI_BASE_BUILD_ID_H

#include <stddef.h>

/** The bytes by which its linker marked the program or library that this function is in: the hash of its contents, so equal
 *  for the same code only.  They stay where they are.
 *  @return how many; 0: there is no mark */
size_t lwi_build_id(const unsigned char **id);

#endif
