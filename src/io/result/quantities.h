// quantities.h -- the quantities of a result (model/quantity.h): one table of their names, units, frames and values.
//
// Columns of CSV and HDF5 files, rows of numbers and the motion from which a run resumes all
// come from this table.
#ifndef LWI_IO_RESULT_QUANTITIES_H
#define LWI_IO_RESULT_QUANTITIES_H

#include "model/model.h"
#include "model/quantity.h"

#include <linkwork/result.h>

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
    double event;               ///< event of the observation
    const double (*impulse)[6]; ///< [joint] of the observation, or `none`
    double (*none)[6];          ///< [joint] zeros, of models with impacts
    lwi_result_marker *marker;  ///< [marker]
    double (*view)[6];          ///< [views of the columns]
    double *measure;            ///< [measures of the model]
} lwi_result_values;

/** Has the model impulses, or drives with rates that jump? */
bool lwi_result_has_impacts(const lw_model *model);
/** Has the model events that record rows? */
bool lwi_result_has_events(const lw_model *model);
/** The quantity of their number, sys.event. */
const lwi_quantity *lwi_result_event_quantity(void);

/** Computes the values that `level` contains and the observation does not. */
void lwi_result_values_compute(const lw_model *model, lw_observe level,
                               const lw_observation *observation, lwi_result_values *values);

/** Row of the table, those of forces after all others; NULL for an index out of range. */
const lwi_quantity *lwi_result_quantity_at(int index);

/** The quantity of the columns measure.NAME. */
const lwi_quantity *lwi_result_measure_quantity(void);
/** The quantity of the forces, or torques, of reactions. */
const lwi_quantity *lwi_result_reaction_quantity(bool torque);
/** Is it one of these, which can be wanted elsewhere? */
bool lwi_result_is_reaction(const lwi_quantity *quantity);

/** First part of names: "body" of body.rod.x. */
static inline const char *lwi_result_column_prefix(const lwi_quantity *q)
{
    static const char *const prefixes[LWI_RESULT_SUBJECTS] = {
        [LWI_RESULT_TIME] = "",          [LWI_RESULT_BODY] = "body",
        [LWI_RESULT_JOINT] = "joint",    [LWI_RESULT_REACTION] = "joint",
        [LWI_RESULT_MARKER] = "marker",  [LWI_RESULT_SYSTEM] = "sys",
        [LWI_RESULT_MEASURE] = "measure"};
    return q->kind ? q->kind : prefixes[q->subject];
}

/** Unit of a part. */
const char *lwi_result_part_unit(const lwi_quantity *quantity, int part);

/** Columns of one quantity of one item, side by side. */
typedef struct lwi_result_entry {
    const lwi_quantity *quantity;
    int item;  ///< body, joint or marker
    int first; ///< index of the first component in the quantity's array
    int part;  ///< first part of the quantity; numbered: the number
    int n;     ///< components
    int view;  ///< reaction elsewhere: 1 + index in the views of the columns; 0: none
} lwi_result_entry;

/** The entries of a model's results at `level`, in the order of the columns.
 *  @param entry  [*n] out, in `arena` */
lw_status lwi_result_entries(const lw_model *model, lw_observe level, lwi_arena *arena,
                             lwi_result_entry **entry, int *n);
/** Name of the item, "" of the time and the system. */
const char *lwi_result_item_name(const lw_model *model, const lwi_result_entry *entry);

#endif
