// quantities.c -- the table of the quantities of a result, and which of them a model has.
#include "base/assert.h"
#include "io/result/quantities.h"
#include "model/outputs.h"
#include "spatial/rotation.h"

#include <string.h>

// ------------------------------------------------------------------------------------------ values

// A marker at d from the centre of mass (body axes), with axes A in those of the body:
//   r = r_body + R d,  v = v_body + R (w x d),  a = a_body + R (w' x d + w x (w x d)),
// w and w' in the marker's axes: A' w, A' w'.
static void compute_marker(const lw_model *model, lw_observe level, const lw_observation *o,
                           const lw_marker_desc *desc, lwi_result_marker *m)
{
    const int body = desc->body.index;
    const lw_vec3 p = desc->pose.position;
    const lw_quat axes = desc->pose.orientation;
    const double to_body[4] = {axes.w, axes.x, axes.y, axes.z};
    double d[3] = {p.x, p.y, p.z}, R[9], A[9], x[3], y[3];
    v3_sub(d, d, model->body[body].com);
    quat_matrix(R, o->quaternion[body]);
    quat_matrix(A, to_body);
    m3_mul_v(m->position, R, d);
    v3_add(m->position, m->position, o->position[body]);
    quat_mul(m->quaternion, o->quaternion[body], to_body);
    if (level < LW_OBSERVE_TWIST) return;
    const double *w = o->angular_velocity[body];
    v3_cross(x, w, d);
    m3_mul_v(m->velocity, R, x);
    v3_add(m->velocity, m->velocity, o->velocity[body]);
    m3_tmul_v(m->angular_velocity, A, w);
    if (level < LW_OBSERVE_ACCELERATION) return;
    v3_cross(y, w, x);
    v3_cross_add(y, o->angular_acceleration[body], d);
    m3_mul_v(m->acceleration, R, y);
    v3_add(m->acceleration, m->acceleration, o->acceleration[body]);
    m3_tmul_v(m->angular_acceleration, A, o->angular_acceleration[body]);
}

void lwi_result_values_compute(const lw_model *model, lw_observe level, const lw_observation *o,
                               lwi_result_values *values)
{
    values->observation = o;
    values->continued = o->reactions_continued;
    values->impact = o->impact;
    values->event = o->event;
    values->impulse = o->impulse ? o->impulse : (const double(*)[6])values->none;
    if (level >= LW_OBSERVE_ENERGY) values->energy = o->kinetic + o->potential;
    for (int i = 0; i < model->desc.nmarker; i++)
        compute_marker(model, level, o, &model->desc.marker[i], &values->marker[i]);
}

// The arrays, as plain numbers.
#define ARRAY(name, where)                                                                         \
    static const double *name(const lwi_result_values *values)                                     \
    {                                                                                              \
        return (const double *)(values->where);                                                    \
    }
#define NUMBER(name, where)                                                                        \
    static const double *name(const lwi_result_values *values)                                     \
    {                                                                                              \
        return &values->where;                                                                     \
    }

NUMBER(run_time, observation->time)

ARRAY(body_position, observation->position)
ARRAY(body_quaternion, observation->quaternion)
ARRAY(body_velocity, observation->velocity)
ARRAY(body_angular_velocity, observation->angular_velocity)
ARRAY(body_acceleration, observation->acceleration)
ARRAY(body_angular_acceleration, observation->angular_acceleration)

ARRAY(joint_q, observation->q)
ARRAY(joint_qd, observation->qd)
ARRAY(joint_qdd, observation->qdd)
ARRAY(joint_force, observation->reaction[0])
ARRAY(joint_torque, observation->reaction[0] + 3)

ARRAY(body_momentum, observation->body_momentum[0])
ARRAY(body_angular_momentum, observation->body_momentum[0] + 3)
ARRAY(joint_p, observation->p)
ARRAY(joint_transmitted, observation->transmitted[0])
ARRAY(joint_angular_transmitted, observation->transmitted[0] + 3)

ARRAY(joint_impulse, impulse[0])
ARRAY(joint_angular_impulse, impulse[0] + 3)

