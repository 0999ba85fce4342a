// residuals.inl -- constraint residuals: rows along axes of F1, a joint per lane (kinematics/residuals.c has the
// equations).  Sums of products are fused.
//
// Input: the snapshot, joints of one type.  Output: their largest residuals.  Cost: constant per joint.

#define LWI_UNROLL _Pragma("GCC unroll 8")

/** F1 or F2 in its body: as lwi_joint has them, one after the other. */
typedef struct frame {
    real R[9], r[3];
} frame;

_Static_assert(offsetof(lwi_joint, r1) - offsetof(lwi_joint, R1) == 9 * sizeof(double) &&
                   offsetof(lwi_joint, r2) - offsetof(lwi_joint, R2) == 9 * sizeof(double),
               "frames of a joint are consecutive");

/** Motion of a body, world axes. */
typedef struct body {
    real R[9], r[3], v[3], w[3], a[3], al[3];
} body;

static INLINE real dot(const real *a, const real *b)
{
    return SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
}

// c = a x b
static INLINE void cross(real *c, const real *a, const real *b)
{
    const real x = DIFF(a[1], b[2], a[2], b[1]), y = DIFF(a[2], b[0], a[0], b[2]);
    c[2] = DIFF(a[0], b[1], a[1], b[0]);
    c[0] = x, c[1] = y;
}

// c += a x b
static INLINE void cross_add(real *c, const real *a, const real *b)
{
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        MORE(c[i], a[j], b[k]);
        LESS(c[i], a[k], b[j]);
    }
}

// c = R a
static INLINE void turn(real *c, const real *R, const real *a)
{
    const real x = dot(R, a), y = dot(R + 3, a), z = dot(R + 6, a);
    c[0] = x, c[1] = y, c[2] = z;
}

// n numbers of array `of` [nbody][n] for the bodies of the lanes
static INLINE void load(const double *of, const int *b, int n, real *to)
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++) from[l] = of + (size_t)n * (size_t)b[l];
    from_rows(from, n, to);
}

static INLINE void load_body(const lwi_snapshot *m, const int *b, bool accelerations, body *to)
{
    load(m->R[0], b, 9, to->R);
    load(m->r[0], b, 3, to->r);
    load(m->v[0], b, 3, to->v);
    load(m->w[0], b, 3, to->w);
    turn(to->w, to->R, to->w);
    if (!accelerations) return;
    load(m->a[0], b, 3, to->a);
    load(m->al[0], b, 3, to->al);
    turn(to->al, to->R, to->al);
}

// A point of a body, at `at` in its axes.
static INLINE void place_point(const body *b, const real *at, bool accelerations, real x[3][3])
{
    real arm[3], c[3];
    turn(arm, b->R, at);
    cross(c, b->w, arm);
    for (int i = 0; i < 3; i++) x[0][i] = b->r[i] + arm[i], x[1][i] = b->v[i] + c[i];
    if (!accelerations) return;
    for (int i = 0; i < 3; i++) x[2][i] = b->a[i];
    cross_add(x[2], b->al, arm);
    cross_add(x[2], b->w, c);
}

// Axis j of F2.
static INLINE void place_axis(const body *b, const real *R2, int j, bool accelerations,
                              real x[3][3])
{
    const real own[3] = {R2[j], R2[3 + j], R2[6 + j]};
    turn(x[0], b->R, own);
    cross(x[1], b->w, x[0]);
    if (!accelerations) return;
    cross(x[2], b->w, x[1]);
    cross_add(x[2], b->al, x[0]);
}

// x and its derivatives in world axes become those seen from F1, which body b carries.
static INLINE void see_from(const body *b, bool accelerations, real x[3][3])
{
    real c[3], twice[3];
    cross(c, b->w, x[0]);
    for (int i = 0; i < 3; i++) {
        twice[i] = x[1][i];
        x[1][i] -= c[i];
        twice[i] += x[1][i];
    }
    if (!accelerations) return;
    cross(c, b->w, twice);
    cross_add(c, b->al, x[0]);
    for (int i = 0; i < 3; i++) x[2][i] -= c[i];
}

// A residual that is no number is not larger.
static INLINE void take_larger(real *largest, real residual)
{
    const real size = NAME(absolute)(residual);
#if WIDTH == 8
    *largest = (real)_mm512_max_pd((__m512d)size, (__m512d)*largest);
#elif WIDTH == 4
    *largest = (real)_mm256_max_pd((__m256d)size, (__m256d)*largest);
#else
    *largest = size > *largest ? size : *largest;
#endif
}

