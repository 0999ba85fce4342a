// index3_lanes_avx2.c -- the step of index3, 4 lanes at once.
#define ISA avx2
#define WIDEST 4
#include "formulation/index3_lanes.inl"