ARRAY(marker_position, marker->position)
ARRAY(marker_quaternion, marker->quaternion)
ARRAY(marker_velocity, marker->velocity)
ARRAY(marker_angular_velocity, marker->angular_velocity)
ARRAY(marker_acceleration, marker->acceleration)
ARRAY(marker_angular_acceleration, marker->angular_acceleration)

NUMBER(system_kinetic, observation->kinetic)
NUMBER(system_potential, observation->potential)
NUMBER(system_energy, energy)
NUMBER(system_work, observation->work)
ARRAY(system_momentum, observation->momentum)
ARRAY(system_angular_momentum, observation->angular_momentum)
ARRAY(system_residual, observation->residual)
NUMBER(system_continued, continued)
NUMBER(system_impact, impact)
NUMBER(system_event, event)

bool lwi_result_has_impacts(const lw_model *model)
{
    return model->desc.nimpulse > 0 || model->jumps;
}

bool lwi_result_has_events(const lw_model *model)
{
    for (int i = 0; i < model->desc.nevent; i++)
        if (model->desc.event[i].record) return true;
    return false;
}

// ------------------------------------------------------------------------------------------- table

#define FOLLOWS LWI_RESULT_FOLLOWS
#define OPTIONAL LWI_RESULT_OPTIONAL
#define REQUIRED LWI_RESULT_REQUIRED
#define POSE LW_OBSERVE_POSE
#define TWIST LW_OBSERVE_TWIST
#define ENERGY LW_OBSERVE_ENERGY
#define ACCELERATION LW_OBSERVE_ACCELERATION
#define REACTION LW_OBSERVE_REACTION
#define MOMENTUM LW_OBSERVE_MOMENTUM
#define XYZ(p)                                                                                     \
    {                                                                                              \
        p "x", p "y", p "z"                                                                        \
    }
#define METRES(per) "m" per, "m" per, "m" per
#define RADIANS(per) "rad" per, "rad" per, "rad" per

