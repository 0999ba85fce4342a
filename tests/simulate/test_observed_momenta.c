// test_observed_momenta.c -- momenta of bodies and joints in observations: the balance of every body, dense equations,
// the state of the run, integrals of reactions; the same for every formulation, numbering and number of threads.
#include "methods/dca/net_cases.h"
#include "methods/loop_cases.h"
#include "methods/rcr/rcr_cases.h"
#include "simulate/simulation.h"
#include "support/random_loops.h"
#include "support/rotors.h"

#include <linkwork/dynamics.h>

static lw_sim *sim_of(const lw_model *model, const char *const (*setting)[2], int n)
{
    lw_options options;
    lw_error error;
    lw_sim *sim;
    lw_options_default(&options);
    lwt_ok(lw_options_set(&options, "rtol", "1e-9", &error), &error);
    lwt_ok(lw_options_set(&options, "atol", "1e-10", &error), &error);
    for (int i = 0; i < n; i++)
        lwt_ok(lw_options_set(&options, setting[i][0], setting[i][1], &error), &error);
    lwt_ok(lw_sim_create(model, &(lw_sim_desc){.options = &options}, &sim, &error), &error);
    return sim;
}

static lw_sim *sim_by(const lw_model *model, const char *formulation, const char *kappa)
{
    const char *const setting[][2] = {{"formulation", formulation}, {"kappa", kappa}};
    return sim_of(model, setting, kappa ? 2 : 1);
}

static const lw_observation *momenta(lw_sim *sim)
{
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_MOMENTUM, &o), lw_sim_error(sim));
    return o;
}

// ----------------------------------------------------------------------------------------- balance

// sum [nbody] += k * the wrench of joint j about P2, moved to the mass centre of body b.
static void add(const lw_model *model, const lw_observation *o, int j, int b, double k,
                double (*sum)[6])
{
    double R[9], P2[3], arm[3], torque[3];
    const lwi_joint *joint = &model->joint[j];
    quat_matrix(R, o->quaternion[joint->body2]);
    m3_mul_v(P2, R, joint->r2);
    v3_add(P2, P2, o->position[joint->body2]);
    v3_sub(arm, P2, o->position[b]);
    v3_cross(torque, arm, o->transmitted[j]);
    v3_add(torque, torque, o->transmitted[j] + 3);
    v3_axpy(sum[b], k, o->transmitted[j]);
    v3_axpy(sum[b] + 3, k, torque);
}

// The momentum of every body is what its joints transmit to it, less what it transmits on; without couplings, which
// belong to no joint.  The sums over bodies are the momenta of the system.
static void check_balance(const lw_model *model, const lw_observation *o, double tolerance)
{
    double(*sum)[6] = calloc((size_t)model->nbody, sizeof *sum), total[6] = {0}, size = 1;
    assert_non_null(sum);
    for (int j = 0; j < model->njoint; j++) {
        add(model, o, j, model->desc.joint[j].body2.index, 1, sum);
        add(model, o, j, model->desc.joint[j].body1.index, -1, sum);
        for (int i = 0; i < 6; i++) size = fmax(size, fabs(o->transmitted[j][i]));
    }
    for (int b = 1; b < model->nbody; b++) {
        const bool floating =
            model->body_node[b] >= 0 && model->node[model->body_node[b]].joint < 0;
        for (int i = 0; i < 6; i++) {
            total[i] += o->body_momentum[b][i];
            if (!floating && model->ncoupling == 0)
                lwt_near("momentum of a body", 10 * b + i, sum[b][i], o->body_momentum[b][i],
                         tolerance * size);
        }
        v3_cross_add(total + 3, o->position[b], o->body_momentum[b]);
    }
    for (int i = 0; i < 3; i++) {
        lwt_near("momentum", i, total[i], o->momentum[i], 1e-12 * size);
        lwt_near("angular momentum", i, total[3 + i], o->angular_momentum[i], 1e-12 * size);
    }
    free(sum);
}

// p in the order of the tree, from an observation.
static void tree_order(const lw_model *model, const double *of_joints, double *of_tree)
{
    for (int k = 0; k < model->nnode; k++)
        for (int j = 0; j < model->node[k].nv && model->node[k].joint >= 0; j++)
            of_tree[model->node[k].iv + j] =
                of_joints[model->joint[model->node[k].joint].iv + model->node[k].column[j]];
}

