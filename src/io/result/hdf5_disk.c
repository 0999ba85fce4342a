// hdf5_disk.c -- the file below the HDF5 library.
#include "io/result/hdf5_disk.h"

#include "base/assert.h"
#include "base/file.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if H5_VERSION_GE(1, 14, 0)
#include <H5FDdevelop.h>
#endif

// Bytes that were written and are not in the file; later ones replace earlier ones.
typedef struct patch {
    struct patch *next;
    haddr_t at;
    size_t size;
    unsigned char bytes[];
} patch;

struct lwi_hdf5_disk {
    int file;
    hid_t driver; // -1: not registered yet
    bool writable;
    int failure; // errno of the first failed call
    bool hold;
    haddr_t end; // of the file, patches included
    patch *first, *last;
};

// What the library has open.
typedef struct opened {
    H5FD_t library; // first
    lwi_hdf5_disk *disk;
    haddr_t allocated; // end of the addresses in use
} opened;

typedef struct driver_info {
    lwi_hdf5_disk *disk;
} driver_info;

// ----------------------------------------------------------------------------------------- patches

static void add_patch(lwi_hdf5_disk *d, haddr_t at, const void *bytes, size_t size)
{
    patch *p = lwi_allocate(NULL, sizeof *p + size);
    if (!p) {
        if (!d->failure) d->failure = ENOMEM;
        return;
    }
    *p = (patch){.at = at, .size = size};
    memcpy(p->bytes, bytes, size);
    if (d->last)
        d->last->next = p;
    else
        d->first = p;
    d->last = p;
}

static void free_patches(lwi_hdf5_disk *d)
{
    for (patch *p = d->first, *next; p; p = next) {
        next = p->next;
        lwi_release(NULL, p);
    }
    d->first = d->last = NULL;
}

// Puts the patches over bytes from `at` on.
static void apply_patches(const lwi_hdf5_disk *d, haddr_t at, unsigned char *bytes, size_t size)
{
    for (const patch *p = d->first; p; p = p->next) {
        const haddr_t from = p->at > at ? p->at : at;
        const haddr_t to = p->at + p->size < at + size ? p->at + p->size : at + size;
        if (from < to) memcpy(bytes + (from - at), p->bytes + (from - p->at), to - from);
    }
}

// -------------------------------------------------------------------------------------- the file

// Writes all, or records why not.
static void put(lwi_hdf5_disk *d, haddr_t at, const void *bytes, size_t size)
{
    for (size_t done = 0; done < size && !d->failure;) {
        const ssize_t n =
            pwrite(d->file, (const char *)bytes + done, size - done, (off_t)(at + done));
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            d->failure = n < 0 ? errno : ENOSPC;
    }
}

// Bytes behind the end of the file are zero.
static bool get(const lwi_hdf5_disk *d, haddr_t at, void *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(d->file, (char *)bytes + done, size - done, (off_t)(at + done));
        if (n == 0) break;
        if (n > 0)
            done += (size_t)n;
        else if (errno != EINTR)
            return false;
    }
    memset((char *)bytes + done, 0, size - done);
    return true;
}

static haddr_t length_of(int file)
{
    struct stat about;
    return fstat(file, &about) ? 0 : (haddr_t)about.st_size;
}

static lw_status make(int file, bool writable, lwi_hdf5_disk **disk, lw_error *error)
{
    lwi_hdf5_disk *d = lwi_allocate(NULL, sizeof *d);
    if (!d) {
        close(file);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for an HDF5 file");
    }
    *d = (lwi_hdf5_disk){.file = file, .driver = -1, .writable = writable, .end = length_of(file)};
    *disk = d;
    return LW_OK;
}

lw_status lwi_hdf5_disk_create(const char *path, lwi_hdf5_disk **disk, lw_error *error)
{
    int file;
    TRY(lwi_open_output(path, true, &file, error));
    return make(file, true, disk, error);
}

lw_status lwi_hdf5_disk_open(const char *path, lwi_hdf5_disk **disk, lw_error *error)
{
    int file;
    TRY(lwi_open_input(path, &file, error));
    return make(file, false, disk, error);
}

int lwi_hdf5_disk_close(lwi_hdf5_disk *d)
{
    if (!d) return 0;
    // some file systems report only here what was not written
    if (close(d->file) && !d->failure && d->writable && errno != EINTR) d->failure = errno;
    const int failure = d->failure;
    if (d->driver >= 0) H5FDunregister(d->driver);
    free_patches(d);
    lwi_release(NULL, d);
    return failure;
}

int lwi_hdf5_disk_sync(lwi_hdf5_disk *d)
{
    if (!d->failure && fsync(d->file) && errno != EINVAL && errno != EROFS) d->failure = errno;
    return d->failure;
}

int lwi_hdf5_disk_failure(const lwi_hdf5_disk *d)
{
    return d->failure;
}

size_t lwi_hdf5_disk_peek(const lwi_hdf5_disk *d, void *bytes, size_t size)
{
    const haddr_t length = length_of(d->file);
    if (!get(d, 0, bytes, size)) return 0;
    return length < size ? (size_t)length : size;
}

hsize_t lwi_hdf5_disk_length(const lwi_hdf5_disk *d)
{
    return length_of(d->file);
}

void lwi_hdf5_disk_hold(lwi_hdf5_disk *d)
{
    d->hold = true;
}

