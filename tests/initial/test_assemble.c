// test_assemble.c -- assembly of mechanisms: positions near the drawn ones, prescribed coordinates,
// consistent speeds, reports and errors where assembly is impossible.
#include "methods/loop_cases.h"
#include "tree/tree_cases.h"
#include "model/joint_cases.h"
#include "support/random_loops.h"

#include <linkwork/assemble.h>

// Round-off of positions of about one metre through about ten bodies.
#define CLOSED 1e-12

static lw_model *open_model(lw_builder *b)
{
    lw_model *model;
    lw_error error;
    lwt_ok(lw_model_create_open(b, &model, &error), &error);
    lw_builder_destroy(b);
    return model;
}

static lw_model *assembled(const lw_model *model, const lw_assemble_desc *desc, lw_assembly *report)
{
    lw_model *made = NULL;
    lw_error error;
    lwt_ok(lw_model_assemble(model, desc, &made, report, &error), &error);
    assert_true(report->after[0] <= CLOSED && report->after[1] <= CLOSED);
    assert_null(made->open);
    return made;
}

// Prescribed initial values of a joint, in addition to its location.
typedef struct given {
    int has_q, has_qd;
    double q, qd;
    lw_cut cut;
} given;

// Crank 0.3, coupler 0.8, rocker 0.6 on a ground of 0.7 (or a crank of another length), drawn with
// the crank upright; joints A, B, C, D.
static lw_builder *four_bar(double crank, const given g[4])
{
    // the joint of coupler and rocker is on the right of the line from the end of the crank to the
    // pivot of the rocker
    const double l2 = 0.8, l3 = 0.6, ground = 0.7;
    const double dx = ground, dy = -crank, d = hypot(dx, dy);
    const double along = (d * d + l2 * l2 - l3 * l3) / (2 * d), up = sqrt(l2 * l2 - along * along);
    const double cx = (along * dx - up * dy) / d, cy = crank + (along * dy + up * dx) / d;
    lw_builder *b = lwt_builder();
    const lw_body rod[3] = {lwt_rod(b, "crank", 0, 0, 0, crank, 1),
                            lwt_rod(b, "coupler", 0, crank, cx, cy, 2),
                            lwt_rod(b, "rocker", ground, 0, cx, cy, 1.5)};
    const lw_body from[4] = {lwt_ground, rod[0], rod[1], lwt_ground};
    const lw_body to[4] = {rod[0], rod[1], rod[2], rod[2]};
    const double x[4] = {0, 0, cx, ground}, y[4] = {0, crank, cy, 0};
    static const char *const name[4] = {"A", "B", "C", "D"};
    for (int j = 0; j < 4; j++)
        lwt_add(b, &(lw_joint_desc){.name = name[j],
                                    .type = LW_JOINT_REVOLUTE,
                                    .body1 = from[j],
                                    .body2 = to[j],
                                    .at = {x[j], y[j], 0},
                                    .axis = {0, 0, 1},
                                    .has_q = g ? g[j].has_q : 0,
                                    .has_qd = g ? g[j].has_qd : 0,
                                    .q = {g ? g[j].q : 0},
                                    .qd = {g ? g[j].qd : 0},
                                    .cut = g ? g[j].cut : LW_CUT_AUTO});
    return b;
}

// A wheel on an axle, with legs of two rods from its rim to the ground all around, drawn with the wheel rotated by
// 0.05 rad.  With more than twelve joints the wheel is split: the mechanism closes as well, and, by symmetry, all legs
// alike.
static void wheels_with_many_legs_close(void **state)
{
    (void)state;
    static const int legs[] = {8, 40};
    for (int k = 0; k < LWI_COUNT(legs); k++) {
        const int n = legs[k];
        lw_builder *b = lwt_builder();
        lw_body *knee = calloc((size_t)n, sizeof *knee);
        const lw_body wheel =
            lwt_body(b, &(lw_body_desc){.name = "wheel", .mass = 5, .inertia = {1, 1, 1}});
        lwt_joint(b, LW_JOINT_REVOLUTE, "axle", lwt_ground, wheel, 0, 0);
        for (int i = 0; i < n; i++) {
            const double a = 6.283185307179586 * i / n, c = cos(a), s = sin(a), t = a + 0.05;
            const lw_body inner =
                lwt_rod(b, NULL, cos(t), sin(t), 1.5 * c - 0.4 * s, 1.5 * s + 0.4 * c, 1);
            knee[i] = lwt_rod(b, NULL, 1.5 * c - 0.4 * s, 1.5 * s + 0.4 * c, 2 * c, 2 * s, 1);
            const lw_vec3 z = {0, 0, 1};
            lwt_add(b,
                    &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                     .placement = LW_PLACED_FRAMES,
                                     .body1 = wheel,
                                     .body2 = inner,
                                     .axis = z,
                                     .frame1.position = {c, s, 0},
                                     .frame2.position = {-0.5 * hypot(1.5 * c - 0.4 * s - cos(t),
                                                                      1.5 * s + 0.4 * c - sin(t)),
                                                         0, 0}});
            lwt_joint(b, LW_JOINT_REVOLUTE, NULL, inner, knee[i], 1.5 * c - 0.4 * s,
                      1.5 * s + 0.4 * c);
            lwt_joint(b, LW_JOINT_REVOLUTE, NULL, lwt_ground, knee[i], 2 * c, 2 * s);
        }
        lw_model *model = open_model(b);
        lw_assembly report;
        lw_model *made = assembled(model, NULL, &report);
        assert_true(report.before[0] > 0.04 && report.iterations < 12);
        for (int i = 1; i < n; i++)
            assert_true(fabs(v3_norm(made->body[knee[i].index].r0) -
                             v3_norm(made->body[knee[0].index].r0)) < 1e-8);
        lw_model_destroy(made);
        lw_model_destroy(model);
        free(knee);
    }
}

