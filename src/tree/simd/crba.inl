// crba.inl -- mass matrix by composite bodies, columns in lanes.                  [featherstone2008]
//
// Problem: with the composite inertia I of the bodies outboard of joint k,
//
//     F_k = I S_k,   M_kk = S_k'F_k + rotor,   M_lk = S_l'X' ... X'F_k  for the joints l inboard of k
//
// Bodies are in depth-first order (columns.h), from the last to the first.  At a body all columns of its subtree are
// about its origin; its rows of M are entries of them, and they go to its parent's frame together.
// Input: pose.  Output: composite inertias, F (WIDTH 1); rows of M (the widest).  Cost: O(n depth / lanes).

#if WIDTH == 1
/** From the frame of a body to that of its parent: rotations by theta, alpha and phi, and a shift between the first two. */
typedef struct crba_passage {
    turn_w1 theta, alpha, phi;
    double r[3];
    bool realigned;
} crba_passage;

static INLINE crba_passage crba_passage_of(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                           const lwi_k_step *step)
{
    const int n = lwi_k_block(step->slot), l = lwi_k_lane(step->slot);
    const lwi_k_screw *k = &plan->screw[n];
    const lwi_k_pose *pose = &state->pose[n];
    crba_passage p = {.theta = theta_w1(pose, l), .alpha = alpha_w1(k, l)};
    p.realigned = step->realigned;
    p.r[0] = k->reach[0][l], p.r[1] = k->reach[1][l], p.r[2] = k->reach[2][l] + pose->d[l];
    if (p.realigned) {
        const double c = k->cphi[l], s = k->sphi[l], cs = c * s, ss = s * s;
        p.phi = (turn_w1){c, s, cs, ss, 1 - (ss + ss), cs + cs};
    }
    return p;
}

static INLINE void composite_turn_z(lwi_k_composite *I, turn_w1 t)
{
    TURN_VECTOR(t, I->h[0], I->h[1]);
    TURN_SYMMETRIC(t, I->J[0], I->J[3], I->J[1], I->J[0] - I->J[1]);
    TURN_VECTOR(t, I->J[4], I->J[5]);
}

// About a point that the origin is at r from.
static INLINE void composite_shift(lwi_k_composite *I, const double r[3])
{
    double *h = I->h, *J = I->J;
    const double g[3] = {MAD(I->m, r[0], h[0]), MAD(I->m, r[1], h[1]), MAD(I->m, r[2], h[2])};
    const double x = r[0] * (h[0] + g[0]), y = r[1] * (h[1] + g[1]), z = r[2] * (h[2] + g[2]);
    J[0] += y + z;
    J[1] += x + z;
    J[2] += x + y;
    J[3] -= SUM2(r[1], h[0], r[0], g[1]);
    J[4] -= SUM2(r[2], h[0], r[0], g[2]);
    J[5] -= SUM2(r[2], h[1], r[1], g[2]);
    for (int i = 0; i < 3; i++) h[i] = g[i];
}

static INLINE void composite_pass(const crba_passage *p, lwi_k_composite *I)
{
    composite_turn_z(I, p->theta);
    composite_shift(I, p->r);
    TURN_VECTOR(p->alpha, I->h[1], I->h[2]);
    TURN_SYMMETRIC(p->alpha, I->J[1], I->J[5], I->J[2], I->J[1] - I->J[2]);
    TURN_VECTOR(p->alpha, I->J[3], I->J[4]);
    if (p->realigned) composite_turn_z(I, p->phi);
}

static void composite_pass_ball(const lwi_k_ball_pose *pose, int l, lwi_k_composite *I)
{
    double R[3][3], T[3][3], h[3], r[3], *J = I->J;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) R[i][j] = pose->R[3 * i + j][l];
        r[i] = pose->r[i][l];
        h[i] = SUM3(R[i][0], I->h[0], R[i][1], I->h[1], R[i][2], I->h[2]);
        T[i][0] = SUM3(R[i][0], J[0], R[i][1], J[3], R[i][2], J[4]);
        T[i][1] = SUM3(R[i][0], J[3], R[i][1], J[1], R[i][2], J[5]);
        T[i][2] = SUM3(R[i][0], J[4], R[i][1], J[5], R[i][2], J[2]);
    }
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int e = 0; e < 6; e++) {
        const double *a = T[row[e]], *b = R[column[e]];
        J[e] = SUM3(a[0], b[0], a[1], b[1], a[2], b[2]);
    }
    for (int i = 0; i < 3; i++) I->h[i] = h[i];
    composite_shift(I, r);
}

