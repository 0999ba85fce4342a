// tree.h -- kinematics of the spanning tree, shared by the recursive formulations.
//
// Link frames and sweep order are those of lwi_node.  Spatial vectors are linear part first, in the
// link frame about its origin.  Velocity of a node:
//     V = X V_parent + S u + sigma                                          [naudet2003, (1)]
// with u the free speeds and sigma the velocity of everything prescribed (drives, mounts).
#ifndef LWI_KINEMATICS_TREE_H
#define LWI_KINEMATICS_TREE_H

#include "model/model.h"

/** One node at one instant. */
typedef struct lwi_link {
    double R[9], r[3];   ///< link frame in the parent's link frame: axes -> parent's, origin
    double S[6][6];      ///< [nv] motion subspace of the free speeds
    double Sdot[6][6];   ///< [nv] derivative of its components (lwi_tree_rates)
    double sigma[6];     ///< prescribed velocity
    double sigma_dot[6]; ///< derivative of its components (lwi_tree_rates)
    // of the joint itself, before reversal and before drives are separated
    double q[LW_JOINT_MAX_NQ],
        u[LW_JOINT_MAX_NV];           ///< all coordinates, all speeds (driven included)
    double drive[LW_JOINT_MAX_NV][3]; ///< driven: value, rate, acceleration
} lwi_link;

/** Is it a universal joint without drive and mount, and F2 the link frame?  Then S = [0; (0, s, c)], [0; e1] with sine and
 *  cosine of the second angle. */
static inline bool lwi_node_is_universal(const lwi_node *node)
{
    return node->type->id == LW_JOINT_UNIVERSAL && !node->driven && !node->reversed;
}

/** Pose of every node, S and sigma, from the free coordinates.
 *  @param link  [nnode] zero before the first call, and then of this model alone: what does not change in the link of
 *               a hinge is set once */
void lwi_tree_position(const lw_model *model, double t, const double *q, lwi_link *link);
/** The same of nodes first to end - 1 and, with v, lwi_tree_rates.  @param v  free speeds; NULL: positions alone */
void lwi_tree_links_of(const lw_model *model, double t, int first, int end, const double *q,
                       const double *v, lwi_link *link);
/** Sdot and sigma_dot from the free speeds; after lwi_tree_position at the same t and q. */
void lwi_tree_rates(const lw_model *model, double t, const double *v, lwi_link *link);
/** The same for one node (for recursions that compute u on the way): `link` is the node's own,
 *  q [node nq] and u [node nv] are its own free coordinates and speeds. */
void lwi_link_position(const lw_model *model, int k, double t, const double *q, lwi_link *link);
void lwi_link_rates(const lw_model *model, int k, double t, const double *u, lwi_link *link);
/** Time derivative of the free coordinates of node k: qdot = N(q) u; node's own arrays. */
void lwi_link_kinematics(const lw_model *model, int k, const lwi_link *link, const double *u,
                         double *qdot);

/** The last node on the ways of both nodes to the ground; -1: the ground. */
int lwi_tree_common_node(const lw_model *model, int a, int b);

/** b := (S'S)^-1 b, nv columns S. */
void lwi_joint_metric_solve(int nv, double (*S)[6], double *b);

/** World frames of all nodes: R [nnode][9] link -> world, r [nnode][3] origins. */
void lwi_tree_world(const lw_model *model, const lwi_link *link, double (*R)[9], double (*r)[3]);
/** Those of the nodes first ... end-1, after their parents'; as the other functions `_of`. */
void lwi_tree_world_of(const lw_model *model, const lwi_link *link, int first, int end,
                       double (*R)[9], double (*r)[3]);
/** Velocities V [nnode][6] in link frames, from the free speeds. */
void lwi_tree_velocity(const lw_model *model, const lwi_link *link, const double *v,
                       double (*V)[6]);
void lwi_tree_velocity_of(const lw_model *model, const lwi_link *link, int first, int end,
                          const double *v, double (*V)[6]);

