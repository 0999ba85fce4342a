// codegen.h -- standalone C of one model's dynamics.
//
// The generated files need a C17 compiler and libm, nothing of this library: straight-line
// functions without allocation or hidden state.  Constants of the model are literals; terms that are zero are
// left out.
#ifndef LINKWORK_CODEGEN_H
#define LINKWORK_CODEGEN_H

#include <linkwork/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Largest number of speeds of a model: longer straight-line code exceeds instruction caches and takes minutes to
 *  compile. */
#define LW_CODEGEN_MAX_SPEEDS 64

/** What is generated: name (after the model's), parameters, summary. */
#define LW_CODEGEN_LIST(X)                                                                         \
    X(forward_dynamics, "accelerations from efforts (articulated bodies)")                         \
    X(inverse_dynamics, "efforts for given accelerations (Newton and Euler)")                      \
    X(mass_matrix, "joint-space mass matrix (composite bodies)")                                   \
    X(coordinate_rates, "time derivatives of the coordinates")                                     \
    X(momenta, "joint momenta from speeds")                                                        \
    X(momenta_rates, "speeds and rates of momenta from joint momenta")                             \
    X(kinematics, "poses of the bodies")                                                           \
    X(constraints, "residuals of closed loops")                                                    \
    X(project_positions, "dependent coordinates of closed loops (Newton's method)")                \
    X(project_velocities, "dependent speeds of closed loops")                                      \
    X(rates, "time derivatives of all states of a run")                                            \
    X(closing_rates, "rates of the angles of joints that close loops")                             \
    X(margins, "how independent the dependent speeds of closed loops are")

#define X(name, summary) LW_CODEGEN_##name,
enum { LW_CODEGEN_LIST(X) LW_CODEGEN_COUNT };
#undef X

typedef struct lw_codegen_desc {
    size_t size;      ///< sizeof this struct, or 0: see linkwork.h
    const char *name; ///< begins the names of files and functions: a C identifier
    const lw_allocator *allocator;
    /** Also `name`_casadi.c: the functions as external functions of CasADi, and the Jacobians of forward_dynamics,
     *  inverse_dynamics and coordinate_rates.  These are several times as long as the functions. */
    bool casadi;
    /** 4 or 8: also `name`_lanes.h and `name`_lanes.c, the functions for as many states at once, with vectors of GCC and
     *  Clang; 0: not. */
    int lanes;
    /** Also `name`.cu: kernels that integrate many instances, as CUDA C++ that a C compiler compiles, too. */
    bool cuda;
    bool single_precision; ///< of `name`.cu, with `cuda` only: floats in place of doubles
} lw_codegen_desc;

/** Operations of one generated function. */
typedef struct lw_codegen_count {
    const char *function; ///< NULL: not generated for this model
    int multiplications, additions, divisions, signs;
    int sines; ///< calls of sin and cos
} lw_codegen_count;

/** Writes `name`.h, `name`.c, example.c, Makefile and CMakeLists.txt, perhaps `name`_casadi.c, `name`_lanes.h, .c and `name`.cu, into the folder `directory`,
 *  which is made when its parent exists.  Files of these names are replaced.
 *  @param counts  [LW_CODEGEN_COUNT], in the order of the list; may be NULL
 *  @return LW_ERR_ARGUMENT: the name is no identifier, or another value is not valid; LW_ERR_UNSUPPORTED: the message names the joint,
 *  force or signal that cannot be generated (nothing is written); LW_ERR_IO, LW_ERR_MEMORY */
LW_API lw_status lw_codegen_write(const lw_model *model, const lw_codegen_desc *desc,
                                  const char *directory, lw_codegen_count *counts, lw_error *error);

#ifdef __cplusplus
}
#endif
#endif