// In the order of the columns.  The coordinates of free joints have the names of the rows q, qd, qdd,
// those of spherical joints the last of them; all other joints have numbered ones.
// clang-format off
static const lwi_quantity own_quantities[] = {
    {LWI_RESULT_TIME, "time", {"time"}, {"s"}, "", POSE, REQUIRED, run_time, .summary = "time"},

    {LWI_RESULT_BODY, "position", XYZ(""), {"m"}, "world", POSE, REQUIRED, body_position,
     .summary = "centre of mass"},
    {LWI_RESULT_BODY, "quaternion", {"qw", "qx", "qy", "qz"}, {"1"}, "world", POSE, REQUIRED, body_quaternion,
     .summary = "unit quaternion, body to world", .quaternion = true},
    {LWI_RESULT_BODY, "velocity", XYZ("v"), {"m/s"}, "world", TWIST, REQUIRED, body_velocity,
     .summary = "velocity of the centre of mass"},
    {LWI_RESULT_BODY, "angular_velocity", XYZ("w"), {"rad/s"}, "body", TWIST, REQUIRED, body_angular_velocity,
     .summary = "angular velocity"},
    {LWI_RESULT_BODY, "acceleration", XYZ("a"), {"m/s^2"}, "world", ACCELERATION, FOLLOWS, body_acceleration,
     .summary = "acceleration of the centre of mass"},
    {LWI_RESULT_BODY, "angular_acceleration", XYZ("al"), {"rad/s^2"}, "body", ACCELERATION, FOLLOWS,
     body_angular_acceleration, .summary = "derivative of the angular velocity"},
    {LWI_RESULT_BODY, "momentum", XYZ("p"), {"kg m/s"}, "world", MOMENTUM, FOLLOWS, body_momentum,
     .summary = "momentum", .stride = 6},
    {LWI_RESULT_BODY, "angular_momentum", XYZ("l"), {"kg m^2/s"}, "world", MOMENTUM, FOLLOWS, body_angular_momentum,
     .summary = "angular momentum about the centre of mass", .stride = 6},

    {LWI_RESULT_JOINT, "q", {"q"}, {"m or rad", "m", "rad"}, "joint", POSE, REQUIRED, joint_q,
     .summary = "coordinate K of the joint; angles count full turns", .numbered = true},
    {LWI_RESULT_JOINT, "qd", {"qd"}, {"m/s or rad/s", "m/s", "rad/s"}, "joint", TWIST, REQUIRED, joint_qd,
     .summary = "speed K of the joint", .numbered = true},
    {LWI_RESULT_JOINT, "qdd", {"qdd"}, {"m/s^2 or rad/s^2", "m/s^2", "rad/s^2"}, "joint", ACCELERATION, FOLLOWS,
     joint_qdd, .summary = "derivative of speed K", .numbered = true},
    {LWI_RESULT_JOINT, "p", {"p"}, {"kg m/s or kg m^2/s", "kg m/s", "kg m^2/s"}, "joint", MOMENTUM, FOLLOWS, joint_p,
     .summary = "joint momentum K, conjugate to speed K", .numbered = true},
    {LWI_RESULT_JOINT, "q", {"x", "y", "z", "qw", "qx", "qy", "qz"}, {METRES(""), "1", "1", "1", "1"}, "F1",
     POSE, REQUIRED, joint_q, .summary = "free joints: position and unit quaternion of F2 in F1; spherical joints: the quaternion",
     .quaternion = true},
    {LWI_RESULT_JOINT, "qd", {"vx", "vy", "vz", "wx", "wy", "wz"}, {METRES("/s"), RADIANS("/s")}, "F2",
     TWIST, REQUIRED, joint_qd, .summary = "free joints: velocity and angular velocity; spherical joints: the angular velocity"},
    {LWI_RESULT_JOINT, "qdd", {"ax", "ay", "az", "alx", "aly", "alz"}, {METRES("/s^2"), RADIANS("/s^2")}, "F2",
     ACCELERATION, FOLLOWS, joint_qdd, .summary = "their derivatives"},
    {LWI_RESULT_JOINT, "p", {"px", "py", "pz", "lx", "ly", "lz"}, {"kg m/s", "kg m/s", "kg m/s", "kg m^2/s", "kg m^2/s",
     "kg m^2/s"}, "F2", MOMENTUM, FOLLOWS, joint_p,
     .summary = "free joints: joint momenta conjugate to velocity and angular velocity; spherical joints: to the angular velocity"},

    {LWI_RESULT_REACTION, "force", XYZ("f"), {"N"}, "world", REACTION, FOLLOWS, joint_force,
     .summary = "reaction force on body2"},
    {LWI_RESULT_REACTION, "torque", XYZ("t"), {"N m"}, "world", REACTION, FOLLOWS, joint_torque,
     .summary = "reaction torque on body2 about its joint point"},
    {LWI_RESULT_REACTION, "impulse", XYZ("if"), {"N s"}, "world", REACTION, FOLLOWS, joint_impulse,
     .summary = "models with impulses: impulse of the reaction on body2, in the row after an impact", .impacts = true},
    {LWI_RESULT_REACTION, "angular_impulse", XYZ("it"), {"N m s"}, "world", REACTION, FOLLOWS, joint_angular_impulse,
     .summary = "models with impulses: its moment about the joint point of body2", .impacts = true},

    {LWI_RESULT_REACTION, "transmitted", XYZ("sf"), {"N s"}, "world", MOMENTUM, FOLLOWS, joint_transmitted,
     .summary = "momentum that the joint transmits to body2; a joint that closes a loop: the impulse of its constraints"},
    {LWI_RESULT_REACTION, "angular_transmitted", XYZ("st"), {"N m s"}, "world", MOMENTUM, FOLLOWS,
     joint_angular_transmitted, .summary = "its moment about the joint point of body2"},

    {LWI_RESULT_MARKER, "position", XYZ(""), {"m"}, "world", POSE, FOLLOWS, marker_position,
     .summary = "origin of the marker"},
    {LWI_RESULT_MARKER, "quaternion", {"qw", "qx", "qy", "qz"}, {"1"}, "world", POSE, FOLLOWS, marker_quaternion,
     .summary = "unit quaternion, marker to world", .quaternion = true},
    {LWI_RESULT_MARKER, "velocity", XYZ("v"), {"m/s"}, "world", TWIST, FOLLOWS, marker_velocity,
     .summary = "velocity of the origin"},
    {LWI_RESULT_MARKER, "angular_velocity", XYZ("w"), {"rad/s"}, "marker", TWIST, FOLLOWS, marker_angular_velocity,
     .summary = "angular velocity"},
    {LWI_RESULT_MARKER, "acceleration", XYZ("a"), {"m/s^2"}, "world", ACCELERATION, FOLLOWS, marker_acceleration,
     .summary = "acceleration of the origin"},
    {LWI_RESULT_MARKER, "angular_acceleration", XYZ("al"), {"rad/s^2"}, "marker", ACCELERATION, FOLLOWS,
     marker_angular_acceleration, .summary = "derivative of the angular velocity"},

    {LWI_RESULT_SYSTEM, "kinetic", {"T"}, {"J"}, "", ENERGY, OPTIONAL, system_kinetic, .summary = "kinetic energy"},
    {LWI_RESULT_SYSTEM, "potential", {"V"}, {"J"}, "", ENERGY, OPTIONAL, system_potential,
     .summary = "potential energy: gravity and springs"},
    {LWI_RESULT_SYSTEM, "energy", {"E"}, {"J"}, "", ENERGY, FOLLOWS, system_energy, .summary = "total energy T + V"},
    {LWI_RESULT_SYSTEM, "work", {"Wnc"}, {"J"}, "", ENERGY, OPTIONAL, system_work,
     .summary = "work of all other forces since the start"},
    {LWI_RESULT_SYSTEM, "momentum", XYZ("p"), {"kg m/s"}, "world", ENERGY, FOLLOWS, system_momentum,
     .summary = "momentum"},
    {LWI_RESULT_SYSTEM, "angular_momentum", XYZ("l"), {"kg m^2/s"}, "world", ENERGY, FOLLOWS, system_angular_momentum,
     .summary = "angular momentum about the origin of the world"},
    {LWI_RESULT_SYSTEM, "residual", {"cpos", "cvel", "cacc"}, {"m or rad", "m/s or rad/s", "m/s^2 or rad/s^2"}, "",
     ENERGY, FOLLOWS, system_residual, .summary = "largest constraint residual: position, velocity, acceleration",
     .last_part = REACTION},
    {LWI_RESULT_SYSTEM, "continued", {"continued"}, {"1"}, "", REACTION, FOLLOWS, system_continued,
     .summary = "1: reactions close to a singular position, from states outside; 0: solved for; closed mechanisms only",
     .loops = true},
    {LWI_RESULT_SYSTEM, "impact", {"impact"}, {"1"}, "", POSE, FOLLOWS, system_impact,
     .summary = "models with impulses: 1: row before, 2: row after the impulses at its time; else 0", .impacts = true},
    {LWI_RESULT_SYSTEM, "event", {"event"}, {"1"}, "", POSE, FOLLOWS, system_event,
     .summary = "models with events that record: the number of the event in its row, from 1; else 0", .events = true},
};
// clang-format on

