// index3_lanes_scalar.c -- the step of index3, 1 lane at once.
#define ISA scalar
#define WIDEST 1
#include "formulation/index3_lanes.inl"