// Those of a hinge: three of points, two of axis z of F2.
static const lwi_row_form hinge_rows[] = {{LWI_ROW_POINT, 0, 0},
                                          {LWI_ROW_POINT, 1, 0},
                                          {LWI_ROW_POINT, 2, 0},
                                          {LWI_ROW_AXES, 0, 2},
                                          {LWI_ROW_AXES, 1, 2}};
enum { HINGE_ROWS = sizeof hinge_rows / sizeof *hinge_rows };
// Those of a universal joint: z of F1 and x of F2 are at right angles.
static const lwi_row_form universal_rows[] = {
    {LWI_ROW_POINT, 0, 0}, {LWI_ROW_POINT, 1, 0}, {LWI_ROW_POINT, 2, 0}, {LWI_ROW_AXES, 2, 0}};
enum { UNIVERSAL_ROWS = sizeof universal_rows / sizeof *universal_rows };

// F1 or F2 of the lanes' joints.
static INLINE void load_frames(const lw_model *model, const int *joint, bool second, frame *f)
{
    const double *from[WIDTH];
    for (int l = 0; l < WIDTH; l++) {
        const lwi_joint *of = &model->joint[joint[l]];
        from[l] = second ? of->R2 : of->R1;
    }
    from_rows(from, 12, f->R);
}

// One body after the other: fewer numbers are in use at once.
static INLINE void residuals_of(const lwi_row_form *form, int n, const lw_model *model,
                                const lwi_snapshot *m, const int *joint, bool accelerations,
                                real largest[3])
{
    int number[WIDTH];
    real R1[9], d[3][3], d1[3][3], axis[3][3][3]; // axis [j] of F2
    bool point = false, needs[3] = {false, false, false};
    frame f;
    body b;
    LWI_UNROLL
    for (int k = 0; k < n; k++) {
        point |= form[k].kind != LWI_ROW_AXES;
        for (int j = 0; j < 3; j++) needs[j] |= form[k].kind == LWI_ROW_AXES && form[k].j == j;
    }
    for (int l = 0; l < WIDTH; l++) number[l] = model->joint[joint[l]].body2;
    load_frames(model, joint, true, &f);
    load_body(m, number, accelerations, &b);
    if (point) place_point(&b, f.r, accelerations, d);
    for (int j = 0; j < 3; j++)
        if (needs[j]) place_axis(&b, f.R, j, accelerations, axis[j]);

    for (int l = 0; l < WIDTH; l++) number[l] = model->joint[joint[l]].body1;
    load_frames(model, joint, false, &f);
    load_body(m, number, accelerations, &b);
    if (point) {
        place_point(&b, f.r, accelerations, d1);
        for (int i = 0; i < (accelerations ? 9 : 6); i++) d[i / 3][i % 3] -= d1[i / 3][i % 3];
        see_from(&b, accelerations, d);
    }
    for (int j = 0; j < 3; j++)
        if (needs[j]) see_from(&b, accelerations, axis[j]);
    for (int i = 0; i < 9; i++)
        R1[i] = SUM3(b.R[i - i % 3], f.R[i % 3], b.R[i - i % 3 + 1], f.R[3 + i % 3],
                     b.R[i - i % 3 + 2], f.R[6 + i % 3]);
    LWI_UNROLL
    for (int k = 0; k < n; k++) {
        const lwi_row_form *row = &form[k];
        const real(*x)[3] = (const real(*)[3])(row->kind == LWI_ROW_AXES ? axis[row->j] : d);
        const real a[3] = {R1[row->i], R1[3 + row->i], R1[6 + row->i]};
        for (int i = 0; i < (accelerations ? 3 : 2); i++) take_larger(&largest[i], dot(a, x[i]));
    }
}

static void residuals(const lw_model *model, const lwi_snapshot *m, const int *joint, int levels,
                      double largest[LWI_RESIDUAL_LEVELS])
{
    const lwi_joint_type *type = model->joint[joint[0]].type;
    real all[LWI_RESIDUAL_LEVELS] = {ZERO, ZERO, ZERO};
    if (levels > 2 && lwi_joint_is_hinge(type))
        residuals_of(hinge_rows, HINGE_ROWS, model, m, joint, true, all);
    else if (levels > 2 && type->id == LW_JOINT_UNIVERSAL)
        residuals_of(universal_rows, UNIVERSAL_ROWS, model, m, joint, true, all);
    else if (levels > 2)
        residuals_of(type->row, type->nc, model, m, joint, true, all);
    else
        residuals_of(type->row, type->nc, model, m, joint, false, all);
    for (int i = 0; i < levels; i++) {
        double lane[WIDTH];
        memcpy(lane, &all[i], sizeof lane);
        for (int l = 0; l < WIDTH; l++) largest[i] = lane[l] > largest[i] ? lane[l] : largest[i];
    }
}
