// scene.h -- a mechanism as points, lines and marks in world axes, before projection.
#ifndef LWI_PLOT_SCENE_H
#define LWI_PLOT_SCENE_H

#include "model/model.h"

/** A body's shape: convex, so that its outline in a view is the hull of its points. */
typedef struct lwi_plot_solid {
    int body;
    double (*p)[3]; ///< [np] world
    int np;
    int (*edge)[2]; ///< [nedge] lines drawn on it
    int nedge;
} lwi_plot_solid;

/** A straight piece of a body: between two joints, or from a joint to the mass centre. */
typedef struct lwi_plot_link {
    int body;
    double p[2][3];
    bool thin; ///< the body has a shape, or the line leads to its mass centre
} lwi_plot_link;

typedef struct lwi_plot_joint_mark {
    int joint;
    lwi_joint_sign sign;
    double p1[3], p2[3]; ///< the joint's points on body1 and body2
    double axis[2][3];   ///< directions of its axes, unit
    bool slides[2];      ///< the axis is the direction of a displacement
    int naxis;
    bool grounded; ///< one of its bodies is the ground
} lwi_plot_joint_mark;

typedef struct lwi_plot_spring_mark {
    const char *name, *kind; ///< "spring", "damper" or "force"
    int body[2];
    double p[2][3];
} lwi_plot_spring_mark;

typedef struct lwi_plot_body_mark {
    int body;
    double com[3];
    bool leads; ///< the first of its group
} lwi_plot_body_mark;

typedef struct lwi_plot_scene {
    lwi_plot_solid *solid;
    lwi_plot_link *line;
    lwi_plot_joint_mark *joint;
    lwi_plot_spring_mark *spring;
    lwi_plot_body_mark *body;
    int nsolid, nline, njoint, nspring, nbody;
    int *group; ///< [model bodies] number of the rigid group; 0: that of the ground
    int ngroup;
} lwi_plot_scene;

/** Poses of all bodies: rotation body -> world, mass centre in the world.  [0] is the ground. */
typedef struct lwi_plot_poses {
    double (*R)[9], (*r)[3];
} lwi_plot_poses;

/** @return LW_ERR_MEMORY */
lw_status lwi_plot_scene_build(const lw_model *model, const lwi_plot_poses *poses, lwi_arena *arena,
                               lwi_plot_scene *scene, lw_error *error);
/** Calls `visit` with every point of the scene. */
void lwi_plot_scene_points(const lwi_plot_scene *scene,
                           void (*visit)(void *user, const double p[3]), void *user);

#endif
