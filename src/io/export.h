// export.h -- a model as a tree of links, which is what formats of robots can say.
//
// A body's link has the body's axes and its origin in the joint that holds it.  A joint of several
// coordinates is a row of elementary ones, a turn or shift about an axis each; a joint that the
// tree runs through backwards has them in the other order with turned axes, so that coordinates
// keep their signs.
#ifndef LWI_IO_EXPORT_H
#define LWI_IO_EXPORT_H

#include "model/model.h"

#include <stdio.h>

enum { LWI_EXPORT_MOST_AXES = 3 };

typedef enum lwi_export_joint {
    LWI_EXPORT_AXES, ///< `naxis` elementary joints; none: fixed
    LWI_EXPORT_BALL,
    LWI_EXPORT_FREE
} lwi_export_joint;

typedef struct lwi_export_axis {
    bool turns;     ///< else shifts
    double axis[3]; ///< body axes
    int coordinate; ///< of the joint
} lwi_export_axis;

typedef struct lwi_export_link {
    int body, parent; ///< bodies; parent 0: the ground
    int before;       ///< link of the parent; -1: the ground
    int joint;        ///< -1: floats
    bool reversed;    ///< the joint goes from this body to the parent
    lwi_export_joint kind;
    lwi_export_axis axis[LWI_EXPORT_MOST_AXES];
    int naxis;
    double R[9], r[3]; ///< pose of the body in the parent's body frame, coordinates zero; of one
                       ///< that floats, where it starts
    double at[3];      ///< joint point in the body frame: the origin of its link
} lwi_export_link;

typedef struct lwi_export {
    const lw_model *model;
    const char *format; ///< in messages
    FILE *file;
    lw_error *error;
    void (*told)(void *user, const char *text); ///< what is not written; may be NULL
    void *user;
    lwi_arena arena;
    lwi_export_link *link; ///< [nlink] parents first
    int nlink;
} lwi_export;

lw_status lwi_export_fail(const lwi_export *x, const char *format, ...) LW_PRINTF(2, 3);
/** Tells what is not written. */
void lwi_export_tell(const lwi_export *x, const char *format, ...) LW_PRINTF(2, 3);
/** Text with the five characters that XML escapes. */
void lwi_export_text(const lwi_export *x, const char *text);
/** ` name="a b c"` with 17 digits; nothing where all are zero and `keep` is not set. */
void lwi_export_numbers(const lwi_export *x, const char *name, const double *v, int n, bool keep);
/** Inertia about the mass centre in axes of the body: xx yy zz xy xz yz. */
void lwi_export_inertia(const lwi_export *x, int body, double *I);

/** The formats: one file and one row each. */
#define LWI_WRITER_LIST(X) X(urdf) X(mjcf)
#define X(format) lw_status lwi_write_##format(lwi_export *x);
LWI_WRITER_LIST(X)
#undef X

#endif
