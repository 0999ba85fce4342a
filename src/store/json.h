// json.h -- files of a folder as JSON that ends with the hash of all text before it: one that is damaged, or was
// changed by hand, is refused.
#ifndef LWI_STORE_JSON_H
#define LWI_STORE_JSON_H

#include "base/sha256.h"
#include "io/document.h"

#include <linkwork/options.h>

#include <stdio.h>

// ---- writing: members of the outermost object, each with a comma

void lwi_json_string(FILE *file, const char *text);
void lwi_json_member(FILE *file, const char *key, const char *text);
/** The shortest number that reads back to the same; a string, where it is not finite. */
void lwi_json_number(FILE *file, double value);
void lwi_json_strings(FILE *file, const char *key, const char *const *text, int n);
void lwi_json_options(FILE *file, const lw_options *options);
/** An object with these members, ended by their hash.   @return LW_ERR_MEMORY */
lw_status lwi_json_close(const char *members, size_t size, lwi_arena *arena,
                         char hash[LWI_SHA256_SIZE], char **text, size_t *length);

// ---- reading

typedef struct lwi_json {
    const char *path;
    const lwi_document_value *root;
    lwi_arena *arena;
    lw_error *error;
    const char *remedy; ///< for a damaged file, "; ..."; NULL: none
} lwi_json;

/** Compares the hash, and parses.   @return LW_ERR_PARSE, LW_ERR_MEMORY */
lw_status lwi_json_open(lwi_json *json, const char *text, size_t size, char hash[LWI_SHA256_SIZE]);
/** "'rows': expected a number" */
lw_status lwi_json_wrong(const lwi_json *json, const char *key, const char *expected);
/** NULL: there is none. */
const lwi_document_value *lwi_json_find(const lwi_json *json, const char *key);
lw_status lwi_json_read_string(const lwi_json *json, const char *key, const char **text);
lw_status lwi_json_read_integer(const lwi_json *json, const char *key, int from, int to,
                                int *number);
lw_status lwi_json_read_real(const lwi_json *json, const char *key, double *value);
lw_status lwi_json_read_strings(const lwi_json *json, const char *key, int *n, const char ***text);
/** Numbers, also such that are not finite. */
lw_status lwi_json_read_numbers(const lwi_json *json, const char *key, int *n, double **numbers);
lw_status lwi_json_read_options(const lwi_json *json, lw_options *options);

#endif
