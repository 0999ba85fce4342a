// compiler.h -- the system's compiler, called with a list of arguments, without a shell.
#ifndef LWI_COMPILED_COMPILER_H
#define LWI_COMPILED_COMPILER_H

#include "base/base.h"
#include "base/sha256.h"
#include "compiled/cache.h"

enum { LWI_COMPILER_WORDS = 16 };

typedef struct lwi_compiler {
    char command[512];
    char *word[LWI_COMPILER_WORDS + 1]; ///< of the command, NULL at their end
    int nword;
    char version[256];            ///< first line of what it says of itself
    int (*interrupt)(void *user); ///< of lw_compiled_desc; NULL unless the caller sets it
    void *interrupt_user;
} lwi_compiler;

/** Separated by blanks: those that keep the same bits in lanes of any number. */
extern const char lwi_compiler_flags[];

/** @param given  NULL: $CC, else the first of cc, gcc, clang that can be called
 *  @param cache  of versions: a compiler that is there, and has not changed, is not called; NULL: it is called
 *  @return LW_ERR_UNSUPPORTED: there is none; the message has the command and the reason */
lw_status lwi_compiler_find(const char *given, const lwi_cache *cache, lwi_compiler *compiler,
                            lw_error *error);
/** Adds all to a key on which its results depend besides the sources: command, version, flags, processor. */
void lwi_compiler_add(const lwi_compiler *compiler, lwi_sha256 *hash);
/** Compiles sources (paths, NULL at the end) to the shared object `object`; `log` is a file for messages.
 *  @return LW_ERR_UNSUPPORTED with the first of them; LW_ERR_INTERRUPTED */
lw_status lwi_compiler_build(const lwi_compiler *compiler, const char *const *sources,
                             const char *object, const char *log, lw_error *error);

#endif