// Sign of the side of the diagonal on which the joint of coupler and rocker is.
static double side(const lw_model *model)
{
    const double *a = model->body[1].r0, *c = model->body[3].r0;
    const double end[2] = {2 * a[0], 2 * a[1]};         // of the crank
    const double joint[2] = {2 * c[0] - 0.7, 2 * c[1]}; // joint of coupler and rocker
    return (0.7 - end[0]) * (joint[1] - end[1]) - (0 - end[1]) * (joint[0] - end[0]);
}

// ------------------------------------------------------------------------------------- positions

// Only the angle of the crank is prescribed. It is kept bit for bit; the other bodies follow in the
// same assembly mode, over more than a full revolution, and the initial state of the resulting
// model is consistent.
static void a_crank_takes_the_others_along(void **state)
{
    (void)state;
    for (int k = -14; k <= 14; k++) {
        const given g[4] = {{.has_q = 1, .q = 0.5 * k}};
        lw_assembly report;
        lw_model *open = open_model(four_bar(0.3, g));
        lw_model *model = assembled(open, NULL, &report);
        assert_true(model->q0[0] == 0.5 * k);
        assert_true(report.changed < CLOSED);
        assert_true(side(model) > 0.1);
        assert_near("crank", k, model->body[1].r0[0], -0.15 * sin(0.5 * k), 1e-14);
        assert_near("crank", k, model->body[1].r0[1], 0.15 * cos(0.5 * k), 1e-14);
        lw_model_destroy(open);
        lw_model_destroy(model);
    }
}

// A consistent mechanism is unchanged up to the last bits, and so is an assembled one.
static void what_holds_is_left_alone(void **state)
{
    (void)state;
    for (int kind = 0; kind < LWT_LOOPS; kind++) {
        lw_assembly report;
        lw_model *model = lwt_loop(kind), *once = assembled(model, NULL, &report);
        assert_true(report.moved < 1e-14 && report.rotated < 1e-13);
        lw_model *twice = assembled(once, NULL, &report);
        assert_true(report.moved < 1e-14 && report.rotated < 1e-13);
        for (int i = 0; i < model->nq; i++) {
            assert_near("q", i, once->q0[i], model->q0[i], 1e-13);
            assert_true(twice->q0[i] == once->q0[i]);
        }
        lw_model_destroy(model);
        lw_model_destroy(once);
        lw_model_destroy(twice);
    }
}

// A crank of 0.95 cannot rotate past the angle at which coupler and rocker are stretched or folded.
// A prescribed q beyond the limit is approached up to the limit, and the report contains the
// remaining difference.
static void a_coordinate_out_of_reach_is_approached(void **state)
{
    (void)state;
    // law of cosines at the ground: the longest diagonal is coupler + rocker = 1.4
    const double l = 0.95, limit = acos((l * l + 0.49 - 1.96) / (2 * l * 0.7));
    const given g[4] = {{.has_q = 1, .q = 1.5}}; // upright + 1.5 > limit
    lw_assembly report;
    lw_model *open = open_model(four_bar(l, g));
    lw_model *model = assembled(open, NULL, &report);
    const double angle = 1.5707963267948966 + model->q0[0];
    // at the limit the error of the angle is of the order of the square root of the position error
    assert_near("angle", 0, angle, limit, 1e-6);
    assert_int_equal(report.changed_joint.index, 0);
    assert_near("missed by", 0, report.changed, 1.5 - model->q0[0], 1e-12);
    lw_model_destroy(open);
    lw_model_destroy(model);
}

