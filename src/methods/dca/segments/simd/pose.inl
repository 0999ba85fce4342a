// pose.inl -- what is at the places of a segment, and its bodies in axes of the head (blocks.h).  Included once per width.
//
// In: WIDTH with lane.inl, sincos.inl, vectors.inl.  Lanes l .. l + WIDTH - 1 of a block.

// Kinds of the places of a segment.  `all` is a constant wherever all joints of a group are of one kind, so that
// nothing is decided at places.
typedef struct NAME(kinds) {
    const signed char *kind; // [n]
    int all;                 // as in lwi_path_rows
} NAME(kinds);

static INLINE int NAME(kind)(NAME(kinds) k, int j)
{
    return k.all == LWI_PATH_MIXED ? k.kind[j] : k.all;
}
// The first place of the joint that has place j as its last one.
static INLINE int NAME(first_place)(NAME(kinds) k, int j)
{
    const bool ball =
        k.all == LWI_PATH_MIXED ? k.kind[j] == LWI_PATH_OF_BALL : k.all != LWI_PATH_HINGE;
    return ball ? j - 2 : j;
}
// The first component at the tips that is unknown.
static INLINE int NAME(unknown)(NAME(kinds) k)
{
    return lwi_path_only_balls(k.all) ? LWI_PATH_FORCES : 0;
}

// ------------------------------------------------------------------------------------------- poses

// J of a body, about its joint's point, from own axes to axes of the head: [x y z] J [x y z]'.
static INLINE void NAME(rotate_inertia)(const lwi_lanes *own, const real *x, const real *y,
                                        const real *z, lwi_lanes *to, int l)
{
    const real xx = AT(own[0]), yy = AT(own[1]), zz = AT(own[2]);
    const real xy = AT(own[3]), xz = AT(own[4]), yz = AT(own[5]);
    real a[3], b[3], c[3];
    for (int i = 0; i < 3; i++) {
        a[i] = SUM3(x[i], xx, y[i], xy, z[i], xz);
        b[i] = SUM3(x[i], xy, y[i], yy, z[i], yz);
        c[i] = SUM3(x[i], xz, y[i], yz, z[i], zz);
    }
    AT(to[0]) = SUM3(a[0], x[0], b[0], y[0], c[0], z[0]);
    AT(to[1]) = SUM3(a[1], x[1], b[1], y[1], c[1], z[1]);
    AT(to[2]) = SUM3(a[2], x[2], b[2], y[2], c[2], z[2]);
    AT(to[3]) = SUM3(a[0], x[1], b[0], y[1], c[0], z[1]);
    AT(to[4]) = SUM3(a[0], x[2], b[0], y[2], c[0], z[2]);
    AT(to[5]) = SUM3(a[1], x[2], b[1], y[2], c[1], z[2]);
}

// The axes (x, y, z) rotated about z by (c, s): x and y change.
static INLINE void NAME(rotate_axes)(real *x, real *y, real c, real s)
{
    for (int i = 0; i < 3; i++) {
        const real rotated = SUM2(c, x[i], s, y[i]);
        y[i] = DIFF(c, y[i], s, x[i]);
        x[i] = rotated;
    }
}

// The axes rotated by a quaternion of any length.
static INLINE void NAME(rotate_by_quaternion)(real *x, real *y, real *z, const real *q)
{
    const real s = 2 / SUM2(SUM2(q[0], q[0], q[1], q[1]), ONE, SUM2(q[2], q[2], q[3], q[3]), ONE);
    const real X = s * q[1], Y = s * q[2], Z = s * q[3];
    const real wx = q[0] * X, wy = q[0] * Y, wz = q[0] * Z, yz = q[2] * Z;
    const real xx = q[1] * X, xy = q[1] * Y, xz = q[1] * Z, yy = q[2] * Y, zz = q[3] * Z;
    const real own[9] = {1 - (yy + zz), xy + wz, xz - wy, xy - wz,      1 - (xx + zz),
                         yz + wx,       xz + wy, yz - wx, 1 - (xx + yy)}; // columns
    for (int i = 0; i < 3; i++) {
        const real a = x[i], b = y[i], c = z[i];
        x[i] = SUM3(a, own[0], b, own[1], c, own[2]);
        y[i] = SUM3(a, own[3], b, own[4], c, own[5]);
        z[i] = SUM3(a, own[6], b, own[7], c, own[8]);
    }
}

// The axes of a segment from its head outward, and sums over its bodies.
typedef struct NAME(prefix) {
    real x[3], y[3], z[3], r[3], h[3], m;
} NAME(prefix);

