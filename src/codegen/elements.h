// elements.h -- the tree as the generator reads it: the kernel's normal form, body after body.
#ifndef LWI_CODEGEN_ELEMENTS_H
#define LWI_CODEGEN_ELEMENTS_H

#include "tree/normal_form/plan.h"

/** A body of the normal form (tree/normal_form/plan.h), with its joint of one degree of freedom, ball or base.
 *  Literals that are zero or one except for rounding are exact. */
typedef struct lwi_element {
    lwi_k_kind kind;
    int parent;           ///< element, -1: the ground
    int iq, iv;           ///< first coordinate and speed in tree q, tree v
    const lwi_node *node; ///< of the model: its joint and body
    double m, h[3], J[6];
    double rotor; ///< on the speed of a screw
    bool driven;  ///< a screw with prescribed motion; iq, iv: tree nq, nv + its number in `drive`
    // screws
    double ca, sa, a, cphi, sphi, b, delta, angle, shift, sign, turn, slide;
    // balls and bases: the joint frame in the parent's
    double R[9], r[3];
} lwi_element;

/** Springs, dampers and constant efforts of one speed: effort = at_rest - stiffness q - damping v.
 */
typedef struct lwi_effort {
    int iq; ///< the coordinate that the stiffness belongs to
    double at_rest, stiffness, damping;
} lwi_effort;

/** Of lwi_k_drive: the length of a bar. */
enum { LWI_DRIVE_LENGTH = -5 };

struct lwi_loops;
struct lwi_partition;

typedef struct lwi_elements {
    const lw_model *model;
    lwi_element *list; ///< [n] in sweep order
    int n;
    lwi_effort *effort; ///< [tree nv]
    lwi_k_drive *drive; ///< [ndrive] prescribed coordinates: those of the plan of the
                        ///< tree, then those of joints that close loops; mounts, lengths
    int ndrive;
    bool timed;              ///< positions depend on time
    bool signals;            ///< some force reads a function that changes, a state or an input
    struct lwi_loops *loops; ///< closed loops and couplings (loops.h); NULL: none
    double ground[3];        ///< acceleration of the ground in a falling frame: -gravity
} lwi_elements;

/** Reads the tree of a model, with its loops and the partition of their speeds.
 *  @param partition  NULL: chosen at the start
 *  @return LW_ERR_UNSUPPORTED naming the unsupported item, LW_ERR_MEMORY */
lw_status lwi_elements_create(const lw_model *model, const struct lwi_partition *partition,
                              const lw_allocator *allocator, lwi_arena *arena,
                              lwi_elements *elements, lw_error *error);
/** The same, without a partition. */
lw_status lwi_elements_read(const lw_model *model, lwi_arena *arena, lwi_elements *elements,
                            lw_error *error);
/** The function of a prescribed coordinate. */
lw_signal lwi_drive_motion(const lw_model *model, lwi_k_drive drive);
/** The value of a constant signal: none, which is 0, or a constant function; false: it is another one. */
bool lwi_constant_signal(const lw_model *model, lw_signal signal, double *value);
/** The element with a speed of the tree. */
int lwi_element_of_speed(const lwi_elements *elements, int iv);
/** The integer that x is except for rounding, or x: for elements of rotations. */
double lwi_whole(double x);
/** "joint 'elbow'" or "floating body 'hull'" */
void lwi_element_name(const lwi_elements *elements, const lwi_element *element, char *room,
                      size_t size);

#endif