// Bodies are drawn near their positions; the frames of the joints define where they belong. The
// models are random trees with every body and joint type, and with closing joints that make loops.
// There are no drives: rigid loops would contradict them.
static lw_model *random_loops(uint64_t seed, int nbody, int nloop)
{
    static const lw_joint_type closing[] = {LW_JOINT_REVOLUTE, LW_JOINT_SPHERICAL,
                                            LW_JOINT_CYLINDRICAL, LW_JOINT_UNIVERSAL,
                                            LW_JOINT_DISTANCE};
    uint64_t random = seed ^ 0x100b5;
    lw_model *tree, *model;
    lw_error error;
    lwi_unclosed unclosed;
    assert_int_equal(lwt_random_tree(seed, nbody, LWT_ALL & ~LWT_DRIVES & ~LWT_MOUNTS, &tree),
                     LW_OK);
    lwi_description desc = tree->desc;
    desc.joint = calloc((size_t)(desc.njoint + nloop), sizeof *desc.joint);
    desc.body = calloc((size_t)desc.nbody, sizeof *desc.body);
    memcpy(desc.joint, tree->desc.joint, (size_t)desc.njoint * sizeof *desc.joint);
    memcpy(desc.body, tree->desc.body, (size_t)desc.nbody * sizeof *desc.body);
    for (int i = 0; i < nloop; i++) {
        const int b1 = lwt_random_below(&random, desc.nbody);
        const int b2 = lwt_random_below(&random, desc.nbody);
        const int node1 = tree->body_node[b1], node2 = tree->body_node[b2];
        if (b1 == b2 || node2 < 0 || (b1 > 0 && node1 < 0)) continue;
        char *name = calloc(24, 1);
        snprintf(name, 24, "closing%d", i);
        lw_joint_desc *j = &desc.joint[desc.njoint++];
        *j = (lw_joint_desc){.name = name,
                             .type = closing[lwt_random_below(&random, LWI_COUNT(closing))],
                             .body1 = {b1},
                             .body2 = {b2},
                             .placement = LW_PLACED_FRAMES};
        // one frame in the world, in the initial state of the tree, expressed in both bodies
        double q[4], R[9], p[3];
        for (int k = 0; k < 4; k++) q[k] = lwt_random(&random, -1, 1);
        quat_normalize(q, q);
        quat_matrix(R, q);
        for (int k = 0; k < 3; k++) p[k] = lwt_random(&random, -1, 1);
        for (int s = 0; s < 2; s++) {
            const int b = s ? b2 : b1;
            double Rb[9], local[9], d[3], quat[4];
            quat_matrix(Rb, tree->body[b].quat0);
            if (j->type == LW_JOINT_DISTANCE)
                for (int k = 0; k < 3; k++) p[k] = lwt_random(&random, -1, 1);
            v3_sub(d, p, tree->body[b].r0);
            m3_tmul_v(d, Rb, d);
            v3_add(d, d, tree->body[b].com);
            m3_tmul(local, Rb, R);
            quat_from_matrix(quat, local);
            *(s ? &j->frame2 : &j->frame1) =
                (lw_pose){{d[0], d[1], d[2]}, {quat[0], quat[1], quat[2], quat[3]}};
        }
        if (j->type == LW_JOINT_DISTANCE) { // its length in the initial state of the tree
            double end[2][3];
            for (int s = 0; s < 2; s++) {
                const lw_vec3 at = s ? j->frame2.position : j->frame1.position;
                const double local[3] = {at.x, at.y, at.z};
                const int b = s ? b2 : b1;
                double Rb[9], c[3];
                v3_sub(c, local, tree->body[b].com);
                quat_matrix(Rb, tree->body[b].quat0);
                m3_mul_v(end[s], Rb, c);
                v3_add(end[s], end[s], tree->body[b].r0);
            }
            v3_sub(p, end[0], end[1]);
            j->length = v3_norm(p);
        }
    }
    // drawn near the initial state of the tree, off by a few centimetres and degrees; no prescribed
    // coordinates
    for (int b = 1; b < desc.nbody; b++) {
        lw_pose *pose = &desc.body[b].pose;
        double q[4], turn[4] = {1}, Rb[9], c[3];
        if (tree->body_node[b] < 0) continue;
        for (int k = 1; k < 4; k++) turn[k] = lwt_random(&random, -0.02, 0.02);
        quat_normalize(turn, turn);
        quat_mul(q, tree->body[b].quat0, turn);
        quat_matrix(Rb, q);
        m3_mul_v(c, Rb, tree->body[b].com);
        v3_sub(c, tree->body[b].r0, c);
        pose->position = (lw_vec3){c[0] + lwt_random(&random, -0.03, 0.03),
                                   c[1] + lwt_random(&random, -0.03, 0.03),
                                   c[2] + lwt_random(&random, -0.03, 0.03)};
        pose->orientation = (lw_quat){q[0], q[1], q[2], q[3]};
        desc.body[b].has_velocity = 0;
    }
    for (int j = 0; j < desc.njoint; j++) desc.joint[j].has_q = desc.joint[j].has_qd = 0;
    lwt_ok(lwi_model_compile(&desc, &tree->arena.allocator, &unclosed, &model, &error), &error);
    for (int j = tree->desc.njoint; j < desc.njoint; j++)
        free((char *)(uintptr_t)desc.joint[j].name);
    free(desc.joint);
    free(desc.body);
    lw_model_destroy(tree);
    return model;
}

static void random_graphs_close(void **state)
{
    (void)state;
    int loops = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        lw_model *open = random_loops(seed, 2 + (int)(seed % 8), 1 + (int)(seed % 3)),
                 *model = NULL;
        lw_assembly report;
        lw_error error;
        loops += open->nloop;
        const lw_status status = lw_model_assemble(open, NULL, &model, &report, &error);
        if (status != LW_OK) fail_msg("seed %llu: %s", (unsigned long long)seed, error.text);
        // a start drawn with errors of 0.03 m and 0.04 rad is near a consistent one
        if (!(report.after[0] <= 1e-10 && report.moved < 2 && report.iterations < 100))
            fail_msg("seed %llu: residual %.2e, moved %.2f, %d steps", (unsigned long long)seed,
                     report.after[0], report.moved, report.iterations);
        lw_check check;
        lwt_ok(lw_model_check(model, &check, NULL, &error), &error);
        assert_true(check.residual[0] < 1e-9);
        assert_true(check.residual[1] < 1e-9);
        lw_model_destroy(open);
        lw_model_destroy(model);
    }
    assert_true(loops > 60);
}

// Named bodies are fixed and the others move: the coupler is drawn 0.1 m away from its neighbours.
static void named_bodies_stay(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        lw_builder *b = lwt_builder();
        static const char *const names[] = {"first", "second"};
        const lw_body first = lwt_rod(b, "first", 0, 0, 1, 0, 1);
        const lw_body second = lwt_rod(b, "second", 1.1, 0, 2, 0, 1);
        lwt_add(b, &(lw_joint_desc){.name = "pin",
                                    .type = LW_JOINT_SPHERICAL,
                                    .body1 = first,
                                    .body2 = second,
                                    .placement = LW_PLACED_FRAMES,
                                    .frame1 = {.position = {0.5, 0, 0}},
                                    .frame2 = {.position = {-0.45, 0, 0}}});
        lw_model *open = open_model(b);
        lw_assembly report;
        lw_model *free_ = assembled(open, NULL, &report);
        assert_near("half each", 0, report.moved, 0.05, 1e-12);
        lw_model *model =
            assembled(open, &(lw_assemble_desc){.hold = &names[which], .nhold = 1}, &report);
        const lw_pose *kept = &model->desc.body[1 + which].pose;
        const lw_pose *drawn = &open->desc.body[1 + which].pose;
        assert_near("kept", 0, kept->position.x, drawn->position.x, 1e-12);
        assert_near("all by the other", 0, report.moved, 0.1, 1e-12);
        assert_int_equal(report.moved_body.index, 2 - which);
        lw_model_destroy(open);
        lw_model_destroy(free_);
        lw_model_destroy(model);
    }
}

