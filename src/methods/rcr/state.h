// state.h -- what evaluations of `rcr` (rcr.c) and changes of its partition between steps (changes.c) share.
#ifndef LWI_METHODS_RCR_STATE_H
#define LWI_METHODS_RCR_STATE_H

#include "methods/rcr/rcr.h"

/** What is read of cut joints. */
typedef enum lwi_rcr_read {
    LWI_RCR_READ_NEEDED, ///< coordinates where auxiliary states are insufficient; speeds
    LWI_RCR_READ_ALL,    ///< all coordinates, from the poses; speeds
    LWI_RCR_READ_CLOSED  ///< the same where the speeds satisfy the rows
} lwi_rcr_read;

/** Poses at (t, x), and velocities at zero free speeds. */
void lwi_rcr_place_tree(lwi_work *work, double t, const double *x);
/** The same, rows and geometry. */
void lwi_rcr_place_state(lwi_work *work, double t, const double *x);
/** All speeds into v of the work, from the independent ones of u [tree_nv]; after the elimination. */
void lwi_rcr_complete_speeds(lwi_work *work, const double *u);
/** The partition, for the elimination too. */
lwi_rcr_choice *lwi_rcr_choice_of(lwi_work *work);
/** @return LW_ERR_NOT_FINITE naming a joint or body */
lw_status lwi_rcr_check_finite(lwi_work *work, double t, const double *x);
/** Clusters need the independent speeds of the partition. */
bool lwi_rcr_takes_dense_path(const lwi_rcr_work *d, const lwi_rcr_choice *choice);
/** All speeds by the dense path, after its factors. */
void lwi_rcr_take_dense_speeds(lwi_work *work, double t, const double *x);
/** The motion of the work is that of the state. */
void lwi_rcr_note_solved(lwi_work *work, double t, const double *x);

// ---------------------------------------------------------------------------------- motion.c

/** Velocities of all bodies and joints at the speeds of the work, after the poses. */
void lwi_rcr_move(lwi_work *work, double t, lwi_rcr_read how);
/** Links and their velocities at the speeds of the work, without those of bodies and joints. */
void lwi_rcr_move_links(lwi_work *work, double t, const double *x);
/** After it and lwi_tree_observe: bodies, and the hinges that close loops, from and in the snapshot. */
void lwi_rcr_read_closed_hinges(lwi_rcr_work *d, lw_observe level, lwi_snapshot *snapshot);

// ---------------------------------------------------------------------------------- changes.c

/** As the members of lwi_formulation. */
lw_status lwi_rcr_pre_step(lwi_work *work, double t, double *x, bool *changed);
void lwi_rcr_keep(const lwi_work *work, double *kept);
lw_status lwi_rcr_recall(lwi_work *work, double t, const double *x, const double *kept);
void lwi_rcr_notice(const lwi_work *work, char *text, size_t size);
/** How many numbers lwi_rcr_keep stores. */
int lwi_rcr_kept_numbers(const lw_model *model);

// ---------------------------------------------------------------------------------- lost_digits.c

/** After the layout: memory of lwi_rcr_lost_digits, if bodies are so different that digits may be lost.  @return LW_ERR_MEMORY */
lw_status lwi_rcr_digits_create(lwi_work *work);
/** `lost_digits` of the formulation. */
double lwi_rcr_lost_digits(lwi_work *work, double t, const double *x, const double *inputs);

#endif
