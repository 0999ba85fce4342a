// lanes_scalar.c -- equal subtrees side by side, one lane wide, for any machine.
#define ISA scalar
#define WIDEST 1
#include "assembly/lanes.inl"
