// spool.h -- rows that come in another order than they are written in wait in a file without a name.
#ifndef LWI_IO_RESULT_SPOOL_H
#define LWI_IO_RESULT_SPOOL_H

#include "base/base.h"

typedef struct lwi_spool lwi_spool; ///< one thread at a time

/** A file in the folder of `path`, gone when the program ends.
 *  @param instances  rows of one sample, an output time     @param n  numbers of a row
 *  @return LW_ERR_IO, with errno; LW_ERR_MEMORY */
lw_status lwi_spool_create(const char *path, int instances, int n, lwi_spool **spool);
void lwi_spool_free(lwi_spool *spool); ///< NULL is allowed
bool lwi_spool_is_empty(const lwi_spool *spool);
/** The row of an instance at the sample of this number.      @return LW_ERR_IO, with errno */
lw_status lwi_spool_put(lwi_spool *spool, long sample, int instance, const double *row);
/** Calls `write` for all rows, by sample and then by instance.      @return LW_ERR_IO, with errno; what `write` returns */
lw_status lwi_spool_each(lwi_spool *spool, lw_status (*write)(void *user, const double *row),
                         void *user);

#endif