static void unknown_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"crank", "missing"};
    lw_model *open = open_model(four_bar(0.3, NULL)), *made = NULL;
    lw_error error;
    assert_int_equal(lw_model_assemble(open, &(lw_assemble_desc){.hold = names, .nhold = 2}, &made,
                                       NULL, &error),
                     LW_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "'missing'"));
    lw_model_destroy(open);
}

// Bars that are too short: the error names the joints and the remaining gap. The pivots are 2 m
// apart, the bars are 0.5 and 0.6 m long, and three joints share the gap.
static void bars_that_are_too_short_are_reported(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body one = lwt_rod(b, "one", 0, 0, 0.5, 0, 1),
                  two = lwt_rod(b, "two", 2, 0, 1.4, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "left", lwt_ground, one, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "right", lwt_ground, two, 2, 0);
    lwt_add(b, &(lw_joint_desc){.name = "middle",
                                .type = LW_JOINT_SPHERICAL,
                                .body1 = one,
                                .body2 = two,
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {.position = {0.25, 0, 0}},
                                .frame2 = {.position = {0.3, 0, 0}}});
    lw_model *open = open_model(b), *made = NULL;
    lw_assembly report;
    lw_error error;
    assert_non_null(open->open);
    assert_int_equal(lw_model_assemble(open, NULL, &made, &report, &error), LW_ERR_MODEL);
    assert_null(made);
    assert_true(report.after[0] >= 0.3 && report.after[0] < 0.9);
    assert_non_null(strstr(error.text, "cannot be put together"));
    // the rods reach 0.5 m and 0.6 m, 2 m are to be bridged: one gap, wherever the tree is cut
    assert_null(strstr(error.text, "', joint"));
    assert_non_null(strstr(error.text, " m"));
    assert_true(report.starts > 2);
    assert_non_null(strstr(error.text, "40 starts were tried"));
    lw_model_destroy(open);
}

// Two rods that reach one another, at 60 degrees, are fixed to one another in one line: wherever it starts, the same gap
// is left, which is said.
static void contradictions_are_reported(void **state)
{
    (void)state;
    lw_builder *b = lwt_builder();
    const lw_body one = lwt_rod(b, "one", 0, 0, 1, 0, 1), two = lwt_rod(b, "two", 1, 0, 0, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "left", lwt_ground, one, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "right", lwt_ground, two, 1, 0);
    lwt_add(b, &(lw_joint_desc){.name = "middle",
                                .type = LW_JOINT_FIXED,
                                .body1 = one,
                                .body2 = two,
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {.position = {0.5, 0, 0}},
                                .frame2 = {.position = {-0.5, 0.1, 0}}});
    lw_model *open = open_model(b), *made = NULL;
    lw_assembly report;
    lw_error error;
    assert_int_equal(lw_model_assemble(open, NULL, &made, &report, &error), LW_ERR_MODEL);
    if (!strstr(
            error.text,
            "starts end with the same gap, so lengths or joint types of these loops contradict"))
        fail_msg("%s", error.text);
    assert_int_equal(40, report.starts);
    lw_model_destroy(open);
}

// A leg of a Strandbeest, drawn with all angles zero: least squares ends with gaps of a centimetre, a start in the middle
// of the ranges of its joints closes.
static void other_starts_are_tried(void **state)
{
    (void)state;
    static const char leg[] = LW_SOURCE_DIR "/tests/models/jansen_leg.urdf";
    lw_model *open = NULL, *made = NULL;
    lw_assembly report;
    lw_error error = {0};
    lw_joint joint;
    lwt_ok(lw_model_read(leg, &(lw_read_desc){.open = true}, &open, NULL, &error), &error);
    assert_int_equal(LW_ERR_MODEL, lw_model_assemble(open, &(lw_assemble_desc){.starts = 1}, &made,
                                                     &report, &error));
    assert_int_equal(1, report.starts);
    assert_non_null(strstr(error.text, "1 start was tried; open are: joint 'B' by 0.0"));
    made = assembled(open, NULL, &report);
    assert_int_equal(2, report.starts);
    assert_int_equal(LW_OK, lw_model_find_joint(made, "KI", &joint));
    const double q = made->desc.joint[joint.index].q[0];
    assert_true(q > -1.9 && q < 1.2);      // in its range
    for (int j = 0; j < made->njoint; j++) // no revolutions remain from the way
        assert_true(fabs(made->desc.joint[j].q[0]) < 3.2);
    lw_model_destroy(made);
    lw_model_destroy(open);
}

// The leg is put together elsewhere if the range of joint JE is on the other side.
static void ranges_select_the_branch(void **state)
{
    (void)state;
    static const char range[] = "lower='0.6' upper='2.4'",
                      *other[] = {range, "lower='-2.4' upper='-0.6'"};
    char text[8000], changed[8100];
    FILE *file = fopen(LW_SOURCE_DIR "/tests/models/jansen_leg.urdf", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    const char *at = strstr(text, range);
    assert_non_null(at);
    double crank[2];
    for (int side = 0; side < 2; side++) {
        lw_model *open = NULL;
        lw_assembly report;
        lw_error error = {0};
        lw_joint joint;
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, other[side],
                 at + strlen(range));
        const lw_read_desc desc = {.format = "urdf", .open = true};
        lwt_ok(lw_model_parse(changed, strlen(changed), "leg.urdf", &desc, &open, NULL, &error),
               &error);
        lw_model *made = assembled(open, NULL, &report);
        assert_int_equal(LW_OK, lw_model_find_joint(made, "M", &joint));
        crank[side] = made->desc.joint[joint.index].q[0];
        lw_model_destroy(made);
        lw_model_destroy(open);
    }
    assert_true(fabs(crank[0] - crank[1]) > 0.5);
}

