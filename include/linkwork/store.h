// store.h -- studies in folders: made in parts by any number of processes, on one machine or many, and continued after
// any end of a process.
//
// A folder has a manifest with everything that determines the numbers, the model, the variants, and one file for each
// part of the variants that has been computed.  A part appears under its name when it is complete and on the disk, so
// that a process may be killed at any time; its name is a hash of what it was made from, and its bits are the same
// for any process, with any number of threads and lanes.  Nothing is locked.
#ifndef LINKWORK_STORE_H
#define LINKWORK_STORE_H

#include <linkwork/batch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_store lw_store; ///< one thread at a time; a folder may be open in many processes

typedef struct lw_store_desc {
    size_t size;               ///< sizeof this struct, or 0: see linkwork.h
    const lw_options *options; ///< NULL: defaults; `threads` is not kept
    const lw_table *variants;  ///< of lw_design_create or lw_table_read
    const char *columns;       ///< as of lw_study_create: of which the table has statistics
    const char *about; ///< how the variants were made, for readers of the manifest; NULL: ""
    int part_rows; ///< variants of a part; 0: as many as take 20 s here, found by running a few of them
    int parts;     ///< at least so many parts, if there are as many variants; 0: any number
    int threads; ///< with which a few are run to find the size of parts; 0: all processors
} lw_store_desc;

/** Makes the folder of a study, or opens the one that is there if it has the same study.  What is missing of the path's
 *  last folder is created.
 *  @param model  is kept as a native file; where a parameter of its file varies, as that file, and files that it includes
 *                are read where they are; custom joints are refused
 *  @return LW_ERR_ARGUMENT: another study is in the folder; LW_ERR_IO; errors of lw_sweep_create, if no variant can run */
LW_API lw_status lw_store_create(const char *folder, const lw_model *model,
                                 const lw_store_desc *desc, lw_store **store, lw_error *error);
/** Opens the folder of a study.
 *  @return LW_ERR_IO, LW_ERR_PARSE: it has no manifest, or its files are damaged */
LW_API lw_status lw_store_open(const char *folder, lw_store **store, lw_error *error);
LW_API void lw_store_close(lw_store *store);

LW_API const char *lw_store_hash(const lw_store *store); ///< SHA-256 of the manifest; "" for NULL
LW_API int lw_store_variants(const lw_store *store);
LW_API int lw_store_parts(const lw_store *store); ///< numbered from 0
/** Variants of a part; parts have the variants in order.
 *  @param first  out; may be NULL      @return how many; 0 for a part that is not there */
LW_API int lw_store_part_rows(const lw_store *store, int part, int *first);
/** Is the part complete on the disk?   @cost one search of the folder */
LW_API bool lw_store_has(const lw_store *store, int part);
/** The model and the options, resolved; owned by the store. */
LW_API const lw_model *lw_store_model(const lw_store *store);
LW_API const lw_options *lw_store_options(const lw_store *store);

typedef struct lw_store_state {
    int parts, done;    ///< of them complete
    int variants, rows; ///< of them in complete parts
    int failed;         ///< of these
    int temporary;      ///< files of processes that are writing, or were killed while they wrote
} lw_store_state;
LW_API lw_status lw_store_count(lw_store *store, lw_store_state *state);

/** Makes a part, unless it is complete.
 *  @param threads, lanes  as of lw_batch_desc: the numbers do not depend on them
 *  @return LW_ERR_INTERRUPTED: `progress` ended it, nothing is kept of the part; LW_ERR_IO: it cannot be written, for
 *          example on a full disk; LW_ERR_UNSUPPORTED: the study was made by another version of the library */
LW_API lw_status lw_store_run(lw_store *store, int part, int threads, int lanes,
                              lw_progress progress, void *progress_user);

/** Called for every file that is damaged, with what is wrong. */
typedef void (*lw_store_damage)(void *user, const char *file, const char *what);
/** Reads all parts and removes those that are damaged, so that lw_store_run makes them; removes temporary files older than
 *  an hour.
 *  @param damaged  out: how many parts      @param report  may be NULL */
LW_API lw_status lw_store_verify(lw_store *store, lw_store_damage report, void *user, int *damaged);

/** Writes the table of the study, .csv or .h5: the bytes that lw_table_write gives for a sweep of all variants.
 *  @return LW_ERR_ARGUMENT: parts are missing; LW_ERR_PARSE: a part is damaged (lw_store_verify); LW_ERR_IO */
LW_API lw_status lw_store_merge(lw_store *store, const char *path);
LW_API const lw_error *lw_store_error(const lw_store *store); ///< of the last failed call

#ifdef __cplusplus
}
#endif
#endif
