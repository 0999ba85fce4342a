// manifest.h -- what determines the numbers of a study, as a file.
#ifndef LWI_STORE_MANIFEST_H
#define LWI_STORE_MANIFEST_H

#include "base/sha256.h"
#include "batch/table.h"

#include <linkwork/io.h>
#include <linkwork/store.h>

#define LWI_MANIFEST_FILE "manifest.json"
#define LWI_MANIFEST_PARTS "parts"

/** A file of the folder, named by its content. */
typedef struct lwi_stored_file {
    const char *name; ///< "model-0123456789abcdef.yaml"
    char hash[LWI_SHA256_SIZE];
} lwi_stored_file;

/** How the model is read again. */
typedef struct lwi_stored_model {
    /** The text is that of a file with parameters, some of which vary: `desc` has how it was read, with an absolute
     *  folder.  Else the file is in canonical form, and nothing else is needed. */
    bool as_given;
    lw_read_desc desc;
    char canonical[LWI_SHA256_SIZE]; ///< hash of the model in canonical form
} lwi_stored_model;

/** Strings are in the arena of the function that fills it. */
typedef struct lwi_manifest {
    const char *version; ///< of the library
    lwi_stored_file model, variants;
    lwi_stored_model read;
    const char *about;
    const char *statistics; ///< patterns of columns; NULL: the measures of the model
    lw_options options;     ///< resolved; threads 0
    int rows;               ///< variants
    int part_rows;
    int reference;             ///< a variant that can run
    int columns;               ///< of numbers in the table of the study
    const char **name, **unit; ///< [columns]
    char hash[LWI_SHA256_SIZE];
} lwi_manifest;

/** Hashes a text and names its file, "model-0123456789abcdef.yaml".   @return LW_ERR_MEMORY */
lw_status lwi_manifest_name(lwi_stored_file *file, const char *kind, const char *ending,
                            const char *text, size_t size, lwi_arena *arena);
/** The manifest as JSON; fills manifest->hash.   @return LW_ERR_MEMORY */
lw_status lwi_manifest_write(lwi_manifest *manifest, lwi_arena *arena, char **text, size_t *size);
/** @param path  for messages      @return LW_ERR_PARSE, LW_ERR_MEMORY */
lw_status lwi_manifest_read(const char *text, size_t size, const char *path, lwi_arena *arena,
                            lwi_manifest *manifest, lw_error *error);
/** What differs between two studies, "the model"; NULL: nothing that numbers depend on. */
const char *lwi_manifest_difference(const lwi_manifest *a, const lwi_manifest *b);

#endif
