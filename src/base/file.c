// file.c -- files that are read, and files that one run writes.
//
// The lock is that of an open file description (fcntl), not of flock, which the HDF5 library takes for reading a file
// while it is written.  It covers one byte that no file has.
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef F_OFD_SETLK
#define LOCK_COMMAND F_OFD_SETLK
#else
#define LOCK_COMMAND F_SETLK // of the process: runs of other processes are excluded
#endif

#define LOCKED_BYTE ((off_t)1 << (8 * sizeof(off_t) - 3))

static lw_status stream_of(int descriptor, const char *mode, FILE **file, lw_error *error)
{
    FILE *stream = fdopen(descriptor, mode);
    if (!stream) {
        close(descriptor);
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for an open file");
    }
    *file = stream;
    return LW_OK;
}

// ------------------------------------------------------------------------------------------ reading

lw_status lwi_open_input(const char *path, int *file, lw_error *error)
{
    struct stat about = {0};
    const int f = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (f < 0)
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be opened: %s", strerror(errno));
    if (!fstat(f, &about) && S_ISREG(about.st_mode)) {
        *file = f;
        return LW_OK;
    }
    const bool folder = S_ISDIR(about.st_mode);
    close(f);
    return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be read: %s",
                       folder ? strerror(EISDIR) : "not a regular file");
}

lw_status lwi_open_input_stream(const char *path, FILE **file, lw_error *error)
{
    int f = -1;
    TRY(lwi_open_input(path, &f, error));
    return stream_of(f, "rb", file, error);
}

// ------------------------------------------------------------------------------------------ writing

static bool is_taken(int file)
{
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET;
    lock.l_start = LOCKED_BYTE, lock.l_len = 1;
    // file systems without locks give other errors
    return fcntl(file, LOCK_COMMAND, &lock) < 0 && (errno == EAGAIN || errno == EACCES);
}

lw_status lwi_open_output(const char *path, bool update, int *file, lw_error *error)
{
    struct stat about;
    const int f = open(path, (update ? O_RDWR : O_WRONLY) | O_CREAT | O_CLOEXEC, 0666);
    if (f < 0)
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    const bool plain = !fstat(f, &about) && S_ISREG(about.st_mode);
    lw_status status = LW_OK;
    if (!plain && update)
        status = lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: not a regular file");
    else if (plain && is_taken(f))
        status = lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "is being written by another run");
    else if (plain && ftruncate(f, 0))
        status =
            lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s", strerror(errno));
    if (status == LW_OK)
        *file = f;
    else
        close(f);
    return status;
}

lw_status lwi_open_output_stream(const char *path, FILE **file, lw_error *error)
{
    int f = -1;
    TRY(lwi_open_output(path, false, &f, error));
    return stream_of(f, "w", file, error);
}

lw_status lwi_reopen_output_stream(const char *path, FILE **file, lw_error *error)
{
    struct stat about;
    const int f = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (f < 0)
        return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be opened: %s", strerror(errno));
    const bool plain = !fstat(f, &about) && S_ISREG(about.st_mode);
    if (plain && !is_taken(f)) return stream_of(f, "r+", file, error);
    close(f);
    return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written: %s",
                       plain ? "is being written by another run" : "not a regular file");
}

lw_status lwi_close_output(FILE *file, const char *path, lw_error *error)
{
    bool lost = ferror(file) != 0; // the caller has just written
    int reason = lost ? errno : 0;
    if (fflush(file)) lost = true, reason = reason ? reason : errno;
    if (fclose(file)) lost = true, reason = reason ? reason : errno;
    if (!lost) return LW_OK;
    return lwi_fail_at(error, LW_ERR_IO, path, 0, 0, "cannot be written completely: %s",
                       strerror(reason ? reason : EIO));
}
