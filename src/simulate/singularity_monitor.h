// singularity_monitor.h -- detects singular positions that a run approaches, passes or steps over.
#ifndef LWI_SIMULATE_SINGULARITY_MONITOR_H
#define LWI_SIMULATE_SINGULARITY_MONITOR_H

#include "system/in_plane.h"

/** A pivot, a squared sine, below this part of the largest pivot of the run is close to a singular position: a
 *  hundredth in the angle, or about as many radians.  Pivots decrease with the square of the distance. */
#define LWI_MONITOR_NEAR 1e-4

/** The mechanism at one time of a run. */
typedef struct lwi_monitor_sample {
    double t, pivot;                 ///< pivot: the smallest kept
    int edge;                        ///< of the pivot
    double *q, *rate;                ///< [nq] joint coordinates and their derivatives
    double (*r)[3], (*quat)[4];      ///< [nnode] poses of bodies
    double (*v)[3], (*quat_rate)[4]; ///< [nnode] their derivatives
} lwi_monitor_sample;

typedef struct lwi_monitor {
    bool active;
    lwi_system system;     ///< in the metric without masses, at the generic ranks
    lwi_in_plane in_plane; ///< of a single group of loops
    lwi_snapshot snapshot; ///< of the run, if the projection has none
    lwi_snapshot placed;   ///< scratch: poses between samples
    int count;             ///< consecutive samples
    double first;          ///< time of the first of them, before a step; NAN: none
    double due;            ///< no sample is needed before this time, according to the speeds
    lwi_monitor_sample sample[3], now, between; ///< the last ones; scratch
    lwi_monitor_sample piece[2];                ///< both ends of a step that is examined
    struct {
        double t, pivot;
        int edge;
    } known; ///< pivot of the sample that is added; t: NAN if there is none
    lwi_monitor_sample
        seen;              ///< the last snapshot with a pivot: q, r, quat; t: NAN if there is none
    double largest;        ///< pivot of the run
    double smallest, time; ///< pivot close to a singular position, and its time
    double entry;          ///< first time close to one
    int edge;              ///< of `smallest`
    long times;            ///< number of samples close to one
    int ngroup;            ///< groups of loops that share no joint; 0 if there is only one
    int *group;            ///< [edges] of each edge; -1: in no loop
    double *here, *seen_here; ///< [ngroup] smallest pivot of each, as of the last one; of `seen`
} lwi_monitor;

/** Memory and ranks of a mechanism with loops or couplings. */
lw_status lwi_monitor_create(const lw_model *model, lwi_shared *shared, lwi_arena *arena,
                             lwi_monitor *monitor);
/** True if no sample is needed yet at time t, for any state. */
bool lwi_monitor_is_early(const lwi_monitor *monitor, double t);
/** True if the mechanism has barely moved since the last sample, so that none is needed; reads the poses of
 *  the snapshot. */
bool lwi_monitor_has_barely_moved(lwi_monitor *monitor, const lwi_snapshot *snapshot);
/** Samples a state of the run; reads poses and twists of the snapshot. */
void lwi_monitor_add(lwi_monitor *monitor, const lwi_snapshot *snapshot);
/** The same with the pivot known. */
void lwi_monitor_add_known(lwi_monitor *monitor, const lwi_snapshot *snapshot, double pivot,
                           int edge);
/** The same for the last state of the run. */
void lwi_monitor_end(lwi_monitor *monitor, const lwi_snapshot *snapshot);
/** The smallest kept pivot at a snapshot, which monitor->system takes over; 1 if positions are not finite. */
double lwi_monitor_pivot(lwi_monitor *monitor, const lwi_snapshot *snapshot, int *edge);
/** The same at the motion that monitor->system has; those of groups of loops are in monitor->here. */
double lwi_monitor_pivot_here(lwi_monitor *monitor, double t, int *edge);
/** Pivots within a step, on the constraints: between two snapshots with twists, then at times between them. */
void lwi_monitor_set_piece(lwi_monitor *monitor, const lwi_snapshot *from, const lwi_snapshot *to);
double lwi_monitor_piece_pivot(lwi_monitor *monitor, double t, int *edge);

/** The sine, the root of the pivot, at one time of a run. */
typedef struct lwi_sine {
    bool valid;
    double t, sine, rate;       ///< rate: lwi_sine_rate
    double (*r)[3], (*quat)[4]; ///< [nnode] poses of bodies
} lwi_sine;

lw_status lwi_sine_create(const lw_model *model, lwi_arena *arena, lwi_sine *sine);
/** The sine of a snapshot. */
double lwi_sine_at(lwi_monitor *monitor, const lwi_snapshot *snapshot);
void lwi_sine_take(const lwi_system *system, const lwi_snapshot *snapshot, double sine,
                   lwi_sine *to);
/** Largest rate of a body, in radians or lengths of the mechanism per second. */
double lwi_sine_rate(const lwi_system *system, const lwi_snapshot *snapshot);
/** Largest motion of a body from there to a snapshot, in the same units, at most; full rotations by `rate`. */
double lwi_sine_motion(const lwi_system *system, const lwi_sine *from, const lwi_snapshot *to,
                       double rate);

/** "passed close to a singular position at ...", or "". */
void lwi_monitor_message(const lwi_monitor *monitor, char *text, size_t size);

#endif
