// spool.c -- rows in a file, at places that follow from sample and instance.
//
// A place begins with a number that is 1 where there is a row.  Places that were never written are holes of the file,
// which read as zeros.
#include "io/result/spool.h"

#include "base/assert.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_BYTES = 1 << 20 };

struct lwi_spool {
    int file;
    int instances, n;
    long places;   // up to the last row
    double *place; // [1 + n] scratch
};

static size_t place_bytes(const lwi_spool *s)
{
    return (size_t)(1 + s->n) * sizeof(double);
}

// In the folder of `path`: it has room for the result, which a folder for temporary files may not have.
static int open_beside(const char *path)
{
    static const char ending[] = ".rows-XXXXXX";
    const size_t room = strlen(path) + sizeof ending;
    char *name = lwi_allocate(NULL, room);
    if (!name) return -1;
    snprintf(name, room, "%s%s", path, ending);
    const int file = mkstemp(name);
    if (file >= 0) unlink(name);
    lwi_release(NULL, name);
    return file;
}

lw_status lwi_spool_create(const char *path, int instances, int n, lwi_spool **spool)
{
    lwi_spool *s = lwi_allocate(NULL, sizeof *s);
    if (!s) return LW_ERR_MEMORY;
    *s = (lwi_spool){.file = -1, .instances = instances, .n = n};
    s->place = lwi_allocate(NULL, place_bytes(s));
    if (s->place) s->file = open_beside(path);
    if (s->file >= 0) {
        *spool = s;
        return LW_OK;
    }
    const int why = errno;
    const lw_status status = s->place ? LW_ERR_IO : LW_ERR_MEMORY;
    lwi_spool_free(s);
    errno = why;
    return status;
}

void lwi_spool_free(lwi_spool *s)
{
    if (!s) return;
    if (s->file >= 0) close(s->file);
    lwi_release(NULL, s->place);
    lwi_release(NULL, s);
}

bool lwi_spool_is_empty(const lwi_spool *s)
{
    return s->places == 0;
}

lw_status lwi_spool_put(lwi_spool *s, long sample, int instance, const double *row)
{
    LWI_ASSERT(sample >= 0);
    LWI_ASSERT_INDEX(instance, s->instances);
    const long place = sample * s->instances + instance;
    const size_t bytes = place_bytes(s);
    s->place[0] = 1;
    memcpy(s->place + 1, row, bytes - sizeof *row);
    for (size_t done = 0; done < bytes;) {
        const ssize_t wrote = pwrite(s->file, (const char *)s->place + done, bytes - done,
                                     (off_t)place * (off_t)bytes + (off_t)done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return LW_ERR_IO;
        done += (size_t)wrote;
    }
    if (place >= s->places) s->places = place + 1;
    return LW_OK;
}

// Bytes from `at` on
static lw_status read_bytes(const lwi_spool *s, off_t at, char *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        const ssize_t got = pread(s->file, bytes + done, count - done, at + (off_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return LW_ERR_IO;
        done += (size_t)got;
    }
    return LW_OK;
}

lw_status lwi_spool_each(lwi_spool *s, lw_status (*write)(void *user, const double *row),
                         void *user)
{
    const size_t bytes = place_bytes(s);
    const long block = bytes < READ_BYTES ? (long)(READ_BYTES / bytes) : 1;
    double *places = lwi_allocate(NULL, (size_t)block * bytes);
    lw_status status = places ? LW_OK : LW_ERR_MEMORY;
    for (long first = 0; first < s->places && status == LW_OK; first += block) {
        const long count = s->places - first < block ? s->places - first : block;
        status = read_bytes(s, (off_t)first * (off_t)bytes, (char *)places, (size_t)count * bytes);
        for (long k = 0; k < count && status == LW_OK; k++) {
            const double *place = places + k * (s->n + 1);
            if (place[0] != 0) status = write(user, place + 1);
        }
    }
    lwi_release(NULL, places);
    return status;
}
