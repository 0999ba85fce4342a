// kernel.h -- SIMD recursions for trees with a kernel normal form, with the arrays of the formulations.
//
// Problem: vdot of aba, efforts of rnea, or speeds and pdot of momenta, for one state.  Input and output are the arrays of the
// model's tree.  A kernel is optional: create returns NULL for a model that it does not support, and an
// evaluation returns false if it is not well conditioned (pivots near zero, angles beyond
// LWI_K_LARGEST_ANGLE, numbers that are not finite).  The caller then evaluates the scalar functions, which
// name the joint in their error.  Cost: O(n).
#ifndef LWI_TREE_KERNEL_H
#define LWI_TREE_KERNEL_H

#include "base/threads.h"
#include "tree/simd/kernels.h"

/** A coordinate with prescribed motion: a driven one, or one of a moving mount. */
typedef struct lwi_k_prescribed {
    lw_signal motion;
    int iq, iv;      ///< in the joint arrays; -1: a mount
    int step;        ///< of the plan
    double value[3]; ///< coordinate and its derivatives, by lwi_kernel_prescribe
    double
        force; ///< of the bodies along the coordinate: aba: S'F; momenta: S'(T - V x* P), gravity only
    double momentum; ///< momenta: S'P
    double outside;  ///< S'F of forces on bodies (body_forces.h), of which the kernel does not know
} lwi_k_prescribed;

/** Which thread evaluates which sections of a tree (plan.h). */
typedef struct lwi_kernel_team {
    lwi_pool *pool; ///< NULL: one thread
    int parts;
    int *first,
        *section; ///< [parts + 1], [nsection - 1] subtrees of part i: section[first[i] ... first[i + 1] - 1]
    int *bodies; ///< [parts] of each, with those of the trunk for part 0
    bool *valid; ///< [parts] of the last evaluation
    lwi_barrier barrier;
} lwi_kernel_team;

/** A screw with a motion that is not prescribed: its place in the blocks, and in tree q and v. */
typedef struct lwi_k_entry {
    int32_t block, lane, iq, iv;
    double sign;
} lwi_k_entry;

/** What is copied between arrays and blocks for a section, except straight branches in segments. */
typedef struct lwi_k_entries {
    lwi_k_entry *screw; ///< [nscrew]
    int32_t *other;     ///< [nother] steps: balls, bases, prescribed motions
    int nscrew, nother;
} lwi_k_entries;

typedef struct lwi_kernel {
    const lwi_kernels *kernels;
    const lwi_kernel_plan *plan;
    lwi_k_state state;
    const lw_model *model;
    lwi_k_prescribed *drive; ///< [plan->ndrive]
    lwi_kernel_team *team;
    lwi_k_entries *entries; ///< [plan->nsection]
} lwi_kernel;

/** @param width   lanes of a register: 1, 4, 8, or 0 for the widest of this machine
 *  @param kernel  out; NULL if the model or the machine has no kernel
 *  @return LW_ERR_MEMORY */
lw_status lwi_kernel_create(const lw_model *model, int width, lwi_arena *arena,
                            lwi_kernel **kernel);
/** The same with the given choice of lanes. */
lw_status lwi_kernel_create_chosen(const lw_model *model, int width, lwi_k_choice choice,
                                   lwi_arena *arena, lwi_kernel **kernel);

/** The same for models with drives, mounts and forces on bodies too, of which the caller takes care: before an
 *  evaluation lwi_kernel_prescribe; forces on bodies as efforts (body_forces.h). */
lw_status lwi_kernel_create_prescribed(const lw_model *model, int width, lwi_arena *arena,
                                       lwi_kernel **kernel);
/** From now on the subtrees of the tree are evaluated by this number of threads, with the same bits.
 *  @param pool  out; destroyed by the caller; NULL: the tree has too few bodies on its subtrees for threads
 *  @return LW_ERR_MEMORY, or the error of lwi_pool_create */
lw_status lwi_kernel_threads(lwi_kernel *kernel, int threads, lwi_arena *arena, lwi_pool **pool,
                             lw_error *error);
/** Values of all drives and mounts at time t; `outside` becomes zero. */
void lwi_kernel_prescribe(lwi_kernel *kernel, double t);
/** Driven coordinates and their speeds in the joint arrays q [model nq], qd [model nv]. */
void lwi_kernel_driven_joints(const lwi_kernel *kernel, double *q, double *qd);
/** Forces and momenta of drives and mounts from an evaluation of the kernels.
 *  @param state  of the kernel, with lane -1; or a batch with the same plan, and one of its lanes
 *  @return true if all are finite */
bool lwi_kernel_take_drives(const lwi_kernel *kernel, const lwi_k_state *state, int lane,
                            bool momenta);
/** Power of drives and mounts [W]; after lwi_kernel_aba.
 *  @param effort  [model nv] of springs and dampers on driven coordinates */
double lwi_kernel_drive_power(const lwi_kernel *kernel, const double *effort);
/** The same less the rate of P . sigma (momenta.h, lwi_momenta_prescribed_rate); after lwi_kernel_momenta. */
double lwi_kernel_prescribed_rate(const lwi_kernel *kernel, const double *effort);

/** vdot [tree_nv] from q [tree_nq], v and tau [tree_nv], all efforts (NULL: none).
 *  @return false if the scalar functions must be used; vdot is then invalid     @cost O(n) */
bool lwi_kernel_aba(const lwi_kernel *kernel, const double *q, const double *v, const double *tau,
                    double *vdot);
/** tau [tree_nv] of the joints for the accelerations vdot [tree_nv]; forces of the model are not in it.  The arrays may be
 *  the same.
 *  @return as above */
bool lwi_kernel_rnea(const lwi_kernel *kernel, const double *q, const double *v, const double *vdot,
                     double *tau);
/** Mass matrix M [tree_nv][tree_nv], rotors included, symmetric bit for bit.
 *  @param columns  of the kernel's plan
 *  @return false if lwi_crba must be used; M is then invalid     @cost O(n depth) */
bool lwi_kernel_mass_matrix(const lwi_kernel *kernel, const lwi_k_columns *columns, const double *q,
                            double *M);
/** Speeds v and rates pdot of the momenta p [tree_nv], without efforts, which the caller adds to pdot.
 *  @return as above */
bool lwi_kernel_momenta(const lwi_kernel *kernel, const double *q, const double *p, double *v,
                        double *pdot);

#endif
