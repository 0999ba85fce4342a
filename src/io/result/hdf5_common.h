// hdf5_common.h -- what reading and writing of HDF5 share: silence, reasons, texts.
#ifndef LWI_IO_RESULT_HDF5_COMMON_H
#define LWI_IO_RESULT_HDF5_COMMON_H

#include "base/base.h"

#include <hdf5.h>

#define LWI_HDF5_FORMAT "linkwork-result"
enum { LWI_HDF5_FORMAT_VERSION = 2 };

/** Attributes "summary.KEY", which are there once the run is over. */
// clang-format off
#define LWI_HDF5_SUMMARY_LIST(X)                                                                   \
    X(steps, LONG) X(evaluations, LONG) X(rejected, LONG) X(restarts, LONG) X(projections, LONG)   \
    X(events, LONG) X(late, LONG) X(behind, DOUBLE) X(start, DOUBLE) X(end, DOUBLE)                \
    X(wall, DOUBLE) X(energy_error, DOUBLE) X(energy_scale, DOUBLE)
// clang-format on

/** Columns of /table that lie in one chunk: who reads one number of all rows reads so many more, who
 *  writes a row of 28 000 numbers touches 440 chunks. */
enum { LWI_HDF5_CHUNK_COLUMNS = 64 };

/** Texts have fixed lengths: those of variable length lie in a heap without checksums, in which the
 *  library of a damaged file loses its way. */
hid_t lwi_hdf5_text_type(size_t bytes);

/** An element of /columns: four texts and three integers, at these places. */
enum { LWI_HDF5_NAME, LWI_HDF5_DATASET, LWI_HDF5_UNIT, LWI_HDF5_FRAME, LWI_HDF5_TEXTS };
typedef struct lwi_hdf5_element {
    size_t room[LWI_HDF5_TEXTS]; ///< bytes of the texts, with their ends
    size_t text[LWI_HDF5_TEXTS], component, unique, place, bytes;
} lwi_hdf5_element;
extern const char *const lwi_hdf5_texts[LWI_HDF5_TEXTS]; ///< "name", "dataset", ...
/** Places from element->room.  @return the type in memory and in the file; < 0: failed */
hid_t lwi_hdf5_element_type(lwi_hdf5_element *element);

/** The library prints its errors unless it is told not to; the caller's wish comes back at the end.
 */
typedef struct lwi_hdf5_quiet {
    H5E_auto2_t function;
    void *data;
} lwi_hdf5_quiet;
lwi_hdf5_quiet lwi_hdf5_begin(void);
void lwi_hdf5_finish(lwi_hdf5_quiet quiet);
/** The same, but not after a failure: what a damaged file made the library lose, it would complain
 * of when the program ends. */
void lwi_hdf5_finish_after(lwi_hdf5_quiet quiet, lw_status status);

/** Fails with the innermost reason of the library's last failed call, the system's where there is
 * one: "cannot be written: No space left on device". */
lw_status lwi_hdf5_fail(lw_error *error, lw_status status, const char *path, const char *what);

/** Files of the version all of ours have, closed with everything in them. */
hid_t lwi_hdf5_access(void);
/** Properties of new files and groups: members keep their order. */
hid_t lwi_hdf5_ordered(hid_t class_id);

#endif