/** Bodies from nodes: world pose and velocity of the mass centres.  Arrays [nbody]; entry 0 is the
 *  ground's.  w is in WORLD axes; any of v, w may be NULL.  V may be NULL when both are. */
void lwi_tree_bodies(const lw_model *model, const double (*R)[9], const double (*r)[3],
                     const double (*V)[6], double (*body_R)[9], double (*body_r)[3],
                     double (*body_v)[3], double (*body_w)[3]);
/** The pose of the body of node k; R, r: world frame of its link. */
void lwi_tree_place_body(const lw_model *model, int k, const double R[9], const double r[3],
                         double (*body_R)[9], double (*body_r)[3]);
/** The velocities alone, after the poses; those of merged bodies are placed again. */
void lwi_tree_body_velocities(const lw_model *model, const double (*R)[9], const double (*V)[6],
                              double (*body_R)[9], double (*body_r)[3], double (*body_v)[3],
                              double (*body_w)[3]);
void lwi_tree_body_velocities_of(const lw_model *model, const double (*R)[9], const double (*V)[6],
                                 int first, int end, double (*body_v)[3], double (*body_w)[3]);
/** Bodies that are no nodes': the ground and merged ones, after the others. */
void lwi_tree_other_bodies(const lw_model *model, const double (*R)[9], const double (*V)[6],
                           double (*body_R)[9], double (*body_r)[3], double (*body_v)[3],
                           double (*body_w)[3]);
/** Pose and velocity (NULL: none) of body b, merged with a carrier of angular velocity w (world axes). */
void lwi_tree_ride(const lw_model *model, int b, const double w[3], double (*body_R)[9],
                   double (*body_r)[3], double (*body_v)[3]);
/** All joint coordinates and speeds of TREE joints (driven ones from their functions) into the
 *  joint arrays q [model nq], qd [model nv]; entries of other joints are left alone. */
void lwi_tree_joints(const lw_model *model, const lwi_link *link, const double *v, double *q,
                     double *qd);
void lwi_tree_joints_of(const lw_model *model, const lwi_link *link, int first, int end,
                        const double *v, double *q, double *qd);
/** Speeds of the joint of node k with this link. */
void lwi_tree_speeds(const lw_model *model, int k, const lwi_link *link, const double *v,
                     double *qd);
/** The inverse: tree coordinates and speeds out of joint arrays; floating bases from body pose
 *  (quaternion, mass centre, velocity world, angular velocity body axes) of the given arrays. */
void lwi_tree_gather(const lw_model *model, const double *q, const double *qd,
                     const double (*body_r)[3], const double (*body_quat)[4],
                     const double (*body_v)[3], const double (*body_w)[3], double *tree_q,
                     double *tree_v);

/** Back: the joint arrays and the motion of floating bases from tree coordinates and speeds; other entries are left
 *  alone. */
void lwi_tree_scatter(const lw_model *model, const double *tree_q, const double *tree_v, double *q,
                      double *qd, double (*body_r)[3], double (*body_quat)[4], double (*body_v)[3],
                      double (*body_w)[3]);

/** Relative pose and velocity of a joint's frames from body motion: (R, r) pose of F2 in F1 (mount
 *  included, that is: without the mount's motion), V velocity of F2 relative to F1 in F2-components
 *  (mount's velocity subtracted).  Bodies: world rotation, mass centre, velocities in world axes.
 *  V may be NULL. */
void lwi_joint_relative(const lw_model *model, int joint, double t, const double (*body_R)[9],
                        const double (*body_r)[3], const double (*body_v)[3],
                        const double (*body_w)[3], double R[9], double r[3], double V[6]);
/** Mount at time t: pose (Rm, rm) of the moved F1 in F1, its velocity and acceleration terms: twist
 *  Vm [6] and its component derivative Am [6], both in moved-F1 axes about its origin. */
void lwi_mount_eval(const lw_model *model, const lwi_mount *mount, double t, double Rm[9],
                    double rm[3], double Vm[6], double Am[6]);

#endif
