// scenes.h -- the mechanisms that evaluations are timed on, as plain data.
//
// This is their only home: `linkwork bench` builds its models from it (scene_model.c), and so do
// the drivers of other libraries in bench/peers, which is why nothing of Linkwork is needed here
// and C++ can include it.
//
//   chain      n rods hinged end to end, axes x, y, z in turn, the first hinge at the origin
//   humanoid   free pelvis and 24 hinges: 25 bodies, 30 degrees of freedom
//   quadruped  free trunk and four legs of three hinges
//   centipede  n segments hinged end to end, the first one free, two legs of three hinges under each
//   spherical  n rods on spherical joints, straight along x
//   tail       quadruped with a tail of n rods hinged end to end, axes x, y, z in turn
//   four-bars  n + 1 upright rods on the ground, 1 m apart, n couplers: n squares in a row, hinges about z,
//              gravity along -y
//   ladder     n + 1 posts on universal joints, 1 m apart, n rungs hinged to them about y
//   path       a chain without efforts
//   rope       spherical, with a load of 1000 kg in place of the last rod
//   branches   n branches of SCENE_BRANCH rods hinged end to end, axes x, y, z in turn; each carries two more at its end
//   ur5        arm of six hinges, masses and lengths of examples/models/ur5.urdf
//   delta      three arms hinged to the ground, two bars on universal joints to each, a platform on balls at their ends:
//              the Delta robot of examples/delta without its motors; ten bodies, five loops
//   ring       n rods along the sides of a square, n / 4 to each, hinges' axes x, y, z in turn; the last one ends on a ball
//              at the first hinge; at rest
//
// A rod is a solid cylinder along x (upright: y, posts: z): 1 kg, 1 m, radius 0.05 m, mass centre in the
// middle.  Gravity is (0, 0, -9.81) except for the four-bars.  At q = 0 all frames have world axes, except those of ur5
// and of arms and bars of delta.
#ifndef LWI_CLI_SCENES_H
#define LWI_CLI_SCENES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is timed. */
typedef enum scene_work {
    SCENE_EVALUATION, ///< accelerations at one state
    SCENE_BATCH,      ///< accelerations at SCENE_COPIES states in one pass
    SCENE_FALL,       ///< ten seconds of motion
    SCENE_RUN         ///< scene_duration of motion by several integrators and tolerances
} scene_work;

enum { SCENE_COPIES = 4096, SCENE_BRANCH = 64, SCENE_STEPS = 9 };

typedef enum scene_kind {
    SCENE_CHAIN,
    SCENE_HUMANOID,
    SCENE_SPHERICAL,
    SCENE_QUADRUPED,
    SCENE_CENTIPEDE,
    SCENE_TAIL,
    SCENE_FOUR_BARS,
    SCENE_LADDER,
    SCENE_PATH,
    SCENE_ROPE,
    SCENE_BRANCHES,
    SCENE_RING,
    SCENE_UR5,
    SCENE_DELTA
} scene_kind;
/** Universal: about x of the joint frame as it is at q = 0, then about y of the body. */
typedef enum scene_joint {
    SCENE_REVOLUTE = 1,
    SCENE_UNIVERSAL = 2,
    SCENE_BALL = 3,
    SCENE_FREE = 6
} scene_joint;

/** A body with the joint that carries it; the value of `joint` is its number of degrees of freedom. */
typedef struct scene_body {
    int parent; ///< index, -1: the ground; parents come first
    scene_joint joint;
    int axis;          ///< revolute: 0 x, 1 y, 2 z
    double at[3];      ///< joint frame in the parent's joint frame at q = 0 [m]
    double mass;       ///< [kg]
    double com[3];     ///< in the joint frame [m]
    double inertia[3]; ///< principal, about the mass centre, axes of the joint frame [kg m^2]
    double turn
        [2]; ///< of the joint frame from the parent's at q = 0: about z, then about its new y [rad]
} scene_body;

/** A hinge or ball that closes a loop: a point of body 1 stays on one of body 2; of a hinge also the axis. */
typedef struct scene_loop {
    scene_joint joint; ///< SCENE_REVOLUTE, SCENE_BALL
    int body[2];
    double at[2][3]; ///< in their joint frames [m]
    int axis;        ///< revolute: as of scene_body, of both
} scene_loop;

typedef struct scene_case {
    const char *name;
    scene_work work;
    scene_kind kind;
    int n;          ///< bodies of a chain, segments, branches, loops
    int is_default; ///< timed when no case is named
} scene_case;

/** Is it a scene of hundreds of bodies in rows, for which divide and conquer is meant? */
int scene_is_long(scene_kind kind);
/** Everything that is timed. */
const scene_case *scene_cases(int *count);

/** Number of bodies; `n` counts for all but humanoid and quadruped. */
int scene_size(scene_kind kind, int n);
/** body [scene_size]. */
void scene_fill(scene_kind kind, int n, scene_body *body);
/** Number of loops. */
int scene_loops(scene_kind kind, int n);
/** loop [scene_loops]. */
void scene_close(scene_kind kind, int n, scene_loop *loop);
/** Of a SCENE_RUN [s]: rows of loops end before they come into a line, long chains before errors of the start have grown by
 *  orders. */
double scene_duration(scene_kind kind, int n);
/** Lengths of equal steps [s] with which a SCENE_RUN is timed, of Linkwork and of other libraries. */
extern const double scene_steps[SCENE_STEPS];
/** @param g out [m/s^2] */
void scene_gravity(scene_kind kind, double g[3]);
int scene_dof(const scene_body *body, int nbody);
/** `turn` of a body as a unit quaternion, w first; exactly 1, 0, 0, 0 where there is none.   @param quaternion out [4] */
void scene_orientation(const scene_body *body, double quaternion[4]);

/** Knuth's 64-bit generator; its upper 53 bits make a double in [-1, 1). */
double scene_draw(uint64_t *state);
/** The state that evaluations start from, in the order of the bodies: all q, then all v, then all
 *  tau drawn with seed 1.  A free joint takes six draws of each, of which those of q are not used
 *  (its q is 0) and the others are linear, then angular.  Spherical chains are at q = 0 and
 *  at rest except for 0.1 rad/s about z in the first joint.  Rows of loops (bodies side by side on the
 *  ground) are inclined: uprights by 0.3 rad at 1 rad/s, the bodies between them rotated back by the same angle; posts
 *  also by 0.2 rad at 0.5 rad/s; no efforts.  Ropes are as spherical chains, rings at q = 0 and at rest; they, paths and
 *  branches have no efforts.  The platform of a delta moves at (0.5, 0.3, -0.2) m/s from q = 0, without efforts.
 *  @param q, v, tau [dof] */
void scene_state(scene_kind kind, const scene_body *body, int nbody, double *q, double *v,
                 double *tau);
/** What accelerations are compared by: the sum of a_i (1 + i mod 7), the largest magnitude, first
 *  and last.  a [nv], without those of a free base. */
typedef struct scene_digest {
    double sum, max, first, last;
} scene_digest;
scene_digest scene_digest_of(const double *a, int nv);
/** Published values of a scene's accelerations, on which two independent codes agree to the nine
 *  digits printed; NULL where there are none. */
const scene_digest *scene_published(scene_kind kind, int n);
/** Largest difference to published values in units of the ninth digit; up to 1 is agreement. */
double scene_ninth_digit(const scene_digest *found, const scene_digest *published);

/** The next state of a batch of chains: q, v, tau of each joint in turn; starts from state 99. */
void scene_batch_state(uint64_t *state, int n, double *q, double *v, double *tau);

#ifdef __cplusplus
}
#endif
#endif
