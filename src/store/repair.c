// repair.c -- a manifest that is missing or damaged is written again by the command that began the study.  The size of parts, which
// that command need not state, follows from the parts that are there; their names prove that it is the same study.
#include "store/store.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

// What the names and the last lines of parts state of their size.
typedef struct found {
    int parts;
    int largest; // rows of one
    long common; // a size that the numbers of all first rows are multiples of
} found;

static long common_divisor(long a, long b)
{
    while (b) {
        const long rest = a % b;
        a = b, b = rest;
    }
    return a;
}

static lw_status scan_parts(const lw_store *s, found *f, lwi_arena *arena)
{
    DIR *folder = opendir(s->parts);
    if (!folder) return LW_OK; // not made yet
    lw_status status = LW_OK;
    for (const struct dirent *entry; status == LW_OK && (entry = readdir(folder));) {
        if (strspn(entry->d_name, "0123456789") != 10) continue;
        const char *path = lwi_folder_path(arena, s->parts, entry->d_name);
        const int rows = path ? lwi_part_rows(path) : 0;
        if (!path) status = LW_ERR_MEMORY;
        f->parts++;
        f->largest = rows > f->largest ? rows : f->largest;
        f->common = common_divisor(f->common, strtol(entry->d_name, NULL, 10));
    }
    closedir(folder);
    return status;
}

// Whether a part is there that this study has with this size.
static lw_status try_size(lw_store *s, long rows, bool *fits)
{
    char *text;
    size_t size;
    lw_store_state state;
    lwi_manifest *m = &s->manifest;
    *fits = false;
    if (rows < 1 || rows > m->rows) return LW_OK;
    m->part_rows = (int)rows;
    if (lwi_manifest_write(m, &s->arena, &text, &size) != LW_OK) return LW_ERR_MEMORY;
    TRY(lw_store_count(s, &state));
    *fits = state.done > 0;
    return LW_OK;
}

lw_status lwi_store_repair_size(lw_store *s, int *rows, lw_error *error)
{
    lwi_arena arena;
    found f = {0};
    lwi_arena_init(&arena, NULL);
    lw_status status = scan_parts(s, &f, &arena);
    lwi_arena_free(&arena);
    const long size[] = {*rows, f.largest, f.common};
    bool fits = f.parts == 0;
    for (int i = 0; i < 3 && status == LW_OK && !fits; i++) {
        status = try_size(s, size[i], &fits);
        if (fits) *rows = (int)size[i];
    }
    if (status != LW_OK)
        return lwi_fail(error, status, "no memory for a study, or its parts cannot be read");
    if (fits) return LW_OK;
    return lwi_fail_at(
        error, LW_ERR_ARGUMENT, s->folder, 0, 0,
        "its manifest is missing or damaged, and its parts are not those of this study; "
        "expected the command that began it, or another folder");
}