// The rocker of a four-bar is on the side that the user names, as if the model had its coordinate.
static void coordinates_to_assemble_near_select_the_branch(void **state)
{
    (void)state;
    for (int side = -1; side <= 1; side += 2) {
        const given g[4] = {{.has_q = 1, .q = side * 0.4}};
        lw_model *open = open_model(four_bar(0.3, NULL)), *with = open_model(four_bar(0.3, g));
        lw_joint A, D;
        lw_assembly report;
        assert_int_equal(LW_OK, lw_model_find_joint(open, "A", &A));
        assert_int_equal(LW_OK, lw_model_find_joint(open, "D", &D));
        const lw_joint_q near = {.joint = "A", .q = {side * 0.4}};
        lw_model *made = assembled(open, &(lw_assemble_desc){.near = &near, .nnear = 1}, &report);
        lw_model *expected = assembled(with, NULL, &report);
        assert_true(fabs(made->desc.joint[A.index].q[0] - side * 0.4) < 1e-9);
        assert_true(made->desc.joint[D.index].q[0] == expected->desc.joint[D.index].q[0]);
        lw_model_destroy(expected);
        lw_model_destroy(made);
        lw_model_destroy(with);
        lw_model_destroy(open);
    }
    lw_model *open = open_model(four_bar(0.31, NULL)), *made = NULL;
    lw_error error;
    const lw_joint_q wrong[] = {{"Z", {0}, 0}, {"A", {NAN}, 0}, {NULL, {0}, 0}, {"A", {0}, 2}};
    for (int i = 0; i < LWI_COUNT(wrong); i++)
        assert_int_equal(LW_ERR_ARGUMENT,
                         lw_model_assemble(open, &(lw_assemble_desc){.near = &wrong[i], .nnear = 1},
                                           &made, NULL, &error));
    lw_model_destroy(open);
}

// Model creation without assembly names the joint and the remedy; a simulation of an open model is
// refused in the same way.
static void open_models_are_refused_elsewhere(void **state)
{
    (void)state;
    const given g[4] = {{.has_q = 1, .q = 1}};
    lw_builder *b = four_bar(0.3, g);
    lw_model *model;
    lw_sim *sim = NULL;
    lw_error error;
    assert_int_equal(lw_model_create(b, &model, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "linkwork assemble"));
    model = open_model(b);
    assert_int_equal(lw_sim_create(model, NULL, &sim, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "linkwork assemble"));
    lw_model_destroy(model);
}

// A driven joint starts at the value of its function, a coupled joint at that of its polynomial,
// and the length of a link is that at t = 0; bodies drawn elsewhere are moved there.
static void drives_couplings_and_lengths_hold_at_the_start(void **state)
{
    (void)state;
    const double polynomial[] = {0.3, -2};
    lw_builder *b = lwt_builder();
    lw_error error;
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1), B = lwt_rod(b, "B", 0, 1, 1, 1, 1);
    const lw_body C = lwt_rod(b, "C", 3, 0, 3, 1, 1);
    lw_joint_desc drive = {
        .name = "drive", .type = LW_JOINT_REVOLUTE, .body2 = A, .axis = {0, 0, 1}};
    drive.coordinate[0].motion = lwt_function(
        b,
        &(lw_function_desc){.type = LW_FUNCTION_SINE, .offset = 0.4, .amplitude = 0.2, .omega = 3});
    const lw_joint j1 = lwt_add(b, &drive);
    const lw_joint j2 = lwt_joint(b, LW_JOINT_REVOLUTE, "geared", lwt_ground, B, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "swing", lwt_ground, C, 3, 0);
    lwt_add(b, &(lw_joint_desc){.name = "link",
                                .type = LW_JOINT_DISTANCE,
                                .body1 = A,
                                .body2 = C,
                                .placement = LW_PLACED_FRAMES,
                                .frame1 = {.position = {0.5, 0, 0}},
                                .frame2 = {.position = {0.5, 0, 0}},
                                .length = 2.1});
    lwt_ok(
        lw_builder_add_coupling(
            b,
            &(lw_coupling_desc){.joint = j2, .of = j1, .polynomial = polynomial, .npolynomial = 2},
            &error),
        &error);
    lw_model *open = open_model(b);
    lw_assembly report;
    lw_model *model = assembled(open, NULL, &report);
    assert_near("drive", 0, model->q0[0], 0.4, 1e-13);
    assert_near("geared", 0, model->q0[1], 0.3 - 2 * 0.4, 1e-13);
    assert_near("drive", 0, model->v0[0], 0.6, 1e-13);
    assert_near("geared", 0, model->v0[1], -1.2, 1e-13);
    const double *c = model->body[3].r0; // upper end of C, from its middle and its pivot (3, 0)
    const double end[2] = {2 * c[0] - 3, 2 * c[1]};
    assert_near("length", 0, hypot(end[0] - cos(0.4), end[1] - sin(0.4)), 2.1, 1e-12);
    lw_model_destroy(open);
    lw_model_destroy(model);
}

// ---------------------------------------------------------------------------------------- speeds

