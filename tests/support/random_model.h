// random_model.h -- random open trees through the public builder, reproducible by seed on every
// platform.
#ifndef LWT_RANDOM_MODEL_H
#define LWT_RANDOM_MODEL_H

#include <linkwork/linkwork.h>

/** Elements of a random tree in addition to revolute, prismatic, screw and cylindrical joints. */
enum {
    LWT_MULTI = 1,  ///< universal, planar joints
    LWT_QUASI = 2,  ///< spherical, free joints: speeds that are not derivatives of coordinates
    LWT_FIXED = 4,  ///< fixed joints, some with a massless body
    LWT_CUSTOM = 8, ///< a joint defined by callbacks, with a coordinate-dependent motion subspace
    LWT_REVERSED = 16, ///< joints with body1 as the outboard body
    LWT_FLOATING = 32, ///< trees without a joint to the ground
    LWT_DRIVES = 64,   ///< coordinates that follow functions of time
    LWT_MOUNTS = 128,  ///< joint frames moved by functions of time
    LWT_FORCES = 256,  ///< springs, dampers, wrenches, signals, one input
    LWT_ALL = 511
};

/** The next number of a sequence in [low, high). */
double lwt_random(uint64_t *state, double low, double high);
/** The next integer of a sequence in 0..count-1. */
int lwt_random_below(uint64_t *state, int count);

/** A custom joint: a bead that rotates about z1 and slides along a curve. */
extern const lw_custom_joint lwt_bead;

/** A tree of nbody moving bodies with physical inertias, random joint frames, initial coordinates
 *  and speeds. On failure the error is printed to stderr with the seed. */
lw_status lwt_random_tree(uint64_t seed, int nbody, unsigned flags, lw_model **model);

#endif
