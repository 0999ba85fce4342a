// random_loops.h -- random mechanisms with loops; flags in addition to those of random trees.
#ifndef LWT_RANDOM_LOOPS_H
#define LWT_RANDOM_LOOPS_H

#include "support/random_model.h"

/** In addition to the flags of random_model.h. */
enum {
    LWT_DISTANCE = 512,   ///< massless rods, some with a length that is a function of time
    LWT_COUPLINGS = 1024, ///< polynomials between the coordinates of two joints
    LWT_REDUNDANT = 2048, ///< planar and spherical loops in any attitude: three redundant rows each
    LWT_LOOP_ALL = 4095
};

/** Properties of the mechanism that was built. */
typedef struct lwt_loops {
    lw_model *model;
    int nrow, rank,
        dof;        ///< constraint equations at the start, independent ones, degrees of freedom
    int nredundant; ///< nrow - rank: three for each planar or spherical loop, by construction
} lwt_loops;

/** A mechanism of about nbody moving bodies (4 or more): branches of one to three bodies on
 *  existing bodies or on the ground, most of them closed to another body. Loops are coupled and
 *  nested, with or without the ground. All joints are satisfied at the start, no position is near a
 *  singular one, and the initial velocities are random ones that all joints, drives and couplings
 *  allow. On failure the error is printed to stderr with the seed. */
lw_status lwt_random_loops(uint64_t seed, int nbody, unsigned flags, lwt_loops *loops);

/** The seeds 1..count of mechanisms with 4 to 15 bodies. */
#define LWT_FOR_LOOPS(c, count, flags)                                                             \
    for (uint64_t seed_ = 1; seed_ <= (count); seed_++)                                            \
        for (lwt_loops c = lwt_loops_create(seed_, 4 + (int)(seed_ % 12), (flags));                \
             c.model != NULL; lw_model_destroy(c.model), c.model = NULL)
/** Fails the test if no mechanism is found. */
lwt_loops lwt_loops_create(uint64_t seed, int nbody, unsigned flags);

#endif
