// kernels.h -- kernels of observations, one table per ISA build; a lane is a joint or a body, or a component of a vector.
#ifndef LWI_KINEMATICS_KERNELS_H
#define LWI_KINEMATICS_KERNELS_H

#include "kinematics/tree_state.h"

enum { LWI_RESIDUAL_LEVELS = 3 };

/** Of all bodies, in the world's axes. */
typedef struct lwi_body_sums {
    double kinetic, momentum[3], angular_momentum[3];
} lwi_body_sums;

/** Functions of tree.c and rnea.c, three components of a vector at once. */
typedef struct lwi_link_kernels {
    /** lwi_link_position and, with v, lwi_link_rates of nodes k, k + 1, ... below `end`, up to the first that is neither
     *  a hinge nor universal, or is driven.  link: as of lwi_tree_position.  @return that node or `end` */
    int (*positions)(const lw_model *model, lwi_link *link, int k, int end, const double *q,
                     const double *v);
    /** lwi_tree_world_of */
    void (*world)(const lw_model *model, const lwi_link *link, int first, int end, double (*R)[9],
                  double (*r)[3]);
    /** lwi_tree_velocity_of */
    void (*velocities)(const lw_model *model, const lwi_link *link, int first, int end,
                       const double *v, double (*V)[6]);
    /** A of nodes as lwi_tree_accelerations, ending as `positions` does; `relative`: to their parents, on the ground
     *  with the base's. */
    int (*accelerations)(const lw_model *model, const lwi_link *link, int k, int end,
                         const double (*V)[6], const double *v, const double *vdot, bool relative,
                         double (*A)[6]);
    /** P of nodes first to end - 1 := inertia_mul of V. */
    void (*momenta)(const lw_model *model, int first, int end, const double (*V)[6],
                    double (*P)[6]);
    /** lwi_tree_reaction, without efforts, of nodes k, k + 1, ... below `end`, up to the first that floats or has a reversed
     *  joint.  @return that node or `end` */
    int (*reactions)(const lw_model *model, const lwi_tree_work *work, int k, int end,
                     double (*reaction)[6]);
    /** to [body] := R X of the angular parts of X, of nodes first to end - 1. */
    void (*angular)(const lw_model *model, int first, int end, const double (*R)[9],
                    const double (*X)[6], double (*to)[3]);
    /** Adds F of nodes end - 1 to first + 1 to that of their parents. */
    void (*wrenches)(const lw_model *model, const lwi_link *link, int first, int end,
                     double (*F)[6]);
    /** Velocities V of nodes in world axes: that of the parent and R of `own`, or where that is NULL of S v and sigma; as
     *  move_node of passes.c, with the parents of the model. */
    void (*motions)(const lw_model *model, const lwi_link *link, int first, int end,
                    const double (*own)[6], const double *v, const double (*R)[9],
                    const double (*r)[3], double (*V)[6]);
    /** V of nodes first to end - 1 += the velocity of one body with node `base`, at the points r; as ride of passes.c. */
    void (*ride)(int first, int end, int base, const double (*r)[3], double (*V)[6]);
    /** own [nodes] := R' of motions in world axes. */
    void (*to_links)(int first, int end, const double (*R)[9], const double (*world)[6],
                     double (*own)[6]);
    /** lwi_tree_place_body of all these nodes */
    void (*place)(const lw_model *model, int first, int end, const double (*R)[9],
                  const double (*r)[3], double (*body_R)[9], double (*body_r)[3]);
    /** lwi_tree_body_velocities_of, both */
    void (*body_velocities)(const lw_model *model, int first, int end, const double (*R)[9],
                            const double (*V)[6], double (*body_v)[3], double (*body_w)[3]);
} lwi_link_kernels;

typedef struct lwi_observe_kernels {
    int width; ///< lanes
    /** largest[0 to levels - 1] := the maximum of itself and the residuals of the rows of joint[0 to width - 1], which
     *  have the same type, rows along axes of F1 alone (residuals.c), no mount and no drive. */
    void (*residuals)(const lw_model *model, const lwi_snapshot *snapshot, const int *joint,
                      int levels, double largest[LWI_RESIDUAL_LEVELS]);
    /** Poses, velocities and, with `accelerations`, accelerations of the bodies of node[0 to width - 1], from R, r, V
     *  and A of the nodes; with `wrenches` their F = M A + V x* M V - wrench too. */
    void (*bodies)(const lw_model *model, const lwi_tree_work *work, const int *node,
                   bool accelerations, bool wrenches, lwi_snapshot *snapshot);
    /** The reactions of the joints of node[0 to width - 1], all reversed, between nodes and without efforts. */
    void (*reversed_reactions)(const lw_model *model, const lwi_tree_work *work, const int *node,
                               lwi_snapshot *snapshot);
    /** Of the hinges joint[0 to width - 1] without mounts, from the motion of their bodies in world axes: the speed and,
     *  where they are given, the angle next to that in `angle`, up to round-off, and the rate of the speed of closed ones
     *  from the accelerations al; as lwi_joint_read_hinge and lwi_joint_hinge_acceleration. */
    void (*hinges)(const lw_model *model, const int *joint, const double (*R)[9],
                   const double (*w)[3], const double (*al)[3], double *angle, double *speed,
                   double *rate);
    /** Adds those of bodies first, first + 1, ..., `count` of them and `width` at most, in this order. */
    void (*energies)(const lw_model *model, const lwi_snapshot *snapshot, int first, int count,
                     lwi_body_sums *sums);
    bool (*finite)(const double *x, int n); ///< are they all?
    // NULL in builds of one lane
    lwi_link_kernels links;
    /** Copies `count` entries of n numbers, from_step apart, to places to_step apart; they do not overlap.
     *  @return false: not for this n and from_step */
    bool (*copy)(const double *from, ptrdiff_t from_step, double *to, ptrdiff_t to_step, int n,
                 int count);
    /** The same of quaternions, with the sign that is nearest to the one in `to` before. */
    void (*continue_quaternions)(const double *from, ptrdiff_t from_step, double *to,
                                 ptrdiff_t to_step, int count);
} lwi_observe_kernels;

/** The kernels of a width: 1, 4, 8, or 0 for the widest; NULL if the processor does not support it. */
const lwi_observe_kernels *lwi_observe_kernels_of(int width);

#endif
