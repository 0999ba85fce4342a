// hinges.inl -- hinges that close loops, from the motion of their bodies: angles, speeds and their rates; a joint per lane.
//
// As lwi_joint_read_hinge and lwi_joint_hinge_acceleration, one operation after the other and none fused; angles are
// those of angle.inl.
//
// Input: poses and angular motion of the bodies.  Cost: constant per joint.

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

// The angle of F2 against F1 about their axes z, next to the one there.
static INLINE void find_angle(const real *R1, const real *F1, const real *R2, const real *F2,
                              double *angle)
{
    const real turn = NAME(splat)(6.283185307179586476925286766559);
    const real shift = NAME(splat)(6755399441055744.0); // 1.5 2^52: leaves an integer
    real x1[3], y1[3], x2[3], y2[3], next;
    turn_axis(R1, F1, 0, x1);
    turn_axis(R1, F1, 1, y1);
    turn_axis(R2, F2, 0, x2);
    turn_axis(R2, F2, 1, y2);
    const real a =
        NAME(angle)(plain_dot(y1, x2) - plain_dot(x1, y2), plain_dot(x1, x2) + plain_dot(y1, y2));
    memcpy(&next, angle, sizeof next);
    next = a + turn * (((next - a) / turn + shift) - shift);
    memcpy(angle, &next, sizeof next);
}

// Angular motion of body b in world axes; R: NULL where it is so in `of`.
static INLINE void load_turning(const double (*of)[3], const int *b, const real *R, real x[3])
{
    load(of[0], b, 3, x);
    if (R) plain_turn(x, R, x);
}

static void hinges(const lw_model *model, const int *joint, const double (*R)[9],
                   const double (*w)[3], const double (*al)[3], bool own, double *angle,
                   double *speed, double *rate)
{
    int b[2][WIDTH];
    real R1[9], R2[9], F[9], F1[9], z[3], turn[3], w2[3], first[3], second[3], sum[3];
    find_bodies(model, joint, b);
    load_axes(model, joint, R, b[1], true, R2, F);
    turn_axis(R2, F, 2, z);
    if (angle || own) load_axes(model, joint, R, b[0], false, R1, F1);
    if (angle) find_angle(R1, F1, R2, F, angle);
    load_turning(w, b[0], own ? R1 : NULL, first);
    load_turning(w, b[1], own ? R2 : NULL, w2);
    for (int i = 0; i < 3; i++) turn[i] = w2[i] - first[i];
    const real u = plain_dot(z, turn);
    memcpy(speed, &u, sizeof u);
    if (!rate) return;
    plain_cross(sum, turn, w2);
    load_turning(al, b[0], own ? R1 : NULL, first);
    load_turning(al, b[1], own ? R2 : NULL, second);
    for (int i = 0; i < 3; i++) sum[i] = sum[i] + second[i] - first[i];
    const real found = plain_dot(z, sum);
    memcpy(rate, &found, sizeof found);
}
