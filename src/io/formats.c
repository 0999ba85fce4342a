// formats.c -- the lists of file formats and of libraries.
#include "io/readers.h"

#include <expat.h>
#include <string.h>
#include <yaml.h>

static const lw_part_info formats[] = {
#define X(format, endings) {#format, "models are read: " endings, NULL},
    LWI_READER_LIST(X)
#undef X
        {"native", "models are written: .yaml (canonical order, the fewest digits)", NULL},
    {"urdf", "trees are written: .urdf", NULL},
    {"mjcf", "trees are written: .mjcf .xml", NULL},
    {"hdf5", "results are written and read: .h5", NULL},
    {"csv", "results are written and read: .csv", NULL},
    {"svg", "pictures are written: .svg", NULL},
#ifdef LWI_CAIRO_VERSION
    {"png", "pictures are written: .png", NULL},
    {"pdf", "pictures are written: .pdf", NULL},
#endif
};

int lw_format_count(void)
{
    return LWI_COUNT(formats);
}

lw_part_info lw_format_info(int index)
{
    return index >= 0 && index < LWI_COUNT(formats) ? formats[index] : (lw_part_info){0};
}

enum { SUNDIALS, YAML, EXPAT, HDF5, CAIRO, LIBRARIES };

int lw_library_count(void)
{
    return LIBRARIES;
}

lw_part_info lw_library_info(int index)
{
    switch (index) {
    case SUNDIALS:
        return (lw_part_info){"SUNDIALS", LWI_SUNDIALS_VERSION, "hindmarsh2005"};
    case YAML:
        return (lw_part_info){"libyaml", yaml_get_version_string(), NULL};
    case EXPAT:
        return (lw_part_info){"expat", XML_ExpatVersion() + strlen("expat_"), NULL};
    case HDF5:
        return (lw_part_info){"HDF5", LWI_HDF5_VERSION, NULL};
#ifdef LWI_CAIRO_VERSION
    case CAIRO:
        return (lw_part_info){"cairo", LWI_CAIRO_VERSION, NULL};
#else
    case CAIRO:
        return (lw_part_info){
            "cairo", "not available: no PNG, no PDF (needs libcairo2-dev at build time)", NULL};
#endif
    default:
        return (lw_part_info){0};
    }
}
