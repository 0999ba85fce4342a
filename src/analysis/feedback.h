// feedback.h -- inputs of a callback about a state: u = u0 + K dx in the states of a linearisation.
//
// Columns of K are differences of order six along the constraint manifold: of the callback, or with its Jacobian of the
// motion alone, of which the inputs then follow to first order.
#ifndef LWI_ANALYSIS_FEEDBACK_H
#define LWI_ANALYSIS_FEEDBACK_H

#include "analysis/linear.h"
#include "kinematics/input_slopes.h"
#include "loops/cut.h"

typedef struct lwi_analysis_feedback {
    lw_linear *linear;
    lwi_analysis_state *state;
    lw_input_callback function;
    lw_input_jacobian jacobian; ///< NULL: differences of the function
    void *user;
    const double *given;     ///< [ninput] what the callback finds; NULL: zeros
    double *inputs;          ///< [ninput] its values at the state
    double *K;               ///< [ninput][states of linear]
    lwi_input_slopes slopes; ///< motion: that of the last neighbour, or of the state
    lwi_snapshot near;
    lwi_tree_work tree;
    lwi_cut cut;
    double *y, *z; ///< [f]
} lwi_analysis_feedback;

/** The callback at the state: memory, and `inputs`.  The tree of the state may be that of any neighbour.
 *  @return LW_ERR_ARGUMENT: the Jacobian differs from differences of the callback; their statuses */
lw_status lwi_analysis_feedback_create(lw_linear *linear, const lw_linear_desc *desc,
                                       lwi_analysis_state *state, lwi_arena *arena,
                                       lwi_analysis_feedback *feedback, lw_error *error);
/** K. */
lw_status lwi_analysis_feedback_gains(lwi_analysis_feedback *feedback, lwi_arena *arena,
                                      lw_error *error);
/** rows [count][states] += by_input [count][ninput] K. */
void lwi_analysis_feedback_close(const lwi_analysis_feedback *feedback, size_t count,
                                 const double *by_input, double *rows);

#endif
