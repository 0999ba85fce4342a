// clusters.h -- loops side by side in lanes, each reduced in motion space before inertias meet.
//
// A cell is a loop closed by one joint, or a body between loops.  Its coordinates z = (x, y):
//
//   x known      other cells or the state tell their speeds: first `a`, those of cells inboard,
//   then
//                the cell's own independent ones
//   y dependent  the rows of its joint tell theirs, whatever the inertias are:
//
//     W_y ydot + W_x xdot = 0,   y.. = K x.. + k,   K = -(W_y'W_y)^-1 W_y'W_x
//
// The bodies whose coordinates the cell introduces then have a mass matrix M and a force f over x
// alone, and cells are eliminated one after the other along the tree they form, each into the one
// that introduced its `a`:
//
//     M += E' M_b E,  f += E'(M_b kappa + f_b),   a.. of cell b = E x.. + kappa
//
// with E rows of 1 and of K.  (docs/theory/rcr.md, "Cells".)  W_y has full column rank while the
// loop is regular, however many rows are redundant; where it is not the pivots of W_y'W_y fall and
// the evaluation is left to the general elimination.
//
// Coordinates whose motion is prescribed are among `a`, those that no cell tells: E = 0 and kappa is
// their acceleration.  They stand behind the tree's own in q, v and vdot, whose first entries alone are
// determined here.
//
// Cells on a body that floats are written in its axes about its origin, so that K and k are those of a
// body at rest; over (x, motion A of that body) they have
//
//     [M  B] [x..]   [f]
//     [B' C] [A  ] + [h]
//
// B, h go inward with M, f; C, h are summed on the body, which moves first on the way outward
// (base.c).
//
// Cells of equal shape stand side by side in blocks x[block][entry][lane] as in plan.h; padding
// repeats the block's first cell.  Which speeds are dependent may change between two evaluations:
// the plan is made anew in memory it has.
#ifndef LWI_METHODS_RCR_CLUSTERS_CLUSTERS_H
#define LWI_METHODS_RCR_CLUSTERS_CLUSTERS_H

#include "tree/normal_form/parts.h"
#include "tree/normal_form/plan.h"
#include "kinematics/tree.h"

/** Most known and dependent coordinates of a cell; a joint has at most six rows. */
enum { LWI_CLUSTER_KNOWN = 7, LWI_CLUSTER_DEPENDENT = 6, LWI_CLUSTER_STEPS = 12 };

/** A pivot of W_y'W_y below this part of its diagonal (the squared sine of the angle between a
 *  column and those before it) is close to a singular position, and left to the general text.
 *  Normal equations lose as many digits as this has, so 4 of 16 here. */
#define LWI_CLUSTER_PIVOT 4e-4

/** How a step's frame stands in that of its parent, but for its place and its own motion. */
enum { LWI_CLUSTER_SAME, LWI_CLUSTER_SQUARE, LWI_CLUSTER_ANY };

typedef struct lwi_cluster_step {
    int8_t parent; ///< step before it; -1: the cell's base
    int8_t at;     ///< its coordinate among z
    int8_t axes;   ///< LWI_CLUSTER_SAME: the parent's; SQUARE: (x, z, -y) of it; ANY
    int8_t side;   ///< of the closing joint: +1, -1 on the way to its body 2, 1; 0: neither
    int8_t body;   ///< which of the cell's bodies it is; -1: none
    bool turn, slide;
    bool has_offset;    ///< has another origin than its parent
    bool is_oblique;    ///< its axis is not parallel to that of the closing joint
    uint8_t moved_by;   ///< bit j: moves with x_j
    bool has_dependent; ///< moves with some of y
} lwi_cluster_step;

/** What cells side by side have in common. */
typedef struct lwi_cluster_shape {
    int nx, na, ny, nstep, nbody;
    bool closed;  ///< a joint closes it
    bool pin;     ///< a revolute; else a spherical joint
    bool along;   ///< its axis is that of the frame of its body 2
    bool planar;  ///< all axes are parallel
    bool floats;  ///< its base is a body that floats, else the ground
    int close[2]; ///< steps that carry its body 1, 2; -1: the base
    lwi_cluster_step step[LWI_CLUSTER_STEPS];
} lwi_cluster_shape;

/** Constants of a step. */
typedef struct lwi_cluster_link {
    lwi_lanes X[9];          ///< of LWI_CLUSTER_ANY
    lwi_lanes r[3];          ///< origin for slide q = 0, in the parent's frame
    lwi_lanes angle;         ///< for q = 0
    lwi_lanes slide;         ///< metres of a unit of q
    lwi_lanes m, c[3], J[6]; ///< of the body about its mass centre, frame's axes
} lwi_cluster_link;

