// hdf5_signature.c -- is a file HDF5?  Asked of every result, so without the HDF5 library.
#include "base/file.h"
#include "io/result/hdf5_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

// [HDF5 File Format, II.A]
bool lwi_hdf5_is_signed(const unsigned char head[LWI_HDF5_SIGNATURE])
{
    static const unsigned char signature[LWI_HDF5_SIGNATURE] = {0x89, 'H',  'D',  'F',
                                                                '\r', '\n', 0x1a, '\n'};
    return !memcmp(head, signature, sizeof signature);
}

bool lwi_hdf5_recognise(const char *path)
{
    unsigned char head[LWI_HDF5_SIGNATURE];
    int file;
    if (lwi_open_input(path, &file, NULL) != LW_OK) return false;
    ssize_t n;
    do n = pread(file, head, sizeof head, 0);
    while (n < 0 && errno == EINTR);
    close(file);
    return n == sizeof head && lwi_hdf5_is_signed(head);
}
