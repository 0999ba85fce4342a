// survey.c -- the supported elements of URDF: parent, element, attributes.
#include "io/urdf/urdf.h"

#include <string.h>

enum { ONCE = LWI_KNOWN_ONCE, PICTURE = LWI_KNOWN_VISUAL };

static const lwi_survey_element table[] = {
    {"robot", "link", " name type ", 0},
    {"robot", "joint", " name type ", 0},
    {"robot", "loop_joint", " name type ", 0},
    {"robot", "material", "", PICTURE},
    {"link", "inertial", "", ONCE},
    {"link", "visual", " name ", 0},
    {"link", "collision", "", PICTURE},
    {"inertial", "origin", " xyz rpy ", ONCE},
    {"inertial", "mass", " value ", ONCE},
    {"inertial", "inertia", " ixx iyy izz ixy ixz iyz ", ONCE},
    {"visual", "origin", " xyz rpy ", ONCE},
    {"visual", "geometry", "", ONCE},
    {"visual", "material", "", PICTURE},
    {"geometry", "box", " size ", ONCE},
    {"geometry", "sphere", " radius ", ONCE},
    {"geometry", "cylinder", " radius length ", ONCE},
    {"geometry", "capsule", " radius length ", ONCE},
    {"geometry", "mesh", " filename scale ", ONCE},
    {"joint", "origin", " xyz rpy ", ONCE},
    {"joint", "parent", " link ", ONCE},
    {"joint", "child", " link ", ONCE},
    {"joint", "axis", " xyz ", ONCE},
    {"joint", "dynamics", " damping friction ", ONCE},
    {"joint", "limit", " lower upper effort velocity ", ONCE},
    {"joint", "mimic", " joint multiplier offset ", ONCE},
    {"loop_joint", "axis", " xyz frame ", ONCE},
    {"loop_joint", "link1", " link xyz rpy ", 0}, // one variant names both ends
    {"loop_joint", "link2", " link xyz rpy ", ONCE},
    {"loop_joint", "parent", " link ", ONCE},
    {"loop_joint", "child", " link ", ONCE},
    {"loop_joint", "parent_origin", " xyz rpy ", ONCE},
    {"loop_joint", "child_origin", " xyz rpy ", ONCE},
    {"loop_joint", "limit", " lower upper effort velocity ", ONCE},
    {"loop_joint", "dynamics", " damping friction ", ONCE},
};

// Refuses sources of the macro processor.
static lw_status refuse_xacro(const lwi_xml *xml, const lwi_xml_element *e, lw_error *error)
{
    bool xacro = strncmp(e->name, "xacro:", 6) == 0;
    for (int i = 0; i < e->nattribute; i++)
        if (strstr(e->attribute[i].value, "${")) xacro = true;
    if (!xacro) return LW_OK;
    return lwi_xml_fail(xml, e, LW_ERR_PARSE, error,
                        "<%.80s>: this is a xacro source; expand it first "
                        "(`xacro FILE -o FILE.urdf`)",
                        e->name);
}

lw_status lwi_urdf_survey(const lwi_xml *xml, lwi_notes *notes, lw_error *error)
{
    static const lwi_survey survey = {table, LWI_COUNT(table), refuse_xacro};
    const lwi_xml_element *robot = xml->root;
    if (strcmp(robot->name, "robot") != 0)
        return lwi_xml_fail(xml, robot, LW_ERR_PARSE, error,
                            "the file starts with <%.80s>, expected <robot>", robot->name);
    return lwi_survey_run(&survey, xml, robot, " name version ", notes, error);
}