/** Constants of a block. */
typedef struct lwi_cluster_constants {
    lwi_lanes minus_gravity[3]; ///< minus gravity, base axes; 0 where the base floats, which has it
    lwi_lanes P[2][3];          ///< closing point and axis in the frames of body 1 and 2
    lwi_lanes z[2][3];
    lwi_lanes size[LWI_CLUSTER_STEPS];    ///< squared: of the motion that a unit of z makes
    lwi_lanes inverse[LWI_CLUSTER_STEPS]; ///< 1 / size
} lwi_cluster_constants;

/** Of a step at a state; base axes. */
typedef struct lwi_cluster_pose {
    lwi_lanes R[9], r[3]; ///< axes -> base; origin
    lwi_lanes d[3];       ///< from the parent's origin
    lwi_lanes c[3];       ///< mass centre from the origin
    lwi_lanes p[3];       ///< velocity of the closing point for a unit speed, by side
} lwi_cluster_pose;

/** Of a body for a unit of one of x: velocity of the mass centre, base axes; angular velocity,
 *  its own axes. */
typedef struct lwi_cluster_column {
    lwi_lanes v[3], w[3];
} lwi_cluster_column;

enum {
    LWI_CLUSTER_FACTORS =
        LWI_CLUSTER_DEPENDENT * (LWI_CLUSTER_DEPENDENT - 1) / 2 + LWI_CLUSTER_DEPENDENT
};

/** How a body that floats moves, its own axes; that of its accelerations which is not A. */
typedef struct lwi_cluster_base_motion {
    double w[3], al[3], a[3]; ///< a: less gravity
} lwi_cluster_base_motion;

/** Mass, first moments, second ones xx yy zz xy xz yz about the origin of the base. */
enum {
    LWI_CLUSTER_SPATIAL = 10,
    LWI_CLUSTER_BASE_MOTION = sizeof(lwi_cluster_base_motion) / sizeof(double)
};
/** These and a force. */
enum { LWI_CLUSTER_BASE_LOAD = LWI_CLUSTER_SPATIAL + 6 };

typedef struct lwi_cluster_block {
    const lwi_cluster_shape *shape;
    int variant; ///< which of the shapes with texts of their own it has (shapes.h); -1: none
    int count;   ///< cells; the other lanes repeat the first
    int32_t (*iq)[LWI_LANES], (*iv)[LWI_LANES]; ///< [nz] where q, v, tau come from
    int32_t *rate_at; ///< [LWI_LANES] where the rate of the closing joint goes; -1: nowhere
    const lwi_cluster_link *link; ///< [nstep]
    const lwi_cluster_constants *constants;
    lwi_cluster_pose *pose;     ///< [nstep]
    lwi_cluster_column *column; ///< [nbody][nx]
    lwi_lanes *factor;          ///< L row by row below the diagonal, then 1/D
    lwi_lanes *P, *z;           ///< [3] closing point and axis, base axes
    lwi_lanes *K, *k;           ///< [ny][nx], [ny]
    lwi_lanes *M, *f;           ///< [nx (nx + 1) / 2] lower triangle, [nx]
    lwi_lanes *rate;            ///< [1] speed of the closing joint
    // of a base that floats
    const double *base_motion; ///< of all such bodies
    int32_t *at_base_motion;   ///< [LWI_LANES] where that of the lane's stands there
    int first_base;            ///< of the cells so far; -1: they have not the same
    int base;                  ///< of all its lanes; -1: they have not the same, or are not full
    lwi_lanes *B, *C, *h;      ///< [nx][6], [LWI_CLUSTER_SPATIAL], [6] behind C
} lwi_cluster_block;

/** The sizes of a cell, na, nx, ny and nx of its parent, as one number. */
#define LWI_CLUSTER_SIZE(na, nx, ny, inboard) ((na) + 8 * (nx) + 64 * (ny) + 512 * (inboard))

/** One cell.  Numbers of its lane are LWI_LANES apart. */
typedef struct lwi_cluster {
    int size, block, lane;
    int parent; ///< cell that introduced its a, where it passes something on
    int8_t na, nx, ny, inboard;
    bool has_children; ///< cells pass something on to it
    bool first;        ///< of those that do so to its parent, inward
    uint8_t driven;    ///< bit i: a_i is prescribed
    int base;          ///< body that floats; -1: the ground
    const double *K, *k, *M, *f, *B;
    double *sum; ///< M lower triangle, f: of the cells outboard; then with w taken out
    double *to;  ///< sum of its parent; NULL: there is nothing to pass on
    /** [nx] B, as sum and to; 6 numbers and zeros. */
    double (*base_rows)[LWI_LANES], (*to_base_rows)[LWI_LANES];
    const double *E[LWI_CLUSTER_KNOWN],
        *kappa[LWI_CLUSTER_KNOWN]; ///< [na] a.. = E x.. + kappa of that
    int32_t iv[LWI_CLUSTER_STEPS]; ///< [nz] in tree v
} lwi_cluster;

