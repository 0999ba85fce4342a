// lanes_fma.c -- equal subtrees side by side, one lane wide, with fused multiply-add.
#define ISA fma
#define WIDEST 1
#include "assembly/lanes.inl"
