// hdf5_common.c -- errors, types and properties for reading and writing HDF5.
#include "io/result/hdf5_common.h"

#include <string.h>

lwi_hdf5_quiet lwi_hdf5_begin(void)
{
    lwi_hdf5_quiet quiet = {0};
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

// ------------------------------------------------------------------------------ types, properties

hid_t lwi_hdf5_text_type(size_t bytes)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type < 0) return type;
    if (H5Tset_size(type, bytes) >= 0 && H5Tset_cset(type, H5T_CSET_UTF8) >= 0) return type;
    H5Tclose(type);
    return -1;
}

const char *const lwi_hdf5_strings[LWI_HDF5_STRINGS] = {"name", "dataset", "unit", "frame"};

hid_t lwi_hdf5_element_type(lwi_hdf5_element *e)
{
    const size_t integers = 3 * sizeof(int);
    e->bytes = integers;
    for (int i = 0; i < LWI_HDF5_STRINGS; i++) e->text[i] = e->bytes, e->bytes += e->room[i];
    e->bytes = (e->bytes + sizeof(int) - 1) / sizeof(int) * sizeof(int); // integers are aligned
    e->component = 0, e->unique = sizeof(int), e->place = 2 * sizeof(int);
    const hid_t type = H5Tcreate(H5T_COMPOUND, e->bytes);
    herr_t failed = type < 0 ? -1 : 0;
    for (int i = 0; i < LWI_HDF5_STRINGS && failed >= 0; i++) {
        const hid_t text = lwi_hdf5_text_type(e->room[i]);
        failed = text < 0 ? -1 : H5Tinsert(type, lwi_hdf5_strings[i], e->text[i], text);
        if (text >= 0) H5Tclose(text);
    }
    if (failed >= 0) failed = H5Tinsert(type, "component", e->component, H5T_NATIVE_INT);
    if (failed >= 0) failed = H5Tinsert(type, "unique", e->unique, H5T_NATIVE_INT);
    if (failed >= 0) failed = H5Tinsert(type, "place", e->place, H5T_NATIVE_INT);
    if (failed >= 0) return type;
    if (type >= 0) H5Tclose(type);
    return -1;
}

hid_t lwi_hdf5_access(void)
{
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access < 0) return access;
    if (H5Pset_libver_bounds(access, H5F_LIBVER_V110, H5F_LIBVER_V110) >= 0 &&
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