// Random mechanisms, half of them with rotors.
static void bodies_are_balanced(void **unused)
{
    (void)unused;
    static const char *const formulations[] = {"dca", "hdca", "rcr"};
    for (int f = 0; f < 3; f++) LWT_FOR_LOOPS(c, 30, LWT_LOOP_ALL & ~(f ? 0 : LWT_COUPLINGS))
        {
            lw_model *model = seed_ % 2 ? lwt_with_rotors(c.model, seed_) : NULL;
            const lw_model *used = model ? model : c.model;
            lw_sim *sim = sim_by(used, formulations[f], NULL);
            lwt_ok(lw_sim_step(sim, 0.02), lw_sim_error(sim));
            check_balance(used, momenta(sim), 1e-8);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// Without impulses p is M v of the dense equations, rotors included.
static void joint_momenta_are_those_of_dense_equations(void **unused)
{
    (void)unused;
    static const char *const formulations[] = {"dense", "dca", "rcr", "lagrange", "index3"};
    for (int kind = 0; kind < 2 * LWT_LOOPS; kind++) {
        lw_model *model = lwt_loop(kind % LWT_LOOPS);
        if (kind >= LWT_LOOPS) {
            lw_model *bare = model;
            model = lwt_with_rotors(bare, 4);
            lw_model_destroy(bare);
        }
        for (int f = 0; f < LWI_COUNT(formulations); f++) {
            lw_sim *sim = sim_by(model, formulations[f], NULL);
            lw_dynamics *d;
            lw_error error;
            lwt_ok(lw_dynamics_create(model, NULL, &d, &error), &error);
            lwt_ok(lw_sim_step(sim, 0.1), lw_sim_error(sim));
            const lw_observation *o = momenta(sim);
            double q[16], v[16], p[16], own[16];
            assert_true(model->tree_nq <= 16);
            for (int j = 0; j < model->njoint; j++) {
                int iq, nq;
                if (lw_model_joint_tree(model, (lw_joint){j}, &iq, &nq, NULL, NULL) == LW_OK)
                    memcpy(q + iq, o->q + model->joint[j].iq, (size_t)nq * sizeof *q);
            }
            tree_order(model, o->qd, v);
            tree_order(model, o->p, own);
            lwt_ok(lw_momenta(d, o->time, q, v, p), lw_dynamics_error(d));
            for (int i = 0; i < model->tree_nv; i++)
                lwt_near("p", 100 * kind + 10 * f + i, own[i], p[i], 1e-10);
            for (int i = 0; i < model->nloop; i++)
                for (int k = 0; k < 6 && model->joint[model->loop[i]].nrotor == 0; k++)
                    assert_true(o->transmitted[model->loop[i]][k] == 0);
            check_balance(model, o, 1e-7);
            lw_dynamics_destroy(d);
            lw_sim_destroy(sim);
        }
        lw_model_destroy(model);
    }
}

// ----------------------------------------------------------------------------------- states of momenta

// p of an observation is the p of the state, with impulses; a second observation has the same bits.
static void joint_momenta_are_those_of_the_state(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < LWT_LOOPS + 2; kind++) {
        lw_model *model = kind < LWT_LOOPS ? lwt_loop(kind) : lwt_loop(LWT_SPATIAL);
        const bool rcr = kind >= LWT_LOOPS;
        const char *const setting[][2] = {{"formulation", rcr ? "rcr" : "hdca"},
                                          {"kappa", kind == LWT_LOOPS ? "none" : "auto"},
                                          {"state", "momenta"}};
        lw_sim *sim = sim_of(model, setting, rcr ? 3 : 2);
        lwt_ok(lw_sim_step(sim, 0.3), lw_sim_error(sim));
        const lw_observation *o = momenta(sim);
        double own[16], first[6 * 8];
        tree_order(model, o->p, own);
        for (int i = 0; i < model->tree_nv; i++)
            lwt_near("p of the state", 10 * kind + i, own[i], sim->x[model->tree_nq + i], 1e-10);
        const size_t size = (size_t)model->njoint * sizeof *o->transmitted;
        assert_true(model->njoint <= 8);
        memcpy(first, o->transmitted, size);
        assert_memory_equal(first, momenta(sim)->transmitted, size);
        check_balance(model, o, 1e-10);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// With `kappa: none` the impulse of a joint in a plane, and of a ball, is the integral of its reaction.
static void impulses_are_integrals_of_reactions(void **unused)
{
    (void)unused;
    enum { STEPS = 200 };
    static const int kinds[] = {LWT_REVOLUTES, LWT_SPATIAL};
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < 2; i++) {
            lw_model *model = lwt_loop(kinds[i]);
            if (kinds[i] == LWT_SPATIAL) { // cut the ball
                lwi_description desc = model->desc;
                lw_joint_desc joint[4];
                memcpy(joint, desc.joint, sizeof joint);
                for (int j = 0; j < 4; j++)
                    joint[j].cut =
                        joint[j].type == LW_JOINT_SPHERICAL ? LW_CUT_PREFER : LW_CUT_NEVER;
                desc.joint = joint;
                lw_model *cut = lwt_with_rotors_of(model, &desc);
                lw_model_destroy(model);
                model = cut;
            }
            const int j = model->loop[0];
            const char *const setting[][2] = {
                {"formulation", f ? "rcr" : "hdca"}, {"kappa", "none"}, {"state", "momenta"}};
            lw_sim *sim = sim_of(model, setting, f ? 3 : 2);
            double sum[3] = {0}, last[3];
            const double h = 0.3 / STEPS;
            v3_copy(last, momenta(sim)->reaction[j]);
            for (int k = 1; k <= STEPS; k += 2) { // Simpson's rule
                double middle[3], *end = last;
                lwt_ok(lw_sim_step(sim, k * h), lw_sim_error(sim));
                v3_copy(middle, momenta(sim)->reaction[j]);
                lwt_ok(lw_sim_step(sim, (k + 1) * h), lw_sim_error(sim));
                const double *next = momenta(sim)->reaction[j];
                for (int c = 0; c < 3; c++) sum[c] += h / 3 * (end[c] + 4 * middle[c] + next[c]);
                v3_copy(last, next);
            }
            const lw_observation *o = momenta(sim);
            assert_true(v3_norm(sum) > 0.5);
            for (int c = 0; c < 3; c++)
                lwt_near("impulse", 10 * i + c, o->transmitted[j][c], sum[c], 1e-7);
            lw_sim_destroy(sim);
            lw_model_destroy(model);
        }
}

// A free mechanism without loads: what its base's joint transmits is the constant momentum of all.
static void momenta_of_a_free_mechanism_stay(void **unused)
{
    (void)unused;
    lw_model *model = lwt_floating_four_bar((lw_vec3){0});
    lw_sim *sim = sim_by(model, "hdca", NULL);
    double before[6];
    for (int k = 0; k < 2; k++) {
        const lw_observation *o = momenta(sim);
        check_balance(model, o, 1e-9);
        for (int i = 0; i < 3; i++) {
            if (k) lwt_near("momentum", i, o->momentum[i], before[i], 1e-12);
            if (k) lwt_near("angular momentum", i, o->angular_momentum[i], before[3 + i], 1e-12);
            before[i] = o->momentum[i], before[3 + i] = o->angular_momentum[i];
        }
        lwt_ok(lw_sim_step(sim, 0.5), lw_sim_error(sim));
    }
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

// The rates of a ring and a chain of 300 rods are evaluated in segments.
static void long_paths_have_the_momenta_of_the_state(void **unused)
{
    (void)unused;
    for (int closed = 0; closed < 2; closed++) {
        lwt_net net = lwt_net_begin(3);
        const lw_vec3 end = {30, 90, 0};
        net.cut = closed ? 4 : 0; // where reactions are large
        if (closed)
            lwt_net_ring(&net, false, 300);
        else
            lwt_net_bar(&net, lwt_ground, 300, (lw_vec3){0}, end);
        lw_model *model = lwt_model(net.builder);
        lw_sim *sim = sim_by(model, "hdca", NULL);
        lwt_ok(lw_sim_step(sim, 0.01), lw_sim_error(sim));
        const lw_observation *o = momenta(sim);
        check_balance(model, o, 1e-9);
        if (closed) assert_true(fabs(o->transmitted[model->loop[0]][1]) > 0.01);
        double *p = lwt_vector(model->tree_nv), largest = 0;
        tree_order(model, o->p, p);
        for (int i = 0; i < model->tree_nv; i++) largest = fmax(largest, fabs(p[i]));
        assert_true(largest > 1);
        for (int i = 0; i < model->tree_nv; i++)
            lwt_near("p of the state", i, p[i], sim->x[model->tree_nq + i], 1e-9 * largest);
        free(p);
        lw_sim_destroy(sim);
        lw_model_destroy(model);
    }
}

// A copy with bodies and joints in the opposite order.
static lw_model *renumbered(const lw_model *model)
{
    lwi_description desc = model->desc;
    lw_body_desc *body = calloc((size_t)desc.nbody, sizeof *body);
    lw_joint_desc *joint = calloc((size_t)desc.njoint, sizeof *joint);
    assert_true(body && joint);
    assert_int_equal(desc.ncoupling + desc.nmarker, 0);
    body[0] = desc.body[0];
    for (int b = 1; b < desc.nbody; b++) body[b] = desc.body[desc.nbody - b];
    for (int j = 0; j < desc.njoint; j++) {
        lw_joint_desc *to = &joint[j];
        *to = desc.joint[desc.njoint - 1 - j];
        if (to->body1.index > 0) to->body1.index = desc.nbody - to->body1.index;
        if (to->body2.index > 0) to->body2.index = desc.nbody - to->body2.index;
    }
    desc.body = body, desc.joint = joint;
    lw_model *made = lwt_with_rotors_of(model, &desc);
    free(body), free(joint);
    return made;
}

static void numbering_changes_nothing(void **unused)
{
    (void)unused;
    static const int kinds[] = {LWT_TILTED, LWT_SPATIAL, LWT_DRIVEN_LOOP, LWT_MOUNTED_LOOP};
    static const char *const formulations[] = {"hdca", "dca", "rcr"};
    for (int i = 0; i < LWI_COUNT(kinds) * LWI_COUNT(formulations); i++) {
        const char *formulation = formulations[i % LWI_COUNT(formulations)];
        lw_model *model = lwt_loop(kinds[i / LWI_COUNT(formulations)]), *other = renumbered(model);
        lw_sim *a = sim_by(model, formulation, NULL), *b = sim_by(other, formulation, NULL);
        lwt_ok(lw_sim_step(a, 0.2), lw_sim_error(a));
        lwt_ok(lw_sim_step(b, 0.2), lw_sim_error(b));
        const lw_observation *x = momenta(a), *y = momenta(b);
        const int nb = model->nbody, nj = model->njoint;
        for (int k = 1; k < nb; k++)
            for (int c = 0; c < 6; c++)
                lwt_near("momentum of a body", 100 * i + 10 * k + c, y->body_momentum[nb - k][c],
                         x->body_momentum[k][c], 1e-7);
        for (int j = 0; j < nj; j++) {
            const lwi_joint *of = &model->joint[j], *to = &other->joint[nj - 1 - j];
            assert_string_equal(of->name, to->name);
            for (int k = 0; k < of->type->nv; k++)
                lwt_near("p", 100 * i + 10 * j + k, y->p[to->iv + k], x->p[of->iv + k], 1e-7);
            for (int c = 0; c < 6; c++)
                lwt_near("transmitted", 100 * i + 10 * j + c, y->transmitted[nj - 1 - j][c],
                         x->transmitted[j][c], 1e-7);
        }
        lw_sim_destroy(a), lw_sim_destroy(b);
        lw_model_destroy(model), lw_model_destroy(other);
    }
}

// The same bits with one, two and eight threads.
static void threads_change_no_bit(void **unused)
{
    (void)unused;
    static const char *const counts[] = {"1", "2", "8"};
    lwt_loops c = lwt_loops_create(3, 40, LWT_LOOP_ALL);
    const size_t p_size = (size_t)c.model->nv * sizeof(double);
    const size_t size = (size_t)c.model->njoint * 6 * sizeof(double);
    double *p = malloc(p_size), *transmitted = malloc(size);
    assert_true(p && transmitted);
    for (int k = 0; k < 3; k++) {
        const char *const setting[][2] = {{"formulation", "hdca"}, {"threads", counts[k]}};
        lw_sim *sim = sim_of(c.model, setting, 2);
        lwt_ok(lw_sim_step(sim, 0.02), lw_sim_error(sim));
        const lw_observation *o = momenta(sim);
        if (k > 0) assert_memory_equal(p, o->p, p_size);
        if (k > 0) assert_memory_equal(transmitted, o->transmitted, size);
        memcpy(p, o->p, p_size);
        memcpy(transmitted, o->transmitted, size);
        lw_sim_destroy(sim);
    }
    free(p), free(transmitted);
    lw_model_destroy(c.model);
}

// --------------------------------------------------------------------------------------- interface

static void levels_below_have_none(void **unused)
{
    (void)unused;
    lw_model *model = lwt_loop(LWT_SPATIAL);
    lw_sim *sim = sim_by(model, "hdca", NULL);
    const lw_observation *o;
    lwt_ok(lw_sim_observe(sim, LW_OBSERVE_REACTION, &o), lw_sim_error(sim));
    assert_true(!o->p && !o->transmitted && !o->body_momentum && !sim->momenta.prepared);
    assert_int_equal(lw_sim_observe(sim, (lw_observe)(LW_OBSERVE_MOMENTUM + 1), &o),
                     LW_ERR_ARGUMENT);
    lw_sim_destroy(sim);
    lw_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_balanced),
        cmocka_unit_test(joint_momenta_are_those_of_dense_equations),
        cmocka_unit_test(joint_momenta_are_those_of_the_state),
        cmocka_unit_test(impulses_are_integrals_of_reactions),
        cmocka_unit_test(momenta_of_a_free_mechanism_stay),
        cmocka_unit_test(long_paths_have_the_momenta_of_the_state),
        cmocka_unit_test(numbering_changes_nothing),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(levels_below_have_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
