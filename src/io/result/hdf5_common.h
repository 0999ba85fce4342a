// hdf5_common.h -- errors, types and properties for reading and writing HDF5.
#ifndef LWI_IO_RESULT_HDF5_COMMON_H
#define LWI_IO_RESULT_HDF5_COMMON_H

#include "io/result/hdf5_disk.h"
#include "io/result/hdf5_file.h"

#define LWI_HDF5_FORMAT "linkwork-result"
enum { LWI_HDF5_FORMAT_VERSION = 4 };

/** Attributes "summary.KEY", written when the run ends. */
// clang-format off
#define LWI_HDF5_SUMMARY_LIST(X)                                                                   \
    X(steps, LONG) X(evaluations, LONG) X(rejected, LONG) X(restarts, LONG) X(projections, LONG)   \
    X(events, LONG) X(late, LONG) X(behind, DOUBLE) X(start, DOUBLE) X(end, DOUBLE)                \
    X(wall, DOUBLE) X(energy_error, DOUBLE) X(energy_scale, DOUBLE)
// clang-format on

/** Attribute with the CRC-32 of model, notice, warnings and versions, terminators included. */
#define LWI_HDF5_STRINGS_CHECK "strings_crc32"
unsigned lwi_hdf5_strings_check(const lwi_result_meta *meta);

/** Type of strings of fixed length.  Strings of variable length are in a heap without checksums, which the
 *  library cannot read safely from a damaged file. */
hid_t lwi_hdf5_text_type(size_t bytes);

/** Layout of an element of /columns.  The reader takes the first part of it, which the library copies without
 *  conversion. */
enum {
    LWI_HDF5_NAME,
    LWI_HDF5_UNIT,
    LWI_HDF5_FRAME,
    LWI_HDF5_READ, ///< strings that the reader takes, with the integer `undetermined`
    LWI_HDF5_KIND = LWI_HDF5_READ,
    LWI_HDF5_ITEM,
    LWI_HDF5_QUANTITY,
    LWI_HDF5_STRINGS
};
typedef struct lwi_hdf5_element {
    size_t room[LWI_HDF5_STRINGS]; ///< bytes of the strings, terminators included
    size_t text[LWI_HDF5_STRINGS], undetermined, bytes;
} lwi_hdf5_element;
extern const char *const lwi_hdf5_strings[LWI_HDF5_STRINGS]; ///< "name", "unit", ...
/** Sets the offsets of the first `nstring` strings and of `undetermined` from element->room.
 *  @return the type in memory and in the file; < 0: failed */
hid_t lwi_hdf5_element_type(lwi_hdf5_element *element, int nstring);

/** Layout of an element of /events: time, row, instance, name, action. */
enum { LWI_HDF5_EVENT_STRINGS = 2 };
typedef struct lwi_hdf5_event_element {
    size_t room[LWI_HDF5_EVENT_STRINGS]; ///< bytes of the strings, terminators included
    size_t time, row, instance, text[LWI_HDF5_EVENT_STRINGS], bytes;
} lwi_hdf5_event_element;
extern const char *const lwi_hdf5_event_strings[LWI_HDF5_EVENT_STRINGS]; ///< "name", "action"
/** Sets the offsets from element->room. */
void lwi_hdf5_event_offsets(lwi_hdf5_event_element *element);
/** The type in memory and in the file; < 0: failed. */
hid_t lwi_hdf5_event_type(const lwi_hdf5_event_element *element);

/** The library does not survive allocations that fail, those of its set-up, of errors and of closing included.  This much is
 *  there when its calls begin, besides the buffers for large objects [bytes]. */
#ifndef LWI_HDF5_ROOM // fuzzers have less: under AddressSanitizer each attempt takes a millisecond
#define LWI_HDF5_ROOM (8 << 20)
#endif
/** Can LWI_HDF5_ROOM and `bytes` more be allocated? */
bool lwi_hdf5_has_room(size_t bytes);
/** So much memory, which is not touched: released before a file is closed. */
void *lwi_hdf5_reserve(void);

/** Error output of the library is suppressed between begin and finish, which restores the setting of the caller. */
typedef struct lwi_hdf5_quiet {
    H5E_auto2_t function;
    void *data;
} lwi_hdf5_quiet;
/** @param bytes  as of lwi_hdf5_has_room
 *  @return LW_ERR_MEMORY: there is no room, and nothing to finish */
lw_status lwi_hdf5_begin(size_t bytes, lwi_hdf5_quiet *quiet, lw_error *error);
/** Without this check: to close what is open. */
lwi_hdf5_quiet lwi_hdf5_begin_close(void *reserve);
void lwi_hdf5_finish(lwi_hdf5_quiet quiet);
/** As lwi_hdf5_finish, but error output stays suppressed after a failure: the library would print errors
 *  about a damaged file when the program ends. */
void lwi_hdf5_finish_after(lwi_hdf5_quiet quiet, lw_status status);

/** Fails with the innermost error of the last failed call of the library, or the error of the system if there
 *  is one: "cannot be written: No space left on device". */
lw_status lwi_hdf5_fail(lw_error *error, lw_status status, const char *path, const char *what);
/** The library could not open the file, or had no memory for it. */
lw_status lwi_hdf5_fail_open(lw_error *error, const lwi_hdf5_disk *disk, const char *path);

/** Access properties: our driver and file format version; closing the file closes all objects in it. */
hid_t lwi_hdf5_access(lwi_hdf5_disk *disk);
/** Creation properties of files and groups: members keep their order. */
hid_t lwi_hdf5_ordered(hid_t class_id);

/** Is there an object of that path in the file itself, not by a link to another one? */
bool lwi_hdf5_is_own(hid_t file, const char *path);
/** Opens a dataset of the file itself with all elements in it: not elsewhere, and not announced only.  For
 *  datasets of files that other programs are writing this holds for what they have flushed.
 *  @return < 0: there is none */
hid_t lwi_hdf5_open_dataset(hid_t file, const lwi_hdf5_disk *disk, const char *path, hid_t access);

#endif
