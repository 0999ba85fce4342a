// blocks.h -- a path cut into segments: the blocks of its storage, and the kernels that work on them.
//
// A path is a row of bodies, each one carried by the body before it.  It is cut through joints into segments;
// segments of equal length are the lanes of a `group`, eight to each.  The places of a segment have joints of the
// same kind in all lanes of a group, or padding.  A ball has three places, the first with all that is its body's.
// Equations (n) are those of docs/theory/segments.md.
//
// Axes: those of the segment's `head`, its first joint before the rotation by q: z on the joint's axis, origin on it.
// Motions are [w; v], wrenches [n; f], about the point of the joint that is spoken of; that of a slider moves with
// it.  Between segments five components of each are unknown, in the order n_x n_y f_x f_y f_z: the wrench about the
// cut joint's axis is its momentum, a state.  Of a ball n_x and n_y are known too, so rows and columns of M are zero.
// Symmetric matrices are stored as their lower triangles, row by row.
#ifndef LWI_METHODS_DCA_SEGMENTS_BLOCKS_H
#define LWI_METHODS_DCA_SEGMENTS_BLOCKS_H

#include "base/simd/lanes.h"

#include <stdbool.h>

enum {
    LWI_PATH_HANDLE = 5,    ///< unknown components at a cut
    LWI_PATH_FORCES = 2,    ///< the first of those that are unknown at a ball: f_x
    LWI_PATH_TRIANGLE = 15, ///< numbers of a symmetric matrix of that size
    LWI_PATH_SQUARE = 25
};

/** What is at a place of a segment, in all lanes. */
typedef enum lwi_path_kind {
    LWI_PATH_HINGE,
    LWI_PATH_SCREW,      ///< a slider too
    LWI_PATH_BALL,       ///< and the two places that follow
    LWI_PATH_SOME_BALLS, ///< the same, with padding in some of the lanes
    LWI_PATH_OF_BALL,    ///< second and third place of a ball
    LWI_PATH_MIXED       ///< of a group: several of these
} lwi_path_kind;

/** Are all joints of a group balls, those at its tips too?  The couples there are known then.  @param all  of the group */
static inline bool lwi_path_only_balls(int all)
{
    return all == LWI_PATH_BALL || all == LWI_PATH_SOME_BALLS;
}

/** Constants of a body in its own axes: z on its joint, x normal to this axis and the next one; of a ball those that
 *  its momenta have.  Padding is massless with an infinite rotor, which holds the joint. */
typedef struct lwi_path_body {
    lwi_lanes angle; ///< added to q
    lwi_lanes ca,
        sa; ///< rotation about x from this joint's axis to the next one; in the second and third place of a
    ///< ball the rotations about z after that by its quaternion, and before it
    lwi_lanes o[3];          ///< point of the next joint
    lwi_lanes m, h[3], J[6]; ///< mass; m c and inertia about this joint's point; xx yy zz xy xz yz
    lwi_lanes rotor;         ///< reflected inertia
    lwi_lanes turn, slide;   ///< of screws: rotation and displacement per unit of q
    lwi_lanes padding;       ///< of balls: 1 in lanes with padding
} lwi_path_body;

/** What passes over a segment leave at a body, in axes of the head. */
typedef struct lwi_path_link {
    lwi_lanes a[3], o[3], h[3], J[6]; ///< axis; next joint's point, m c and inertia (pose)
    lwi_lanes g[6], t[5],
        Di;         ///< U/D, T'S/D, 1/D of (2); of balls (15), place i: row i of G in g[3..5] and
                    ///< of X in t, factors of J in g[0..2] of the first two places
    lwi_lanes y;    ///< speed, or acceleration, with nothing beyond the tip and the head at rest
    lwi_lanes V[6]; ///< momenta: velocity at the joint's point
    lwi_lanes b[6]; ///< accelerations: wrench that the body takes without joint accelerations (11)
} lwi_path_link;

/** A segment, or compound of consecutive segments, seen from its two ends:
 *      P = M V + z + T f,      V_tip = T'V - L f + e                                                           (1)
 *  P, V at the head in its axes, f and V_tip at the tip in those of the next head. */
