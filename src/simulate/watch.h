// watch.h -- singular positions that a run stands near, passes, or jumps over.
#ifndef LWI_SIMULATE_WATCH_H
#define LWI_SIMULATE_WATCH_H

#include "system/system.h"

/** A pivot, a squared sine, below this part of the largest that a run has met is close to a singular
 *  position: a hundredth in the angle, about as many radians away from it.  Pivots fall with the
 *  square of the distance. */
#define LWI_WATCH_NEAR 1e-4

/** The mechanism at one moment of a run. */
typedef struct lwi_sight {
    double t, pivot;            ///< pivot: the smallest kept
    int edge;                   ///< of the pivot
    double *q, *rate;           ///< [nq] joint coordinates and their derivatives
    double (*r)[3], (*quat)[4]; ///< [nnode] poses of bodies
    double (*v)[3], (*turn)[4]; ///< and their derivatives
} lwi_sight;

typedef struct lwi_watch {
    bool active;
    lwi_system closed;   ///< in the metric without masses, at the ranks learnt
    lwi_snapshot moment; ///< of the run where nobody else has it
    lwi_snapshot placed; ///< scratch: poses between sights
    int count;           ///< sights in a row
    double due; ///< before that time there is nothing to be looked at, as far as speeds tell
    lwi_sight sight[3], now, between; ///< the last ones; scratch
    double most;                      ///< largest pivot met
    double least, time;               ///< smallest met near a singular position
    double entry;                     ///< first time near one
    int edge;                         ///< of `least`
    long times;                       ///< how often
} lwi_watch;

/** Memory and ranks of a mechanism with loops or couplings. */
lw_status lwi_watch_create(const lw_model *model, lwi_arena *arena, lwi_watch *watch);
/** Is it too early for another look, whatever the state is? */
bool lwi_watch_waits(const lwi_watch *watch, double t);
/** Has the mechanism hardly moved since the last look?  Then there is nothing to look at; poses of the
 *  moment count. */
bool lwi_watch_rests(lwi_watch *watch, const lwi_snapshot *moment);
/** Looks at a state that the run has come to; poses and twists of the moment count. */
void lwi_watch_look(lwi_watch *watch, const lwi_snapshot *moment);
/** There are no later states: is this one close to a singular position? */
void lwi_watch_end(lwi_watch *watch, const lwi_snapshot *moment);
/** "passed a singular position at ...", or "". */
void lwi_watch_tell(const lwi_watch *watch, char *text, size_t size);

#endif
