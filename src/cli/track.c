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
    track->model = model;
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

// The axes of F1 of a joint, in the world: x, y, z.
static void joint_axes(const lw_model *model, const lw_observation *o, int joint, double axes[3][3])
{
    lw_body body;
    double R[9] = {0};
    if (lw_model_joint_axes(model, (lw_joint){joint}, &body, R) != LW_OK) return;
    const double *q = o->quaternion[body.index], w = q[0], *u = q + 1;
    for (int k = 0; k < 3; k++) { // a + 2 w (u x a) + 2 u x (u x a)
        const double a[3] = {R[k], R[3 + k], R[6 + k]};
        const double c[3] = {u[1] * a[2] - u[2] * a[1], u[2] * a[0] - u[0] * a[2],
                             u[0] * a[1] - u[1] * a[0]};
        const double d[3] = {u[1] * c[2] - u[2] * c[1], u[2] * c[0] - u[0] * c[2],
                             u[0] * c[1] - u[1] * c[0]};
        for (int i = 0; i < 3; i++) axes[k][i] = a[i] + 2 * (w * c[i] + d[i]);
    }
}

// Components of a vector along the axes; NAN where a bit says that it is not unique.
static void put_unique(unsigned undetermined, double axes[3][3], const double v[3],
                       double component[3])
{
    for (int k = 0; k < 3; k++)
        component[k] = undetermined >> k & 1
                           ? (double)NAN
                           : axes[k][0] * v[0] + axes[k][1] * v[1] + axes[k][2] * v[2];
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
    for (int j = 0; j < track->njoint; j++) {
        double axes[3][3] = {{0}};
        joint_axes(track->model, o, j, axes);
        put_unique(o->reaction_undetermined[j], axes, o->reaction[j], force + 3 * (size_t)j);
        put_unique((unsigned)o->reaction_undetermined[j] >> 3, axes, o->reaction[j] + 3,
                   torque + 3 * (size_t)j);
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
