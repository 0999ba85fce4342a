// hubs.h -- the bodies between the paths of a net, and what they need of the paths: one small mechanism.
//
// Problem: velocities of the hubs and wrenches at the tips of paths, from (1) of whole paths.  To its hubs a path is a
// joint with five rows and a compliance,
//
//     V_tip = T'V - L f + e:     Y V_to - T'X V_from + L f = e                                           (17)
//
// where X and Y give the five components at head and tip from the velocities of the hubs; at its head M adds
// X'M X to the inertia of the hub that carries it, and - X'z to its momentum.  L f is the motion of a separate
// body that has the mobility L.  These bodies and rows, and those of all other joints of the hubs, tree and loops, are a
// mechanism for the elimination (elimination/elimination.h), with any connections.  A hinge with the rows J_s between the
// last bodies s of two paths (net_plan.h, ties) needs no hubs there: with V_s = B_s V_tip of s its rows are
//
//     sum of J_s B_s (T_s'X_s V_from - L_s f_s + e_s) = 0,      f_s = -(J_s B_s)' lambda                  (20)
//
// so rows between the hubs that carry the paths, with the compliance of both.  Hubs that loops
// do not close through are eliminated before it, one by one from the tips.  With K the mobility of such a hub, J and J_p
// the rows on it and on the hub that carries it, the latter gets the inertia
//     J_p' S^-1 J_p,      S = J K J' + L                                                                 (19)
// Those that a single loop closes through are too.  Its rows J_t and their compliance C on them become rows on the hub
// that carries it, A = S^-1/2 J K J_t', U = S^-1/2 J_p:
//     J_t := - A'U,       C := C + J_t K J_t' - A'A                                                      (21)
// If its own joint has fewer rows than that, both are exchanged: the rows of the loop are eliminated with the hub, and its
// joint becomes an edge between the hubs beyond both, a `bar` with the compliance of what is between them.
// A rotor on a coordinate of a joint of the tree is a row more, J V + b = u, with the multiplier - I_r u: its compliance
// is 1/I_r.
// Velocities and wrenches: world axes, mass centres, linear part first, as in system/system.h; (n): docs/theory/segments.md.
// Cost: that of the elimination.
#ifndef LWI_METHODS_DCA_SEGMENTS_HUBS_H
#define LWI_METHODS_DCA_SEGMENTS_HUBS_H

#include "methods/dca/segments/net_paths.h"
#include "system/system.h"

/** A hub at one state. */
typedef struct lwi_hub {
    double J[6];    ///< own rotational inertia about the mass centre, world axes
    double I[6][6]; ///< inertia with all that its paths add
    double L[6][6]; ///< its Cholesky factor L, L' above the diagonal
    double b[6];    ///< right side: momenta that its joints transmit
    double V[6];    ///< solution
    double W[6];    ///< wrench of the momenta of its joint
    double T[6];    ///< load on it and on all that it carries
    int edge;       ///< of its joint or of the path that carries it; -1: free
    int core; ///< body of the elimination; -1: eliminated by itself, at most one loop closes through it
    int through,
        side; ///< joint that closes a loop through it, the only one, and side of that; -1: none
    int bar; ///< its joint as an edge of the elimination, where it is eliminated with that loop instead; -1: it is not
    double S[6]
            [6]; ///< core < 0: Cholesky factor of J K J' + L of the edge that is eliminated with it
    double U[6][6], y[6]; ///< S^-1 J of the hub on the other side of that; S^-1 c
    double Jt[6][6];      ///< rows of `through` on it
    double metric[6][6];  ///< Cholesky factor of S'S of its joint; with one column S'S
} lwi_hub;

/** Rows between two hubs, or one and the ground: a joint, or a path that ends at a hub.  Of a joint that closes a loop:
 *  after (21). */
