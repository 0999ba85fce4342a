// hdf5_common.c -- errors, types and properties for reading and writing HDF5.
#include "io/result/hdf5_common.h"

#include "base/assert.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

bool lwi_hdf5_has_room(size_t bytes)
{
    void *block = bytes < SIZE_MAX / 2 ? lwi_allocate(NULL, LWI_HDF5_ROOM + bytes) : NULL;
    lwi_release(NULL, block);
    return block != NULL;
}

void *lwi_hdf5_reserve(void)
{
    return lwi_allocate(NULL, LWI_HDF5_ROOM);
}

lw_status lwi_hdf5_begin(size_t bytes, lwi_hdf5_quiet *quiet, lw_error *error)
{
    if (!lwi_hdf5_has_room(bytes))
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for the HDF5 library");
    *quiet = lwi_hdf5_begin_close(NULL);
    return LW_OK;
}

lwi_hdf5_quiet lwi_hdf5_begin_close(void *reserve)
{
    lwi_hdf5_quiet quiet = {0};
    lwi_release(NULL, reserve);
    H5Eget_auto2(H5E_DEFAULT, &quiet.function, &quiet.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return quiet;
}

void lwi_hdf5_finish(lwi_hdf5_quiet quiet)
{
    H5Eset_auto2(H5E_DEFAULT, quiet.function, quiet.data);
}

void lwi_hdf5_finish_after(lwi_hdf5_quiet quiet, lw_status status)
{
    if (status == LW_OK) lwi_hdf5_finish(quiet);
}

// ----------------------------------------------------------------------------------------- errors

// The first entry of the stack is the innermost.
static herr_t take_first(unsigned n, const H5E_error2_t *entry, void *text)
{
    if (n == 0 && entry->desc) lwi_copy_text(text, 512, entry->desc);
    return 0;
}

lw_status lwi_hdf5_fail(lw_error *error, lw_status status, const char *path, const char *what)
{
    static const char system[] = "error message = '";
    char text[512] = "";
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, text);
    char *reason = strstr(text, system);
    if (reason) {
        reason += sizeof system - 1;
        reason[strcspn(reason, "'")] = 0;
    } else {
        reason = text[0] ? text : "no reason given by the HDF5 library";
    }
    return lwi_fail_at(error, status, path, 0, 0, "%s: %s", what, reason);
}

lw_status lwi_hdf5_fail_open(lw_error *error, const lwi_hdf5_disk *disk, const char *path)
{
    if (lwi_hdf5_disk_failure(disk) == ENOMEM)
        return lwi_fail(error, LW_ERR_MEMORY, "no memory for an HDF5 file");
    return lwi_hdf5_fail(error, LW_ERR_IO, path, "cannot be opened");
}

// Continues a CRC-32, four bits at a time.
static unsigned add_to_crc(unsigned sum, const char *bytes, size_t n)
{
    static const unsigned table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    for (size_t i = 0; i < n; i++) {
        sum ^= (unsigned char)bytes[i];
        sum = sum >> 4 ^ table[sum & 15];
        sum = sum >> 4 ^ table[sum & 15];
    }
    return sum;
}

unsigned lwi_hdf5_strings_check(const lwi_result_meta *meta)
{
    const char *const strings[] = {meta->model, meta->notice, meta->warnings, meta->versions};
    unsigned sum = ~0u;
    for (int i = 0; i < LWI_COUNT(strings); i++)
        if (strings[i]) sum = add_to_crc(sum, strings[i], strlen(strings[i]) + 1);
    return ~sum;
}

// ------------------------------------------------------------------------------ types, properties

hid_t lwi_hdf5_text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    if (H5Tset_size(type, bytes) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0) return type;
    H5Tclose(type);
    return -1;
}

const char *const lwi_hdf5_strings[LWI_HDF5_STRINGS] = {"name", "unit", "frame",
                                                        "kind", "item", "quantity"};

// Sets the offset of a member of that size and alignment.
static void place(lwi_hdf5_element *e, size_t *offset, size_t size, size_t alignment)
{
    *offset = (e->bytes + alignment - 1) / alignment * alignment;
    e->bytes = *offset + size;
}

static herr_t insert_text(hid_t type, const lwi_hdf5_element *e, int i)
{
    const hid_t text = lwi_hdf5_text_type(e->room[i]);
    if (text < 0) return -1;
    const herr_t failed = H5Tinsert(type, lwi_hdf5_strings[i], e->text[i], text);
    H5Tclose(text);
    return failed;
}

hid_t lwi_hdf5_element_type(lwi_hdf5_element *e, int nstring)
{
    LWI_ASSERT(nstring == LWI_HDF5_READ || nstring == LWI_HDF5_STRINGS);
    e->bytes = 0;
    for (int i = 0; i < LWI_HDF5_READ; i++) place(e, &e->text[i], e->room[i], 1);
    place(e, &e->undetermined, sizeof(int), sizeof(int));
    for (int i = LWI_HDF5_READ; i < nstring; i++) place(e, &e->text[i], e->room[i], 1);
    e->bytes = (e->bytes + sizeof(int) - 1) / sizeof(int) * sizeof(int);
    const hid_t type = H5Tcreate(H5T_COMPOUND, e->bytes);
    herr_t failed = type < 0 ? -1 : 0;
    for (int i = 0; i < nstring && failed >= 0; i++) {
        failed = insert_text(type, e, i);
        if (failed >= 0 && i == LWI_HDF5_READ - 1)
            failed = H5Tinsert(type, "undetermined", e->undetermined, H5T_NATIVE_INT);
    }
    if (failed >= 0) return type;
    if (type >= 0) H5Tclose(type);
    return -1;
}