// One speed of a four-bar is sufficient, for any joint and any loop-closing joint, also for that
// joint itself. The others satisfy the velocity equation of the loop, sum of w_k z x r_k = 0 over
// its bars, and the written model contains the prescribed speed.
static void one_speed_of_a_loop_is_enough(void **state)
{
    (void)state;
    for (int n = 0; n < 16; n++) {
        const int which = n % 4, cut = n / 4;
        given g[4] = {{0}};
        g[which] = (given){.has_qd = 1, .qd = 1.7};
        g[cut].cut = LW_CUT_ALWAYS;
        lw_builder *b = four_bar(0.3, g);
        lw_model *model = lwt_model(b);
        assert_int_equal(model->loop[0], cut);
        assert_int_equal(model->nfollowed, 3);
        assert_near("given", which, model->v0[which], 1.7, 1e-14);
        const double w[3] = {model->v0[0], model->v0[0] + model->v0[1], model->v0[3]};
        double x = 0, y = 0;
        for (int k = 0; k < 3; k++) { // along the crank, the coupler, and back along the rocker
            const double *r = model->body[k + 1].r0;
            static const double from[3][2] = {{0, 0}, {0, 0.3}, {0.7, 0}};
            const double sign = k == 2 ? -1 : 1;
            x += sign * w[k] * -2 * (r[1] - from[k][1]);
            y += sign * w[k] * 2 * (r[0] - from[k][0]);
        }
        assert_near("loop, x", which, x, 0, 1e-14);
        assert_near("loop, y", which, y, 0, 1e-14);
        assert_near("rocker", which, model->v0[3], w[1] + model->v0[2], 1e-14);
        for (int j = 0; j < 4; j++) assert_int_equal(model->desc.joint[j].has_qd, j == which);
        lw_model_destroy(model);
    }
}

// A parallelogram, its crank so many radians from its line with one speed given.
static lw_status nearly_in_line(double angle, lw_model **model, lw_error *error)
{
    const double x = 0.6 * cos(angle), y = 0.6 * sin(angle);
    lw_builder *b = lwt_builder();
    const lw_body rod[3] = {lwt_rod(b, "crank", 0, 0, x, y, 1),
                            lwt_rod(b, "coupler", x, y, x + 1, y, 1),
                            lwt_rod(b, "rocker", 1, 0, x + 1, y, 1)};
    lwt_add(b, &(lw_joint_desc){.name = "A",
                                .type = LW_JOINT_REVOLUTE,
                                .body2 = rod[0],
                                .axis = {0, 0, 1},
                                .has_qd = 1,
                                .qd = {-5}});
    lwt_joint(b, LW_JOINT_REVOLUTE, "B", rod[0], rod[1], x, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "C", rod[1], rod[2], x + 1, y);
    lwt_joint(b, LW_JOINT_REVOLUTE, "D", lwt_ground, rod[2], 1, 0);
    const lw_status status = lw_model_create(b, model, error);
    lw_builder_destroy(b);
    return status;
}

// Speeds follow down to 1e-6 rad from a singular position; nearer to it the message names it.
static void one_speed_is_enough_near_singular_positions(void **state)
{
    (void)state;
    static const double angle[] = {1e-3, 1e-4, 2e-5, 1e-5, 3e-6, 1e-6};
    lw_model *model;
    lw_error error;
    for (int i = 0; i < LWI_COUNT(angle); i++) {
        lwt_ok(nearly_in_line(angle[i], &model, &error), &error);
        assert_near("crank", i, model->v0[0], -5, 1e-6);
        assert_near("coupler", i, model->v0[0] + model->v0[1], 0, 1e-6);
        lw_model_destroy(model);
    }
    assert_int_equal(nearly_in_line(1e-7, &model, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "so near a singular position"));
}

// Contradictory speeds are refused with the name of the joint, and so are contradictory positions.
static void contradicting_speeds_are_refused(void **state)
{
    (void)state;
    const given g[4] = {{.has_qd = 1, .qd = 1}, {0}, {0}, {.has_qd = 1, .qd = 3}};
    lw_builder *b = four_bar(0.3, g);
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(lw_model_create(b, &model, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "initial velocities break"));
    assert_null(strstr(error.text, "singular"));
    // assembly keeps them as closely as possible and reports the differences
    lw_assembly report;
    lw_model *open = open_model(b);
    model = assembled(open, NULL, &report);
    assert_true(report.changed_speed > 0.1);
    lw_model_destroy(open);
    lw_model_destroy(model);
}

// Two degrees of freedom, one prescribed speed: the result has the minimum kinetic energy.
static void other_bodies_move_with_minimal_energy(void **state)
{
    (void)state;
    double energy[3];
    for (int k = 0; k < 3; k++) {
        lw_builder *b = lwt_builder();
        const double x[6] = {0, -0.3, 0.5, 1.3, 1, 0}, y[6] = {0, 0.8, 1.2, 0.7, 0, 0};
        lw_body last = lwt_ground;
        static double middle;
        for (int j = 0; j < 5; j++) {
            lw_joint_desc d = {
                .type = LW_JOINT_REVOLUTE, .body1 = last, .at = {x[j], y[j], 0}, .axis = {0, 0, 1}};
            d.body2 =
                j < 4 ? lwt_rod(b, NULL, x[j], y[j], x[j + 1], y[j + 1], 1 + 0.3 * j) : lwt_ground;
            d.has_qd = j == 0 || (k > 0 && j == 2);
            d.qd[0] = j == 0 ? 2 : middle + (k == 1 ? 1e-3 : -1e-3);
            last = d.body2;
            lwt_add(b, &d);
        }
        lw_model *model = lwt_model(b);
        lwi_arena arena;
        lwi_snapshot m;
        lwi_totals system;
        lwi_arena_init(&arena, NULL);
        assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
        lwi_snapshot_start(model, &m);
        lwi_observe_system(model, LW_OBSERVE_ENERGY, &m, &system);
        assert_true(system.residual[1] < 1e-13);
        assert_near("given", k, model->v0[0], 2, 1e-13);
        energy[k] = system.kinetic;
        middle = k == 0 ? model->v0[2] : middle;
        lwi_arena_free(&arena);
        lw_model_destroy(model);
    }
    // a parabola with its minimum at the first value: the neighbours are higher, and equal
    assert_true(energy[1] > energy[0] && energy[2] > energy[0]);
    assert_near("slope", 0, (energy[1] - energy[2]) / 2e-3, 0, 1e-9);
}

