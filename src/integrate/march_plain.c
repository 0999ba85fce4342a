// march_plain.c -- marches of four and eight lanes, for any processor.
#define ISA plain
#include "integrate/march_lanes.inl"