const char *const lwi_hdf5_event_strings[LWI_HDF5_EVENT_STRINGS] = {"name", "action"};

void lwi_hdf5_event_offsets(lwi_hdf5_event_element *e)
{
    e->time = 0;
    e->row = sizeof(double);
    e->instance = e->row + sizeof(long);
    e->text[0] = e->instance + sizeof(int);
    e->text[1] = e->text[0] + e->room[0];
    e->bytes = (e->text[1] + e->room[1] + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

hid_t lwi_hdf5_event_type(const lwi_hdf5_event_element *e)
{
    const hid_t type = H5Tcreate(H5T_COMPOUND, e->bytes);
    if (type < 0) return type;
    herr_t failed = H5Tinsert(type, "time", e->time, H5T_NATIVE_DOUBLE) |
                    H5Tinsert(type, "row", e->row, H5T_NATIVE_LONG) |
                    H5Tinsert(type, "instance", e->instance, H5T_NATIVE_INT);
    for (int k = 0; k < LWI_HDF5_EVENT_STRINGS && failed >= 0; k++) {
        const hid_t text = lwi_hdf5_text_type(e->room[k]);
        failed = text < 0 ? -1 : H5Tinsert(type, lwi_hdf5_event_strings[k], e->text[k], text);
        if (text >= 0) H5Tclose(text);
    }
    if (failed >= 0) return type;
    H5Tclose(type);
    return -1;
}

hid_t lwi_hdf5_access(lwi_hdf5_disk *disk)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return access;
    if (lwi_hdf5_disk_use(access, disk) >= 0 &&
        H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
        H5Pset_fclose_degree(access, H5F_CLOSE_STRONG) >= 0)
        return access;
    H5Pclose(access);
    return -1;
}

hid_t lwi_hdf5_ordered(hid_t class_id)
{
    const hid_t create = H5Pcreate(class_id);
    if (create < 0) return create;
    if (H5Pset_link_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_attr_creation_order(create, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED) >= 0 &&
        H5Pset_obj_track_times(create, false) >= 0)
        return create;
    H5Pclose(create);
    return -1;
}

// ---------------------------------------------------------------------------------------- datasets

bool lwi_hdf5_is_own(hid_t file, const char *path)
{
    H5L_info_t link;
    return H5Lget_info(file, path, &link, H5P_DEFAULT) >= 0 && link.type == H5L_TYPE_HARD;
}

// Upper bound of the bytes that one byte of the file expands to; 0: of an unknown filter.
static double expansion_limit(hid_t create)
{
    const double deflate = 1032; // [zlib]: a length of 258 in 2 bits
    const int n = H5Pget_nfilters(create);
    double limit = 1;
    for (int i = 0; i < n; i++) {
        size_t no_values = 0;
        unsigned flags, config;
        switch (H5Pget_filter2(create, (unsigned)i, &flags, &no_values, NULL, 0, NULL, &config)) {
        case H5Z_FILTER_DEFLATE:
            limit *= deflate;
            break;
        case H5Z_FILTER_SHUFFLE:
        case H5Z_FILTER_FLETCHER32:
            break;
        default:
            return 0;
        }
    }
    return n < 0 ? 0 : limit;
}

// Are all elements in the file?  Others can be announced by the million in a short file.
static bool is_stored(hid_t set, hid_t create, const lwi_hdf5_disk *disk)
{
    const hid_t type = H5Dget_type(set), space = H5Dget_space(set);
    const hssize_t elements = space < 0 ? -1 : H5Sget_simple_extent_npoints(space);
    const double bytes = type < 0 ? -1 : (double)elements * (double)H5Tget_size(type);
    const double length = (double)lwi_hdf5_disk_length(disk);
    double stored = H5Pget_layout(create) == H5D_COMPACT ? bytes : (double)H5Dget_storage_size(set);
    if (stored > length) stored = length;
    if (space >= 0) H5Sclose(space);
    if (type >= 0) H5Tclose(type);
    return elements >= 0 && bytes >= 0 && bytes <= stored * expansion_limit(create);
}

hid_t lwi_hdf5_open_dataset(hid_t file, const lwi_hdf5_disk *disk, const char *path, hid_t access)
{
    if (!lwi_hdf5_is_own(file, path)) return -1;
    const hid_t set = H5Dopen2(file, path, access);
    if (set < 0) return -1;
    const hid_t create = H5Dget_create_plist(set);
    const bool good = create >= 0 && H5Pget_layout(create) != H5D_VIRTUAL &&
                      H5Pget_external_count(create) == 0 && is_stored(set, create, disk);
    if (create >= 0) H5Pclose(create);
    if (good) return set;
    H5Dclose(set);
    return -1;
}
