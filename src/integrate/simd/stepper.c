// stepper.c -- steppers of one, four and eight lanes for one instruction set, ISA.
#include "integrate/simd/methods.inl"

#define TABLE_2(isa) lwi_stepper_lanes_##isa
#define TABLE(isa) TABLE_2(isa)

static bool dopri54_1(lwi_stepper *stepper)
{
    return dopri54(1, stepper);
}
static bool dopri54_4(lwi_stepper *stepper)
{
    return dopri54(4, stepper);
}
static bool dopri54_8(lwi_stepper *stepper)
{
    return dopri54(8, stepper);
}
static bool rk4_1(lwi_stepper *stepper)
{
    return rk4(1, stepper);
}
static bool rk4_4(lwi_stepper *stepper)
{
    return rk4(4, stepper);
}
static bool rk4_8(lwi_stepper *stepper)
{
    return rk4(8, stepper);
}

extern const lwi_stepper_lanes TABLE(ISA);
const lwi_stepper_lanes TABLE(ISA) = {{dopri54_1, rk4_1}, {dopri54_4, rk4_4}, {dopri54_8, rk4_8}};
