// base.h -- status codes, errors, allocator, version.
#ifndef LINKWORK_BASE_H
#define LINKWORK_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LW_API __attribute__((visibility("default")))
#define LW_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define LW_API
#define LW_PRINTF(text, first)
#endif

#define LW_VERSION_MAJOR 0
#define LW_VERSION_MINOR 1
#define LW_VERSION_PATCH 0

/** Every status of the library.  Zero is success, everything else is negative. */
#define LW_STATUS_LIST(X)                                                                          \
    X(OK, 0, "success")                                                                            \
    X(ERR_ARGUMENT, -1, "argument missing, of wrong size or out of range")                         \
    X(ERR_MEMORY, -2, "allocation failed")                                                         \
    X(ERR_IO, -3, "file cannot be read or written")                                                \
    X(ERR_PARSE, -4, "file is not valid")                                                          \
    X(ERR_MODEL, -5, "model is not physical or not complete")                                      \
    X(ERR_UNSUPPORTED, -6, "this combination does not exist")                                      \
    X(ERR_SINGULAR, -7, "equations are singular in this configuration")                            \
    X(ERR_INTEGRATOR, -8, "integration cannot continue")                                           \
    X(ERR_NOT_FINITE, -9, "a result is not a finite number")                                       \
    X(ERR_INTERRUPTED, -10, "stopped by the caller")                                               \
    X(ERR_INTERNAL, -11, "a defect of the library")

#define X(name, value, text) LW_##name = value,
typedef enum lw_status { LW_STATUS_LIST(X) } lw_status;
#undef X

/** "success", "allocation failed", ...  Never NULL. */
LW_API const char *lw_status_text(lw_status status);

/** Detail of a failure, filled by calls that fail and left alone by others.  Owned by the caller; every
 *  pointer to one may be NULL. */
typedef struct lw_error {
    lw_status status;
    int line, column; ///< in the file; 0 when there is none
    char file[256];   ///< "" when there is none
    char text[512];   ///< "joint 'elbow': axis is the zero vector"
} lw_error;

/** Memory of an object, asked for at creation, and by some calls later (docs/architecture.md).  NULL stands for malloc and free.
 *  Other libraries take some by malloc in any case: SUNDIALS up to 6 kB for an integrator of any model; HDF5, libyaml, expat, cairo all. */
typedef struct lw_allocator {
    void *(*allocate)(void *user, size_t bytes); ///< 64-byte alignment is not required
    void (*release)(void *user, void *block);
    void *user;
} lw_allocator;

/** "0.1.0" */
LW_API const char *lw_version(void);

/** The one of `names` nearest to `name` by edit distance, or NULL when none is near: for messages. */
LW_API const char *lw_nearest(const char *name, const char *const *names, int count);

/** The number of a text, as options and model files have it: decimal, with a point in every locale, nothing
 *  behind it, finite.  False, with *value unchanged, if it is none or an argument is NULL. */
LW_API bool lw_number_read(const char *text, double *value);

#ifdef __cplusplus
}
#endif
#endif
