// index3_lanes_fma.c -- the step of index3, 1 lane at once.
#define ISA fma
#define WIDEST 1
#include "formulation/index3_lanes.inl"