const lwi_quantity *lwi_result_quantity_at(int index)
{
    const int n = LWI_COUNT(own_quantities);
    if (index < 0) return NULL;
    return index < n ? &own_quantities[index] : lwi_output_quantity_at(index - n);
}

// Its columns are measure.NAME, with the unit of the expression.
static const lwi_quantity measure_quantity = {.subject = LWI_RESULT_MEASURE,
                                              .name = "measure",
                                              .part = {""},
                                              .unit = {""},
                                              .frame = "",
                                              .level = LW_OBSERVE_POSE,
                                              .summary = "a measure of the model"};

const lwi_quantity *lwi_result_measure_quantity(void)
{
    return &measure_quantity;
}

const lwi_quantity *lwi_result_event_quantity(void)
{
    const lwi_quantity *q = own_quantities;
    while (q->array != system_event) q++;
    return q;
}

bool lwi_result_is_reaction(const lwi_quantity *q)
{
    return q && (q->array == joint_force || q->array == joint_torque);
}

const lwi_quantity *lwi_result_reaction_quantity(bool torque)
{
    const lwi_quantity *q = own_quantities;
    while (q->array != (torque ? joint_torque : joint_force)) q++;
    return q;
}

const char *lwi_result_part_unit(const lwi_quantity *q, int part)
{
    LWI_ASSERT(part >= 0 && (q->numbered || part < lwi_quantity_part_count(q)));
    return q->unit[q->numbered || !q->unit[1] ? 0 : part];
}

