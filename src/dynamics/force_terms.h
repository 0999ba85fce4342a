// force_terms.h -- what the files of force derivatives share (force_derivatives.h has the equations).
#ifndef LWI_DYNAMICS_FORCE_TERMS_H
#define LWI_DYNAMICS_FORCE_TERMS_H

#include "dynamics/force_derivatives.h"
#include "model/forces/length.h"

/** Sums over the bodies outboard of a node: wrenches about the world's origin. */
typedef struct lwi_outboard_sums {
    double a[6], t[6], f[6];
} lwi_outboard_sums;

/** A state, and where derivatives are added. */
typedef struct lwi_force_terms {
    const lw_model *model;
    lwi_force_derivatives *f;
    const lwi_tree_derivatives *tree;
    const lwi_kin *kin;
    lwi_loads *loads; ///< arrays for what one force adds
    double t;
    const double *q, *inputs;
    int nz;
    double *row_q, *row_v, *row_z; ///< [n], [n], [nz] where derivatives of signals are added
    const lwi_force_sums *to;      ///< NULL: products
} lwi_force_terms;

/** Speeds that move the bodies of forces, found twice: counted, then stored. */
typedef struct lwi_force_branches {
    const lw_model *model;
    lwi_force_derivatives *f;
    bool store;
    int n, nplace; ///< nplace: most bodies of a path
} lwi_force_branches;

/** Forces of one kind. */
typedef struct lwi_force_kind {
    /** Adds the speeds of force i; f->exact = false: it has no derivatives. */
    void (*collect)(lwi_force_branches *, int i);
    /** Subtracts its derivatives from s->to. */
    void (*subtract)(const lwi_force_terms *s, int i);
    /** Adds its products to s->row_q, row_v, row_z. */
    void (*multiply)(const lwi_force_terms *s, int i, const lwi_force_rows *rows);
} lwi_force_kind;

/** On one coordinate; along a sum of coordinates (force_coordinates.c); on one body or between two (force_bodies.c); along a
 *  path over bodies (force_paths.c). */
extern const lwi_force_kind lwi_force_kind_coordinate, lwi_force_kind_sum, lwi_force_kind_bodies,
    lwi_force_kind_path;

/** As models of forces read the state. */
static inline lwi_force_state lwi_force_state_at(const lwi_force_terms *s)
{
    return (lwi_force_state){.kin = s->kin, .model = s->model, .t = s->t, .inputs = s->inputs};
}

// ---- force_derivatives.c

void lwi_force_add_speed(lwi_force_branches *c, int speed, int side);
/** The speeds on the way from a node to another, which is on its way to the ground (-1). */
void lwi_force_add_branch(lwi_force_branches *c, int node, int end, int side);

// ---- force_motion.c: bodies

/** Node that moves a body; -1: the ground. */
int lwi_force_node(const lw_model *model, int body);
/** What a displacement of a speed changes in the motion of a body outboard: its pose, and its velocity at constant speeds. */
void lwi_force_move_body(const lwi_force_terms *s, int body, int speed, double pose[6],
                         double twist[6]);
/** du_k . f of a body by a displacement of speed j, which moves its mass centre by `shift`. */
double lwi_force_rotate_load(const lwi_force_terms *s, int body, int j, int k,
                             const double shift[3], const double load[6]);
/** Sums of u S outward. */
void lwi_force_find_ways(const lwi_force_terms *s, const double *u);
/** x := that up to a body, at its mass centre. */
void lwi_force_way_at(const lwi_force_terms *s, int body, double x[6]);
/** Adds what the derivatives `pose`, `twist` of a body give to its node, and its loads at constant u; load NULL: none. */
void lwi_force_add_body(const lwi_force_terms *s, int body, const double pose[6],
                        const double twist[6], const double load[6]);
/** Adds the sums of all nodes to the rows. */
void lwi_force_add_outboard(const lwi_force_terms *s);

// ---- force_signals.c

/** Finds what functions read.  @param store  false: only counts  @return their number */
int lwi_force_leaves(const lw_model *model, lwi_force_derivatives *f, bool store);
void lwi_force_clear_rows(const lwi_force_terms *s);
/** Adds the rows of a signal times `by`.  @return false: it depends on nothing */
bool lwi_force_add_rows(const lwi_force_terms *s, lw_signal signal, double by);
/** The rows of a signal.  @return false: it depends on nothing */
bool lwi_force_find_rows(const lwi_force_terms *s, lw_signal signal);
/** Subtracts column times rows: f->column is Q of a unit of the signal, zero afterwards. */
void lwi_force_subtract_signal(const lwi_force_terms *s);
/** The rates of a state, from its rows. */
void lwi_force_set_rates(const lwi_force_terms *s, int state);
/** The rates of the states of one function. */
void lwi_force_find_rates(const lwi_force_terms *s, int function);
void lwi_force_add_rate_products(const lwi_force_terms *s, int function, const double *w);

#endif