/** E and kappa of a coordinate that its parent does not have: cell `from` has it, x of cell `to` before
 *  that tells it, and the parent has these.  Numbers of rows are LWI_LANES apart. */
typedef struct lwi_cluster_forwarded {
    int from, to, nx;    ///< nx of the parent
    bool same;           ///< the parent is `to`
    const double *K, *k; ///< [nx of from] its row there
    const double *row[LWI_CLUSTER_KNOWN],
        *more[LWI_CLUSTER_KNOWN]; ///< rows of x of `to` in the parent
    double *E, *kappa;            ///< [nx]
} lwi_cluster_forwarded;

/** Most cells between the two. */
enum { LWI_CLUSTER_PATH = 8 };

/** A body that somebody asks for: it has motions, and takes forces. */
typedef struct lwi_cluster_attached {
    int body;
    int cluster, step;            ///< -1: it rides on the base
    int floats;                   ///< base; -1: the ground
    lwi_k_frame on_part, on_step; ///< mass centre and axes of the body in the raw frame, the step's
    lwi_k_frame base;             ///< of the cell: base -> world, or link frame of what floats
    double height;                ///< of the step's origin along the axes of a plane
    double place[3];              ///< as read: of the mass centre, for the axes of `base`
    double R[9], arm[3]; ///< as read: axes of the step -> base; from the mass centre of all that
                         ///< moves with the step to that of the body, base axes
} lwi_cluster_attached;

/** A coupling q_0 = p(q_1) of two coordinates, which closes a cell as a joint does: K and k are its own. */
typedef struct lwi_cluster_coupling {
    int iq[2], iv[2];
    const double *c; ///< [n] polynomial
    int n;
    int cluster; ///< -1: none needs it
} lwi_cluster_coupling;

/** A rotor on a coordinate, which has the inertia beside the bodies. */
typedef struct lwi_cluster_rotor {
    int iv;
    double inertia; ///< [kg, kg m^2]
    int cluster, z; ///< the cell that introduces it, where it is among z
} lwi_cluster_rotor;

/** A loop: a revolute or spherical joint, or a coupling, and everything between its bodies and the ground. */
typedef struct lwi_cluster_loop {
    int end[2];              ///< parts that carry its body 1, 2; -1: the ground
    double P[2][3], z[2][3]; ///< centres and axes of F1, F2 in the frames of these parts
    bool pin;
    int coupling; ///< no joint closes it but a coupling of two coordinates; -1
    int rate_at;
    int n, part[LWI_CLUSTER_STEPS]; ///< parents first
    int8_t side[LWI_CLUSTER_STEPS]; ///< as lwi_cluster_step
} lwi_cluster_loop;

/** A body that floats, or hangs on a ball at the ground, with cells on it.  Base axes: those of its link
 *  turned so that z is the axis of the first joint on it, about the link's origin. */
typedef struct lwi_cluster_base {
    int part, node, iq, iv, nv;
    double axes[9];       ///< base -> link
    double m, h[3], J[6]; ///< of the body, base axes
    double rotor[6];      ///< [nv]
    const double *gravity;
    // at a state
    lwi_link link;
    double R[9], r[3];                                     ///< base -> world
    double S[6][6];                                        ///< [nv] base axes
    double v[3], w[3];                                     ///< base axes
    double cluster_load[LWI_CLUSTER_BASE_LOAD][LWI_LANES]; ///< C, h of cells, lane by lane
    double total[LWI_CLUSTER_BASE_LOAD];                   ///< sum of these and of the body
    /** Less what coordinates of cells take; of E the lower triangle is read. */
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
    const lw_model *model;
    lwi_cluster_loop *loop; ///< [nloop]
    int nloop, nfree, nv;   ///< loops; speeds of the tree, with the driven ones behind them
    double gravity[3];
    double per_length2; ///< 1 / length^2: between displacements and turns
    double *scale; ///< [nv] size of the motion that a unit speed makes; 0: driven, does not count
    double *drive; ///< [nv - nfree] accelerations that are prescribed, by whoever evaluates
    int *node_of;  ///< [part]
    // the plan of one partition
    bool made, fits;
    unsigned char *dependent; ///< [nv] it was made for; those behind nfree never are
    lwi_cluster *cluster;     ///< [ncell] inboard first
    lwi_cluster_block *block;
    lwi_cluster_shape *shape;
    lwi_cluster_forwarded *forwarded; ///< inboard first
    int ncluster, nblock, nshape, nforwarded, max_clusters, max_blocks, max_shapes, max_forwarded;
    lwi_cluster_attached *attached; ///< [nseat] by parts
    int *first_attached;            ///< [parts + 1]
    int nattached;
    lwi_cluster_coupling *coupling; ///< [nlaw] of the last loops
    int ncoupling;
    lwi_cluster_rotor *rotor; ///< [nrotor]
    int nrotor;
    unsigned char *pool; ///< what blocks and cells point to
    lwi_lanes
        *unit; ///< [LWI_CLUSTER_KNOWN^2 + LWI_CLUSTER_KNOWN] rows of E for what is known; zeros
    size_t room, used;
    struct lwi_cluster_scratch *scratch;
} lwi_clusters;

