// links.inl -- links of hinges, world frames and velocities of link frames and bodies, sums of wrenches: one node after
// the other, three components side by side.
//
// The operations are those of the generic functions (tree.c, rnea.c), one by one and none fused: the same bits.
//
// Input: the links; what precedes node `first` is known.  Output: R and r, V, or F of nodes first to end - 1.

static INLINE void store_zeros(double *x)
{
    store_four(x, all(0));
    x[4] = x[5] = 0;
}

// As lwi_link_position and lwi_link_rates of a hinge: (c, s, 0) and (-s, c, 0) against the rows of X, z is that of X.  Links
// are zero before the first position.
static INLINE void place_hinge(const lwi_node *node, lwi_link *to, const double *q, const double *v)
{
    const double angle = q[node->iq], c = cos(angle), s = node->reversed ? -sin(angle) : sin(angle);
    const row cosines = all(c), sines = {s, -s, 0, 0};
    row R[3];
    load_rows(node->X_R, R); // X_r is behind X_R
    for (int i = 0; i < 3; i++)
        R[i] =
            __builtin_shufflevector(R[i] * cosines + PICK(R[i], 1, 0, 0) * sines, R[i], 0, 1, 6, 6);
    store_rows(to->R, R);
    to->q[0] = angle;
    if (v) to->u[0] = v[node->iv];
    if (to->S[0][5] != 0) return; // the rest was set before, and does not change
    v3_copy(to->r, node->X_r);
    store_zeros(to->sigma);
    store_zeros(to->S[0]);
    store_zeros(to->Sdot[0]);
    store_zeros(to->sigma_dot);
    to->S[0][5] = node->reversed ? -1 : 1;
}

// The same of a universal joint: R = X Rz(q0) Rx(q1).
static INLINE void place_universal(const lwi_node *node, lwi_link *to, const double *q,
                                   const double *v)
{
    const double first = q[node->iq], second = q[node->iq + 1];
    const double c0 = cos(first), s0 = sin(first), c1 = cos(second), s1 = sin(second);
    const row own[3] = {{c0, -s0 * c1, s0 * s1, 0}, {s0, c0 * c1, -c0 * s1, 0}, {0, s1, c1, 0}};
    row R[3];
    for (int i = 0; i < 3; i++) R[i] = product(node->X_R, i, own);
    store_rows(to->R, R);
    v3_copy(to->r, node->X_r);
    store_zeros(to->sigma);
    store_zeros(to->S[0]);
    store_zeros(to->S[1]);
    to->S[0][4] = s1, to->S[0][5] = c1, to->S[1][3] = 1;
    to->q[0] = first, to->q[1] = second;
    if (!v) return;
    const double u0 = v[node->iv], u1 = v[node->iv + 1];
    to->u[0] = u0, to->u[1] = u1;
    store_zeros(to->Sdot[0]);
    store_zeros(to->Sdot[1]);
    store_zeros(to->sigma_dot);
    to->Sdot[0][4] = u1 * c1, to->Sdot[0][5] = -u1 * s1;
}

static INLINE bool is_hinge(const lwi_node *node)
{
    return node->type->id == LW_JOINT_REVOLUTE && !node->driven;
}

static int positions(const lw_model *model, lwi_link *link, int k, int end, const double *q,
                     const double *v)
{
    for (; k < end; k++) {
        const lwi_node *node = &model->node[k];
        if (is_hinge(node))
            place_hinge(node, &link[k], q, v);
        else if (lwi_node_is_universal(node))
            place_universal(node, &link[k], q, v);
        else
            return k;
    }
    return k;
}

// As lwi_tree_place_body.
static void place(const lw_model *model, int first, int end, const double (*R)[9],
                  const double (*r)[3], double (*body_R)[9], double (*body_r)[3])
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        row link[3], own[3], to[3], T[3];
        load_matrix(R[k], link);
        row_transpose(link, T);
        load_rows(node->c_R, own);
        for (int i = 0; i < 3; i++) to[i] = product(R[k], i, own);
        store_rows(body_R[node->body], to);
        store_three(body_r[node->body], combine(T, load_three(node->c_r)) + load_three(r[k]));
    }
}

