// survey.c -- the supported elements of SDF: parent, element, attributes.
#include "io/sdf/sdf.h"

#include <string.h>

enum {
    ONCE = LWI_KNOWN_ONCE,
    PICTURE = LWI_KNOWN_VISUAL,
    VALUE = LWI_KNOWN_ONCE | LWI_KNOWN_CONTENT
};

#define POSE " relative_to frame degrees rotation_format "
#define DYNAMICS(axis)                                                                             \
    {axis, "xyz", " expressed_in ", VALUE}, {axis, "dynamics", "", ONCE},                          \
        {axis, "limit", "", ONCE}, {axis, "mimic", " joint axis ", ONCE},                          \
    {                                                                                              \
        axis, "use_parent_model_frame", "", VALUE                                                  \
    }

static const lwi_survey_element table[] = {
    {"world", "gravity", "", VALUE},
    {"world", "model", " name canonical_link placement_frame ", 0},
    {"world", "include", "", 0},
    {"world", "frame", " name attached_to ", 0},
    {"world", "joint", " name type ", 0},
    {"world", "light", "", PICTURE},
    {"world", "scene", "", PICTURE},
    {"world", "gui", "", PICTURE},
    {"world", "physics", "", PICTURE}, // settings of other programs
    {"include", "uri", "", VALUE},
    {"include", "name", "", VALUE},
    {"include", "pose", POSE, VALUE},
    {"include", "static", "", VALUE},
    {"include", "placement_frame", "", VALUE},
    {"model", "pose", POSE, VALUE},
    {"model", "static", "", VALUE},
    {"model", "link", " name ", 0},
    {"model", "joint", " name type ", 0},
    {"model", "frame", " name attached_to ", 0},
    {"model", "model", " name canonical_link placement_frame ", 0},
    {"model", "include", "", 0},
    {"model", "self_collide", "", PICTURE},
    {"model", "allow_auto_disable", "", PICTURE},
    {"frame", "pose", POSE, VALUE},
    {"link", "pose", POSE, VALUE},
    {"link", "gravity", "", VALUE},
    {"link", "inertial", " auto ", ONCE},
    {"inertial", "density", "", VALUE},
    {"link", "visual", " name ", 0},
    {"link", "collision", "", PICTURE},
    {"link", "self_collide", "", PICTURE},
    {"link", "light", "", PICTURE},
    {"inertial", "pose", POSE, VALUE},
    {"inertial", "mass", "", VALUE},
    {"inertial", "inertia", "", ONCE},
    {"inertia", "ixx", "", VALUE},
    {"inertia", "iyy", "", VALUE},
    {"inertia", "izz", "", VALUE},
    {"inertia", "ixy", "", VALUE},
    {"inertia", "ixz", "", VALUE},
    {"inertia", "iyz", "", VALUE},
    {"visual", "pose", "", PICTURE},
    {"visual", "material", "", PICTURE},
    {"visual", "transparency", "", PICTURE},
    {"visual", "cast_shadows", "", PICTURE},
    {"visual", "geometry", "", ONCE},
    {"geometry", "box", "", ONCE},
    {"geometry", "sphere", "", ONCE},
    {"geometry", "cylinder", "", ONCE},
    {"geometry", "capsule", "", ONCE},
    {"geometry", "mesh", "", ONCE},
    {"geometry", "ellipsoid", "", ONCE},
    {"ellipsoid", "radii", "", VALUE},
    {"mesh", "uri", "", VALUE},
    {"mesh", "scale", "", VALUE},
    {"mesh", "submesh", "", PICTURE},
    {"geometry", "plane", "", PICTURE},
    {"box", "size", "", VALUE},
    {"sphere", "radius", "", VALUE},
    {"cylinder", "radius", "", VALUE},
    {"cylinder", "length", "", VALUE},
    {"capsule", "radius", "", VALUE},
    {"capsule", "length", "", VALUE},
    {"joint", "pose", POSE, VALUE},
    {"joint", "parent", "", VALUE},
    {"joint", "child", "", VALUE},
    {"joint", "axis", "", ONCE},
    {"joint", "axis2", "", ONCE},
    {"joint", "gearbox_ratio", "", VALUE},
    {"joint", "gearbox_reference_body", "", VALUE},
    {"joint", "thread_pitch", "", VALUE},
    {"joint", "screw_thread_pitch", "", VALUE},
    {"joint", "physics", "", ONCE},
    {"physics", "simbody", "", ONCE},
    {"physics", "ode", "", PICTURE}, // settings of other programs
    {"simbody", "must_be_loop_joint", "", VALUE},
    DYNAMICS("axis"),
    DYNAMICS("axis2"),
    {"dynamics", "damping", "", VALUE},
    {"dynamics", "friction", "", VALUE},
    {"dynamics", "spring_reference", "", VALUE},
    {"dynamics", "spring_stiffness", "", VALUE},
    {"limit", "lower", "", VALUE},
    {"limit", "upper", "", VALUE},
    {"limit", "effort", "", VALUE},
    {"limit", "velocity", "", VALUE},
    {"limit", "stiffness", "", VALUE},
    {"limit", "dissipation", "", VALUE},
    {"mimic", "multiplier", "", VALUE},
    {"mimic", "offset", "", VALUE},
    {"mimic", "reference", "", VALUE},
};

lw_status lwi_sdf_survey(const lwi_sdf *u, const lwi_sdf_file *file, const lwi_xml_element *e)
{
    static const lwi_survey survey = {table, LWI_COUNT(table), NULL};
    lwi_sdf_begin_notes(u, file);
    return lwi_survey_run(&survey, &file->xml, e, " name canonical_link placement_frame ", u->notes,
                          u->error);
}
