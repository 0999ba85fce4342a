// phi.inl -- positions of joints at the end of a step, with the remainders of the poses; a joint in each lane.
//
// Rows are components, along an axis a1 of F1, of d = P2 - P1 or of an axis a2 of F2 (kinematics/residuals.c has them).
// Poses leave out a displacement o and a rotation e of each body, `off`, which change them by
//     a1.(o2 + e2 x arm2 - o1 - e1 x (arm1 + d))   and   (e2 - e1).(a2 x a1)
//
// Input: poses of the bodies.  Output: phi.  Cost: constant per joint.

/** F1 and F2 in their bodies: as lwi_joint has them, one after the other. */
typedef struct frames {
    real R1[9], r1[3], R2[9], r2[3];
} frames;

_Static_assert(offsetof(lwi_joint, r2) + 3 * sizeof(double) - offsetof(lwi_joint, R1) ==
                   24 * sizeof(double),
               "the frames of a joint are consecutive");

typedef struct pose {
    real R[9], r[3], o[3], e[3];
} pose;

_Static_assert(sizeof(pose) == LWI_RATTLE_POSE * sizeof(real) &&
                   offsetof(lwi_rattle_body, off) + 6 * sizeof(double) -
                           offsetof(lwi_rattle_body, R1) ==
                       LWI_RATTLE_POSE * sizeof(double),
               "R1, local and off of a body are consecutive");

static INLINE void axis_of(const pose *b, const real *R, int i, real a[3])
{
    const real own[3] = {R[i], R[3 + i], R[6 + i]};
    times(a, b->R, own);
}

// d, and what remainders change it by.
static INLINE void distance(const pose *b1, const pose *b2, const frames *f, real d[3],
                            real change[3])
{
    real arm1[3], arm2[3], c1[3], c2[3];
    times(arm1, b1->R, f->r1);
    times(arm2, b2->R, f->r2);
    for (int i = 0; i < 3; i++) {
        d[i] = (b2->r[i] + arm2[i]) - (b1->r[i] + arm1[i]);
        arm1[i] += d[i];
    }
    cross(c1, b1->e, arm1);
    cross(c2, b2->e, arm2);
    for (int i = 0; i < 3; i++) change[i] = (b2->o[i] - b1->o[i]) + (c2[i] - c1[i]);
}

static INLINE void rows_of(const lwi_joint_type *type, const frames *f, const pose *b1,
                           const pose *b2, real *phi)
{
    real d[3], change[3], a1[3], a2[3], normal[3], rotated[3];
    distance(b1, b2, f, d, change);
    for (int i = 0; i < 3; i++) rotated[i] = b2->e[i] - b1->e[i];
    for (int k = 0; k < type->nc; k++) {
        const lwi_row_form *row = &type->row[k];
        axis_of(b1, f->R1, row->i, a1);
        if (row->kind != LWI_ROW_AXES) {
            phi[k] = dot(a1, d) + dot(a1, change);
            continue;
        }
        axis_of(b2, f->R2, row->j, a2);
        cross(normal, a2, a1);
        phi[k] = dot(a1, a2) + dot(rotated, normal);
    }
}

static void phi(const lwi_rattle_joint *joint)
{
    const double *from[3][WIDTH];
    double *to[WIDTH];
    frames f;
    pose b1, b2;
    real rows[6];
    const lwi_joint_type *type = joint->joint->type;
    for (int l = 0; l < WIDTH; l++) {
        from[0][l] = joint[l].joint->R1;
        from[1][l] = joint[l].body[0]->R1;
        from[2][l] = joint[l].body[1]->R1;
        to[l] = joint[l].phi;
    }
    from_rows(from[0], 24, f.R1);
    from_rows(from[1], LWI_RATTLE_POSE, b1.R);
    from_rows(from[2], LWI_RATTLE_POSE, b2.R);
    rows_of(type, &f, &b1, &b2, rows);
    to_rows(rows, type->nc, to);
}
