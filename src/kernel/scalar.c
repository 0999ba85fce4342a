// scalar.c -- the kernels one lane wide, for any machine.
#define ISA scalar
#define WIDEST 1
#include "kernel/kernels.inl"
