// track.h -- the rows of a run in memory, and how far another run is from them.
#ifndef LWI_CLI_TRACK_H
#define LWI_CLI_TRACK_H

#include <linkwork/linkwork.h>

/** Groups of quantities that are compared: name, unit, extent, numbers per item. */
#define TRACK_GROUP_LIST(X)                                                                        \
    X(POSITION, "position", "m", nbody, 3)                                                         \
    X(ATTITUDE, "attitude", "1", nbody, 4) /* quaternion components, sign chosen */                \
    X(VELOCITY, "velocity", "m/s", nbody, 3)                                                       \
    X(ANGULAR_VELOCITY, "angular velocity", "rad/s", nbody, 3)                                     \
    X(ACCELERATION, "acceleration", "m/s^2", nbody, 3)                                             \
    X(ANGULAR_ACCELERATION, "angular acceleration", "rad/s^2", nbody, 3)                           \
    X(FORCE, "reaction force", "N", njoint, 3) /* along axes of F1, where unique in both */        \
    X(TORQUE, "reaction torque", "N m", njoint, 3)

#define X(name, text, unit, extent, size) TRACK_##name,
typedef enum track_group { TRACK_GROUP_LIST(X) TRACK_COUNT } track_group;
#undef X

/** The first run's rows. */
typedef struct cli_track {
    const lw_model *model;
    int nbody, njoint;
    size_t width; ///< numbers in a row, the time included
    size_t first[TRACK_COUNT + 1];
    long nrow, room;
    double *data;              ///< [nrow][width]; NAN: not defined or not unique
    double scale[TRACK_COUNT]; ///< largest magnitude
} cli_track;

/** Another run against it. */
typedef struct track_compare {
    const cli_track *reference;
    double *row; ///< [width] scratch
    long nrow;
    double difference[TRACK_COUNT]; ///< largest; NAN: nothing in common
} track_compare;

const char *track_group_name(track_group group);
const char *track_group_unit(track_group group);

void track_start(cli_track *track, const lw_model *model);
void track_end(cli_track *track);
/** lw_row functions; `user` is a cli_track, a track_compare. */
lw_status track_record(void *user, const lw_observation *observation);
lw_status track_difference(void *user, const lw_observation *observation);

#endif
