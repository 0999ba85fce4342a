// clusters.h -- loop clusters: loops in lanes, each reduced to its independent coordinates, then joined to others.
//
// A loop cluster is a loop closed by one joint, or loops that determine their speeds together, or a body between loops.
// Its coordinates are z = (x, y):
//
//   x known      determined by other clusters or by the state: first `a`, those of inboard clusters, then
//                the cluster's own independent coordinates
//   y dependent  determined by the rows of its closing joints, independently of inertias:
//
//     W_y ydot + W_x xdot = 0,   y.. = K x.. + k,   K = -(W_y'W_y)^-1 W_y'W_x
//                                                             [anderson2003, (33)-(35), (47), (55)]
//
// The bodies with coordinates that the cluster introduces then have a mass matrix M and a force f over x alone
// (projection [anderson2003, (57), (58), (60)]), and clusters are eliminated along the tree that they form, each
// into the one that introduced its `a`  [anderson2003, (61)-(66)]:
//
//     M += E' M_b E,  f += E'(M_b kappa + f_b),   a.. of cluster b = E x.. + kappa
//
// with E rows of 1 and of K (docs/theory/rcr.md).  W_y has full column rank while the loop is regular, whether
// or not rows are redundant; else the pivots of W_y'W_y are small and the general elimination is used.
//
// Driven coordinates are among the `a`, with E = 0 and kappa their acceleration.  They follow the tree's own
// coordinates in q, v and vdot.
//
// Clusters on a floating base are written in its axes about its origin, so that K and k are those of a body at
// rest; over (x, motion A of the base) they have
//
//     [M  B] [x..]   [f]
//     [B' C] [A  ] + [h]
//
// B, h are passed inward with M, f; C, h are summed on the base, which is solved first in the outward pass
// (base.c).
//
// Clusters of equal shape are stored in blocks x[block][entry][lane]; unused lanes repeat the first cluster of the
// block, and are computed where a vector has others that are used.  The partition may change between two evaluations: the
// plan is then renewed in the same memory.
// Input: positions, speeds, efforts.  Output: all speeds, accelerations.  Cost: O(clusters).
#ifndef LWI_METHODS_RCR_CLUSTERS_CLUSTERS_H
#define LWI_METHODS_RCR_CLUSTERS_CLUSTERS_H

#include "tree/normal_form/parts.h"
#include "tree/normal_form/plan.h"
#include "kinematics/tree.h"

/** Maximum number of known and of dependent coordinates of a cluster, of its steps, of the joints that close it; and
 *  of the steps of one loop. */
enum {
    LWI_CLUSTER_KNOWN = 7,
    LWI_CLUSTER_DEPENDENT = 20,
    LWI_CLUSTER_STEPS = 26,
    LWI_CLUSTER_CLOSINGS = 6,
    LWI_CLUSTER_LOOP = 16
};

/** A pivot of W_y'W_y below this part of its diagonal (the squared sine of the angle between a column and those before
 *  it) is close to a singular position, and evaluated by the general elimination.  The normal equations lose as
 *  many digits as this number has, 4 of 16. */
#define LWI_CLUSTER_PIVOT 4e-4
/** The same of loops that determine their speeds together: columns of several loops enclose smaller angles where no loop
 *  is close to a singular position. */
#define LWI_CLUSTER_COUPLED_PIVOT 1e-4
/** The elimination takes over where the smallest pivot of the partition is below LWI_RCR_DELAY, or below this where loops
 *  determine their speeds together: rods of platforms on many legs rotate so much faster than the platform at every position. */
#define LWI_CLUSTER_COUPLED_DELAY (0.5 * LWI_RCR_DELAY)

/** Kinds of joints that close loops. */
enum { LWI_CLUSTER_BALL, LWI_CLUSTER_HINGE, LWI_CLUSTER_FIXED, LWI_CLUSTER_UNIVERSAL };

/** Orientation of a step's frame relative to its parent's, before its own motion. */
enum { LWI_CLUSTER_SAME, LWI_CLUSTER_SQUARE, LWI_CLUSTER_ANY };

