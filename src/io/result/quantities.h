// quantities.h -- the quantities of a result: one table of their names, units, frames and values.
//
// A quantity is a vector, a quaternion or a number of one item (a body, a joint, a marker, the
// system).  Columns of CSV and HDF5 files, rows of numbers and the motion from which a run resumes all
// come from this table.
#ifndef LWI_IO_RESULT_QUANTITIES_H
#define LWI_IO_RESULT_QUANTITIES_H

#include "model/model.h"

#include <linkwork/result.h>

enum { LWI_RESULT_PARTS = 7 }; ///< largest number of components of a quantity

/** What items a quantity belongs to, in the order of the columns. */
typedef enum lwi_result_subject {
    LWI_RESULT_TIME,
    LWI_RESULT_BODY,
    LWI_RESULT_JOINT,
    LWI_RESULT_REACTION, ///< of joints, after the coordinates of all of them
    LWI_RESULT_MARKER,
    LWI_RESULT_SYSTEM,
    LWI_RESULT_SUBJECTS
} lwi_result_subject;

/** Is the quantity read back from a row when a run resumes from it? */
typedef enum lwi_result_resume {
    LWI_RESULT_FOLLOWS, ///< no: others determine it
    LWI_RESULT_OPTIONAL,
    LWI_RESULT_REQUIRED
} lwi_result_resume;

/** Values of a marker, which its body determines: frames as in the table of quantities. */
typedef struct lwi_result_marker {
    double position[3], quaternion[4];
    double velocity[3], angular_velocity[3];
    double acceleration[3], angular_acceleration[3];
} lwi_result_marker;

/** All values of a row: the observation, and what follows from it. */
typedef struct lwi_result_values {
    const lw_observation *observation;
    double energy;              ///< T + V [J]
    double continued;           ///< reactions_continued of the observation
    double impact;              ///< impact of the observation
    const double (*impulse)[6]; ///< [joint] of the observation, or `none`
    double (*none)[6];          ///< [joint] zeros, of models with impacts
    lwi_result_marker *marker;  ///< [marker]
} lwi_result_values;

/** Has the model impulses, or drives with rates that jump? */
bool lwi_result_has_impacts(const lw_model *model);

/** Computes the values that `level` contains and the observation does not. */
void lwi_result_values_compute(const lw_model *model, lw_observe level,
                               const lw_observation *observation, lwi_result_values *values);

typedef struct lwi_result_quantity {
    lwi_result_subject subject;
    const char *name;                   ///< "position"
    const char *part[LWI_RESULT_PARTS]; ///< "x", "y", "z": last part of the columns' names
    const char *unit[LWI_RESULT_PARTS]; ///< one for all parts, or one each
    const char *frame;                  ///< "" for scalars
    lw_observe level;                   ///< the lowest that has it
    lwi_result_resume resume;
    /** The array with the components of all items. */
    const double *(*array)(const lwi_result_values *values);
    const char *summary;
    int stride;           ///< of bodies: distance of two in the array; 0: the number of components
    bool quaternion;      ///< the last four components are a unit quaternion
    bool numbered;        ///< coordinates by number, "q0", "q1", ...: units unknown, length, angle
    lw_observe last_part; ///< level that adds the last component; 0: that of the others
    bool impacts;         ///< only of models with impulses or drives with rates that jump
    bool loops;           ///< only of mechanisms with loops or couplings
} lwi_result_quantity;

extern const lwi_result_quantity lwi_result_quantities[];
extern const int lwi_result_nquantity;

/** First part of names: "body" of body.rod.x. */
const char *lwi_result_column_prefix(const lwi_result_quantity *quantity);
int lwi_result_part_count(const lwi_result_quantity *quantity);
const char *lwi_result_part_unit(const lwi_result_quantity *quantity, int part);

/** Columns of one quantity of one item, side by side. */
typedef struct lwi_result_entry {
    const lwi_result_quantity *quantity;
    int item;  ///< body, joint or marker
    int first; ///< index of the first component in the quantity's array
    int part;  ///< first part of the quantity; numbered: the number
    int n;     ///< components
} lwi_result_entry;

/** The entries of a model's results at `level`, in the order of the columns.
 *  @param entry  [*n] out, in `arena` */
lw_status lwi_result_entries(const lw_model *model, lw_observe level, lwi_arena *arena,
                             lwi_result_entry **entry, int *n);
/** Name of the item, "" of the time and the system. */
const char *lwi_result_item_name(const lw_model *model, const lwi_result_entry *entry);

#endif
