// assemble.h -- put a mechanism together: the nearest configuration and velocities at which all
// joints hold.
#ifndef LINKWORK_ASSEMBLE_H
#define LINKWORK_ASSEMBLE_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was done, and what it changed.  Residuals are the largest over all constraint equations, in
 *  m or rad, m/s or rad/s. */
typedef struct lw_assembly {
    int iterations;             ///< Newton steps
    double before[2], after[2]; ///< residuals of positions, velocities
    double moved, turned;       ///< largest displacement of a mass centre [m], turn of a body [rad]
    lw_body moved_body, turned_body; ///< whose; 0 where nothing moved
    double changed;                  ///< largest change of a coordinate that was given [m, rad]
    double changed_speed;            ///< of a speed that was given [m/s, rad/s]
    lw_joint changed_joint, changed_speed_joint; ///< whose; -1 where none was changed
} lw_assembly;

typedef struct lw_assemble_desc {
    size_t size;             ///< sizeof this struct, or 0: see linkwork.h
    const char *const *hold; ///< names of bodies and joints that should stay where they are
    int nhold;
} lw_assemble_desc;

/** A model whose start holds, next to that of `model` (which lw_model_create_open may have made).
 *
 *  Bodies move from where they are placed, as little as possible (sum of squares of displacements
 *  and of turns times the mechanism's length).  Coordinates that are given (`q`) are kept where that
 *  is possible and approached else; so is what `hold` names.  Drives and couplings hold as at t = 0.
 *  Then velocities: speeds (`qd`) and body velocities that are given are kept where that is
 *  possible, the others follow with the least kinetic energy; joints outside of loops and floating
 *  bodies for which none are given stay at rest. In the new model every joint has its `q`, and its
 *  `qd` where anything moves.
 *
 *  @param desc  may be NULL      @param report  may be NULL; also filled where joints stay open
 *  @return LW_ERR_MODEL naming the joints that stay open and by how much, LW_ERR_ARGUMENT for names
 *          that are not there */
LW_API lw_status lw_model_assemble(const lw_model *model, const lw_assemble_desc *desc,
                                   lw_model **assembled, lw_assembly *report, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
