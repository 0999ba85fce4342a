// march_lanes.inl -- marches of four and eight lanes for one instruction set, ISA.
#include "integrate/march.inl"

#define TABLE_2(isa) lwi_march_lanes_##isa
#define TABLE(isa) TABLE_2(isa)

static void dopri54_4(lwi_march *march)
{
    dopri54(4, march);
}
static void dopri54_8(lwi_march *march)
{
    dopri54(8, march);
}
static void rk4_4(lwi_march *march)
{
    rk4(4, march);
}
static void rk4_8(lwi_march *march)
{
    rk4(8, march);
}

const lwi_march_lanes TABLE(ISA) = {{dopri54_4, rk4_4}, {dopri54_8, rk4_8}};
