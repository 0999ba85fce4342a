// store.h -- inside of a study in a folder.
#ifndef LWI_STORE_STORE_H
#define LWI_STORE_STORE_H

#include "store/folder.h"
#include "store/manifest.h"

enum { LWI_PART_NAME = 48 }; ///< bytes

struct lw_store {
    lwi_arena arena;
    const char *folder, *parts; ///< the second is a folder of the first
    lwi_manifest manifest;
    lw_model *model;
    lw_table *variants;
    lw_error error;
};

static inline int lwi_store_parts(const lwi_manifest *m)
{
    return (m->rows + m->part_rows - 1) / m->part_rows;
}
static inline int lwi_store_first(const lwi_manifest *m, int part)
{
    return part * m->part_rows;
}
static inline int lwi_store_count(const lwi_manifest *m, int part)
{
    const int left = m->rows - lwi_store_first(m, part);
    return left < m->part_rows ? left : m->part_rows;
}

// ---- model.c

/** The model as the folder keeps it: its own file if one of its parameters varies, else the model in canonical form.
 *  Fills manifest->read and the name in manifest->model.
 *  @param text  out: in the arena */
lw_status lwi_store_model_text(const lw_model *model, const lw_table *variants,
                               lwi_manifest *manifest, lwi_arena *arena, const char **text,
                               size_t *size, lw_error *error);
/** The model of the folder's text; it must be the one that the manifest was made with. */
lw_status lwi_store_model_parse(const lwi_manifest *manifest, const char *text, size_t size,
                                lw_model **model, lw_error *error);

// ---- part.c

/** "0000000500-0123456789abcdef.csv": the first variant, and the hash of what the part is made from. */
void lwi_part_name(const lwi_manifest *manifest, int part, char name[LWI_PART_NAME]);

/** A complete part: a table as lw_table_write has it, and a line that closes it. */
typedef struct lwi_part {
    const char *rows; ///< behind the header line
    size_t size;      ///< bytes of the rows
    const char *text;
    int failed; ///< variants
} lwi_part;
/** Reads a part and compares its hash, its first row and the number of its rows.
 *  @return LW_ERR_IO: not there, or cannot be read; LW_ERR_PARSE: damaged; LW_ERR_MEMORY */
lw_status lwi_part_read(const lw_store *store, int part, lwi_arena *arena, lwi_part *found,
                        lw_error *error);
/** Failed variants by the last line alone; -1: it is not as it should be. */
int lwi_part_failed(const lw_store *store, int part);
/** Rows that the last line of such a file states; 0: none. */
int lwi_part_rows(const char *path);

// ---- repair.c

/** The size of the parts in the folder, where the manifest is lost.
 *  @param rows  in: variants of a part as they were asked for, or 0; out: those of the parts; unchanged without parts
 *  @return LW_ERR_ARGUMENT: parts of another study */
lw_status lwi_store_repair_size(lw_store *store, int *rows, lw_error *error);

// ---- size.c

/** Variants of a part so that it takes some 20 s, by running a few of them.
 *  @param threads  0: all processors      @return errors of the runs */
lw_status lwi_store_size(const lw_model *model, const lwi_manifest *manifest,
                         const lw_table *variants, int threads, int *rows, lw_error *error);

#endif
