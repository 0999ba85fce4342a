// servo_law.c -- the law of servos (servo_law.h).
#include "model/forces/servo_law.h"

#include <math.h>
#include <string.h>

static double within(double x, const double range[2])
{
    return fmin(fmax(x, range[0]), range[1]);
}

double lwi_servo_target(const lw_model *model, const lwi_servo_law *law, const lwi_now *now)
{
    return within(lwi_signal_value(model->function, law->target, now, 0), law->target_range);
}

double lwi_servo_gain(const lwi_servo_law *law, double l, double dl)
{
    return law->gain[0] + law->gain[1] * l + law->gain[2] * dl;
}

// Without the limits of the effort.
static double wanted_force(const lw_model *model, const lwi_servo_law *law, const lwi_now *now,
                           double u, double l, double dl)
{
    const double wanted = lwi_signal_value(model->function, law->rate, now, 0);
    const double bias = law->bias[0] + law->bias[1] * l + law->bias[2] * dl;
    return lwi_servo_gain(law, l, dl) * u + law->kd * wanted + bias;
}

double lwi_servo_force(const lw_model *model, const lwi_servo_law *law, const lwi_now *now,
                       double u, double l, double dl)
{
    return within(wanted_force(model, law, now, u, l, dl), law->effort_range);
}

static int side_of(double x, const double range[2])
{
    return x < range[0] ? 0 : x > range[1] ? 2 : 1;
}

int lwi_servo_piece(const lw_model *model, const lwi_servo_law *law, const lwi_now *now, double l,
                    double dl)
{
    const double target = lwi_signal_value(model->function, law->target, now, 0);
    const double f = wanted_force(model, law, now, within(target, law->target_range), l, dl);
    return 3 * side_of(target, law->target_range) + side_of(f, law->effort_range);
}

bool lwi_servo_is_limited(const lw_model *model, const lwi_servo_law *law, const lwi_now *now,
                          double l, double dl)
{
    return lwi_servo_piece(model, law, now, l, dl) % 3 != 1;
}

void lwi_servo_slopes(const lw_model *model, const lwi_servo_law *law, const lwi_now *now, double l,
                      double dl, lwi_law_slopes *slopes)
{
    const int piece = lwi_servo_piece(model, law, now, l, dl);
    const double u = lwi_servo_target(model, law, now);
    slopes->signal[0] = law->target, slopes->signal[1] = law->rate;
    if (piece % 3 != 1) return;
    slopes->by_length = law->gain[1] * u + law->bias[1];
    slopes->by_rate = law->gain[2] * u + law->bias[2];
    slopes->by_signal[0] = piece / 3 == 1 ? lwi_servo_gain(law, l, dl) : 0;
    slopes->by_signal[1] = law->kd;
}

bool lwi_servo_has_range(const lwi_servo_law *law)
{
    return isfinite(law->target_range[0]) || isfinite(law->target_range[1]) ||
           isfinite(law->effort_range[0]) || isfinite(law->effort_range[1]);
}

double lwi_servo_next_break(const lw_model *model, const lwi_servo_law *law, double t)
{
    return fmin(lwi_function_next_break(model->function, law->target, t),
                lwi_function_next_break(model->function, law->rate, t));
}

// ------------------------------------------------------------------------------------- description

static lw_status check_range(const lwi_item *it, const char *what, bool present,
                             const double range[2])
{
    if (!present || range[0] <= range[1]) return LW_OK;
    return lwi_item_fail(it, "%s is [%g, %g], expected lower <= upper", what, range[0], range[1]);
}

lw_status lwi_servo_law_check(const lwi_item *it, lw_servo_law *law)
{
    const double numbers[] = {law->kp, law->kd};
    if (!none_negative(numbers, 2))
        return lwi_item_fail(it, "kp %g, kd %g, expected numbers >= 0", law->kp, law->kd);
    if (!isfinite(law->gear)) return lwi_item_fail(it, "gear is %g, expected a number", law->gear);
    for (int k = 0; k < 3; k++)
        if (!isfinite(law->gain[k]) || !isfinite(law->bias[k]))
            return lwi_item_fail(it, "gain or bias is not finite");
    TRY(check_range(it, "target_range", law->has_target_range, law->target_range));
    TRY(check_range(it, "effort_range", law->has_effort_range, law->effort_range));
    TRY(lwi_item_signal(it, "target", law->target, false));
    TRY(lwi_item_signal(it, "rate", law->rate, false));
    if (law->gear == 1) law->gear = 0; // the default, as it is written
    return LW_OK;
}

void lwi_servo_law_compile(const lw_servo_law *from, lwi_servo_law *law)
{
    *law = (lwi_servo_law){.gear = from->gear != 0 ? from->gear : 1,
                           .target = from->target,
                           .rate = from->rate,
                           .kd = from->kd};
    memcpy(law->gain, from->gain, sizeof law->gain);
    memcpy(law->bias, from->bias, sizeof law->bias);
    law->gain[0] += from->kp;
    law->bias[1] -= from->kp;
    law->bias[2] -= from->kd;
    for (int k = 0; k < 2; k++) {
        const double none = k ? INFINITY : -INFINITY;
        law->target_range[k] = from->has_target_range ? from->target_range[k] : none;
        law->effort_range[k] = from->has_effort_range ? from->effort_range[k] : none;
    }
}