/** Structure and memory.
 *  @param scale    [tree nv]
 *  @param carried  [model nloop] where the rate of each cut joint goes, -1: nowhere
 *  @param asked    [nnode] nodes that get seats
 *  @param cells    out; NULL where the model has joints or closures that no cell has
 *  @return LW_ERR_MEMORY */
lw_status lwi_clusters_create(const lw_model *model, double length, const double *scale,
                              const int *rate_at, const bool *needed, lwi_arena *arena,
                              lwi_clusters **clusters);
/** The plan of a partition [nfree]; nothing is done where it stands.
 *  @return false where its dependent speeds cannot be told cell by cell        @cost O(cells) */
bool lwi_clusters_plan(lwi_clusters *clusters, const unsigned char *dependent);
/** A column of a loop's rows at the configuration at hand: what a unit of speed iv, on the way to
 *  body 2 (side 1) or 1 (-1) of its joint, does there. */
typedef void lwi_clusters_row_column(const void *user, int loop, int side, int iv, double w[6]);

/** Changes a partition [nfree] so that its dependent speeds can be told loop by loop: in a ladder the
 *  two independent speeds must not stand in different cells.
 *  @param anew  chooses in all loops anew; false: as little as it takes is changed
 *  @return false where it is as it was: it is as wanted, or no other was found */
bool lwi_clusters_prefer(lwi_clusters *clusters, lwi_clusters_row_column *column, const void *user,
                         bool all_loops, unsigned char *dependent);

/** Bodies that float: where they are at tree q; how they move at all speeds v, after that. */
void lwi_clusters_place_bases(const lwi_clusters *clusters, double t, const double *q);
void lwi_clusters_move_bases(const lwi_clusters *clusters, double t, const double *v);
/** Efforts tau [nv] on them; after lwi_clusters_move_bases. */
void lwi_clusters_load_bases(const lwi_clusters *clusters, const double *tau);
/** Their accelerations, between the two sweeps of clusters_solve; false where an inertia is not positive. */
bool lwi_clusters_solve_bases(const lwi_clusters *clusters, double *vdot);

/** Motion of seat `at` in the world, at all speeds v [nv]; after clusters_place.
 *  @param r, speed  of the mass centre     @param turn  angular velocity, world axes */
void lwi_clusters_read_attached(const lwi_clusters *clusters, int at, const double *v, double R[9],
                                double r[3], double speed[3], double turn[3]);
/** K of couplings at tree q, before clusters_place.  Returns the largest square of what a dependent coordinate
 *  moves for a unit motion, as clusters_place; k at the speeds v, before clusters_force. */
double lwi_clusters_place_couplings(const lwi_clusters *clusters, const double *q);
void lwi_clusters_coupling_forces(const lwi_clusters *clusters, const double *q, const double *v);
/** p' and p'' of a coupling at x. */
void lwi_clusters_coupling_slopes(const lwi_cluster_coupling *coupling, double x, double p[2]);
/** The largest |q_0 - p(q_1)| of the couplings at tree q. */
double lwi_clusters_coupling_gap(const lwi_clusters *clusters, const double *q);
/** Adds the rotors to M, after clusters_place; what they need where x.. = 0 to f, after clusters_force. */
void lwi_clusters_rotors(const lwi_clusters *clusters);
void lwi_clusters_rotor_forces(const lwi_clusters *clusters);
/** What drives do [W] at all speeds v and efforts that forces put on them [nv - nfree]; after clusters_solve. */
double lwi_clusters_drive_power(const lwi_clusters *clusters, const double *v, const double *vdot,
                                const double *effort);
/** Adds a force and a moment about the mass centre, world axes; after clusters_force and lwi_clusters_read_attached. */
void lwi_clusters_load_attached(const lwi_clusters *clusters, int at, const double wrench[6]);

#endif
