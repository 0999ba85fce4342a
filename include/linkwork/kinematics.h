// kinematics.h -- poses, velocities and Jacobians of points and bodies at a state, and coordinates that reach goals:
// forward and inverse kinematics of any mechanism.
//
// q [tree nq] and v [tree nv] are coordinates and speeds of the spanning tree (dynamics.h).  Points are in body frames.
// Independent coordinates are those of analysis.h.
#ifndef LINKWORK_KINEMATICS_H
#define LINKWORK_KINEMATICS_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lw_kinematics lw_kinematics; ///< workspace; one thread at a time

/** @param independent  "JOINT,JOINT.q1": must be independent coordinates; NULL or "": chosen at the start of the model
 *  @return LW_ERR_SINGULAR: the start is singular; LW_ERR_ARGUMENT: a name; LW_ERR_UNSUPPORTED, LW_ERR_MEMORY */
LW_API lw_status lw_kinematics_create(const lw_model *model, const char *independent,
                                      lw_kinematics **kinematics, lw_error *error);
LW_API void lw_kinematics_destroy(lw_kinematics *kinematics);
/** Places the mechanism; at the beginning it is at the model's start.
 *  @param v  NULL: zeros
 *  After an error what is placed is not defined until a call succeeds.
 *  @return LW_ERR_ARGUMENT: q does not close the loops, with the joint and the residual; LW_ERR_SINGULAR: the independent
 *          coordinates do not determine the others here; LW_ERR_NOT_FINITE */
LW_API lw_status lw_kinematics_set(lw_kinematics *kinematics, double t, const double *q,
                                   const double *v, lw_error *error);
LW_API int lw_kinematics_dof(const lw_kinematics *kinematics); ///< independent coordinates
/** "joint.NAME.q0", ... */
LW_API lw_status lw_kinematics_coordinate_name(const lw_kinematics *kinematics, int index,
                                               char *text, size_t size);
/** Speed of the tree of an independent coordinate. */
LW_API int lw_kinematics_coordinate_speed(const lw_kinematics *kinematics, int index);
/** B [tree nv][dof]: speeds of the tree v = B z + c from the independent ones z. */
LW_API lw_status lw_kinematics_tangent(const lw_kinematics *kinematics, double *B);

/** A point of a body, and the body's attitude. */
typedef struct lw_point_motion {
    double position[3];         ///< world [m]
    double quaternion[4];       ///< body frame to world
    double velocity[3];         ///< of the point, world axes [m/s]
    double angular_velocity[3]; ///< world axes [rad/s]
} lw_point_motion;
/** @return LW_ERR_ARGUMENT: no such body; LW_ERR_NOT_FINITE: the point; the same from the Jacobians */
LW_API lw_status lw_kinematics_point(lw_kinematics *kinematics, lw_body body, lw_vec3 point,
                                     lw_point_motion *motion);

typedef enum lw_axes { LW_AXES_WORLD, LW_AXES_BODY } lw_axes;
/** Jacobian of a point: velocity of the point, then angular velocity of the body, by the speeds of the tree.
 *  @param axes  of the components
 *  @param J     [6][tree nv] out      @cost O(n), only ancestors of the body have columns */
LW_API lw_status lw_kinematics_tree_jacobian(lw_kinematics *kinematics, lw_body body, lw_vec3 point,
                                             lw_axes axes, double *J);
/** The same by the independent speeds: J B [6][dof], with the loops closed. */
LW_API lw_status lw_kinematics_jacobian(lw_kinematics *kinematics, lw_body body, lw_vec3 point,
                                        lw_axes axes, double *J);

// -------------------------------------------------------------------------------- inverse kinematics

typedef enum lw_goal_type {
    LW_GOAL_POINT,       ///< a point of a body at `position`
    LW_GOAL_ORIENTATION, ///< a body at `orientation`
    LW_GOAL_POSE,        ///< both
    LW_GOAL_JOINT        ///< a coordinate of a joint at `value`
} lw_goal_type;

typedef struct lw_goal {
    size_t size; ///< sizeof this struct, or 0: see linkwork.h
    lw_goal_type type;
    lw_body body;
    lw_vec3 point;          ///< of the body, body frame [m]
    lw_vec3 position;       ///< where the point should be, world [m]
    lw_quat orientation;    ///< body frame to world
    lw_joint joint;         ///< also one that closes a loop
    int coordinate;         ///< of the joint; scalar
    double value;           ///< [m, rad]
    double weight;          ///< of gaps in m or rad of joints, and of positions; 0: 1
    double rotation_weight; ///< of gaps of orientation [per rad]; 0: 1
} lw_goal;

typedef enum lw_reach {
    LW_REACHED,      ///< every gap is within the tolerance
    LW_REACH_LIMITS, ///< ranges of joints prevent it: the smallest gaps within them
    LW_REACH_MINIMUM, ///< no displacement makes the weighted gaps smaller: out of reach, or a local minimum
    LW_REACH_UNREACHABLE, ///< the same from several starts: the smallest gaps found
    LW_REACH_ITERATIONS   ///< the bound of iterations
} lw_reach;

typedef struct lw_reach_desc {
    size_t size;        ///< sizeof this struct, or 0: see linkwork.h
    double time;        ///< of drives [s]
    double tolerance;   ///< of gaps [m, rad]; 0: 1e-9
    int iterations;     ///< of one start; 0: 200
    int starts;         ///< from the state given, then from states elsewhere if that fails; 0: 1
    bool ignore_limits; ///< ranges of joints need not hold
} lw_reach_desc;

typedef struct lw_reach_report {
    lw_reach outcome;
    int iterations, starts; ///< of all starts; starts tried
    double gap;             ///< largest [m, rad]
    int active;             ///< ranges of joints that hold it back
    char limit[256];        ///< coordinate of the one that matters most, "joint.NAME.q0"; "": none
} lw_reach_report;

/** Coordinates that meet goals: minimises the sum of (weight * gap)^2, lengths in units of the mechanism, with loops closed
 *  and coordinates in the ranges of their joints, by damped Gauss-Newton steps along the constraint manifold.  Where goals
 *  leave degrees of freedom, the mechanism stays near q.  The mechanism is then placed at the result.
 *  @param q       [tree nq] in: where to begin; out: the result, the best one if the goals are not met
 *  @param gaps    [count] out: of each goal [m, rad]; of a pose the larger of position and rotation; may be NULL
 *  @param report  out; may be NULL
 *  @return LW_OK also if goals are not met; LW_ERR_ARGUMENT: a goal; LW_ERR_SINGULAR: loops do not close */
LW_API lw_status lw_kinematics_reach(lw_kinematics *kinematics, int count, const lw_goal *goals,
                                     const lw_reach_desc *desc, double *q, double *gaps,
                                     lw_reach_report *report, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
