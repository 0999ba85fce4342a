// step.c -- a pole balanced on a cart: a model built in code, stepped under a controller.
//
// cc step.c -llinkwork
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>

static lw_status build(lw_model **model, lw_error *error)
{
    lw_builder *builder;
    lw_status status = lw_builder_create(NULL, &builder);
    if (status != LW_OK) return status;

    // Zero means the default everywhere: body 0 is the ground, frames stand at the origin.
    lw_signal push;
    lw_body cart, pole;
    lw_joint rail, hinge;
    const lw_body_desc cart_desc = {.name = "cart", .mass = 1, .inertia = {0.01, 0.01, 0.01}};
    const lw_body_desc pole_desc = {.name = "pole",
                                    .mass = 0.2,
                                    .inertia = {0.02, 0.02, 0.0001},
                                    .pose = {.position = {0, 0, 0.5}}};
    if (status == LW_OK) status = lw_builder_add_input(builder, "push", &push, error);
    if (status == LW_OK) status = lw_builder_add_body(builder, &cart_desc, &cart, error);
    if (status == LW_OK) status = lw_builder_add_body(builder, &pole_desc, &pole, error);
    if (status == LW_OK) {
        const lw_joint_desc desc = {.name = "rail",
                                    .type = LW_JOINT_PRISMATIC,
                                    .body2 = cart,
                                    .axis = {1, 0, 0},
                                    .coordinate[0].effort = push};
        status = lw_builder_add_joint(builder, &desc, &rail, error);
    }
    if (status == LW_OK) {
        const lw_joint_desc desc = {.name = "hinge",
                                    .type = LW_JOINT_REVOLUTE,
                                    .body1 = cart,
                                    .body2 = pole,
                                    .axis = {0, 1, 0}};
        status = lw_builder_add_joint(builder, &desc, &hinge, error);
    }
    if (status == LW_OK) status = lw_model_create(builder, model, error);
    lw_builder_destroy(builder);
    return status;
}

// Moves the simulation by 5 s in steps of 10 ms; before each the controller reads and pushes.
static lw_status balance(lw_sim *sim, double *angle)
{
    const double gain[4] = {-2.2361, -40.5223, -3.7559, -10.3198}; // x, angle, their rates
    const double q[2] = {0, 0.2}, v[2] = {0, 0}; // cart at 0, pole tilted, at rest
    const lw_observation *o;
    lw_status status = lw_sim_set_joints(sim, 0, q, v);
    for (int k = 0; k < 500 && status == LW_OK; k++) {
        status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &o);
        if (status != LW_OK) break;
        const double push =
            -(gain[0] * o->q[0] + gain[1] * o->q[1] + gain[2] * o->qd[0] + gain[3] * o->qd[1]);
        if (k % 50 == 0)
            printf("t = %4.1f s   cart %7.4f m   pole %7.4f rad   push %7.3f N\n", o->time, o->q[0],
                   o->q[1], push);
        status = lw_sim_set_input(sim, 0, push);
        if (status == LW_OK) status = lw_sim_step(sim, 0.01 * (k + 1));
    }
    if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &o);
    if (status == LW_OK) *angle = o->q[1];
    return status;
}

int main(void)
{
    lw_error error = {0};
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    double angle = 0;
    lw_status status = build(&model, &error);
    if (status == LW_OK) status = lw_sim_create(model, NULL, &sim, &error);
    if (status == LW_OK) {
        printf("%s\n", lw_sim_notice(sim));
        status = balance(sim, &angle);
        if (status != LW_OK) error = *lw_sim_error(sim);
    }
    if (status == LW_OK)
        printf("after 5 s the pole stands at %.1e rad\n", angle);
    else
        fprintf(stderr, "%s\n", error.text[0] ? error.text : lw_status_text(status));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return status == LW_OK && fabs(angle) < 0.02 ? 0 : 1;
}
