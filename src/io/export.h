// export.h -- a model as a tree of links, the structure of robot formats.
//
// The link of a body has the axes of the body and its origin in the joint to its parent.  A joint of several
// coordinates is a chain of elementary joints, a rotation or translation along an axis each.  A joint that
// is traversed from body2 to body1 has them in reverse order with negated axes, so that the coordinates
// keep their signs.
#ifndef LWI_IO_EXPORT_H
#define LWI_IO_EXPORT_H

#include "model/model.h"

#include <stdio.h>

enum { LWI_EXPORT_MAX_AXES = 3 };

typedef enum lwi_export_joint {
    LWI_EXPORT_AXES, ///< `naxis` elementary joints; none: fixed
    LWI_EXPORT_BALL,
    LWI_EXPORT_FREE
} lwi_export_joint;

typedef struct lwi_export_axis {
    bool turns;     ///< rotation; false: translation
    double axis[3]; ///< in body axes
    int coordinate; ///< its number in the joint
} lwi_export_axis;

typedef struct lwi_export_link {
    int body, parent; ///< bodies; parent 0: the ground
    int before;       ///< link of the parent body; -1: the ground
    int joint;        ///< to the parent; -1: floating
    bool reversed;    ///< body1 of the joint is this body
    lwi_export_joint kind;
    lwi_export_axis axis[LWI_EXPORT_MAX_AXES];
    int naxis;
    double R[9], r[3]; ///< pose of the body in the body frame of the parent at zero coordinates; of
                       ///< a floating body the initial pose
    double at[3];      ///< joint point in the body frame: the origin of its link
} lwi_export_link;

typedef struct lwi_export {
    const lw_model *model;
    const char *format; ///< name, for messages
    FILE *file;
    lw_error *error;
    void (*report)(void *user, const char *text); ///< receives what is not written; may be NULL
    void *user;
    lwi_arena arena;
    lwi_export_link *link; ///< [nlink] parents first
    int nlink;
    const lw_shape **mesh_shape; ///< [nmesh_shape] shapes with a mesh, by mesh and scale
    int nmesh_shape;
} lwi_export;

lw_status lwi_export_fail(const lwi_export *x, const char *format, ...) LW_PRINTF(2, 3);
/** Reports something that is not written. */
void lwi_export_report(const lwi_export *x, const char *format, ...) LW_PRINTF(2, 3);
/** Writes a string, the five special characters of XML escaped. */
void lwi_export_text(const lwi_export *x, const char *text);
/** Writes ` name="a b c"` with 17 digits; nothing if all are zero, unless `keep`. */
void lwi_export_numbers(const lwi_export *x, const char *name, const double *v, int n, bool keep);
/** Name of the file of a mesh, as the model's file has it; NULL, reported: the mesh has no file. */
const char *lwi_export_mesh(const lwi_export *x, const lw_shape *shape);
/** Inertia about the centre of mass in body axes: xx yy zz xy xz yz. */
void lwi_export_inertia(const lwi_export *x, int body, double *I);

/** The formats: one file and one row each. */
#define LWI_WRITER_LIST(X) X(urdf) X(mjcf)
#define X(format) lw_status lwi_write_##format(lwi_export *x);
LWI_WRITER_LIST(X)
#undef X

#endif