static void world(const lw_model *model, const lwi_link *link, int first, int end, double (*R)[9],
                  double (*r)[3])
{
    for (int k = first; k < end; k++) {
        const int parent = model->node[k].parent;
        row own[3], rotated[3];
        if (parent < 0) {
            memcpy(R[k], link[k].R, sizeof R[k]);
            v3_copy(r[k], link[k].r);
            continue;
        }
        load_rows(link[k].R, own);
        for (int i = 0; i < 3; i++) // the origin is the fourth column
            own[i] = __builtin_shufflevector(own[i], all(link[k].r[i]), 0, 1, 2, 7);
        for (int i = 0; i < 3; i++) rotated[i] = product(R[parent], i, own);
        store_rows(R[k], rotated);
        for (int i = 0; i < 3; i++) r[k][i] = rotated[i][3] + r[parent][i];
    }
}

static void velocities(const lw_model *model, const lwi_link *link, int first, int end,
                       const double *v, double (*V)[6])
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const double(*S)[6] = (const double(*)[6])link[k].S;
        row lin = all(0), ang = all(0);
        if (node->parent >= 0) {
            row R[3];
            load_rows(link[k].R, R);
            lin = load_four(V[node->parent]), ang = load_three(V[node->parent] + 3);
            row_motion_to(R, load_four(link[k].r), &lin, &ang);
        }
        for (int j = 0; j < node->nv; j++) {
            const row speed = all(v[node->iv + j]);
            lin += speed * load_four(S[j]);
            ang += speed * load_four(S[j] + 3);
        }
        if (node->driven) lin += load_four(link[k].sigma), ang += load_four(link[k].sigma + 3);
        store_four(V[k], lin);
        store_three(V[k] + 3, ang);
    }
}

static void motions(const lw_model *model, const lwi_link *link, int first, int end,
                    const double (*own)[6], const double *v, const double (*R)[9],
                    const double (*r)[3], double (*V)[6])
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        row axes[3], T[3], lin = all(0), ang = all(0);
        if (own) lin = load_four(own[k]), ang = load_three(own[k] + 3);
        for (int j = 0; !own && j < node->nv; j++) {
            const row speed = all(v[node->iv + j]);
            lin += speed * load_four(link[k].S[j]);
            ang += speed * load_four(link[k].S[j] + 3);
        }
        if (!own && node->driven)
            lin += load_four(link[k].sigma), ang += load_four(link[k].sigma + 3);
        load_matrix(R[k], axes);
        row_transpose(axes, T);
        lin = combine(T, lin), ang = combine(T, ang);
        if (node->parent >= 0) {
            const double *on = V[node->parent];
            const row turn = load_three(on + 3);
            lin += row_cross(turn, load_three(r[k]) - load_three(r[node->parent]));
            lin += load_four(on), ang += turn;
        }
        store_four(V[k], lin);
        store_three(V[k] + 3, ang);
    }
}

static void ride(int first, int end, int base, const double (*r)[3], double (*V)[6])
{
    const row lin = load_four(V[base]), turn = load_three(V[base] + 3), at = load_three(r[base]);
    for (int k = first; k < end; k++) {
        const row own = load_four(V[k]) + row_cross(turn, load_three(r[k]) - at);
        const row ang = load_three(V[k] + 3) + turn;
        store_four(V[k], own + lin);
        store_three(V[k] + 3, ang);
    }
}

static void to_links(int first, int end, const double (*R)[9], const double (*world)[6],
                     double (*own)[6])
{
    for (int k = first; k < end; k++) {
        row axes[3];
        load_matrix(R[k], axes);
        const row lin = combine(axes, load_four(world[k]));
        const row ang = combine(axes, load_three(world[k] + 3));
        store_four(own[k], lin);
        store_three(own[k] + 3, ang);
    }
}

// a x (0, 0, rate)
static INLINE row cross_axis(row a, double rate)
{
    const row zero = all(0), b = a * all(rate);
    return __builtin_shufflevector(__builtin_shufflevector(b, -b, 1, 4, 2, 3), zero, 0, 1, 4, 4);
}

