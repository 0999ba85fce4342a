// loop_cases.h -- small mechanisms with loops, drives and couplings, shared by the tests of
// formulations.
#ifndef LWT_LOOP_CASES_H
#define LWT_LOOP_CASES_H

#include "support/mechanism.h"

enum {
    LWT_REVOLUTES,    ///< four revolutes: three redundant rows
    LWT_TILTED,       ///< the same with weight out of its plane
    LWT_SPATIAL,      ///< revolute, revolute, spherical, cylindrical: none
    LWT_DRIVEN_LOOP,  ///< the joint that closes the loop is driven
    LWT_MOUNTED_LOOP, ///< its pivot is shaken and it carries a spring and a damper
    LWT_LENGTH,       ///< a link of variable length closes the loop
    LWT_COUPLED,      ///< the two cranks are geared by a polynomial, no loop
    LWT_LOOPS         ///< how many
};

static inline lw_model *lwt_loop(int kind)
{
    lw_builder *b = lwt_builder();
    if (kind == LWT_TILTED) lw_builder_gravity(b, (lw_vec3){1, -8, -5});
    const lw_body A = lwt_rod(b, "A", 0, 0, 0.3, 0.4, 0.5);
    const lw_body B = lwt_rod(b, "B", 0.3, 0.4, 1.4, 0.6, 1.2);
    const lw_body C = lwt_rod(b, "C", 1.3, -0.2, 1.4, 0.6, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 0.3, 0.4);
    const lw_signal swing = lwt_function(
        b, &(lw_function_desc){.type = LW_FUNCTION_SINE,
                               .offset = -0.1,
                               .amplitude = -0.1,
                               .omega = 3,
                               .phase = -1.5707963267948966}); // -0.1 (1 - cos 3t): at rest first
    lw_joint_desc last = {.name = "j4",
                          .type = LW_JOINT_REVOLUTE,
                          .body1 = C,
                          .at = {1.3, -0.2, 0},
                          .axis = {0, 0, 1},
                          .cut = LW_CUT_PREFER};
    if (kind == LWT_SPATIAL) last.type = LW_JOINT_CYLINDRICAL;
    if (kind == LWT_DRIVEN_LOOP) last.coordinate[0].motion = swing;
    if (kind == LWT_MOUNTED_LOOP) {
        last.body1 = lwt_ground, last.body2 = C;
        last.mount_shift[1] = swing;
        last.mount_turn = swing;
        last.mount_about = (lw_vec3){0, 0, 1};
        last.coordinate[0].stiffness = 5;
        last.coordinate[0].damping = 0.3;
    }
    if (kind == LWT_COUPLED) {
        const double polynomial[] = {0, 0.5, 0.4, 0.2};
        const lw_joint j3 = lwt_joint(b, LW_JOINT_UNIVERSAL, "j3", B, C, 1.4, 0.6);
        lwt_coupling(b, &(lw_coupling_desc){
                            .joint = {1}, .of = {0}, .polynomial = polynomial, .npolynomial = 4});
        lwt_coupling(b, &(lw_coupling_desc){.joint = j3,
                                            .coordinate = 1,
                                            .of = j3,
                                            .polynomial = polynomial,
                                            .npolynomial = 3});
        return lwt_model(b);
    }
    if (kind == LWT_LENGTH) {
        const lw_signal terms[2] = {
            swing, lwt_function(b, &(lw_function_desc){.type = LW_FUNCTION_CONSTANT,
                                                       .value = hypot(1.1, 0.2)})};
        const lw_signal length = lwt_function(
            b, &(lw_function_desc){.type = LW_FUNCTION_SUM, .terms = terms, .nterm = 2});
        // B swings on A; C's upper point keeps a distance from B's inner end
        lwt_add(b, &(lw_joint_desc){.name = "j3",
                                    .type = LW_JOINT_DISTANCE,
                                    .body1 = B,
                                    .body2 = C,
                                    .placement = LW_PLACED_FRAMES,
                                    .frame1 = {.position = {-0.5 * hypot(1.1, 0.2), 0, 0}},
                                    .frame2 = {.position = {0.5 * hypot(0.1, 0.8), 0, 0}},
                                    .length_of = length});
    } else {
        lwt_joint(b, kind == LWT_SPATIAL ? LW_JOINT_SPHERICAL : LW_JOINT_REVOLUTE, "j3", B, C, 1.4,
                  0.6);
    }
    lwt_add(b, &last);
    return lwt_model(b);
}

/** A rhombus that starts folded flat, where it has one more degree of freedom than nearby. */
static inline lw_model *lwt_folded_rhombus(void)
{
    lw_builder *b = lwt_builder();
    const lw_body A = lwt_rod(b, "A", 0, 0, 1, 0, 1), B = lwt_rod(b, "B", 1, 0, 2, 0, 1);
    const lw_body C = lwt_rod(b, "C", 1, 0, 2, 0, 1);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j1", lwt_ground, A, 0, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j2", A, B, 1, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j3", B, C, 2, 0);
    lwt_joint(b, LW_JOINT_REVOLUTE, "j4", C, lwt_ground, 1, 0);
    return lwt_model(b);
}

/** The error of entering a singular start names a joint and the time. */
static inline void lwt_refuses_singular_start(const lwi_formulation *formulation)
{
    lw_model *model = lwt_folded_rhombus();
    lwi_work *work = lwt_work(model, formulation);
    lwi_arena arena;
    lwi_snapshot m;
    lwi_arena_init(&arena, NULL);
    assert_int_equal(lwi_snapshot_create(model, &arena, &m), LW_OK);
    double *x = lwt_vector(work->layout.nx);
    lwi_snapshot_start(model, &m);
    assert_int_equal(formulation->enter(work, &m, x), LW_ERR_SINGULAR);
    static const char *const parts[] = {"singular position", "joint 'j", "t = 0 s"};
    for (int i = 0; i < LWI_COUNT(parts); i++)
        if (!strstr(work->error.text, parts[i]))
            fail_msg("'%s' does not say '%s'", work->error.text, parts[i]);
    free(x);
    lwi_work_destroy(work);
    lwi_arena_free(&arena);
    lw_model_destroy(model);
}

#endif
