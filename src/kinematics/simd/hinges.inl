// hinges.inl -- hinges that close loops, from the motion of their bodies: angles, speeds and their rates; a joint per lane.
//
// As lwi_joint_read_hinge and lwi_joint_hinge_acceleration, one operation after the other and none fused; angles are
// those of angle.inl.
//
// Input: poses and angular motion of the bodies in world axes.  Cost: constant per joint.

// Bodies 1 and 2 of joints.
static INLINE void find_bodies(const lw_model *model, const int *joint, int b[2][WIDTH])
{
    for (int l = 0; l < WIDTH; l++) {
        b[0][l] = model->joint[joint[l]].body1;
        b[1][l] = model->joint[joint[l]].body2;
    }
}

// v3_dot
static INLINE real plain_dot(const real *a, const real *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// a2 - a1 of bodies 1 and 2
static INLINE void difference(const double (*a)[3], int b[2][WIDTH], real d[3], real second[3])
{
    real first[3];
    load(a[0], b[0], 3, first);
    load(a[0], b[1], 3, second);
    for (int i = 0; i < 3; i++) d[i] = second[i] - first[i];
}

// R of bodies b and F1 or F2 of the lanes' joints.
static INLINE void load_axes(const lw_model *model, const int *joint, const double (*R)[9],
                             const int *b, bool second, real attitude[9], real F[9])
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        const lwi_joint *of = &model->joint[joint[l]];
        from[l] = second ? of->R2 : of->R1;
    }
    load(R[0], b, 9, attitude);
    from_rows(from, 9, F);
}

static INLINE void turn_axis(const real *attitude, const real *F, int i, real axis[3])
{
    const real own[3] = {F[i], F[3 + i], F[6 + i]};
    plain_turn(axis, attitude, own);
}

// The angle of F2 against F1 about their axes z, next to the one there; R, F of body 2.
static INLINE void find_angle(const lw_model *model, const int *joint, const double (*R)[9],
                              int b[2][WIDTH], const real *R2, const real *F2, double *angle)
{
    const real turn = NAME(splat)(6.283185307179586476925286766559);
    const real shift = NAME(splat)(6755399441055744.0); // 1.5 2^52: leaves an integer
    real attitude[9], F[9], x1[3], y1[3], x2[3], y2[3], next;
    load_axes(model, joint, R, b[0], false, attitude, F);
    turn_axis(attitude, F, 0, x1);
    turn_axis(attitude, F, 1, y1);
    turn_axis(R2, F2, 0, x2);
    turn_axis(R2, F2, 1, y2);
    const real a =
        NAME(angle)(plain_dot(y1, x2) - plain_dot(x1, y2), plain_dot(x1, x2) + plain_dot(y1, y2));
    memcpy(&next, angle, sizeof next);
    next = a + turn * (((next - a) / turn + shift) - shift);
    memcpy(angle, &next, sizeof next);
}

static void hinges(const lw_model *model, const int *joint, const double (*R)[9],
                   const double (*w)[3], const double (*al)[3], double *angle, double *speed,
                   double *rate)
{
    int b[2][WIDTH];
    real attitude[9], F[9], z[3], turn[3], w2[3], first[3], second[3], sum[3];
    find_bodies(model, joint, b);
    load_axes(model, joint, R, b[1], true, attitude, F);
    turn_axis(attitude, F, 2, z);
    if (angle) find_angle(model, joint, R, b, attitude, F, angle);
    difference(w, b, turn, w2);
    const real u = plain_dot(z, turn);
    memcpy(speed, &u, sizeof u);
    if (!rate) return;
    plain_cross(sum, turn, w2);
    load(al[0], b[0], 3, first);
    load(al[0], b[1], 3, second);
    for (int i = 0; i < 3; i++) sum[i] = sum[i] + second[i] - first[i];
    const real found = plain_dot(z, sum);
    memcpy(rate, &found, sizeof found);
}
