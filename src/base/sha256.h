// sha256.h -- the hash SHA-256 of bytes [fips180-4].
#ifndef LWI_BASE_SHA256_H
#define LWI_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { LWI_SHA256_SIZE = 65 }; ///< 64 hexadecimal digits and the end

typedef struct lwi_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64]; ///< the last one, not yet full
} lwi_sha256;

void lwi_sha256_begin(lwi_sha256 *hash);
void lwi_sha256_add(lwi_sha256 *hash, const void *data, size_t size);
/** Ends it: nothing can be added afterwards. */
void lwi_sha256_end(lwi_sha256 *hash, char text[LWI_SHA256_SIZE]);
/** All three, of one block. */
void lwi_sha256_of(const void *data, size_t size, char text[LWI_SHA256_SIZE]);

#endif
