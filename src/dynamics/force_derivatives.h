// force_derivatives.h -- exact derivatives of generalised forces by coordinates, speeds and states of signals.
//
// Problem: Q_k = u_k . f, f the loads [6] of a force on its bodies, u_k = S_k at their mass centres.  A displacement of
// speed j moves a body outboard by the screw S_j and changes its velocity V by S_j x V + psi_j (tree/derivatives.h), so
//
//     dQ_k = u_k . df + du_k . f,     df by the force (lwi_force_type.differentiate),     du_k by S_j x S_k
//
// Between two bodies a force and its opposite depend on the relative motion alone: speeds that move both change nothing, and
// only those of the branches count.  A signal s adds  (dQ/ds) ds:  by the derivatives of formulas (jets) with
// respect to what they read, and of that by the motion.                                    Cost: of each force the square
// of its branches; of each signal n for what it reads.
//
// Products  u'dQ + w'dg  with rows u, w (g the rates of signals' states) need no matrices.  With x = sum u S over the way to a
// body, loads f, and the derivatives p, t of  x.f  by the pose and the twist of the body (all of them wrenches about the
// world's origin), a displacement of speed j, with x_j = x up to its joint, changes them by
//     S_j.(a - x_j x* f) + psi_j.t,   a = p + V x* t + x x* f,     and a change of its speed by S_j.t,
// sums a, f, t over the bodies outboard of j.                                  Cost: that of the forces, and O(n).
//
// A force along a sum of coordinates l = sum c q (a servo) has the rows of f(l, l', signals, its state) and the column c.
// One along a path over bodies has those of its straight parts, of which the ends on obstacles move too (path.h).
//
// Forces without exact derivatives (slider-cranks, paths within obstacles), on coordinates of joints that close loops, and
// signals that read these, are left to differences.
#ifndef LWI_DYNAMICS_FORCE_DERIVATIVES_H
#define LWI_DYNAMICS_FORCE_DERIVATIVES_H

#include "model/signals/probe.h"
#include "tree/derivatives.h"

typedef enum lwi_leaf_kind {
    LWI_LEAF_COORDINATE, ///< of a joint of the tree
    LWI_LEAF_SPEED,      ///< the same
    LWI_LEAF_PROBE,      ///< of bodies
    LWI_LEAF_STATE       ///< of a signal
} lwi_leaf_kind;
/** What a signal reads. */
typedef struct lwi_signal_leaf {
    lwi_leaf_kind kind;
    lwi_seed seed;       ///< along it
    int node, component; ///< COORDINATE, SPEED: of the joint of this node
} lwi_signal_leaf;

/** A speed that moves one of the bodies of a force. */
typedef struct lwi_branch_speed {
    int speed, side;
} lwi_branch_speed;

typedef struct lwi_force_derivatives {
    bool exact;      ///< all forces and signals have derivatives
    bool kinked;     ///< some signal may have corners, where derivatives are those of one side
    int *first_leaf; ///< [functions + 1] of each function
    bool *backward;  ///< [functions] it has a gradient (lwi_signal_gradient)
    lwi_signal_leaf *leaf;    ///< all leaves
    double *slope;            ///< [leaves] derivatives of a signal
    int *first_speed;         ///< [forces + 1] of each force between bodies
    lwi_branch_speed *branch; ///< all branches
    int *speed;               ///< [forces] tree speed of a force on a coordinate; -1: another
    lwi_motion_pair *change;  ///< [2 branch] by displacements, then by speeds
    double (*load)[2][6];     ///< [2 branch]
    double (*moved)[6];       ///< [branch] u_k
    double (*rotation)[6];    ///< [branch] of a path: changes of velocities
    struct {
        double (*pose)[6], (*twist)[6], (*load)[6], (*unit)[6], (*x)[6], (*by)[6];
    } place; ///< [bodies] of a path: changes, loads, those of a unit force, factors of products, derivatives of these
    double *row_q, *row_v, *row_z;      ///< [n], [n], [nz] of one signal
    double *column, *qdot;              ///< [n] zero between its uses, [nq]
    double *unit;                       ///< [n]
    struct lwi_outboard_sums *outboard; ///< [nnode] of products
    double (*way)[6], (*until)[6]; ///< [elements] sums of u S up to each; to its end or beginning
} lwi_force_derivatives;

/** Rows of products. */
typedef struct lwi_force_rows {
    const double *u, *w; ///< [tree nv] of Q, [nz] of the rates of states; w NULL: nz is 0
} lwi_force_rows;

/** Derivatives of the forces at a state. */
typedef struct lwi_force_sums {
    double *by_q, *by_v;                       ///< [n][n] from which those of Q are subtracted
    double *force_by_z;                        ///< [n][nz] out; NULL: nz is 0
    double *rate_by_q, *rate_by_v, *rate_by_z; ///< [nz][n], [nz][n], [nz][nz] out
} lwi_force_sums;

/** @return LW_ERR_MEMORY */
lw_status lwi_force_derivatives_create(const lw_model *model, lwi_arena *arena,
                                       lwi_force_derivatives *f);
/** After the screws of `tree` and the motion of `work`, as forces read it, at (t, q). */
void lwi_force_derivatives_subtract(const lw_model *model, lwi_force_derivatives *f,
                                    const lwi_tree_derivatives *tree, const lwi_tree_work *work,
                                    double t, const double *q, const double *inputs, int nz,
                                    const lwi_force_sums *to);
/** by_q, by_v, by_z += derivatives of u'Q + w'g; as lwi_force_derivatives_subtract, without forces in `work`.
 *  @param by_q, by_v, by_z  [n], [n], [nz] */
void lwi_force_products_add(const lw_model *model, lwi_force_derivatives *f,
                            const lwi_tree_derivatives *tree, const lwi_tree_work *work, double t,
                            const double *q, const double *inputs, const lwi_force_rows *rows,
                            double *by_q, double *by_v, double *by_z);

#endif
