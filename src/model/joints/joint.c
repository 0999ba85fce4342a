// joint.c -- the table of joint types and the defaults they share.
#include "model/joints/shared.h"

const lwi_joint_type *lwi_joint_type_of(lw_joint_type id)
{
    static const lwi_joint_type *const types[LW_JOINT_COUNT] = {
#define X(NAME, name) [LW_JOINT_##NAME] = &lwi_joint_##name,
        LWI_JOINT_TYPE_LIST(X)
#undef X
    };
    return (int)id >= 0 && (int)id < LW_JOINT_COUNT ? types[id] : NULL;
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