// The new end first, while the rest of the file does not refer to it.
void lwi_hdf5_disk_release(lwi_hdf5_disk *d)
{
    const haddr_t before = length_of(d->file);
    d->hold = false;
    for (const patch *p = d->first; p; p = p->next)
        if (p->at + p->size > before) put(d, p->at, p->bytes, p->size);
    if (d->failure && ftruncate(d->file, (off_t)before)) return; // as it was
    for (const patch *p = d->first; p; p = p->next) put(d, p->at, p->bytes, p->size);
    free_patches(d);
}

// ---------------------------------------------------------------------------------------- the driver

// The text that lwi_hdf5_fail finds.
static void push_error(const char *what)
{
    H5Epush2(H5E_DEFAULT, __FILE__, what, __LINE__, H5E_ERR_CLS, H5E_IO, H5E_READERROR,
             "error message = '%s'", strerror(errno));
}

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t maximum)
{
    (void)name, (void)maximum;
    const driver_info *info = H5Pget_driver_info(access);
    opened *o = info ? lwi_allocate(NULL, sizeof *o) : NULL;
    if (!o && info && !info->disk->failure) info->disk->failure = ENOMEM;
    if (!o) return NULL;
    memset(o, 0, sizeof *o);
    o->disk = info->disk;
    if (flags & H5F_ACC_TRUNC) o->disk->end = 0; // it is empty
    return &o->library;
}

static herr_t driver_close(H5FD_t *file)
{
    lwi_release(NULL, file);
    return 0;
}

static int driver_compare(const H5FD_t *a, const H5FD_t *b)
{
    const uintptr_t x = (uintptr_t)((const opened *)a)->disk;
    const uintptr_t y = (uintptr_t)((const opened *)b)->disk;
    return x < y ? -1 : x > y;
}

static herr_t driver_query(const H5FD_t *file, unsigned long *flags)
{
    (void)file;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE |
             H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_SUPPORTS_SWMR_IO |
             H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
    return 0;
}

static haddr_t driver_allocated(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    return ((const opened *)file)->allocated;
}

static herr_t driver_allocate(H5FD_t *file, H5FD_mem_t type, haddr_t end)
{
    (void)type;
    ((opened *)file)->allocated = end;
    return 0;
}

static haddr_t driver_end(const H5FD_t *file, H5FD_mem_t type)
{
    (void)type;
    const lwi_hdf5_disk *d = ((const opened *)file)->disk;
    return d->writable ? d->end : length_of(d->file); // its writer may be extending it
}

static bool fits(haddr_t at, size_t size)
{
    return at <= INT64_MAX && size <= INT64_MAX - at;
}

static herr_t driver_read(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                          void *bytes)
{
    (void)type, (void)transfer;
    const lwi_hdf5_disk *d = ((opened *)file)->disk;
    if (!fits(at, size)) return -1;
    if (!get(d, at, bytes, size)) {
        push_error("read");
        return -1;
    }
    apply_patches(d, at, bytes, size);
    return 0;
}

static herr_t driver_write(H5FD_t *file, H5FD_mem_t type, hid_t transfer, haddr_t at, size_t size,
                           const void *bytes)
{
    (void)type, (void)transfer;
    lwi_hdf5_disk *d = ((opened *)file)->disk;
    if (!fits(at, size) || !d->writable) return -1;
    if (!d->failure && !d->hold) put(d, at, bytes, size);
    if (d->failure || d->hold) add_patch(d, at, bytes, size);
    if (at + size > d->end) d->end = at + size;
    return 0;
}

// The file ends where the addresses in use end.
static herr_t driver_truncate(H5FD_t *file, hid_t transfer, hbool_t closing)
{
    (void)transfer, (void)closing;
    const opened *o = (opened *)file;
    lwi_hdf5_disk *d = o->disk;
    if (d->end == o->allocated || !d->writable) return 0;
    if (d->failure || d->hold) {
        const unsigned char last = 0;
        if (o->allocated > d->end) add_patch(d, o->allocated - 1, &last, 1);
    } else if (ftruncate(d->file, (off_t)o->allocated)) {
        d->failure = errno;
    }
    d->end = o->allocated;
    return 0;
}

// lwi_open_output has locked the file.  The library marks files as being written only if a driver has these.
static herr_t driver_lock(H5FD_t *file, hbool_t exclusive)
{
    (void)file, (void)exclusive;
    return 0;
}

static herr_t driver_unlock(H5FD_t *file)
{
    (void)file;
    return 0;
}

static const H5FD_class_t driver = {
#if H5_VERSION_GE(1, 14, 0)
    .version = H5FD_CLASS_VERSION,
    .value = (H5FD_class_value_t)600, // first of those that are not registered
#endif
    .name = "linkwork",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .fapl_size = sizeof(driver_info),
    .open = driver_open,
    .close = driver_close,
    .cmp = driver_compare,
    .query = driver_query,
    .get_eoa = driver_allocated,
    .set_eoa = driver_allocate,
    .get_eof = driver_end,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .lock = driver_lock,
    .unlock = driver_unlock,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

// Registered for each file until it is closed: the library uses the class of a driver after it has released the file's
// reference to it.
herr_t lwi_hdf5_disk_use(hid_t access, lwi_hdf5_disk *disk)
{
    const driver_info info = {disk};
    if (disk->driver < 0) disk->driver = H5FDregister(&driver);
    return disk->driver < 0 ? -1 : H5Pset_driver(access, disk->driver, &info);
}
