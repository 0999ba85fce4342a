// lanes_avx2.c -- equal subtrees side by side, 4 lanes wide.
#define ISA avx2
#define WIDEST 4
#include "assembly/lanes.inl"
