// view.c -- reactions on either body, along other axes, about other points.
#include "io/result/view.h"

#include <string.h>

#include "spatial/motion.h"
#include "spatial/rotation.h"

// A frame of a body: axes R in world axes, origin p; r from the mass centre and axes A in those of the body.
static void place(const lw_observation *o, int body, const double *A, const double r[3],
                  double R[9], double p[3])
{
    double B[9];
    quat_matrix(B, o->quaternion[body]);
    m3_mul_v(p, B, r);
    v3_add(p, p, o->position[body]);
    if (A)
        m3_mul(R, B, A);
    else
        memcpy(R, B, sizeof B);
}

static void place_marker(const lw_model *m, const lw_observation *o, int marker, double R[9],
                         double p[3])
{
    const lw_marker_desc *d = &m->desc.marker[marker];
    const lw_quat q = d->pose.orientation;
    const double axes[4] = {q.w, q.x, q.y, q.z};
    double r[3] = {d->pose.position.x, d->pose.position.y, d->pose.position.z}, A[9];
    v3_sub(r, r, m->body[d->body.index].com);
    quat_matrix(A, axes);
    place(o, d->body.index, A, r, R, p);
}

void lwi_result_view_compute(const lw_model *m, const lw_observation *o,
                             const lwi_result_view *view, double out[6])
{
    const lwi_joint *joint = &m->joint[view->joint];
    const lw_joint_desc *desc = &m->desc.joint[view->joint];
    double R[9], ignored[9], p[3], P2[3], arm[3], W[6];
    double sign = 1;
    place(o, joint->body2, joint->R2, joint->r2, R, P2);
    v3_copy(p, P2);
    switch (view->kind) {
    case LWI_VIEW_F1:
        place(o, joint->body1, joint->R1, joint->r1, R, arm);
        break;
    case LWI_VIEW_F2:
        break;
    case LWI_VIEW_BODY1:
        sign = -1;
        place(o, joint->body1, NULL, joint->r1, ignored, p);
        quat_matrix(R, o->quaternion[desc->body1.index]);
        break;
    case LWI_VIEW_BODY2:
        quat_matrix(R, o->quaternion[desc->body2.index]);
        break;
    case LWI_VIEW_MARKER:
        if (m->desc.marker[view->marker].body.index == desc->body1.index) sign = -1;
        place_marker(m, o, view->marker, R, p);
    }
    v6_copy(W, o->reaction[view->joint]);
    v3_sub(arm, P2, p);
    v3_cross_add(W + 3, arm, W);
    v3_scale(W, sign, W);
    v3_scale(W + 3, sign, W + 3);
    m3_tmul_v(out, R, W);
    m3_tmul_v(out + 3, R, W + 3);
}

bool lwi_result_view_find(const lw_model *m, const char *text, lwi_result_view *view)
{
    static const char *const places[] = {[LWI_VIEW_F1] = "F1",
                                         [LWI_VIEW_F2] = "F2",
                                         [LWI_VIEW_BODY1] = "body1",
                                         [LWI_VIEW_BODY2] = "body2"};
    for (int i = 0; i < LWI_COUNT(places); i++)
        if (!strcmp(text, places[i])) {
            *view = (lwi_result_view){.kind = (lwi_view_kind)i, .name = places[i]};
            return true;
        }
    for (int i = 0; i < m->desc.nmarker; i++)
        if (!strcmp(text, m->desc.marker[i].name)) {
            *view = (lwi_result_view){
                .kind = LWI_VIEW_MARKER, .marker = i, .name = m->desc.marker[i].name};
            return true;
        }
    return false;
}
