// chain.h -- the serial chain that evaluations are timed on.
//
// n equal rods (1 kg, 1 m, radius 0.05 m) along x, hinged end to end with axes x, y, z in turn; the
// first hinge is at the origin.  Coordinates, speeds and efforts are uniform in [-1, 1) from a
// linear congruential generator (seed 1), all q first, then all v, then all tau.
#ifndef LW_CLI_CHAIN_H
#define LW_CLI_CHAIN_H

#include <linkwork/linkwork.h>

lw_status chain_model(int n, lw_model **model, lw_error *error);
/** q, v, tau [n] of the chain's state, in the order of the hinges. */
void chain_state(int n, double *q, double *v, double *tau);

#endif