typedef struct lwi_path_end {
    lwi_lanes M[15], T[25], L[15]; ///< T: row by row
    lwi_lanes z[5], e[5];
    lwi_lanes R[9], r[3], h[3], m; ///< next head's axes, column by column, and point; m c, mass
    // accelerations: velocity of the next head with the body before this head at rest, next head's axes
    lwi_lanes W[3], Wv[3];
    lwi_lanes Q[15], Y[25], Z[15]; ///< of the join that made the compound (5)
    // from the root
    lwi_lanes V0[5], f0[5]; ///< V at the head and f at the tip, first solution
    lwi_lanes g[3];         ///< gravity in axes of the head
    lwi_lanes hb[3],
        mb;               ///< m c about the next head, in its axes, and mass of all bodies beyond
    lwi_lanes W0[3];      ///< accelerations: angular velocity of the body before the head
    lwi_lanes V[5], f[5]; ///< corrections of V0 and f0 by the second pass
    lwi_lanes load
        [6]; ///< [n; f] of loads other than weight beyond the tip, about the next head, in its axes
    // of one segment
    lwi_lanes next
        [3]; ///< couple that the joint at the tip transmits, momentum or effort, in the next head's axes: all of it
             ///< between balls alone, else about its axis; 0 at the end of the path
    lwi_lanes turning
        [3]; ///< angular speed, or acceleration, of the tip about the next head's axes; the same components
    lwi_lanes c
        [6]; ///< accelerations: that of the next head without joint accelerations, [5], and about its axis
} lwi_path_end;

/** The places of a group's segments, and the state of these: row l is that of the segment in lane l. */
typedef struct lwi_path_rows {
    const signed char *kind; ///< [length] lwi_path_kind
    int all; ///< LWI_PATH_HINGE: all are; LWI_PATH_BALL: all joints, and those at all tips; LWI_PATH_SOME_BALLS:
        ///< the same with padding; LWI_PATH_MIXED
    const double *q[LWI_LANES];  ///< coordinates: one of each place, of a ball its quaternion
    const double *in[LWI_LANES]; ///< [length] momenta; of accelerations: efforts
    const double *u[LWI_LANES];  ///< [length] of accelerations: speeds
    double *out[LWI_LANES];      ///< [length] speeds; accelerations
    double *rate[LWI_LANES];     ///< [length] rates of momenta
} lwi_path_rows;

/** The passes over the bodies of a group, in the order of their use. */
typedef enum lwi_path_pass_kind {
    LWI_PATH_INWARD,   ///< poses; M, T, L, z, e of the momenta (2)
    LWI_PATH_AGAIN,    ///< z and e about V0 and f0 (8)
    LWI_PATH_OUTWARD,  ///< speeds (3), rates of the momenta (4)
    LWI_PATH_SPEEDS,   ///< speeds alone
    LWI_PATH_RATES,    ///< then rates of the momenta, with `load`
    LWI_PATH_FACTOR,   ///< poses; M, T, L, W (2)
    LWI_PATH_VELOCITY, ///< W alone, of the current poses
    LWI_PATH_BIAS,     ///< b and c; z and e of the accelerations (10), (11)
    LWI_PATH_AGAIN_BIAS,
    LWI_PATH_RESPONSE, ///< z and e of efforts on bodies at rest, by the current factors; then LWI_PATH_AGAIN
    LWI_PATH_ACCELERATE,
    LWI_PATH_PASSES
} lwi_path_pass_kind;

/** The exchanges between segments: up, compound N of A and, beyond its tip, B; down, the ends of A and B from those
 *  of N. */
typedef enum lwi_path_exchange_kind {
    LWI_PATH_MOMENTA,    ///< M, T, L, z, e, poses (5)-(7); V0, f0, g, hb, mb
    LWI_PATH_CORRECTION, ///< z and e about V0 and f0 (8); V, f
    LWI_PATH_FACTORS,    ///< M, T, L, poses, W; W0
    LWI_PATH_VELOCITIES, ///< W; W0
    LWI_PATH_VECTORS,    ///< z and e; V0, f0
    LWI_PATH_LOADS,      ///< down only: load
    LWI_PATH_EXCHANGES
} lwi_path_exchange_kind;

/** One table per ISA build, with the same bits. */
typedef struct lwi_path_kernels {
    int width; ///< lanes of a register
    /** @param n  places of a segment
     *  @return false: a result is not well conditioned: pivots near zero, angles too large, numbers not finite */
    bool (*pass[LWI_PATH_PASSES])(const lwi_path_body *, lwi_path_link *, lwi_path_end *,
                                  const lwi_path_rows *, int n);
    /** On the first `lanes` lanes.  [1]: all joints at cuts, and the first one, are balls. */
    void (*up[2][LWI_PATH_EXCHANGES])(const lwi_path_end *A, const lwi_path_end *B, lwi_path_end *N,
                                      int lanes);
    void (*down[2][LWI_PATH_EXCHANGES])(lwi_path_end *A, lwi_path_end *B, const lwi_path_end *N,
                                        int lanes);
} lwi_path_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor has none. */
const lwi_path_kernels *lwi_path_kernels_of(int width);

#endif
