// index3_lanes_avx512.c -- the step of index3, 8 lanes at once.
#define ISA avx512
#define WIDEST 8
#include "formulation/index3_lanes.inl"
