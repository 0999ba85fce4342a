// effective.h -- effective inertias of a model that is being read, in the coordinates of its spanning tree.
#ifndef LWI_IO_EFFECTIVE_H
#define LWI_IO_EFFECTIVE_H

#include "tree/articulated.h"

typedef struct lwi_effective {
    lw_model *model; ///< of the builder, loops open
    lwi_arena arena;
    lwi_tree_work work;
    lwi_articulated *node; ///< [nnode] factors of the mass matrix
    double *q, *v;         ///< [tree_nq], [tree_nv] the start; v is zero
    double *D;             ///< [tree_nv] articulated inertias of the speeds, with rotors
    double (*f)[6], *e;    ///< [nnode], [tree_nv] scratch
} lwi_effective;

/** Creates the model of a builder. */
lw_status lwi_effective_create(const lw_builder *builder, lwi_effective *e, lw_error *error);
void lwi_effective_destroy(lwi_effective *e);
/** Factors the mass matrix of the tree at e->q.  A joint without inertia counts as fixed. */
void lwi_effective_factor(lwi_effective *e);
/** 1 / (J M^-1 J') of a length with the derivatives J [tree_nv]; INFINITY: it is fixed. */
double lwi_effective_inertia(const lwi_effective *e, const double *J);
/** The same along the path of a force of the model, given by its number there.  At the start at rest that force must be 1, as
 *  that of a tendon with a bias of 1 is.  After lwi_effective_factor. */
double lwi_effective_inertia_of_force(lwi_effective *e, int force);

#endif
