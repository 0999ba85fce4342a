// track.c -- rows of a run side by side with those of another.
#include "cli/track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *track_group_name(track_group group)
{
    static const char *const names[] = {
#define X(name, text, unit, extent, size) text,
        TRACK_GROUP_LIST(X)
#undef X
    };
    return names[group];
}

const char *track_group_unit(track_group group)
{
    static const char *const units[] = {
#define X(name, text, unit, extent, size) unit,
        TRACK_GROUP_LIST(X)
#undef X
    };
    return units[group];
}

void track_start(cli_track *track, const lw_model *model)
{
    memset(track, 0, sizeof *track);
    track->nbody = lw_model_body_count(model);
    track->njoint = lw_model_joint_count(model);
    track->width = 1; // the time
#define X(name, text, unit, extent, size)                                                          \
    track->first[TRACK_##name] = track->width;                                                     \
    track->width += (size_t)track->extent * size;
    TRACK_GROUP_LIST(X)
#undef X
    track->first[TRACK_COUNT] = track->width;
}

void track_end(cli_track *track)
{
    free(track->data);
    track->data = NULL;
}

static void copy(const cli_track *track, double *row, track_group group, const void *values)
{
    const size_t n = track->first[group + 1] - track->first[group];
    memcpy(row + track->first[group], values, n * sizeof *row);
}

static void flatten(const cli_track *track, const lw_observation *o, double *row)
{
    row[0] = o->time;
    copy(track, row, TRACK_POSITION, o->position);
    copy(track, row, TRACK_ATTITUDE, o->quaternion);
    copy(track, row, TRACK_VELOCITY, o->velocity);
    copy(track, row, TRACK_ANGULAR_VELOCITY, o->angular_velocity);
    copy(track, row, TRACK_ACCELERATION, o->acceleration);
    copy(track, row, TRACK_ANGULAR_ACCELERATION, o->angular_acceleration);
    double *force = row + track->first[TRACK_FORCE], *torque = row + track->first[TRACK_TORQUE];
    for (int j = 0; j < track->njoint; j++)
        for (int k = 0; k < 3; k++) {
            force[3 * j + k] = o->reaction_unique[j] ? o->reaction[j][k] : (double)NAN;
            torque[3 * j + k] = o->reaction_unique[j] ? o->reaction[j][3 + k] : (double)NAN;
        }
}

lw_status track_record(void *user, const lw_observation *observation)
{
    cli_track *t = user;
    if (t->nrow == t->room) {
        const long room = t->room ? 2 * t->room : 256;
        double *data = realloc(t->data, (size_t)room * t->width * sizeof *data);
        if (!data) return LW_ERR_MEMORY;
        t->data = data;
        t->room = room;
    }
    double *row = t->data + (size_t)t->nrow++ * t->width;
    flatten(t, observation, row);
    for (int g = 0; g < TRACK_COUNT; g++)
        for (size_t i = t->first[g]; i < t->first[g + 1]; i++)
            if (fabs(row[i]) > t->scale[g]) t->scale[g] = fabs(row[i]);
    return LW_OK;
}

// q and -q are the same attitude
static void align(const cli_track *track, const double *reference, double *row)
{
    for (size_t i = track->first[TRACK_ATTITUDE]; i < track->first[TRACK_ATTITUDE + 1]; i += 4) {
        double dot = 0;
        for (int k = 0; k < 4; k++) dot += reference[i + (size_t)k] * row[i + (size_t)k];
        if (dot < 0)
            for (int k = 0; k < 4; k++) row[i + (size_t)k] = -row[i + (size_t)k];
    }
}

lw_status track_difference(void *user, const lw_observation *observation)
{
    track_compare *c = user;
    const cli_track *t = c->reference;
    if (c->nrow >= t->nrow) return LW_OK; // the reference ended earlier
    const double *reference = t->data + (size_t)c->nrow * t->width;
    if (!c->nrow)
        for (int g = 0; g < TRACK_COUNT; g++) c->difference[g] = NAN;
    c->nrow++;
    flatten(t, observation, c->row);
    align(t, reference, c->row);
    for (int g = 0; g < TRACK_COUNT; g++)
        for (size_t i = t->first[g]; i < t->first[g + 1]; i++) {
            const double d = fabs(c->row[i] - reference[i]);
            if (d >= 0 && !(c->difference[g] >= d)) c->difference[g] = d;
        }
    return LW_OK;
}