// ----------------------------------------------------------------------------------------- entries

// Quantities of one kind of items that a result has, with the number of their components.
typedef struct applied {
    int n;
    const lwi_quantity *quantity[LWI_COUNT(own_quantities)];
    int parts[LWI_COUNT(own_quantities)];
    int step[LWI_COUNT(
        own_quantities)]; ///< from one item to the next, in the quantity's array; not of joints
} applied;

// With entry NULL the entries are only counted.
typedef struct list {
    const lw_model *model;
    lw_observe level;
    lwi_result_entry *entry;
    int n;
    applied of[LWI_RESULT_SUBJECTS]; // those of joints are in the next two
    applied numbered, named;         // of joints with numbered coordinates; with those of free ones
} list;

static int step_of(const lwi_quantity *q)
{
    switch (q->subject) {
    case LWI_RESULT_BODY:
        return q->stride ? q->stride : lwi_quantity_part_count(q);
    case LWI_RESULT_REACTION:
        return 6; // force, torque
    case LWI_RESULT_MARKER:
        return (int)(sizeof(lwi_result_marker) / sizeof(double));
    default:
        return 0;
    }
}

static void append(list *l, lwi_result_entry entry)
{
    if (l->entry) l->entry[l->n] = entry;
    l->n++;
}

// Index of the first coordinate of a joint, or of its first speed.
static int first_of_joint(const list *l, const lwi_quantity *q, int joint)
{
    const lwi_joint *j = &l->model->joint[joint];
    return q->level == LW_OBSERVE_POSE ? j->iq : j->iv;
}

static bool has_named_coordinates(const lwi_joint *j)
{
    return j->type->quaternion >= 0;
}

// Number of coordinates of the joint, or of speeds.
static int coordinate_count(const lwi_joint *j, const lwi_quantity *q)
{
    return q->level == LW_OBSERVE_POSE ? j->type->nq : j->type->nv;
}

static void append_named(list *l, const lwi_quantity *q, int parts, int joint)
{
    const int n = coordinate_count(&l->model->joint[joint], q);
    LWI_ASSERT(n > 0 && n <= parts);
    append(l, (lwi_result_entry){q, joint, first_of_joint(l, q, joint), parts - n, n, 0});
}

// Coordinate k of the joint, its speed and the derivative.
static void append_numbered(list *l, int joint, int k)
{
    for (int i = 0; i < l->numbered.n; i++) {
        const lwi_quantity *q = l->numbered.quantity[i];
        if (k < coordinate_count(&l->model->joint[joint], q))
            append(l, (lwi_result_entry){q, joint, first_of_joint(l, q, joint) + k, k, 1, 0});
    }
}

static void append_joint(list *l, int joint)
{
    const lwi_joint *j = &l->model->joint[joint];
    const int nq = j->type->nq, nv = j->type->nv;
    if (!has_named_coordinates(j)) {
        for (int k = 0; k < (nq > nv ? nq : nv); k++) append_numbered(l, joint, k);
        return;
    }
    for (int i = 0; i < l->named.n; i++)
        append_named(l, l->named.quantity[i], l->named.parts[i], joint);
}

// Of the items from `first` on.
static void append_items(list *l, lwi_subject subject, int first, int end)
{
    const applied *of = &l->of[subject];
    if (end <= first) return;
    for (int item = first; l->entry && item < end; item++)
        for (int i = 0; i < of->n; i++)
            l->entry[l->n + (item - first) * of->n + i] =
                (lwi_result_entry){of->quantity[i], item, item * of->step[i], 0, of->parts[i], 0};
    l->n += (end - first) * of->n;
}