typedef struct lwi_hub_edge {
    int joint;       ///< of the model, or -1 - path
    int loop;        ///< of a joint that closes one: its number; else -1
    int rows, row;   ///< number; first one in c, lambda, sum
    int n, body[2];  ///< hubs; of a path the one at its tip first
    int bar;         ///< hub that was between the two (21), with the same rows as its edge; else -1
    bool ground;     ///< of a bar: one side is the ground
    bool eliminated; ///< with a hub
    int core;        ///< edge of the elimination, or -1
    int ncore, core_row[6]; ///< rows of that: which of these
    double J[2][6][6];      ///< [n][rows]
    double C[6][6];         ///< of a bar: compliance
    int nrotor; ///< of a joint of the tree: its last rows are speeds of coordinates with rotors
    double slack[6]; ///< of these rows: 1/I_r [1/(kg m^2), 1/kg]; else 0
} lwi_hub_edge;

/** A joint that closes a loop.  Side s is its body1 or body2: the last body of a path, a hub, or the ground. */
typedef struct lwi_hub_closing {
    int path[2], hub[2]; ///< of side s, or -1
    int start[2];        ///< hub that the rows of side s act on first; -1: the ground
    int at[2];      ///< place among the bodies of its edge of the hub that they act on in the end
    bool compliant; ///< C is not zero
    double B[2][6][LWI_PATH_HANDLE]; ///< rows, from the components at the tip of side s
    double J[2][6][6];               ///< rows on `start`
    double C[6][6];    ///< compliance, of hubs that are eliminated before the rest too
    double pull[6][3]; ///< sum of the linear parts of all rows
    double loose[6];   ///< at least the mobility that the rows would have if both bodies were loose
} lwi_hub_closing;

/** A path at one state. */
typedef struct lwi_hub_path {
    double R[9], r[3];       ///< of the head in the world
    lwi_k_frame tip;         ///< the next head at the tip, in the world
    double X[5][6], Y[5][6]; ///< components at head and tip, from the velocities of the hubs
    double kX[5], kY[5];     ///< accelerations: those that the velocities have
    double known[5]; ///< at a tie: the wrench that loads on the last body leave to what is beyond
} lwi_hub_path;

typedef struct lwi_hubs {
    const lw_model *model;
    const lwi_net_plan *plan;
    const lwi_net_paths *paths;
    lwi_tree_work *tree; ///< link, R, r, V of hubs are written
    lwi_system *
        system; ///< R, r, v, w of hubs, q and qd of loops and driven joints are written; only this motion is used
    lwi_hub *hub;       ///< [nhub]
    lwi_hub_path *path; ///< [npath]
    int nedge, nrow;
    int nlost;                ///< rows that the elimination does not have
    lwi_hub_edge *edge;       ///< [nedge]
    lwi_hub_closing *closing; ///< [nloop]
    int *loop_edge;           ///< [nloop] of the joints that close loops; -1: no rows
    lwi_plan
        order; ///< bodies: hubs between ground and loops, then a compliance for each path between them
    lwi_elim *elim;               ///< NULL: there are no loops
    double (*z)[6];               ///< [order.graph.nbody] solution of the elimination
    double (*x)[6];               ///< [nhub] right side, then solution
    double *c, *lambda, *sum;     ///< [nrow] right side, a solution, and the sum of both passes
    double *core_c, *core_lambda; ///< [order.nrow]
    double *b;                    ///< [nrow] of joints: J V + b = 0
    double *c0;                   ///< [nrow] J V of joints: - b; of accelerations: - gamma
    int nmerged, *merged;         ///< bodies merged with others that forces act on or read
    double prescribed;            ///< sum of P . sigma of the joints of hubs, by speeds [J]
    double
        prescribed_rate; ///< power of their drives and mounts less its rate, by rates of momenta [W]
} lwi_hubs;

/** @return LW_ERR_MEMORY */
lw_status lwi_hubs_create(const lwi_net_paths *paths, lwi_tree_work *tree, lwi_system *system,
                          lwi_arena *arena, lwi_hubs *hubs);
