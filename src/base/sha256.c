// sha256.c -- the hash SHA-256 [fips180-4, 6.2].
#include "base/sha256.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// clang-format off
static const uint32_t k_[64] = { // first 32 bits of the fractional parts of the cube roots of the first 64 primes
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
// clang-format on

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t word_at(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void schedule(const unsigned char *block, uint32_t w[64])
{
    for (int t = 0; t < 16; t++) w[t] = word_at(block + 4 * t);
    for (int t = 16; t < 64; t++) {
        const uint32_t a = w[t - 15], b = w[t - 2];
        w[t] = (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10) + w[t - 7] +
               (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[t - 16];
    }
}

// A round.  The letters of the standard move by one place after each: here the arguments do, and only d and h change.
static inline void turn(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
                        uint32_t g, uint32_t *h, uint32_t constant)
{
    const uint32_t choice = g ^ (e & (f ^ g)), majority = (a & b) | (c & (a | b));
    const uint32_t t1 = *h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choice + constant;
    *d += t1;
    *h = t1 + (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;
}

static void compress(uint32_t state[8], const unsigned char *block)
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    schedule(block, w);
    for (int t = 0; t < 64; t += 8) {
        turn(a, b, c, &d, e, f, g, &h, k_[t] + w[t]);
        turn(h, a, b, &c, d, e, f, &g, k_[t + 1] + w[t + 1]);
        turn(g, h, a, &b, c, d, e, &f, k_[t + 2] + w[t + 2]);
        turn(f, g, h, &a, b, c, d, &e, k_[t + 3] + w[t + 3]);
        turn(e, f, g, &h, a, b, c, &d, k_[t + 4] + w[t + 4]);
        turn(d, e, f, &g, h, a, b, &c, k_[t + 5] + w[t + 5]);
        turn(c, d, e, &f, g, h, a, &b, k_[t + 6] + w[t + 6]);
        turn(b, c, d, &e, f, g, h, &a, k_[t + 7] + w[t + 7]);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

void lwi_sha256_begin(lwi_sha256 *hash)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, start, sizeof start);
    hash->bytes = 0;
}

void lwi_sha256_add(lwi_sha256 *hash, const void *data, size_t size)
{
    const unsigned char *from = data;
    while (size > 0) {
        const size_t at = hash->bytes % 64, room = 64 - at, n = size < room ? size : room;
        const bool whole = n == 64;
        if (!whole) memcpy(hash->block + at, from, n);
        if (at + n == 64) compress(hash->state, whole ? from : hash->block);
        hash->bytes += n;
        from += n;
        size -= n;
    }
}

void lwi_sha256_end(lwi_sha256 *hash, char text[LWI_SHA256_SIZE])
{
    static const unsigned char padding[64] = {0x80};
    const uint64_t bits = 8 * hash->bytes;
    const size_t at = hash->bytes % 64;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    lwi_sha256_add(hash, padding, at < 56 ? 56 - at : 120 - at);
    lwi_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(text + 8 * i, 9, "%08x", (unsigned)hash->state[i]);
}

void lwi_sha256_of(const void *data, size_t size, char text[LWI_SHA256_SIZE])
{
    lwi_sha256 hash;
    lwi_sha256_begin(&hash);
    lwi_sha256_add(&hash, data, size);
    lwi_sha256_end(&hash, text);
}
