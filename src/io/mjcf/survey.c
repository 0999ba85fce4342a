// survey.c -- the supported elements of MJCF: parent, element, attributes.
//
// Attributes of contacts, solvers and rendering have no effect on exact constraints; they are listed here but
// not read.  Everything that changes the motion is noted.
#include "io/mjcf/mjcf.h"

#include <string.h>

enum { ONCE = LWI_KNOWN_ONCE, PICTURE = LWI_KNOWN_VISUAL };

#define POSE " pos quat axisangle xyaxes zaxis euler "
#define JOINT                                                                                      \
    " name class type pos axis springdamper limited range ref springref stiffness damping "        \
    "frictionloss "                                                                                \
    "armature actuatorfrcrange actuatorfrclimited actuatorgravcomp group user margin solreflimit " \
    "solimplimit solreffriction solimpfriction "
#define GEOM                                                                                       \
    POSE " name class type size fromto mass density group mesh hfield material rgba friction "     \
         "contype conaffinity condim priority margin gap solref solimp solmix user fitscale "
#define SITE POSE " name class type size fromto group material rgba user "
#define ACTUATOR                                                                                   \
    " name class joint jointinparent tendon site gear group user ctrllimited ctrlrange "           \
    "forcelimited forcerange damping armature lengthrange cranksite slidersite cranklength "
#define TENDON                                                                                     \
    " name class group limited range solreflimit solimplimit solreffriction solimpfriction "       \
    "margin stiffness damping frictionloss springlength armature width material rgba user "
// Those that are not read are noted by actuators.c.
#define OF_ACTUATORS(parent, kind)                                                                 \
    {parent, "general", ACTUATOR "gaintype biastype dyntype gainprm biasprm ", kind},              \
        {parent, "motor", ACTUATOR, kind},                                                         \
        {parent, "position", ACTUATOR "kp kv dampratio timeconst inheritrange ", kind},            \
        {parent, "velocity", ACTUATOR "kv ", kind}, {parent, "damper", ACTUATOR "kv ", kind},      \
        {parent, "intvelocity", "", kind | PICTURE}, {parent, "cylinder", "", kind | PICTURE},     \
        {parent, "muscle", "", kind | PICTURE}, {parent, "adhesion", "", kind | PICTURE},          \
        {parent, "dcmotor", "", kind | PICTURE}, {parent, "pid", "", kind | PICTURE},              \
    {                                                                                              \
        parent, "orientation", "", kind | PICTURE                                                  \
    }

#define MESH                                                                                       \
    " name class file vertex normal texcoord face content_type scale refpos refquat inertia "      \
    "smoothnormal maxhullvert material "

#define BODY_IN(parent)                                                                            \
    {parent, "body", POSE " name childclass mocap gravcomp user ", 0},                             \
        {parent, "frame", POSE " name childclass ", 0}, {parent, "geom", GEOM, 0},                 \
        {parent, "site", SITE, 0}, {parent, "camera", "", PICTURE},                                \
    {                                                                                              \
        parent, "light", "", PICTURE                                                               \
    }

#define JOINTS_IN(parent)                                                                          \
    {parent, "joint", JOINT, 0},                                                                   \
    {                                                                                              \
        parent, "freejoint", " name group align ", 0                                               \
    }