typedef struct lwi_cluster_step {
    int8_t parent; ///< earlier step; -1: the cluster's base
    int8_t at;     ///< index of its coordinate in z
    int8_t axes;   ///< LWI_CLUSTER_SAME: the parent's; SQUARE: (x, z, -y) of the parent; ANY
    int8_t side
        [LWI_CLUSTER_CLOSINGS]; ///< branch of a closing joint: +1, -1 towards its body 2, 1; 0: neither
    int8_t body;                ///< index among the cluster's bodies; -1: none
    bool turn, slide;
    bool has_offset; ///< its origin differs from the parent's
    uint8_t oblique; ///< bit g: its rotation is in the rows of closing joint g
    int8_t
        ball; ///< 1, 2, 3: of a ball, about this axis of the body; -1, -2, -3: of its parent, backwards; 0: about its z axis
    uint8_t moved_by;   ///< bit j: moves with x_j
    bool has_dependent; ///< moves with some of y
} lwi_cluster_step;

/** A joint that closes a cluster. */
typedef struct lwi_cluster_closing {
    int8_t kind; ///< LWI_CLUSTER_BALL, ...
    bool
        at_rest; ///< its points meet along axes at rest: each body has its own (lwi_cut_use_axes_at_rest)
    bool along;                     ///< its axis is z of the frame of its body 2, or it is a ball
    int8_t close[2];                ///< steps that carry its body 1, 2; -1: the base
    uint8_t n, ny;                  ///< steps between its bodies, of these dependent ones
    uint8_t first;                  ///< of its levers in the block
    uint8_t rate;                   ///< first of its rates in the block
    uint16_t oblique;               ///< bit k: the rotation of path[k] is in its rows
    uint8_t path[LWI_CLUSTER_LOOP]; ///< [n] these steps, the dependent ones first
    uint8_t at[LWI_CLUSTER_LOOP];   ///< [n] index of their coordinates in z
} lwi_cluster_closing;

/** Structure that clusters in the lanes of a block share. */
typedef struct lwi_cluster_shape {
    int nx, na, ny, nstep, nbody;
    int nclosing; ///< joints that close it
    int nrate;    ///< rates of their coordinates: one of a hinge, two of a universal joint
    bool planar;  ///< all axes are parallel
    bool floats;  ///< its base is a floating body, else the ground
    lwi_cluster_closing closing[LWI_CLUSTER_CLOSINGS];
    /** Of W_y'W_y and its factor.  Dependent coordinates below `separate` are of one loop alone, those of each loop one after
     *  the other: first[i] to end[i].  Rows are zero before first[i]. */
    uint8_t separate, first[LWI_CLUSTER_DEPENDENT], end[LWI_CLUSTER_DEPENDENT];
    lwi_cluster_step step[LWI_CLUSTER_STEPS];
} lwi_cluster_shape;

/** Constants of a step. */
typedef struct lwi_cluster_link {
    lwi_lanes X[9];          ///< axes for LWI_CLUSTER_ANY
    lwi_lanes r[3];          ///< origin at slide q = 0, in the parent's frame
    lwi_lanes angle;         ///< at q = 0
    lwi_lanes slide;         ///< [m] for a unit of q
    lwi_lanes m, c[3], J[6]; ///< of the body, about its mass centre, axes of the frame
} lwi_cluster_link;

/** Constants of a block. */
typedef struct lwi_cluster_constants {
    lwi_lanes minus_gravity[3]; ///< base axes; 0 if the base floats (its motion includes gravity)
} lwi_cluster_constants;

/** Constants of a closing joint: point and axes z, x in the frames of body 1 and 2.  A hinge rotates about z, a universal
 *  joint about z of body 1 and x of body 2. */
typedef struct lwi_cluster_ends {
    lwi_lanes P[2][3], z[2][3], x[2][3];
} lwi_cluster_ends;

