// mjcf_cases.h -- models and checks for tests of the MJCF reader.
#ifndef LWT_MJCF_CASES_H
#define LWT_MJCF_CASES_H

#include "io/read_cases.h"
#include "model/model.h"
#include "spatial/rotation.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OK(call) assert_int_equal(LW_OK, (call))
// Products of a few rotations: some units in the last place of numbers near one.
#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-14 * (1 + fabs((double)(b))))

static const double root = 0.70710678118654752440; // of a half
static const double degree = 3.14159265358979323846 / 180;

static inline lw_status read_desc(lw_builder **builder, const char *text, const lw_read_desc *desc,
                                  lw_error *error)
{
    return lwt_read(lwi_read_mjcf, "bot.xml", text, desc, builder, error);
}

static inline lw_builder *read_with(const char *text, const lw_read_desc *desc)
{
    lw_builder *builder;
    lw_error error = {0};
    if (read_desc(&builder, text, desc, &error) != LW_OK)
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return builder;
}

static inline lw_builder *read_mjcf(const char *text)
{
    return read_with(text, &(lw_read_desc){0});
}

static inline void refuse(const char *text, lw_status status, int line, const char *part)
{
    lw_builder *builder;
    lw_error error = {0};
    assert_int_equal(status, read_desc(&builder, text, &(lw_read_desc){0}, &error));
    lwt_error_is(&error, "bot.xml", line, part);
}

static inline lw_model *model_of(const char *text)
{
    lw_model *model = NULL;
    lw_error error = {0};
    if (lw_model_parse(text, strlen(text), "bot.xml", &(lw_read_desc){.format = "mjcf"}, &model,
                       NULL, &error))
        fail_msg("%s:%d: %s", error.file, error.line, error.text);
    return model;
}

#define MODEL(...) "<mujoco>\n" __VA_ARGS__ "</mujoco>\n"
#define WORLD(...) "<worldbody>" __VA_ARGS__ "</worldbody>\n"
#define MASS "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"

#define TWO_ARMS                                                                                   \
    "<body name='a'>" MASS                                                                         \
    "<joint name='ja' axis='0 1 0' ref='20'/><site name='sa' pos='0 0 1'/></body>"                 \
    "<body name='b' pos='1 0 0'>" MASS "<joint name='jb' axis='0 1 0' ref='-10'/></body>"
#define TIED(...) MODEL(WORLD(TWO_ARMS) "<equality>\n" __VA_ARGS__ "</equality>")

// Pose of frame 1 or 2 of a joint in its body.
static inline void frame_of(const lw_joint_desc *j, int side, double *R, double *r)
{
    const lw_pose *f = side == 1 ? &j->frame1 : &j->frame2;
    lwt_matrix_of(R, f->orientation);
    v3_set(r, f->position.x, f->position.y, f->position.z);
}

#endif