static const lwi_survey_element table[] = {
    {"mujoco", "compiler",
     " angle coordinate autolimits inertiafromgeom eulerseq boundmass settotalmass "
     "inertiagrouprange meshdir texturedir assetdir discardvisual strippath usethread fusestatic "
     "convexhull exactmeshinertia saveinertial alignfree fitaabb ",
     0},
    {"mujoco", "option",
     " gravity timestep integrator cone jacobian solver iterations tolerance ls_iterations "
     "ls_tolerance noslip_iterations noslip_tolerance mpr_iterations mpr_tolerance ccd_iterations "
     "ccd_tolerance impratio apirate o_margin o_solref o_solimp o_friction sdf_iterations "
     "sdf_initpoints actuatorgroupdisable collision magnetic ",
     0},
    {"option", "flag",
     " gravity contact warmstart filterparent refsafe energy fwdinv invdiscrete sensor midphase "
     "nativeccd eulerdamp autoreset multiccd island override clampctrl sensornoise ",
     ONCE},
    {"mujoco", "size", "", PICTURE},
    {"mujoco", "visual", "", PICTURE},
    {"mujoco", "statistic", "", PICTURE},
    {"mujoco", "custom", "", PICTURE},
    {"mujoco", "asset", "", 0},
    {"asset", "mesh", MESH, 0},
    {"asset", "material", "", PICTURE},
    {"asset", "texture", "", PICTURE},
    {"asset", "hfield", "", PICTURE},
    {"asset", "skin", "", PICTURE},
    {"asset", "model", "", PICTURE},
    {"mujoco", "default", " class ", 0},
    {"mujoco", "worldbody", " name ", 0},
    {"mujoco", "equality", "", 0},
    {"mujoco", "actuator", "", 0},
    {"mujoco", "contact", "", 0},
    {"mujoco", "tendon", "", 0},
    {"mujoco", "sensor", "", 0},
    {"mujoco", "keyframe", "", 0},
    {"keyframe", "key", " name time qpos qvel act ctrl mpos mquat ", 0},
    {"contact", "exclude", "", PICTURE}, // disables a contact: there are none
    {"default", "default", " class ", 0},
    {"default", "joint", JOINT, ONCE},
    {"default", "geom", GEOM, ONCE},
    {"default", "site", SITE, ONCE},
    {"default", "equality", " active solref solimp ", ONCE},
    {"default", "mesh", MESH, ONCE},
    {"default", "material", "", ONCE | PICTURE},
    {"default", "camera", "", ONCE | PICTURE},
    {"default", "light", "", ONCE | PICTURE},
    {"default", "pair", "", ONCE | PICTURE},
    {"default", "tendon", TENDON, ONCE},
    OF_ACTUATORS("default", ONCE),
    BODY_IN("worldbody"),
    BODY_IN("body"),
    BODY_IN("frame"),
    JOINTS_IN("body"),
    JOINTS_IN("frame"),
    {"body", "inertial", POSE " mass diaginertia fullinertia ", ONCE},
    {"equality", "connect", " name class active body1 body2 anchor site1 site2 solref solimp ", 0},
    {"equality", "weld",
     " name class active body1 body2 relpose site1 site2 anchor torquescale solref solimp ", 0},
    {"equality", "joint", " name class active joint1 joint2 polycoef solref solimp ", 0},
    OF_ACTUATORS("actuator", 0),
    {"tendon", "fixed", TENDON, 0},
    {"tendon", "spatial", TENDON, 0},
    {"spatial", "site", " site ", 0},
    {"spatial", "geom", " geom sidesite ", 0},
    {"spatial", "pulley", " divisor ", 0},
    {"fixed", "joint", " joint coef ", 0},
};

// Elements with ONCE in the table, as in the schema of MuJoCo; a second one is ambiguous.
static lw_status refuse_second(const lwi_xml *xml, const lwi_xml_element *e, lw_error *error)
{
    bool once = false;
    for (int i = 0; i < LWI_COUNT(table) && !once; i++)
        once = table[i].kind & ONCE && strcmp(table[i].name, e->name) == 0 &&
               strcmp(table[i].parent, e->parent->name) == 0;
    if (!once) return LW_OK;
    const lwi_xml_element *first = lwi_xml_child(e->parent, e->name);
    if (first == e) return LW_OK;
    const bool class = strcmp(e->parent->name, "default") == 0;
    const char *name = lwi_xml_get(e->parent, class ? "class" : "name");
    if (!name && class) name = "main";
    return lwi_xml_fail(
        xml, e, LW_ERR_PARSE, error,
        "<%s>%s%.100s%s: a second <%s>, the first is in line %d; expected at most one",
        e->parent->name, name ? class ? " of class '" : " '" : "", name ? name : "",
        name ? "'" : "", e->name, first->line);
}

// Refuses elements without which the mechanism would differ.
static lw_status refuse(const lwi_xml *xml, const lwi_xml_element *e, lw_error *error)
{
    static const char *const makes_bodies[] = {"replicate", "composite", "flexcomp", "attach"};
    for (int i = 0; i < LWI_COUNT(makes_bodies); i++)
        if (strcmp(e->name, makes_bodies[i]) == 0)
            return lwi_xml_fail(xml, e, LW_ERR_UNSUPPORTED, error,
                                "<%s> creates bodies that are not read; save the compiled model as "
                                "MJCF and read that",
                                e->name);
    return e->parent ? refuse_second(xml, e, error) : LW_OK;
}

lw_status lwi_mjcf_survey(const lwi_mjcf *u)
{
    static const lwi_survey survey = {table, LWI_COUNT(table), refuse};
    return lwi_survey_run(&survey, &u->xml, u->xml.root, " model ", u->notes, u->error);
}
