// avx2.c -- the kernels, 4 lanes wide.
#define ISA avx2
#define WIDEST 4
#include "kernel/kernels.inl"