// F = I S of the joint of a body.
static INLINE void composite_columns(const lwi_kernel_plan *plan, const lwi_k_step *step,
                                     const lwi_k_composite *I, const lwi_k_column_body *body,
                                     double *const F[6])
{
    const double m = I->m, *h = I->h, *J = I->J;
    const double linear[3][6] = {
        {m, 0, 0, 0, h[2], -h[1]}, {0, m, 0, -h[2], 0, h[0]}, {0, 0, m, h[1], -h[0], 0}};
    const double angular[3][6] = {{0, -h[2], h[1], J[0], J[3], J[4]},
                                  {h[2], 0, -h[0], J[3], J[1], J[5]},
                                  {-h[1], h[0], 0, J[4], J[5], J[2]}};
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    const int at = body->first, l = lwi_k_lane(step->slot);
    for (int i = 0; i < 6 && body->count; i++) {
        if (step->kind == LWI_K_HINGE)
            F[i][at] = angular[2][i];
        else if (step->kind == LWI_K_SCREW)
            F[i][at] = SUM2(k->slide[l], linear[2][i], k->turn[l], angular[2][i]);
        for (int j = 0; j < 3 && step->kind >= LWI_K_BALL; j++)
            F[i][at + body->count - 3 + j] = angular[j][i];
        for (int j = 0; j < 3 && step->kind == LWI_K_BASE; j++) F[i][at + j] = linear[j][i];
    }
}

static void VARIANT(composites)(const lwi_kernel_plan *plan, const lwi_k_state *state,
                                const lwi_k_columns *columns)
{
    for (int i = 0; i < columns->n; i++) {
        const lwi_k_step *step = &plan->step[columns->body[i].step];
        const int n = lwi_k_block(step->slot), l = lwi_k_lane(step->slot);
        const lwi_k_body *body = &plan->body[n];
        lwi_k_composite *I = &columns->composite[i];
        I->m = body->m[l];
        for (int j = 0; j < 3; j++) I->h[j] = body->h[j][l];
        for (int j = 0; j < 6; j++) I->J[j] = body->J[j][l];
    }
    for (int i = columns->n - 1; i >= 0; i--) {
        const lwi_k_column_body *body = &columns->body[i];
        const lwi_k_step *step = &plan->step[body->step];
        lwi_k_composite I = columns->composite[i];
        composite_columns(plan, step, &I, body, columns->F);
        if (body->parent < 0) continue;
        if (step->slot < plan->first_ball) {
            const crba_passage p = crba_passage_of(plan, state, step);
            composite_pass(&p, &I);
        } else {
            const int ball = lwi_k_block(step->slot) - plan->nscrew;
            composite_pass_ball(&state->ball_pose[ball], lwi_k_lane(step->slot), &I);
        }
        lwi_k_composite *to = &columns->composite[body->parent];
        to->m += I.m;
        for (int j = 0; j < 3; j++) to->h[j] += I.h[j];
        for (int j = 0; j < 6; j++) to->J[j] += I.J[j];
    }
}
#endif

#if WIDTH == WIDEST
// WIDTH columns from c on; only those before `end` are stored.
static INLINE void crba_load(double *const F[6], int c, real f[6])
{
    for (int i = 0; i < 6; i++) memcpy(&f[i], F[i] + c, sizeof f[i]);
}
static INLINE void crba_store(double *const F[6], int c, int end, const real f[6])
{
    static const int64_t kept[2 * LWI_LANES] = {[LWI_LANES] = -1, -1, -1, -1, -1, -1, -1, -1};
    mask others;
    if (c + WIDTH > end) {
        memcpy(&others, kept + (LWI_LANES + c - end), sizeof others);
        for (int i = 0; i < 6; i++) {
            real before;
            memcpy(&before, F[i] + c, sizeof before);
            const real x = NAME(select)(others, before, f[i]);
            memcpy(F[i] + c, &x, sizeof x);
        }
        return;
    }
    for (int i = 0; i < 6; i++) memcpy(F[i] + c, &f[i], sizeof f[i]);
}

