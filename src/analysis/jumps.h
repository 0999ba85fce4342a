// jumps.h -- derivatives of what happens between two steps of a recorded run.
//
// Problem: at the time t at which e(t, x, p) = 0 the state jumps to x+ = R(t, x, p), and the rates from f- to f+.  At fixed
// times the derivatives of the states before and after are related by
//
//     dt = -(e_x dx + e_p dp) / (e_x f- + e_t),    dx+ = R_x dx + R_p dp + (R_x f- + R_t - f+) dt
//
// At given times dt = t_p dp.  e, R: functions of the model, differences of order six in t and x, of order four in p.  An e
// that hardly changes in time, |e_x f- + e_t| small, has no derivative of its time.
#ifndef LWI_ANALYSIS_JUMPS_H
#define LWI_ANALYSIS_JUMPS_H

#include "analysis/recording.h"

/** Derivatives at one jump; displacements along the speeds. */
typedef struct lwi_jump_derivatives {
    double *reset;            ///< [nt][nt] R_x
    double *flow;             ///< [nt] factor of dt
    double *time, *time_by;   ///< [nt], [nby] dt by the state before and by the parameters
    double *reset_by;         ///< [nby][nt]
    double *end;              ///< [columns] of the results by dt, where the run ends
    struct lwi_jump_room *of; ///< scratch
} lwi_jump_derivatives;

lw_status lwi_jumps_create(lwi_recording *s, int nby, lwi_jump_derivatives *d, lw_error *error);
void lwi_jumps_destroy(lwi_jump_derivatives *d);
/** @return LW_ERR_UNSUPPORTED: the time has no derivative, or several */
lw_status lwi_jump_differentiate(lwi_recording *s, long jump, lwi_jump_derivatives *d,
                                 lw_error *error);
/** A model, and where its conditions are evaluated. */
typedef struct lwi_jump_place {
    const lw_model *model;
    lwi_tree_work *tree;
    lwi_cut *cut;
    const unsigned char *mode;
    const double *inputs;
    lwi_states states;
    int nq, n;
} lwi_jump_place;
void lwi_jump_place_main(const lwi_recording *s, lwi_jump_place *place);
/** What forces and conditions may read at (t, x); valid until the next call. */
lwi_kin lwi_jump_motion(lwi_jump_place *place, double t, const double *x);
const char *lwi_jump_event_name(const lw_model *model, int event);
/** "adjoint", "forward" */
const char *lwi_jump_method(const lwi_recording *s);

#endif
