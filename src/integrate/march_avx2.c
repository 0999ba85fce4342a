// march_avx2.c -- marches of four and eight lanes, for processors with AVX2.
#define ISA avx2
#include "integrate/march_lanes.inl"
