// read_cases.h -- checks of descriptions and errors for tests of readers.
#ifndef LWT_READ_CASES_H
#define LWT_READ_CASES_H

#include "io/readers.h"
#include "model/model.h"
#include "spatial/rotation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/** Reads a string into a new builder; *builder is NULL on failure. */
static inline lw_status lwt_read(lwi_reader read, const char *file, const char *text,
                                 const lw_read_desc *desc, lw_builder **builder, lw_error *error)
{
    lw_options options;
    memset(&options, 0, sizeof options);
    lw_status status = lw_builder_create(desc->allocator, builder);
    if (status != LW_OK) return status;
    status = lw_builder_set_source(*builder, file);
    if (status == LW_OK) status = read(text, strlen(text), file, desc, *builder, &options, error);
    if (status != LW_OK) {
        lw_builder_destroy(*builder);
        *builder = NULL;
    }
    return status;
}

/** Checks that the error has file and line and contains `part`. */
static inline void lwt_error_is(const lw_error *error, const char *file, int line, const char *part)
{
    assert_string_equal(file, error->file);
    if (!strstr(error->text, part)) fail_msg("'%s' does not say '%s'", error->text, part);
    if (line != error->line) fail_msg("line %d, expected %d: %s", error->line, line, error->text);
}

static inline const lw_body_desc *lwt_body_of(const lw_builder *b, const char *name)
{
    for (int i = 0; i < b->desc.nbody; i++)
        if (strcmp(b->desc.body[i].name, name) == 0) return &b->desc.body[i];
    fail_msg("no body '%s'", name);
    return NULL;
}

static inline const lw_joint_desc *lwt_joint_of(const lw_builder *b, const char *name)
{
    for (int i = 0; i < b->desc.njoint; i++)
        if (strcmp(b->desc.joint[i].name, name) == 0) return &b->desc.joint[i];
    fail_msg("no joint '%s'", name);
    return NULL;
}

static inline int lwt_warnings_with(const lw_builder *b, const char *part)
{
    int count = 0;
    for (int i = 0; i < b->desc.nwarning; i++) count += strstr(b->desc.warning[i], part) != NULL;
    return count;
}

static inline void lwt_matrix_of(double *R, lw_quat quat)
{
    const double q[4] = {quat.w, quat.x, quat.y, quat.z};
    quat_matrix(R, q);
}

/** The pose (R, r) of a frame of a body in the world. */
static inline void lwt_world_frame(const lw_body_desc *body, lw_pose frame, double *R, double *r)
{
    double B[9], F[9];
    const double p[3] = {frame.position.x, frame.position.y, frame.position.z};
    const double o[3] = {body->pose.position.x, body->pose.position.y, body->pose.position.z};
    lwt_matrix_of(B, body->pose.orientation);
    lwt_matrix_of(F, frame.orientation);
    m3_mul(R, B, F);
    m3_mul_v(r, B, p);
    v3_add(r, r, o);
}

#endif