/** A closing joint at a state: closing points of bodies 1, 2 and axis, base axes; of a universal joint its two axes and as z
 *  their normal z1 x x2. */
typedef struct lwi_cluster_closed {
    lwi_lanes P[2][3], z[3], axis[2][3];
} lwi_cluster_closed;

/** A step at a state; base axes. */
typedef struct lwi_cluster_pose {
    lwi_lanes R[9], r[3]; ///< its axes -> base; origin
    lwi_lanes d[3];       ///< from the parent's origin
    lwi_lanes c[3];       ///< mass centre from the origin
} lwi_cluster_pose;

/** Of a body for a unit of one x: velocity of the mass centre, base axes; angular velocity, body
 *  axes. */
typedef struct lwi_cluster_column {
    lwi_lanes v[3], w[3];
} lwi_cluster_column;

/** Base motion: angular velocity and accelerations without A of a floating base, its axes. */
typedef struct lwi_cluster_base_motion {
    double w[3], al[3], a[3]; ///< a: minus gravity
} lwi_cluster_base_motion;

/** Mass, first moments, second moments xx yy zz xy xz yz about the origin of the base. */
enum {
    LWI_CLUSTER_SPATIAL = 10,
    LWI_CLUSTER_BASE_MOTION = sizeof(lwi_cluster_base_motion) / sizeof(double)
};
/** These and a wrench. */
enum { LWI_CLUSTER_BASE_LOAD = LWI_CLUSTER_SPATIAL + 6 };

typedef struct lwi_cluster_block {
    const lwi_cluster_shape *shape;
    int variant;                                ///< index of its shape in shapes.h; -1: any shape
    int count;                                  ///< clusters; other lanes repeat the first
    int32_t (*iq)[LWI_LANES], (*iv)[LWI_LANES]; ///< [nz] indices into q, and into v, tau
    /** [nrate][LWI_LANES] index of the rate of a closing joint's coordinate in xdot */
    int32_t (*rate_at)[LWI_LANES];
    const lwi_cluster_link *link; ///< [nstep]
    const lwi_cluster_constants *constants;
    const lwi_cluster_ends *ends; ///< [nclosing]
    const lwi_lanes *size,
        *inverse;           ///< [nstep] squared size of the motion of a unit of z; 1 / size
    lwi_cluster_pose *pose; ///< [nstep]
    lwi_lanes (*lever)
        [3]; ///< velocities of closing points for a unit speed of each of its steps, signed by branch
    lwi_lanes (*turn)[3]; ///< rotations in the rows of closing joints likewise, of oblique steps
    lwi_cluster_column *column; ///< [nbody][nx]
    lwi_lanes *factor;          ///< L row by row below the diagonal, then 1/D
    lwi_cluster_closed *closed; ///< [nclosing]
    lwi_lanes *K, *k;           ///< [ny][nx], [ny]
    lwi_lanes *M, *f;           ///< [nx (nx + 1) / 2] lower triangle, [nx]
    lwi_lanes *rate;            ///< [nrate] speeds of the closing joints
    // if the base floats
    const double *base_motion; ///< of all bases
    int32_t *at_base_motion;   ///< [LWI_LANES] offset of the lane's base in base_motion
    int first_base;            ///< base of the clusters so far; -1: several
    int base;                  ///< base of all lanes; -1: several, or lanes are unused
    lwi_lanes *B, *C, *h;      ///< [nx][6], [LWI_CLUSTER_SPATIAL], [6] after C
} lwi_cluster_block;

/** The sizes na, nx, ny of a cluster and nx of its parent as one number. */
#define LWI_CLUSTER_SIZE(na, nx, ny, inboard) ((na) + 8 * (nx) + 64 * (inboard) + 512 * (ny))

