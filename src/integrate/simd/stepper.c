// stepper.c -- marches of four and eight lanes for one instruction set, ISA.
#include "integrate/simd/methods.inl"

#define TABLE_2(isa) lwi_stepper_lanes_##isa
#define TABLE(isa) TABLE_2(isa)

static void dopri54_4(lwi_stepper *march)
{
    dopri54(4, march);
}
static void dopri54_8(lwi_stepper *march)
{
    dopri54(8, march);
}
static void rk4_4(lwi_stepper *march)
{
    rk4(4, march);
}
static void rk4_8(lwi_stepper *march)
{
    rk4(8, march);
}

extern const lwi_stepper_lanes TABLE(ISA);
const lwi_stepper_lanes TABLE(ISA) = {{dopri54_4, rk4_4}, {dopri54_8, rk4_8}};
