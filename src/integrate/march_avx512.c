// march_avx512.c -- marches of four and eight lanes, for processors with AVX-512.
#define ISA avx512
#include "integrate/march_lanes.inl"
