// test_meshes.c -- the corpus of meshes and random changes of it, by the checks of the fuzzers.
//
//   test_meshes [--mutations N] [--seed S]
#include "fuzz/check_mesh.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 32, MAX_BYTES = 1 << 14 };

typedef struct seed_file {
    char name[256];
    size_t length;
    char bytes[MAX_BYTES];
} seed_file;

static seed_file file[MAX_FILES];
static int nfile;
static uint64_t state;

static size_t below(size_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return n ? (size_t)(state >> 33) % n : 0;
}

static void load_corpus(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) && nfile < MAX_FILES;) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        FILE *f = *entry->d_name == '.' ? NULL : fopen(path, "rb");
        if (!f) continue;
        snprintf(file[nfile].name, sizeof file[nfile].name, "%s", entry->d_name);
        file[nfile].length = fread(file[nfile].bytes, 1, MAX_BYTES, f);
        nfile++;
        fclose(f);
    }
    if (dir) closedir(dir);
}

// Numbers that sizes and coordinates should not have, and pieces of other places.
static void mutate(char *bytes, size_t *length)
{
    static const uint32_t bad[] = {0,           1,           5,           0xffffffffu, 0x7fffffffu,
                                   0x80000000u, 0x7fc00000u, 0x7f800000u, 0x00000001u, 0x7f7fffffu};
    static const char *const words[] = {"-1",
                                        "0",
                                        "nan",
                                        "1e30",
                                        "-1e-30",
                                        "99999999999",
                                        "f 1 2 3 4 5\n",
                                        "v 0 0 0\n",
                                        "\\\n",
                                        "vertex 1 1 1\n",
                                        "endfacet\n",
                                        "solid ",
                                        "<node>",
                                        "</node>",
                                        "<instance_node url=\"#n\"/>",
                                        "<p>0 1 2 3</p>",
                                        "1e300 "};
    const size_t at = below(*length + 1);
    switch (below(6)) {
    case 0:
        if (at < *length) bytes[at] = (char)(bytes[at] ^ (char)(1 << below(8)));
        return;
    case 1: {
        const uint32_t value = bad[below(sizeof bad / sizeof *bad)];
        if (at + 4 <= *length) memcpy(bytes + at / 4 * 4, &value, 4);
        return;
    }
    case 2: {
        const char *word = words[below(sizeof words / sizeof *words)];
        const size_t n = strlen(word);
        if (*length + n > MAX_BYTES) return;
        memmove(bytes + at + n, bytes + at, *length - at);
        memcpy(bytes + at, word, n);
        *length += n;
        return;
    }
    case 3: {
        const size_t wanted = below(40), n = wanted < *length - at ? wanted : *length - at;
        memmove(bytes + at, bytes + at + n, *length - at - n);
        *length -= n;
        return;
    }
    case 4: {
        const size_t from = below(*length + 1), n = below(64);
        if (from + n <= *length && at + n <= *length) memmove(bytes + at, bytes + from, n);
        return;
    }
    default:
        if (below(4) == 0) *length = at;
    }
}

static int check(const char *bytes, size_t length, const char *name, long k, long count[2])
{
    bool is_read;
    char *exact = malloc(length ? length : 1); // a sanitizer detects what is read behind it
    memcpy(exact, bytes, length);
    const char *wrong = check_mesh(exact, length, strrchr(name, '.') + 1, &is_read);
    count[is_read]++;
    free(exact);
    if (wrong) fprintf(stderr, "FAILED: %s, mutation %ld: %s\n", name, k, wrong);
    return wrong != NULL;
}

int main(int argc, char **argv)
{
    static char bytes[MAX_BYTES];
    long mutations = 4000, seed = 1, count[2] = {0};
    int failed = 0;
    for (int i = 1; i + 1 < argc; i += 2)
        *(strcmp(argv[i], "--seed") == 0 ? &seed : &mutations) = strtol(argv[i + 1], NULL, 10);
    load_corpus(LW_SOURCE_DIR "/tests/fuzz/corpus/meshes");
    if (!nfile) return fprintf(stderr, "no corpus\n"), 2;
    for (int i = 0; i < nfile; i++)
        failed |= check(file[i].bytes, file[i].length, file[i].name, -1, count);
    if (count[1] != nfile)
        failed |= fprintf(stderr, "FAILED: a file of the corpus is refused\n") > 0;
    for (long k = 0; k < mutations && !failed; k++) {
        state = (uint64_t)seed * 0xD1B54A32D192ED03u + (uint64_t)k * 0x9E3779B97F4A7C15u;
        const seed_file *s = &file[below((size_t)nfile)];
        size_t length = s->length;
        memcpy(bytes, s->bytes, length);
        for (size_t n = 1 + below(4); n > 0; n--) mutate(bytes, &length);
        failed |= check(bytes, length, s->name, k, count);
    }
    printf("%d files, %ld inputs: %ld read, %ld refused\n", nfile, count[0] + count[1], count[1],
           count[0]);
    return failed;
}
