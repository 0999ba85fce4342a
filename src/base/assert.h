// assert.h -- runtime assertions: conditions that hold unless the library has a defect.
//
// LWI_ASSERT stops the program with file, line and condition where NDEBUG is not defined (dev and sanitizer
// builds) and is nothing in a release build, where its condition is not evaluated.  Callers' mistakes are never
// asserted: they return a status with a message.
//
// LWI_INVARIANT is for the edges of the API, in every build: it returns LW_ERR_INTERNAL with a message that names the
// place, so that a broken invariant reaches the caller as an error.
#ifndef LWI_BASE_ASSERT_H
#define LWI_BASE_ASSERT_H

#include "base/base.h"

/** Writes "file:line: assertion failed: condition" to stderr and aborts. */
#ifdef __cplusplus
[[noreturn]]
#else
_Noreturn
#endif
void lwi_assert_failed(const char *file, int line, const char *condition);

#ifdef NDEBUG
#define LWI_ASSERT(condition) ((void)sizeof(condition))
#else
#define LWI_ASSERT(condition)                                                                      \
    ((condition) ? (void)0 : lwi_assert_failed(__FILE__, __LINE__, #condition))
#endif

/** 0 <= index < count */
#define LWI_ASSERT_INDEX(index, count) LWI_ASSERT((index) >= 0 && (index) < (count))

/** Returns LW_ERR_INTERNAL from the calling function, with *error filled (may be NULL), unless the condition holds. */
#define LWI_INVARIANT(condition, error)                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return lwi_fail((error), LW_ERR_INTERNAL,                                              \
                            "internal error at %s:%d: %s does not hold; please report it",         \
                            __FILE__, __LINE__, #condition);                                       \
    } while (0)

#endif
