// links.inl -- world frames and velocities of link frames, sums of wrenches: one node after the other, three components
// side by side.
//
// The operations are those of the generic functions (tree.c, rnea.c), one by one and none fused: the same bits.
//
// Input: the links; what precedes node `first` is known.  Output: R and r, or V, of nodes first to end - 1; F.

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
        for (int i = 0; i < 3; i++) rotated[i] = product(R[parent], i, own);
        store_rows(R[k], rotated);
        m3_mul_v(r[k], R[parent], link[k].r);
        v3_add(r[k], r[k], r[parent]);
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