// Joints outside loops and floating bodies are at rest where no speed is prescribed, as in a tree.
static void bodies_outside_loops_stay_at_rest(void **state)
{
    (void)state;
    const given g[4] = {{.has_qd = 1, .qd = 1}};
    lw_builder *b = four_bar(0.3, g);
    const lw_body pendulum = lwt_rod(b, "pendulum", 0.5, 0.5, 0.5, 0.1, 1);
    const lw_joint pin = lwt_joint(b, LW_JOINT_REVOLUTE, "pin", (lw_body){2}, pendulum, 0.5, 0.5);
    const lw_body ship = lwt_rod(b, "ship", 4, 0, 5, 0, 1);
    lw_model *model = lwt_model(b);
    assert_near("pin", 0, model->v0[model->joint[pin.index].iv], 0, 1e-13);
    for (int i = 0; i < 3; i++) {
        assert_near("ship", i, model->body[ship.index].v0[i], 0, 1e-14);
        assert_near("ship", i, model->body[ship.index].w0[i], 0, 1e-14);
    }
    assert_true(fabs(model->v0[1]) > 0.1);
    lw_model_destroy(model);
}

// Gear: the speed of one wheel determines that of the other; a drive determines the speeds of its
// loop.
static void gears_and_drives_give_speeds(void **state)
{
    (void)state;
    const double polynomial[] = {0, -1.5};
    lw_builder *b = lwt_builder();
    lw_error error;
    for (int i = 0; i < 2; i++) {
        const lw_body wheel = lwt_rod(b, NULL, i, 0, i + 1, 0, 1);
        lwt_add(b, &(lw_joint_desc){.type = LW_JOINT_REVOLUTE,
                                    .body2 = wheel,
                                    .at = {i, 0, 0},
                                    .axis = {0, 0, 1},
                                    .has_qd = i == 1,
                                    .qd = {3}});
    }
    lwt_ok(lw_builder_add_coupling(
               b,
               &(lw_coupling_desc){
                   .joint = {1}, .of = {0}, .polynomial = polynomial, .npolynomial = 2},
               &error),
           &error);
    lw_model *model = lwt_model(b);
    assert_near("gear", 0, model->v0[0], -2, 1e-14);
    lw_model_destroy(model);
}

// A body connected by bars only: a bar of growing length moves it in the direction of minimum
// kinetic energy, here along the bar, through the mass centre.
static void a_bar_that_grows_takes_its_body_along(void **state)
{
    (void)state;
    const double growth[] = {2, 0.5};
    lw_builder *b = lwt_builder();
    const lw_body body = lwt_rod(b, "held", -0.5, -2, 0.5, -2, 1);
    lwt_add(b, &(lw_joint_desc){
                   .name = "bar",
                   .type = LW_JOINT_DISTANCE,
                   .body2 = body,
                   .placement = LW_PLACED_FRAMES,
                   .length_of = lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_POLYNOMIAL,
                                                                    .coefficients = growth,
                                                                    .ncoefficient = 2})});
    lw_model *model = lwt_model(b);
    for (int i = 0; i < 3; i++) {
        assert_near("velocity", i, model->body[1].v0[i], i == 1 ? -0.5 : 0, 1e-14);
        assert_near("angular velocity", i, model->body[1].w0[i], 0, 1e-14);
    }
    lw_model_destroy(model);
}

// A coordinate prescribed for the loop-closing joint is used: the model is drawn elsewhere, and
// assembly moves it there.
static void a_coordinate_of_a_cut_joint_counts(void **state)
{
    (void)state;
    const given g[4] = {{0}, {0}, {0}, {.has_q = 1, .q = 0.2, .cut = LW_CUT_ALWAYS}};
    lw_builder *b = four_bar(0.3, g);
    lw_model *model = NULL;
    lw_error error;
    assert_int_equal(lw_model_create(b, &model, &error), LW_ERR_MODEL);
    assert_non_null(strstr(error.text, "'D' closes a loop at q0 = 0, given is 0.2"));
    lw_assembly report;
    lw_model *open = open_model(b);
    model = assembled(open, NULL, &report);
    assert_near("given", 3, model->q0[3], 0.2, 1e-12);
    lw_model_destroy(open);
    lw_model_destroy(model);
}

// Bars of 0.3, 0.8 and 0.6 m, ground 0.7 m, crank at 1 rad with 4 rad/s: the loop determines all speeds.
static void four_bar_speeds(double crank, double coupler, double rocker, double *speeds)
{
    static const double at[4][2] = {
        {0, 0}, {0.16209069176044193, 0.25244129544236893}, {0.96058, 0}, {0.7, 0}};
    const double a = 0.8, b = 0.6, x = at[3][0] - at[1][0], y = -at[1][1], d = hypot(x, y);
    const double along = (a * a - b * b + d * d) / (2 * d), across = sqrt(a * a - along * along);
    const double top[2] = {at[1][0] + (along * x - across * y) / d,
                           at[1][1] + (along * y + across * x) / d};
    lw_builder *builder = lwt_builder();
    const lw_body one = lwt_rod(builder, "crank", 0, 0, at[1][0], at[1][1], crank);
    const lw_body two = lwt_rod(builder, "coupler", at[1][0], at[1][1], top[0], top[1], coupler);
    const lw_body three = lwt_rod(builder, "rocker", 0.7, 0, top[0], top[1], rocker);
    lwt_add(builder, &(lw_joint_desc){.name = "j1",
                                      .type = LW_JOINT_REVOLUTE,
                                      .body2 = one,
                                      .axis = {0, 0, 1},
                                      .has_qd = 1,
                                      .qd = {4}});
    lwt_joint(builder, LW_JOINT_REVOLUTE, "j2", one, two, at[1][0], at[1][1]);
    lwt_joint(builder, LW_JOINT_REVOLUTE, "j3", two, three, top[0], top[1]);
    lwt_joint(builder, LW_JOINT_REVOLUTE, "j4", lwt_ground, three, 0.7, 0);
    lw_model *model = lwt_model(builder);
    for (int j = 0; j < 4; j++) speeds[j] = model->v0[j];
    lw_model_destroy(model);
}