static bool applies(const list *l, const lwi_quantity *q)
{
    if (l->level < q->level) return false;
    if (q->impacts && !lwi_result_has_impacts(l->model)) return false;
    if (q->events && !lwi_result_has_events(l->model)) return false;
    return !q->loops || l->model->nloop + l->model->ncoupling > 0;
}

static void find_applied(list *l)
{
    for (int i = 0; i < LWI_COUNT(own_quantities); i++) { // others are those of forces
        const lwi_quantity *q = &own_quantities[i];
        applied *of = q->subject != LWI_RESULT_JOINT ? &l->of[q->subject]
                      : q->numbered                  ? &l->numbered
                                                     : &l->named;
        if (!applies(l, q)) continue;
        of->quantity[of->n] = q;
        of->step[of->n] = step_of(q);
        of->parts[of->n++] = lwi_quantity_part_count(q) - (l->level < q->last_part);
    }
}

// The quantities of a force or drive, side by side in the array of outputs.
static void append_output(list *l, int item)
{
    const lwi_force_output *output = &l->model->output[item];
    for (int i = 0, first = output->first; i < output->nquantity; i++) {
        const lwi_quantity *q = &output->quantity[i];
        const int n = lwi_quantity_part_count(q);
        if (l->level >= q->level)
            append(l,
                   (lwi_result_entry){q, item, first, q->numbered ? output->coordinate : 0, n, 0});
        first += n;
    }
}

static void append_all(list *l)
{
    const lw_model *m = l->model;
    l->n = 0;
    append_items(l, LWI_RESULT_TIME, 0, 1);
    append_items(l, LWI_RESULT_BODY, 1, m->nbody);
    for (int i = 0; i < m->njoint; i++) append_joint(l, i);
    append_items(l, LWI_RESULT_REACTION, 0, m->njoint);
    append_items(l, LWI_RESULT_MARKER, 0, m->desc.nmarker);
    for (int i = 0; i < m->noutput; i++) append_output(l, i);
    append_items(l, LWI_RESULT_SYSTEM, 0, 1);
}

lw_status lwi_result_entries(const lw_model *model, lw_observe level, lwi_arena *arena,
                             lwi_result_entry **entry, int *n)
{
    list l = {.model = model, .level = level};
    find_applied(&l);
    append_all(&l);
    l.entry = LWI_PUSH(arena, lwi_result_entry, l.n);
    if (!l.entry) return LW_ERR_MEMORY;
    append_all(&l);
    *entry = l.entry, *n = l.n;
    return LW_OK;
}

const char *lwi_result_item_name(const lw_model *model, const lwi_result_entry *entry)
{
    switch (entry->quantity->subject) {
    case LWI_RESULT_BODY:
        return model->body[entry->item].name;
    case LWI_RESULT_JOINT:
    case LWI_RESULT_REACTION:
        return model->joint[entry->item].name;
    case LWI_RESULT_MARKER:
        return model->desc.marker[entry->item].name;
    case LWI_RESULT_FORCE:
        return model->output[entry->item].item;
    case LWI_RESULT_MEASURE:
        return model->desc.measure[entry->item].name;
    default:
        return "";
    }
}

// ------------------------------------------------------------------------------------------ public

int lw_quantity_count(void)
{
    int n = LWI_COUNT(own_quantities);
    while (lwi_result_quantity_at(n)) n++;
    return n;
}

lw_quantity_info lw_quantity_at(int index)
{
    static const char *const levels[] = {
#define X(name, text) [LW_OBSERVE_##name] = text,
        LW_OBSERVE_LIST(X)
#undef X
    };
    const lwi_quantity *q = lwi_result_quantity_at(index);
    if (!q)
        return (lw_quantity_info){
            .item = "", .name = "", .frame = "", .level = "", .last_level = "", .summary = ""};
    return (lw_quantity_info){.item = lwi_result_column_prefix(q),
                              .name = q->name,
                              .frame = q->frame,
                              .level = levels[q->level],
                              .last_level = levels[q->last_part ? q->last_part : q->level],
                              .summary = q->summary,
                              .size = lwi_quantity_part_count(q),
                              .part = q->part,
                              .unit = q->unit,
                              .same_unit = q->numbered || !q->unit[1],
                              .numbered = q->numbered};
}