/** Prepares the elimination at a state of generic rank, after lwi_hubs_place and the inward pass: rows of joints at the
 *  tips of paths that are round-off, as those across the plane of a plane mechanism, have none.
 *  @param found  out; false: an inertia is singular
 *  @return LW_ERR_MEMORY */
lw_status lwi_hubs_connect(lwi_hubs *hubs, double t, lwi_pool *pool, lwi_arena *arena, bool *found);
/** Finds ranks at the current state, after lwi_hubs_place and the inward pass.  Returns the number of redundant rows,
 *  -1: not known. */
int lwi_hubs_find_ranks(lwi_hubs *hubs, double t);

/** Poses of all hubs, their bodies, and the ends of paths.  After the inward pass.  @param q  [tree] */
void lwi_hubs_place(lwi_hubs *hubs, double t, const double *q);
/** Inertias and rows of the hubs, and their factors.  After lwi_hubs_place and the inward pass.
 *  @param gammas  and gamma of the rows, at the velocities of the hubs
 *  @return false: singular */
bool lwi_hubs_factor(lwi_hubs *hubs, double t, bool gammas);
/** gamma of the rows alone, where these and the factors are those of the state. */
void lwi_hubs_gammas(lwi_hubs *hubs, double t);
/** V0, f0, g of all paths from the momenta p [tree].  After lwi_hubs_factor. */
void lwi_hubs_solve(lwi_hubs *hubs, const double *p);
/** V, f of the second pass, and the velocities of hubs. */
void lwi_hubs_again(lwi_hubs *hubs);
/** Speeds u [tree] of hubs, less those of their first joints from the speeds of paths.  @return false: not finite */
bool lwi_hubs_speeds(lwi_hubs *hubs, double *u);
/** Velocities of the last bodies of paths with ties, in `system`.  After both passes over momenta. */
void lwi_hubs_move_ties(lwi_hubs *hubs);
/** Loads on hubs, `load` [nbody] and weight, and on all that they carry; `load` of all paths. */
void lwi_hubs_loads(lwi_hubs *hubs, const double (*load)[6]);
/** pdot [tree] of hubs without efforts.  @return false: not finite */
bool lwi_hubs_rates(lwi_hubs *hubs, double t, const double *p, const double *u, double *pdot);
/** Velocities of hubs from the speeds u [tree], and W0 of paths.  After lwi_hubs_place and the factors. */
void lwi_hubs_move(lwi_hubs *hubs, const double *u);
/** Loads on the last bodies of paths with ties, before the passes of accelerations.  @param load  [nbody], or NULL */
void lwi_hubs_tip_loads(lwi_hubs *hubs, const double (*load)[6]);
/** V0, f0 of the accelerations.  After lwi_hubs_factor or lwi_hubs_gammas.
 *  @param effort  [tree]    @param load  [nbody] wrenches on hubs, world axes, mass centres */
void lwi_hubs_accelerate(lwi_hubs *hubs, const double *effort, const double (*load)[6]);
/** V0, f0 of what efforts [tree] alone add to the accelerations; then lwi_hubs_again. */
void lwi_hubs_respond(lwi_hubs *hubs, const double *effort);
/** V, f of the second pass, accelerations of the hubs in `system`. */
void lwi_hubs_accelerate_again(lwi_hubs *hubs);
/** Rates of the speeds [tree] of hubs, less accelerations of first joints of paths.  @return false: not finite */
bool lwi_hubs_accelerations(lwi_hubs *hubs, double t, double *udot);
/** Power of the drives and mounts of all joints, by the last accelerations, but of efforts across mounts of loops [W]. */
double lwi_hubs_drive_power(const lwi_hubs *hubs);
/** Adds efforts [tree] on hubs. */
void lwi_hubs_efforts(const lwi_hubs *hubs, const double *effort, double *pdot);
/** The multipliers of joint number `loop` of those that close loops; NULL: it has none. */
const double *lwi_hubs_multipliers(const lwi_hubs *hubs, int loop);

#endif