/** One cluster.  Entries of its lane are LWI_LANES apart. */
typedef struct lwi_cluster {
    int size, block, lane;
    int parent; ///< cluster that receives its reduced system
    int loop;   ///< the first loop that it closes; -1: none
    int nloop;  ///< the number of these
    int8_t na, nx, ny, inboard;
    bool has_children; ///< other clusters send theirs to it
    bool first;        ///< the first of its parent's children in the inward pass
    bool same;         ///< each of its `a` is one of the x of its parent: in_parent
    int8_t in_parent[LWI_CLUSTER_KNOWN]; ///< [na]
    uint8_t driven;                      ///< bit i: a_i is driven
    int base;                            ///< floating base; -1: the ground
    const double *K, *k, *M, *f, *B;
    double *
        sum; ///< sums over its children: M lower triangle, f; then the factors of the coordinates w
    double *to; ///< `sum` of its parent; NULL: nothing is sent
    /** [nx] as sum and to, for the rows B; 6 numbers and zeros. */
    double (*base_rows)[LWI_LANES], (*to_base_rows)[LWI_LANES];
    const double *E[LWI_CLUSTER_KNOWN],
        *kappa[LWI_CLUSTER_KNOWN]; ///< [na] a.. = E x.. + kappa, x of the parent
    int32_t iv[LWI_CLUSTER_STEPS]; ///< [nz] indices into v
} lwi_cluster;

/** Forwarded coordinate: E and kappa over the parent's x of a coordinate that the parent does not have.  Cluster `from`
 *  has it, the x of cluster `to` determine it, and the parent has these.  Entries of rows are LWI_LANES apart. */
typedef struct lwi_cluster_forwarded {
    int from, to, nx;    ///< nx of the parent
    bool same;           ///< the parent is `to`
    const double *K, *k; ///< [nx of from] row of the coordinate in `from`
    const double *row[LWI_CLUSTER_KNOWN],
        *more[LWI_CLUSTER_KNOWN]; ///< rows of the x of `to` in the parent
    double *E, *kappa;            ///< [nx]
} lwi_cluster_forwarded;

/** Maximum number of clusters between the two. */
enum { LWI_CLUSTER_PATH = 8 };

/** An attached body: its motion is read by forces or sensors, and it may carry forces. */
typedef struct lwi_cluster_attached {
    int body;
    int cluster, step; ///< -1: fixed to the base
    int floats;        ///< floating base; -1: the ground
    lwi_k_frame on_part,
        on_step;      ///< mass centre and axes of the body in the frame of the part, of the step
    lwi_k_frame base; ///< of the cluster: base -> world, or link frame of a floating base
    double height;    ///< of the step's origin along the common axis of a planar cluster
    double place[3];  ///< when read: mass centre, axes of `base`
    double R[9],
        arm[3]; ///< when read: axes of the step -> base; from the step's mass centre to the body's, base axes
} lwi_cluster_attached;

/** A coupling q_0 = p(q_1) of two coordinates, which closes a cluster as a joint does;
 *  it has its K and k. */
typedef struct lwi_cluster_coupling {
    int iq[2], iv[2];
    const double *c; ///< [n] coefficients of p
    int n;
    int cluster; ///< -1: none
} lwi_cluster_coupling;

/** A rotor on a coordinate of the tree. */
typedef struct lwi_cluster_rotor {
    int iv;
    double inertia; ///< [kg, kg m^2]
    int cluster, z; ///< the cluster that introduces the coordinate, index in z
} lwi_cluster_rotor;

/** A loop: a revolute, universal, spherical or fixed joint, or a coupling, and the parts between its bodies and the
 *  base. */
typedef struct lwi_cluster_loop {
    int end[2];                       ///< parts with its bodies 1, 2; -1: the ground
    double P[2][3], z[2][3], x[2][3]; ///< centres and axes of F1, F2 in the frames of the parts
    int kind;                         ///< of the joint that closes it: LWI_CLUSTER_BALL, ...
    int coupling;                     ///< index of the coupling that closes it; -1: a joint does
    int rate_at;                      ///< index of its first coordinate's rate in xdot
    int n, part[LWI_CLUSTER_LOOP];    ///< parents first
    int8_t side[LWI_CLUSTER_LOOP];    ///< as lwi_cluster_step
    int rank;                         ///< most independent rows that it can have
} lwi_cluster_loop;

