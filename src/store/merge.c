// merge.c -- all parts of a study in one table; and which parts are damaged.
#define _XOPEN_SOURCE 700
#include "store/store.h"

#include "base/file.h"
#include "io/result/csv.h"
#include "io/result/result.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STALE = 3600 }; // s: an older temporary file has no writer

// ------------------------------------------------------------------------------------------ merging

static lw_status check_complete(lw_store *s)
{
    lw_store_state state;
    TRY(lw_store_count(s, &state));
    if (state.done == state.parts) return LW_OK;
    return lwi_fail_at(&s->error, LW_ERR_ARGUMENT, s->folder, 0, 0,
                       "%d of %d parts are missing; `linkwork sweep --resume %.120s` makes them",
                       state.parts - state.done, state.parts, s->folder);
}

// The rows of one part; of the first one its header, too.
static lw_status append(lw_store *s, int part, FILE *file)
{
    lwi_arena arena;
    lwi_part p;
    lwi_arena_init(&arena, NULL);
    const lw_status status = lwi_part_read(s, part, &arena, &p, &s->error);
    if (status == LW_OK && part == 0) fwrite(p.text, 1, (size_t)(p.rows - p.text), file);
    if (status == LW_OK) fwrite(p.rows, 1, p.size, file);
    lwi_arena_free(&arena);
    return status;
}

static lw_status write_csv(lw_store *s, const char *path)
{
    FILE *file;
    lw_status status = LW_OK;
    TRY(lwi_open_output_stream(path, &file, &s->error));
    for (int k = 0; k < lwi_store_parts(&s->manifest) && status == LW_OK && !ferror(file); k++)
        status = append(s, k, file);
    const lw_status closed = lwi_close_output(file, path, status == LW_OK ? &s->error : NULL);
    return status == LW_OK ? closed : status;
}

// By way of a table in CSV, which has no units.
static lw_status write_hdf5(lw_store *s, const char *csv, const char *path)
{
    lw_table *table;
    TRY(write_csv(s, csv));
    TRY(lw_table_read_study(csv, &table, &s->error));
    lw_status status = LW_OK;
    for (int k = 0; k < table->columns && k < s->manifest.columns && status == LW_OK; k++)
        status = lwi_table_name(table, k, s->manifest.name[k], s->manifest.unit[k]);
    if (status != LW_OK) lwi_fail(&s->error, status, "no memory for a table");
    if (status == LW_OK) status = lw_table_write(table, path, &s->error);
    lw_table_free(table);
    return status;
}

static bool same_place(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

// Is a table of this name the variants of the study, or in the folder of the parts?
static lw_status check_not_own(lw_store *s, const char *path, lwi_arena *arena)
{
    const char *variants = lwi_folder_path(arena, s->folder, s->manifest.variants.name);
    char *folder = lwi_arena_text(arena, path);
    if (!variants || !folder) return lwi_fail(&s->error, LW_ERR_MEMORY, "no memory for a path");
    char *slash = strrchr(folder, '/');
    if (slash) slash[1] = 0;
    if (!same_place(path, variants) && !same_place(slash ? folder : ".", s->parts)) return LW_OK;
    return lwi_fail_at(&s->error, LW_ERR_ARGUMENT, path, 0, 0,
                       "is a place of the study's own files; expected another to write");
}

// The file gets its name when it is complete.
static lw_status merge(lw_store *s, const char *path, lwi_arena *arena)
{
    const bool hdf5 = lwi_result_path_ends(path, ".h5");
    const size_t room = strlen(path) + 60;
    char *temporary = lwi_arena_chars(arena, room), *csv = lwi_arena_chars(arena, room);
    if (!temporary || !csv) return lwi_fail(&s->error, LW_ERR_MEMORY, "no memory for a table");
    snprintf(temporary, room, "%s.part-%ld%s", path, (long)getpid(), hdf5 ? ".h5" : ".csv");
    snprintf(csv, room, "%s.part-%ld.csv", path, (long)getpid());
    lw_status status = hdf5 ? write_hdf5(s, csv, temporary) : write_csv(s, temporary);
    if (status == LW_OK && rename(temporary, path))
        status =
            lwi_fail_at(&s->error, LW_ERR_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    if (status != LW_OK) unlink(temporary);
    if (hdf5) unlink(csv);
    return status;
}

lw_status lw_store_merge(lw_store *s, const char *path)
{
    if (!s) return LW_ERR_ARGUMENT;
    if (!path) return lwi_fail(&s->error, LW_ERR_ARGUMENT, "path must be given");
    if (!lwi_result_path_ends(path, ".csv") && !lwi_result_path_ends(path, ".h5"))
        return lwi_fail_at(&s->error, LW_ERR_ARGUMENT, path, 0, 0,
                           "unknown ending of a table, known: .csv .h5");
    lwi_arena arena;
    TRY(check_complete(s));
    lwi_arena_init(&arena, NULL);
    lw_status status = check_not_own(s, path, &arena);
    if (status == LW_OK) status = merge(s, path, &arena);
    lwi_arena_free(&arena);
    return status;
}

// ----------------------------------------------------------------------------------------- verifying

static void remove_stale(const lw_store *s, const char *name)
{
    lwi_arena arena;
    struct stat about;
    if (strncmp(name, LWI_FOLDER_TEMPORARY, strlen(LWI_FOLDER_TEMPORARY)) != 0) return;
    lwi_arena_init(&arena, NULL);
    const char *path = lwi_folder_path(&arena, s->parts, name);
    if (path && !stat(path, &about) && time(NULL) - about.st_mtime > STALE) unlink(path);
    lwi_arena_free(&arena);
}

static void remove_temporary(const lw_store *s)
{
    DIR *folder = opendir(s->parts);
    if (!folder) return;
    for (const struct dirent *entry; (entry = readdir(folder));) remove_stale(s, entry->d_name);
    closedir(folder);
}

static lw_status verify_part(lw_store *s, int part, lw_store_damage report, void *user,
                             int *damaged)
{
    lwi_arena arena;
    lwi_part p;
    char name[LWI_PART_NAME];
    if (!lw_store_has(s, part)) return LW_OK;
    lwi_arena_init(&arena, NULL);
    lw_status status = lwi_part_read(s, part, &arena, &p, &s->error);
    if (status == LW_ERR_PARSE) {
        lwi_part_name(&s->manifest, part, name);
        const char *path = lwi_folder_path(&arena, s->parts, name);
        if (report) report(user, path ? path : name, s->error.text);
        ++*damaged;
        status = path ? LW_OK : lwi_fail(&s->error, LW_ERR_MEMORY, "no memory for a part");
        if (path && unlink(path))
            status = lwi_fail_at(&s->error, LW_ERR_IO, path, 0, 0, "cannot be removed: %s",
                                 strerror(errno));
    }
    lwi_arena_free(&arena);
    return status;
}

lw_status lw_store_verify(lw_store *s, lw_store_damage report, void *user, int *damaged)
{
    if (!s) return LW_ERR_ARGUMENT;
    if (!damaged) return lwi_fail(&s->error, LW_ERR_ARGUMENT, "damaged must be given");
    int found = 0;
    for (int k = 0; k < lwi_store_parts(&s->manifest); k++)
        TRY(verify_part(s, k, report, user, &found));
    remove_temporary(s);
    *damaged = found;
    return LW_OK;
}
