// random_loops.h -- random mechanisms with loops, and what they may contain in addition to the items of
// trees.
#ifndef LWT_RANDOM_LOOPS_H
#define LWT_RANDOM_LOOPS_H

#include "support/random_model.h"

/** In addition to the flags of random_model.h. */
enum {
    LWT_DISTANCE = 512,   ///< rods without mass, some with a length that follows time
    LWT_COUPLINGS = 1024, ///< polynomials between coordinates of two joints
    LWT_REDUNDANT = 2048, ///< planar and spherical loops in any attitude: three spare rows each
    LWT_LOOP_ALL = 4095
};

/** What was built. */
typedef struct lwt_loops {
    lw_model *model;
    int nrow, rank,
        dof;        ///< constraint equations at the start, independent ones, degrees of freedom
    int nredundant; ///< nrow - rank: three for each planar or spherical loop, by construction
} lwt_loops;

/** A mechanism of about nbody moving bodies (4 or more): branches of one to three bodies on the bodies
 * that are there, or on the ground, most of them closed to another body; loops are coupled, nested
 * and go through the ground or do not.  Everything closes at the start, no position is near a
 * singular one, and the velocities at the start are random ones that all joints, drives and
 * couplings allow. On failure the error goes to stderr with the seed. */
lw_status lwt_random_loops(uint64_t seed, int nbody, unsigned flags, lwt_loops *loops);

/** The seeds 1..count of mechanisms with 4 to 15 bodies. */
#define LWT_FOR_LOOPS(c, count, flags)                                                             \
    for (uint64_t seed_ = 1; seed_ <= (count); seed_++)                                            \
        for (lwt_loops c = lwt_loops_create(seed_, 4 + (int)(seed_ % 12), (flags));                \
             c.model != NULL; lw_model_destroy(c.model), c.model = NULL)
/** Fails the test where there is none. */
lwt_loops lwt_loops_create(uint64_t seed, int nbody, unsigned flags);

#endif