typedef struct crba_turn {
    real c, s;
} crba_turn;
static INLINE crba_turn crba_turn_of(turn_w1 t)
{
    return (crba_turn){NAME(splat)(t.c), NAME(splat)(t.s)};
}

// n += r x f
static INLINE void crba_add_torque(const real r[3], real f[6])
{
    f[3] += DIFF(r[1], f[2], r[2], f[1]);
    f[4] += DIFF(r[2], f[0], r[0], f[2]);
    f[5] += DIFF(r[0], f[1], r[1], f[0]);
}

static void crba_pass(const crba_passage *p, double *const F[6], int first, int end)
{
    const crba_turn theta = crba_turn_of(p->theta), alpha = crba_turn_of(p->alpha),
                    phi = crba_turn_of(p->phi);
    const real r[3] = {NAME(splat)(p->r[0]), NAME(splat)(p->r[1]), NAME(splat)(p->r[2])};
    for (int c = first; c < end; c += WIDTH) {
        real f[6];
        crba_load(F, c, f);
        TURN_VECTOR(theta, f[0], f[1]);
        TURN_VECTOR(theta, f[3], f[4]);
        crba_add_torque(r, f);
        TURN_VECTOR(alpha, f[1], f[2]);
        TURN_VECTOR(alpha, f[4], f[5]);
        if (p->realigned) {
            TURN_VECTOR(phi, f[0], f[1]);
            TURN_VECTOR(phi, f[3], f[4]);
        }
        crba_store(F, c, end, f);
    }
}

static void crba_pass_ball(const lwi_k_ball_pose *pose, int l, double *const F[6], int first,
                           int end)
{
    real R[9], r[3];
    for (int i = 0; i < 9; i++) R[i] = NAME(splat)(pose->R[i][l]);
    for (int i = 0; i < 3; i++) r[i] = NAME(splat)(pose->r[i][l]);
    for (int c = first; c < end; c += WIDTH) {
        real f[6], g[6];
        crba_load(F, c, f);
        for (int i = 0; i < 3; i++) {
            g[i] = SUM3(R[3 * i], f[0], R[3 * i + 1], f[1], R[3 * i + 2], f[2]);
            g[3 + i] = SUM3(R[3 * i], f[3], R[3 * i + 1], f[4], R[3 * i + 2], f[5]);
        }
        crba_add_torque(r, g);
        crba_store(F, c, end, g);
    }
}

// Row `own` of M: the columns of the subtree, along entry `of` of F, or of a screw.
static void crba_row(const lwi_k_columns *columns, int own, int end, const double *row, double *M)
{
    const size_t n = (size_t)columns->count, i = (size_t)columns->speed[own];
    const double sign = columns->sign[own];
    for (int c = own; c < end; c++) {
        const size_t j = (size_t)columns->speed[c];
        M[i * n + j] = M[j * n + i] = sign * columns->sign[c] * row[c];
    }
}

static void crba_rows(const lwi_kernel_plan *plan, const lwi_k_step *step,
                      const lwi_k_column_body *body, const lwi_k_columns *columns, double *M)
{
    const int l = lwi_k_lane(step->slot), first = body->first;
    if (step->slot >= plan->first_ball) {
        for (int j = 0; j < body->count; j++)
            crba_row(columns, first + j, body->end, columns->F[6 - body->count + j], M);
        return;
    }
    const lwi_k_screw *k = &plan->screw[lwi_k_block(step->slot)];
    const size_t i = (size_t)columns->speed[first] * (size_t)(columns->count + 1);
    if (step->kind == LWI_K_HINGE || k->slide[l] == 0) {
        crba_row(columns, first, body->end, columns->F[5], M);
    } else {
        double *along = columns->along;
        for (int c = first; c < body->end; c++)
            along[c] = k->slide[l] * columns->F[2][c] + k->turn[l] * columns->F[5][c];
        crba_row(columns, first, body->end, along, M);
    }
    M[i] += k->rotor[l];
}
#endif
