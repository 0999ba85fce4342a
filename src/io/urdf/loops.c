// loops.c -- loop-closing joints of a URDF model, which its tree of <joint>s cannot express, as elements of the robot:
//
//   <loop_joint name type> in two variants,
//       <link1 link xyz rpy/> <link2 link xyz rpy/> <axis xyz/>
//           the joint frame in both links; the axis is in that frame
//       <parent link/> <child link/> <parent_origin xyz/> <child_origin xyz/> <axis xyz/>
//           the joint point in both links; axis and frame are those of the parent link, the frame has
//           the same attitude in both at the initial configuration
//
// Every loop becomes a joint.  If the frames do not coincide initially the model reports it.  Loops in a file next to
// the robot are in companion.c.
#include "io/urdf/urdf.h"

#include "io/frames.h"
#include "spatial/rotation.h"

#include <string.h>

const lwi_joint_type *lwi_urdf_loop_type(const char *name)
{
    const char *known;
    return lwi_joint_named(LWI_NAMES_URDF_LOOP, name, &known);
}
const char lwi_urdf_loop_types[] =
    "revolute, continuous, prismatic, cylindrical, planar, spherical, fixed or floating";

// --------------------------------------------------------------------------------------
// <loop_joint>

// First variant: joint frames in both links.
static lw_status read_frames(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                             const lwi_joint_type *type, int end[2], lw_pose frame[2])
{
    const lwi_xml_element *link[2] = {lwi_xml_child(e, "link1"), lwi_xml_child(e, "link2")};
    if (!link[1] && link[0]) link[1] = lwi_xml_next(link[0], "link1");
    if (!link[0] || !link[1])
        return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                            "loop joint '%.200s': expected <link1> and <link2>, or <parent> and "
                            "<child>",
                            name);
    double A[9];
    m3_identity(A);
    if (lwi_joint_has_axis(type)) TRY(lwi_urdf_axis(u, e, name, A));
    for (int i = 0; i < 2; i++) {
        double R[9], r[3], F[9];
        TRY(lwi_urdf_end(u, link[i], name, &end[i]));
        TRY(lwi_urdf_pose(u, link[i], R, r));
        m3_mul(F, R, A);
        frame[i] = lwi_frame_pose(F, r);
    }
    return LW_OK;
}

// Second variant: a point in both links.  The attitude of the frame in one link determines the other.
static lw_status read_points(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                             const lwi_joint_type *type, int end[2], lw_pose frame[2])
{
    static const char *const ends[2] = {"parent", "child"};
    static const char *const origins[2] = {"parent_origin", "child_origin"};
    double A[9], R[2][9], r[2][3], F[9];
    m3_identity(A);
    if (lwi_joint_has_axis(type)) TRY(lwi_urdf_axis(u, e, name, A));
    for (int i = 0; i < 2; i++) {
        const lwi_xml_element *link = lwi_xml_child(e, ends[i]);
        if (!link)
            return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                                "loop joint '%.200s' has no <%s>", name, ends[i]);
        TRY(lwi_urdf_end(u, link, name, &end[i]));
        TRY(lwi_urdf_pose(u, lwi_xml_child(e, origins[i]), R[i], r[i]));
    }
    m3_mul(F, R[0], A);
    frame[0] = lwi_frame_pose(F, r[0]);
    const lwi_xml_element *origin = lwi_xml_child(e, "child_origin");
    if (!origin || !lwi_xml_get(origin, "rpy")) { // the same attitude at the initial configuration
        double between[9];
        m3_tmul(between, u->links[end[1]].R, u->links[end[0]].R);
        m3_mul(R[1], between, R[0]);
    }
    m3_mul(F, R[1], A);
    frame[1] = lwi_frame_pose(F, r[1]);
    return LW_OK;
}

static lw_status read_type(const lwi_urdf *u, const lwi_xml_element *e, const char *name,
                           const lwi_joint_type **type)
{
    const char *text;
    TRY(lwi_xml_need(u->xml, e, "type", &text, u->error));
    *type = lwi_urdf_loop_type(text);
    if (*type) return LW_OK;
    return lwi_xml_fail(u->xml, e, LW_ERR_PARSE, u->error,
                        "loop joint '%.100s': unknown type '%.60s', expected %s", name, text,
                        lwi_urdf_loop_types);
}

static lw_status check_axis_frame(const lwi_urdf *u, const lwi_xml_element *e, const char *name)
{
    const lwi_xml_element *axis = lwi_xml_child(e, "axis");
    const char *frame = axis ? lwi_xml_get(axis, "frame") : NULL;
    if (!frame || strcmp(frame, "parent") == 0) return LW_OK;
    return lwi_xml_fail(u->xml, axis, LW_ERR_UNSUPPORTED, u->error,
                        "loop joint '%.150s': axis in frame '%.60s', expected parent", name, frame);
}

static lw_status add_element(const lwi_urdf *u, const lwi_xml_element *e)
{
    const char *name;
    const lwi_joint_type *type;
    int end[2];
    lw_pose frame[2];
    TRY(lwi_xml_need(u->xml, e, "name", &name, u->error));
    TRY(read_type(u, e, name, &type));
    TRY(check_axis_frame(u, e, name));
    TRY(lwi_xml_child(e, "parent") ? read_points(u, e, name, type, end, frame)
                                   : read_frames(u, e, name, type, end, frame));
    static const char *const unused[] = {"dynamics", "limit"};
    for (int i = 0; i < LWI_COUNT(unused); i++)
        if (lwi_xml_child(e, unused[i]))
            lwi_notes_add(u->notes, lwi_xml_child(e, unused[i]), name,
                          "<%s> of loop joints is not used, joints", unused[i]);
    const lw_joint_desc d = {.name = name,
                             .type = type->id,
                             .placement = LW_PLACED_FRAMES,
                             .body1 = u->links[end[0]].body,
                             .body2 = u->links[end[1]].body,
                             .frame1 = frame[0],
                             .frame2 = frame[1],
                             .cut = LW_CUT_PREFER,
                             .place = {e->line, e->column}};
    return lw_builder_add_joint(u->builder, &d, NULL, u->error);
}

lw_status lwi_urdf_add_loops(lwi_urdf *u)
{
    const lwi_xml_element *e = lwi_xml_child(u->xml->root, "loop_joint");
    for (; e; e = lwi_xml_next(e, "loop_joint")) TRY(add_element(u, e));
    return lwi_urdf_add_beside(u);
}
