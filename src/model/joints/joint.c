// joint.c -- the table of joint types and the defaults they share.
#include "model/joints/shared.h"

#include "base/assert.h"

#include <string.h>

const lwi_joint_type *lwi_joint_type_of(lw_joint_type id)
{
    static const lwi_joint_type *const types[LW_JOINT_COUNT] = {
#define X(NAME, text, nq, nv, nc, help) [LW_JOINT_##NAME] = &lwi_joint_type_##NAME,
        LW_JOINT_LIST(X)
#undef X
    };
    return (int)id >= 0 && (int)id < LW_JOINT_COUNT ? types[id] : NULL;
}

const lwi_joint_type *lwi_joint_named(lwi_joint_format format, const char *text, const char **name)
{
    LWI_ASSERT_INDEX((int)format, LWI_NAMES_FORMATS);
    for (int id = 0; id < LW_JOINT_COUNT; id++) {
        const lwi_joint_type *type = lwi_joint_type_of((lw_joint_type)id);
        for (int k = 0; k < LWI_MAX_NAMES && type->names[format][k]; k++)
            if (strcmp(type->names[format][k], text) == 0) {
                *name = type->names[format][k];
                return type;
            }
    }
    return NULL;
}

int lwi_joint_known_names(lwi_joint_format format, const char **names)
{
    LWI_ASSERT_INDEX((int)format, LWI_NAMES_FORMATS);
    int n = 0;
    for (int id = 0; id < LW_JOINT_COUNT; id++) {
        const lwi_joint_type *type = lwi_joint_type_of((lw_joint_type)id);
        for (int k = 0; k < LWI_MAX_NAMES && type->names[format][k]; k++)
            names[n++] = type->names[format][k];
    }
    return n;
}

bool lwi_joint_has_simple_rows(const lwi_joint_type *type)
{
    for (int k = 0; k < type->nc; k++) {
        const lwi_row_kind kind = type->row[k].kind;
        if (kind != LWI_ROW_POINT && kind != LWI_ROW_ALONG && kind != LWI_ROW_AXES) return false;
    }
    return true;
}

void lwi_joint_rows(const lwi_joint_type *type, const lwi_joint_par *par, const lwi_rows_in *in,
                    lwi_rows *out)
{
    LWI_ASSERT(type->nc >= 0 && type->nc <= 6);
    if (type->rows) {
        type->rows(par, in, out);
        return;
    }
    for (int k = 0; k < type->nc; k++) {
        const lwi_row_form *form = &type->row[k];
        if (form->kind == LWI_ROW_AXES)
            lwi_row_axes(in, out, k, form->i, form->j);
        else if (form->kind != LWI_ROW_ATTITUDE)
            lwi_row_along(in, out, k, form->i);
        else if (form->i == LWI_X) // three rows at once, in order
            lwi_row_attitude(in, out, k);
    }
}

static void coordinate_row(const lwi_coordinate_form *form, const lwi_rows_in *in, double near,
                           lwi_rows *out, int k)
{
    LWI_ASSERT(form->kind != 0);
    switch (form->kind) {
    case LWI_COORDINATE_LENGTH:
        lwi_row_along(in, out, k, form->i);
        break;
    case LWI_COORDINATE_TURN:
        lwi_row_angle(in, near, out, k);
        break;
    case LWI_COORDINATE_ARC:
        lwi_row_arc(in, (const int[2]){form->i, form->j}, (const int[2]){form->k, form->l}, near,
                    out, k);
        break;
    }
}

bool lwi_joint_coordinate_rows(const lwi_joint_type *type, const lwi_rows_in *in, lwi_rows *out)
{
    LWI_ASSERT(type->nv <= LW_JOINT_MAX_NV);
    if (!type->scalar || !type->coordinate[0].kind) return false;
    for (int k = 0; k < type->nv; k++) coordinate_row(&type->coordinate[k], in, in->q[k], out, k);
    return true;
}

#define ZERO(n)                                                                                    \
    void lwi_joint_zero_##n(const lwi_joint_par *par, double *q)                                   \
    {                                                                                              \
        (void)par;                                                                                 \
        for (int k = 0; k < n; k++) q[k] = 0;                                                      \
    }
ZERO(1)
ZERO(2)
ZERO(3)

#define SAME(n)                                                                                    \
    void lwi_joint_same_##n(const lwi_joint_par *par, const double *q, const double *u,            \
                            double *qdot)                                                          \
    {                                                                                              \
        (void)par, (void)q;                                                                        \
        for (int k = 0; k < n; k++) qdot[k] = u[k];                                                \
    }
SAME(1)
SAME(2)
SAME(3)

#define STILL(n)                                                                                   \
    void lwi_joint_still_##n(const lwi_joint_par *par, const double *q, const double *u,           \
                             double Sd[][6])                                                       \
    {                                                                                              \
        (void)par, (void)q, (void)u;                                                               \
        for (int k = 0; k < n; k++) v6_zero(Sd[k]);                                                \
    }
STILL(1)
STILL(2)
STILL(3)
STILL(6)

void lwi_joint_zero_0(const lwi_joint_par *par, double *q)
{
    (void)par, (void)q;
}

void lwi_joint_same_0(const lwi_joint_par *par, const double *q, const double *u, double *qdot)
{
    (void)par, (void)q, (void)u, (void)qdot;
}

void lwi_joint_still_0(const lwi_joint_par *par, const double *q, const double *u, double Sd[][6])
{
    (void)par, (void)q, (void)u, (void)Sd;
}

void lwi_joint_none(const lwi_joint_par *par, const double *q, double S[][6])
{
    (void)par, (void)q, (void)S;
}

void lwi_joint_read_none(const lwi_joint_par *par, const double R[9], const double r[3],
                         const double *near, double *q)
{
    (void)par, (void)R, (void)r, (void)near, (void)q;
}
