// lanes_avx512.c -- equal subtrees side by side, 8 lanes wide.
#define ISA avx512
#define WIDEST 8
#include "assembly/lanes.inl"
