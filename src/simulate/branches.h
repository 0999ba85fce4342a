// branches.h -- the branches of the motion that meet at a singular position.
#ifndef LWI_SIMULATE_BRANCHES_H
#define LWI_SIMULATE_BRANCHES_H

#include "simulate/simulation.h"

/** The largest change of velocities that lead on, relative to the largest velocity. */
#define LWI_BRANCH_CHANGE 1e-3
/** The largest of the small motions that lwi_branch_change makes, in radians or lengths of the mechanism; it is the last. */
#define LWI_BRANCH_MOTION 0.04

/** change := the limit of the velocities of small motions along those of m, put on the constraints, less those of m.
 *  @param rate  lwi_sine_rate of m, > 0 */
void lwi_branch_change(lw_sim *sim, const lwi_snapshot *m, double rate, lwi_snapshot *change);
/** m := crossing.start with some velocities of all bodies that the constraints allow; they differ by k. */
void lwi_branch_velocities(lw_sim *sim, int k, lwi_snapshot *m);
/** Names the branches at crossing.start by the speeds of joints: "; motions lead on with qd of 'a', 'b' as 1, 0 or 1, -1",
 *  or "" where they are not found, or there is no room.  Overwrites crossing.direction and crossing.from. */
void lwi_branch_choices(lw_sim *sim, char *text, size_t size);

#endif
