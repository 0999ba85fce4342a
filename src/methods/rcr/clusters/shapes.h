// shapes.h -- frequent shapes, as constants for kernel variants compiled for them.
//
// A variant for a constant shape has no loops or branches over it and keeps in registers what the general one
// stores.  Operations and their order are the same, and so are the bits.
#ifndef LWI_METHODS_RCR_CLUSTERS_SHAPES_H
#define LWI_METHODS_RCR_CLUSTERS_SHAPES_H

#include "methods/rcr/clusters/clusters.h"

/** One row each: name, kind of kernel (`planar`, `cluster`). */
#define LWI_CLUSTER_SHAPE_LIST(X)                                                                  \
    X(crank, planar)                                                                               \
    X(four_bar, planar)                                                                            \
    X(slider, cluster) X(floating_four_bar, cluster) X(post, cluster) X(posts, cluster)

/** A body on a hinge at the ground. */
static const lwi_cluster_shape lwi_cluster_shape_crank = {
    .nx = 1,
    .nstep = 1,
    .nbody = 1,
    .planar = true,
    .step = {{.parent = -1, .turn = true, .moved_by = 1}}};

/** A planar loop between a rod and a coupler on it, and the next rod on the ground. */
static const lwi_cluster_shape lwi_cluster_shape_four_bar = {
    .nx = 1,
    .na = 1,
    .ny = 2,
    .nstep = 3,
    .nbody = 2,
    .nclosing = 1,
    .nrate = 1,
    .closing = {{.kind = LWI_CLUSTER_HINGE,
                 .along = true,
                 .close = {1, 2},
                 .n = 3,
                 .ny = 2,
                 .path = {1, 2, 0},
                 .at = {1, 2, 0}}},
    .planar = true,
    .step = {{.parent = -1, .side = {-1}, .body = -1, .turn = true, .moved_by = 1},
             {.parent = 0,
              .at = 1,
              .side = {-1},
              .body = 0,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true},
             {.parent = -1,
              .at = 2,
              .side = {1},
              .body = 1,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true}}};

/** A loop between a rod and a coupler on it, and a slide on the ground. */
static const lwi_cluster_shape lwi_cluster_shape_slider = {
    .nx = 1,
    .na = 1,
    .ny = 2,
    .nstep = 3,
    .nbody = 2,
    .nclosing = 1,
    .nrate = 1,
    .closing = {{.kind = LWI_CLUSTER_HINGE,
                 .close = {1, 2},
                 .n = 3,
                 .ny = 2,
                 .path = {1, 2, 0},
                 .at = {1, 2, 0}}},
    .step = {{.parent = -1, .side = {-1}, .body = -1, .turn = true, .moved_by = 1},
             {.parent = 0,
              .at = 1,
              .side = {-1},
              .body = 0,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true},
             {.parent = -1,
              .at = 2,
              .axes = LWI_CLUSTER_ANY,
              .side = {1},
              .body = 1,
              .slide = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true}}};

/** A four-bar on a floating body, its coupler known. */
static const lwi_cluster_shape lwi_cluster_shape_floating_four_bar = {
    .nx = 1,
    .ny = 2,
    .nstep = 3,
    .nbody = 3,
    .nclosing = 1,
    .nrate = 1,
    .floats = true,
    .closing = {{.kind = LWI_CLUSTER_HINGE,
                 .along = true,
                 .close = {1, 2},
                 .n = 3,
                 .ny = 2,
                 .path = {0, 2, 1},
                 .at = {1, 2, 0}}},
    .step = {{.parent = -1,
              .at = 1,
              .side = {-1},
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true},
             {.parent = 0,
              .side = {-1},
              .body = 1,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true},
             {.parent = -1,
              .at = 2,
              .side = {1},
              .body = 2,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true}}};

/** A post on a universal joint at the ground. */
static const lwi_cluster_shape lwi_cluster_shape_post = {
    .nx = 2,
    .nstep = 2,
    .nbody = 1,
    .step = {{.parent = -1, .body = -1, .turn = true, .moved_by = 1},
             {.parent = 0, .at = 1, .axes = LWI_CLUSTER_SQUARE, .turn = true, .moved_by = 3}}};

/** A rung between two posts on universal joints, tilted by their first axes. */
static const lwi_cluster_shape lwi_cluster_shape_posts = {
    .nx = 2,
    .na = 2,
    .ny = 3,
    .nstep = 5,
    .nbody = 2,
    .nclosing = 1,
    .nrate = 1,
    .closing = {{.kind = LWI_CLUSTER_HINGE,
                 .along = true,
                 .close = {2, 4},
                 .n = 5,
                 .ny = 3,
                 .oblique = 1 << 1 | 1 << 3,
                 .path = {2, 3, 4, 0, 1},
                 .at = {2, 3, 4, 0, 1}}},
    .step = {{.parent = -1, .side = {-1}, .body = -1, .turn = true, .oblique = 1, .moved_by = 1},
             {.parent = 0,
              .at = 1,
              .axes = LWI_CLUSTER_SQUARE,
              .side = {-1},
              .body = -1,
              .turn = true,
              .moved_by = 3},
             {.parent = 1,
              .at = 2,
              .side = {-1},
              .body = 0,
              .turn = true,
              .has_offset = true,
              .moved_by = 3,
              .has_dependent = true},
             {.parent = -1,
              .at = 3,
              .side = {1},
              .body = -1,
              .turn = true,
              .has_offset = true,
              .oblique = 1,
              .moved_by = 3,
              .has_dependent = true},
             {.parent = 3,
              .at = 4,
              .axes = LWI_CLUSTER_SQUARE,
              .side = {1},
              .body = 1,
              .turn = true,
              .moved_by = 3,
              .has_dependent = true}}};

/** In the order of the list. */
static const lwi_cluster_shape *const lwi_cluster_shapes[] = {
#define X(name, variant) &lwi_cluster_shape_##name,
    LWI_CLUSTER_SHAPE_LIST(X)
#undef X
};

#endif
