// hdf5_disk.h -- the file below the HDF5 library: a virtual file driver of ours.
//
// The library does not survive a file that cannot be written: it keeps what it could not write, tries again when the
// file is closed and when the program ends, and crashes there.  To the library writing always succeeds: the first
// failure is recorded, the file remains as it was at that time, and what is written later is held in memory, from where
// the library can read it back until it has closed the file.
#ifndef LWI_IO_RESULT_HDF5_DISK_H
#define LWI_IO_RESULT_HDF5_DISK_H

#include "base/base.h"

#include <hdf5.h>

typedef struct lwi_hdf5_disk lwi_hdf5_disk;

/** An empty file for writing, locked as by lwi_open_output, or a regular file for reading.  The library may open and
 *  close it several times meanwhile. */
lw_status lwi_hdf5_disk_create(const char *path, lwi_hdf5_disk **disk, lw_error *error);
lw_status lwi_hdf5_disk_open(const char *path, lwi_hdf5_disk **disk, lw_error *error);
/** Closes the file, after the library has; NULL is allowed.
 *  @return errno of the first failure; 0: everything that the library wrote is in the file */
int lwi_hdf5_disk_close(lwi_hdf5_disk *disk);

/** Forces what was written to the disk.  @return errno of the first failure; 0: none */
int lwi_hdf5_disk_sync(lwi_hdf5_disk *disk);
/** errno of the first failure; 0: none */
int lwi_hdf5_disk_failure(const lwi_hdf5_disk *disk);
/** The first bytes of the file.  @return how many there are */
size_t lwi_hdf5_disk_peek(const lwi_hdf5_disk *disk, void *bytes, size_t size);
/** Length of the file [bytes]. */
hsize_t lwi_hdf5_disk_length(const lwi_hdf5_disk *disk);

/** From now on what is written is held in memory, */
void lwi_hdf5_disk_hold(lwi_hdf5_disk *disk);
/** and written at once, all or nothing: if the file cannot grow it remains as it was.  The library must have closed it. */
void lwi_hdf5_disk_release(lwi_hdf5_disk *disk);

/** Sets the driver in properties of access to files.  Links to other files lead to this one. */
herr_t lwi_hdf5_disk_use(hid_t access, lwi_hdf5_disk *disk);

#endif
