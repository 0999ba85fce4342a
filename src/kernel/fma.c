// fma.c -- the kernels one lane wide, with fused multiply-add: the bits of the wide ones.
#define ISA fma
#define WIDEST 1
#include "kernel/kernels.inl"