/** A floating body, or one on a spherical joint at the ground, with clusters on it.  Base axes: those of its link,
 *  rotated so that z is the axis of the first joint on it; origin: that of the link. */
typedef struct lwi_cluster_base {
    int part, node, iq, iv, nv;
    double axes[9];       ///< base -> link
    double m, h[3], J[6]; ///< of the body, base axes
    double rotor[6];      ///< [nv]
    const double *gravity;
    // at a state
    lwi_link link;
    double R[9], r[3]; ///< base -> world
    double S[6][6];    ///< [nv] base axes
    double v[3], w[3]; ///< base axes
    double cluster_load[LWI_CLUSTER_BASE_LOAD]
                       [LWI_LANES];      ///< sums of C, h of clusters, lane by lane
    int lanes;                           ///< of them that are used; others are zero
    double total[LWI_CLUSTER_BASE_LOAD]; ///< the same with the body
    /** Reduction by the coordinates of the clusters; of E the lower triangle is valid. */
    double E[6][LWI_LANES], e[LWI_LANES];
    double A[LWI_LANES]; ///< S v.; 6 numbers and zeros
    double Q[6];         ///< [nv] efforts
} lwi_cluster_base;

typedef struct lwi_clusters {
    lwi_k_parts parts;
    lwi_cluster_base *base;               ///< [nbase]
    lwi_cluster_base_motion *base_motion; ///< [nbase]
    int *base_of;                         ///< [part] -1: the ground
    int nbase;
    int *ball; ///< [nball] nodes on balls: three parts each
    int nball;
    const lw_model *model;
    lwi_cluster_loop *loop; ///< [nloop]
    int nloop, nfree, nv;   ///< loops; speeds of the tree; speeds of the tree, then driven ones
    double gravity[3];
    double per_length2; ///< 1 / length^2, between displacements and rotations
    double *scale;      ///< [nv] size of the motion of a unit speed; 0: driven
    double
        *drive;   ///< [nv - nfree] prescribed accelerations, set by the caller before an evaluation
    int *node_of; ///< [nv] node of the tree
    // plan of the present partition
    bool made, fits;
    bool coupled;           ///< loops determine their speeds together in some cluster
    long plans;             ///< made so far
    unsigned char *planned; ///< [nfree] the partition
    /** [nv] the same while it is planned or chosen; driven coordinates are never dependent */
    unsigned char *dependent;
    lwi_cluster *cluster; ///< [ncluster] inboard first
    lwi_cluster_block *block;
    lwi_cluster_shape *shape;
    lwi_cluster_forwarded *forwarded; ///< inboard first
    int ncluster, nblock, nshape, nforwarded, max_clusters, max_blocks, max_shapes, max_forwarded;
    lwi_cluster_attached *attached; ///< [nattached] sorted by parts
    int *first_attached;            ///< [parts + 1]
    int nattached;
    lwi_cluster_coupling *coupling; ///< [ncoupling] of the last loops
    int ncoupling;
    lwi_cluster_rotor *rotor; ///< [nrotor]
    int nrotor;
    unsigned char *pool; ///< memory of blocks and clusters
    lwi_lanes
        *unit; ///< [LWI_CLUSTER_KNOWN^2 + LWI_CLUSTER_KNOWN] rows of E of known coordinates; zeros
    size_t room, used;
    struct lwi_cluster_scratch *scratch;
} lwi_clusters;

/** Structure and memory.
 *  @param length   of the mechanism [m]
 *  @param scale    [tree_nv] size of the motion of a unit speed
 *  @param rate_at  [model nloop] index of the first rate of each cut joint in xdot, -1: none
 *  @param needed   [nnode] nodes that get attached bodies
 *  @param dependent  number of dependent speeds of every partition
 *  @param clusters out; NULL if the model has joints or closures without cluster
 *  @return LW_ERR_MEMORY */