static void speeds_do_not_depend_on_masses(void **state)
{
    (void)state;
    static const double masses[][3] = {{1, 1e3, 1},        {1, 1e6, 1},    {1e-6, 1e6, 1e-6},
                                       {1e6, 1e-6, 1e6},   {1e-6, 1, 1e6}, {1e6, 1, 1e-6},
                                       {1e-6, 1e-6, 1e-6}, {1e6, 1e6, 1e6}};
    double want[4], speeds[4];
    four_bar_speeds(1, 1, 1, want);
    assert_true(fabs(want[0] - 4) < 1e-12);
    for (int i = 0; i < LWI_COUNT(masses); i++) {
        four_bar_speeds(masses[i][0], masses[i][1], masses[i][2], speeds);
        for (int j = 0; j < 4; j++)
            if (!(fabs(speeds[j] - want[j]) < 1e-12 * 5))
                fail_msg("masses %d: speed %d is off by %.1e", i, j, speeds[j] - want[j]);
    }
}

// A random mechanism with speeds that its loops allow, drawn elsewhere: there they contradict each other.  Bodies of 1 kg and
// 1 kg m^2, or a share of them with 1e-4 kg and 1e-10 kg m^2.
static lw_model *contradicting(uint64_t seed, double share)
{
    uint64_t random = seed;
    lwt_loops loops = {0};
    assert_int_equal(lwt_random_loops(seed, 4 + (int)(seed % 12), LWT_LOOP_ALL, &loops), LW_OK);
    lw_model *m = loops.model;
    for (int j = 0; j < m->njoint; j++) m->desc.joint[j].has_q = 0;
    for (int b = 1; b < m->nbody; b++) {
        lw_body_desc *d = &m->desc.body[b];
        const bool small = lwt_random(&random, 0, 1) < share;
        const double J = small ? 1e-10 : 1;
        d->pose.position.x += lwt_random(&random, -0.05, 0.05);
        d->pose.position.y += lwt_random(&random, -0.05, 0.05);
        d->pose.position.z += lwt_random(&random, -0.05, 0.05);
        m->body[b].mass = d->mass = small ? 1e-4 : 1;
        d->inertia_axes = (lw_quat){1, 0, 0, 0};
        for (int i = 0; i < 6; i++) m->body[b].inertia[i] = d->inertia[i] = i < 3 ? J : 0;
    }
    return m;
}

static void contradicting_speeds_give_way_without_regard_to_masses(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        lw_model *made[4];
        lw_assembly report;
        lw_error error;
        for (int i = 0; i < 4; i++) {
            lw_model *model = contradicting(seed, i / 3.0);
            lwt_ok(lw_model_assemble(model, NULL, &made[i], &report, &error), &error);
            assert_true(report.after[1] <= CLOSED * 10);
            lw_model_destroy(model);
        }
        for (int i = 1; i < 4; i++)
            for (int k = 0; k < made[0]->nv; k++)
                if (!(fabs(made[i]->v0[k] - made[0]->v0[k]) < 1e-8))
                    fail_msg("seed %d, masses %d: speed %d is off by %.1e", (int)seed, i, k,
                             made[i]->v0[k] - made[0]->v0[k]);
        for (int i = 0; i < 4; i++) lw_model_destroy(made[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wheels_with_many_legs_close),
        cmocka_unit_test(a_bar_that_grows_takes_its_body_along),
        cmocka_unit_test(a_coordinate_of_a_cut_joint_counts),
        cmocka_unit_test(a_crank_takes_the_others_along),
        cmocka_unit_test(what_holds_is_left_alone),
        cmocka_unit_test(a_coordinate_out_of_reach_is_approached),
        cmocka_unit_test(random_graphs_close),
        cmocka_unit_test(named_bodies_stay),
        cmocka_unit_test(unknown_names_are_refused),
        cmocka_unit_test(bars_that_are_too_short_are_reported),
        cmocka_unit_test(contradictions_are_reported),
        cmocka_unit_test(other_starts_are_tried),
        cmocka_unit_test(ranges_select_the_branch),
        cmocka_unit_test(coordinates_to_assemble_near_select_the_branch),
        cmocka_unit_test(open_models_are_refused_elsewhere),
        cmocka_unit_test(drives_couplings_and_lengths_hold_at_the_start),
        cmocka_unit_test(one_speed_of_a_loop_is_enough),
        cmocka_unit_test(one_speed_is_enough_near_singular_positions),
        cmocka_unit_test(contradicting_speeds_are_refused),
        cmocka_unit_test(other_bodies_move_with_minimal_energy),
        cmocka_unit_test(bodies_outside_loops_stay_at_rest),
        cmocka_unit_test(gears_and_drives_give_speeds),
        cmocka_unit_test(speeds_do_not_depend_on_masses),
        cmocka_unit_test(contradicting_speeds_give_way_without_regard_to_masses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
