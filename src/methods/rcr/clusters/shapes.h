// shapes.h -- shapes that machines repeat, known where the texts are compiled.
//
// A text that knows its shape has no loops or branches left and keeps in registers what others
// store; it has the same operations in the same order, and the same bits.  Any other shape is as
// good a cell and takes the text that looks its shape up.
#ifndef LWI_METHODS_RCR_CLUSTERS_SHAPES_H
#define LWI_METHODS_RCR_CLUSTERS_SHAPES_H

#include "methods/rcr/clusters/clusters.h"

/** One row each: name, text (`flat`, `cell`) and what the shape is. */
#define LWI_CLUSTER_SHAPE_LIST(X) X(four_bar, planar) X(posts, cluster)

/** A planar loop between a rod and a coupler on it, and the next rod on the ground. */
static const lwi_cluster_shape lwi_cluster_shape_four_bar = {
    .nx = 1,
    .na = 1,
    .ny = 2,
    .nstep = 3,
    .nbody = 2,
    .closed = true,
    .pin = true,
    .along = true,
    .planar = true,
    .close = {1, 2},
    .step = {{.parent = -1, .side = -1, .body = -1, .turn = true, .moved_by = 1},
             {.parent = 0,
              .at = 1,
              .side = -1,
              .body = 0,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true},
             {.parent = -1,
              .at = 2,
              .side = 1,
              .body = 1,
              .turn = true,
              .has_offset = true,
              .moved_by = 1,
              .has_dependent = true}}};

/** A rung between two posts on universal joints, whose first axes tilt it. */
static const lwi_cluster_shape lwi_cluster_shape_posts = {
    .nx = 2,
    .na = 2,
    .ny = 3,
    .nstep = 5,
    .nbody = 2,
    .closed = true,
    .pin = true,
    .along = true,
    .close = {2, 4},
    .step = {
        {.parent = -1, .side = -1, .body = -1, .turn = true, .is_oblique = true, .moved_by = 1},
        {.parent = 0,
         .at = 1,
         .axes = LWI_CLUSTER_SQUARE,
         .side = -1,
         .body = -1,
         .turn = true,
         .moved_by = 3},
        {.parent = 1,
         .at = 2,
         .side = -1,
         .body = 0,
         .turn = true,
         .has_offset = true,
         .moved_by = 3,
         .has_dependent = true},
        {.parent = -1,
         .at = 3,
         .side = 1,
         .body = -1,
         .turn = true,
         .has_offset = true,
         .is_oblique = true,
         .moved_by = 3,
         .has_dependent = true},
        {.parent = 3,
         .at = 4,
         .axes = LWI_CLUSTER_SQUARE,
         .side = 1,
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