// Next joint's point, m c and inertia of a body with the axes x, y, z; its part of the sums.
static INLINE void NAME(pose_body)(NAME(prefix) * P, const lwi_path_body *own, lwi_path_link *to,
                                   int l)
{
    const real mass = AT(own->m);
    for (int i = 0; i < 3; i++) {
        const real x = P->x[i], y = P->y[i], z = P->z[i];
        const real o = SUM3(x, AT(own->o[0]), y, AT(own->o[1]), z, AT(own->o[2]));
        const real hi = SUM3(x, AT(own->h[0]), y, AT(own->h[1]), z, AT(own->h[2]));
        AT(to->o[i]) = o;
        AT(to->h[i]) = hi;
        P->h[i] += MAD(mass, P->r[i], hi);
        P->r[i] += o;
    }
    P->m += mass;
    NAME(rotate_inertia)(own->J, P->x, P->y, P->z, to->J, l);
}

static INLINE void NAME(pose_ball)(NAME(prefix) * P, const lwi_path_body *own, lwi_path_link *to,
                                   const double *const *q, int iq, int l)
{
    real quaternion[4];
    for (int i = 0; i < 4; i++) quaternion[i] = NAME(read)(q, iq + i, l);
    NAME(rotate_axes)(P->x, P->y, AT(own[2].ca), AT(own[2].sa));
    NAME(rotate_by_quaternion)(P->x, P->y, P->z, quaternion);
    NAME(store)(to[0].a, P->x, 3, l);
    NAME(store)(to[1].a, P->y, 3, l);
    NAME(store)(to[2].a, P->z, 3, l);
    NAME(pose_body)(P, own, to, l);
    NAME(rotate_axes)(P->x, P->y, AT(own[1].ca), AT(own[1].sa));
}

// A screw moves its point, and so the end of the body `before` it, along its axis.  (One that begins a path is its own
// `before`: the pose of the whole has no effect.)
static INLINE void NAME(displace)(NAME(prefix) * P, real d, lwi_path_link *before, int l)
{
    for (int i = 0; i < 3; i++) {
        AT(before->o[i]) = MAD(d, P->z[i], AT(before->o[i]));
        MORE(P->r[i], d, P->z[i]);
    }
}

// Axes, points, m c and inertias of all bodies in axes of the head; of the segment R, r, h, m.
// Returns the lanes with angles that are not too large.
static INLINE mask NAME(pose)(const lwi_path_body *body, lwi_path_link *link, lwi_path_end *end,
                              NAME(kinds) kinds, const double *const *q, int n, int l)
{
    NAME(prefix)
    P = {{ONE, ZERO, ZERO},  {ZERO, ONE, ZERO},  {ZERO, ZERO, ONE},
         {ZERO, ZERO, ZERO}, {ZERO, ZERO, ZERO}, ZERO};
    mask valid = ~NAME(bits)(ZERO);
    lwi_path_link *before = link;
    for (int j = 0, iq = 0; j < n; j++) {
        const int kind = NAME(kind)(kinds, j);
        const lwi_path_body *own = &body[j];
        lwi_path_link *to = &link[j];
        if (kind >= LWI_PATH_BALL) {
            NAME(pose_ball)(&P, own, to, q, iq, l);
            iq += 4, j += 2;
        } else {
            const real value = NAME(read)(q, iq++, l);
            real s, c, angle = AT(own->angle) + value;
            if (kind == LWI_PATH_SCREW) {
                angle = MAD(AT(own->turn), value, AT(own->angle));
                NAME(displace)(&P, AT(own->slide) * value, before, l);
            }
            valid &= NAME(at_most)(NAME(absolute)(angle), NAME(splat)(LWI_K_LARGEST_ANGLE));
            NAME(sincos)(angle, &s, &c);
            NAME(rotate_axes)(P.x, P.y, c, s);
            NAME(store)(to->a, P.z, 3, l);
            NAME(pose_body)(&P, own, to, l);
        }
        NAME(rotate_axes)(P.y, P.z, AT(own->ca), AT(own->sa)); // about x, to the next joint's axis
        before = to;
    }
    NAME(store)(end->R, P.x, 3, l);
    NAME(store)(end->R + 3, P.y, 3, l);
    NAME(store)(end->R + 6, P.z, 3, l);
    NAME(store)(end->r, P.r, 3, l);
    NAME(store)(end->h, P.h, 3, l);
    AT(end->m) = P.m;
    return valid;
}
