// chain_reference.h -- open chains of hinges and balls in long double: Newton-Euler equations of all bodies with the
// wrenches of their joints, one block-tridiagonal system.  Shares nothing with the formulations but the model's numbers.
#ifndef LWT_CHAIN_REFERENCE_H
#define LWT_CHAIN_REFERENCE_H

#include "model/model.h"

typedef long double lwt_real;

typedef struct lwt_chain_reference lwt_chain_reference;

/** Poses at q.
 *  @param q  [tree nq] as lwt_real, so that changes below the round-off of doubles can be tried
 *  @return NULL if there is no memory, or the model is no open chain from the ground of hinges and balls, or has forces.
 *  About 6 kB a body. */
lwt_chain_reference *lwt_chain_reference_create(const lw_model *model, const lwt_real *q);
void lwt_chain_reference_destroy(lwt_chain_reference *chain);

/** Speeds of the joint momenta p, and their rates.
 *  @param p  [tree nv]      @param u, pdot  [tree nv] out; pdot may be NULL */
void lwt_chain_reference_speeds(lwt_chain_reference *chain, const lwt_real *p, lwt_real *u,
                                lwt_real *pdot);

/** Joint momenta of the speeds u [tree nv]. */
void lwt_chain_reference_momenta(lwt_chain_reference *chain, const lwt_real *u, lwt_real *p);

/** Accelerations at the speeds u.
 *  @param udot  [tree nv] out
 *  @param force [nnode][3] out, the force of each joint on its outer body, world axes; or NULL */
void lwt_chain_reference_accelerations(lwt_chain_reference *chain, const lwt_real *u,
                                       lwt_real *udot, lwt_real (*force)[3]);

/** Largest entry of the residual of the last solution by the largest term in its row. */
lwt_real lwt_chain_reference_residual(const lwt_chain_reference *chain);

#endif
