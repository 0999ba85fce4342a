// linkwork.h -- all public headers.
//
// Rules that apply throughout, unless a function says otherwise:
//
// * Values (lw_vec3, lw_pose) are plain structs.  Descriptions (lw_..._desc) are plain structs in which zero
//   means the default, so that designated initialisers name only what differs; what they point to is copied.
//   Objects (lw_builder, lw_model, lw_sim, ...) are opaque, made by `create`, ended by `destroy`, `close` or
//   `free`, which take NULL.
// * A description begins with its size as the caller compiled it, `.size = sizeof(lw_sim_desc)`: a newer library takes
//   the description of an older program, an older library refuses one with fields set that it does not know
//   (LW_ERR_ARGUMENT).  Size 0 stands for the library's own: for programs compiled with the library they run with.
// * Calls that can fail return an lw_status; outputs come last and are unchanged on failure.  The message
//   names the item, the value and what was expected; it is written to the caller's lw_error, or stored in the object
//   (lw_sim_error).  The library never prints or exits.
// * NULL: an lw_error, a callback, its `user` and an lw_allocator may be NULL, and what a comment allows.  Any other NULL
//   is LW_ERR_ARGUMENT in a call with a status; a call without one returns zero, NULL, false or an empty text and
//   writes nothing.
// * A model is const and may be read by any number of threads; any other object is used by one thread at a
//   time.  Different objects never wait for each other; there is no global state.
// * SI units, radians.  Positions and velocities of bodies are those of mass centres, in world axes;
//   quaternions are scalar first, body to world; matrices are row-major.  docs/conventions.md has all of it.
// * Memory is taken when an object is created, from its allocator; steps and evaluations take none.
#ifndef LINKWORK_LINKWORK_H
#define LINKWORK_LINKWORK_H
#include <linkwork/analysis.h>
#include <linkwork/assemble.h>
#include <linkwork/base.h>
#include <linkwork/batch.h>
#include <linkwork/checkpoint.h>
#include <linkwork/codegen.h>
#include <linkwork/compiled.h>
#include <linkwork/device.h>
#include <linkwork/dynamics.h>
#include <linkwork/io.h>
#include <linkwork/kinematics.h>
#include <linkwork/model.h>
#include <linkwork/options.h>
#include <linkwork/plot.h>
#include <linkwork/ranks.h>
#include <linkwork/result.h>
#include <linkwork/simulate.h>
#include <linkwork/spatial.h>
#include <linkwork/store.h>
#include <linkwork/view.h>
#endif