// As lwi_tree_accelerations, or relative_accelerations of rnea.c, of hinges and universal joints: c is that of
// lwi_tree_bias.
static int accelerations(const lw_model *model, const lwi_link *link, int k, int end,
                         const double (*V)[6], const double *v, const double *vdot, bool relative,
                         double (*A)[6])
{
    const double *g = model->gravity;
    const row base = {-g[0], -g[1], -g[2], 0};
    for (; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const double *u = v + node->iv, *rates = vdot + node->iv;
        const bool hinge = is_hinge(node);
        row R[3], lin = all(0), ang = all(0);
        if (!hinge && !lwi_node_is_universal(node)) return k;
        if (node->parent < 0)
            lin = base;
        else if (!relative)
            lin = load_four(A[node->parent]), ang = load_three(A[node->parent] + 3);
        if (node->parent < 0 || !relative) {
            load_rows(link[k].R, R);
            row_motion_to(R, load_four(link[k].r), &lin, &ang);
        }
        const row v_link = load_four(V[k]), w = load_three(V[k] + 3);
        const double(*S)[6] = (const double(*)[6])link[k].S;
        if (hinge) {
            const double rate = u[0] * S[0][5];
            lin += cross_axis(v_link, rate);
            ang += cross_axis(w, rate);
        } else {
            const row turn = {u[1], u[0] * S[0][4], u[0] * S[0][5], 0};
            lin += row_cross(v_link, turn);
            ang += row_cross(w, turn) + all(u[0]) * load_three(link[k].Sdot[0] + 3);
        }
        lin += all(rates[0]) * load_four(S[0]);
        ang += all(rates[0]) * load_four(S[0] + 3);
        if (!hinge) {
            lin += all(rates[1]) * load_four(S[1]);
            ang += all(rates[1]) * load_four(S[1] + 3);
        }
        store_four(A[k], lin);
        store_three(A[k] + 3, ang);
    }
    return k;
}

// inertia_mul
static void momenta(const lw_model *model, int first, int end, const double (*V)[6], double (*P)[6])
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const row lin = load_four(V[k]), ang = load_three(V[k] + 3), h = load_four(node->h);
        row J[3];
        load_symmetric(node->J, J);
        store_four(P[k], row_cross(ang, h) + all(node->mass) * lin);
        store_three(P[k] + 3, combine(J, ang) + row_cross(h, lin));
    }
}

// As lwi_tree_reaction of joints that are not reversed and have no efforts.
static int reactions(const lw_model *model, const lwi_tree_work *work, int k, int end,
                     double (*reaction)[6])
{
    for (; k < end; k++) {
        const lwi_node *node = &model->node[k];
        if (node->joint < 0 || node->reversed) return k;
        row R[3], T[3];
        double *to = reaction[node->joint];
        load_matrix(work->R[k], R);
        row_transpose(R, T);
        store_four(to, combine(T, load_four(work->F[k])));
        store_three(to + 3, combine(T, load_three(work->F[k] + 3)));
    }
    return k;
}

// The angular parts of motions X of the links, in world axes.
static void angular(const lw_model *model, int first, int end, const double (*R)[9],
                    const double (*X)[6], double (*to)[3])
{
    for (int k = first; k < end; k++) {
        row axes[3], T[3];
        load_matrix(R[k], axes);
        row_transpose(axes, T);
        store_three(to[model->node[k].body], combine(T, load_three(X[k] + 3)));
    }
}

static void wrenches(const lw_model *model, const lwi_link *link, int first, int end,
                     double (*F)[6])
{
    for (int k = end - 1; k > first; k--) {
        const int parent = model->node[k].parent;
        row R[3], T[3];
        if (parent < 0) continue;
        double *to = F[parent];
        load_rows(link[k].R, R);
        row_transpose(R, T);
        const row force = combine(T, load_four(F[k]));
        const row torque =
            combine(T, load_three(F[k] + 3)) + row_cross(load_four(link[k].r), force);
        const row sum = load_three(to + 3) + torque;
        store_four(to, load_four(to) + force);
        store_three(to + 3, sum);
    }
}

// As lwi_tree_body_velocities_of.
static void body_velocities(const lw_model *model, int first, int end, const double (*R)[9],
                            const double (*V)[6], double (*body_v)[3], double (*body_w)[3])
{
    for (int k = first; k < end; k++) {
        const lwi_node *node = &model->node[k];
        const row lin = load_four(V[k]), ang = load_three(V[k] + 3);
        row link[3], T[3];
        load_matrix(R[k], link);
        row_transpose(link, T);
        store_three(body_v[node->body], combine(T, row_cross(ang, load_three(node->c_r)) + lin));
        store_three(body_w[node->body], combine(T, ang));
    }
}
