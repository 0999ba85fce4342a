// crossing.h -- what the parts of steps across singular positions share.
#ifndef LWI_SIMULATE_CROSSING_H
#define LWI_SIMULATE_CROSSING_H

#include "simulate/simulation.h"

/** Sines relative to the largest of the run: where windows begin, the smallest one at a node, the largest one of which the
 *  rate is computed, or that is searched for between the ends of a step; minima above a part of the current sine are
 *  no singular positions.  The largest motion to a position, in radians or lengths of the mechanism; the largest gap and
 *  that of round-off, in lengths; the largest difference of both steps across, relative to one radian, length or the speeds.
 *  The largest number of samples within a step; those of a piece of a path, of which none is in its middle. */
#define LWI_CROSSING_WINDOW 0.15
#define LWI_CROSSING_MIN_AT_NODE 0.01
/** Where no step across is accurate nodes may come nearer by this factor, and have sines smaller by it. */
#define LWI_CROSSING_LAST 0.1
#define LWI_CROSSING_CLOSE 0.25
/** Minima of pivots below this part of the largest of the run are singular positions; of those that were passed 3e-9 was
 *  measured.  A mechanism that reverses next to a position has a larger one. */
#define LWI_CROSSING_PASSED 1e-6
#define LWI_CROSSING_TURNS 0.5
#define LWI_CROSSING_FARTHEST 0.8
#define LWI_CROSSING_LARGEST_GAP 1e-8
#define LWI_CROSSING_NO_GAP 1e-12
#define LWI_CROSSING_LARGEST_DIFFERENCE 1e-5
/** Largest decrease of sines per radian: 0.5 to 0.9 was measured between hinges and slides, 1.0 to 1.5 along couplers with a
 *  spherical joint at both ends. */
#define LWI_CROSSING_SLOPE 0.8
#define LWI_CROSSING_STEEP_SLOPE 1.6
/** Motions per second, in radians or lengths of the mechanism, that are round-off: rest. */
#define LWI_CROSSING_STANDSTILL 1e-13
/** Motion between samples within a step, in radians or lengths of the mechanism. */
#define LWI_CROSSING_APART 0.1
enum { LWI_CROSSING_PIECES = 64, LWI_CROSSING_SAMPLES = 11 };

/** Whether the path that the state follows is that away from the start, not one of a later step across. */
static inline bool lwi_crossing_from_start(const lwi_crossing *c)
{
    return c->started && c->begin == c->start.t;
}
/** The largest sine of the run. */
double lwi_crossing_typical(const lw_sim *sim);
/** At the first state x, next to a position: the largest sine is that of motions along its velocities, at a
 *  standstill its accelerations.  crossing.from is lost. */
void lwi_crossing_find_typical(lw_sim *sim, double t, const double *x);
/** to [ngroup] := the pivots of all groups of loops at the motion with that sine, which was computed last. */
void lwi_crossing_take_pivots(const lw_sim *sim, double sine, double *to);

/** The position close to the motion crossing.at, the state x of the run, of a group of loops that is wanted, with the window that begins
 *  first; those of all of them in crossing.ahead.  false: there is none.
 *  @param after  time to it, negative if the sine rises   @param window  half its width in time */
bool lwi_crossing_estimate(lw_sim *sim, const double *x, double rate, double *after,
                           double *window);

/** The minimum of the sine of a group within a step, between crossing.from and crossing.at. */
typedef struct lwi_crossing_dip {
    bool found, ends; ///< ends: between the last sample and the end, where sines still fall
    int group;
    double t, sine; ///< of the minimum, by a parabola through pivots
    double slope;   ///< of the sine next to it [1/s]
    double sampled; ///< smallest sample
} lwi_crossing_dip;

/** The first one with a small sine; next to the end only where no other is.
 *  @param moved    motion of the step, radians or lengths of the mechanism
 *  @param largest  sine of the run */
bool lwi_crossing_find_dip(lw_sim *sim, double moved, double largest, lwi_crossing_dip *dip);

/** crossing.best := the best path across a position at D from the present time. */
bool lwi_crossing_single(lw_sim *sim, double D);
/** A step from here shows where the position is, or a shorter one did: the time to it; D: none does. */
double lwi_crossing_find_middle(lw_sim *sim, double D);

/** Memory for pivots of groups of loops. */
lw_status lwi_crossing_create_groups(lw_sim *sim);
/** Whether more than one position has to be stepped across, with the first one at D from the present time; keeps those of
 *  crossing.ahead. */
bool lwi_crossing_several(lw_sim *sim, double D);
/** crossing.best := the best path across one or several of them. */
bool lwi_crossing_across_several(lw_sim *sim, double rate, double limit);
/** crossing.path := from the motion crossing.at to time t + offset + h: a step of length h, after one of length `offset`
 *  unless that is 0. */
bool lwi_sim_attempt_path(lw_sim *sim, double offset, double h);
/** The same from a regular motion, without shift afterwards; true if all nodes have larger sines than min_at_node, relative to
 *  the largest of the run. */
bool lwi_crossing_try_path(lw_sim *sim, double offset, double h, double min_at_node);
/** The sine of the polynomial of a step at the part s of it; the state in crossing.y, its poses in passage.gauss.node. */
bool lwi_crossing_sine(lw_sim *sim, const lwi_crossing_piece *piece, double s, double *sine);
/** *at: the part of the step at which the pivot of a group of loops is smallest, -1: of all, by parabolas that narrow.
 *  @param from  1: *at is known well, 0: roughly */
bool lwi_crossing_narrow(lw_sim *sim, const lwi_crossing_piece *piece, int group, int from,
                         double *at);
/** crossing.minimum := the minima of the pivots of all groups of loops on a piece.  gauss.node is lost. */
void lwi_crossing_find_minima(lw_sim *sim, const lwi_crossing_piece *piece);
/** path->passed := the times of all positions that groups of loops pass on its pieces.  gauss.node is lost.  false: it ends in
 *  front of one, so near that no step across can begin there. */
bool lwi_crossing_count_passed(lw_sim *sim, lwi_crossing_path *path);
/** The gap, the first position and the smallest sine on the last piece of crossing.path, of crossing.minimum; false: it is across
 *  none. */
bool lwi_crossing_find_gaps(lw_sim *sim);
/** Counts the positions of the path crossing.best, or the run stops before the first one, as the options have it. */
void lwi_crossing_take_passed(lw_sim *sim);
/** crossing.best := crossing.path. */
void lwi_crossing_keep_path(lwi_crossing *crossing);
/** The error estimate that ends the attempts, and the largest one of a path that is accepted. */
double lwi_crossing_enough(const lw_options *options);
double lwi_crossing_accepted(const lw_options *options);
/** The error of the longer rule from the difference of both. */
double lwi_crossing_longer(double estimate);
/** crossing.end_x := the state of the run at the end t of the path. */
bool lwi_sim_enter_path_end(lw_sim *sim, double t);

#endif