lw_status lwi_clusters_create(const lw_model *model, double length, const double *scale,
                              const int *rate_at, const bool *needed, int dependent,
                              lwi_arena *arena, lwi_clusters **clusters);
/** Plans the clusters of a partition [nfree]; returns at once if it is the present one.
 *  @return false if its dependent speeds are not determined loop by loop, or memory is short   @cost O(clusters) */
bool lwi_clusters_plan(lwi_clusters *clusters, const unsigned char *dependent);
/** Column w of a loop's rows at the present configuration: effect of a unit of speed iv on the branch of body 2
 *  (side 1) or 1 (-1) of its joint. */
typedef void lwi_clusters_row_column(const void *user, int loop, int side, int iv, double w[6]);

/** Changes a partition [nfree] so that dependent speeds are determined loop by loop: in a ladder the two independent
 *  speeds must not be in different loops.
 *  @param all_loops  chooses again in all loops; false: with as few changes as possible
 *  @return false if it is unchanged: suitable already, or no other was found */
bool lwi_clusters_prefer(lwi_clusters *clusters, lwi_clusters_row_column *column, const void *user,
                         bool all_loops, unsigned char *dependent);

/** Of the present plan: steps of all blocks, and multiplications in lanes, once for all of them. */
void lwi_clusters_count(const lwi_clusters *clusters, double *steps, double *products);

/** Floating bases: poses at tree q; then velocities and accelerations without A at all speeds v. */
void lwi_clusters_place_bases(const lwi_clusters *clusters, double t, const double *q);
void lwi_clusters_move_bases(const lwi_clusters *clusters, double t, const double *v);
/** Efforts tau [nv] on floating bases; after lwi_clusters_move_bases. */
void lwi_clusters_load_bases(const lwi_clusters *clusters, const double *tau);
/** Accelerations of floating bases, between the two sweeps of clusters_solve.  @return false if an inertia is not
 *  positive */
bool lwi_clusters_solve_bases(const lwi_clusters *clusters, double *vdot);

/** Motion of attached body `at` in the world at all speeds v [nv]; after cluster_place.
 *  @param R         body -> world     @param r, speed  of the mass centre
 *  @param turn      angular velocity, world axes */
void lwi_clusters_read_attached(const lwi_clusters *clusters, int at, const double *v, double R[9],
                                double r[3], double speed[3], double turn[3]);
/** K of couplings at tree q, before cluster_place; k at the speeds v, before cluster_force.
 *  @return the largest squared ratio of a dependent to a known motion, as cluster_place */
double lwi_clusters_place_couplings(const lwi_clusters *clusters, const double *q);
void lwi_clusters_coupling_forces(const lwi_clusters *clusters, const double *q, const double *v);
/** k of couplings that closes them at tree q to first order; after cluster_place. */
void lwi_clusters_coupling_offsets(const lwi_clusters *clusters, const double *q);
/** p[0] = p'(x), p[1] = p''(x) of a coupling. */
void lwi_clusters_coupling_slopes(const lwi_cluster_coupling *coupling, double x, double p[2]);
/** The largest |q_0 - p(q_1)| of the couplings at tree q. */
double lwi_clusters_coupling_gap(const lwi_clusters *clusters, const double *q);
/** Adds the rotors to M, after cluster_place; their forces at x.. = 0 to f, after cluster_force. */
void lwi_clusters_rotors(const lwi_clusters *clusters);
void lwi_clusters_rotor_forces(const lwi_clusters *clusters);
/** Power of the drives [W] at all speeds v with efforts [nv - nfree] of forces on driven coordinates; after
 *  clusters_solve. */
double lwi_clusters_drive_power(const lwi_clusters *clusters, const double *v, const double *vdot,
                                const double *effort);
/** Adds a force and a torque about the mass centre, world axes, on an attached body; after cluster_force and
 *  lwi_clusters_read_attached. */
void lwi_clusters_load_attached(const lwi_clusters *clusters, int at, const double wrench[6]);

#endif
