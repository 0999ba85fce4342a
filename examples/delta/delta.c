// delta.c -- a Delta robot that follows a path: model from a file, controller of the program at 1 kHz.
//
//   delta MODEL                                  cc delta.c -llinkwork -lm
//
// delta.py is the same program in Python; it prints the same digits.
#include <linkwork/linkwork.h>

#include <math.h>
#include <stdio.h>

enum { RATE = 1000, SECONDS = 1 }; // of the controller [1/s]; of the path

static const double R = 0.2, r = 0.05, L = 0.3, l = 0.6, START = 20 * 3.141592653589793 / 180;
static const double KP = 400, KD = 20; // [N m/rad], [N m s/rad]

// A circle of radius 0.1 m with a dip of 50 mm, from rest to rest.
static void path(double t, double height, double *p)
{
    const double way = 2 * 3.141592653589793 * t - sin(2 * 3.141592653589793 * t);
    p[0] = 0.1 * sin(way);
    p[1] = 0.1 * (1 - cos(way));
    p[2] = height - 0.05 * sin(way / 2) * sin(way / 2);
}

// Angle of a motor from the start at which its arm holds the platform at p: inverse kinematics in the plane of the arm.
static double angle(const double *p, int arm)
{
    const double phi = 2 * 3.141592653589793 / 3 * arm;
    const double x = p[0] * cos(phi) + p[1] * sin(phi), y = p[1] * cos(phi) - p[0] * sin(phi);
    const double a = x + r - R, E = 2 * a * L, F = -2 * p[2] * L;
    const double G = a * a + y * y + p[2] * p[2] + L * L - l * l;
    return atan2(F, E) - acos(G / hypot(E, F)) - START;
}

// Steps the simulation under the controller: a torque for each motor, held for a millisecond.
static lw_status control(lw_sim *sim, const lw_joint_info *motor, double height, double *worst)
{
    double p[3], before[3];
    const lw_observation *o;
    path(0, height, p);
    for (int i = 0; i < 3; i++) before[i] = angle(p, i);
    lw_status status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &o);
    for (int k = 0; k < RATE * SECONDS && status == LW_OK; k++) {
        path((double)k / RATE, height, p);
        for (int i = 0; i < 3 && status == LW_OK; i++) {
            const double q = o->q[motor[i].q_first], qd = o->qd[motor[i].v_first];
            const double goal = angle(p, i), rate = (goal - before[i]) * RATE;
            *worst = fmax(*worst, fabs(goal - q));
            before[i] = goal;
            status = lw_sim_set_input(sim, i, KP * (goal - q) + KD * (rate - qd));
        }
        if (status == LW_OK) status = lw_sim_step(sim, (k + 1) / (double)RATE);
        if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_TWIST, &o);
        if (status == LW_OK && (k + 1) % 100 == 0)
            printf("%.1f %.17g %.17g %.17g\n", o->time, o->q[motor[0].q_first],
                   o->q[motor[1].q_first], o->q[motor[2].q_first]);
    }
    return status;
}

static lw_status run(const lw_model *model, lw_sim *sim, double *worst)
{
    static const char *const names[] = {"arm1.motor", "arm2.motor", "arm3.motor"};
    lw_joint_info motor[3];
    lw_joint joint;
    lw_body platform;
    const lw_observation *o;
    lw_status status = lw_model_find_body(model, "platform", &platform);
    for (int i = 0; i < 3 && status == LW_OK; i++) {
        status = lw_model_find_joint(model, names[i], &joint);
        if (status == LW_OK) motor[i] = lw_model_joint(model, joint);
    }
    if (status == LW_OK) status = lw_sim_observe(sim, LW_OBSERVE_POSE, &o);
    return status == LW_OK ? control(sim, motor, o->position[platform.index][2], worst) : status;
}

int main(int argc, char **argv)
{
    lw_error error = {0};
    lw_model *model = NULL;
    lw_sim *sim = NULL;
    double worst = 0;
    if (argc != 2) {
        fprintf(stderr, "usage: delta MODEL\n");
        return 2;
    }
    lw_status status = lw_model_read(argv[1], NULL, &model, NULL, &error);
    if (status == LW_OK) status = lw_sim_create(model, NULL, &sim, &error);
    if (status == LW_OK) {
        status = run(model, sim, &worst);
        if (status != LW_OK) error = *lw_sim_error(sim);
    }
    if (status == LW_OK)
        printf("largest error of an angle %.3g rad\n", worst);
    else
        fprintf(stderr, "%s\n", error.text[0] ? error.text : lw_status_text(status));
    lw_sim_destroy(sim);
    lw_model_destroy(model);
    return status == LW_OK && worst < 0.05 ? 0 : 1;
}
