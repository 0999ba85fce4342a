// quantity.h -- quantities of results: the names, units and frames of their numbers.
//
// A quantity is a vector, a quaternion or a number of one item: a body, a joint, a force, a marker, the system.  Those
// of forces are in the files of the forces (forces/), all others in the table of io/result/quantities.c.
#ifndef LWI_MODEL_QUANTITY_H
#define LWI_MODEL_QUANTITY_H

#include <linkwork/simulate.h>

enum { LWI_QUANTITY_PARTS = 7 }; ///< largest number of components of a quantity

/** What items a quantity belongs to, in the order of the columns. */
typedef enum lwi_subject {
    LWI_RESULT_TIME,
    LWI_RESULT_BODY,
    LWI_RESULT_JOINT,
    LWI_RESULT_REACTION, ///< of joints, after the coordinates of all of them
    LWI_RESULT_MARKER,
    LWI_RESULT_FORCE, ///< of forces and drives (outputs.h)
    LWI_RESULT_SYSTEM,
    LWI_RESULT_MEASURE, ///< of the model (io/result/measures.h)
    LWI_RESULT_SUBJECTS
} lwi_subject;

/** Is the quantity read back from a row when a run resumes from it? */
typedef enum lwi_resume {
    LWI_RESULT_FOLLOWS, ///< no: others determine it
    LWI_RESULT_OPTIONAL,
    LWI_RESULT_REQUIRED
} lwi_resume;

struct lwi_result_values;

typedef struct lwi_quantity {
    lwi_subject subject;
    const char *name;                     ///< "position"
    const char *part[LWI_QUANTITY_PARTS]; ///< "x", "y", "z": last part of the columns' names
    const char *unit[LWI_QUANTITY_PARTS]; ///< one for all parts, or one each
    const char *frame;                    ///< "" for scalars
    lw_observe level;                     ///< the lowest that has it
    lwi_resume resume;
    /** The array with the components of all items; of forces NULL: lw_observation.output. */
    const double *(*array)(const struct lwi_result_values *values);
    const char *summary;
    int stride;           ///< of bodies: distance of two in the array; 0: the number of components
    bool quaternion;      ///< the last four components are a unit quaternion
    bool numbered;        ///< coordinates by number, "q0", "q1", ...: units unknown, length, angle
    lw_observe last_part; ///< level that adds the last component; 0: that of the others
    bool impacts;         ///< only of models with impulses or drives with rates that jump
    bool events;          ///< only of models with events that record
    bool loops;           ///< only of mechanisms with loops or couplings
    const char *kind;     ///< of forces: first part of the names, "spring", "joint"
} lwi_quantity;

int lwi_quantity_part_count(const lwi_quantity *quantity);

// Rows of the tables of forces: of items, and on a coordinate of a joint, followed by its number.
#define LWI_OUTPUT(of, what, ...)                                                                  \
    {                                                                                              \
        .subject = LWI_RESULT_FORCE, .kind = (of), .name = (what), .level = LW_OBSERVE_FORCE,      \
        __VA_ARGS__                                                                                \
    }
#define LWI_OUTPUT_SCALAR .frame = ""
#define LWI_OUTPUT_VECTOR(p, axes) .part = {p "x", p "y", p "z"}, .frame = (axes)
#define LWI_COORDINATE_OUTPUT(what, units, text)                                                   \
    LWI_OUTPUT("joint", what, .part = {what}, .unit = units, .numbered = true, .frame = "joint",   \
               .summary = (text))
#define LWI_BRACES(...)                                                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define LWI_EFFORT_UNITS LWI_BRACES("N or N m", "N", "N m")
#define LWI_POWER_UNITS LWI_BRACES("W", "W", "W")
#define LWI_ENERGY_UNITS LWI_BRACES("J", "J", "J")

#endif
